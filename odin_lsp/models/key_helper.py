"""Programs of the user's that print a key, such as `op read …`: named by `keyHelpers` in the user's own settings."""

import asyncio
import os
import shutil
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

from odin_lsp.config import Config
from odin_lsp.errors import KeyRejected
from odin_lsp.models.key import Key, PlainKey, is_sendable
from odin_lsp.models.selection import helper, keys
from odin_lsp.redaction import learn, redacted
from odin_lsp.system import end_group
from odin_lsp.tasks import end_process

LASTS = 300.0
"""Seconds for which a key is used before its program is asked again."""
SECONDS = 60.0
"""For a program: it may wait until the user has unlocked something."""
MOST_PRINTED = 64 * 1024
"""Bytes of what it prints that are read; a key has some hundred, or a few thousand."""
MOST_QUOTED = 300
TRY_IT = "run it in a terminal, and correct it or the setting"


class KeyHelper:
    """One of them, with the key that it has printed last."""

    def __init__(
        self,
        provider: str,
        command: Sequence[str],
        path: Callable[[], str],
        *,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`path` is the `PATH` on which it is looked for, and which it gets."""
        self._provider = provider
        self._command = command
        self._path = path
        self._seconds = seconds
        self._clock = clock
        self._asking = asyncio.Lock()
        self._asked_at = 0.0
        self.value = ""

    @property
    def setting(self) -> str:
        return f"keyHelpers.{self._provider}"

    @property
    def name(self) -> str:
        """The program, without its arguments: they may be secret."""
        return self._command[0]

    async def current(self) -> str:
        """`KeyRejected` says why it has printed none."""
        async with self._asking:
            if not self.value or self._clock() - self._asked_at >= LASTS:
                await self._ask()
            return self.value

    async def renew(self, refused: str) -> bool:
        async with self._asking:
            if self.value == refused:
                await self._ask()
            return self.value != refused

    async def _ask(self) -> None:
        self.value = ""
        self.value = _key_in(await self._run(), self._fault)
        learn(self.value)
        self._asked_at = self._clock()

    async def _run(self) -> str:
        """What it prints. It works at the user's home, where no workspace has a say."""
        path = await asyncio.to_thread(self._path)
        program = await asyncio.to_thread(_find, self.name, path)
        if program is None:
            raise self._fault("cannot be found", "write its absolute path into the setting, and make it executable")
        command = (program, *self._command[1:])
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=PIPE,
                cwd=Path.home(),
                env={**os.environ, "PATH": path},
                start_new_session=True,
            )
        except OSError as error:
            raise self._fault(f"cannot be started ({error.strerror})", TRY_IT) from error
        try:
            async with asyncio.timeout(self._seconds):
                printed, complaints = await asyncio.gather(*map(_beginning, _pipes(process)))
                code = await process.wait()
        except TimeoutError:
            raise self._fault(f"has not ended within {self._seconds:g} seconds", TRY_IT) from None
        finally:
            if process.returncode is None:
                end_group(process.pid)
            await end_process(process)
        if code:
            said = " ".join(redacted(complaints.decode(errors="replace")).split())[:MOST_QUOTED]
            raise self._fault(f"failed with exit code {code}{f' ({said})' if said else ''}", TRY_IT)
        return printed.decode(errors="replace")

    def _fault(self, what: str, advice: str) -> KeyRejected:
        return KeyRejected(
            f"the program for the key of {self._provider}, {self.name} (`{self.setting}`), {what}; {advice}"
        )


class KeyHelpers:
    """Those of one workspace, each as long as the settings name it."""

    def __init__(self, path: Callable[[], str] = lambda: os.environ.get("PATH", os.defpath)) -> None:
        self._path = path
        self._known: dict[tuple[str, Sequence[str]], KeyHelper] = {}

    def of(self, provider: str, config: Config) -> KeyHelper | None:
        command = helper(provider, config)
        if command is None:
            return None
        known = provider, command
        if known not in self._known:
            self._known[known] = KeyHelper(provider, command, self._path)
        return self._known[known]

    def first_key(self, provider: str, config: Config, secrets: Mapping[str, str]) -> Key | None:
        """For what is asked apart from turns: the first that is set, or what the program prints."""
        found = keys(provider, config, secrets)
        return PlainKey(found[0][1]) if found else self.of(provider, config)


def _key_in(printed: str, fault: Callable[[str, str], KeyRejected]) -> str:
    """The one line that has been printed."""
    lines = printed.strip().splitlines()
    if not lines:
        raise fault("printed nothing", TRY_IT)
    if len(lines) > 1:
        raise fault("printed more than one line", "have it print the key alone, and all else to stderr")
    key = lines[0].strip().removeprefix("Bearer ").strip()
    if not is_sendable(key) or len(printed) >= MOST_PRINTED:
        raise fault("printed something that is no key", "have it print the key alone, and all else to stderr")
    return key


def _find(name: str, path: str) -> str | None:
    """A path that begins nowhere could be one of a workspace, and is none."""
    place = Path(name).expanduser()
    return shutil.which(place, path=path) if "/" not in name or place.is_absolute() else None


def _pipes(process: Process) -> tuple[asyncio.StreamReader, asyncio.StreamReader]:
    return cast("asyncio.StreamReader", process.stdout), cast("asyncio.StreamReader", process.stderr)


async def _beginning(pipe: asyncio.StreamReader) -> bytes:
    """As much as is looked at; the rest is read, so that the program can end."""
    said = bytearray()
    while piece := await pipe.read(65_536):
        said += piece[: MOST_PRINTED - len(said)]
    return bytes(said)
