"""What is kept of turns and of what they use, as frozen values: sessions store them, events carry them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from odin_lsp.modes import Mode
from odin_lsp.ports import Range, Receipt
from odin_lsp.values import Value

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
WORDS: Mapping[Activity, str] = {
    "idle": "",
    "connecting": "connecting",
    "waiting_headers": "waiting for the model",
    "waiting_token": "waiting for the model",
    "streaming": "writing",
    "executing": "working",
    "compacting": "compacting the session",
    "retrying": "trying again",
    "retrying_key": "trying another API key",
    "cooling": "waiting for the provider",
    "verifying": "checking",
}
"""What each is to people."""
ContextKind = Literal["selection", "file", "folder", "diagnostics", "command", "text"]
TodoStatus = Literal["pending", "in_progress", "completed"]
ToolStatus = Literal["success", "error", "cancelled"]
Audit = Literal["rules", "user", "edited", "hook"]
"""Who let a call happen as it did: rules alone; the user, who was asked now or before; the user, who has changed what
it does; a hook, which has changed its arguments."""
SubagentStatus = Literal["running", "completed", "stopped", "failed", "cancelled"]
Severity = Literal["error", "warning", "information", "hint"]


@dataclass(frozen=True, slots=True)
class Stretch(Value):
    """Lines of a file that the model was shown, counted from 1, and a digest of their text."""

    first: int
    last: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached(Value):
    """An image or PDF that came with a message. `odin.session.attachment` has its bytes."""

    digest: str
    media_type: str
    name: str = ""
    width: int = 0
    height: int = 0


@dataclass(frozen=True, slots=True)
class Retry(Value):
    """A request that has failed is made again."""

    attempt: int
    """Counted from 1, the first one included."""
    attempts: int
    wait: float
    """Seconds until then."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SentContext(Value):
    """Something that the editor has sent along with a message. What it says is in the conversation."""

    kind: ContextKind
    uri: str | None = None
    name: str | None = None
    """What it is called, if not by its place: a symbol, a command."""
    first_line: int | None = None
    """Counted from 1; none: all of it."""
    last_line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextItem(Value):
    """Something that an editor sends along with a message."""

    kind: ContextKind
    content: str | None = None
    """Without it: the text as it stands in the editor or on disk; of a folder, the names of its files; for
    `diagnostics`: what language servers report."""
    uri: str | None = None
    range: Range | None = None
    """Without it: all of the document."""
    version: int | None = None
    source_command: str | None = None
    name: str | None = None
    """What the user knows it by: of a selection that is a symbol, its name."""


@dataclass(frozen=True, slots=True)
class Todo(Value):
    id: str
    content: str
    status: TodoStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRun(Value):
    """A command that a call has run."""

    command: str
    exit_code: int | None = None
    """Negative: the signal that ended it; none: it could not be run, or goes on in the background."""
    duration_ms: int = 0
    """Of the command alone, without what the call waited for."""
    output: str = ""
    """The end of what it printed."""


@dataclass(frozen=True, slots=True)
class ToolRecord(Value):
    name: str
    description: str
    affected_files: tuple[str, ...]
    status: ToolStatus
    added: int = 0
    """Lines, as in a diff."""
    removed: int = 0
    created: bool = False
    """The file was not there before."""
    ran: CommandRun | None = None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOptions(Value):
    """In what a turn differs from others."""

    default_answer: str = ""
    """What is answered if the model says nothing; empty: that it gave no answer."""
    may_compact: bool = True
    """Whether the session may be made shorter for the model. If not, a request that does not fit fails."""
    shows_answer: bool = True
    """Whether front ends hear what the model says. Whoever asked gets the answer, and the session keeps it, in any
    case."""


@dataclass(frozen=True, slots=True)
class QueuedMessage(Value):
    """A message of the user that has not been answered yet."""

    turn_id: str
    body: str
    mode: Mode
    timestamp: float
    context: tuple[ContextItem, ...] = ()
    """As the editor has sent it."""
    attached: tuple[Attached, ...] = ()
    """To send them again, name their digests."""
    options: TurnOptions = TurnOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentRecord(Value):
    """A subagent of a turn: what it was for, and what came of it."""

    agent_id: str
    """`<kind>-<number>`; no other subagent of the session has it."""
    turn_id: str
    call_id: str
    """The call that waits for it."""
    description: str
    prompt: str = ""
    """Its whole task."""
    agent: str | None = None
    """The named agent that it is, if it is one."""
    mode: Mode
    model: str
    write_scope: tuple[str, ...] = ()
    """Where it may edit; empty: wherever its mode allows."""
    status: SubagentStatus
    summary: str = ""
    """What it handed over, or what it had when it was ended."""
    files_changed: tuple[str, ...] = ()
    verification_run: tuple[str, ...] = ()
    """The commands that it ran."""
    remaining_limitations: tuple[str, ...] = ()
    """Why it ended early, and which of its todos are open."""
    known_risks: tuple[str, ...] = ()
    follow_up_recommended: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()
    """Files that its commands have written."""
    todos: tuple[Todo, ...] = ()
    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    """Also part of the turn's."""
    started_at: float
    ended_at: float | None = None


ProblemKind = Literal["key", "limited", "unavailable", "too_long", "model", "session", "request", "internal"]
"""The key is missing or refused; the key's limit is reached; the provider cannot answer now; the conversation does not
fit; the provider will not do it so; the session cannot be written; it was asked for wrongly; a fault of Odin's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem(Value):
    """Why a turn has failed, for programs; `detail` says it to people."""

    kind: ProblemKind
    provider: str | None = None
    retry_after: float | None = None
    """Seconds."""


@dataclass(frozen=True, slots=True)
class KeptFile(Value):
    """One that was not changed, and why."""

    uri: str
    reason: str
    hunk_ids: tuple[str, ...] | None = None
    """The changes that stay; without it, the whole file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic(Value):
    """What a language server or a linter has found."""

    uri: str
    line: int
    """Counted from 1."""
    severity: Severity
    message: str
    """It may be cut."""
    source: str = ""
    code: str = ""

    @property
    def words(self) -> str:
        """In one line, without the file."""
        who = " ".join(filter(None, (self.source, self.code)))
        kind = "" if self.severity == "error" else f"{self.severity}: "
        return f"{self.line} {kind}{self.message}" + (f" [{who}]" if who else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Value):
    turn_id: str
    session_id: str
    mode: Mode
    reason: ExitReason
    answer: str
    detail: str | None = None
    problem: Problem | None = None
    """Of a turn that has failed."""
    plan: str | None = None
    """Of a turn that has made a plan: the URI of its document."""
    todos: tuple[Todo, ...] = ()
    tools: tuple[ToolRecord, ...] = ()
    receipts: tuple[Receipt, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    """Errors and warnings that were not there before the turn, and are there now; those that are known."""
    usage: Usage = field(default_factory=Usage)
    duration_ms: int = 0
    model_ms: int = 0
    steps: int = 0


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
