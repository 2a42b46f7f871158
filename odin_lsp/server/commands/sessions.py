"""`odin.session.*`: conversations that last. `odin.context`: what one would send now, and what that would cost."""

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from odin_lsp.agent.live_session import LiveSession
from odin_lsp.errors import RequestError, SessionError
from odin_lsp.server import wire
from odin_lsp.server.commands.base import Token, command
from odin_lsp.server.host import Work
from odin_lsp.server.transcript import write_transcript
from odin_lsp.sessions.export import export_to, exported_path
from odin_lsp.sessions.replay import EventPage, page
from odin_lsp.values import to_wire


@command("odin.session.new", wire.NewSessionParams)
async def new(server: Work, params: wire.NewSessionParams, _: Token) -> dict[str, Any]:
    live = server.seat.begin(params.title)
    server.core.sessions.tell_begun(live)
    return _summary(server, live)


@command("odin.session.list", wire.ListSessionsParams)
async def list_sessions(server: Work, params: wire.ListSessionsParams, _: Token) -> dict[str, Any]:
    return to_wire(wire.Sessions(tuple(await server.core.sessions.listed(params.query, max(0, params.limit)))))


@command("odin.session.resume", wire.ResumeSessionParams)
async def resume(server: Work, params: wire.ResumeSessionParams, _: Token) -> dict[str, Any]:
    live = await server.seat.open(params.session_id)
    try:
        await asyncio.to_thread(write_transcript, live.session)
    except OSError as error:
        raise SessionError(f"the transcript cannot be written: {error.strerror}") from error
    return _summary(server, live)


@command("odin.session.events", wire.SessionEventsParams)
async def events(server: Work, params: wire.SessionEventsParams, _: Token) -> dict[str, Any]:
    sessions = server.core.sessions
    live = sessions.find(params.session_id) if params.session_id else sessions.current
    if live is not None and not live.session.log.path.exists():
        return to_wire(EventPage(events=(), earlier_turns=0, seq=server.events_sent))
    sent, session_id = server.events_sent, sessions.real_id(params.session_id)
    reading = partial(page, sessions.folder, session_id, params.before, params.limit, live and live.session.log.end)
    return to_wire(replace(await asyncio.to_thread(reading), seq=sent))


@command("odin.session.fork", wire.ForkSessionParams)
async def fork(server: Work, params: wire.ForkSessionParams, _: Token) -> dict[str, Any]:
    live, draft = await server.seat.fork(params.session_id, params.message)
    return _summary(server, live, draft)


@command("odin.session.rename", wire.RenameSessionParams)
async def rename(server: Work, params: wire.RenameSessionParams, _: Token) -> dict[str, Any]:
    if not params.title.strip():
        raise RequestError("`title` is empty; give the session a name")
    return to_wire(await server.core.sessions.rename(params.session_id, params.title))


@command("odin.session.export", wire.ExportSessionParams)
async def export(server: Work, params: wire.ExportSessionParams, _: Token) -> dict[str, Any]:
    sessions = server.core.sessions
    session_id = sessions.real_id(params.session_id)
    place = (server.project.now.root or Path.home()) / params.path if params.path else None
    path = place or exported_path(sessions.folder, session_id, params.format)
    await asyncio.to_thread(export_to, sessions.folder, session_id, params.format, path, is_own=place is None)
    return to_wire(wire.Exported(session_id, path.as_uri()))


@command("odin.session.delete", wire.DeleteSessionParams)
async def delete(server: Work, params: wire.DeleteSessionParams, _: Token) -> dict[str, Any]:
    if not params.confirm:
        raise RequestError("deleting a session is permanent; send `confirm: true` to confirm")
    await server.core.sessions.delete(params.session_id)
    return to_wire(wire.Deleted(params.session_id))


@command("odin.context", wire.ContextParams)
async def context(server: Work, params: wire.ContextParams, _: Token) -> dict[str, Any]:
    preview = await server.core.preview(params.session_id, params.mode, params.text, exact=params.exact)
    return to_wire(preview)


def _summary(server: Work, live: LiveSession, draft: str | None = None) -> dict[str, Any]:
    return to_wire(replace(server.core.sessions.summary(live.session), draft=draft))
