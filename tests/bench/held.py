"""How long the event loop is held: processor time of its thread between two beats, so that no busy machine counts."""

import asyncio
import resource
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import process_time, thread_time
from typing import Any

from odin_lsp.agent.open_sessions import OpenSessions
from odin_lsp.agent.stream import EventStream
from odin_lsp.messages import Message, Text, user
from odin_lsp.sessions.session import Session
from tests.bench.table import Row
from tests.support.reviewing import Bench

BEAT = 0.001
"""Seconds."""
HELD = 0.02
"""Seconds: whoever waits so long does not notice."""
LEAST = 0.005
"""What is less is said to be so much, so that ratios say something."""
LINE = "    value_{:08d} = compute({:08d})  # a line of a large text\n"


@dataclass(frozen=True)
class Hold:
    """What a piece of work was for the event loop that it ran on."""

    seconds: float
    """Of processor time, in all threads and programs."""
    longest: float
    """Of the loop's thread, in which it could do nothing else."""
    share: float
    """Of all these seconds: when it was held for longer than nobody notices."""


async def watched(work: Awaitable[Any]) -> Hold:
    parts: list[float] = []
    since = thread_time()

    def beat() -> None:
        nonlocal since
        since, before = thread_time(), since
        parts.append(since - before)

    async def beats() -> None:
        while True:
            await asyncio.sleep(BEAT)
            beat()

    beating = asyncio.create_task(beats())
    try:
        await asyncio.sleep(2 * BEAT)
        parts.clear()
        began = spent()
        await work
        await asyncio.sleep(0)
        beat()
        seconds = spent() - began
    finally:
        beating.cancel()
    return Hold(seconds, max(parts), sum(it for it in parts if it > HELD) / seconds)


def spent() -> float:
    """Processor time of the process and of those that it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + children.ru_utime + children.ru_stime


def rows(more: Hold, less: Hold, most: float) -> Iterator[Row]:
    """Of a lot of work, beside less of it; held for `most` seconds at most."""
    cells = f"{more.longest * 1000:.2f} ms", f"{less.longest * 1000:.2f} ms", f"{more.longest / less.longest:.2f}"
    yield Row("… the event loop held at most", *cells, f"≤ {most * 1000:g} ms", more.longest <= most)
    yield Row("… share of the time in which it was held", f"{more.share:.1%}", f"{less.share:.1%}", "–", "–", True)


async def held(work: Awaitable[Any]) -> float:
    """Seconds of processor time for which the loop could do nothing else meanwhile, at most."""
    return max((await watched(work)).longest, LEAST)


async def mismatch(folder: Path, kilobytes: int) -> float:
    """An edit of a passage that an open document of this size does not have."""
    bench = Bench(folder)
    path = bench.write("a.txt", _text(kilobytes))
    bench.open(path)
    await bench.read(path)
    return await held(bench.edit(path, "value_00000001 = compute(2)", "value = 1"))


async def edit(folder: Path, kilobytes: int) -> float:
    """An edit of an open document of this size, from the call to what the model is told."""
    bench = Bench(folder)
    path = bench.write("a.txt", _text(kilobytes))
    bench.open(path)
    await bench.read(path)
    return await held(bench.edit(path, "value_00000001 = compute(00000001)", "value = 1"))


async def read(folder: Path, kilobytes: int) -> float:
    """A Read of the end of a file of this size."""
    bench = Bench(folder)
    text = _text(kilobytes)
    path = bench.write("a.txt", text)
    return await held(bench.use("Read", file_path=path, offset=text.count("\n") - 5))


async def resume(folder: Path, messages: int) -> float:
    """A session of so many messages, taken up."""
    (folder := folder / "sessions").mkdir(parents=True, mode=0o700)
    session = Session(folder)
    for number in range(messages // 2):
        session.append(user(f"{number}. What does this do, and who calls it?"))
        session.append(Message("assistant", (Text(f"{number}. It does what its name says."),)))
    session.close()
    sessions = OpenSessions(lambda: folder, _Live, EventStream(), lambda *_: None)  # type: ignore[arg-type]
    longest = await held(sessions.open(session.id))
    assert sessions.current is not None
    assert sessions.current.session.messages
    sessions.current.session.close()
    return longest


class _Live:
    def __init__(self, session: Session) -> None:
        self.session = session


def _text(kilobytes: int) -> str:
    return "".join(LINE.format(number, number) for number in range(kilobytes * 1000 // len(LINE.format(0, 0))))
