"""What the folders of a project define, in a few names each."""

from collections.abc import Callable, Iterable
from pathlib import Path

from odin_lsp.intelligence.code import symbols_in
from odin_lsp.intelligence.grammars import grammar_of

MAX_FILES = 400
"""That are taken apart, those near the top of each folder first; each folder has its share of them."""
MAX_NAMES = 8
"""Of a folder."""
LAST = ("function", "method", "constant")
"""Types tell more about a part than these do."""


def main_symbols(root: Path, files: Iterable[Path], read: Callable[[Path], str | None]) -> dict[str, list[str]]:
    """By the folders at the top: what is defined there for others. Tests define nothing for others."""
    parts: dict[str, list[Path]] = {}
    for path in sorted(files, key=lambda it: (len(it.parts), it)):
        if len(path.relative_to(root).parts) > 1 and grammar_of(path) is not None:
            parts.setdefault(path.relative_to(root).parts[0], []).append(path)
    share = max(1, MAX_FILES // max(1, len(parts)))
    return {part: _names(paths[:share], read) for part, paths in list(parts.items())[:MAX_FILES]}


def _names(paths: Iterable[Path], read: Callable[[Path], str | None]) -> list[str]:
    names: dict[str, int] = {}
    for path in paths:
        for it in symbols_in(path, read(path) or ""):
            if not it.container and not it.name.startswith(("_", "test_", "Test")):
                names.setdefault(it.name, it.kind in LAST)
    return sorted(names, key=names.__getitem__)[:MAX_NAMES]
