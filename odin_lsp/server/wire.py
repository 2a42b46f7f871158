"""Odin's own messages: what editors send and get. `docs/protocol.md` is made from it."""

from dataclasses import dataclass
from typing import Literal

from odin_lsp.agent.context import ContextItem
from odin_lsp.agent.turn import QueuedMessage
from odin_lsp.modes import Mode
from odin_lsp.ports import Receipt, Review
from odin_lsp.values import Value


@dataclass(frozen=True, slots=True)
class ImageItem(Value):
    media_type: Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
    data: str
    """Base64."""


@dataclass(frozen=True, slots=True)
class InitParams(Value):
    """`odin.init`: a turn that writes the project's ODIN.md."""

    turn_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageParams(Value):
    """`odin.ask`, `odin.plan`, `odin.edit`: a turn. The answer is its `Outcome`."""

    text: str
    turn_id: str | None = None
    """Minted by the client, because events come before the answer; without it the server mints one."""
    session_id: str | None = None
    """Without it: the current session."""
    context: tuple[ContextItem, ...] = ()
    images: tuple[ImageItem, ...] = ()


@dataclass(frozen=True, slots=True)
class CancelParams(Value):
    """`odin.cancel`"""

    turn_id: str | None = None
    """Without it: the running turn."""
    agent_id: str | None = None
    """With it: only this helper of the turn."""


@dataclass(frozen=True, slots=True)
class Cancelled(Value):
    cancelled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueParams(Value):
    """`odin.queue`"""

    action: Literal["list", "edit", "remove", "clear"]
    turn_id: str | None = None
    text: str | None = None
    mode: Mode | None = None


@dataclass(frozen=True, slots=True)
class Queue(Value):
    queue: tuple[QueuedMessage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelParams(Value):
    """`odin.model`: choose models, or see which are chosen."""

    model: str | None = None
    small_model: str | None = None


@dataclass(frozen=True, slots=True)
class ModelState(Value):
    model: str
    small_model: str
    running: str


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
    """Without it: the last turn that changed something."""


@dataclass(frozen=True, slots=True)
class KeptFile(Value):
    uri: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptParams(Value):
    """`odin.prompt`: ask the user what to do with the context, then take that turn. The answer is its `Outcome`, or
    `Cancelled` if the user said nothing."""

    mode: Literal["plan", "edit"]
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
    kept: tuple[KeptFile, ...]


@dataclass(frozen=True, slots=True)
class TrustParams(Value):
    """`odin.trust`: whether the workspace's own settings may do more than restrict, as they are now."""

    decision: Literal["trust", "restrict"]


@dataclass(frozen=True, slots=True)
class Trusted(Value):
    trusted: bool


@dataclass(frozen=True, slots=True)
class StateParams(Value):
    """`odin.state`"""
