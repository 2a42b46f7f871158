"""Notebooks as cells, and edits of one cell that leave every other byte of the file's JSON as it is."""

import json
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from odin_lsp.errors import ToolError
from odin_lsp.foreign_data import fit_text
from odin_lsp.values import is_list, is_object

SUFFIX = ".ipynb"
CellKind = Literal["code", "markdown", "raw"]
MAX_OUTPUT = 1000
"""Characters of what a cell has printed."""
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the file's text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Cell:
    id: str
    kind: str
    source: str
    outputs: tuple[str, ...]
    """In words, and not more than the beginning of each."""
    place: Span
    source_place: Span


@dataclass(frozen=True, slots=True)
class Arranged:
    """A cell as it shall be: one that the notebook has, or a new one."""

    cell: Cell | None
    source: str
    id: str = ""
    kind: str = "code"


@dataclass(frozen=True, slots=True)
class Notebook:
    text: str
    cells: tuple[Cell, ...]
    cells_place: Span
    """Of the list."""
    has_ids: bool
    """Cells say what they are called; else they are called by their numbers."""

    @classmethod
    def of(cls, text: str) -> "Notebook | None":
        """`None` if the text is not that of a notebook."""
        try:
            whole = _DECODER.decode(text)
            if not is_object(whole) or not is_list(whole.get("cells")):
                return None
            members = dict(_members(text, _skip(text, 0)))
            place = members["cells"]
            cells = tuple(_cell(text, *it) for it in enumerate(_items(text, place.start)))
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
            return None
        return cls(text, cells, place, _version(whole) >= (4, 5))

    def find(self, cell_id: str) -> Cell:
        for cell in self.cells:
            if cell.id == cell_id:
                return cell
        known = ", ".join(cell.id for cell in self.cells[:50])
        raise ToolError(f"the notebook has no cell {cell_id!r}; it has {known or 'none'}")

    def replaced(self, cell: Cell, source: str) -> str:
        """The text with another source of the cell. Lines of it that stay are written as they were."""
        return self._with(cell.source_place, self._source(cell, source))

    def inserted(self, after: Cell | None, kind: CellKind, source: str) -> tuple[str, str]:
        """The text with a new cell behind another, or at the beginning; and what the new one is called."""
        at = self.cells.index(after) + 1 if after else 0
        cell_id = uuid.uuid4().hex[:8] if self.has_ids else f"cell-{at}"
        unit = self._indent
        new = self._new(cell_id, kind, source)
        separator = f",\n{unit * 2}" if unit else ", "
        if after is not None:
            return self._with(Span(after.place.end, after.place.end), f"{separator}{new}"), cell_id
        if self.cells:
            start = self.cells[0].place.start
            return self._with(Span(start, start), f"{new}{separator}"), cell_id
        return self._with(self.cells_place, f"[\n{unit * 2}{new}\n{unit}]" if unit else f"[{new}]"), cell_id

    def deleted(self, cell: Cell) -> str:
        at = self.cells.index(cell)
        if at + 1 < len(self.cells):
            return self._with(Span(cell.place.start, self.cells[at + 1].place.start), "")
        if at:
            return self._with(Span(self.cells[at - 1].place.end, cell.place.end), "")
        return self._with(self.cells_place, "[]")

    def arranged(self, cells: Sequence[Arranged]) -> str:
        """The text with these cells and no others. Where they are the same ones, only sources change."""
        if [it.cell for it in cells] == list(self.cells):
            text = self.text
            for it in reversed(cells):
                if it.cell is not None and it.source != it.cell.source:
                    text = replace(self, text=text).replaced(it.cell, it.source)
            return text
        unit = self._indent
        separator = f",\n{unit * 2}" if unit else ", "
        pieces = separator.join(map(self._piece, cells))
        if not pieces:
            return self._with(self.cells_place, "[]")
        return self._with(self.cells_place, f"[\n{unit * 2}{pieces}\n{unit}]" if unit else f"[{pieces}]")

    def _piece(self, it: Arranged) -> str:
        if it.cell is None:
            return self._new(it.id, it.kind, it.source)
        piece = self.text[it.cell.place.start : it.cell.place.end].replace("\r\n", "\n")
        if it.source == it.cell.source:
            return piece
        before = self.text[it.cell.place.start : it.cell.source_place.start]
        behind = self.text[it.cell.source_place.end : it.cell.place.end]
        return (before + self._source(it.cell, it.source) + behind).replace("\r\n", "\n")

    def _new(self, cell_id: str, kind: str, source: str) -> str:
        of_code = {"execution_count": None} if kind == "code" else {}
        data: dict[str, Any] = {
            "cell_type": kind,
            **of_code,
            **({"id": cell_id} if self.has_ids else {}),
            "metadata": {},
            **({"outputs": []} if kind == "code" else {}),
            "source": _lines(source),
        }
        unit = self._indent
        return self._dumped(data, unit).replace("\n", f"\n{unit * 2}")

    @property
    def _indent(self) -> str:
        """What one level is indented by; nothing, if all of it is on one line."""
        found = re.match(r"\s*\{\r?\n([ \t]+)", self.text)
        return found[1] if found else ""

    def _with(self, place: Span, new: str) -> str:
        is_crlf = "\r\n" in self.text
        return self.text[: place.start] + (new.replace("\n", "\r\n") if is_crlf else new) + self.text[place.end :]

    def _dumped(self, value: Any, indent: str = "") -> str:
        """Jupyter writes letters as they are; other programs escape them."""
        is_escaped = self.text.isascii() and "\\u" in self.text
        return json.dumps(value, ensure_ascii=is_escaped, indent=indent or None)

    def _source(self, cell: Cell, source: str) -> str:
        old = self.text[cell.source_place.start : cell.source_place.end]
        if not old.startswith("["):
            return self._dumped(source)
        written = {data: self.text[at.start : at.end] for data, at in _items(self.text, cell.source_place.start)}
        lines = [written.get(line) or self._dumped(line) for line in _lines(source)]
        if not lines:
            return "[]"
        if not self._indent:
            return f"[{', '.join(lines)}]"
        inner = self._indent * 4
        return "[\n" + ",\n".join(f"{inner}{line}" for line in lines) + f"\n{self._indent * 3}]"


