"""A turn under way: what the user said, and what is known of the outcome so far."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypedDict

from odin_lsp.agent.edit_checks import TurnProblems
from odin_lsp.errors import EmptyPrompt, ModelError, RequestError
from odin_lsp.events import (
    Emit,
    Event,
    MessageFinished,
    TextStreamed,
    ThinkingStreamed,
    TurnFinished,
    TurnStarted,
)
from odin_lsp.messages import Attachment, ToolCall, ToolResult
from odin_lsp.modes import Mode
from odin_lsp.records import (
    ContextItem,
    Diagnostic,
    ExitReason,
    Outcome,
    Problem,
    QueuedMessage,
    SentContext,
    Todo,
    ToolRecord,
    TurnOptions,
    Usage,
)
from odin_lsp.review.proposals import Proposal
from odin_lsp.review.turn_review import TurnReview
from odin_lsp.sessions.attachments import described

MAX_PROMPT_CHARS = 1_000_000


@dataclass(frozen=True, slots=True)
class RunCommand:
    """`!command`: what it prints is told to the model with the next message."""

    command: str

    @classmethod
    def of(cls, text: str) -> "RunCommand | None":
        """What a prompt means that begins with `!`; a picture in Markdown does, too."""
        command = text[1:].strip() if text.startswith("!") and not text.startswith("![") else ""
        return cls(command) if command else None


@dataclass(frozen=True, slots=True)
class Compact:
    """Make the conversation shorter."""

    focus: str = ""
    """What the summary should keep above all."""

    def message(self, turn_id: str, mode: Mode) -> "UserMessage":
        return UserMessage(turn_id=turn_id, text=f"/compact {self.focus}".strip(), mode=mode, errand=self)


@dataclass(frozen=True, slots=True)
class OwnAct:
    """Something that Odin does itself; its words are the answer."""

    act: Callable[[], Awaitable[str]]
    agent: str = ""
    """Of others, for whom it is done."""


@dataclass(slots=True)
class AgentCall:
    """What an agent of others has Odin do."""

    agent: str
    """Its name."""
    call: ToolCall
    result: ToolResult | None = None
    """Once the turn has ended, unless it could not even begin."""


FOREIGN = "agent/"
"""What a turn of an agent of others has in place of a model begins with it."""
Errand = RunCommand | Compact | OwnAct | AgentCall
"""A turn in which the planner's model is not asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage:
    turn_id: str
    text: str
    mode: Mode
    is_typed: bool = True
    """Whether the user has written the text themselves; else some of it is of files, such as a comment."""
    context: tuple[str, ...] = ()
    """What the editor added, ready for the model."""
    sent: tuple[SentContext, ...] = ()
    """What that is, for people."""
    items: tuple[ContextItem, ...] = ()
    """What the editor sent, for a message that goes back to it."""
    attached: tuple[Attachment, ...] = ()
    """Images and PDFs."""
    meaning: tuple[str, ...] = ()
    """What the words stand for, where the model has to be told more than people want to read."""
    todos: tuple[Todo, ...] = ()
    """The list to begin with; empty: as it is."""
    errand: Errand | None = None
    temperature: float | None = None
    """Here and below: none is as in the settings."""
    max_tokens: int | None = None
    options: TurnOptions = field(default_factory=TurnOptions)
    timestamp: float = field(default_factory=time.time)

    @classmethod
    def that_waited(cls, it: QueuedMessage) -> "UserMessage":
        """That of a turn which goes on in another process."""
        return cls(turn_id=it.turn_id, text=it.body, mode=it.mode, options=it.options, timestamp=it.timestamp)

    @property
    def origin(self) -> str:
        """The agent of others that wants it; empty: the user does."""
        return self.errand.agent if isinstance(self.errand, AgentCall | OwnAct) else ""

    @property
    def queued(self) -> QueuedMessage:
        attached = tuple(map(described, self.attached))
        return QueuedMessage(self.turn_id, self.text, self.mode, self.timestamp, self.items, attached, self.options)


def _without_words(emit: Emit) -> Emit:
    """Emits all but what the model says and thinks: its messages are empty."""

    def emit_silently(event: Event) -> None:
        match event:
            case TextStreamed() | ThinkingStreamed():
                pass
            case MessageFinished():
                emit(replace(event, text="", thinking=""))
            case TurnFinished(outcome):
                emit(TurnFinished(replace(outcome, answer="")))
            case _:
                emit(event)

    return emit_silently


class Changes(TypedDict, total=False):
    """Of a message that waits."""

    text: str
    mode: Mode
    errand: Errand | None
    """What the text means."""
    context: tuple[str, ...]
    sent: tuple[SentContext, ...]
    items: tuple[ContextItem, ...]
    attached: tuple[Attachment, ...]


