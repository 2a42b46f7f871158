"""Notebooks are refused politely: their cells are not read, and while one is open its file is not edited."""

from typing import Protocol

from lsprotocol import types

from odin_lsp.server.host import Documents, Features

SYNC = types.NotebookDocumentSyncOptions(
    [types.NotebookDocumentFilterWithNotebook(types.NotebookDocumentFilterScheme("file"))]
)
"""So that editors say which ones are open."""


class NotebookHost(Features, Documents, Protocol): ...


def register(server: NotebookHost) -> None:
    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenNotebookDocumentParams) -> None:
        server.buffers.open_notebook(params.notebook_document.uri)
        server.documents_changed()

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeNotebookDocumentParams) -> None:
        """What the cells say is not followed."""

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def did_save(params: types.DidSaveNotebookDocumentParams) -> None:
        """The file is read anew when it is read."""

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseNotebookDocumentParams) -> None:
        server.buffers.close(params.notebook_document.uri)
        server.documents_changed()
