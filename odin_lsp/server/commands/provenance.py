"""`odin.provenance`: which lines Odin wrote. `odin.provenance.open`: the session in which it did."""

import asyncio
from typing import Any

from odin_lsp.errors import RequestError, SessionError
from odin_lsp.server.commands.base import Token, command
from odin_lsp.server.host import Work
from odin_lsp.server.provenance import OpenedTurn, OpenTurnParams, ProvenanceParams, WrittenRanges
from odin_lsp.server.transcript import write_transcript
from odin_lsp.sessions.export import line_in_transcript
from odin_lsp.values import to_wire
from odin_lsp.workspace.uris import path_of


@command("odin.provenance", ProvenanceParams)
async def provenance(server: Work, params: ProvenanceParams, _: Token) -> dict[str, Any]:
    path = path_of(params.uri)
    if path is None:
        raise RequestError(f"{params.uri!r} names no file on this machine; name one")
    if not server.project.now.config.provenance:
        return to_wire(WrittenRanges(()))
    return to_wire(WrittenRanges(tuple(await server.core.authorship.of(path.resolve()))))


@command("odin.provenance.open", OpenTurnParams)
async def open_turn(server: Work, params: OpenTurnParams, _: Token) -> dict[str, Any]:
    session = await server.core.sessions.read(params.session_id)
    try:
        path = await asyncio.to_thread(write_transcript, session)
    except OSError as error:
        raise SessionError(f"the transcript cannot be written: {error.strerror}") from error
    line = await asyncio.to_thread(line_in_transcript, session, params.turn_id)
    if not await server.editor.open_document(path.as_uri(), line):
        server.editor.notify("info", f"The session is in {path}, from line {line + 1} on.")
    return to_wire(OpenedTurn(path.as_uri(), line))
