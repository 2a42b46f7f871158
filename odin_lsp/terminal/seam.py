"""What a terminal needs of a workspace. The library's own has it, and so has one that another process has open."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from odin_lsp.events import EventRecord
from odin_lsp.modes import Mode
from odin_lsp.records import ExitReason, Outcome, Usage


class Turn(Protocol):
    async def outcome(self) -> Outcome: ...

    def cancel(self) -> bool: ...


class LastTurn(Protocol):
    @property
    def body(self) -> str: ...

    @property
    def answer_summary(self) -> str: ...

    @property
    def reason(self) -> ExitReason: ...


class Session(Protocol):
    @property
    def id(self) -> str:
        """Empty, where it is not known yet."""
        ...

    @property
    def title(self) -> str: ...

    @property
    def history(self) -> Sequence[object]: ...

    @property
    def usage(self) -> Usage: ...

    @property
    def last_turn(self) -> LastTurn | None: ...

    @property
    def is_busy(self) -> bool: ...

    def send(self, mode: Mode, text: str, *, images: Iterable[Path] = ()) -> Turn: ...

    def compact(self, focus: str = "") -> Turn: ...

    def go_on(self) -> Turn: ...

    def steer(self, text: str) -> bool: ...

    def cancel(self) -> bool: ...

    def clear(self) -> None: ...


class Listed(Protocol):
    @property
    def session_id(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def messages(self) -> int: ...


class Slash(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def hint(self) -> str: ...

    @property
    def description(self) -> str: ...


class Kept(Protocol):
    @property
    def path(self) -> Path: ...

    @property
    def reason(self) -> str: ...


class Undone(Protocol):
    @property
    def restored(self) -> Sequence[Path]: ...

    @property
    def kept(self) -> Sequence[Kept]: ...

    @property
    def undo_id(self) -> str | None: ...


class Workspace(Protocol):
    @property
    def model(self) -> str: ...

    @property
    def session(self) -> Session: ...

    def begin(self, title: str | None = None) -> Session: ...

    async def resume(self, session_id: str | None = None) -> Session: ...

    async def carry_out(
        self, plan: Path, steps: Sequence[int] | None = None, *, session_id: str | None = None
    ) -> Turn: ...

    async def sessions(self, most: int = 100) -> Sequence[Listed]: ...

    async def files(self) -> Sequence[str]: ...

    async def slash_commands(self) -> Sequence[Slash]: ...

    async def undo(self, turn_id: str | None = None, path: Path | None = None) -> Undone: ...

    def subscribe(self, subscriber: Callable[[EventRecord], None]) -> Callable[[], None]: ...
