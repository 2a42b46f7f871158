"""Measurements of undo: what it costs to keep what files were, and how long everything else waits for that."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from odin_lsp import private_files
from odin_lsp.review.undo_log import UndoLog
from odin_lsp.review.undo_steps import new_step
from tests.bench.measure import Series

FILES = 150
CHARACTERS = 60_000
ENDS = 50
PAUSE = 0.001
"""Seconds between two looks at the event loop: if it never rests, the threads that write wait for the interpreter."""


@dataclass(frozen=True)
class Noting:
    each: Series
    """Seconds per file; beside it a file of the same size, written whole or not at all."""
    longest_hold: float
    """Seconds for which the event loop did nothing else."""

    @property
    def growth(self) -> float:
        """What the last files cost beside the first, each as a ratio to its baseline."""
        first, last = (Series(self.each.odin[part], self.each.bare[part]) for part in (slice(ENDS), slice(-ENDS, None)))
        return last.ratio / first.ratio


async def noting(folder: Path) -> Noting:
    """One turn that changes `FILES` files of `CHARACTERS` characters."""
    log = UndoLog(lambda: folder / "undo")
    (folder / "bare").mkdir()
    watching = asyncio.create_task(_longest_hold(stop := asyncio.Event()))
    series = Series()
    for number in range(FILES):
        before = f"{number}\n" * (CHARACTERS // len(f"{number}\n"))
        step = new_step(Path(f"/workspace/{number}"), "edit")
        began = perf_counter()
        await log.intend("turn", step, before, [f"{before}x"])
        await log.finish("turn", step, before, f"{before}x")
        series.odin.append(perf_counter() - began)
        began = perf_counter()
        await asyncio.to_thread(
            private_files.replace_file, folder / "bare" / str(number), [before.encode()], durable=False
        )
        series.bare.append(perf_counter() - began)
    stop.set()
    return Noting(series, await watching)


async def _longest_hold(stop: asyncio.Event) -> float:
    longest = 0.0
    while not stop.is_set():
        began = perf_counter()
        await asyncio.sleep(PAUSE)
        longest = max(longest, perf_counter() - began - PAUSE)
    return longest
