"""Which place is meant: models know files, lines and names; language servers want columns."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from odin_lsp.errors import OdinError, ToolError
from odin_lsp.intelligence.by_name import ByName
from odin_lsp.intelligence.code import code_of
from odin_lsp.intelligence.questions import Asked
from odin_lsp.workspace.comparing import changed_lines, same_lines
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.text import Lines, Position, PositionEncoding, split_lines

MAX_NAMED = 5


@dataclass(frozen=True, slots=True)
class Place:
    """A name in the text on the screen, which is what language servers know."""

    path: Path
    uri: str
    lines: Lines
    start: int
    """In characters of the text."""
    name: str

    def position(self, encoding: PositionEncoding) -> dict[str, int]:
        line, character = self.lines.position(self.start, encoding)
        return {"line": line, "character": character}


class Places:
    def __init__(self, files: Files, by_name: ByName) -> None:
        self._files = files
        self._by_name = by_name

    async def of(self, asked: Asked) -> list[Place]:
        """Where the name is that is meant; by a name alone, where it is defined. None: there is nothing to point at."""
        if asked.path is not None:
            return await asyncio.to_thread(self._in_file, asked.path, asked)
        meant = await self._by_name.ask(replace(asked, what="definition"))
        if not meant.found and asked.own_name == asked.symbol:
            used = await self._by_name.ask(replace(asked, what="references"))
            meant = replace(used, found=used.found[:1])  # it is defined elsewhere, and is the same wherever it is used
        places = [await asyncio.to_thread(self._on_line, it.path, it.line, asked) for it in meant.found]
        return [it for it in places if it is not None]

    def _in_file(self, path: Path, asked: Asked) -> list[Place]:
        text = asked.drafts[path] if path in asked.drafts else self._files.read(path).text
        if asked.line is not None:
            if place := self._on_line(path, asked.line, asked):
                return [place]
            if _found_on(split_lines(text)[asked.line - 1 : asked.line], asked.own_name):
                return []  # the model has edited the line, and no language server knows of that
            raise _not_there(asked, path, text)
        code = code_of(path, text)
        defined = [it.line for it in code.symbols if it.is_called(asked.symbol)] if code else []
        used = [] if defined else code.uses(asked.own_name) if code else _lines_with(asked.own_name, text)
        places = [self._on_line(path, line, asked) for line in (*defined, *used[:1])]
        return [it for it in places if it is not None]

    def _on_line(self, path: Path, line: int, asked: Asked) -> Place | None:
        """The line is one that the model knows; the place is on the screen."""
        try:
            text = self._files.read(path).text
        except OdinError:
            return None
        if path in asked.drafts:
            line = moved(line, split_lines(asked.drafts[path]), split_lines(text)) or 0
        lines, name = Lines(text), asked.own_name
        here = lines.between(Position(line - 1, 0), Position(line, 0), "utf-32") if line > 0 else ""
        first = lines.offset(Position(line - 1, 0), "utf-32")
        starts = [first + it.start() for it in _whole(name).finditer(here)]
        code = code_of(path, text) if len(starts) > 1 else None
        starts.sort(key=lambda it: code is not None and not code.has_name(text, it, name))
        buffer = self._files.buffers.of_path(path)
        uri = buffer.uri if buffer else path.as_uri()
        return Place(path, uri, lines, starts[0], name) if starts else None


def moved(line: int, old: Sequence[str], new: Sequence[str]) -> int | None:
    """Where a line of the one text is in the other; `None` if it is not there as it was."""
    stretches = same_lines(changed_lines(old, new), len(old))
    return next((now + line - first for first, now, size in stretches if first < line <= first + size), None)


def _whole(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


def _found_on(lines: Sequence[str], name: str) -> bool:
    return any(_whole(name).search(it) for it in lines)


def _lines_with(name: str, text: str) -> list[int]:
    return [number for number, line in enumerate(split_lines(text), 1) if _found_on([line], name)]


def _not_there(asked: Asked, path: Path, text: str) -> ToolError:
    lines = sorted(_lines_with(asked.own_name, text), key=lambda it: abs(it - (asked.line or 0)))[:MAX_NAMED]
    where = f"it is on line {', '.join(map(str, sorted(lines)))}" if lines else "it is nowhere in that file"
    return ToolError(f"{asked.own_name} is not on line {asked.line} of {path.name}; {where}")
