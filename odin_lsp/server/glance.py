"""All that is known, at a glance: what `odin.state` is asked for and what it answers."""

from dataclasses import dataclass
from typing import Any

from odin_lsp.modes import Mode
from odin_lsp.records import ModelStatus, QueuedMessage, SubagentRecord, Todo, Usage
from odin_lsp.server_states import McpState, ServerState
from odin_lsp.sessions.turn_record import TurnRecord
from odin_lsp.values import Value


@dataclass(frozen=True, slots=True)
class StateParams(Value):
    """`odin.state`: all that is known, at a glance."""

    session_id: str | None = None
    """Without it: the current session."""


@dataclass(frozen=True, slots=True)
class InstructionFile(Value):
    path: str
    size: int
    is_cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedFile(Value):
    file_path: str
    size: int
    is_modified: bool
    cached_at: float
    is_truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class State(Value):
    session_id: str
    mode: Mode
    messages: tuple[TurnRecord, ...]
    """The last turns that have ended."""
    earlier_messages: int
    """How many there are before them."""
    queue: tuple[QueuedMessage, ...]
    unbegun: tuple[QueuedMessage, ...]
    """What waited when Odin was ended, until something else is said."""
    suspended: bool
    """A turn waits for a review since before Odin was started, and goes on when that is made."""
    executing: bool
    compacting: bool
    """A summary is being written, for the next request or beside the work."""
    updates: tuple[str, ...]
    subagents: tuple[SubagentRecord, ...]
    """Of all sessions: those that are at work."""
    earlier_subagents: tuple[SubagentRecord, ...]
    todos: tuple[Todo, ...]
    usage: Usage
    context: tuple[str, ...]
    """What the running turn was given besides the message."""
    instructions: str
    instruction_files: tuple[InstructionFile, ...]
    config: dict[str, Any]
    cache: tuple[CachedFile, ...]
    cache_config: dict[str, Any]
    models: tuple[ModelStatus, ...]
    language_servers: tuple[ServerState, ...]
    """Odin's own; then the editor's, as far as it answers Odin."""
    mcp_servers: tuple[McpState, ...]
    """Those that are on; one that no turn has needed yet is only configured. Then those that are switched off."""
