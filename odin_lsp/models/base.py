"""What Odin asks of a language model and what it may answer."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from odin_lsp.config.schema import PlatformSettings
from odin_lsp.loop_share import has_more_values
from odin_lsp.messages import Message, ToolCall
from odin_lsp.records import ModelStatus, RateLimit, Usage
from odin_lsp.values import is_object

if TYPE_CHECKING:
    from odin_lsp.models.key_helper import KeyHelper

StopReason = Literal[
    "end",  # it has said what it wanted to say
    "tools",  # it waits for the results of its calls
    "max_tokens",  # cut off: nothing of an unfinished call may run
    "refused",  # by the model or the provider's filter
    "paused",  # the provider wants the message back, unchanged, to go on
    "context_full",
    "malformed",  # the provider could not read the model's call
    "unknown",
]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """Stable parts first, so that providers can cache the prefix: tools, system, messages (append-only)."""

    system: tuple[str, ...]
    """Of several blocks the last one is the mode's own."""
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int = 8192
    temperature: float | None = None
    may_call: bool = True
    """False: the tools are listed, to keep the prefix, but must not be called."""
    shared_tools: int = 0
    """So many of the tools, the first ones, are listed in every mode."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ArgumentsDelta:
    """A piece of a call's JSON, for people to watch. Nothing acts on it."""

    call_id: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class CallReady:
    """A call whose own block is complete, while the stream still runs: good for speculation, no more."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class Reply:
    """The complete answer. Only what stands here has been said, and calls count only if `stop` is `tools`."""

    message: Message
    stop: StopReason
    usage: Usage = field(default_factory=Usage)
    detail: str = ""
    """For people: why it was refused, which unknown reason the provider gave."""


@dataclass(frozen=True, slots=True)
class Reached:
    """How far the request has come. `resilience` tells of the way there, a provider that the answer begins."""

    activity: Literal["connecting", "waiting_headers", "waiting_token"]
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Received:
    """What has come of the answer so far, whatever it was."""

    size: int
    """Bytes of the data of all events."""
    events: int


@dataclass(frozen=True, slots=True)
class Attempt:
    """The stream starts again from nothing: what was streamed since the last `Reply` does not count.
    `resilience` sends it; providers do not."""

    running: str
    """`provider/model[@effort]` that is tried now."""
    reason: str
    wait: float
    activity: Literal["retrying", "retrying_key", "cooling"]
    number: int = 1
    """Of this attempt, counted from 1."""
    most: int = 1


@dataclass(frozen=True, slots=True)
class Limited:
    """What is left to the key that was used. `resilience` makes a `Status` of it."""

    rate_limit: RateLimit


@dataclass(frozen=True, slots=True)
class Status:
    """Something about the keys has changed. `resilience` sends it; providers do not."""

    status: ModelStatus


Spoken = TextDelta | ThinkingDelta | ArgumentsDelta | CallReady | Reply
StreamEvent = Spoken | Reached | Received | Attempt | Limited | Status


class Model(Protocol):
    @property
    def ref(self) -> str:
        """`provider/model[@effort]`."""
        ...

    def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        """The answer as it comes; the last event is the `Reply`. A stream that ends without one raises
        `ModelUnavailable`. Closing the iterator closes the connection."""
        ...

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Network:
    proxy: str | None = None
    ca_bundle: str | None = None
    client_certificate: str | None = None
    client_key: str | None = None
    timeout: float = 600.0
    """Seconds for each step of a request; silence within a stream is bounded by `resilience`."""


@dataclass(frozen=True, slots=True)
class Connection:
    """How to reach a provider. What is `None` is left to the environment variables of its SDK."""

    key: str | None = None
    network: Network = field(default_factory=Network)
    key_place: str = ""
    """Where the user can change the key, if that is known: the name of a variable, or words."""
    platforms: PlatformSettings = field(default_factory=PlatformSettings)
    """Where the platforms are, and as whom they are asked."""
    helper: "KeyHelper | None" = None
    """Prints the key, in place of `key`."""


def parse_arguments(raw: str) -> tuple[Mapping[str, Any], str | None]:
    """A call's arguments, or why they are none. Strict: half a JSON text that happens to parse is another,
    runnable call."""

    def refuse_constant(name: str) -> Any:
        raise ValueError(f"{name} is not JSON")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs):
            raise ValueError("a key occurs twice")
        return result

    if has_more_values(raw):
        return {}, "the arguments have too many values; split the call"
    try:
        value = json.loads(raw or "{}", parse_constant=refuse_constant, object_pairs_hook=unique)
        json.dumps(value, ensure_ascii=False).encode()  # lone surrogates: no later request could be sent
    except (ValueError, RecursionError) as error:
        return {}, f"the arguments are not valid JSON ({error})"
    if not is_object(value):
        return {}, "the arguments are not a JSON object"
    return value, None
