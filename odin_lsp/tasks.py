"""Tasks that run on their own, and long work beside the event loop. No task ends unnoticed, and one that should always
run is begun again when it fails."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, ParamSpec, TypeVar

from odin_lsp.loop_watch import watch_if_wanted, watch_no_more

V = TypeVar("V")
P = ParamSpec("P")
log = logging.getLogger("odin.tasks")
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 30.0
"""Seconds before one that has failed is begun again. A task that ran for the longest pause has recovered."""
LARGE = 1024 * 1024
"""Characters, or bytes: going through so many takes longer than a thread takes to start."""
COMPARED = 16
"""How many times as long it takes to compare a text with another, or to look for something in it."""
FAREWELL = 2.0
"""Seconds in which the pipes of a process that was killed are closed."""
_OF_A_START = "BaseSubprocessTransport._connect_pipes"


def run_to_end(work: Coroutine[Any, Any, V]) -> V:
    """As `asyncio.run`, and it ends. That one cancels the start of a program together with the task by which asyncio
    carries it out, and then waits for it forever."""
    with asyncio.Runner() as runner:
        try:
            return runner.run(_watched(work))
        finally:
            runner.run(_end_what_is_left())


async def _watched(work: Coroutine[Any, Any, V]) -> V:
    watch_if_wanted()
    try:
        return await work
    finally:
        watch_no_more()


async def _end_what_is_left() -> None:
    left = asyncio.all_tasks() - {asyncio.current_task()}
    ours = [it for it in left if getattr(it.get_coro(), "__qualname__", "") != _OF_A_START]
    for task in ours:
        task.cancel()
    await asyncio.gather(*ours, return_exceptions=True)


async def beside_loop(size: int, work: Callable[P, V], /, *args: P.args, **kwargs: P.kwargs) -> V:
    """What takes as long as its text is large: in a thread, unless it is done at once anyway. Nothing that changes
    meanwhile may be looked at there, and whoever waits can be canceled."""
    return work(*args, **kwargs) if size < LARGE else await asyncio.to_thread(work, *args, **kwargs)


async def end_process(process: asyncio.subprocess.Process) -> None:
    """End it, if it has not ended. What it still has to say is read and dropped: in Python 3.11, `wait` does not return
    before its pipes are closed, and one that nobody reads from is never seen to be. Nor is one that a program keeps
    which it has started and which goes on: that is not waited for."""
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        process.kill()
    pipes = [pipe for pipe in (process.stdout, process.stderr) if pipe is not None]
    try:
        async with asyncio.timeout(FAREWELL):
            await asyncio.gather(process.wait(), *map(_drop, pipes))
    except TimeoutError:
        process._transport.close()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


async def _drop(pipe: asyncio.StreamReader) -> None:
    with suppress(OSError):
        while await pipe.read(LARGE):
            pass


class Tasks:
    def __init__(self, pause: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._pause = pause
        self._running: set[asyncio.Task[None]] = set()

    def begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Once, to its end."""
        return self._start(work, work.__qualname__)

    def keep(self, work: Callable[[], Coroutine[Any, Any, None]], name: str) -> asyncio.Task[None]:
        """Again and again until it ends by itself, each time after a longer pause."""
        return self._start(self._kept(work, name), name)

    def cancel(self) -> None:
        for task in self._running:
            task.cancel()

    async def settled(self) -> None:
        """Until each has come to its own end."""
        await asyncio.gather(*self._running, return_exceptions=True)

    async def close(self) -> None:
        """End them all."""
        self.cancel()
        await self.settled()

    def _start(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._finish)
        return task

    def _finish(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("%s failed", task.get_name(), exc_info=error)

    async def _kept(self, work: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        clock = asyncio.get_running_loop().time
        wait = FIRST_PAUSE
        while True:
            began = clock()
            try:
                return await work()
            except Exception:  # whatever it is, the next try may do better
                wait = FIRST_PAUSE if clock() - began > LONGEST_PAUSE else wait
                log.exception("%s failed; it is started again in %g s", name, wait)
            await self._pause(wait)
            wait = min(2 * wait, LONGEST_PAUSE)
