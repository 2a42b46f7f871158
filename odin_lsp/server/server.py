"""The composition root: one process, one client, one workspace.

What turns need is imported when it is first used, at the latest right after `initialized`: `initialize` is answered
without it, and the functions of `OdinServer` are the place where it comes in."""

import asyncio
import pkgutil
import typing
from collections.abc import Coroutine, Generator
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import lsp_method

from odin_lsp import __version__, garbage, state_folder
from odin_lsp.ide.sight import Sight
from odin_lsp.logs import Logs
from odin_lsp.project.project import Project, Situation
from odin_lsp.server import features, rpc
from odin_lsp.server.client import Abilities
from odin_lsp.server.features import notebooks
from odin_lsp.server.handshake import ServerInfo, info, roots_of, tell
from odin_lsp.server.settings_report import SettingsReport
from odin_lsp.server.tracing import Tracing
from odin_lsp.tasks import Tasks
from odin_lsp.values import is_object, to_flat_wire
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.watch import Watcher

if TYPE_CHECKING:
    from odin_lsp.agent.core import Core
    from odin_lsp.agent.open_sessions import Seating
    from odin_lsp.ide.desk import Desk
    from odin_lsp.ide.doors import Doors
    from odin_lsp.server.editor import LspEditor
    from odin_lsp.server.event_sender import EventSender
    from odin_lsp.server.front_ends import FrontEnds
    from odin_lsp.server.instructions import Instructions
    from odin_lsp.server.listening import Listening
    from odin_lsp.server.turns import Turns

LATER = (
    *("editor", "editor_servers", "event_sender", "front_ends", "instructions", "listening"),
    *("notices", "plain_questions", "trust_questions", "turns"),
)
"""Modules that nobody needs before the client has an answer."""
REPLACED = (
    types.TEXT_DOCUMENT_DID_OPEN,
    types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CLOSE,
    types.NOTEBOOK_DOCUMENT_DID_OPEN,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE,
    types.NOTEBOOK_DOCUMENT_DID_CLOSE,
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS,
    types.WORKSPACE_EXECUTE_COMMAND,
    types.WINDOW_WORK_DONE_PROGRESS_CANCEL,
)
"""What pygls does by itself and Odin does differently."""


class Introduced(typing.Protocol):
    def info(self) -> ServerInfo:
        """What it says of itself."""
        ...


class Protocol(rpc.OdinProtocol):
    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        result = yield from super().lsp_initialize(params)
        server = cast("Introduced", self._server)
        result.capabilities.experimental = {"odin": to_flat_wire(server.info())}
        return result


