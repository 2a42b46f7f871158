"""What happens in a turn, as frozen values. `docs/protocol.md` lists them for editors."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from odin_lsp.modes import Mode
from odin_lsp.ports import Answer, Level, Question, Receipt, Review, ReviewHunk
from odin_lsp.records import (
    WORDS,
    Activity,
    Attached,
    Audit,
    CommandRun,
    Diagnostic,
    KeptFile,
    ModelStatus,
    Outcome,
    Retry,
    SentContext,
    Todo,
    ToolStatus,
    Usage,
)
from odin_lsp.reply_events import (
    ArgumentsStreamed,
    MessageFinished,
    RequestProgress,
    RequestStarted,
    StreamRolledBack,
    TextStreamed,
    ThinkingFinished,
    ThinkingStarted,
    ThinkingStreamed,
)
from odin_lsp.server_states import ServersChanged
from odin_lsp.session_events import (
    SessionBegun,
    SessionRenamed,
    SessionRestored,
    SessionSwitchStarted,
    TrustChanged,
    TurnEdited,
)
from odin_lsp.values import Value


@dataclass(frozen=True, slots=True)
class TurnQueued(Value):
    position: int
    kind: Literal["turnQueued"] = "turnQueued"


@dataclass(frozen=True, slots=True)
class TurnStarted(Value):
    mode: Mode
    model: str
    text: str = ""
    """What the user said, whichever way the turn began."""
    attached: tuple[Attached, ...] = ()
    context: tuple[SentContext, ...] = ()
    """What else the editor has sent along."""
    kind: Literal["turnStarted"] = "turnStarted"


@dataclass(frozen=True, slots=True)
class UserSpoke(Value):
    """The model has heard what the user said in the middle of the turn (`odin.steer`)."""

    text: str
    kind: Literal["userSpoke"] = "userSpoke"


@dataclass(frozen=True, slots=True)
class ActivityChanged(Value):
    activity: Activity
    detail: str = ""
    retry: Retry | None = None
    """Of `retrying`, `retrying_key` and `cooling`, what `detail` says in words."""
    kind: Literal["activityChanged"] = "activityChanged"

    @property
    def words(self) -> str:
        return ": ".join(filter(None, (WORDS[self.activity], self.detail)))


@dataclass(frozen=True, slots=True)
class ToolQueued(Value):
    """One of several calls of a step: it is complete, and `toolStarted` says when its turn has come."""

    call_id: str
    name: str
    description: str
    kind: Literal["toolQueued"] = "toolQueued"


@dataclass(frozen=True, slots=True)
class ToolStarted(Value):
    call_id: str
    name: str
    arguments: Mapping[str, Any]
    description: str
    kind: Literal["toolStarted"] = "toolStarted"


@dataclass(frozen=True, slots=True)
class ToolProgress(Value):
    call_id: str
    text: str
    elapsed_ms: int = 0
    """Since the call began."""
    kind: Literal["toolProgress"] = "toolProgress"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished(Value):
    call_id: str
    name: str
    status: ToolStatus
    description: str
    files: tuple[str, ...] = ()
    added: int = 0
    removed: int = 0
    created: bool = False
    """The file was not there before."""
    diff: str | None = None
    """It may be cut; `added` and `removed` count all lines."""
    output: str = ""
    """Of a command: the end of all that `toolProgress` told."""
    duration_ms: int = 0
    ran: CommandRun | None = None
    result: str = ""
    """What the model is told; it may be cut. In events of the past it is left out."""
    audit: Audit = "rules"
    kind: Literal["toolFinished"] = "toolFinished"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundFinished(Value):
    """A command that went on in the background has ended; it may come after the end of its turn."""

    call_id: str
    background_id: str
    command: str
    description: str
    status: Literal["exited", "stopped", "failed"]
    message: str
    """How it ended, in words."""
    log: str
    """The file with its output."""
    output: str = ""
    """The end of it."""
    exit_code: int | None = None
    duration_ms: int = 0
    kind: Literal["backgroundFinished"] = "backgroundFinished"


@dataclass(frozen=True, slots=True)
class TodosChanged(Value):
    todos: tuple[Todo, ...]
    kind: Literal["todosChanged"] = "todosChanged"


@dataclass(frozen=True, slots=True)
class ReviewOpened(Value):
    proposal: Review
    kind: Literal["reviewOpened"] = "reviewOpened"


@dataclass(frozen=True, slots=True)
class ReviewChanged(Value):
    """These hunks have moved or were decided; all others are where and as they were. `versions`, by uri, are those of
    the open documents that the ranges are in."""

    proposal_id: str
    hunks: tuple[ReviewHunk, ...]
    versions: dict[str, int] = field(default_factory=dict[str, int])
    kind: Literal["reviewChanged"] = "reviewChanged"


@dataclass(frozen=True, slots=True)
class ReviewClosed(Value):
    proposal_id: str
    receipts: tuple[Receipt, ...]
    kind: Literal["reviewClosed"] = "reviewClosed"


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosticsCompared(Value):
    """What the edits of a step have done to the errors and warnings of the files that they changed, and of some that
    use what they changed. It may come a step later."""

    introduced: tuple[Diagnostic, ...] = ()
    fixed: tuple[Diagnostic, ...] = ()
    """Where they were before the edits."""
    remaining: int = 0
    unsure: tuple[Diagnostic, ...] = ()
    """There now; whether they were there before is not known."""
    left_off: int = 0
    """More of all these, which are not listed."""
    unknown: tuple[str, ...] = ()
    """URIs of files of which it is not known yet."""
    kind: Literal["diagnosticsCompared"] = "diagnosticsCompared"


@dataclass(frozen=True, slots=True)
class QuestionAsked(Value):
    question: Question
    kind: Literal["questionAsked"] = "questionAsked"


@dataclass(frozen=True, slots=True)
class QuestionAnswered(Value):
    question_id: str
    answer: Answer | None = None
    """None if nobody has answered it."""
    kind: Literal["questionAnswered"] = "questionAnswered"


@dataclass(frozen=True, slots=True)
class UsageChanged(Value):
    usage: Usage
    kind: Literal["usageChanged"] = "usageChanged"


@dataclass(frozen=True, slots=True)
class SubagentStarted(Value):
    agent_id: str
    description: str
    mode: Mode
    kind: Literal["subagentStarted"] = "subagentStarted"


@dataclass(frozen=True, slots=True)
class SubagentFinished(Value):
    agent_id: str
    status: Literal["completed", "stopped", "failed", "cancelled"]
    summary: str
    kind: Literal["subagentFinished"] = "subagentFinished"


@dataclass(frozen=True, slots=True)
class Compacted(Value):
    """The conversation is made shorter for the model."""

    status: Literal["started", "succeeded", "failed", "cancelled"]
    before: int
    after: int
    in_background: bool = False
    """A summary is written beside the work; it is used when there is need of it."""
    kind: Literal["compacted"] = "compacted"


@dataclass(frozen=True, slots=True)
class ModelChanged(Value):
    selected: str
    running: str
    kind: Literal["modelChanged"] = "modelChanged"


@dataclass(frozen=True, slots=True)
class RoleChanged(Value):
    """The user has switched to another role; its rules apply at once, and its prompt with the next message."""

    role: str
    kind: Literal["roleChanged"] = "roleChanged"


@dataclass(frozen=True, slots=True)
class ModelStatusChanged(Value):
    """Other keys rest, or the provider has said what is left to the key in use."""

    status: ModelStatus
    kind: Literal["modelStatusChanged"] = "modelStatusChanged"


@dataclass(frozen=True, slots=True)
class Notice(Value):
    level: Level
    message: str
    kind: Literal["notice"] = "notice"


@dataclass(frozen=True, slots=True)
class TurnFinished(Value):
    outcome: Outcome
    kind: Literal["turnFinished"] = "turnFinished"


@dataclass(frozen=True, slots=True)
class TurnUndone(Value):
    """The edits of the turn were undone, as far as that was possible; it comes after its end."""

    restored: tuple[str, ...]
    kept: tuple[KeptFile, ...] = ()
    undo_id: str | None = None
    """By which `odin.undoTurn` brings it back."""
    again: bool = False
    """It was brought back just now."""
    kind: Literal["turnUndone"] = "turnUndone"


Event = (
    TurnQueued
    | TurnStarted
    | UserSpoke
    | ActivityChanged
    | RequestStarted
    | RequestProgress
    | TextStreamed
    | ThinkingStarted
    | ThinkingStreamed
    | ThinkingFinished
    | StreamRolledBack
    | MessageFinished
    | ArgumentsStreamed
    | ToolQueued
    | ToolStarted
    | ToolProgress
    | ToolFinished
    | BackgroundFinished
    | TodosChanged
    | ReviewOpened
    | ReviewChanged
    | ReviewClosed
    | DiagnosticsCompared
    | QuestionAsked
    | QuestionAnswered
    | UsageChanged
    | SubagentStarted
    | SubagentFinished
    | Compacted
    | ModelChanged
    | RoleChanged
    | ModelStatusChanged
    | ServersChanged
    | Notice
    | TurnEdited
    | TrustChanged
    | SessionBegun
    | SessionSwitchStarted
    | SessionRestored
    | SessionRenamed
    | TurnFinished
    | TurnUndone
)

PASSING = frozenset({"textStreamed", "thinkingStreamed", "argumentsStreamed", "toolProgress", "requestProgress"})
"""Kinds that are pieces of what comes whole later."""


@dataclass(frozen=True, slots=True)
class EventRecord(Value):
    """An event and where it belongs. `seq` rises by one per receiver."""

    seq: int
    turn_id: str
    session_id: str
    agent_id: str
    event: Event
    at: float = 0.0
    """When it happened, in seconds since 1970."""
    message_id: str | None = None
    """Of a request, of what the model says, and of the calls in it: the message; others have none."""


MAIN = "main"
"""The agent that the user speaks with; all others are its subagents."""
Emit = Callable[[Event], None]
