"""`odin.note`, `odin.removeLast`, `odin.compact`, `odin.clear`: what the model knows of a conversation, in order."""

from typing import Any

from odin_lsp.server import upkeep
from odin_lsp.server.commands.base import Token, command
from odin_lsp.server.host import Work
from odin_lsp.values import to_wire


@command("odin.note", upkeep.NoteParams)
async def note(server: Work, params: upkeep.NoteParams, _: Token) -> dict[str, Any]:
    (await server.seat.take_up(params.session_id)).note(params.text)
    return to_wire(upkeep.Noted(True))


@command("odin.removeLast", upkeep.RemoveLastParams)
async def remove_last(server: Work, params: upkeep.RemoveLastParams, _: Token) -> dict[str, Any]:
    live = await server.seat.existing(params.session_id)
    return to_wire(upkeep.Removed(live.remove_last()))


@command("odin.compact", upkeep.CompactParams)
async def compact(server: Work, params: upkeep.CompactParams, token: Token) -> dict[str, Any]:
    before, after = await server.turns.compact(params.session_id, params.focus, params.turn_id, token)
    return to_wire(upkeep.CompactResult(before, after))


@command("odin.clear", upkeep.ClearParams)
async def clear(server: Work, params: upkeep.ClearParams, _: Token) -> dict[str, Any]:
    live = await server.seat.existing(params.session_id)
    live.clear()
    return to_wire(server.core.sessions.summary(live.session))
