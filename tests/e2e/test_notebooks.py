"""Notebooks that are open in an editor: their cells are read as they are on the screen, and edited there."""

import asyncio
import json

import pytest
from lsprotocol import types

from tests.e2e.conftest import ODIN, Screen
from tests.e2e.steps import results, says
from tests.unit.formats.test_notebooks import BOOK

TYPED = "import os  # typed"


class Notebook(Screen):
    """One code cell of the notebook, which is open."""

    def __init__(self, client, path):
        super().__init__(client)
        self.path, self.uri, self.cell = path, path.as_uri(), f"vscode-notebook-cell:{path}#W1s"
        self.version, self.text = 1, "import os"
        title = f"vscode-notebook-cell:{path}#W0s"
        kinds = types.NotebookCellKind.Markup, types.NotebookCellKind.Code
        cells = [types.NotebookCell(kind, uri) for kind, uri in zip(kinds, (title, self.cell), strict=True)]
        texts = [(title, "# Title\ncafé"), (self.cell, self.text)]
        client.lsp.notebook_document_did_open(
            types.DidOpenNotebookDocumentParams(
                types.NotebookDocument(self.uri, "jupyter-notebook", 1, cells),
                [types.TextDocumentItem(uri, "python", 1, text) for uri, text in texts],
            )
        )

    def show(self, text):
        self.version, self.text = self.version + 1, text
        document = types.VersionedTextDocumentIdentifier(self.version, self.cell)
        typed = types.NotebookDocumentCellContentChanges(document, [types.TextDocumentContentChangeWholeDocument(text)])
        change = types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(text_content=[typed]))
        identifier = types.VersionedNotebookDocumentIdentifier(self.version, self.uri)
        self.client.lsp.notebook_document_did_change(types.DidChangeNotebookDocumentParams(identifier, change))

    async def apply(self, params):
        [document] = params.edit.document_changes
        assert (document.text_document.uri, document.text_document.version) == (self.cell, self.version)
        self.show(document.edits[0].new_text)
        return types.ApplyWorkspaceEditResult(True)


def accept_all(review):
    hunks = [hunk for file in review["files"] for hunk in file["hunks"]]
    return {"decisions": [{"hunkId": hunk["id"], "decision": "accept"} for hunk in hunks]}


@pytest.fixture
async def notebook(start, anthropic, root):
    path = root / "a.ipynb"
    path.write_text(BOOK)
    workspace = types.WorkspaceClientCapabilities(
        apply_edit=True, workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)
    )
    client = await start(odin={**ODIN, "review": True, "question": False}, workspace=workspace, **anthropic)
    notebook = Notebook(client, path)
    notebook.decide = accept_all
    return notebook


@pytest.fixture
def take(wire, step, notebook):
    """A turn that makes these calls, one after the other; what it is told of the last."""

    async def take(*calls):
        for it in calls:
            step(it)
        wire.play(says())
        await asyncio.ensure_future(notebook.client.command("edit", text="change it"))
        return results(wire)[-1]

    return take


async def test_what_is_typed_into_a_cell_is_read_and_found(notebook, take):
    notebook.show(TYPED)

    assert TYPED in await take(("Read", {"file_path": str(notebook.path)}))
    assert TYPED in await take(("Grep", {"pattern": "# typed", "output_mode": "content"}))


async def test_an_edit_changes_the_cell_on_the_screen_and_not_the_file(notebook, take):
    notebook.show(TYPED)
    path = str(notebook.path)

    told = await take(
        ("Read", {"file_path": path}), ("NotebookEdit", {"file_path": path, "cell_id": "load", "source": "import re"})
    )

    assert "accepted" in told
    assert (notebook.text, notebook.path.read_text()) == ("import re", BOOK)


@pytest.mark.parametrize(
    "call",
    [
        ("NotebookEdit", {"action": "delete", "cell_id": "load"}),
        ("NotebookEdit", {"action": "insert", "source": "x"}),
        ("EditTool", {"old_string": '"nbformat": 4', "new_string": '"nbformat": 3'}),
    ],
    ids=lambda it: json.dumps(it),
)
async def test_what_would_clobber_it_is_refused(notebook, take, call):
    notebook.show(TYPED)
    path, (tool, arguments) = str(notebook.path), call

    told = await take(("Read", {"file_path": path}), (tool, {"file_path": path, **arguments}))

    assert "is open as a notebook: NotebookEdit can replace the source of its cells" in told
    assert (notebook.text, notebook.path.read_text()) == (TYPED, BOOK)
