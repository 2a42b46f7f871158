"""Starts commands, each under a supervisor, and says what became of them."""

import asyncio
import json
import os
import secrets
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from odin_lsp.commands.environment import hide_own_environment
from odin_lsp.errors import ToolError
from odin_lsp.permissions.sandbox import PACKAGES, Confinement
from odin_lsp.values import is_object

SUPERVISOR = "import sys; sys.path.append(sys.argv[1]); from odin_lsp.commands import supervisor; supervisor.main()"
CHUNK = 1 << 16
MAX_REPORT_BYTES = 1 << 16
STOP_SECONDS = 4.0
"""For a supervisor to end everything; it needs less, unless somebody keeps it from its work."""
REST_SECONDS = 0.5
"""For output that is still in the pipe when all processes are gone."""
PAUSE_SECONDS = 0.1
"""After a command: first the model is to hear of it, then the next supervisor is started."""
MARKER = "ODIN_COMMAND"
QUIET_LOOKS = 3
"""A process that turns into another program has no environment for a moment."""

How = Literal["exited", "timed out", "stopped", "printed too much", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    argv: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str]
    confinement: Confinement | None = None
    pipes: tuple[int, int] | None = None
    """What it has as stdin and stderr; without them it has nothing to read, and stderr is where it prints."""


class Sink(Protocol):
    """Who takes what a command prints."""

    @property
    def too_long(self) -> bool:
        """It has printed more than anybody wants, and is to be ended."""
        ...

    def feed(self, data: bytes) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    how: How
    exit_code: int | None = None
    """Negative: the signal that ended it."""
    seconds: float = 0.0
    left: int = 0
    """Processes that it left behind, and that were ended."""
    survivors: int = 0
    problem: str = ""


class Runner:
    """Keeps one supervisor ready, so that the next command starts at once."""

    def __init__(self) -> None:
        self._spares: list[asyncio.Task[tuple[Process, int]]] = []
        self._running: set[Running] = set()
        self._soon: asyncio.Task[None] | None = None
        self._closed = False

    async def start(self, spec: Spec, output: Sink) -> "Running":
        process, pipe = await self._ready()
        running = Running(process, pipe, spec, output, self._ended)
        self._running.add(running)
        return running

    def prepare(self) -> None:
        if not self._spares and not self._closed:
            self._spares.append(asyncio.create_task(supervisor()))

    async def close(self) -> None:
        """End everything that still runs."""
        self._closed = True
        if self._soon is not None:
            self._soon.cancel()
        for running in tuple(self._running):
            running.stop()
        await asyncio.gather(*(running.ended() for running in tuple(self._running)))
        while self._spares:
            with suppress(OSError):
                await _dismiss(*await self._spares.pop())

    async def _ready(self) -> tuple[Process, int]:
        """A supervisor that waits for a job."""
        while True:
            self.prepare()
            if not self._spares:
                raise ToolError("Odin is shutting down; no command is started")
            spare = self._spares.pop()
            try:
                process, pipe = await asyncio.shield(spare)
            except asyncio.CancelledError:
                self._spares.append(spare)
                raise
            except OSError as error:
                raise ToolError(f"no command can be started: {error.strerror}") from None
            if process.returncode is None:
                return process, pipe
            await _dismiss(process, pipe)  # somebody has killed it meanwhile

    def _ended(self, running: "Running") -> None:
        self._running.discard(running)
        self._soon = asyncio.create_task(self._prepare_soon())

    async def _prepare_soon(self) -> None:
        await asyncio.sleep(PAUSE_SECONDS)
        self.prepare()


