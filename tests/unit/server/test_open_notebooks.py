"""Notebooks on the screen: what their cells make of the file, and what edits make of the cells."""

import json

import pytest
from lsprotocol import types

from odin_lsp.ports import FileChange, Position, Range, TextReplacement
from odin_lsp.server.open_notebooks import OpenNotebooks, cell_edit
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.text import Lines
from tests.unit.formats.test_notebooks import BOOK

SOURCES = ["# Title\ncafé", "import os"]
KINDS = [types.NotebookCellKind.Markup, types.NotebookCellKind.Code]


class Screen:
    def __init__(self, path):
        self.path, self.uri, self.version = path, path.as_uri(), 1
        self.buffers = Buffers()
        self.notebooks = OpenNotebooks(self.buffers)

    def open(self, sources=SOURCES):
        cells = [types.NotebookCell(KINDS[min(index, 1)], f"cell:{index}") for index in range(len(sources))]
        texts = [types.TextDocumentItem(f"cell:{index}", "python", 1, it) for index, it in enumerate(sources)]
        self.notebooks.open(types.NotebookDocument(self.uri, "jupyter-notebook", 1, cells), texts)

    def change(self, **changes):
        self.version += 1
        self.notebooks.change(self.uri, self.version, types.NotebookDocumentCellChanges(**changes))

    def type(self, cell, text, version=2):
        document = types.VersionedTextDocumentIdentifier(version, cell)
        start = types.Range(types.Position(0, 0), types.Position(0, 0))
        typed = [types.TextDocumentContentChangePartial(start, text)]
        self.change(text_content=[types.NotebookDocumentCellContentChanges(document, typed)])

    def splice(self, start, count, *cells, texts=()):
        array = types.NotebookCellArrayChange(start, count, [types.NotebookCell(KINDS[1], it) for it in cells])
        opened = [types.TextDocumentItem(uri, "python", 1, text) for uri, text in texts]
        self.change(structure=types.NotebookDocumentCellChangeStructure(array, opened))

    @property
    def buffer(self):
        return self.buffers.of_uri(self.uri)

    @property
    def sources(self):
        return ["".join(it["source"]) for it in json.loads(self.buffer.text)["cells"]]


@pytest.fixture
def screen(tmp_path):
    path = tmp_path / "a.ipynb"
    path.write_text(BOOK)
    screen = Screen(path)
    screen.open()
    return screen


def test_what_nobody_has_touched_is_the_file(screen):
    assert (screen.buffer.text, screen.buffer.unsaved, screen.buffer.is_notebook) == (BOOK, False, True)


def test_what_is_typed_into_a_cell_is_in_the_text_and_all_else_stays(screen):
    screen.type("cell:1", "import re, ")

    assert screen.buffer.text == BOOK.replace('"import os"', '"import re, import os"')
    assert (screen.buffer.unsaved, screen.buffer.version) == (True, 2)


def test_cells_that_are_new_or_gone_or_elsewhere(screen):
    screen.splice(2, 0, "cell:2", texts=[("cell:2", "x = 1")])
    assert screen.sources == [*SOURCES, "x = 1"]
    before = screen.buffer.text

    screen.splice(0, 3, "cell:1", "cell:2", "cell:0")
    assert screen.sources == ["import os", "x = 1", SOURCES[0]]
    assert '"tags": [ "odd  spacing" ]' in screen.buffer.text
    screen.splice(0, 3, "cell:0", "cell:1", "cell:2")
    assert screen.buffer.text == before

    screen.splice(0, 2)
    assert screen.sources == ["x = 1"]
    screen.splice(0, 1)
    assert screen.sources == []


def test_a_cell_whose_document_is_opened_again_is_the_same(screen):
    screen.splice(1, 1)
    screen.splice(1, 0, "cell:1", texts=[("cell:1", "import os")])

    assert screen.buffer.text == BOOK


def test_one_that_was_changed_before_odin_came_is_known_too(tmp_path):
    path = tmp_path / "a.ipynb"
    path.write_text(BOOK)
    screen = Screen(path)

    screen.open([SOURCES[0], "new", SOURCES[1]])

    assert screen.sources == [SOURCES[0], "new", SOURCES[1]]
    assert '"execution_count": 1.0' in screen.buffer.text
    assert screen.buffer.unsaved


def test_what_the_editor_has_written_is_the_file_from_then_on(screen):
    screen.type("cell:1", "import re, ")
    saved = json.dumps(json.loads(screen.buffer.text), indent=1, ensure_ascii=False)
    screen.path.write_text(saved)

    screen.notebooks.save(screen.uri)

    assert (screen.buffer.text, screen.buffer.unsaved) == (saved, False)
    screen.notebooks.close(screen.uri)
    assert screen.buffer is None


@pytest.mark.parametrize(
    "lose",
    [
        lambda it: it.type("cell:9", "x"),
        lambda it: it.type("cell:1", "x", version=1),
        lambda it: it.splice(0, 0, "cell:9"),
        lambda it: it.splice(1, 5),
    ],
)
def test_where_the_messages_do_not_fit_nothing_is_known(screen, lose):
    lose(screen)

    assert not screen.buffer.synchronised
    screen.type("cell:1", "x", version=5)
    assert not screen.buffer.synchronised


@pytest.mark.parametrize("text", ["{}", "no notebook", None])
def test_what_is_no_notebook_is_not_known(tmp_path, text):
    screen = Screen(tmp_path / "a.ipynb")
    if text is not None:
        screen.path.write_text(text)

    screen.open()

    assert (screen.buffer.synchronised, screen.buffer.is_notebook) == (False, True)


def change(screen, old, new):
    """That of a review which replaces a part of the text."""
    lines, at = Lines(screen.buffer.text), screen.buffer.text.index(old)
    places = [Position(*lines.position(it, "utf-16")) for it in (at, at + len(old))]
    edits = (TextReplacement(Range(*places), new),)
    return FileChange(uri=screen.uri, version=1, operation="edit", edits=edits, before=screen.buffer.text)


def test_an_edit_of_a_source_is_one_of_the_cell_as_it_is_now(screen):
    screen.type("cell:1", "é = 1\n")

    edit = cell_edit(screen.buffer, change(screen, "import os", "import re"), "utf-16")

    [document] = edit.document_changes
    assert (document.text_document.uri, document.text_document.version) == ("cell:1", 2)
    assert document.edits == [
        types.TextEdit(types.Range(types.Position(0, 0), types.Position(1, 9)), "é = 1\nimport re")
    ]


@pytest.mark.parametrize(("old", "new"), [("nbformat_minor", "other"), ('"cells"', '"others"'), ('"load"', '"x"')])
def test_an_edit_of_anything_else_is_none_of_cells(screen, old, new):
    assert cell_edit(screen.buffer, change(screen, old, new), "utf-16") is None