def clean_prompt(text: str) -> str:
    """The prompt as it can be sent and stored, or why it cannot."""
    if len(text) > MAX_PROMPT_CHARS:
        raise RequestError(
            f"the prompt has {len(text):,} characters, at most {MAX_PROMPT_CHARS:,} are taken; "
            "put the text into a file of the workspace and mention the file"
        )
    text = text.replace("\0", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if not text.strip():
        raise EmptyPrompt
    return text


@dataclass(frozen=True, slots=True)
class Remark:
    """Said in the middle of a turn."""

    text: str
    context: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", clean_prompt(self.text))


class Helpers(Protocol):
    """Those that nobody waits for."""

    async def reports(self, *, of_all: bool) -> list[str]:
        """What has come since; `of_all`: also of those that are still at work."""
        ...

    async def close(self) -> None:
        """End those that are at work."""
        ...


@dataclass(slots=True)
class Progress:
    """Filled while the turn runs, so that an interrupted one can still tell what it did."""

    message: UserMessage
    session_id: str
    owner: "Progress | None" = None
    """Of a helper: the turn on whose account it works."""
    answer: str = ""
    plan: str | None = None
    usage: Usage = field(default_factory=Usage)
    records: list[ToolRecord] = field(default_factory=list[ToolRecord])
    steps: int = 0
    retries: int = 0
    model_seconds: float = 0.0
    began: float = field(default_factory=time.monotonic)
    unheard: list["Remark"] = field(default_factory=list["Remark"])
    """What the user has said since the turn began; the model hears of it at its next step."""
    review: TurnReview = field(init=False)
    problems: TurnProblems = field(default_factory=TurnProblems)
    """Of the workspace, before its edits and after them."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """What it leaves that was not wrong before."""
    decided: Sequence[Proposal] = ()
    """Of a turn that goes on: what it had waited for."""
    is_taken_up: bool = False
    """It was cut off before, and goes on."""
    is_suspended: bool = False
    """Odin ends while the turn waits for a review: it goes on when that has been made."""
    compacted: tuple[int, int] = (0, 0)
    """Tokens of the conversation before and after the turn has made it shorter."""
    updates: list[str] = field(default_factory=list[str])
    """Live progress in words, for `odin.state`; emptied when the turn ends."""

    def spend(self, usage: Usage) -> None:
        self.usage = self.usage.plus(usage)
        if self.owner is not None:
            self.owner.spend(usage.besides)

    def try_again(self, most: int, why: str) -> None:
        """A request of the turn, or of one of its helpers, is to be made again; `ModelError` if that is enough."""
        account = self.owner or self
        account.retries += 1
        if most and account.retries > most:
            raise ModelError(f"{why} (and {most} requests of this turn were made again before)")

    @property
    def cost_usd(self) -> float:
        """Of the whole turn, with all its helpers."""
        return self.owner.cost_usd if self.owner else self.usage.cost_usd

    def outcome(
        self,
        reason: ExitReason,
        todos: tuple[Todo, ...],
        detail: str | None = None,
        problem: Problem | None = None,
    ) -> Outcome:
        return Outcome(
            turn_id=self.message.turn_id,
            session_id=self.session_id,
            mode=self.message.mode,
            reason=reason,
            answer=self.answer,
            detail=detail,
            problem=problem,
            plan=self.plan,
            todos=todos,
            tools=tuple(self.records),
            receipts=tuple(self.review.receipts),
            diagnostics=self.diagnostics,
            usage=self.usage,
            duration_ms=max(1, round((time.monotonic() - self.began) * 1000)),
            model_ms=round(self.model_seconds * 1000),
            steps=self.steps,
        )


@dataclass(slots=True, eq=False)
class Turn:
    """A turn that waits or runs."""

    progress: Progress
    _send: Emit
    may_begin: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[Outcome] = field(init=False)
    _begun: bool = False
    model: str = ""
    """The one that it has begun with."""
    then_next: bool = False
    """If it is cancelled: the queue goes on all the same."""
    _started: bool = False
    _cancelled: bool = False
    _untold: list[Event] = field(default_factory=list[Event])
    """What has happened since it may begin, until its start is told."""

    def __post_init__(self) -> None:
        if not self.progress.message.options.shows_answer:
            self._send = _without_words(self._send)

    @property
    def id(self) -> str:
        return self.progress.message.turn_id

    def emit(self, event: Event) -> None:
        """Tell of it; of a turn that begins the start comes first."""
        if self.may_begin.is_set() and not self._started:
            self._untold.append(event)
        else:
            self._send(event)

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled

    def cancel(self) -> bool:
        """End it; false if it has ended. A task that is cancelled before its first step would run none of its code."""
        self._cancelled = True
        return self.task.cancel() if self._begun else not self.task.done()

    def start(self, model: str = "") -> None:
        """Tell of it once, if its time has come. One that has failed before it had a model has begun, too."""
        if self.may_begin.is_set() and not self._started:
            self._started, self.model = True, model
            said = self.progress.message
            self._send(TurnStarted(said.mode, model, said.text, tuple(map(described, said.attached)), said.sent))
            for event in self._untold:
                self._send(event)

    async def may_run(self) -> None:
        """Wait for its place in the queue."""
        self._begun = True
        if self._cancelled:
            raise asyncio.CancelledError
        await self.may_begin.wait()

    async def outcome(self) -> Outcome:
        """How the turn ended. Cancelling this wait does not cancel the turn."""
        return await asyncio.shield(self.task)
