"""What happens to sessions, to what waits in them, and to trust. `odin_lsp.events` has all events."""

from dataclasses import dataclass
from typing import Literal

from odin_lsp.modes import Mode
from odin_lsp.records import Attached, SentContext
from odin_lsp.values import Value

Switch = Literal["new", "resume", "fork"]
"""How one comes to another session."""


@dataclass(frozen=True, slots=True)
class TurnEdited(Value):
    """A message that waits was changed: this is what it says now."""

    mode: Mode
    text: str
    attached: tuple[Attached, ...] = ()
    context: tuple[SentContext, ...] = ()
    kind: Literal["turnEdited"] = "turnEdited"


@dataclass(frozen=True, slots=True)
class TrustChanged(Value):
    """The user trusts the first folder now, or does no longer."""

    trusted: bool
    kind: Literal["trustChanged"] = "trustChanged"


@dataclass(frozen=True, slots=True)
class SessionBegun(Value):
    """Somebody wants a new session (`odin.session.new`)."""

    session_id: str
    title: str
    how: Switch = "new"
    kind: Literal["sessionBegun"] = "sessionBegun"


@dataclass(frozen=True, slots=True)
class SessionSwitchStarted(Value):
    """Another session is wanted, and read if it is stored; `sessionRestored` follows, unless it cannot be."""

    session_id: str
    how: Switch = "resume"
    kind: Literal["sessionSwitchStarted"] = "sessionSwitchStarted"


@dataclass(frozen=True, slots=True)
class SessionRestored(Value):
    """The session that is current now; another one than was asked for, if that is open in another Odin."""

    session_id: str
    title: str
    messages: int
    how: Switch = "resume"
    """`new`: it was cleared."""
    kind: Literal["sessionRestored"] = "sessionRestored"


@dataclass(frozen=True, slots=True)
class SessionRenamed(Value):
    title: str
    kind: Literal["sessionRenamed"] = "sessionRenamed"
