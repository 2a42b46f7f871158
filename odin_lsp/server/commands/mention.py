"""`odin.mention`: agents that use the editor as their IDE are told to look at some lines."""

from typing import Any

from odin_lsp.errors import RequestError
from odin_lsp.server import wire_editor
from odin_lsp.server.commands.base import Token, command
from odin_lsp.server.host import Work
from odin_lsp.values import to_wire
from odin_lsp.workspace.uris import path_of

NOBODY = "no agent is connected that can be told; start one in a terminal, as the setting `ide` says"


@command("odin.mention", wire_editor.SelectionParams)
async def mention(server: Work, params: wire_editor.SelectionParams, _: Token) -> dict[str, Any]:
    path = path_of(params.uri)
    if path is None:
        raise RequestError(f"{params.uri!r} names no file on this machine; name one")
    place = server.core.files.resolve(str(path))
    first, end = params.range.start, params.range.end
    last = end.line - 1 if end.line > first.line and not end.character else end.line
    told = server.sight.mention(place.path, first.line, last)
    if not told:
        raise RequestError(NOBODY)
    return to_wire(wire_editor.Mentioned(told))
