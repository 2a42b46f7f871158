"""Starts commands, each under a supervisor, and says what became of them."""

import asyncio
import json
import os
import secrets
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from odin_lsp import system
from odin_lsp.commands.supervising import CHUNK, Ends, Forker, Supervisor
from odin_lsp.errors import ToolError
from odin_lsp.permissions.sandbox import Confinement
from odin_lsp.values import is_object

STOP_SECONDS = 4.0
"""For a supervisor to end everything; it needs less, unless somebody keeps it from its work."""
REST_SECONDS = 0.5
"""For output that is still in the pipe when all processes are gone."""
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
    """Has supervisors forked, so that each command starts at once."""

    def __init__(self) -> None:
        self._forker: Forker | None = None
        self._running: set[Running] = set()
        self._closed = False

    async def start(self, spec: Spec, output: Sink) -> "Running":
        running = Running(self._supervisor(), spec, output, self._running.discard)
        self._running.add(running)
        return running

    def prepare(self) -> None:
        """What takes time is done before anybody waits for it."""
        with suppress(OSError):  # whoever needs it is told
            if not self._closed:
                self._ready()

    async def close(self) -> None:
        """End everything that still runs."""
        self._closed = True
        for running in tuple(self._running):
            running.stop()
        await asyncio.gather(*(running.ended() for running in tuple(self._running)))
        if self._forker is not None:
            await self._forker.close(self)

    def _supervisor(self) -> Supervisor[Ends]:
        """One that waits for a job."""
        if self._closed:
            raise ToolError("Odin is shutting down; no command is started")
        try:
            return Supervisor(self._ready().forked)
        except OSError as error:
            raise ToolError(f"no command can be started: {error.strerror}") from None

    def _ready(self) -> Forker:
        self._forker = Forker.used_by(self)
        return self._forker


class Running:
    """One command, from its start to the end of its last process."""

    def __init__(
        self, supervisor: Supervisor[Ends], spec: Spec, output: Sink, on_end: Callable[["Running"], None]
    ) -> None:
        self._supervisor = supervisor
        self._pipe = supervisor.printed
        self._output = output
        self._on_end = on_end
        self._began = time.monotonic()
        self._how: How = "exited"
        self._printed = asyncio.Event()
        self._stopping = asyncio.Event()
        self._marker = secrets.token_hex(8)
        loop = asyncio.get_running_loop()
        system.set_blocking(self._pipe, False)
        loop.add_reader(self._pipe, self._read)
        supervisor.give(json.dumps(_job(spec, self._marker)).encode() + b"\n")
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
            self._supervisor.dismiss()

    async def _follow(self) -> Ended:
        report = await self._report()
        with suppress(TimeoutError):
            async with asyncio.timeout(REST_SECONDS):
                await self._printed.wait()
        self._close_pipe()
        self._output.close()
        await self._supervisor.ended()
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
        reading = asyncio.create_task(self._supervisor.last_word())
        stopping = asyncio.create_task(self._stopping.wait())
        await asyncio.wait((reading, stopping), return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if not (await asyncio.wait((reading,), timeout=STOP_SECONDS))[0]:
            self._supervisor.kill()
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


def _job(spec: Spec, marker: str) -> dict[str, Any]:
    confinement: dict[str, Any] | None = None
    argv = list(spec.argv)
    if spec.confinement is not None:
        argv = [*spec.confinement.prefix, *argv]
        filters = {"filter": spec.confinement.filter.hex(), "brokered": spec.confinement.brokered.hex()}
        confinement = {**asdict(spec.confinement), "prefix": (), **filters}
    environment = {**spec.environment, MARKER: marker, "PWD": str(spec.cwd)}
    return {
        "argv": argv,
        "cwd": str(spec.cwd),
        "env": environment,
        "confinement": confinement,
        "pipes": spec.pipes or (),
    }


async def _end_marked(marker: str) -> None:
    """Without their supervisor, a command's processes are still known by what stands in their environment."""
    quiet = 0
    until = time.monotonic() + STOP_SECONDS
    while quiet < QUIET_LOOKS and time.monotonic() < until:
        found = _marked(f"{MARKER}={marker}".encode())
        quiet = 0 if found else quiet + 1
        for pid in found:
            with suppress(OSError):
                os.kill(pid, system.KILL)
        await asyncio.sleep(0.02)


def _marked(wanted: bytes) -> list[int]:
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*") if sys.platform.startswith("linux") else ():
        with suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found
