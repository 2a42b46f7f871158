"""The MCP servers that are in use, for all sessions and their helpers."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from odin_lsp.commands.kept import PAUSES, START_SECONDS, Times
from odin_lsp.errors import ToolError
from odin_lsp.extensions.mcp_files import McpServer
from odin_lsp.mcp.connection import Around, Connection
from odin_lsp.mcp.offered import Offered
from odin_lsp.mcp.served import Served
from odin_lsp.permissions.foreign_names import server_prefix
from odin_lsp.ports import Level
from odin_lsp.server_states import McpState
from odin_lsp.tasks import Tasks

HEAD_START = 1.0
"""Seconds: to load the SDK takes that long, and the first request of a turn should not wait for it."""
OLD = "The MCP server {} is reached in the old way (SSE), which ends soon; ask for its address for streamable HTTP."

TAKEN = "The MCP server {} is not used: its tools would have the names of those of {}. Give it another name."


class McpServers:
    def __init__(
        self,
        notify: Callable[[Level, str], None],
        changed: Callable[[], None] = lambda: None,
        *,
        pauses: Sequence[float] = PAUSES,
        start_seconds: float = START_SECONDS,
        head_start: float = HEAD_START,
    ) -> None:
        self._notify = notify
        self._changed = changed
        self._pauses = tuple(pauses)
        self._start_seconds = start_seconds
        self._head_start = head_start
        self._around = Around()
        self._served: dict[str, Served] = {}
        self._tasks = Tasks()
        self._is_closed = False
        self._left_out: set[str] = set()

    def use(self, servers: Mapping[str, McpServer], around: Around) -> None:
        """These and no others. What runs was started for what was said before."""
        if self._is_closed:
            return
        servers = self._with_own_names(servers)
        for name, it in list(self._served.items()):
            if around != self._around or servers.get(name) != it.server:
                self._tasks.begin(self._served.pop(name).kept.end())
                self._changed()
        self._around = around
        for name, server in servers.items():
            if name not in self._served:
                self._served[name] = self._new(server)
                self._changed()

    def drop(self, extensions: Iterable[str]) -> None:
        """End those that are switched off, by `mcp:name`; the others stay as they are."""
        switched_off = set(extensions)
        for name in self.names:
            if f"mcp:{name}" in switched_off:
                self._tasks.begin(self._served.pop(name).kept.end())
                self._changed()

    def _with_own_names(self, servers: Mapping[str, McpServer]) -> dict[str, McpServer]:
        """Those whose tools' names begin as those of no other: a digest can be hit by trying, and a project's server
        must not take the calls of the user's."""
        owners: dict[str, str] = {}
        for name in sorted(servers, key=lambda it: servers[it].layer == "project"):
            owners.setdefault(server_prefix(name), name)
        left_out = servers.keys() - owners.values()
        for name in left_out - self._left_out:
            self._notify("warning", TAKEN.format(name, owners[server_prefix(name)]))
        self._left_out = left_out
        return {name: it for name, it in servers.items() if name not in left_out}

    async def begin(self, wait: float) -> None:
        """Start all of them side by side, once. Those whose tools nobody knows yet are waited for, but not for long;
        the others start when the turn has got ahead of them."""
        until = time.monotonic() + wait
        for name, it in list(self._served.items()):
            if await it.is_unlocked():
                self._tasks.begin(it.kept.end())
                self._served[name] = self._new(it.server)
        await asyncio.gather(*(it.recall() for it in self._served.values()))
        starting: list[asyncio.Task[Connection | None]] = []
        for it in self._served.values():
            if it.is_begun:
                continue
            it.is_begun = True
            if it.server.transport == "sse":
                self._notify("info", OLD.format(it.server.name))
            if it.is_known:
                asyncio.get_running_loop().call_later(self._head_start, self._begin_known, it)
            elif (begun := it.kept.begin()) is not None:
                starting.append(begun)
        if starting:
            await asyncio.wait(starting, timeout=max(0.0, until - time.monotonic()))

    @property
    def offered(self) -> dict[str, Offered]:
        """All tools that are known, by their names. Of two with the same name the first counts."""
        found: dict[str, Offered] = {}
        for served in self._served.values():
            for it in served.offered:
                found.setdefault(it.name, it)
        return found

    @property
    def have_resources(self) -> bool:
        return any(it.has_resources for it in self._served.values())

    @property
    def names(self) -> list[str]:
        return list(self._served)

    def of(self, server: str) -> Served:
        """Raises `ToolError`."""
        if server not in self._served:
            raise ToolError(f"there is no MCP server {server!r}; there are: {', '.join(self._served) or 'none'}")
        return self._served[server]

    def states(self, *, measure: bool = True) -> list[McpState]:
        """`measure`: what memory they take, which takes a moment."""
        return [it.state(measure=measure) for it in self._served.values()]

    def _begin_known(self, served: Served) -> None:
        """Unless it is not wanted any more."""
        if served in self._served.values():
            served.kept.begin()

    def _new(self, server: McpServer) -> Served:
        settings = self._around.settings
        times = Times(settings.timeout, settings.idle, self._start_seconds, self._pauses)
        return Served(server, self._around, times, self._tasks, partial(self._notify, "warning"), self._changed)

    async def close(self) -> None:
        self.use({}, self._around)
        self._is_closed = True
        await self._tasks.settled()
