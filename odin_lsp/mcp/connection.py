"""One MCP server, from its start to its end."""

import asyncio
import os
import shutil
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odin_lsp.commands.environment import plain_environment
from odin_lsp.commands.runner import Spec
from odin_lsp.config import McpSettings, Network
from odin_lsp.errors import ToolError
from odin_lsp.extensions.front_matter import Misunderstood
from odin_lsp.extensions.mcp_files import McpServer, describe_server
from odin_lsp.mcp.values import Answered, Definition, Host, Progress, PromptDefinition, Resource

if TYPE_CHECKING:
    import httpx2

    from odin_lsp.mcp.auth import Tokens
    from odin_lsp.mcp.program import Program
    from odin_lsp.mcp.sdk import SdkSession

NOT_INSTALLED = "the package `mcp` is not installed; run: pip install 'odin-lsp[mcp]'"
CHANGED = "a file that its command names has changed since you agreed to it; it starts once you have agreed to that"
LONGEST_SECONDS = 600.0
LAST_WORDS_SECONDS = 2.0
RESOURCES_SECONDS = 2.0
"""For a server that starts to say whether it has resources: one that does not answer has none for now."""


@dataclass(frozen=True, slots=True)
class Around:
    """What servers are started in."""

    roots: tuple[Path, ...] = ()
    settings: McpSettings = field(default_factory=McpSettings.model_construct)
    network: Network = field(default_factory=Network.model_construct)
    is_trusted: bool = False
    secret_names: frozenset[str] = frozenset()
    """Of variables that have keys of providers."""

    @property
    def root(self) -> Path:
        return self.roots[0] if self.roots else Path.home()

    @property
    def cwd(self) -> Path:
        """Where servers start. Many a launcher runs what is in the folder before what is meant: `npx` does."""
        return self.root if self.is_trusted else Path.home()


