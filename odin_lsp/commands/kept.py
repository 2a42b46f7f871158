"""A program that is started when it is needed, stopped when it is not, and started again when it dies."""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from odin_lsp.errors import OdinError
from odin_lsp.tasks import Tasks

log = logging.getLogger("odin.commands")
PAUSES = (1.0, 4.0, 16.0)
"""Seconds before one that has died is started again, and so how often. One that has worked for longer than the last of
them has a new beginning."""
START_SECONDS = 60.0
"""For the first answer. Whoever has asked does not wait so long."""


class Startable(Protocol):
    in_use: int
    used_at: float

    @property
    def complaints(self) -> str:
        """What it printed last for people."""
        ...

    async def start(self, timeout: float) -> None:
        """Until it can be asked; an `OdinError` says why it cannot."""
        ...

    async def end(self) -> None: ...


S = TypeVar("S", bound=Startable)


@dataclass(frozen=True, slots=True)
class Times:
    """In seconds."""

    timeout: float
    idle: float
    start: float
    pauses: tuple[float, ...]


class Kept(Generic[S]):
    def __init__(
        self,
        make: Callable[[Callable[[str], None]], S],
        times: Times,
        tasks: Tasks,
        give_up: Callable[[str], None],
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        """`make` is handed whom to tell why it has died, and `give_up` is told why it is not started any more. That it
        starts, runs or has ended is told to `changed`."""
        self.server: S | None = None
        self.problem = ""
        """Why it does not run."""
        self.has_worked = False
        """It may have told something that is missing without it."""
        self._make = make
        self._times = times
        self._tasks = tasks
        self._give_up = give_up
        self._changed = changed
        self._starting: asyncio.Task[S | None] | None = None
        self._idling: asyncio.TimerHandle | None = None
        self._began = 0.0
        self._failures = 0
        self._not_before = 0.0

    @property
    def is_starting(self) -> bool:
        return self._starting is not None

    @property
    def is_given_up(self) -> bool:
        return self._failures >= self.max_attempts

    @property
    def max_attempts(self) -> int:
        return len(self._times.pauses) + 1

    @property
    def attempt(self) -> int:
        """The start that goes on, or the next one."""
        return min(self._failures + 1, self.max_attempts)

    def begin(self) -> "asyncio.Task[S | None] | None":
        """Start it in the background, unless it runs or may not be started now."""
        if self.server is not None or self.is_given_up or time.monotonic() < self._not_before:
            return None
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
            self._changed()
        return self._starting

    async def running(self) -> S | None:
        """Start it, unless it runs; `None` if it cannot be asked now."""
        starting = self.begin()
        if starting is None:
            return self.server
        with suppress(TimeoutError):
            async with asyncio.timeout(self._times.timeout):
                return await asyncio.shield(starting)
        return None

    async def end(self) -> None:
        if self._idling is not None:
            self._idling.cancel()
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait((self._starting,))
        if self.server is not None:
            server, self.server = self.server, None
            await server.end()

    async def _start(self) -> S | None:
        server = self._make(self._died)
        try:
            await server.start(self._times.start)
        except OdinError as error:
            await server.end()
            self._fail(str(error), server)
            return None
        except BaseException:
            await server.end()
            raise
        finally:
            self._starting = None
        self.server, self._began = server, time.monotonic()
        self.problem, self.has_worked = "", True
        self._changed()
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

    def _fail(self, problem: str, server: S) -> None:
        last_words = server.complaints.rpartition("\n")[2]
        self.problem = f"{problem}: {last_words}" if last_words else problem
        log.info("%s", self.problem)
        self._failures += 1
        self._changed()
        if self.is_given_up:
            self._give_up(self.problem)
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
            self._changed()
            self._tasks.begin(server.end())
