"""What fails a test because it holds an event loop: Odin's work there, and not that of the test."""

import asyncio
import gc
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

from odin_lsp.loop_watch import LIMIT, PAUSE, LoopWatch
from odin_lsp.tasks import beside_loop
from odin_lsp.values import to_wire
from tests.support.held_loop import NotOdins, is_odins

pytest_plugins = ["pytester"]
ROOT = Path(__file__).parents[2]
VALUES = [{str(number): [number, str(number)]} for number in range(1000)]


def own_work():
    """Twice as much as may be used."""
    end = time.thread_time() + 2 * LIMIT
    while time.thread_time() < end:
        pass


@contextmanager
def watched():
    reports, others = [], NotOdins()
    watch = LoopWatch(reports.append, others.seconds)
    try:
        yield reports
    finally:
        watch.stop()
        others.stop()


async def beats():
    await asyncio.sleep(3 * PAUSE)


async def test_what_odin_does_counts():
    with watched() as reports:
        await beats()
        await beside_loop(0, to_wire, VALUES * 400)
        await beats()

    assert any(is_odins(it.stack) for it in reports)


async def test_what_a_test_does_itself_does_not_count():
    with watched() as reports:
        await beats()
        own_work()
        await beats()

    assert not any(is_odins(it.stack) for it in reports)


async def test_garbage_does_not_count():
    garbage = [[it] for it in range(300_000)]
    with watched() as reports:
        await beats()
        for _ in range(30):
            gc.collect()
        await beats()

    assert garbage
    assert not any(is_odins(it.stack) for it in reports)


HOOKS = "from tests.support.held_loop import pytest_runtest_protocol, pytest_runtest_setup, pytest_runtest_teardown"
TESTS = """
import os
from pathlib import Path

import pytest

SLOW = "120 ms of processor time so far"
told = {
    "nothing": [],
    "slow-twice": [SLOW, SLOW],
    "slow-each-time": [SLOW, SLOW, SLOW],
    "waits": ["os.walk(x)"],
    "fails-itself": [SLOW],
}


@pytest.mark.parametrize("name", told)
def test_it(name):
    with Path(__file__).with_name("runs").open("a") as runs:
        runs.write(f"{name} ")
    if told[name]:
        with open(os.environ["ODIN_HELD_LOOP"], "a") as file:
            file.write(f"process 1 (x): the event loop was held: {told[name].pop()}\\n\\n")
    assert name != "fails-itself"
"""


def test_a_test_fails_that_holds_a_loop_each_time(pytester, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makeconftest(HOOKS)
    pytester.makepyfile(TESTS)

    ended = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-rEF")

    ended.assert_outcomes(passed=4, errors=3, failed=1)
    ended.stdout.fnmatch_lines_random(["ERROR *slow-each-time*", "ERROR *waits*", "FAILED *fails-itself*"])
    runs = (pytester.path / "runs").read_text().split()
    assert Counter(runs) == {"nothing": 1, "slow-twice": 3, "slow-each-time": 3, "waits": 1, "fails-itself": 1}
