"""Tells what holds an event loop: what uses its thread for too long, or waits there, with the stack that does.

It is for whoever asks: debug logging, or `ODIN_HELD_LOOP=FILE`, to which reports are added. Otherwise nothing of it
runs. A heartbeat is compared with the *processor time* of the loop's thread, so a busy machine is not a held loop."""

import asyncio
import inspect
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import NamedTuple

from odin_lsp import waiting_calls
from odin_lsp.loop_share import is_event_loop

REPORTS = "ODIN_HELD_LOOP"
LIMIT = 0.1
"""Seconds of an ordinary processor's time between two beats."""
SAMPLE = range(20_000)
ORDINARY = 0.0012
"""Seconds that an ordinary processor takes to add up the sample."""
PAUSE = 0.02
"""Seconds between two beats, and between two looks at them."""
PROCESSOR = "processor"
HELD = "the event loop was held: "
LONG = " ms of processor time"
_CALLBACK = asyncio.Handle._run.__code__  # pyright: ignore[reportPrivateUsage]
"""The loop calls everything by it."""
_frames = sys._current_frames  # pyright: ignore[reportPrivateUsage]
_OWN = (__name__, waiting_calls.__name__)
_COROUTINE = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

log = logging.getLogger("odin.loop")


class Excuse(NamedTuple):
    call: str
    function: str
    """Which makes the call, or leads to it."""
    reason: str


EXCUSED = (
    Excuse(
        "subprocess.Popen",
        "asyncio.unix_events._UnixSubprocessTransport._start",
        "asyncio starts programs on the loop; it waits until they run, and not until they end",
    ),
    Excuse(
        "subprocess.Popen",
        "odin_lsp.commands.supervising._started",
        "as asyncio does it: whoever gives up while a thread starts a supervisor would not know of it",
    ),
    Excuse(
        "threading.Condition.wait",
        "threading.Thread.start",
        "asyncio.to_thread starts its threads on the loop; it waits until they run, and not until they end",
    ),
    Excuse(
        "os.walk",
        "odin_lsp.permissions.protected._inside",
        "what is shown for a review has to say so at once; it ends after 10,000 names",
    ),
    Excuse(
        "open",
        "odin_lsp.workspace.search.Search._on_disk",
        "a large file that is searched by name is opened, and ripgrep reads it",
    ),
)
"""What may be done on the loop all the same: five things at most, in all of Odin."""


class Place(NamedTuple):
    file: str
    line: int
    module: str
    function: str
    is_coroutine: bool

    def __str__(self) -> str:
        return f"  {self.file}:{self.line} in {self.function}"


class Report(NamedTuple):
    what: str
    stack: tuple[Place, ...]
    """From what the loop has called to what was at work; empty if it was not seen in time."""

    def __str__(self) -> str:
        return "\n".join((f"{HELD}{self.what}", *map(str, self.stack)))


