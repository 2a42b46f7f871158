"""What client and server tell each other at `initialize`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from odin_lsp import __version__
from odin_lsp.config import ConfigProblem
from odin_lsp.errors import ModelError, RequestError
from odin_lsp.models import selection
from odin_lsp.modes import MODES
from odin_lsp.project.project import Project
from odin_lsp.server.declared import tool_names
from odin_lsp.values import Value, from_wire
from odin_lsp.workspace.uris import path_of

PROTOCOL_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class InitOptions(Value):
    """`initializationOptions`"""

    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    """As in `odinconfig.json`."""
    secrets: dict[Literal["anthropic", "google", "openai"], str] = field(default_factory=dict[Any, str])
    """API keys from the editor's secret storage."""
    trusted: bool | None = None
    """`false` is the editor's restricted mode: only Ask works then, and no commands run. `true` says nothing, as if it
    were left out: what a folder brings is agreed to in Odin."""


@dataclass(frozen=True, slots=True)
class ServerInfo(Value):
    """The server's `capabilities.experimental.odin`."""

    version: int
    server: str
    model: str
    small_model: str
    modes: tuple[str, ...]
    tools: tuple[str, ...]
    roots: tuple[str, ...] = ()
    """The folders that are open. Names of files are relative to the only one; of several, they begin with the folder's
    name."""
    skills: tuple[str, ...] = ()
    """The names of those that count now; `odin.extensions` tells more of them."""
    resident: bool = False
    """It has no editor: a terminal has started it."""


def roots_of(folders: Sequence[str], root_uri: str | None, root_path: str | None) -> tuple[Path, ...]:
    """The folders that the client has opened, in whichever of three ways it says so."""
    uris = folders or ([root_uri] if root_uri else [])
    paths = [path_of(uri) for uri in uris] or [Path(root_path) if root_path else None]
    return tuple(path for path in paths if path is not None)


def tell(project: Project, roots: tuple[Path, ...], said: object) -> None:
    """What a client says of the workspace when it opens one. `said`: its `initializationOptions`."""
    options, problems = InitOptions(), ()
    try:
        if said is not None:
            options = from_wire(InitOptions, said)
    except RequestError as error:
        problems = (ConfigProblem("initializationOptions", None, f"{error}; they are not used"),)
    project.tell(
        roots=roots,
        settings=options.settings,
        secrets={str(name): key for name, key in options.secrets.items()},
        trusted=options.trusted,
        problems=problems,
    )


def info(project: Project) -> ServerInfo:
    try:
        model, small = project.now.models
    except ModelError:
        model = small = selection.OFFLINE
    roots = tuple(map(str, project.now.roots))
    modes = tuple(MODES.values())
    return ServerInfo(PROTOCOL_VERSION, __version__, model, small, modes, tool_names(), roots, project.now.skills)
