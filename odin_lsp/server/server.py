"""The composition root: one process, one client, one workspace."""

import asyncio
import logging
import pkgutil
import sys
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import lsp_method

from odin_lsp import __version__, config
from odin_lsp.agent.core import Core
from odin_lsp.agent.modes import MODES
from odin_lsp.errors import ModelError, RequestError
from odin_lsp.server import features, rpc
from odin_lsp.server.client import Abilities
from odin_lsp.server.editor import LspEditor
from odin_lsp.server.event_sender import EventSender
from odin_lsp.server.transport import stdio_channel, tcp_channel
from odin_lsp.server.turns import Turns
from odin_lsp.server.wire import PROTOCOL_VERSION, InitOptions, ServerInfo
from odin_lsp.tools.base import all_tools
from odin_lsp.values import Value, from_wire, is_object, to_flat_wire
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.uris import path_of
from odin_lsp.workspace.watch import Watcher

P = TypeVar("P", bound=Value)
Command = Callable[[Any, types.ProgressToken | None], Awaitable[Any]]
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


def serve(tcp_port: int | None) -> NoReturn:
    channel = stdio_channel() if tcp_port is None else tcp_channel("127.0.0.1", tcp_port)
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    rpc.run(OdinServer(), channel)


class Protocol(rpc.OdinProtocol):
    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        result = yield from super().lsp_initialize(params)
        server = cast("OdinServer", self._server)
        result.capabilities.experimental = {"odin": to_flat_wire(server.info())}
        return result


class OdinServer(LanguageServer):
    def __init__(self) -> None:
        super().__init__("odin", __version__, protocol_cls=Protocol)  # pyright: ignore[reportUnknownMemberType]
        self.rpc = cast("Protocol", self.protocol)
        self.buffers = Buffers()
        self.editor = LspEditor(self.rpc, self.buffers)
        self.turns = Turns(self)
        self.commands: dict[str, Command] = {}
        self.roots: list[Path] = []
        self.watcher: Watcher | None = None
        self._background: set[asyncio.Task[None]] = set()
        self.config_problems: tuple[config.ConfigProblem, ...] = ()
        self._options = InitOptions()
        self._core: Core | None = None
        for method in REPLACED:
            self.rpc.fm.builtin_features.pop(method, None)  # pyright: ignore[reportUnknownMemberType]
        for module in pkgutil.iter_modules(features.__path__, f"{features.__name__}."):
            import_module(module.name).register(self)

    @property
    def core(self) -> Core:
        if self._core is None:
            raise RequestError("send initialize first")
        return self._core

    @property
    def client_timeout(self) -> float:
        return self.core.config.timeouts.client

    def odin_command(self, name: str, params: type[P]) -> Callable[[Callable[..., Awaitable[Any]]], None]:
        """Offer a command that takes one object, `params`; the handler also gets the progress token, if any."""

        def register(handler: Callable[..., Awaitable[Any]]) -> None:
            async def command(argument: Any, token: types.ProgressToken | None) -> Any:
                return await handler(from_wire(params, argument), token)

            self.commands[name] = command
            self.command(name)(command)

        return register

    def start(self, params: types.InitializeParams) -> None:
        self.editor.abilities = Abilities.of(params.capabilities)
        self.buffers.encoding = cast("Any", str(getattr(self.workspace.position_encoding, "value", None) or "utf-16"))
        self.roots = _roots(params)
        problems: list[config.ConfigProblem] = []
        try:
            if params.initialization_options is not None:
                self._options = from_wire(InitOptions, params.initialization_options)
        except RequestError as error:
            problems.append(config.ConfigProblem("initializationOptions", None, f"{error}; they are not used"))
        self.configure(problems)

    def configure(self, problems: Sequence[config.ConfigProblem] = ()) -> None:
        """Read the settings, at the start and whenever they change."""
        root = self.roots[0] if self.roots else None
        settings, found = config.load(root, settings=self._options.settings, trusted=self._options.trusted)
        self.config_problems = (*problems, *found)
        self.editor.person_timeout = settings.timeouts.person
        self.editor.client_timeout = settings.timeouts.client
        if self._core is None:
            secrets = {str(name): key for name, key in self._options.secrets.items()}
            self._core = Core(self.roots, self.editor, settings, buffers=self.buffers, secrets=secrets)
            self._core.stream.subscribe(self.editor.hints.follow)
            if self.editor.abilities.events:
                send = EventSender(partial(self.rpc.notify, "odin/event"), lambda: self.rpc.backlog)
                self._core.stream.subscribe(send)
        else:
            self._core.reconfigure(settings)

    def change_settings(self, settings: object) -> None:
        """The editor's settings; many clients nest them under the server's name."""
        values = settings.get("odin", settings) if is_object(settings) else None
        if is_object(values):
            self._options = InitOptions(settings=values, secrets=self._options.secrets, trusted=self._options.trusted)
            self.configure()
            self.report_config_problems()

    def documents_changed(self) -> None:
        """Other documents are open, or other folders."""
        if self.watcher is not None:
            self.watcher.look_again()

    def background(self, work: Coroutine[Any, Any, None]) -> None:
        """Let `work` go on beside everything else, until the server ends."""
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def report_config_problems(self) -> None:
        for problem in self.config_problems:
            self.editor.notify("warning", str(problem))

    def info(self) -> ServerInfo:
        try:
            model, small = self.core.selected
        except ModelError:
            model = small = "offline/odin"
        return ServerInfo(PROTOCOL_VERSION, __version__, model, small, MODES, tuple(all_tools()))

    async def close(self) -> None:
        for task in self._background:
            task.cancel()
        if self._core is not None:
            await self._core.close()


def _roots(params: types.InitializeParams) -> list[Path]:
    uris = [folder.uri for folder in params.workspace_folders or []]
    if not uris and params.root_uri:
        uris = [params.root_uri]
    paths = [path_of(uri) for uri in uris] or [Path(params.root_path) if params.root_path else None]
    return [path for path in paths if path is not None and path.is_dir()]
