"""What happens in a turn, as frozen values. `docs/protocol.md` lists them for editors."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from odin_lsp.modes import Mode
from odin_lsp.ports import Level, Receipt, Review, ReviewHunk
from odin_lsp.values import Value

Activity = Literal[
    "idle",
    "connecting",
    "waiting_headers",
    "waiting_token",
    "streaming",
    "executing",
    "compacting",
    "retrying",
    "retrying_key",
    "cooling",
    "verifying",
]
ExitReason = Literal[
    "end_turn",
    "max_turns",
    "max_budget",
    "max_tokens",
    "refused",
    "loop",
    "interrupted",
    "aborted",
    "failed",
]
TodoStatus = Literal["pending", "in_progress", "completed"]
ToolStatus = Literal["success", "error", "cancelled"]
SubagentStatus = Literal["running", "completed", "stopped", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class Todo(Value):
    id: str
    content: str
    status: TodoStatus


@dataclass(frozen=True, slots=True)
class ToolRecord(Value):
    name: str
    description: str
    affected_files: tuple[str, ...]
    status: ToolStatus
    added: int = 0
    """Lines, as in a diff."""
    removed: int = 0


@dataclass(frozen=True, slots=True)
class Usage(Value):
    """Tokens and money. `input_tokens` are those that no cache served."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float = 0.0
    context_tokens: int = 0
    """The prompt of the last request, cached or not."""
    context_limit: int = 0

    def plus(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.cost_usd + other.cost_usd,
            other.context_tokens or self.context_tokens,
            other.context_limit or self.context_limit,
        )

    @property
    def besides(self) -> "Usage":
        """The same for the account of a conversation that it was no part of."""
        return replace(self, context_tokens=0, context_limit=0)


@dataclass(frozen=True, slots=True)
class QueuedMessage(Value):
    """A message of the user that has not been answered yet."""

    turn_id: str
    body: str
    mode: Mode
    timestamp: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentRecord(Value):
    """A helper of a turn: what it was for, and what came of it."""

    agent_id: str
    """`<kind>-<number>`; no other helper of the session has it."""
    turn_id: str
    call_id: str
    """The call that waits for it."""
    description: str
    mode: Mode
    model: str
    write_scope: tuple[str, ...] = ()
    """Where it may edit; empty: wherever its mode allows."""
    status: SubagentStatus
    summary: str = ""
    """What it handed over, or what it had when it was ended."""
    files_changed: tuple[str, ...] = ()
    remaining_limitations: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    """Also part of the turn's."""
    started_at: float
    ended_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Value):
    turn_id: str
    session_id: str
    mode: Mode
    reason: ExitReason
    answer: str
    detail: str | None = None
    plan: str | None = None
    """Of a turn that has made a plan: the URI of its document."""
    todos: tuple[Todo, ...] = ()
    tools: tuple[ToolRecord, ...] = ()
    receipts: tuple[Receipt, ...] = ()
    usage: Usage = field(default_factory=Usage)
    duration_ms: int = 0
    model_ms: int = 0
    steps: int = 0


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
    kind: Literal["activityChanged"] = "activityChanged"


@dataclass(frozen=True, slots=True)
class TextStreamed(Value):
    text: str
    kind: Literal["textStreamed"] = "textStreamed"


@dataclass(frozen=True, slots=True)
class ThinkingStreamed(Value):
    text: str
    kind: Literal["thinkingStreamed"] = "thinkingStreamed"


@dataclass(frozen=True, slots=True)
class StreamRolledBack(Value):
    """Forget the text since the last `messageFinished`: the attempt failed and is made again."""

    kind: Literal["streamRolledBack"] = "streamRolledBack"


@dataclass(frozen=True, slots=True)
class MessageFinished(Value):
    text: str
    tool_calls: int
    kind: Literal["messageFinished"] = "messageFinished"


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
    diff: str | None = None
    duration_ms: int = 0
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


@dataclass(frozen=True, slots=True)
class QuestionAsked(Value):
    question_id: str
    title: str
    kind: Literal["questionAsked"] = "questionAsked"


@dataclass(frozen=True, slots=True)
class QuestionAnswered(Value):
    question_id: str
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
    status: Literal["started", "succeeded", "failed", "cancelled"]
    before: int
    after: int
    kind: Literal["compacted"] = "compacted"


@dataclass(frozen=True, slots=True)
class ModelChanged(Value):
    selected: str
    running: str
    kind: Literal["modelChanged"] = "modelChanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit(Value):
    """What a provider said, with its last answer, of what is left to its key."""

    requests_limit: int | None = None
    requests_left: int | None = None
    tokens_limit: int | None = None
    tokens_left: int | None = None
    resets_in: float | None = None
    """Seconds until all of it is there again, as of then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStatus(Value):
    selected: str
    running: str
    """Another one while the selected one cannot be reached."""
    keys_ready: int
    keys: int
    next_key_in: float
    """Seconds until a resting key is tried again; 0: none rests."""
    context_limit: int
    """Tokens of the running model's window."""
    output_limit: int
    rate_limit: RateLimit | None = None
    """Of the key that was used last; none if the provider does not say."""
    proxied: bool = False


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
class SessionSwitchStarted(Value):
    """A stored session is being read; `sessionRestored` follows, unless it cannot be."""

    session_id: str
    kind: Literal["sessionSwitchStarted"] = "sessionSwitchStarted"


@dataclass(frozen=True, slots=True)
class SessionRestored(Value):
    """The session that is current now; another one than was asked for, if that is open in another Odin."""

    session_id: str
    title: str
    messages: int
    kind: Literal["sessionRestored"] = "sessionRestored"


@dataclass(frozen=True, slots=True)
class SessionRenamed(Value):
    title: str
    kind: Literal["sessionRenamed"] = "sessionRenamed"


@dataclass(frozen=True, slots=True)
class TurnFinished(Value):
    outcome: Outcome
    kind: Literal["turnFinished"] = "turnFinished"


Event = (
    TurnQueued
    | TurnStarted
    | UserSpoke
    | ActivityChanged
    | TextStreamed
    | ThinkingStreamed
    | StreamRolledBack
    | MessageFinished
    | ToolStarted
    | ToolProgress
    | ToolFinished
    | BackgroundFinished
    | TodosChanged
    | ReviewOpened
    | ReviewChanged
    | ReviewClosed
    | QuestionAsked
    | QuestionAnswered
    | UsageChanged
    | SubagentStarted
    | SubagentFinished
    | Compacted
    | ModelChanged
    | ModelStatusChanged
    | Notice
    | SessionSwitchStarted
    | SessionRestored
    | SessionRenamed
    | TurnFinished
)


@dataclass(frozen=True, slots=True)
class EventRecord(Value):
    """An event and where it belongs. `seq` rises by one per receiver."""

    seq: int
    turn_id: str
    session_id: str
    agent_id: str
    event: Event


Emit = Callable[[Event], None]
