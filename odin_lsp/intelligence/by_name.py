"""The last source of answers: names, found by a search and told apart by the grammar of each file. It needs no index,
sees what is not saved, and does not know which of two of the same name is meant."""

import asyncio
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from odin_lsp.errors import OdinError, ToolError
from odin_lsp.intelligence.code import Code, around, code_of
from odin_lsp.intelligence.questions import Answer, Asked, Found, What
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.roots import vouches
from odin_lsp.workspace.search import Query, Search
from odin_lsp.workspace.text import split_lines
from odin_lsp.workspace.uris import printable

SOURCE = "by name only"
ANSWERS: tuple[What, ...] = ("definition", "references", "callers", "callees", "outline", "symbols")
"""What can be told by names at all."""
MAX_FILES, MAX_PLACES = 400, 2_000
"""That are taken apart for one answer, and that are told."""
MAX_CODES = 100
_OTHERS = "others of the same name are not told apart"


class ByName:
    def __init__(self, files: Files, search: Search) -> None:
        self._files = files
        self._search = search
        self._codes: dict[Path, tuple[list[str], Code | None]] = {}
        """Some of the files that were taken apart: one question may ask about a name more than once."""

    async def ask(self, asked: Asked) -> Answer:
        if asked.what == "outline":
            return await self._outline(asked)
        name = asked.own_name
        word = rf"\w*{re.escape(name)}\w*" if asked.what == "symbols" else rf"\b{re.escape(name)}\b"
        candidates, is_complete = await self._files_with(word, asked)
        found, more = await asyncio.to_thread(self._look, asked, name, candidates[:MAX_FILES])
        left = len(candidates) - MAX_FILES
        caveats = [_OTHERS] if asked.what != "symbols" else []
        caveats += [f"{left} more files have the name and were not looked into"] if left > 0 else []
        wide = self._too_wide(asked)
        caveats += [f"{it} is too wide to be searched as a whole: name a folder in it as file_path" for it in wide]
        return Answer(tuple(found), SOURCE, is_complete and left <= 0 and not wide, "; ".join(caveats), more=more)

    async def _files_with(self, word: str, asked: Asked) -> tuple[list[Path], bool]:
        query = Query(pattern=word, ignore_case=asked.what == "symbols")
        paths: list[Path] = []
        is_complete = True
        for place in self._places_for(asked):
            hits, is_whole = await self._search.grep(query, place, asked.drafts)
            paths += [hit.path for hit in hits]
            is_complete = is_complete and is_whole
        return paths, is_complete

    def _places_for(self, asked: Asked) -> list[Path]:
        """Where nobody has to be asked any more: about what the model has named, the user was."""
        if asked.folder is not None:
            return [asked.folder]
        named = [asked.path] if asked.path is not None and not self._files.contains(asked.path) else []
        return [*self._files.vouching_roots, *named]

    def _too_wide(self, asked: Asked) -> list[str]:
        return [printable(str(it)) for it in self._files.search_roots if asked.folder is None and not vouches(it)]

    async def _outline(self, asked: Asked) -> Answer:
        if asked.path is None:
            raise ToolError("an outline is of a file; name it as file_path")
        lines, code = await asyncio.to_thread(self._taken_apart, asked.path, asked)
        if code is None:
            raise ToolError(f"{asked.path.name} is in no language that Odin can outline; use Grep")
        symbols = [it for it in code.symbols if it.line >= (asked.line or 1)]
        depths = {it.full_name: it.container.count(".") + 1 if it.container else 0 for it in symbols}
        found = (Found(asked.path, it.line, lines[it.line - 1], depth=depths[it.full_name]) for it in symbols)
        return Answer(tuple(found), SOURCE, is_complete=True)

    def _look(self, asked: Asked, name: str, paths: Sequence[Path]) -> tuple[list[Found], int]:
        """The places, and how many more there are than are told."""
        found: list[Found] = []
        more = 0
        for path in paths:
            try:
                lines, code = self._taken_apart(path, asked)
            except OdinError:
                continue  # gone, or no text, since it was found
            if code is not None:
                places = sorted(set(_places(asked, name, code)))
                told = places[: MAX_PLACES - len(found)]
                more += len(places) - len(told)
                found += [Found(path, at, lines[at - 1], around(code.symbols, at)) for at in told]
        return found, more

    def _taken_apart(self, path: Path, asked: Asked) -> tuple[list[str], Code | None]:
        if path not in self._codes:
            text = asked.drafts[path] if path in asked.drafts else self._files.read(path).text
            taken_apart = split_lines(text), code_of(path, text)
            if len(self._codes) == MAX_CODES:
                return taken_apart
            self._codes[path] = taken_apart
        return self._codes[path]


def _places(asked: Asked, name: str, code: Code) -> Iterable[int]:
    defined = [it for it in code.symbols if it.is_called(asked.symbol)]
    match asked.what:
        case "definition":
            return (it.line for it in defined)
        case "symbols":
            return (it.line for it in code.symbols if asked.symbol.lower() in it.full_name.lower())
        case "callers":
            return set(code.uses(name)).difference(it.line for it in defined)
        case "callees":
            return (line for it in defined for line in code.calls(it.first, it.last))
        case _:
            return code.uses(name)
