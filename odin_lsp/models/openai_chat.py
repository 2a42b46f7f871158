"""Chat Completions: what the many servers speak that are compatible with OpenAI's."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from odin_lsp.messages import Document, Image, Message, Part, Text, Thinking, ToolCall
from odin_lsp.models import catalog
from odin_lsp.models.base import (
    ArgumentsDelta,
    CallReady,
    Reply,
    Request,
    StopReason,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolSpec,
)
from odin_lsp.models.encoding import Head, Kept, encode, encode_all, with_list
from odin_lsp.models.line import Line
from odin_lsp.models.openai_faults import fault
from odin_lsp.models.service import Service, count, join, mapping, string, tool_call
from odin_lsp.records import Usage

PATH = "/chat/completions"
STOPS: Mapping[str, StopReason] = {
    "stop": "end",
    "tool_calls": "tools",
    "function_call": "tools",
    "length": "max_tokens",
    "content_filter": "refused",
}


class ChatModel:
    def __init__(self, line: Line) -> None:
        self._line = line
        self._service = line.service
        self._head = Head(self._fields)
        self._messages = Kept(_encoded)

    @property
    def ref(self) -> str:
        return str(self._service.ref)

    def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        return self._line.talk(lambda: self._line.post(PATH, self._body(request)), _Answer(self._service))

    async def aclose(self) -> None:
        await self._line.aclose()

    def _body(self, request: Request) -> bytes:
        sent = [_system(request.system), *map(self._messages.of, request.messages)]
        return with_list(self._head.of(request), "messages", filter(None, sent))

    def _fields(self, request: Request) -> dict[str, Any]:
        entry, effort = catalog.find(self.ref), self._service.ref.effort
        fields: dict[str, Any] = {
            "model": self._service.model,
            "max_tokens": min(request.max_tokens, entry.max_output),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if not entry.thinking and request.temperature is not None:
            fields["temperature"] = request.temperature
        if effort:
            fields["reasoning_effort"] = effort
        if request.tools:
            fields["tools"] = [_tool(spec) for spec in request.tools]
            if not request.may_call:
                fields["tool_choice"] = "none"
        return fields


class _Answer:
    """An answer in the making. A call has no end of its own: the next one ends it, or the finish."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._thinking: list[str] = []
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._open: _Call | None = None
        self._calls: list[ToolCall] = []
        self._usage: Mapping[str, Any] = {}
        self._reason = ""
        self._complete = False

    def take(self, data: str) -> Iterator[StreamEvent]:
        if data.startswith("[DONE]"):
            self._complete = True
            return
        match json.loads(data):
            case {"error": error} if error:
                raise fault(self._service, 200, error, {})
            case {"choices": [{**choice}, *_], **rest}:
                yield from self._take_delta(mapping(choice, "delta"))
                if reason := choice.get("finish_reason"):
                    self._reason = str(reason)
                    yield from self._end_call()
                self._usage = mapping(rest, "usage") or self._usage
            case {"usage": {**usage}}:
                self._usage = usage
            case _:
                pass

    def reply(self) -> Reply:
        if not self._complete:
            raise self._service.cut_off("it has no end")
        parts: list[Part] = []
        if self._thinking:
            parts.append(Thinking(join(self._thinking)))
        if self._text:
            parts.append(Text(join(self._text)))
        return self._service.reply([*parts, *self._calls], self._stop(), _usage(self._usage), self._detail())

    def _take_delta(self, delta: Mapping[str, Any]) -> Iterator[StreamEvent]:
        if thought := string(delta, "reasoning_content") or string(delta, "reasoning"):
            self._thinking.append(thought)
            yield ThinkingDelta(thought)
        if text := string(delta, "content"):
            self._text.append(text)
            yield TextDelta(text)
        self._refusal.append(string(delta, "refusal"))
        for call in delta.get("tool_calls") or ():
            yield from self._take_call(call)

    def _take_call(self, delta: Mapping[str, Any]) -> Iterator[StreamEvent]:
        index, call_id, function = delta.get("index"), string(delta, "id"), mapping(delta, "function")
        if not self._open or self._open.index != index or call_id not in ("", self._open.id):
            yield from self._end_call()
            self._open = _Call(index, call_id, string(function, "name"))
            if not self._open.name:
                raise self._service.cut_off("its calls are out of order")
        self._open.pieces.append(piece := string(function, "arguments"))
        if self._open.id and piece:
            yield ArgumentsDelta(self._open.id, self._open.name, piece)

    def _end_call(self) -> Iterator[StreamEvent]:
        if not self._open:
            return
        call = tool_call(self._open.id, self._open.name, join(self._open.pieces))
        self._open = None
        self._calls.append(call)
        if not call.problem:
            yield CallReady(call)

    def _stop(self) -> StopReason:
        if any(self._refusal):
            return "refused"
        if self._reason == "stop" and self._calls:
            # Several servers say so although they wait for the results.
            return "tools" if any(not call.problem for call in self._calls) else "malformed"
        return STOPS.get(self._reason, "unknown")

    def _detail(self) -> str:
        if self._reason not in STOPS:
            return f"finish reason {self._reason or 'missing'}"
        return join(self._refusal)


@dataclass(slots=True)
class _Call:
    index: object
    id: str
    name: str
    pieces: list[str] = field(default_factory=list[str])


def _usage(usage: Mapping[str, Any]) -> Usage:
    prompt = count(usage.get("prompt_tokens"))
    read = count(mapping(usage, "prompt_tokens_details").get("cached_tokens"))
    return Usage(
        input_tokens=prompt - read,
        output_tokens=count(usage.get("completion_tokens")),
        cache_read_tokens=read,
        context_tokens=prompt,
    )


def _system(texts: Sequence[str]) -> bytes:
    system = "\n\n".join(filter(str.strip, texts))
    return encode({"role": "system", "content": system}) if system else b""


def _encoded(message: Message) -> bytes:
    return encode_all(_from_user(message) if message.role == "user" else _from_assistant(message))


def _from_user(message: Message) -> Iterator[dict[str, Any]]:
    """Results go first, each a message of its own: they must follow their calls at once. They are texts, so what they
    show comes behind them."""
    for result in message.results:
        yield {"role": "tool", "tool_call_id": result.call_id, "content": result.content}
    attached = [it for result in message.results for it in result.attached]
    content = [shown for part in (*attached, *message.parts) if (shown := _content(part))]
    if content:
        yield {"role": "user", "content": content}


def _from_assistant(message: Message) -> Iterator[dict[str, Any]]:
    text = message.text if message.text.strip() else None
    calls = [_call(call) for call in message.calls]
    if calls:
        yield {"role": "assistant", "content": text, "tool_calls": calls}
    elif text:
        yield {"role": "assistant", "content": text}


def _content(part: Part) -> dict[str, Any] | None:
    match part:
        case Text(text):
            return {"type": "text", "text": text} if text.strip() else None
        case Image(media_type, data):
            return {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{data}"}}
        case Document(data, name, _, media_type):
            file_data = f"data:{media_type};base64,{data}"
            return {"type": "file", "file": {"filename": name or "document.pdf", "file_data": file_data}}
        case _:
            return None


def _call(call: ToolCall) -> dict[str, Any]:
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
    return {"type": "function", "id": call.id, "function": {"name": call.name, "arguments": arguments}}


def _tool(spec: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": spec.name, "description": spec.description, "parameters": dict(spec.schema)},
    }
