"""What the agent needs of the world around it."""

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from odin_lsp.brought import BroughtItem
from odin_lsp.values import Value

Level = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Position(Value):
    line: int
    character: int


@dataclass(frozen=True, slots=True)
class Range(Value):
    start: Position
    end: Position


QuestionKind = Literal["permission", "outside", "trust", "review", "question"]
"""Of a review only events tell (`questionId` is its `proposalId`); it is shown and decided as one."""


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
    header: str | None = None
    """What it is about, in a word or two."""
    title: str
    detail: str = ""
    command: str | None = None
    cwd: str | None = None
    paths: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    default: str | None = None
    """The id of the option that applies if nobody answers within `timeout_ms`."""
    multiple: bool = False
    allow_text: bool = False
    editable: bool = False
    """`command` may be changed before it is allowed; the answer has it then."""
    timeout_ms: int | None = None
    items: tuple[BroughtItem, ...] = ()
    """Of kind `trust`: all that the folder brings."""

    @property
    def full_detail(self) -> str:
        """`detail`, behind what it does not say itself of what is decided: the command, its folder, the paths. Whoever
        shows a question without places of their own for these shows this."""
        lines = f"\n{self.detail}\n"
        unsaid = [it for it in (self.command,) if it and f"\n{it}\n" not in lines]
        unsaid += [f"in {it}" for it in (self.cwd,) if it and f"\nin {it}\n" not in lines]
        unsaid += [it for it in self.paths if it not in self.detail and it != self.cwd and it not in self.title]
        return "\n".join(filter(None, (*unsaid, self.detail)))


@dataclass(frozen=True, slots=True)
class Answer(Value):
    option_ids: tuple[str, ...] = ()
    text: str | None = None
    command: str | None = None
    """What to run in place of the question's `command`, if that is `editable`."""


HunkState = Literal["pending", "accepted", "rejected", "modified", "superseded"]
Cause = Literal["person", "typed", "gone", "not_applied", "not_shown", "cancelled", "late"]
"""Why a hunk is not as it was proposed: the person has decided so; somebody typed there; its file is gone; the editor
did not make it, or could not show it; the turn was cancelled; nobody decided in time."""
FileOperation = Literal["edit", "create", "delete", "rename"]


@dataclass(frozen=True, slots=True)
class ReviewHunk(Value):
    id: str
    range: Range
    """Where it stands in the document as it is now, in the agreed encoding: `old_text`, or what was accepted."""
    old_text: str
    new_text: str
    reason: str
    state: HunkState = "pending"
    text: str | None = None
    """Of a modified one: what the user put in place of `new_text`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewFile(Value):
    uri: str
    version: int | None = None
    """None for a document that is not open."""
    operation: FileOperation
    new_uri: str | None = None
    base_hash: str
    proposed_text: str
    hunks: tuple[ReviewHunk, ...]
    """A create, delete or rename has exactly one."""
    note: str = ""
    """Why this file needs a closer look: an agent of others proposes it, it is configuration that runs, it is very
    long."""


@dataclass(frozen=True, slots=True)
class Review(Value):
    """What the model wants to change, as one set to decide on."""

    proposal_id: str
    turn_id: str
    reason: str
    files: tuple[ReviewFile, ...]
    session_id: str = ""
    atomic: bool = False
    """It makes sense as a whole only, such as the rename of a symbol: what is decided on one hunk is decided on all."""
    origin: str = ""
    """The agent of others that proposes it, by its name; empty: Odin does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Value):
    hunk_id: str
    decision: Literal["accept", "reject", "modify"]
    text: str | None = None
    """With `modify`: what takes the place of the hunk's `new_text`."""
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewAnswer(Value):
    decisions: tuple[Decision, ...] = ()
    rest_of_turn: Literal["accept"] | None = None


UNASKED = "applied without asking, as the user's settings say"
"""Why something was accepted that nobody looked at."""
NO_REVIEWER = "nobody can review it here"
"""How a reason begins to reject what may be proposed again: no person has seen it."""


def decide_all(review: Review, decision: Literal["accept", "reject"], reason: str | None = None) -> ReviewAnswer:
    hunks = (hunk for file in review.files for hunk in file.hunks if hunk.state == "pending")
    return ReviewAnswer(decisions=tuple(Decision(hunk_id=it.id, decision=decision, reason=reason) for it in hunks))


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt(Value):
    """What became of a hunk, checked against the document."""

    hunk_id: str
    uri: str
    state: HunkState
    text: str | None = None
    reason: str | None = None
    """In words; of a person, theirs."""
    cause: Cause | None = None
    """Of what is rejected, modified or superseded."""


@dataclass(frozen=True, slots=True)
class TextReplacement:
    range: Range
    new_text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One file's part of an accepted proposal, for the editor to carry out."""

    uri: str
    version: int | None
    operation: FileOperation
    edits: tuple[TextReplacement, ...] = ()
    """Of the text as it is now; for a create, the new file's text."""
    before: str | None = None
    """That text. Whoever changes a file itself does so only if it has this text."""
    new_uri: str | None = None
    recursive: bool = False
    label: str = "Odin"


class Asker(Protocol):
    async def ask(self, question: Question) -> Answer | None:
        """The person's answer; `None` when there is none, which is never a yes."""
        ...

    def notify(self, level: Level, message: str) -> None:
        """Say something outside of any turn."""
        ...


class Editor(Asker, Protocol):
    """The person's side: an editor over LSP, or a terminal."""

    async def review(self, review: Review) -> ReviewAnswer | None:
        """Show the hunks. `None`: they are decided later, one by one, or not at all."""
        ...

    async def close_review(self, proposal_id: str) -> None:
        """Take it off the screen: it was decided elsewhere, or the turn has ended."""
        ...

    async def apply(self, change: FileChange) -> str | None:
        """Carry out what was accepted; why not, if the editor says that it did not. What it says is not believed."""
        ...

    async def save(self, uris: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
        """Write these documents to disk, as the user would; those that it could not, each with the reason."""
        ...

    async def reload(self, uris: tuple[str, ...]) -> None:
        """Show these documents, whose files have changed under them, as they are on disk. Unsaved ones stay."""
        ...


@runtime_checkable
class PreviewingEditor(Protocol):
    """An editor that may have a preview of its own, in which the person ticks edits while the editor applies them."""

    def previews(self, file: ReviewFile) -> bool:
        """Whether it shows this file so."""
        ...

    async def preview(self, file: ReviewFile) -> str | None:
        """Show it until the person is done; why not, if it cannot. Only the document says what was ticked."""
        ...


@runtime_checkable
class WaitingEditor(Protocol):
    """An editor without a screen: a program, or a person who is asked one thing after the other."""

    takes_its_time: Literal[True]
    """A review may come some seconds late, so that more is known of what it would change."""
