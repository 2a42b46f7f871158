"""What the agent needs of the world around it."""

from dataclasses import dataclass
from typing import Literal, Protocol

from odin_lsp.events import Level
from odin_lsp.values import Value

QuestionKind = Literal["permission", "outside", "trust", "question"]


@dataclass(frozen=True, slots=True)
class Option(Value):
    id: str
    label: str
    description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Value):
    """Something only a person can decide. `title` and `detail` are shown as they are."""

    question_id: str
    kind: QuestionKind
    title: str
    detail: str = ""
    command: str | None = None
    cwd: str | None = None
    paths: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    multiple: bool = False
    allow_text: bool = False
    timeout_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Answer(Value):
    option_ids: tuple[str, ...] = ()
    text: str | None = None


class Editor(Protocol):
    """The person's side: an editor over LSP, or a terminal."""

    async def ask(self, question: Question) -> Answer | None:
        """The person's answer; `None` when there is none, which is never a yes."""
        ...

    def notify(self, level: Level, message: str) -> None:
        """Say something outside of any turn."""
        ...
