"""The agent's side of the protocol: what clients can ask for, and the sessions that they have opened."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odin_lsp import __version__
from odin_lsp.acp import wire
from odin_lsp.display import shown_line
from odin_lsp.frames import Frame
from odin_lsp.json_rpc import INVALID_REQUEST, NOT_FOUND, Peer, Refused
from odin_lsp.values import from_wire

if TYPE_CHECKING:
    from odin_lsp.acp.session import AcpSession

ABILITIES: Mapping[str, Any] = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
    "mcpCapabilities": {"http": True, "sse": True},
    "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "additionalDirectories": {}},
}


class Agent:
    def __init__(self, send: Callable[[bytes], None], *, attaches: bool = True) -> None:
        """`attaches`: whether sessions are in the Odin that has their folder open, where there is one."""
        self._attaches = attaches
        self._client: wire.ClientAbilities | None = None
        """What it said of itself; none: nothing yet."""
        self._sessions: dict[str, AcpSession] = {}
        self._opening = asyncio.Lock()
        self._peer = Peer(
            send,
            {
                "initialize": self._initialize,
                "session/new": self._new,
                "session/load": self._load,
                "session/resume": self._resume,
                "session/list": self._list,
                "session/close": self._close,
                "session/set_mode": self._set_mode,
                "session/set_config_option": self._set_option,
                "session/prompt": self._prompt,
            },
            {"session/cancel": self._cancel},
            "$/cancel_request",
        )

    def receive(self, line: Frame) -> None:
        self._peer.receive(line)

    async def close(self) -> None:
        """The client is gone: what runs is cancelled, and what was stored stays."""
        await self._peer.close()
        await asyncio.gather(*(it.close() for it in self._sessions.values()), return_exceptions=True)

    async def _initialize(self, params: Any) -> Any:
        self._client = from_wire(wire.Initialize, params).client_capabilities or wire.ClientAbilities()
        return {
            "protocolVersion": wire.VERSION,
            "agentCapabilities": ABILITIES,
            "agentInfo": {"name": "odin", "title": "Odin", "version": __version__},
            "authMethods": [],
        }

    async def _new(self, params: Any) -> Any:
        session = await self._opened(from_wire(wire.SessionPlace, params))
        return {"sessionId": session.id, **session.chosen}

    async def _load(self, params: Any) -> Any:
        session = await self._stored(from_wire(wire.StoredSession, params))
        await session.replay()
        return session.chosen

    async def _resume(self, params: Any) -> Any:
        return (await self._stored(from_wire(wire.StoredSession, params))).chosen

    async def _list(self, params: Any) -> Any:
        """Those of the folder, or of the one that Odin was started in."""
        await asyncio.to_thread(import_module, "odin_lsp.library")
        from odin_lsp.library import Workspace

        folder = Path(from_wire(wire.ListSessions, params).cwd or Path.cwd())
        async with Workspace(folder) as workspace:
            found = await workspace.sessions()
        sessions = [
            {
                "sessionId": it.session_id,
                "cwd": str(folder),
                "title": shown_line(it.title),
                "updatedAt": datetime.fromtimestamp(it.updated_at, UTC).isoformat(),
            }
            for it in found
        ]
        return {"sessions": sessions}

    async def _close(self, params: Any) -> Any:
        session = self._known(from_wire(wire.OfSession, params).session_id)
        del self._sessions[session.id]
        await session.close()
        return {}

    async def _set_mode(self, params: Any) -> Any:
        wanted = from_wire(wire.SetMode, params)
        self._known(wanted.session_id).set_mode(wanted.mode_id)
        return {}

    async def _set_option(self, params: Any) -> Any:
        wanted = from_wire(wire.SetOption, params)
        return await self._known(wanted.session_id).set_option(wanted.config_id, wanted.value)

    async def _prompt(self, params: Any) -> Any:
        prompt = from_wire(wire.Prompt, params)
        return await self._known(prompt.session_id).prompt(prompt)

    def _cancel(self, params: Any) -> None:
        if session := self._sessions.get(from_wire(wire.OfSession, params).session_id):
            session.cancel()

    async def _stored(self, wanted: wire.StoredSession) -> "AcpSession":
        """One that is open stays as it is."""
        async with self._opening:
            return self._sessions.get(wanted.session_id) or await self._opened(wanted, wanted.session_id)

    async def _opened(self, place: wire.SessionPlace, session_id: str | None = None) -> "AcpSession":
        await asyncio.to_thread(import_module, "odin_lsp.acp.session")
        from odin_lsp.acp.session import AcpSession  # a client is answered before all of Odin is there

        if self._client is None:
            raise Refused(INVALID_REQUEST, "`initialize` comes first")
        session = AcpSession(place, self._client, self._peer, attaches=self._attaches)
        await session.begin(session_id)
        self._sessions[session.id] = session
        return session

    def _known(self, session_id: str) -> "AcpSession":
        if session_id not in self._sessions:
            raise Refused(NOT_FOUND, f"session {session_id!r} is not open; load or resume it first")
        return self._sessions[session_id]
