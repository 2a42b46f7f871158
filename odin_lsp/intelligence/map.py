"""What the folders of a project define, in a few names each."""

from collections.abc import Callable, Iterable
from pathlib import Path

from odin_lsp.intelligence.code import symbols_in
from odin_lsp.intelligence.grammars import grammar_of

MAX_FILES = 400
"""That are taken apart."""
MAX_NAMES = 8
"""Of a folder."""
LAST = ("function", "method", "constant")
"""Types tell more about a part than these do."""


def main_symbols(root: Path, files: Iterable[Path], read: Callable[[Path], str | None]) -> dict[str, list[str]]:
    """By the folders at the top: what is defined there for others. Tests define nothing for others."""
    found: dict[str, dict[str, int]] = {}
    known = [it for it in files if len(it.relative_to(root).parts) > 1 and grammar_of(it) is not None]
    for path in sorted(known, key=lambda it: (len(it.parts), it))[:MAX_FILES]:
        names = found.setdefault(path.relative_to(root).parts[0], {})
        for it in symbols_in(path, read(path) or ""):
            if not it.container and not it.name.startswith(("_", "test_", "Test")):
                names.setdefault(it.name, it.kind in LAST)
    return {folder: sorted(names, key=names.__getitem__)[:MAX_NAMES] for folder, names in found.items()}