class LoopWatch:
    """Watches the loop that runs in this thread, until it is stopped."""

    def __init__(self, tell: Callable[[Report], None], spared: Callable[[], float] = lambda: 0.0) -> None:
        """`spared`: seconds of its processor time that do not count."""
        self._tell = tell
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        clock = _clock_of(self._thread)
        self._used = lambda: clock() - spared()
        self._at_beat = self._used()
        self._stack: tuple[Place, ...] = ()
        """As it was seen last since the beat."""
        self._is_told = self._is_telling = False
        self._stopped = threading.Event()
        self._next = self._loop.call_later(PAUSE, self._beat)
        _watches[self._thread] = self
        threading.Thread(target=self._look, name="odin loop watch", daemon=True).start()
        waiting_calls.listen(_heard_here)

    @property
    def is_over(self) -> bool:
        return self._loop.is_closed()

    def stop(self) -> None:
        self._stopped.set()
        self._next.cancel()
        del _watches[self._thread]
        if not _watches:
            waiting_calls.listen_no_more()

    def hear(self, call: str) -> None:
        """This thread is about to make it."""
        stack = stack_of(inspect.currentframe())
        if stack and not self._is_telling:  # what it takes to tell is no news
            self._is_telling = True
            self._report(call, stack, call.partition("(")[0])
            self._is_telling = False

    def _beat(self) -> None:
        used = self._used() - self._at_beat
        if used > LIMIT and (self._is_told or used > LIMIT * slowness()):
            self._report_time(used, " in all" if self._is_told else "")
        self._at_beat, self._stack, self._is_told = self._used(), (), False
        self._next = self._loop.call_later(PAUSE, self._beat)

    def _look(self) -> None:
        """In a thread of its own: the loop's can tell of nothing as long as it is held."""
        while not self._stopped.wait(PAUSE) and not self.is_over:
            used = self._used() - self._at_beat
            if used > LIMIT / 2:
                self._stack = stack_of(_frames().get(self._thread)) or self._stack
            if used > LIMIT and not self._is_told and used > LIMIT * slowness():
                self._is_told = True
                self._report_time(used, " so far")

    def _report_time(self, used: float, so_far: str) -> None:
        self._report(f"{used * 1000:.0f}{LONG}{so_far}", self._stack, PROCESSOR)

    def _report(self, what: str, stack: tuple[Place, ...], call: str) -> None:
        functions = {f"{place.module}.{place.function}" for place in stack}
        if not any(it.call == call and it.function in functions for it in EXCUSED):
            self._tell(Report(what, stack))


def slowness() -> float:
    """How many times as long as an ordinary one this processor takes just now. One that others use as well, be it from
    another virtual machine, takes longer for the same work by its own account."""
    began, total = time.thread_time(), 0
    for number in SAMPLE:
        total += number
    return max(1.0, (time.thread_time() - began) / ORDINARY)


_watches: dict[int, LoopWatch] = {}
"""By the number of the loop's thread."""


def watch_if_wanted() -> None:
    """Watch the loop that runs in this thread as long as somebody wants to know: to be called when it begins, and when
    that has changed."""
    watch = _watches.get(threading.get_ident())
    is_wanted = REPORTS in os.environ or log.isEnabledFor(logging.DEBUG)
    if watch is not None and (watch.is_over or not is_wanted):
        watch_no_more()
    if is_wanted and threading.get_ident() not in _watches and CAN_WATCH and is_event_loop():
        LoopWatch(_publish)


def watch_no_more() -> None:
    """The loop of this thread has done its work: what ends it may wait."""
    if (watch := _watches.get(threading.get_ident())) is not None:
        watch.stop()


if sys.platform == "win32" or sys.platform == "darwin":
    CAN_WATCH = False

    def _clock_of(thread: int) -> Callable[[], float]:  # noqa: ARG001
        raise OSError("the system does not tell how long another thread has worked")

else:
    CAN_WATCH = True

    def _clock_of(thread: int) -> Callable[[], float]:
        clock = time.pthread_getcpuclockid(thread)
        return lambda: time.clock_gettime(clock)


def _heard_here() -> Callable[[str], None] | None:
    watch = _watches.get(threading.get_ident())
    return watch.hear if watch is not None else None


def _publish(report: Report) -> None:
    log.debug("%s", report)
    if path := os.environ.get(REPORTS):
        with open(path, "a", encoding="utf-8", errors="backslashreplace") as file:  # noqa: PTH123 - one write
            file.write(f"process {os.getpid()} ({' '.join(sys.argv)}): {report}\n\n")


def stack_of(frame: FrameType | None) -> tuple[Place, ...]:
    """What the loop has called, and what that has; nothing if the loop itself is at work, or has ended."""
    places: list[Place] = []
    while frame is not None and frame.f_code is not _CALLBACK:
        code, module = frame.f_code, str(frame.f_globals.get("__name__", ""))
        if module not in _OWN:
            is_coroutine = bool(code.co_flags & _COROUTINE)
            places.append(Place(code.co_filename, frame.f_lineno, module, code.co_qualname, is_coroutine))
        frame = frame.f_back
    return tuple(reversed(places)) if frame is not None else ()
