"""Documents that the editor opens, changes, saves and closes."""

from lsprotocol import types

from odin_lsp.server.features.files import changed
from odin_lsp.server.host import Host
from odin_lsp.workspace.text import Change, Position
from odin_lsp.workspace.uris import path_of


def register(server: Host) -> None:
    buffers = server.buffers

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        buffers.open(document.uri, document.version, document.text)
        server.editor.hints.opened(document.uri)
        server.documents_changed()

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        document = params.text_document
        buffers.change(document.uri, document.version, [_change(it) for it in params.content_changes])

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: types.DidSaveTextDocumentParams) -> None:
        buffers.save(params.text_document.uri)
        if path := path_of(params.text_document.uri):
            changed(server, {path})

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        buffers.close(params.text_document.uri)
        server.documents_changed()


def _change(event: types.TextDocumentContentChangeEvent) -> Change:
    if isinstance(event, types.TextDocumentContentChangeWholeDocument):
        return Change(event.text)
    return Change(event.text, _position(event.range.start), _position(event.range.end))


def _position(position: types.Position) -> Position:
    return Position(position.line, position.character)
