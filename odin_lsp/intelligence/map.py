"""What the folders of a project define, in a few names each."""

from collections.abc import Callable, Iterable
from heapq import nsmallest
from pathlib import Path

from odin_lsp.intelligence.code import symbols_in
from odin_lsp.intelligence.grammars import LANGUAGES
from odin_lsp.workspace.name_list import FileNames, suffix_of

MAX_FILES = 400
"""That are taken apart, those near the top of each folder first; each folder has its share of them."""
MAX_NAMES = 8
"""Of a folder."""
LAST = ("function", "method", "constant")
"""Types tell more about a part than these do."""


def main_symbols(files: FileNames, read: Callable[[Path], str | None]) -> dict[str, list[str]]:
    """By the folders at the top: what is defined there for others. Tests define nothing for others."""
    parts: dict[str, list[str]] = {}
    for name in files.names:
        part, is_inside, _ = name.partition("/")
        if is_inside and suffix_of(name) in LANGUAGES:
            parts.setdefault(part, []).append(name)
    share = max(1, MAX_FILES // max(1, len(parts)))
    chosen = [(part, nsmallest(share, names, key=_nearness)) for part, names in parts.items()]
    chosen = nsmallest(MAX_FILES, chosen, key=lambda it: _nearness(it[1][0]))
    return {part: _names([files.folder / name for name in names], read) for part, names in chosen}


def _nearness(name: str) -> tuple[int, list[str]]:
    """To the top."""
    return name.count("/"), name.split("/")


def _names(paths: Iterable[Path], read: Callable[[Path], str | None]) -> list[str]:
    names: dict[str, int] = {}
    for path in paths:
        for it in symbols_in(path, read(path) or ""):
            if not it.container and not it.name.startswith(("_", "test_", "Test")):
                names.setdefault(it.name, it.kind in LAST)
    return sorted(names, key=names.__getitem__)[:MAX_NAMES]
