"""One server that is in use: the program that is kept, what it offers, and what has changed about that."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from odin_lsp.commands.kept import Kept, Times
from odin_lsp.commands.memory import memory_of
from odin_lsp.errors import ToolError
from odin_lsp.extensions.mcp_files import McpServer
from odin_lsp.mcp import logins, pins
from odin_lsp.mcp.connection import Around, Connection, filled
from odin_lsp.mcp.offered import CHARS_PER_TOKEN, Offered, cost, usable
from odin_lsp.mcp.pins import Pins
from odin_lsp.mcp.values import Answered, Asked, Definition, Form, Host, Progress, Resource, Visit
from odin_lsp.permissions.foreign_names import ToolOwner
from odin_lsp.server_states import McpRunState, McpState
from odin_lsp.tasks import Tasks

LOOK_SECONDS = 0.3
"""After a server says that its tools or resources have changed: it may say so again at once."""
Ask = Callable[[str, Form | Visit], Awaitable[Asked]]
"""Hands the person what a server, by its name, wants to know."""


class Served:
    def __init__(
        self,
        server: McpServer,
        around: Around,
        times: Times,
        tasks: Tasks,
        warn: Callable[[str], None],
        changed: Callable[[], None],
    ) -> None:
        """`changed` is told that its state may be another one."""
        self.server = server
        self.changed: dict[str, Definition] = {}
        """Tools that are not what they were when the user came to know them, as the server has them now."""
        self.kept = Kept(self._make, times, tasks, self._give_up, changed)
        self.is_begun = False
        self._around = around
        self._tasks = tasks
        self._warn = warn
        self._note_change = changed
        self._known: Pins | None = None
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
        known = (self._known or Pins()).tools
        names = known if self._now is None else self._now
        return [Offered(self.server.name, known[name], self.server.origin) for name in names if name in known]

    @property
    def owner(self) -> ToolOwner:
        """Of its tools, as rules know it."""
        return ToolOwner(self.server.identity, is_users=self.server.layer != "project")

    @property
    def is_known(self) -> bool:
        return self._known is not None and bool(self._known.tools)

    @property
    def has_resources(self) -> bool:
        """As it has said last, now or when Odin ran before."""
        return self._known is not None and self._known.has_resources

    def state(self, *, measure: bool) -> McpState:
        offered, connection = self.offered, self.kept.server
        pid = connection.pid if connection is not None and measure else None
        return McpState(
            name=self.server.name,
            transport=self.server.transport,
            state=self._run_state,
            attempt=self.kept.attempt,
            max_attempts=self.kept.max_attempts,
            tools=len(offered),
            tokens=cost(offered) // CHARS_PER_TOKEN,
            memory=memory_of(pid) if pid is not None else None,
            problem=self.kept.problem or "; ".join(self._wrong) or None,
        )

    @property
    def _run_state(self) -> McpRunState:
        if self.kept.server is not None:
            return "ready"
        if self.kept.is_starting:
            return "starting"
        if not self.kept.problem:
            return "configured"
        return "failed" if self.kept.is_given_up else "retrying"

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

    async def resources(self) -> list[Resource]:
        """Raises `ToolError`, as what follows does."""
        return await (await self.connection()).resources()

    async def read(self, uri: str) -> Answered:
        return await (await self.connection()).read(uri)

    async def accept(self, tool: str) -> None:
        """The user has seen what a tool is now."""
        new = self.changed.pop(tool, None)
        if new is not None and self._known is not None:
            await self._know(Pins({**self._known.tools, tool: new}, self._known.has_resources))

    def _last_login(self) -> int | None:
        try:
            return logins.changed(self.server.login_holder, filled(self.server, self._around, self.server.url))
        except ToolError:
            return None

    def _make(self, ended: Callable[[str], None]) -> Connection:
        host = Host(self._ask, lambda: self._around.roots, self._hear)
        return Connection(self.server, self._around, host, self._take, ended)

    async def _take(self, definitions: Sequence[Definition], has_resources: bool) -> None:
        """What it offers now. Tools that are new are known from now on; those that were known stay as they were."""
        self._now, self._wrong = usable(self.server.name, definitions)
        await self.recall()
        pinned = self._known or Pins()
        known = pinned.tools
        self.changed = {name: it for name, it in self._now.items() if name in known and it.digest != known[name].digest}
        new = {name: it for name, it in self._now.items() if name not in known}
        if new or has_resources != pinned.has_resources:
            await self._know(Pins({**known, **new}, has_resources))
        self._note_change()

    async def _know(self, known: Pins) -> None:
        self._known = known
        await asyncio.to_thread(pins.keep, self.server, known)

    def _hear(self, what: str) -> None:
        if what in ("tools", "resources") and not self._is_looking:
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
