"""Notebooks that the editor opens, changes, saves and closes, cell by cell."""

from functools import cache
from typing import TYPE_CHECKING, Protocol

from lsprotocol import types

from odin_lsp.server.host import Documents, Features

if TYPE_CHECKING:
    from odin_lsp.server.open_notebooks import OpenNotebooks

SYNC = types.NotebookDocumentSyncOptions(
    [types.NotebookDocumentFilterWithNotebook(types.NotebookDocumentFilterScheme("file"))], save=True
)
"""So that editors say which ones are open, and what is in their cells."""


class NotebookHost(Features, Documents, Protocol): ...


def register(server: NotebookHost) -> None:
    @cache
    def notebooks() -> "OpenNotebooks":
        from odin_lsp.server.open_notebooks import OpenNotebooks  # nobody needs it before a notebook is open

        return OpenNotebooks(server.buffers)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenNotebookDocumentParams) -> None:
        notebooks().open(params.notebook_document, params.cell_text_documents)
        server.documents_changed()

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeNotebookDocumentParams) -> None:
        notebooks().change(params.notebook_document.uri, params.notebook_document.version, params.change.cells)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def did_save(params: types.DidSaveNotebookDocumentParams) -> None:
        notebooks().save(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseNotebookDocumentParams) -> None:
        notebooks().close(params.notebook_document.uri)
        server.documents_changed()
