"""A front end that came by the socket: it shares what the host has, but for its connection and its session."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, cast

from cattrs import Converter
from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter

from odin_lsp import __version__
from odin_lsp.errors import OdinError
from odin_lsp.events import EventRecord
from odin_lsp.host.terms import Terms
from odin_lsp.ide.sight import Sight
from odin_lsp.project.project import Project
from odin_lsp.server.agreement import disagreement, other_version
from odin_lsp.server.client import Abilities
from odin_lsp.server.editor import LspEditor
from odin_lsp.server.event_sender import EventSender
from odin_lsp.server.features import commands
from odin_lsp.server.front_ends import FrontEnds
from odin_lsp.server.handshake import ServerInfo
from odin_lsp.server.server import REPLACED
from odin_lsp.server.server import Protocol as Rpc
from odin_lsp.server.transport import Channel, Transport
from odin_lsp.server.turns import Turns
from odin_lsp.values import from_wire
from odin_lsp.workspace.buffers import Buffers

if TYPE_CHECKING:
    from odin_lsp.agent.core import Core
    from odin_lsp.server.instructions import Instructions

MAX_BACKLOG = 64 * 2**20
"""Bytes that a guest has not taken yet; one with more does not read."""
LAST_WORDS = 0.5
"""Seconds in which a guest may take what was sent to it."""


class Hosting(Protocol):
    """What guests share."""

    @property
    def project(self) -> Project: ...

    @property
    def sight(self) -> Sight: ...

    @property
    def core(self) -> "Core": ...

    @property
    def front_ends(self) -> FrontEnds: ...

    def info(self) -> ServerInfo: ...

    @property
    def instructions(self) -> "Instructions": ...

    async def keep_trust(self) -> None: ...

    def background(self, work: Coroutine[Any, Any, None]) -> None: ...


class Guest(LanguageServer):
    is_guest = True

    def __init__(self, host: Hosting) -> None:
        super().__init__("odin", __version__, protocol_cls=Rpc, converter_factory=_converter)  # pyright: ignore[reportUnknownMemberType]
        self.rpc = cast("Rpc", self.protocol)
        self.abilities = Abilities()
        self.project = host.project
        self.sight = host.sight
        self.core = host.core
        self.seat = host.core.sessions.seat()
        self.info = host.info
        self.keep_trust = host.keep_trust
        self.background = host.background
        self._host = host
        self._front_ends = host.front_ends
        self._sender = EventSender(self.rpc.send, lambda: self.rpc.backlog, host.front_ends.written)
        self._is_deaf = asyncio.Event()
        self.turns = Turns(self)
        self.editor = self._made_editor()
        for method in REPLACED:
            self.rpc.fm.builtin_features.pop(method, None)  # pyright: ignore[reportUnknownMemberType]
        commands.register(self)

        @self.feature(types.INITIALIZE)
        def initialize(params: types.InitializeParams) -> None:  # a method could not be registered
            self._start(params)

    @property
    def instructions(self) -> "Instructions":
        return self._host.instructions

    @property
    def client_timeout(self) -> float:
        return self.project.now.config.timeouts.client

    @property
    def is_working(self) -> bool:
        return self.seat.current is not None and self.seat.current.turns.running is not None

    @property
    def events_sent(self) -> int:
        return self._sender.sent

    def shows(self, session_id: str) -> bool:
        return self.seat.knows(session_id)

    async def serve(self, channel: Channel) -> None:
        """To its end. What it has begun goes on without it."""
        transport = Transport(channel)
        self.rpc.connect(transport)
        unsubscribe: Callable[[], None] = self.core.stream.subscribe(self._hear)
        self._front_ends.join(self)
        ends = [asyncio.create_task(it) for it in (transport.run(self.rpc.receive), self.rpc.exited(), self._deaf())]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for it in ends:
                it.cancel()
            self._front_ends.leave(self)
            unsubscribe()
            self.seat.leave()
            self.rpc.hang_up()
            await transport.drain(LAST_WORDS)
            transport.close()

    async def _deaf(self) -> None:
        await self._is_deaf.wait()

    def _hear(self, record: EventRecord) -> None:
        if self.abilities.events and (not record.session_id or self.shows(record.session_id)):
            self._sender(record)
            if self.rpc.backlog > MAX_BACKLOG:
                self._is_deaf.set()

    def _start(self, params: types.InitializeParams) -> None:
        terms, abilities = from_wire(Terms, params.initialization_options), Abilities.of(params.capabilities)
        why = other_version(terms) if abilities.agent else disagreement(terms, self.project.now, os.environ)
        if why:
            raise OdinError(why)
        self.abilities = abilities
        self.editor = self._made_editor()

    def _made_editor(self) -> LspEditor:
        return LspEditor(self.rpc, Buffers(), self.abilities, lambda: self.project.now.config.timeouts)


@cache
def _converter() -> Converter:
    """It takes a while to make."""
    return default_converter()
