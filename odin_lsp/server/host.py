"""What features and commands may ask of the server: each takes the narrowest of these that it needs."""

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from lsprotocol import types

from odin_lsp.ide.sight import Sight
from odin_lsp.modes import Mode
from odin_lsp.project.project import Project
from odin_lsp.server.client import Abilities
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.watch import Watcher

if TYPE_CHECKING:
    from odin_lsp.agent.core import Core
    from odin_lsp.agent.open_sessions import Seating
    from odin_lsp.events import Outcome, Todo
    from odin_lsp.server.editor import LspEditor
    from odin_lsp.server.instructions import Instructions
    from odin_lsp.server.rpc import OdinProtocol
    from odin_lsp.server.wire import MessageParams

F = TypeVar("F", bound=Callable[..., Any])


class Features(Protocol):
    """Where methods of the protocol find who answers them."""

    def feature(self, feature_name: str, options: Any | None = None) -> Callable[[F], F]: ...

    def command(self, command_name: str) -> Callable[[F], F]: ...


class Documents(Protocol):
    """What is open in the editor."""

    watcher: Watcher | None
    """Of the folders of these documents, where the client tells of no changes."""

    @property
    def buffers(self) -> Buffers: ...

    def documents_changed(self) -> None:
        """Other documents are open, or other folders."""
        ...


class Client(Protocol):
    """The editor at the other end."""

    @property
    def rpc(self) -> "OdinProtocol": ...

    @property
    def abilities(self) -> Abilities: ...

    @property
    def editor(self) -> "LspEditor": ...

    @property
    def client_timeout(self) -> float: ...


class TakesTurns(Protocol):
    async def take(
        self,
        mode: Mode,
        params: "MessageParams",
        token: types.ProgressToken | None,
        *,
        meaning: tuple[str, ...] = (),
        todos: "tuple[Todo, ...]" = (),
    ) -> "Outcome": ...

    async def go_on(self, session_id: str | None, token: types.ProgressToken | None) -> "Outcome": ...

    async def compact(
        self, session_id: str | None, focus: str, turn_id: str | None, token: types.ProgressToken | None
    ) -> tuple[int, int]: ...

    def check(self, mode: Mode) -> None:
        """`RequestError` says why there can be no turn in this mode."""
        ...

    def cancel_by_token(self, token: types.ProgressToken) -> None: ...


class Work(Client, Protocol):
    """What Odin does for it."""

    @property
    def project(self) -> Project: ...

    @property
    def sight(self) -> Sight:
        """What the person has before them, for agents that use the editor as their IDE."""
        ...

    @property
    def core(self) -> "Core": ...

    @property
    def seat(self) -> "Seating":
        """Where it takes its sessions."""
        ...

    @property
    def turns(self) -> TakesTurns: ...

    @property
    def instructions(self) -> "Instructions": ...

    async def keep_trust(self) -> None:
        """Store what was decided about it."""
        ...

    @property
    def is_working(self) -> bool: ...

    @property
    def is_guest(self) -> bool:
        """It came by the socket, and decides nothing for all sessions; `docs/security.md` has the table."""
        ...

    @property
    def events_sent(self) -> int:
        """How many events the client was sent."""
        ...

    def background(self, work: Coroutine[Any, Any, None]) -> None:
        """Let `work` go on beside everything else, until the server ends."""
        ...


class Commanded(Features, Work, Protocol):
    """Where commands are sent to."""


class Host(Documents, Commanded, Protocol): ...
