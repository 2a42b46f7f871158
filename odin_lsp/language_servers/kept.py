"""A language server that is started when it is needed, stopped when it is not, and started again when it dies."""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from odin_lsp.intelligence.servers import Unavailable
from odin_lsp.language_servers.choosing import Candidate
from odin_lsp.language_servers.memory import memory_of
from odin_lsp.language_servers.own_server import OwnServer
from odin_lsp.tasks import Tasks
from odin_lsp.values import Value

log = logging.getLogger("odin.language_servers")
PAUSES = (1.0, 4.0, 16.0)
"""Seconds before one that has died is started again, and so how often. One that has worked for longer than the last of
them has a new beginning."""
START_SECONDS = 60.0
"""For the first answer. Whoever has asked does not wait so long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState(Value):
    """A language server of Odin's own, that runs or should."""

    name: str
    root: str
    """The folder that it serves."""
    state: Literal["starting", "loading", "ready", "stopped", "given up"]
    """`loading`: what it says may not be all. `stopped`: it has died, and is started again when it is needed."""
    memory: int | None = None
    """Bytes, of all its processes."""
    problem: str | None = None
    """Why it is not running."""


@dataclass(frozen=True, slots=True)
class Times:
    """In seconds."""

    timeout: float
    idle: float
    start: float
    pauses: tuple[float, ...]


class Kept:
    def __init__(
        self,
        candidate: Candidate,
        root: Path,
        make: Callable[[Callable[[str], None]], OwnServer],
        times: Times,
        tasks: Tasks,
        warn: Callable[[str], None],
    ) -> None:
        self.candidate = candidate
        self.server: OwnServer | None = None
        self._root = root
        self._make = make
        self._times = times
        self._tasks = tasks
        self._warn = warn
        self._starting: asyncio.Task[OwnServer | None] | None = None
        self._idling: asyncio.TimerHandle | None = None
        self._began = 0.0
        self._failures = 0
        self._not_before = 0.0
        self._problem = ""
        self.has_worked = False
        """It may have told something that is missing without it."""

    async def running(self) -> OwnServer | None:
        """Start it, unless it runs; `None` if it cannot be asked now, which `state` says more about."""
        if self.server is not None:
            return self.server
        if self._is_given_up or time.monotonic() < self._not_before:
            return None
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        with suppress(TimeoutError):
            async with asyncio.timeout(self._times.timeout):
                return await asyncio.shield(self._starting)
        return None

    def state(self) -> ServerState | None:
        """`None`: it is not needed, and nothing is wrong."""
        server, name, root = self.server, self._name, str(self._root)
        if server is not None:
            memory = memory_of(server.pid) if server.pid is not None else None
            return ServerState(name=name, root=root, state="ready" if server.is_ready else "loading", memory=memory)
        if self._starting is not None:
            return ServerState(name=name, root=root, state="starting")
        if not self._problem:
            return None
        state = "given up" if self._is_given_up else "stopped"
        return ServerState(name=name, root=root, state=state, problem=self._problem)

    async def end(self) -> None:
        if self._idling is not None:
            self._idling.cancel()
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait((self._starting,))
        if self.server is not None:
            server, self.server = self.server, None
            await server.end()

    @property
    def _name(self) -> str:
        return self.candidate.known.name

    @property
    def _is_given_up(self) -> bool:
        return self._failures > len(self._times.pauses)

    async def _start(self) -> OwnServer | None:
        server = self._make(self._died)
        try:
            await server.start(self._times.start)
        except Unavailable as error:
            await server.end()
            self._fail(str(error), server)
            return None
        except BaseException:
            await server.end()
            raise
        finally:
            self._starting = None
        self.server, self._began = server, time.monotonic()
        self._problem, self.has_worked = "", True
        self._look_whether_idle()
        return server

    def _died(self, reason: str) -> None:
        """Of one that has not started yet `_start` hears."""
        if self.server is None:
            return
        server, self.server = self.server, None
        self._tasks.begin(server.end())
        if time.monotonic() - self._began > self._times.pauses[-1]:
            self._failures = 0
        self._fail(reason, server)

    def _fail(self, problem: str, server: OwnServer) -> None:
        last_words = server.complaints.rpartition("\n")[2]
        self._problem = f"{problem}: {last_words}" if last_words else problem
        log.info("%s", self._problem)
        self._failures += 1
        if self._is_given_up:
            self._warn(
                f"The language server {self._name} keeps stopping, and Odin goes on without it ({self._problem}). "
                "Run `odin-lsp doctor` to see more, or disable it in `languageServers.servers`."
            )
        else:
            self._not_before = time.monotonic() + self._times.pauses[self._failures - 1]

    def _look_whether_idle(self) -> None:
        server, idle = self.server, self._times.idle
        if server is None:
            return
        left = idle if server.in_use else server.used_at + idle - time.monotonic()
        if left > 0:
            self._idling = asyncio.get_running_loop().call_later(left, self._look_whether_idle)
        else:
            self.server = None
            self._tasks.begin(server.end())
