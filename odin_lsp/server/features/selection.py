"""Where the cursor is, and what is selected: told by clients that declare `selection`, while an agent wants to know."""

from typing import Any

from odin_lsp.server.host import Host
from odin_lsp.values import from_wire
from odin_lsp.workspace.text import Position


def register(server: Host) -> None:
    @server.feature("odin/selection")
    def selection(params: Any) -> None:
        from odin_lsp.server import wire_editor

        told = from_wire(wire_editor.SelectionParams, params)
        start, end = told.range.start, told.range.end
        server.sight.look(told.uri, Position(start.line, start.character), Position(end.line, end.character))
