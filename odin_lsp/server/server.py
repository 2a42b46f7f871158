"""The composition root: one process, one client, one workspace.

What turns need is imported when it is first used, at the latest right after `initialized`: `initialize` is answered
without it, and the functions of `OdinServer` are the place where it comes in."""

import asyncio
import gc
import logging
import pkgutil
import sys
import uuid
from collections.abc import Coroutine, Generator, Mapping, Sequence
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import lsp_method

from odin_lsp import __version__, config
from odin_lsp.errors import ModelError, RequestError
from odin_lsp.models import selection
from odin_lsp.modes import MODES
from odin_lsp.server import features, rpc
from odin_lsp.server.client import Abilities
from odin_lsp.server.declared import tool_names
from odin_lsp.server.features import notebooks
from odin_lsp.server.handshake import PROTOCOL_VERSION, InitOptions, ServerInfo
from odin_lsp.server.transport import stdio_channel, tcp_channel
from odin_lsp.values import from_wire, is_object, to_flat_wire
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.uris import path_of, printable
from odin_lsp.workspace.watch import Watcher

if TYPE_CHECKING:
    from odin_lsp.agent.core import Core
    from odin_lsp.permissions.trust import Trust
    from odin_lsp.server.editor import LspEditor
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
MAX_PROBLEMS = 20
"""With the settings, of which each is shown."""


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
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            "odin", __version__, protocol_cls=Protocol, notebook_document_sync=notebooks.SYNC
        )
        self.rpc = cast("Protocol", self.protocol)
        self.buffers = Buffers()
        self.abilities = Abilities()
        self.settings = config.Config.model_construct()
        self.config_problems: tuple[config.ConfigProblem, ...] = ()
        self.roots: list[Path] = []
        self.watcher: Watcher | None = None
        self._options = InitOptions()
        self._core: Core | None = None
        self._background: set[asyncio.Task[None]] = set()
        for method in REPLACED:
            self.rpc.fm.builtin_features.pop(method, None)  # pyright: ignore[reportUnknownMemberType]
        for module in pkgutil.iter_modules(features.__path__, f"{features.__name__}."):
            import_module(module.name).register(self)

    @property
    def core(self) -> "Core":
        if self._core is None:
            self._core = self._make_core()
        return self._core

    @cached_property
    def editor(self) -> "LspEditor":
        from odin_lsp.server.editor import LspEditor

        return LspEditor(self.rpc, self.buffers, self.abilities, lambda: self.settings.timeouts)

    @cached_property
    def turns(self) -> "Turns":
        from odin_lsp.server.turns import Turns

        return Turns(self)

    @cached_property
    def trust(self) -> "Trust":
        from odin_lsp.permissions.trust import Trust

        return Trust()

    @property
    def is_working(self) -> bool:
        """A turn of the current session runs."""
        return self._core is not None and self._core.agent().running is not None

    @property
    def client_timeout(self) -> float:
        return self.settings.timeouts.client

    async def warm(self) -> None:
        """Do what takes time before anybody waits for it."""
        await asyncio.to_thread(_import_the_rest)
        await self.core.warm()
        gc.freeze()

    def start(self, params: types.InitializeParams) -> None:
        self.abilities = Abilities.of(params.capabilities, params.client_info.name if params.client_info else "")
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
        has_settings = root is not None and config.has_settings(root)
        trusted = (bool(self._options.trusted) or has_settings) and self.is_trusted
        self.settings, found = config.load(root, settings=self._options.settings, trusted=trusted)
        self.config_problems = (*problems, *found)
        if self._core is not None:
            self._core.reconfigure(self.settings)

    @property
    def is_trusted(self) -> bool:
        """Whether the workspace's settings may do more than restrict. The editor's word counts until they change."""
        if not self.roots or self.is_restricted:
            return False
        standing = self.trust.of(self.roots[0])
        if standing == "unknown" and self._options.trusted:
            self.trust.decide(self.roots[0], trusted=True)
            return True
        return standing == "trusted"

    @property
    def is_restricted(self) -> bool:
        """The editor opened the workspace in its restricted mode."""
        return self._options.trusted is False

    def decide_trust(self, *, trusted: bool) -> bool:
        """The user's word; whether the workspace is trusted now."""
        if self.roots:
            self.trust.decide(self.roots[0], trusted=trusted)
            self.configure()
        return self.is_trusted

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
        for problem in self.config_problems[:MAX_PROBLEMS]:
            self.editor.notify("warning", str(problem))
        if (more := len(self.config_problems) - MAX_PROBLEMS) > 0:
            self.editor.notify("warning", f"{more:,} more problems with the settings; `odin-lsp doctor` names them")
        if any(problem.needs_trust for problem in self.config_problems) and not self.is_restricted:
            self.background(self._ask_for_trust())

    async def _ask_for_trust(self) -> None:
        """The workspace's settings want more than Odin gives to strangers. No answer leaves it at that."""
        from odin_lsp.ports import Option, Question

        standing = self.trust.of(self.roots[0])
        if standing == "restricted":
            return
        wanted = [f"- {problem}" for problem in self.config_problems if problem.needs_trust]
        question = Question(
            question_id=uuid.uuid4().hex,
            kind="trust",
            title=f"Trust the settings of {printable(str(self.roots[0]))}?",
            detail="\n".join(
                [*(["They have changed since you trusted them."] if standing == "changed" else []), *wanted]
            ),
            paths=(str(self.roots[0] / config.FILE_NAME),),
            options=(
                Option("allow_always", "Trust them as they are now"),
                Option("allow_once", "Not now"),
                Option("deny", "Never"),
            ),
        )
        answer = await self.editor.ask(question)
        match answer.option_ids if answer else ():
            case ("allow_always",) if self.trust.of(self.roots[0]) == standing:
                self.decide_trust(trusted=True)
            case ("deny",):
                self.decide_trust(trusted=False)
            case _:
                pass

    def info(self) -> ServerInfo:
        try:
            model, small = selection.choose(self.settings, self._secrets, self._picked())
        except ModelError:
            model = small = selection.OFFLINE
        return ServerInfo(PROTOCOL_VERSION, __version__, model, small, tuple(MODES.values()), tool_names())

    def abort(self) -> None:
        """End all turns: the client is about to leave."""
        if self._core is not None:
            self._core.abort()

    async def close(self) -> None:
        for task in self._background:
            task.cancel()
        if self._core is not None:
            await self._core.close()

    def _picked(self) -> Mapping[selection.Role, str]:
        """What the user picked the last time. Mostly nothing, and then nothing is imported for it."""
        if not selection.picks_file().exists():
            return {}
        from odin_lsp.agent.picks import Picks

        return Picks(self.roots[0] if self.roots else Path("/")).in_force(self.settings, self._secrets)

    @property
    def _secrets(self) -> Mapping[str, str]:
        return {str(name): key for name, key in self._options.secrets.items()}

    def _make_core(self) -> "Core":
        from odin_lsp.agent.core import Core
        from odin_lsp.server.event_sender import EventSender

        core = Core(
            self.roots,
            self.editor,
            self.settings,
            buffers=self.buffers,
            secrets=self._secrets,
            restricted=self.is_restricted,
            is_trusted=lambda: self.is_trusted,
        )
        core.stream.subscribe(self.editor.hints.follow)
        if self.abilities.events:
            core.stream.subscribe(EventSender(partial(self.rpc.notify, "odin/event"), lambda: self.rpc.backlog))
        return core


def _import_the_rest() -> None:
    import_module("odin_lsp.agent.core")
    from odin_lsp.server.commands.base import all_commands

    all_commands()


def _roots(params: types.InitializeParams) -> list[Path]:
    uris = [folder.uri for folder in params.workspace_folders or []]
    if not uris and params.root_uri:
        uris = [params.root_uri]
    paths = [path_of(uri) for uri in uris] or [Path(params.root_path) if params.root_path else None]
    return [path for path in paths if path is not None and path.is_dir()]