class Running:
    """One command, from its start to the end of its last process."""

    def __init__(
        self, process: Process, pipe: int, spec: Spec, output: Sink, on_end: Callable[["Running"], None]
    ) -> None:
        self._process = process
        self._pipe = pipe
        self._output = output
        self._on_end = on_end
        self._began = time.monotonic()
        self._how: How = "exited"
        self._printed = asyncio.Event()
        self._stopping = asyncio.Event()
        self._marker = secrets.token_hex(8)
        loop = asyncio.get_running_loop()
        os.set_blocking(pipe, False)
        loop.add_reader(pipe, self._read)
        assert process.stdin is not None  # noqa: S101
        process.stdin.write(json.dumps(_job(spec, self._marker)).encode() + b"\n")
        self._task = asyncio.create_task(self._follow())

    async def wait(self, timeout: float | None = None) -> Ended:
        """How it ended. It does not outlive this wait: neither `timeout` nor a cancelled caller leaves it running."""
        try:
            async with asyncio.timeout(timeout):
                return await self.ended()
        except TimeoutError:
            self.stop("timed out")
            return await self.ended()
        except asyncio.CancelledError:
            self.stop()
            await self.ended()
            raise

    async def ended(self) -> Ended:
        """How it ended, whoever waits besides."""
        return await asyncio.shield(self._task)

    def stop(self, how: How = "stopped") -> None:
        """Have the supervisor end everything."""
        if not self._stopping.is_set() and not self._task.done():
            self._how = how
            self._stopping.set()
            _close(self._process)

    async def _follow(self) -> Ended:
        report = await self._report()
        with suppress(TimeoutError):
            async with asyncio.timeout(REST_SECONDS):
                await self._printed.wait()
        self._close_pipe()
        self._output.close()
        _close(self._process)
        await self._process.wait()
        if not report:
            await _end_marked(self._marker)
        self._on_end(self)
        problem = str(report.get("problem", "its supervisor was killed" if not report else ""))
        return Ended(
            how="failed" if problem else self._how,
            exit_code=report.get("exit"),
            seconds=time.monotonic() - self._began,
            left=report.get("left", 0),
            survivors=report.get("survivors", 0),
            problem=problem,
        )

    async def _report(self) -> dict[str, Any]:
        """The supervisor's last word, which it writes when everything has ended. Nothing, if it could not."""
        assert self._process.stderr is not None  # noqa: S101
        reading = asyncio.create_task(self._process.stderr.read(MAX_REPORT_BYTES))
        stopping = asyncio.create_task(self._stopping.wait())
        await asyncio.wait((reading, stopping), return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if not (await asyncio.wait((reading,), timeout=STOP_SECONDS))[0]:
            with suppress(ProcessLookupError):
                self._process.kill()
        try:
            report = json.loads(await reading)
        except ValueError:
            return {}
        return report if is_object(report) else {}

    def _read(self) -> None:
        try:
            data = os.read(self._pipe, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._close_pipe()
            return
        self._output.feed(data)
        if self._output.too_long:
            self._close_pipe()
            self.stop("printed too much")

    def _close_pipe(self) -> None:
        if self._pipe >= 0:
            asyncio.get_running_loop().remove_reader(self._pipe)
            os.close(self._pipe)
            self._pipe = -1
            self._printed.set()


async def supervisor(pipes: tuple[int, ...] = ()) -> tuple[Process, int]:
    """A supervisor that waits for its job, and the pipe into which the command will write. It inherits `pipes`."""
    hide_own_environment()
    reading, writing = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", "-c", SUPERVISOR, PACKAGES),
            stdin=PIPE,
            stdout=writing,
            stderr=PIPE,
            env={},
            cwd="/",
            start_new_session=True,
            pass_fds=pipes,
        )
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    return process, reading


async def _dismiss(process: Process, pipe: int) -> None:
    os.close(pipe)
    _close(process)
    await process.wait()


def _job(spec: Spec, marker: str) -> dict[str, Any]:
    confinement: dict[str, Any] | None = None
    argv = list(spec.argv)
    if spec.confinement is not None:
        argv = [*spec.confinement.prefix, *argv]
        confinement = {**asdict(spec.confinement), "prefix": (), "filter": spec.confinement.filter.hex()}
    environment = {**spec.environment, MARKER: marker, "PWD": str(spec.cwd)}
    return {
        "argv": argv,
        "cwd": str(spec.cwd),
        "env": environment,
        "confinement": confinement,
        "pipes": spec.pipes or (),
    }


def _close(process: Process) -> None:
    if process.stdin is not None:
        process.stdin.close()


async def _end_marked(marker: str) -> None:
    """Without their supervisor, a command's processes are still known by what stands in their environment."""
    quiet = 0
    until = time.monotonic() + STOP_SECONDS
    while quiet < QUIET_LOOKS and time.monotonic() < until:
        found = _marked(f"{MARKER}={marker}".encode())
        quiet = 0 if found else quiet + 1
        for pid in found:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(0.02)


def _marked(wanted: bytes) -> list[int]:
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*") if sys.platform.startswith("linux") else ():
        with suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found
