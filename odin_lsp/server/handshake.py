"""What client and server tell each other at `initialize`."""

from dataclasses import dataclass, field
from typing import Any, Literal

from odin_lsp.values import Value

PROTOCOL_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class InitOptions(Value):
    """`initializationOptions`"""

    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    """As in `odinconfig.json`."""
    secrets: dict[Literal["anthropic", "google", "openai"], str] = field(default_factory=dict[Any, str])
    """Keys from the editor's own safe."""
    trusted: bool | None = None
    """Whether the user has told the editor that this workspace is trusted. `false` is its restricted mode: only
    Ask works then, and no commands run. Left out: the editor has no such notion, and the user is asked by Odin."""


@dataclass(frozen=True, slots=True)
class ServerInfo(Value):
    """The server's `capabilities.experimental.odin`."""

    version: int
    server: str
    model: str
    small_model: str
    modes: tuple[str, ...]
    tools: tuple[str, ...]
    skills: tuple[str, ...] = ()
