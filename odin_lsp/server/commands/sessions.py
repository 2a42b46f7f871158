"""`odin.session.*`: conversations that last. `odin.context`: what one would send now, and what that would cost."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odin_lsp.agent.agent import Agent
from odin_lsp.errors import RequestError, SessionError
from odin_lsp.server import wire
from odin_lsp.server.commands.base import Token, command
from odin_lsp.server.transcript import write_transcript
from odin_lsp.sessions.export import export_to, exported_path
from odin_lsp.values import to_wire

if TYPE_CHECKING:
    from odin_lsp.server.server import OdinServer


@command("odin.session.new", wire.NewSessionParams)
async def new(server: "OdinServer", params: wire.NewSessionParams, _: Token) -> dict[str, Any]:
    return _summary(server, server.core.conversations.new(params.title))


@command("odin.session.list", wire.ListSessionsParams)
async def list_sessions(server: "OdinServer", params: wire.ListSessionsParams, _: Token) -> dict[str, Any]:
    return to_wire(wire.Sessions(tuple(await server.core.conversations.listed(params.query, max(0, params.limit)))))


@command("odin.session.resume", wire.ResumeSessionParams)
async def resume(server: "OdinServer", params: wire.ResumeSessionParams, _: Token) -> dict[str, Any]:
    agent = await server.core.conversations.resume(params.session_id)
    try:
        await asyncio.to_thread(write_transcript, agent.session)
    except OSError as error:
        raise SessionError(f"the transcript cannot be written: {error.strerror}") from error
    return _summary(server, agent)


@command("odin.session.fork", wire.ForkSessionParams)
async def fork(server: "OdinServer", params: wire.ForkSessionParams, _: Token) -> dict[str, Any]:
    agent, draft = await server.core.conversations.fork(params.session_id, params.message)
    return _summary(server, agent, draft)


@command("odin.session.rename", wire.RenameSessionParams)
async def rename(server: "OdinServer", params: wire.RenameSessionParams, _: Token) -> dict[str, Any]:
    if not params.title.strip():
        raise RequestError("`title` is empty; give the session a name")
    return to_wire(await server.core.conversations.rename(params.session_id, params.title))


@command("odin.session.export", wire.ExportSessionParams)
async def export(server: "OdinServer", params: wire.ExportSessionParams, _: Token) -> dict[str, Any]:
    conversations = server.core.conversations
    session_id = conversations.real_id(params.session_id)
    place = next(iter(server.roots), Path.home()) / params.path if params.path else None
    path = place or exported_path(conversations.folder, session_id, params.format)
    await asyncio.to_thread(export_to, conversations.folder, session_id, params.format, path, is_own=place is None)
    return to_wire(wire.Exported(session_id, path.as_uri()))


@command("odin.session.delete", wire.DeleteSessionParams)
async def delete(server: "OdinServer", params: wire.DeleteSessionParams, _: Token) -> dict[str, Any]:
    if not params.confirm:
        raise RequestError("a deleted session cannot be brought back; say `confirm: true` if the user wants it")
    await server.core.conversations.delete(params.session_id)
    return to_wire(wire.Deleted(params.session_id))


@command("odin.context", wire.ContextParams)
async def context(server: "OdinServer", params: wire.ContextParams, _: Token) -> dict[str, Any]:
    agent = server.core.agent(params.session_id)
    return to_wire(server.core.context(agent.session.id, params.mode or agent.mode, params.text))


def _summary(server: "OdinServer", agent: Agent, draft: str | None = None) -> dict[str, Any]:
    return to_wire(replace(server.core.conversations.summary(agent.session), draft=draft))