def _version(notebook: Mapping[str, Any]) -> tuple[int, int]:
    """Before 4 if it does not say."""
    major, minor = (notebook.get(key, 0) for key in ("nbformat", "nbformat_minor"))
    return (major, minor) if isinstance(major, int) and isinstance(minor, int) else (0, 0)


def _cell(text: str, number: int, item: tuple[Any, Span]) -> Cell:
    data, place = item
    members = dict(_members(text, place.start))
    source = data["source"]
    return Cell(
        id=fit_text(str(data.get("id") or f"cell-{number}")),
        kind=fit_text(str(data["cell_type"])),
        source="".join(map(str, source)) if is_list(source) else str(source),
        outputs=tuple(_outputs(data.get("outputs") or ())),
        place=place,
        source_place=members["source"],
    )


def _outputs(outputs: Sequence[Any]) -> Iterator[str]:
    for output in outputs:
        match output:
            case {"output_type": "stream", "text": text}:
                yield _short(_joined(text))
            case {"output_type": "error", "ename": name, "evalue": value}:
                yield _short(f"{name}: {value}")
            case {"data": {"text/plain": text, **others}}:
                more = "".join(f"\n({it})" for it in others if it.startswith("image/"))
                yield _short(_joined(text)) + more
            case {"data": {**others}}:
                yield f"({', '.join(others)})"
            case _:
                pass


def _joined(text: object) -> str:
    return "".join(map(str, text)) if is_list(text) else str(text)


def _short(text: str) -> str:
    text = text.rstrip()
    return text if len(text) <= MAX_OUTPUT else f"{text[:MAX_OUTPUT]}\n({len(text) - MAX_OUTPUT:,} more characters)"


def _lines(source: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", source.replace("\r\n", "\n"))


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _members(text: str, at: int) -> Iterator[tuple[str, Span]]:
    """The values of the object that begins there, by their keys."""
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        start = _skip(text, _skip(text, at) + 1)
        _, end = _DECODER.raw_decode(text, start)
        yield key, Span(start, end)
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at


def _items(text: str, at: int) -> Iterator[tuple[Any, Span]]:
    """The values of the list that begins there."""
    at = _skip(text, at + 1)
    while text[at] != "]":
        value, end = _DECODER.raw_decode(text, at)
        yield value, Span(at, end)
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
