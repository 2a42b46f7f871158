"""What is noticed in turns, for clients that take no events: warnings are shown, everything else is logged."""

from lsprotocol import types

from odin_lsp.events import EventRecord, Notice
from odin_lsp.markdown import unlinked
from odin_lsp.server.editor import LspEditor
from odin_lsp.server.rpc import OdinProtocol


class Notices:
    def __init__(self, protocol: OdinProtocol, editor: LspEditor) -> None:
        self._protocol = protocol
        self._editor = editor

    def follow(self, record: EventRecord) -> None:
        match record.event:
            case Notice("info", message):
                params = types.LogMessageParams(types.MessageType.Info, unlinked(f"Odin: {message}"))
                self._protocol.notify(types.WINDOW_LOG_MESSAGE, params)
            case Notice(level, message):
                self._editor.notify(level, message)
            case _:
                pass
