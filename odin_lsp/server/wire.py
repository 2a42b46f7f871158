"""Odin's own messages: what editors send and get. `docs/protocol.md` is made from it."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field

from odin_lsp.agent.plans import StepStatus
from odin_lsp.modes import Mode
from odin_lsp.ports import Receipt, Review
from odin_lsp.records import ContextItem, KeptFile, QueuedMessage, TurnOptions
from odin_lsp.server.attachments import ImageItem
from odin_lsp.sessions.listing import SessionSummary
from odin_lsp.values import Value


@dataclass(frozen=True, slots=True)
class InitParams(Value):
    """`odin.init`: a turn that writes the project's ODIN.md."""

    turn_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageParams(Value):
    """`odin.ask`, `odin.plan`, `odin.edit`: a turn. The answer is its `Outcome`."""

    text: str
    typed: bool = True
    """False: some of the text is of files, such as a comment. What that mentions outside of the workspace is asked
    about."""
    turn_id: str | None = None
    """Minted by the client, because events come before the answer; without it the server mints one."""
    session_id: str | None = None
    """Without it: the current session."""
    context: tuple[ContextItem, ...] = ()
    images: tuple[ImageItem, ...] = ()
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    """Without it: as in the settings."""
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    """What the model may write in one step; without it: as in the settings."""
    options: TurnOptions = field(default_factory=TurnOptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutePlanParams(Value):
    """`odin.executePlan`: a turn in Edit mode that carries out a plan's open steps. The answer is its `Outcome`."""

    uri: str
    """The plan's document."""
    steps: tuple[int, ...] | None = None
    """Counted from 1; without it: all that are open."""
    turn_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkStepParams(Value):
    """`odin.plan.mark`: tick a step, skip it, or open it again."""

    uri: str
    step: int
    """Counted from 1."""
    status: StepStatus


@dataclass(frozen=True, slots=True)
class PlanStep(Value):
    title: str
    status: StepStatus


@dataclass(frozen=True, slots=True)
class PlanSteps(Value):
    steps: tuple[PlanStep, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusePlanParams(Value):
    """`odin.plan.refuse`: plan on. The answer is the turn's `Outcome`, or `Cancelled` if the user gave no reason. A
    client that does not answer `odin/question` gets a document to write in, and the answer is `{uri}`; `odin.send`
    sends it."""

    uri: str
    reason: str | None = None
    """What is wrong with it; without it the user is asked."""
    turn_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginParams(Value):
    """`odin.begin`: begin a turn, or something else that waits for the editor, and answer at once. For editors that
    stand still until a command is answered; they see the outcome, and review, as every plain editor does."""

    command: (
        Literal["odin.ask", "odin.plan", "odin.edit", "odin.prompt", "odin.send"]
        | Literal["odin.executePlan", "odin.plan.refuse", "odin.undoTurn", "odin.provenance.open"]
    )
    argument: dict[str, Any]
    """What that command takes."""


@dataclass(frozen=True, slots=True)
class Begun(Value):
    begun: bool


@dataclass(frozen=True, slots=True)
class CancelParams(Value):
    """`odin.cancel`"""

    turn_id: str | None = None
    """Without it: the running turn."""
    agent_id: str | None = None
    """With it: only this subagent of the turn."""
    only: Literal["compaction"] | None = None
    """With it: not the turn, but the summary that is written to make its conversation shorter."""
    drop: bool = False
    """Changes of the turn that wait for a review are rejected; else they go on waiting."""
    queue: Literal["keep", "next", "return"] = "keep"
    """What becomes of the messages behind it: they wait until the next message has been answered, or `odin.queue` says
    `resume`; they go on with the next; or they are given back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SteerParams(Value):
    """`odin.steer`: say something into the running turn. The model hears of it at its next step: `userSpoke`."""

    text: str
    turn_id: str | None = None
    """Without it: the running turn."""
    agent_id: str | None = None
    """With it: to this subagent of the turn."""
    context: tuple[ContextItem, ...] = ()


@dataclass(frozen=True, slots=True)
class Steered(Value):
    taken: bool
    """False if no such turn runs: nobody has heard it."""


@dataclass(frozen=True, slots=True)
class Cancelled(Value):
    cancelled: bool
    returned: tuple[QueuedMessage, ...] | None = None
    """With `queue: return`: what was queued, and is not any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueParams(Value):
    """`odin.queue`: see or change what waits for the running turn; `resume`: begin with it, after a turn was
    cancelled."""

    action: Literal["list", "edit", "remove", "clear", "resume"]
    turn_id: str | None = None
    """One that waits, in any session; without it: the queue of the current session."""
    text: str | None = None
    """Here and below: without it, as it is."""
    mode: Mode | None = None
    context: tuple[ContextItem, ...] | None = None
    images: tuple[ImageItem, ...] | None = None


@dataclass(frozen=True, slots=True)
class Queue(Value):
    queue: tuple[QueuedMessage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptParams(Value):
    """`odin.review.accept`: what is named, or all that is pending."""

    proposal_id: str | None = None
    hunk_ids: tuple[str, ...] | None = None
    uri: str | None = None
    texts: dict[str, str] | None = None
    """By hunk: what takes the place of its `newText`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectParams(Value):
    """`odin.review.reject`"""

    proposal_id: str | None = None
    hunk_ids: tuple[str, ...] | None = None
    uri: str | None = None
    reason: str | None = None
    """For the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReopenParams(Value):
    """`odin.review.reopen`: what is named, or all that is decided, waits again, and the text is as before.

    What somebody has typed into since stays; its receipt says so."""

    proposal_id: str | None = None
    hunk_ids: tuple[str, ...] | None = None
    uri: str | None = None


@dataclass(frozen=True, slots=True)
class ReviewListParams(Value):
    """`odin.review.list`"""


@dataclass(frozen=True, slots=True)
class Receipts(Value):
    receipts: tuple[Receipt, ...]


@dataclass(frozen=True, slots=True)
class Proposals(Value):
    proposals: tuple[Review, ...]


@dataclass(frozen=True, slots=True)
class UndoParams(Value):
    """`odin.undoTurn`"""

    turn_id: str | None = None
    """Without it: the last turn that changed something and is not undone. With an `undoId`: bring back what that undo
    has reverted."""
    uri: str | None = None
    """Only this file."""
    hunk_ids: tuple[str, ...] | None = None
    """Only these changes, by their ids in the reviews."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptParams(Value):
    """`odin.prompt`: ask the user what to do with the context, then take that turn. The answer is its `Outcome`, or
    `Cancelled` if the user said nothing. A client that does not answer `odin/question` gets a document to write in,
    and the answer is `{uri}`; `odin.send` sends it."""

    mode: Literal["ask", "plan", "edit"]
    context: tuple[ContextItem, ...] = ()
    turn_id: str | None = None


@dataclass(frozen=True, slots=True)
class Saved(Value):
    """The answer to `odin/save`."""

    saved: tuple[str, ...]
    failed: tuple[KeptFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Undone(Value):
    restored: tuple[str, ...]
    """Files that were changed. One that is also in `kept` has only some of its changes reverted."""
    kept: tuple[KeptFile, ...]
    undo_id: str | None = None
    """The `turnId` that undoes this undo; without it, nothing was changed, or it could not be stored."""


@dataclass(frozen=True, slots=True)
class NewSessionParams(Value):
    """`odin.session.new`: what is said next begins a new conversation."""

    title: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSessionsParams(Value):
    """`odin.session.list`: the newest first."""

    query: str | None = None
    """Only those in which this was asked or answered."""
    limit: int = 100


@dataclass(frozen=True, slots=True)
class ResumeSessionParams(Value):
    """`odin.session.resume`: go on with a session. If another Odin has it open, the answer is a fork of it."""

    session_id: str | None = None
    """Without it: the last one of the workspace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEventsParams(Value):
    """`odin.session.events`: what has happened in a session, as `odin/event` told it; what passes is left out, and of
    reviews the texts. Whoever folds it sees what those saw who were there."""

    session_id: str | None = None
    """Without it: the current session."""
    before: int | None = None
    """As the page after it says; without it: the last ones."""
    limit: int = 500
    """At least so many, if there are; a page begins where a turn does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkSessionParams(Value):
    """`odin.session.fork`: go on with a copy."""

    session_id: str | None = None
    """Without it: the current session."""
    message: int | None = None
    """Only what comes before this message of the user is copied (the first is 0); the message comes back as `draft`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameSessionParams(Value):
    """`odin.session.rename`"""

    title: str
    session_id: str | None = None
    """Without it: the current session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSessionParams(Value):
    """`odin.session.export`: the whole session as one file that loads nothing from elsewhere."""

    session_id: str | None = None
    """Without it: the current session."""
    format: Literal["markdown", "html", "json"] = "markdown"
    path: str | None = None
    """A file that does not exist yet, in the workspace if it is relative. Without it: a file beside the session's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSessionParams(Value):
    """`odin.session.delete`: for good."""

    session_id: str
    confirm: bool = False
    """The user wants it: nothing is deleted without."""


@dataclass(frozen=True, slots=True)
class Sessions(Value):
    sessions: tuple[SessionSummary, ...]


@dataclass(frozen=True, slots=True)
class Exported(Value):
    session_id: str
    uri: str


@dataclass(frozen=True, slots=True)
class Deleted(Value):
    session_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextParams(Value):
    """`odin.context`: what would be sent to the model, word for word, and what it would cost. Nothing is sent, unless
    the provider is to count it."""

    text: str = ""
    """What the user would say."""
    mode: Mode | None = None
    """Without it: that of the last turn."""
    session_id: str | None = None
    """Without it: the current session."""
    exact: bool = False
    """Have the provider count the tokens, which takes seconds and no model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCallParams(Value):
    """`odin.agent.call`: a call of an agent of others, as a turn: it passes the same rules as Odin's own. All that it
    would change is reviewed, whatever the settings say. `$/cancelRequest` gives it up, with what waits for a review."""

    agent: str
    """Its name, which stands beside its changes."""
    tool: str
    arguments: dict[str, Any]
    conversation: str = ""
    """The agent's own name for its conversation: calls with the same are one session, also over several connections.
    Without it: those of one connection."""
    turn_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentImage(Value):
    media_type: str
    data: str
    """Base64."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCalled(Value):
    session_id: str
    turn_id: str
    text: str
    """For the agent: what it wanted to know, or what became of each of its changes."""
    failed: bool
    images: tuple[AgentImage, ...] = ()
