"""`odin.agent.call`: for agents of others, which come by the socket."""

from contextlib import suppress
from typing import Any

from odin_lsp.agent.agent_calls import message_of, name_of, result_of
from odin_lsp.agent.live_session import LiveSession
from odin_lsp.errors import SessionError
from odin_lsp.messages import Image
from odin_lsp.server import wire
from odin_lsp.server.commands.base import Token, command
from odin_lsp.server.host import Work
from odin_lsp.values import to_wire


@command("odin.agent.call", wire.AgentCallParams)
async def call(server: Work, params: wire.AgentCallParams, _: Token) -> dict[str, Any]:
    agent = name_of(params.agent)
    message = message_of(agent, params.tool, params.arguments, params.turn_id)
    server.turns.check(message.mode)
    live = await _session(server, agent, params.conversation)
    result = await result_of(live, message)
    images = tuple(
        wire.AgentImage(media_type=it.media_type, data=it.data) for it in result.attached if isinstance(it, Image)
    )
    return to_wire(
        wire.AgentCalled(
            session_id=live.session.id,
            turn_id=message.turn_id,
            text=result.content,
            failed=result.failed,
            images=images,
        )
    )


async def _session(server: Work, agent: str, conversation: str) -> LiveSession:
    """The one before, if it is still there."""
    known, current = server.core.agent_sessions, server.seat.current
    before = known.get((agent, conversation)) if conversation else current and current.session.id
    if before:
        with suppress(SessionError):
            return await server.seat.open(before)
    live = server.seat.begin(agent)
    if conversation:
        known[agent, conversation] = live.session.id
    return live
