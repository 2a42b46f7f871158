"""Front ends that share one Odin: how many events reach them in a second, and what one more of them takes.

`python -m tests.bench.guests FOLDER` is the Odin, `python -m tests.bench.guests FOLDER NUMBER` the front ends."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from odin_lsp.events import EventRecord, ToolProgress
from odin_lsp.host import place
from odin_lsp.host.remote import attached
from odin_lsp.tasks import run_to_end
from odin_lsp.terminal.answering import Answering
from tests.bench.client import KEPT, resident
from tests.bench.measure import Series
from tests.bench.table import Row, row
from tests.bench.wires import processor_time

TOGETHER = 20
EVENTS = 1000
LAST = "the last one"
LOOK = 0.02


@dataclass(frozen=True)
class Guests:
    number: int
    rate: float
    """Events that reach them in a second, all of them together."""
    work: float
    """Seconds of the Odin's processor time for an event, until all of them have it."""
    memory: float
    """MiB that each of them takes in the Odin."""


async def sharing(folder: Path) -> list[Row]:
    alone, many = await guests(folder / "alone", 1), await guests(folder / "many", TOGETHER)
    what = f"events that reach {TOGETHER} front ends of one Odin in a second; one"
    return [
        Row(
            what,
            f"{many.rate:,.0f}",
            f"{alone.rate:,.0f}",
            f"{many.rate / alone.rate:.2f}",
            "≥ 5,000",
            many.rate >= 5_000,
        ),
        row(
            "… processor time of an event",
            Series([many.work], [alone.work]),
            1000,
            "ms",
            "≤ 5 ×",
            many.work <= 5 * alone.work,
        ),
        Row("… memory of each in the Odin", f"{many.memory:.2f} MiB", "–", "–", "≤ 0.5 MiB", many.memory <= 0.5),
    ]


async def guests(folder: Path, number: int) -> Guests:
    (folder / "workspace").mkdir(parents=True)
    (folder / "home").mkdir()
    async with _started(folder) as odin:
        await _line(odin, "")
        before = resident(odin.pid)
        async with _started(folder, str(number)) as front_ends:
            await _line(front_ends, "")
            memory, work, began = resident(odin.pid), processor_time(odin.pid), perf_counter()
            await _line(odin, "go\n")
            await _line(front_ends, "")
            took, work = perf_counter() - began, processor_time(odin.pid) - work
    return Guests(number, number * EVENTS / took, work / EVENTS, (memory - before) / number)


@asynccontextmanager
async def _started(folder: Path, *arguments: str) -> AsyncGenerator[asyncio.subprocess.Process]:
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.bench.guests", str(folder / "workspace"), *arguments),
        cwd=Path(__file__).parents[2],
        env={**kept, "HOME": str(folder / "home"), "ODIN_MODEL": "offline/odin"},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        process.terminate()
        await process.wait()


async def _line(process: asyncio.subprocess.Process, said: str) -> None:
    """Until it is done with what it is told."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(said.encode())
    if not await process.stdout.readline():
        raise RuntimeError("it has ended")


def _done() -> None:
    sys.stdout.write("done\n")
    sys.stdout.flush()


async def _odin(workspace: Path) -> None:
    from odin_lsp.server.resident import Resident

    odin = Resident(workspace)
    running = asyncio.create_task(odin.run())
    while not place.owner_of(workspace):
        await asyncio.sleep(LOOK)
    _done()
    await asyncio.to_thread(sys.stdin.readline)
    emit = odin.core.stream.emitter("", "")
    for number in range(EVENTS):
        emit(ToolProgress("call", LAST if number == EVENTS - 1 else f"line {number} of what a command has printed\n"))
        await asyncio.sleep(0)
    _done()
    await running


async def _front_ends(workspace: Path, number: int) -> None:
    async with AsyncExitStack() as stack:
        ends = [await _joined(stack, workspace) for _ in range(number)]
        _done()
        for it in ends:
            await it.wait()
        _done()
        await asyncio.Event().wait()


async def _joined(stack: AsyncExitStack, workspace: Path) -> asyncio.Event:
    remote, has_ended = await attached(workspace, {}, Answering("no")), asyncio.Event()
    if remote is None:
        raise RuntimeError("nobody listens")

    def hear(record: EventRecord) -> None:
        if isinstance(record.event, ToolProgress) and record.event.text == LAST:
            has_ended.set()

    (await stack.enter_async_context(remote)).subscribe(hear)
    return has_ended


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    run_to_end(_front_ends(folder, int(sys.argv[2])) if sys.argv[2:] else _odin(folder))
