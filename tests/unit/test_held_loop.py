"""What fails a test because it holds an event loop: Odin's work there, and not that of the test."""

import asyncio
import gc
import time
from contextlib import contextmanager

from odin_lsp.loop_watch import LIMIT, PAUSE, LoopWatch
from odin_lsp.tasks import beside_loop
from odin_lsp.values import to_wire
from tests.support.held_loop import NotOdins, is_odins

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
