"""What happens to a request to the model and to its reply. `odin_lsp.events` has all events."""

from dataclasses import dataclass
from typing import Literal

from odin_lsp.values import Value


@dataclass(frozen=True, slots=True)
class RequestStarted(Value):
    """A request to the model begins; `requestProgress` counts from zero again."""

    step: int
    """Of the turn, or of the subagent, counted from 1."""
    attempt: int
    """Of the step, counted from 1."""
    kind: Literal["requestStarted"] = "requestStarted"


@dataclass(frozen=True, slots=True)
class RequestProgress(Value):
    """What has come of the answer since `requestStarted`, also if it is nothing that is shown; a few times a second,
    and at the end."""

    bytes: int
    events: int
    """Of the provider's stream."""
    kind: Literal["requestProgress"] = "requestProgress"


@dataclass(frozen=True, slots=True)
class TextStreamed(Value):
    text: str
    kind: Literal["textStreamed"] = "textStreamed"


@dataclass(frozen=True, slots=True)
class ThinkingStarted(Value):
    """The model thinks; `thinkingFinished` comes in any case. There can be several such blocks in one message."""

    kind: Literal["thinkingStarted"] = "thinkingStarted"


@dataclass(frozen=True, slots=True)
class ThinkingStreamed(Value):
    text: str
    kind: Literal["thinkingStreamed"] = "thinkingStreamed"


@dataclass(frozen=True, slots=True)
class ThinkingFinished(Value):
    elapsed_ms: int
    kind: Literal["thinkingFinished"] = "thinkingFinished"


@dataclass(frozen=True, slots=True)
class StreamRolledBack(Value):
    """Forget the text since the last `messageFinished`: the attempt failed and is made again."""

    kind: Literal["streamRolledBack"] = "streamRolledBack"


@dataclass(frozen=True, slots=True)
class MessageFinished(Value):
    """All of it: whatever was streamed of it before."""

    text: str
    tool_calls: int
    thinking: str = ""
    thinking_ms: int = 0
    """How long all of that took."""
    kind: Literal["messageFinished"] = "messageFinished"


@dataclass(frozen=True, slots=True)
class ArgumentsStreamed(Value):
    """A piece of the JSON of a call that the model is making, to be watched: nothing is done before the call is
    complete, and it may never be. `messageFinished` and `streamRolledBack` end it."""

    call_id: str
    name: str
    text: str
    kind: Literal["argumentsStreamed"] = "argumentsStreamed"
