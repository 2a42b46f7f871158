"""Measurements of Glob: what it costs beside `rg --files`, and for how long the event loop does nothing else. All in
processor time. `python -m tests.bench.listing` prints these alone."""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from types import SimpleNamespace

from odin_lsp.tools.glob import Glob, GlobParams
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.search import Search, find_ripgrep
from tests.bench import held
from tests.bench.measure import Series
from tests.bench.table import Row, row

FEWER, MANY = 10_000, 200_000
IN_A_FOLDER = 50
PATTERNS = {"all": "**/*", "narrow": "**/file_199*.md"}
MOST_TIMES = {"all": 5.0, "narrow": 1.5}
"""As much as ripgrep takes."""
MOST_HELD = 0.02
WAY = ("--hidden", "--glob=!.git/", "--no-config", "--no-require-git")
"""How Odin has files listed, too."""


@dataclass(frozen=True)
class Listing:
    globs: dict[str, Series]
    """Seconds for each pattern; beside it the list of all files by ripgrep alone."""
    hold: held.Hold
    """While all files were listed."""


def make_tree(root: Path, files: int) -> None:
    for number in range(files // IN_A_FOLDER):
        folder = root / f"part_{number % 20}" / f"package_{number % 500}" / f"m{number}"
        folder.mkdir(parents=True)
        for one in range(number * IN_A_FOLDER, (number + 1) * IN_A_FOLDER):
            (folder / f"file_{one}.{'py' if one % 4 else 'md'}").touch()


async def listing(root: Path, times: int) -> Listing:
    files, globs = Files([root], Buffers(), FileCache()), {it: Series() for it in PATTERNS}
    context = SimpleNamespace(files=files, search=Search(files), folders=lambda _: _now([root]))
    command = [str(find_ripgrep([])), *WAY, "--files", "--null", "--", "./"]
    for _ in range(times):
        for name, pattern in PATTERNS.items():
            before = held.spent()
            output = await Glob().execute(GlobParams(pattern=pattern), context)
            globs[name].odin.append(held.spent() - before)
            assert output.data.startswith("part_")
            before = held.spent()
            await asyncio.to_thread(subprocess.run, command, cwd=root, capture_output=True, check=True)
            globs[name].bare.append(held.spent() - before)
    return Listing(globs, await held.watched(Glob().execute(GlobParams(pattern=PATTERNS["all"]), context)))


def rows(folder: Path) -> Iterator[Row]:
    measured: dict[int, Listing] = {}
    for files in (FEWER, MANY):
        make_tree(folder / str(files), files)
        measured[files] = asyncio.run(listing(folder / str(files), 5))
    less, more = measured[FEWER], measured[MANY]
    for name, series in more.globs.items():
        limit = MOST_TIMES[name]
        what = f"Glob of `{PATTERNS[name]}` in {MANY:,} files, processor time; `rg --files`"
        yield row(what, series, 1000, "ms", f"≤ {limit:g} × ripgrep", series.ratio <= limit)
    odin, tenth = (median(it.globs["all"].odin) for it in (more, less))
    most = 1.2 * MANY / FEWER
    cells = f"{odin * 1000:.2f} ms", f"{tenth * 1000:.2f} ms", f"{odin / tenth:.2f}"
    yield Row(f"… of all; in {FEWER:,} files", *cells, f"≤ {most:g} ×", odin <= most * tenth)
    yield from held.rows(more.hold, less.hold, MOST_HELD)


async def _now(folders: list[Path]) -> list[Path]:
    return folders


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        sys.stdout.write("".join(f"{it}\n" for it in rows(Path(name))))
