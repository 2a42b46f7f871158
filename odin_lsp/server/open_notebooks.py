"""Notebooks on the screen: the text of the file with its cells as they are there, and edits of it as edits of cells."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from lsprotocol import types

from odin_lsp.formats.notebooks import Arranged, Notebook
from odin_lsp.ports import FileChange
from odin_lsp.reading import start_of
from odin_lsp.workspace.buffers import Buffer, Buffers, OpenCell
from odin_lsp.workspace.text import Change, Lines, Position, PositionEncoding, decode
from odin_lsp.workspace.uris import document_key, path_of

MAX_BYTES = 8 * 2**20
"""Of a file that is put together anew with each key."""
KINDS = {types.NotebookCellKind.Code: "code", types.NotebookCellKind.Markup: "markdown"}


class OpenNotebooks:
    def __init__(self, buffers: Buffers) -> None:
        self._buffers = buffers
        self._files: dict[str, Notebook | None] = {}
        """As they were when the editor last read or wrote them."""
        self._places: dict[str, dict[str, int]] = {}
        """Of the documents that their cells had then: one that was closed and is opened again is the same cell."""

    def open(self, document: types.NotebookDocument, texts: Iterable[types.TextDocumentItem]) -> None:
        cells = _cells(document.cells, {it.uri: it for it in texts})
        file = self._files[document_key(document.uri)] = _read(document.uri)
        text = None
        if file is not None and cells is not None:
            self._pair(document.uri, file, cells)
            text = _text(file, cells)
        self._buffers.open_notebook(document.uri, document.version, cells or [], text)

    def change(self, uri: str, version: int, changes: types.NotebookDocumentCellChanges | None) -> None:
        buffer = self._buffers.of_uri(uri)
        if changes is None or buffer is None or buffer.cells is None or not buffer.synchronised:
            return
        known = self._places.get(document_key(uri), {})
        is_followed = (changes.structure is None or _restructure(buffer.cells, changes.structure, known)) and all(
            _type(buffer.cells, it, self._buffers.encoding) for it in changes.text_content or ()
        )
        self._show(buffer, version) if is_followed else self._buffers.lose(uri, version)

    def save(self, uri: str) -> None:
        """The editor has written the cells that it shows, in its own way."""
        buffer = self._buffers.of_uri(uri)
        if buffer is None or buffer.cells is None:
            return
        file = self._files[document_key(uri)] = _read(uri)
        if file is not None and buffer.synchronised:
            for it in buffer.cells:
                it.place = None
            self._pair(uri, file, buffer.cells)
            self._show(buffer, buffer.version)
        self._buffers.save(uri)

    def close(self, uri: str) -> None:
        for known in (self._files, self._places):
            known.pop(document_key(uri), None)
        self._buffers.close(uri)

    def _pair(self, uri: str, file: Notebook, cells: Sequence[OpenCell]) -> None:
        _pair(file, cells)
        self._places[document_key(uri)] = {it.uri: it.place for it in cells if it.place is not None}

    def _show(self, buffer: Buffer, version: int) -> None:
        file = self._files.get(document_key(buffer.uri))
        if file is None or buffer.cells is None:
            return
        text = _text(file, buffer.cells)
        if text != buffer.text:
            self._buffers.change(buffer.uri, version, [Change(text)])
        else:
            buffer.version = version


def cell_edit(buffer: Buffer, change: FileChange, encoding: PositionEncoding) -> types.WorkspaceEdit | None:
    """A change of a notebook's text as changes of the cells on the screen; `None` if it is more than that."""
    lines = Lines(buffer.text)
    for it in reversed(change.edits):
        start, end = (lines.offset(Position(at.line, at.character), encoding) for at in (it.range.start, it.range.end))
        lines.replace(start, end, it.new_text)
    old, new = Notebook.of(buffer.text), Notebook.of(lines.text)
    if old is None or new is None or buffer.cells is None or len(new.cells) != len(buffer.cells):
        return None
    cells = zip(buffer.cells, old.cells, new.cells, strict=True)
    changed = [(cell, it.source) for cell, was, it in cells if it.source != was.source]
    if old.arranged([Arranged(was, it.source) for was, it in zip(old.cells, new.cells, strict=True)]) != lines.text:
        return None
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(cell.uri, cell.version),
                [types.TextEdit(_whole(cell.lines, encoding), source)],
            )
            for cell, source in changed
        ]
    )


def _read(uri: str) -> Notebook | None:
    name = path_of(uri)
    try:
        data = start_of(Path(name), MAX_BYTES + 1) if name is not None else None
    except OSError:
        return None
    content = decode(data) if data is not None and len(data) <= MAX_BYTES else None
    return Notebook.of(content.text) if content is not None else None


def _cells(
    cells: Iterable[types.NotebookCell], texts: Mapping[str, types.TextDocumentItem], known: Sequence[OpenCell] = ()
) -> list[OpenCell] | None:
    """`None` if the text of one is not known."""
    by_uri = {it.uri: it for it in known}
    found: list[OpenCell] = []
    for cell in cells:
        item = texts.get(cell.document)
        if item is not None:
            found.append(OpenCell(item.uri, KINDS[cell.kind], item.version, Lines(item.text)))
        elif cell.document in by_uri:
            found.append(by_uri[cell.document])
        else:
            return None
    return found


def _pair(file: Notebook, cells: Sequence[OpenCell]) -> None:
    """Which cell of the file each of them is: by their order if there are as many, else by what they say."""
    if len(file.cells) == len(cells):
        for number, it in enumerate(cells):
            it.place = number
        return
    sources, shown = [it.source for it in file.cells], [_source(it) for it in cells]
    for block in SequenceMatcher(None, sources, shown, autojunk=False).get_matching_blocks():
        for offset in range(block.size):
            cells[block.b + offset].place = block.a + offset


def _restructure(
    cells: list[OpenCell], structure: types.NotebookDocumentCellChangeStructure, places: Mapping[str, int]
) -> bool:
    """Cells that move keep their documents. Whether all is known."""
    array, texts = structure.array, {it.uri: it for it in structure.did_open or ()}
    new = _cells(array.cells or (), texts, cells)
    if new is None or array.start + array.delete_count > len(cells):
        return False
    for it in new:
        it.place = places.get(it.uri)
    cells[array.start : array.start + array.delete_count] = new
    return True


def _type(
    cells: Sequence[OpenCell], typed: types.NotebookDocumentCellContentChanges, encoding: PositionEncoding
) -> bool:
    cell = next((it for it in cells if it.uri == typed.document.uri), None)
    if cell is None or typed.document.version <= cell.version:
        return False
    for it in typed.changes:
        if isinstance(it, types.TextDocumentContentChangeWholeDocument):
            cell.lines = Lines(it.text)
        else:
            start, end = it.range.start, it.range.end
            places = Position(start.line, start.character), Position(end.line, end.character)
            cell.lines.apply(Change(it.text, *places), encoding)
    cell.version = typed.document.version
    return True


def _text(file: Notebook, cells: Sequence[OpenCell]) -> str:
    return file.arranged(
        [
            Arranged(
                file.cells[it.place] if it.place is not None else None,
                _source(it),
                hashlib.sha256(it.uri.encode()).hexdigest()[:8],
                it.kind,
            )
            for it in cells
        ]
    )


def _source(cell: OpenCell) -> str:
    return cell.lines.text.replace("\r\n", "\n")


def _whole(lines: Lines, encoding: PositionEncoding) -> types.Range:
    line, character = lines.position(len(lines.text), encoding)
    return types.Range(types.Position(0, 0), types.Position(line, character))
