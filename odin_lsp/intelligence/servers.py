"""Whoever knows languages and speaks LSP: the editor's servers, or Odin's own. Params and results are LSP's JSON."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from odin_lsp.errors import OdinError
from odin_lsp.records import Severity
from odin_lsp.server_states import ServerState
from odin_lsp.values import Value
from odin_lsp.workspace.text import PositionEncoding


class Unavailable(OdinError):
    """It has not answered in time, has died, or refuses; the message says which."""


@dataclass(frozen=True, slots=True)
class Told:
    result: Any
    is_ready: bool
    """Whether it had all of the project when it was asked. If not, there may be more, and nothing may be concluded from
    what is missing."""


class Server(Protocol):
    """One that serves a document. It knows the text on the screen, saved or not."""

    @property
    def name(self) -> str:
        """For people and models: `pyright`, `typescript in VS Code`."""
        ...

    @property
    def encoding(self) -> PositionEncoding:
        """Of the positions in params and results."""
        ...

    def offers(self, method: str) -> bool:
        """As of now: some say so only after a while."""
        ...

    async def ask(self, method: str, params: Mapping[str, Any]) -> Told:
        """A request of LSP; raises `Unavailable`. It never takes longer than the settings allow."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem(Value):
    """A diagnostic. Lines and characters are counted from 0, in characters of the text, whoever has found it."""

    line: int
    character: int
    end_line: int
    end_character: int
    severity: Severity
    message: str
    code: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Problems:
    """Those of one document."""

    found: tuple[Problem, ...]
    is_current: bool
    """Whether they are of the text as it stands now. If not, nothing may be concluded from them."""


class Servers(Protocol):
    async def of(self, path: Path) -> Sequence[Server]:
        """Those that serve this document, the best first; started if need be. None: nobody knows its language."""
        ...

    async def problems(self, paths: Collection[Path], patience: float) -> Mapping[Path, Problems]:
        """What is wrong with these documents as they stand now, waiting so many seconds for it. A document about which
        nobody says anything is left out. Without paths: all that is known already, of any document."""
        ...

    async def all_states(self) -> Sequence[ServerState]:
        """Of those that run or should; none is started for it."""
        ...

    async def close(self) -> None: ...


class NoServers:
    """Where there are none."""

    async def of(self, path: Path) -> Sequence[Server]:
        return ()

    async def problems(self, paths: Collection[Path], patience: float) -> Mapping[Path, Problems]:
        return {}

    async def all_states(self) -> Sequence[ServerState]:
        return ()

    async def close(self) -> None: ...
