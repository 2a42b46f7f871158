"""The composition root: one process, one client, one workspace.

What turns need is imported when it is first used, at the latest right after `initialized`: `initialize` is answered
without it, and the functions of `OdinServer` are the place where it comes in."""

import asyncio
import gc
import pkgutil
from collections.abc import Coroutine, Generator
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, cast

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import lsp_method

from odin_lsp import __version__, state_folder
from odin_lsp.config import ConfigProblem
from odin_lsp.errors import ModelError, RequestError
from odin_lsp.logs import Level, Logs
from odin_lsp.models import selection
from odin_lsp.modes import MODES
from odin_lsp.project.project import Project, Situation, Told
from odin_lsp.server import features, rpc, serving
from odin_lsp.server.client import Abilities
from odin_lsp.server.declared import tool_names
from odin_lsp.server.features import notebooks
from odin_lsp.server.handshake import PROTOCOL_VERSION, InitOptions, ServerInfo, roots_of
from odin_lsp.server.settings_report import SettingsReport
from odin_lsp.server.tracing import Tracing
from odin_lsp.server.transport import stdio_channel, tcp_channel
from odin_lsp.tasks import Tasks
from odin_lsp.values import from_wire, is_object, to_flat_wire
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.watch import Watcher

if TYPE_CHECKING:
    from odin_lsp.agent.core import Core
    from odin_lsp.server.editor import LspEditor
    from odin_lsp.server.event_sender import EventSender
    from odin_lsp.server.turns import Turns

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


def serve(tcp_port: int | None, log_level: Level | None = None) -> NoReturn:
    channel = stdio_channel() if tcp_port is None else tcp_channel("127.0.0.1", tcp_port)
    server = OdinServer(Told(flags={"logLevel": log_level} if log_level else {}))
    server.logs.begin()
    serving.run(server, channel)


class Protocol(rpc.OdinProtocol):
    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        result = yield from super().lsp_initialize(params)
        server = cast("OdinServer", self._server)
        result.capabilities.experimental = {"odin": to_flat_wire(server.info())}
        return result


class OdinServer(LanguageServer):
    def __init__(self, told: Told | None = None) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            "odin", __version__, protocol_cls=Protocol, notebook_document_sync=notebooks.SYNC
        )
        self.rpc = cast("Protocol", self.protocol)
        self.buffers = Buffers()
        self.abilities = Abilities()
        self.project = Project(told)
        self.watcher: Watcher | None = None
        self.report = SettingsReport(self)
        self._core: Core | None = None
        self._editor: LspEditor | None = None
        self._turns: Turns | None = None
        self._sender: EventSender | None = None
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
    def turns(self) -> "Turns":
        if self._turns is None:
            from odin_lsp.server.turns import Turns

            self._turns = Turns(self)
        return self._turns

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

    async def warm(self) -> None:
        """Do what takes time before anybody waits for it."""
        await asyncio.to_thread(_import_the_rest)
        await asyncio.gather(self.core.restore_reviews(), self.core.warm())
        gc.freeze()

    def start(self, params: types.InitializeParams) -> None:
        self.tracing.set(params.trace)
        self.abilities = Abilities.of(params.capabilities, params.client_info.name if params.client_info else "")
        self.buffers.encoding = cast("Any", str(getattr(self.workspace.position_encoding, "value", None) or "utf-16"))
        options, problems = InitOptions(), ()
        try:
            if params.initialization_options is not None:
                options = from_wire(InitOptions, params.initialization_options)
        except RequestError as error:
            problems = (ConfigProblem("initializationOptions", None, f"{error}; they are not used"),)
        self.project.tell(
            roots=roots_of(params),
            settings=options.settings,
            secrets={str(name): key for name, key in options.secrets.items()},
            trusted=options.trusted,
            problems=problems,
        )

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
        try:
            model, small = self.project.now.models
        except ModelError:
            model = small = selection.OFFLINE
        return ServerInfo(PROTOCOL_VERSION, __version__, model, small, tuple(MODES.values()), tool_names())

    def abort(self) -> None:
        """End all turns: the client is about to leave."""
        if self._core is not None:
            self._core.abort()

    async def close(self) -> None:
        self.tasks.cancel()
        if self._core is not None:
            await self._core.close()

    def _log(self, now: Situation) -> None:
        self.logs.configure(now.config.log_level, now.secrets.values())

    def _make_core(self) -> "Core":
        from odin_lsp.agent.core import Core
        from odin_lsp.intelligence.chosen import Chosen
        from odin_lsp.server.editor_servers import EditorServers
        from odin_lsp.server.event_sender import EventSender
        from odin_lsp.server.notices import Notices

        editors = EditorServers(self.rpc, self.buffers, self.abilities.editor, lambda: self.project.now.config.timeouts)
        core = Core(self.project, self.editor, buffers=self.buffers, servers=partial(Chosen, editors))
        core.stream.subscribe(self.editor.hints.follow)
        if self.abilities.events:
            self._sender = EventSender(partial(self.rpc.notify, "odin/event"), lambda: self.rpc.backlog)
            core.stream.subscribe(self._sender)
        else:
            core.stream.subscribe(Notices(self.rpc, self.editor).follow)
        return core


def _import_the_rest() -> None:
    import_module("odin_lsp.agent.core")
    from odin_lsp.server.commands.base import all_commands

    all_commands()
