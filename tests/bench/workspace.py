"""Measurements of the workspace: keystrokes, searches, the cache. Each beside pygls, ripgrep or a plain dict."""

import asyncio
import os
import random
import resource
import subprocess
from pathlib import Path
from time import perf_counter

from lsprotocol import types
from pygls.workspace import TextDocument

from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.search import Query, Search, find_ripgrep
from odin_lsp.workspace.text import Change, Position
from tests.bench.measure import Series

FILES = 50_000
NEEDLE = "needle_in_a_haystack"
DIRTY = 50


def keystrokes(lines: int, times: int) -> Series:
    """Seconds for one character typed in the middle of a document, then and there; pygls' own document beside it."""
    series = Series()
    text = "".join(f"    value_{number} = compute({number})  # comment\n" for number in range(lines))
    uri = "untitled:bench"
    spots = [random.Random(number).randrange(lines) for number in range(times)]
    buffers = Buffers()
    buffers.open(uri, 0, text)
    for version, line in enumerate(spots, 1):
        change = Change("x", Position(line, 4), Position(line, 4))
        began = perf_counter()
        buffers.change(uri, version, [change])
        series.odin.append(perf_counter() - began)
    document = TextDocument(uri, text, version=0)
    for line in spots:
        spot = types.Position(line, 4)
        change = types.TextDocumentContentChangePartial(types.Range(spot, spot), "x")
        began = perf_counter()
        document.apply_change(change)
        series.bare.append(perf_counter() - began)
    return series


def make_tree(root: Path) -> None:
    """`FILES` files in 500 folders; one in a thousand has the needle."""
    filler = "".join(f"def function_{number}():\n    return {number}\n" for number in range(40))
    for number in range(FILES):
        folder = root / f"package_{number % 500}"
        if number < 500:
            folder.mkdir(parents=True)
        needle = f"# {NEEDLE}\n" if number % 1000 == 7 else ""
        (folder / f"module_{number}.py").write_text(f"# {number}\n{filler}{needle}")


async def searching(root: Path, times: int, *, dirty: int = 0, cold: bool = False) -> Series:
    """Seconds for a search over the whole tree; ripgrep itself, called the same way, beside it."""
    series = Series()
    buffers = Buffers()
    for number in range(dirty):
        path = root / f"package_{number}" / f"module_{number}.py"
        buffers.open(path.as_uri(), 1, f"typed\n# {NEEDLE}\n")
    search = Search(Files([root], buffers, FileCache()))
    ripgrep = str(find_ripgrep([]))
    command = [ripgrep, "--no-config", "--hidden", "--line-number", "--color=never", NEEDLE, str(root)]
    for _ in range(times):
        _cool_down(cold)
        began = perf_counter()
        hits, complete = await search.grep(Query(pattern=NEEDLE, output_mode="content"), root)
        series.odin.append(perf_counter() - began)
        assert complete
        assert len(hits) == FILES // 1000 + dirty - (dirty > 7)
        _cool_down(cold)
        began = perf_counter()
        await asyncio.to_thread(subprocess.run, command, capture_output=True, check=True)
        series.bare.append(perf_counter() - began)
    return series


def cache_hits(root: Path, times: int) -> Series:
    """Seconds to get one of 500 files that are held; a dict beside it."""
    series = Series()
    files = Files([root], Buffers(), FileCache())
    paths = sorted(root.rglob("*.py"))[:500]
    stamps = {}
    for path in paths:
        files.read(path)
        stamps[path] = files.cache.peek(path).stamp
    plain = dict.fromkeys(paths, "text")
    for number in range(times):
        path = paths[number % 500]
        began = perf_counter()
        assert files.cache.full(path, stamps[path])
        series.odin.append(perf_counter() - began)
        began = perf_counter()
        assert plain[path]
        series.bare.append(perf_counter() - began)
    return series


def reading_many(root: Path, count: int = 10_000) -> tuple[int, int, float]:
    """Bytes held at most while so many files are read, the bound, and the growth of the process in MiB."""
    files = Files([root], Buffers(), FileCache())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    most = 0
    for path in sorted(root.rglob("*.py"))[:count]:
        files.read(path)
        most = max(most, files.cache.size)
    growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return most, files.cache.settings.max_cache_size, growth


def _cool_down(cold: bool) -> None:
    """Have the system forget the files, where it lets us."""
    if cold:
        os.sync()
        with open("/proc/sys/vm/drop_caches", "w") as caches:  # noqa: PTH123
            caches.write("3")


def can_cool_down() -> bool:
    return os.access("/proc/sys/vm/drop_caches", os.W_OK)
