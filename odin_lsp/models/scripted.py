"""Plays replies from a file: for tests, demos and bug reports."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from odin_lsp.errors import ContextTooLong, KeyRejected, ModelError, ModelUnavailable
from odin_lsp.messages import Message, Part, Text, Thinking, ToolCall
from odin_lsp.models.base import (
    CallReady,
    Connection,
    Reply,
    Request,
    StopReason,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
)
from odin_lsp.models.reference import ModelRef
from odin_lsp.records import Usage
from odin_lsp.values import Value, adapter, problem


def connect(ref: ModelRef, _connection: Connection) -> "ScriptedModel":
    """Its name is the path of the script."""
    return ScriptedModel(ref.name, _load(Path(ref.name)))


AT_ONCE = 100
"""Pieces of an answer, until others have their turn."""


@dataclass(frozen=True, slots=True)
class ScriptedCall(Value):
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Failure(Value):
    kind: Literal["unavailable", "failed", "key", "context"]
    message: str


@dataclass(frozen=True, slots=True)
class Condition(Value):
    contains: str


@dataclass(frozen=True, slots=True)
class ScriptedReply(Value):
    thinking: str = ""
    text: str | tuple[str, ...] = ""
    """A list is streamed chunk by chunk."""
    calls: tuple[ScriptedCall, ...] = ()
    stop: StopReason | None = None
    usage: Usage = field(default_factory=Usage)
    error: str | Failure | None = None
    """Raised instead of the reply; a mere text is a passing fault."""
    delay_ms: Annotated[int, Field(ge=0)] = 0
    when: Condition | None = None
    """The reply waits for a request whose last user text meets this."""

    @property
    def chunks(self) -> tuple[str, ...]:
        chunks = (self.text,) if isinstance(self.text, str) else self.text
        return tuple(chunk for chunk in chunks if chunk)


@dataclass(frozen=True, slots=True)
class Script(Value):
    replies: tuple[ScriptedReply, ...]


class ScriptedModel:
    def __init__(self, name: str, script: Script) -> None:
        self._ref = f"scripted/{name}"
        self._left = list(script.replies)
        taken = {call.id for reply in script.replies for call in reply.calls}
        self._ids = (name for number in count(1) if (name := f"call_{number}") not in taken)

    @property
    def ref(self) -> str:
        return self._ref

    async def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        reply = self._next(request)
        await asyncio.sleep(reply.delay_ms / 1000)
        if reply.error is not None:
            raise _exception(reply.error)
        parts: list[Part] = []
        if reply.thinking:
            yield ThinkingDelta(reply.thinking)
            parts.append(Thinking(reply.thinking))
        for number, chunk in enumerate(reply.chunks, 1):
            yield TextDelta(chunk)
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)
        if reply.chunks:
            parts.append(Text("".join(reply.chunks)))
        for scripted in reply.calls:
            call = ToolCall(scripted.id or next(self._ids), scripted.name, scripted.arguments)
            yield CallReady(call)
            parts.append(call)
        stop = reply.stop or ("tools" if reply.calls else "end")
        yield Reply(Message("assistant", tuple(parts), origin=self.ref), stop, reply.usage)

    async def aclose(self) -> None:
        """Nothing is open."""

    def _next(self, request: Request) -> ScriptedReply:
        prompt = _last_user_text(request)
        for index, reply in enumerate(self._left):
            if reply.when is None or reply.when.contains in prompt:
                return self._left.pop(index)
        raise ModelError("the script has no further reply")


def _last_user_text(request: Request) -> str:
    """The prompt: notes that travel along with tool results do not count."""
    return next(
        (
            message.text
            for message in reversed(request.messages)
            if message.role == "user" and message.text and not message.results
        ),
        "",
    )


def _exception(error: str | Failure) -> ModelError:
    failure = Failure("unavailable", error) if isinstance(error, str) else error
    match failure.kind:
        case "unavailable":
            return ModelUnavailable(failure.message)
        case "failed":
            return ModelError(failure.message)
        case "key":
            return KeyRejected(failure.message)
        case "context":
            return ContextTooLong(failure.message)


def _load(path: Path) -> Script:
    try:
        return adapter(Script).validate_json(path.read_bytes())
    except OSError as error:
        raise ModelError(f"the script {path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        problems = "; ".join(problem(item) for item in error.errors())
        raise ModelError(f"the script {path} is not valid: {problems}") from None