class Connection:
    def __init__(
        self,
        server: McpServer,
        around: Around,
        host: Host,
        listed: Callable[[Sequence[Definition], bool], Awaitable[None]],
        ended: Callable[[str], None],
        login: "httpx2.Auth | None" = None,
    ) -> None:
        """`listed` is told which tools it has, and whether it has resources, whenever it was asked; `ended` is told why
        it cannot be asked any more.
        `login` is that of a person who is there; else the server gets the tokens of the last one."""
        self.server = server
        self.in_use = 0
        self.used_at = time.monotonic()
        self._around = around
        self._host = host
        self._listed = listed
        self._ended = ended
        self._login = login
        self._tokens: Tokens | None = None
        self._program: Program | None = None
        self._session: SdkSession | None = None
        self._gone = ""

    @property
    def pid(self) -> int | None:
        return self._program.pid if self._program else None

    @property
    def complaints(self) -> str:
        return self._program.complaints if self._program else ""

    @property
    def version(self) -> str:
        """Of the protocol."""
        return self._session.version if self._session else ""

    async def start(self, timeout: float) -> None:
        """Until its tools are known. Raises `ToolError`."""
        try:
            await asyncio.to_thread(_import_sdk)
        except ImportError:
            raise ToolError(NOT_INSTALLED) from None
        from odin_lsp.mcp.program import Program
        from odin_lsp.mcp.sdk import SdkSession

        until = time.monotonic() + timeout
        try:
            if self.server.transport == "stdio":
                spec = await asyncio.to_thread(self._spec)
                self._program = transport = Program(self.server.name, self._end_early)
                await transport.start(spec)
            else:
                transport = await self._remote()
            self._session = SdkSession(self.server.name, transport, self._host)
            await self._session.open(timeout)
            await self.look(max(0.0, until - time.monotonic()))
        except ToolError as error:
            raise await self._in_words(error) from None
        self.used_at = time.monotonic()

    async def look(self, timeout: float) -> None:
        """Which tools it has now, and whether it has resources."""
        session = self._open
        tools, resources = tuple(await session.tools(timeout)), list[Resource]()
        with suppress(ToolError):
            resources = await session.resources(min(timeout, RESOURCES_SECONDS))
        await self._listed(tools, bool(resources))

    async def call(self, tool: str, arguments: Mapping[str, Any], tell: Progress) -> Answered:
        async with self._used():
            return self._told(await self._open.call(tool, dict(arguments), self._timeout, tell))

    async def prompts(self) -> list[PromptDefinition]:
        async with self._used():
            return await self._open.prompts(self._timeout)

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> Answered:
        async with self._used():
            return self._told(await self._open.prompt(name, dict(arguments), self._timeout))

    async def resources(self) -> list[Resource]:
        async with self._used():
            return await self._open.resources(self._timeout)

    async def read(self, uri: str) -> Answered:
        async with self._used():
            return self._told(await self._open.read(uri, self._timeout))

    async def end(self) -> None:
        if self._session is not None:
            await self._session.close()
        if self._program is not None:
            await self._program.end()

    @property
    def _timeout(self) -> float:
        """Files of other agents say it in milliseconds."""
        said = self.server.timeout
        seconds = self._around.settings.timeout if not said or said < 0 else said / 1000 if said >= 1000 else said
        return min(seconds, LONGEST_SECONDS)

    @property
    def _open(self) -> "SdkSession":
        if self._gone or self._session is None:
            raise ToolError(self._gone or f"{self.server.name} is not connected")
        return self._session

    def _spec(self) -> Spec:
        server, around = self.server, self._around
        if server.agreed_as and describe_server(server, around.root).id != server.agreed_as:
            raise ToolError(CHANGED)
        command, cwd = self._filled(server.command), Path(self._filled(server.cwd))
        within = around.root if server.cwd else around.cwd
        given = {name: self._filled(value) for name, value in server.env.items()}
        environment = plain_environment(os.environ, around.roots, given)
        folder = within / cwd.expanduser()
        program = str(folder / command) if "/" in command else shutil.which(command, path=environment["PATH"])
        if program is None or not os.access(program, os.X_OK):
            raise ToolError(f"the program {command} is not found; install it, or name it by its absolute path")
        return Spec(argv=(program, *map(self._filled, server.args)), cwd=folder, environment=environment)

    async def _remote(self) -> Any:
        from odin_lsp.mcp.auth import Tokens
        from odin_lsp.mcp.remote import transport

        headers = {name: self._filled(value) for name, value in self.server.headers.items()}
        url, is_old = self._filled(self.server.url), self.server.transport == "sse"
        if self._login is None and not has_own_login(self.server):
            self._tokens = Tokens(self.server.name, self.server.login_holder, url)
        return await transport(url, headers, self._around.network, self._login or self._tokens, is_old=is_old)

    def _filled(self, text: str) -> str:
        return filled(self.server, self._around, text)

    def _told(self, answered: Answered) -> Answered:
        return replace(answered, text=self._tokens.hidden(answered.text)) if self._tokens else answered

    def _why(self, error: ToolError) -> str:
        """What ends a connection is not what the SDK says of it."""
        if self._tokens is None:
            return str(error)
        return self._tokens.problem or self._tokens.hidden(str(error))

    def _end_early(self, reason: str) -> None:
        self._gone = reason
        self._ended(reason)

    async def _in_words(self, error: ToolError) -> ToolError:
        """One that has just stopped says why, if it is given a moment."""
        if self._program is not None and self._program.is_silent:
            await self._program.ends_within(LAST_WORDS_SECONDS)
        return ToolError(self._gone or self._why(error))

    async def _look_whether_it_is_there(self, session: "SdkSession") -> None:
        """Of one that is elsewhere nobody hears that it has stopped."""
        try:
            await session.tools(LAST_WORDS_SECONDS)
        except ToolError as error:
            self._end_early(self._why(error))

    @asynccontextmanager
    async def _used(self) -> AsyncGenerator[None]:
        self.in_use += 1
        try:
            yield
        except ToolError as error:
            if self._program is None and self._session is not None and not self._gone:
                await self._look_whether_it_is_there(self._session)
            raise await self._in_words(error) from None
        finally:
            self.in_use -= 1
            self.used_at = time.monotonic()


def filled(server: McpServer, around: Around, text: str) -> str:
    """A text of the server's entry, with variables filled in. Raises `ToolError`."""
    try:
        permitted = around.settings.variables.get(server.identity)
        return server.filled(text, os.environ, around.root, permitted=permitted, secret_names=around.secret_names)
    except Misunderstood as error:
        raise ToolError(str(error)) from None


def has_own_login(server: McpServer) -> bool:
    """The user has given it a token, or a password."""
    return any(name.lower() == "authorization" for name in server.headers)


def _import_sdk() -> None:
    """It takes a second, or some."""
    for name in ("auth", "program", "remote", "sdk"):
        import_module(f"odin_lsp.mcp.{name}")
