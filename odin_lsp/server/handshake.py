"""What client and server tell each other at `initialize`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from lsprotocol import types

from odin_lsp.values import Value
from odin_lsp.workspace.uris import path_of

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


def roots_of(params: types.InitializeParams) -> tuple[Path, ...]:
    """The folders that the client has opened, in whichever of three ways it says so."""
    uris = [folder.uri for folder in params.workspace_folders or []]
    if not uris and params.root_uri:
        uris = [params.root_uri]
    paths = [path_of(uri) for uri in uris] or [Path(params.root_path) if params.root_path else None]
    return tuple(path for path in paths if path is not None)
