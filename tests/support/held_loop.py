"""Whatever holds the event loop of an Odin fails the test in which it does: import the hooks into a `conftest.py`, and
the fixture where Odin runs in the test's own process.

Every process that a test starts inherits the variable that asks for it, and adds what it has to tell to the same file:
one for each process that runs tests, since editors are shared by them. Where lines are counted nothing is watched: that
takes longer than what it counts."""

import asyncio
import atexit
import gc
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from odin_lsp.loop_watch import CAN_WATCH, HELD, LONG, REPORTS, LoopWatch, Place, Report, stack_of

TESTS = f"{Path(__file__).parents[1]}{os.sep}"
FOLDER = Path(tempfile.mkdtemp(prefix="odin-held-"))
FILE = FOLDER / "reports"
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
IS_WATCHED = "coverage" not in sys.modules
RUNS = 3
"""Of a test that a loop seems to be held in."""
seemed_held = pytest.StashKey[bool]()
"""By nothing but the time that it took."""


def ask() -> None:
    """What is started from now on tells."""
    if IS_WATCHED:
        os.environ[REPORTS] = str(FILE)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports: list[pytest.TestReport] = []
    for _ in range(RUNS):
        item.stash[seemed_held] = False
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        if not item.stash[seemed_held] or any(it.failed for it in reports if it.when != "teardown"):
            break
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup() -> Any:
    ask()
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Any:
    try:
        result = yield
    finally:
        os.environ.pop(REPORTS, None)
        held = taken()
    refuse(item, held)
    return result


def refuse(item: pytest.Item, held: str) -> None:
    """Fail the test that has just ended, if a loop was held."""
    if held:
        item.stash[seemed_held] = all(LONG in line for line in held.splitlines() if HELD in line)
        pytest.fail(held, pytrace=False)


def taken() -> str:
    """What was told since the last time."""
    if not FILE.exists():
        return ""
    told = FILE.rename(FOLDER / "taken")
    return told.read_text(encoding="utf-8")


@pytest.fixture
async def watched_loop(request: pytest.FixtureRequest) -> AsyncIterator[None]:
    """The test's own loop is Odin's as well."""
    if not (CAN_WATCH and IS_WATCHED):
        yield
        return
    reports: list[Report] = []
    others = NotOdins()
    watch = LoopWatch(reports.append, others.seconds)
    await asyncio.sleep(0)
    yield
    watch.stop()
    others.stop()
    refuse(request.node, "\n\n".join(str(it) for it in reports if is_odins(it.stack)))


class NotOdins:
    """The processor time of this thread that is none of Odin's: to collect the garbage of thousands of tests, and what
    a test does itself."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._clock = time.pthread_getcpuclockid(self._thread)
        self._collecting_since: float | None = None
        self._collected = 0.0
        self._own = 0.0
        """The test's, as far as it was seen at work."""
        self._seen = self._used()
        gc.callbacks.append(self._note)

    def seconds(self) -> float:
        """So far. Whoever asks from elsewhere sees who is at work."""
        if threading.get_ident() != self._thread:
            used = self._used()
            if not is_odins(stack_of(sys._current_frames().get(self._thread))):
                self._own += used - self._seen
            self._seen = used
        return self._own + self._in_collections()

    def stop(self) -> None:
        gc.callbacks.remove(self._note)

    def _used(self) -> float:
        return time.clock_gettime(self._clock) - self._in_collections()

    def _in_collections(self) -> float:
        began = self._collecting_since
        return self._collected + (0.0 if began is None else time.clock_gettime(self._clock) - began)

    def _note(self, phase: str, _: object) -> None:
        if threading.get_ident() != self._thread:
            return
        if phase == "start":
            self._collecting_since = time.thread_time()
        elif self._collecting_since is not None:
            self._collected += time.thread_time() - self._collecting_since
            self._collecting_since = None


def watch_own_loops(items: list[pytest.Item]) -> None:
    """Of the tests that have one."""
    for item in items:
        if isinstance(item, pytest.Function) and asyncio.iscoroutinefunction(item.obj):
            item.fixturenames.insert(0, watched_loop.__name__)


def is_odins(stack: Sequence[Place]) -> bool:
    """What a test calls itself holds only itself, and so does what it is the first to import: a server has imported it
    before. Odin's is what runs without it, and what it awaits."""
    if any(it.file == "<frozen importlib._bootstrap>" for it in stack):
        return False
    is_tests = [it.file.startswith(TESTS) and it.file != __file__ for it in stack]
    last = max((n for n, it in enumerate(is_tests) if it), default=-1)
    after = stack[last + 1 :]
    odins = next((it for it in after if it.module.startswith("odin_lsp.")), None)
    return odins is not None and (odins.is_coroutine or len(after) == len(stack))
