"""What is noticed in turns, for clients that take no events: warnings are shown, everything else is logged."""

from odin_lsp.events import EventRecord, Notice
from odin_lsp.server.editor import LspEditor
from odin_lsp.server.rpc import OdinProtocol
from odin_lsp.server.window import log_message


class Notices:
    def __init__(self, protocol: OdinProtocol, editor: LspEditor) -> None:
        self._protocol = protocol
        self._editor = editor

    def follow(self, record: EventRecord) -> None:
        match record.event:
            case Notice("info", message):
                log_message(self._protocol, f"Odin: {message}")
            case Notice(level, message):
                self._editor.notify(level, message)
            case _:
                pass
