"""How the programs are that Odin talks to: MCP servers, and language servers."""

from dataclasses import dataclass
from typing import Literal

from odin_lsp.values import Value

McpRunState = Literal["configured", "starting", "ready", "retrying", "failed", "disabled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class McpState(Value):
    """An MCP server."""

    name: str
    transport: Literal["stdio", "http", "sse"]
    state: McpRunState
    """`configured`: it is started when it is needed. `retrying`: it has not started, or has stopped, and is started
    again when it is next needed. `failed`: it is not started any more. `disabled`: the user has switched it off."""
    attempt: int = 1
    """The start that goes on, or the next one; they are counted anew for one that has worked for a while."""
    max_attempts: int = 1
    tools: int = 0
    tokens: int = 0
    """What the definitions of all its tools take, whether or not they are listed."""
    memory: int | None = None
    """Bytes, of all its processes."""
    problem: str | None = None
    """Why it does not run, or which of its tools are not used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState(Value):
    """A language server that runs or should."""

    name: str
    """One of the editor's: as its answers or its diagnostics name it."""
    root: str
    """The folder that it serves; empty for the editor's."""
    state: Literal["starting", "loading", "ready", "stopped", "given up"]
    """`loading`: what it says may not be all. `stopped`: it has died, and is started again when it is needed."""
    owner: Literal["odin", "editor"] = "odin"
    errors: int | None = None
    """In all documents of which it has told problems, as it did last; none: it has told of no document."""
    warnings: int | None = None
    memory: int | None = None
    """Bytes, of all its processes."""
    problem: str | None = None
    """Why it is not running."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServersChanged(Value):
    """An MCP server, or a language server of Odin's own, has started, become ready, stopped, or told of other problems:
    all of them as they are now, without those that are switched off, and without `memory`."""

    mcp_servers: tuple[McpState, ...] = ()
    language_servers: tuple[ServerState, ...] = ()
    kind: Literal["serversChanged"] = "serversChanged"