class OdinServer(LanguageServer):
    is_guest = False

    def __init__(self, project: Project | None = None) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            "odin", __version__, protocol_cls=Protocol, notebook_document_sync=notebooks.SYNC
        )
        self.rpc = cast("Protocol", self.protocol)
        self.buffers = Buffers()
        self.abilities = Abilities()
        self.project = project or Project()
        self.watcher: Watcher | None = None
        self.report = SettingsReport(self)
        self._core: Core | None = None
        self._editor: LspEditor | None = None
        self._front_ends: FrontEnds | None = None
        self._turns: Turns | None = None
        self._instructions: Instructions | None = None
        self._sender: EventSender | None = None
        self._listening: Listening | None = None
        self.sight = Sight(self.buffers, self._watch_selection)
        self._doors: Doors | None = None
        self.tasks = Tasks()
        self.logs = Logs("warning")
        self._log(self.project.now)
        self.project.follow(self._log)
        self.tracing = Tracing(self.logs, self.rpc.notify)
        for method in REPLACED:
            self.rpc.fm.builtin_features.pop(method, None)  # pyright: ignore[reportUnknownMemberType]
        for module in pkgutil.iter_modules(features.__path__, f"{features.__name__}."):
            import_module(module.name).register(self)

    @property
    def core(self) -> "Core":
        if self._core is None:
            self._core = self._make_core()
        return self._core

    @property
    def editor(self) -> "LspEditor":
        if self._editor is None:
            from odin_lsp.server.editor import LspEditor

            self._editor = LspEditor(self.rpc, self.buffers, self.abilities, lambda: self.project.now.config.timeouts)
        return self._editor

    @property
    def front_ends(self) -> "FrontEnds":
        if self._front_ends is None:
            from odin_lsp.server.front_ends import FrontEnds

            self._front_ends = FrontEnds(self.editor)
        return self._front_ends

    @property
    def seat(self) -> "Seating":
        return self.core.sessions

    @property
    def turns(self) -> "Turns":
        if self._turns is None:
            from odin_lsp.server.turns import Turns

            self._turns = Turns(self)
        return self._turns

    @property
    def instructions(self) -> "Instructions":
        if self._instructions is None:
            from odin_lsp.server.instructions import Instructions

            self._instructions = Instructions(self)
        return self._instructions

    @property
    def is_working(self) -> bool:
        """A turn of the current session runs."""
        current = self._core.sessions.current if self._core is not None else None
        return current is not None and current.turns.running is not None

    @property
    def events_sent(self) -> int:
        return self._sender.sent if self._sender is not None else 0

    @property
    def client_timeout(self) -> float:
        return self.project.now.config.timeouts.client

    async def load(self) -> None:
        """Import what messages need and `initialize` did not. It takes most of a second: the loop is free meanwhile."""
        await asyncio.to_thread(_load_the_rest)

    async def warm(self) -> None:
        """Do what takes time before anybody waits for it."""
        await asyncio.gather(self.core.restore_reviews(), self.core.warm())
        garbage.keep_what_is_there()

    def start(self, params: types.InitializeParams) -> None:
        self.tracing.set(params.trace)
        self.abilities = Abilities.of(params.capabilities, params.client_info.name if params.client_info else "")
        encoding = self.workspace.position_encoding
        self.buffers.encoding = cast("Any", getattr(encoding, "value", encoding))
        folders = [folder.uri for folder in params.workspace_folders or ()]
        tell(self.project, roots_of(folders, params.root_uri, params.root_path), params.initialization_options)

    async def keep_trust(self) -> None:
        """What was decided counts already; this is for the next time."""
        try:
            await asyncio.to_thread(self.project.keep_trust)
        except OSError as error:
            if await asyncio.to_thread(state_folder.problem) is None:
                self.editor.notify(
                    "warning", f"Could not save your decision about trust ({error}). It applies until Odin exits."
                )

    async def report_state_problem(self) -> None:
        """What cannot be written is said once, for all that would be kept."""
        if (problem := await asyncio.to_thread(state_folder.problem)) is not None:
            self.editor.notify("warning", problem)

    def change_settings(self, settings: object) -> None:
        """The editor's settings; many clients nest them under the server's name."""
        values = settings.get("odin", settings) if is_object(settings) else None
        if is_object(values):
            self.project.tell(settings=values)

    def documents_changed(self) -> None:
        """Other documents are open, or other folders."""
        if self.watcher is not None:
            self.watcher.look_again()

    def background(self, work: Coroutine[Any, Any, None]) -> None:
        """Let `work` go on beside everything else, until the server ends."""
        self.tasks.begin(work)

    def report_settings(self) -> None:
        """Tell what is wrong with them, now and whenever they change."""
        self.report.tell(self.project.now)
        self.project.follow(self.report.tell)
        self.project.follow(lambda _: self.background(self.keep_trust()))

    def info(self) -> ServerInfo:
        return info(self.project)

    def abort(self) -> None:
        """End all turns: the client is about to leave."""
        if self._core is not None:
            self._core.abort()

    async def listen(self) -> None:
        from odin_lsp.server.listening import Listening

        self._listening = Listening(self)
        await self._listening.run()

    async def offer_ide(self) -> None:
        from odin_lsp.ide.doors import Doors

        self._doors = Doors(self.project, self._desk_of_ide)
        await self._doors.run()

    def _desk_of_ide(self) -> "Desk":
        from odin_lsp.ide.announcing import NAME
        from odin_lsp.ide.desk import Desk

        editor = self.abilities.client
        return Desk(self.core, self.editor, self.sight, f"{NAME} ({editor})" if editor else NAME)

    def _watch_selection(self, is_wanted: bool) -> None:
        if self.abilities.selection:
            self.rpc.notify("odin/watchSelection", {"enabled": is_wanted})

    async def close(self) -> None:
        self.tasks.cancel()
        if self._core is not None:
            await self._core.close()
        if self._listening is not None:
            await self._listening.close()

    def _log(self, now: Situation) -> None:
        self.logs.configure(now.config.log_level, now.secrets.values())

    def _make_core(self) -> "Core":
        from odin_lsp.agent.core import Core
        from odin_lsp.intelligence.chosen import Chosen
        from odin_lsp.server.editor_servers import EditorServers
        from odin_lsp.server.event_sender import EventSender
        from odin_lsp.server.notices import Notices

        editors = EditorServers(self.rpc, self.buffers, self.abilities.editor, lambda: self.project.now.config.timeouts)
        core = Core(self.project, self.front_ends, buffers=self.buffers, servers=partial(Chosen, editors))
        core.stream.subscribe(self.front_ends.follow)
        core.stream.subscribe(self.editor.hints.follow)
        if self.abilities.events:
            self._sender = EventSender(self.rpc.send, lambda: self.rpc.backlog, self.front_ends.written)
            core.stream.subscribe(self._sender)
        else:
            core.stream.subscribe(Notices(self.rpc, self.editor).follow)
        return core


def _load_the_rest() -> None:
    from odin_lsp.server.commands.base import all_commands

    import_module("odin_lsp.agent.core")
    for name in LATER:
        import_module(f"odin_lsp.server.{name}")
    all_commands()
