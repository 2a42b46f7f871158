"""Who may be hurt by a change: the names that it touches, and the files that have them. No more than a guess by names:
whoever is found is looked at, and whoever is not is not."""

import asyncio
from collections.abc import Collection, Iterable
from heapq import nsmallest
from pathlib import Path

from odin_lsp.errors import OdinError
from odin_lsp.intelligence.code import code_of
from odin_lsp.intelligence.grammars import LANGUAGES
from odin_lsp.workspace.comparing import changed_lines
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.hits import Hit
from odin_lsp.workspace.search import Query, Search
from odin_lsp.workspace.text import whole_lines

MAX_NAMES = 20
MAX_USERS = 20
SEARCH_SECONDS = 1.0


def names_touched(path: Path, old: str, new: str) -> set[str]:
    """What the old text defines on lines that differ, and the innermost symbols around those. Of a new file, all."""
    if not old:
        code = code_of(path, new)
        return {it.name for it in code.symbols} if code is not None else set()
    steps = changed_lines(whole_lines(old), whole_lines(new))
    return _defined(path, old, [(first, last) for first, last, _, _ in steps])


async def users_of(names: Collection[str], changed: Collection[Path], files: Files, search: Search) -> list[Path]:
    """Files of known languages with one of the names: those in the languages of what has changed first, and of these
    the open ones."""
    words = sorted(it for it in names if it.isidentifier())[:MAX_NAMES]
    if not words:
        return []
    query = Query(pattern=rf"\b(?:{'|'.join(words)})\b")
    found: list[Hit] = []
    try:
        async with asyncio.timeout(SEARCH_SECONDS):
            for folder in files.vouching_roots:
                hits, _ = await search.grep(query, folder)
                found += hits
    except (OdinError, TimeoutError):
        return []
    is_open = {buffer.path for buffer in files.buffers}
    return await asyncio.to_thread(_likeliest, found, frozenset(changed), is_open)


def _likeliest(found: Iterable[Hit], changed: Collection[Path], is_open: Collection[Path | None]) -> list[Path]:
    suffixes = {path.suffix for path in changed}
    users = {hit.path for hit in found if hit.path.suffix.lower() in LANGUAGES and hit.path not in changed}
    return nsmallest(MAX_USERS, users, key=lambda it: (it.suffix not in suffixes, it not in is_open, it))


def _defined(path: Path, text: str, stretches: Iterable[tuple[int, int]]) -> set[str]:
    """Lines are counted from 0, up to before the second number; where none are, the line that stands there counts."""
    code = code_of(path, text)
    if code is None:
        return set()
    names: set[str] = set()
    for first, last in stretches:
        lines = range(first + 1, max(last, first + 1) + 1)
        names |= {it.name for it in code.symbols if it.line in lines}
        for line in (lines[0], lines[-1]):
            inside = [it for it in code.symbols if it.first <= line <= it.last]
            names |= {inside[-1].name} if inside else set()
    return names
