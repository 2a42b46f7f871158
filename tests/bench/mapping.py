"""Measurements of the map of a tree: what its folders define, the first time and after one change. Each time in a
process of its own, since memory is measured too: `python -m tests.bench.mapping TREE`."""

import asyncio
import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from odin_lsp.intelligence.map import main_symbols
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.search import Search
from tests.bench.client import resident
from tests.bench.measure import Series

FOLDERS = 20


@dataclass
class Mapping:
    """Beside it, the listing of the files alone."""

    first: Series = field(default_factory=Series)
    again: Series = field(default_factory=Series)
    """After one file has changed."""
    memory: list[float] = field(default_factory=list[float])
    """MiB that the process has grown by."""


def make_tree(root: Path, files: int) -> None:
    filler = "".join(f"    def method_{number}(self):\n        return {number}\n\n" for number in range(40))
    for number in range(files):
        folder = root / f"part_{number % FOLDERS}" / f"package_{number % 500}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"module_{number}.py").write_text(f"class Thing{number}:\n{filler}", encoding="utf-8")


def mapping(root: Path, times: int) -> Mapping:
    found = Mapping()
    command = [sys.executable, "-m", "tests.bench.mapping", str(root)]
    for _ in range(times):
        told = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        for series, (whole, listing) in ((found.first, told["first"]), (found.again, told["again"])):
            series.odin.append(whole)
            series.bare.append(listing)
        found.memory.append(told["memory"])
    return found


async def _measured(root: Path) -> dict[str, object]:
    files = Files([root], Buffers(), FileCache())
    search = Search(files)
    before = resident("self")
    first = await _mapped(root, files, search)
    grown = resident("self") - before
    changed = min(root.rglob("*.py"))
    changed.write_text(f"{changed.read_text(encoding='utf-8')}# changed\n", encoding="utf-8")
    return {"first": first, "again": await _mapped(root, files, search), "memory": grown}


async def _mapped(root: Path, files: Files, search: Search) -> tuple[float, float]:
    """Seconds for all of it, and for the listing."""
    began = perf_counter()
    found = await search.files(root)
    listed = perf_counter() - began
    symbols = await asyncio.to_thread(main_symbols, found, lambda path: files.read(path).text)
    assert found.is_whole
    assert len(symbols) == FOLDERS
    return perf_counter() - began, listed


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(_measured(Path(sys.argv[1])))))
