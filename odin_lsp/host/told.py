"""What a host tells of sessions, commands and undos, and who answers what it asks."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from odin_lsp.ports import Answer, Level, Question, Review, ReviewAnswer
from odin_lsp.records import ExitReason
from odin_lsp.values import Value


class Answers(Protocol):
    """The person at this end."""

    @property
    def can_ask(self) -> bool:
        """Whether anybody could answer."""
        ...

    @property
    def is_for_own(self) -> bool:
        """It answers for turns that were begun here, and for no others."""
        ...

    async def ask(self, question: Question) -> Answer | None: ...

    async def review(self, review: Review) -> ReviewAnswer | None: ...

    def notify(self, level: Level, message: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed(Value):
    """A session that there is."""

    session_id: str
    title: str
    messages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LastTurn(Value):
    body: str
    answer_summary: str
    reason: ExitReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Slash(Value):
    name: str
    description: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Undone:
    restored: tuple[Path, ...]
    kept: tuple[Kept, ...]
    undo_id: str | None
