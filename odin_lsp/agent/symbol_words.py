"""What a message says about code by its name: `@name` adds the definition of a symbol, as it stands now."""

import asyncio
import re
from collections.abc import Sequence

from odin_lsp.agent.quoting import quoted
from odin_lsp.errors import ToolError
from odin_lsp.intelligence.by_name import ByName
from odin_lsp.intelligence.code import Symbol, symbols_in
from odin_lsp.intelligence.questions import Asked, Found
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.search import Search
from odin_lsp.workspace.text import split_lines

MAX_SYMBOLS = 5
"""Of one message."""
MAX_DEFINITIONS = 3
"""Of one name; all others are only named."""
MAX_LINES = 200
MIN_TYPED = 3
"""Letters of a name that is to be completed: fewer are in nearly every file."""
SPECIAL = ("problems", "selection")
"""Mentions of something else."""
_MENTION = re.compile(r"(?<!\S)@(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)(?=[.,;:!?)\]}'\"]*(?:\s|\Z))")
_NAME = re.compile(r"[^\W\d][\w.]*")


async def definitions(text: str, files: Files, search: Search) -> list[str]:
    """Those of the symbols that the words mention. Other words with an `@` are just words."""
    mentioned = [it["name"] for it in _MENTION.finditer(text) if it["name"] not in SPECIAL]
    names = dict.fromkeys(name for name in mentioned if not _is_file(name, files))
    told: list[str] = []
    for name in list(names)[:MAX_SYMBOLS]:
        found = (await ByName(files, search).ask(Asked(what="definition", symbol=name))).found
        told += await asyncio.to_thread(_told, name, found, files)
    return told


async def completed(typed: str, files: Files, search: Search) -> list[tuple[str, str]]:
    """Symbols whose names begin so, and the file of each."""
    if len(typed) < MIN_TYPED or not _NAME.fullmatch(typed):
        return []
    found = (await ByName(files, search).ask(Asked(what="symbols", symbol=typed))).found
    beginning = f".{typed.lower()}"

    def fitting() -> list[tuple[str, str]]:
        symbols = ((_symbol_at(it, files), files.shown(it.path)) for it in found)
        names = ((it.full_name, file) for it, file in symbols if it and beginning in f".{it.full_name.lower()}")
        return list(dict.fromkeys(names))

    return await asyncio.to_thread(fitting)


def _is_file(name: str, files: Files) -> bool:
    try:
        return files.resolve(name).path.exists()
    except ToolError:
        return True


def _told(name: str, found: Sequence[Found], files: Files) -> list[str]:
    told: list[str] = []
    for it in found[:MAX_DEFINITIONS]:
        if (symbol := _symbol_at(it, files)) is None:
            continue
        first, last = symbol.first, min(symbol.last, symbol.first + MAX_LINES - 1)
        lines = split_lines(files.read(it.path).text)[first - 1 : last]
        shown = [f"{number:6}\t{line}" for number, line in enumerate(lines, first)]
        shown += [f"({symbol.last - last} more lines)"] if last < symbol.last else []
        about = {"kind": "symbol", "name": symbol.full_name, "file": files.shown(it.path)}
        told.append(quoted("context", about, "\n".join(shown)))
    if others := found[MAX_DEFINITIONS:]:
        places = "\n".join(f"{files.shown(it.path)}:{it.line}" for it in others[:MAX_LINES])
        told.append(quoted("context", {"kind": "symbol", "name": name}, f"Other definitions of it:\n{places}"))
    return told


def _symbol_at(found: Found, files: Files) -> Symbol | None:
    """`None` if the file has just changed."""
    try:
        symbols = symbols_in(found.path, files.read(found.path).text)
    except ToolError:
        return None
    return next((it for it in symbols if it.line == found.line), None)
