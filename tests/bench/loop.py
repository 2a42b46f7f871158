"""What grows with what there is: how its cost grows, and for how long the event loop is held meanwhile.
`python -m tests.bench.loop` measures it and writes its section of docs/performance.md."""

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.bench import floods, growth, held, listing, page, shown_files
from tests.bench.table import Row, table

ABOUT = f"""What grows with files, depth and bytes, in processor time of all threads and programs that take part: the
most beside the least of the same run. The event loop is held while its thread does one thing: *at most* is the longest
time between two beats of it, and the *share* is that of such times above {held.HELD * 1000:g} ms in the whole. A body
that is not refused was let through for this, whatever its size."""
WAYS: Sequence[growth.Way] = (
    ("KB of a document, the loop held by a mismatch", (500, 5_000, 50_000), held.mismatch),
    ("KB of a file, the loop held by a Read of its end", (1_000, 10_000, 100_000), held.read),
    ("messages, the loop held by resuming", (500, 5_000, 50_000), held.resume),
)


def main() -> None:
    rows = asyncio.run(_rows())
    with tempfile.TemporaryDirectory() as folder:
        rows += list(listing.rows(Path(folder)))
    written = table(rows)
    sys.stdout.write(f"{written}\n")
    made = f"Made by `python -m tests.bench.loop` on {time.strftime('%Y-%m-%d')}."
    page.write_section("loop", f"{ABOUT} {made}\n\n{written}")


async def _rows() -> list[Row]:
    rows = await floods.rows()
    with tempfile.TemporaryDirectory() as folder:
        rows += await shown_files.rows(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        rows += [it.row() for it in await growth.grown(Path(folder), WAYS)]
    return rows


if __name__ == "__main__":
    main()
