"""Whether servers start: each is started once, and ended again."""

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from odin_lsp.commands.memory import memory_of
from odin_lsp.errors import ToolError
from odin_lsp.extensions.mcp_files import McpServer
from odin_lsp.mcp import asking
from odin_lsp.mcp.connection import Around, Connection
from odin_lsp.mcp.offered import Offered, usable
from odin_lsp.mcp.values import Asked, Definition, Form, Host, Visit


@dataclass(frozen=True, slots=True)
class Trial:
    server: McpServer
    seconds: float
    tools: tuple[Offered, ...] = ()
    left_out: tuple[str, ...] = ()
    """Why some of its tools are not used."""
    version: str = ""
    """Of the protocol."""
    memory: int | None = None
    problem: str = ""
    complaints: str = ""
    """The last lines that it printed for people."""


async def try_out(servers: Iterable[McpServer], around: Around) -> list[Trial]:
    return await asyncio.gather(*(_tried(it, around) for it in servers))


async def _tried(server: McpServer, around: Around) -> Trial:
    found: list[Definition] = []

    async def listed(definitions: Sequence[Definition], _has_resources: bool) -> None:
        found[:] = definitions

    connection = Connection(server, around, Host(_ask, lambda: around.roots, lambda _: None), listed, lambda _: None)
    began, problem, memory, version = time.monotonic(), "", None, ""
    try:
        await connection.start(around.settings.timeout)
        version = connection.version
        memory = memory_of(connection.pid) if connection.pid is not None else None
    except ToolError as error:
        problem = str(error)
    seconds = time.monotonic() - began
    await connection.end()
    tools, left_out = usable(server.name, found)
    offered = tuple(Offered(server.name, it, server.origin) for it in tools.values())
    return Trial(server, seconds, offered, tuple(left_out), version, memory, problem, connection.complaints)


async def _ask(_: Form | Visit) -> Asked:
    return asking.DECLINED
