"""One server that is in use: the program that is kept, what it offers, and what has changed about that."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from odin_lsp.commands.kept import Kept, Times
from odin_lsp.commands.memory import memory_of
from odin_lsp.errors import ToolError
from odin_lsp.extensions.mcp_files import McpServer
from odin_lsp.mcp import logins, pins
from odin_lsp.mcp.connection import Around, Connection, filled
from odin_lsp.mcp.offered import CHARS_PER_TOKEN, Offered, cost, usable
from odin_lsp.mcp.values import Answered, Asked, Definition, Form, Host, Progress, Visit
from odin_lsp.tasks import Tasks
from odin_lsp.values import Value

LOOK_SECONDS = 0.3
"""After a server says that its tools have changed: it may say so again at once."""
Ask = Callable[[str, Form | Visit], Awaitable[Asked]]
"""Hands the person what a server, by its name, wants to know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpState(Value):
    """An MCP server that is on."""

    name: str
    transport: Literal["stdio", "http", "sse"]
    state: Literal["configured", "starting", "ready", "failed"]
    """`configured`: it is started when it is needed."""
    tools: int = 0
    tokens: int = 0
    """What the definitions of all its tools take, whether or not they are listed."""
    memory: int | None = None
    """Bytes, of all its processes."""
    problem: str | None = None
    """Why it does not run, or which of its tools are not used."""


class Served:
    def __init__(
        self, server: McpServer, around: Around, times: Times, tasks: Tasks, warn: Callable[[str], None]
    ) -> None:
        self.server = server
        self.changed: dict[str, Definition] = {}
        """Tools that are not what they were when the user came to know them, as the server has them now."""
        self.kept = Kept(self._make, times, tasks, self._give_up)
        self.is_begun = False
        self._around = around
        self._tasks = tasks
        self._warn = warn
        self._known: dict[str, Definition] | None = None
        """What the user knows; none: nobody has looked yet."""
        self._now: dict[str, Definition] | None = None
        """What the server has said last, since Odin was started."""
        self._wrong: list[str] = []
        self._asking: list[Ask] = []
        """Of the calls that go on."""
        self._is_looking = False
        self._logged_in: int | None = None

    @property
    def offered(self) -> list[Offered]:
        """What models are told of: in the words that the user knows."""
        known = self._known or {}
        names = known if self._now is None else self._now
        return [Offered(self.server.name, known[name]) for name in names if name in known]

    @property
    def is_known(self) -> bool:
        return bool(self._known)

    def state(self) -> McpState:
        offered, connection = self.offered, self.kept.server
        memory = memory_of(connection.pid) if connection is not None and connection.pid is not None else None
        state = "ready" if connection else "starting" if self.kept.is_starting else "configured"
        return McpState(
            name=self.server.name,
            transport=self.server.transport,
            state="failed" if self.kept.problem and state == "configured" else state,
            tools=len(offered),
            tokens=cost(offered) // CHARS_PER_TOKEN,
            memory=memory,
            problem=self.kept.problem or "; ".join(self._wrong) or None,
        )

    async def recall(self) -> None:
        """What is known of it from before."""
        if self._known is None:
            self._known = await asyncio.to_thread(pins.read, self.server)
            self._logged_in = await asyncio.to_thread(self._last_login)

    async def is_unlocked(self) -> bool:
        """It has failed, and somebody has logged in since."""
        if not self.kept.problem or self.server.transport == "stdio":
            return False
        return await asyncio.to_thread(self._last_login) not in (None, self._logged_in)

    async def connection(self) -> Connection:
        """Started, if it is not. Raises `ToolError`."""
        connection = await self.kept.running()
        if connection is not None:
            return connection
        name = self.server.name
        if self.kept.is_starting:
            raise ToolError(f"the MCP server {name} is still starting; go on without it, or try again later")
        again = "" if self.kept.is_given_up else " It is started again when it is next called."
        raise ToolError(f"the MCP server {name} cannot be used: {self.kept.problem}.{again}")

    async def call(self, tool: Offered, arguments: Mapping[str, Any], tell: Progress, ask: Ask) -> Answered:
        connection = await self.connection()
        name = tool.definition.name
        if name not in (self._now or {}):
            raise ToolError(f"the MCP server {self.server.name} has no tool {name} any more")
        if self.changed.get(name) is not None:
            raise ToolError(
                f"the MCP server has just changed {tool.name}; call it again, so that the user can look at it"
            )
        self._asking.append(ask)
        try:
            return await connection.call(name, arguments, tell)
        finally:
            self._asking.remove(ask)

    async def accept(self, tool: str) -> None:
        """The user has seen what a tool is now."""
        new = self.changed.pop(tool, None)
        if new is not None and self._known is not None:
            self._known[tool] = new
            await asyncio.to_thread(pins.keep, self.server, dict(self._known))

    def _last_login(self) -> int | None:
        try:
            return logins.changed(self.server.name, filled(self.server, self._around, self.server.url))
        except ToolError:
            return None

    def _make(self, ended: Callable[[str], None]) -> Connection:
        host = Host(self._ask, lambda: self._around.roots, self._hear)
        return Connection(self.server, self._around, host, self._take, ended)

    async def _take(self, definitions: tuple[Definition, ...]) -> None:
        """What it offers now. Tools that are new are known from now on; those that were known stay as they were."""
        self._now, self._wrong = usable(self.server.name, definitions)
        await self.recall()
        known = self._known or {}
        self.changed = {name: it for name, it in self._now.items() if name in known and it.digest != known[name].digest}
        new = {name: it for name, it in self._now.items() if name not in known}
        if new:
            self._known = {**known, **new}
            await asyncio.to_thread(pins.keep, self.server, dict(self._known))

    def _hear(self, what: str) -> None:
        if what == "tools" and not self._is_looking:
            self._is_looking = True
            self._tasks.begin(self._look_again())

    async def _look_again(self) -> None:
        await asyncio.sleep(LOOK_SECONDS)
        self._is_looking = False
        if (connection := self.kept.server) is not None:
            try:
                await connection.look(self._around.settings.timeout)
            except ToolError as error:
                self._wrong = [str(error)]

    async def _ask(self, what: Form | Visit) -> Asked:
        """Whoever has called last; what it wants while nobody calls is refused."""
        return await self._asking[-1](self.server.name, what) if self._asking else ("decline", {})

    def _give_up(self, problem: str) -> None:
        self._warn(
            f"The MCP server {self.server.name} cannot be used, and Odin goes on without it ({problem}). "
            f"Run `odin-lsp mcp test {self.server.name}` to see more, or switch it off in `extensions.disabled`."
        )
