"""OpenAI's Responses API, stateless: what the model thought goes back to it encrypted, and nothing is stored there."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import httpx2

from odin_lsp.errors import ModelError
from odin_lsp.messages import Document, Image, Message, Part, Text, Thinking, ToolCall, ToolResult
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
from odin_lsp.values import is_list, is_object

PATH = "/responses"
STOPS: Mapping[str, StopReason] = {
    "max_output_tokens": "max_tokens",
    "content_filter": "refused",
}
"""Why an answer is incomplete."""


class ResponsesModel:
    def __init__(self, line: Line) -> None:
        self._line = line
        self._service = line.service
        self._head = Head(self._fields)
        self._messages = Kept(lambda message: encode_all(_items(message, line.service.ref.model)))
        self._summary = {"summary": "auto"}

    @property
    def ref(self) -> str:
        return str(self._service.ref)

    def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        return self._line.talk(lambda: self._send(request), _Answer(self._service))

    async def aclose(self) -> None:
        await self._line.aclose()

    async def _send(self, request: Request) -> httpx2.Response:
        """Without a summary of what the model thinks if there is none: OpenAI must have verified who asks."""
        try:
            return await self._line.post(PATH, self._body(request))
        except ModelError as error:
            if not self._summary or error.status != 400 or "summar" not in str(error):
                raise
            self._summary, self._head = {}, Head(self._fields)
            return await self._line.post(PATH, self._body(request))

    def _body(self, request: Request) -> bytes:
        messages = [*filter(None, map(self._messages.of, request.messages))]
        # Of what begins a conversation, in any mode: its requests are led to where their prefix is cached.
        beginning = "".join(request.system[:-1] or request.system).encode(errors="replace") + b"".join(messages[:1])
        key = encode({"prompt_cache_key": sha256(beginning).hexdigest()[:32]})
        return with_list(self._head.of(request)[:-1] + b"," + key[1:], "input", messages)

    def _fields(self, request: Request) -> dict[str, Any]:
        entry, effort = catalog.find(self.ref), self._service.ref.effort
        fields: dict[str, Any] = {
            "model": self._service.model,
            "max_output_tokens": min(request.max_tokens, entry.max_output),
            "stream": True,
            "stream_options": {"include_obfuscation": False},
            "store": False,
        }
        if entry.thinking or effort:
            fields["reasoning"] = {**self._summary, **({"effort": effort} if effort else {})}
            fields["include"] = ["reasoning.encrypted_content"]
        elif request.temperature is not None:
            fields["temperature"] = request.temperature
        if instructions := _instructions(request):
            fields["instructions"] = instructions
        if request.tools:
            fields["tools"] = [_tool(spec) for spec in request.tools]
            if not request.may_call:
                fields["tool_choice"] = "none"
        return fields


@dataclass(slots=True)
class _Item:
    """What an answer is made of."""

    call_id: str = ""
    name: str = ""
    summaries: int = 0
    done: Mapping[str, Any] | None = None


class _Answer:
    """An answer in the making. What an item is, is said when it is done; until then there are pieces to show."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._items: dict[int, _Item] = {}
        self._calls: dict[int, ToolCall] = {}
        self._ending: Mapping[str, Any] | None = None

    def take(self, data: str) -> Iterator[StreamEvent]:
        event = json.loads(data)
        match event:
            case {"type": "response.output_item.added", "output_index": int(index), "item": {**item}}:
                if index in self._items:
                    raise self._service.cut_off("an item began twice")
                self._items[index] = _Item(string(item, "call_id"), string(item, "name"))
            case {"type": "response.output_item.done", "output_index": int(index), "item": {**item}}:
                self._open(index).done = item
                if item.get("type") == "function_call":
                    yield from self._end_call(index, item)
            case {"type": "response.output_text.delta", "output_index": int(index), "delta": str(text)}:
                self._open(index)
                yield TextDelta(text)
            case {"type": "response.reasoning_summary_part.added", "output_index": int(index)}:
                item = self._open(index)
                item.summaries += 1
                if item.summaries > 1:
                    yield ThinkingDelta("\n\n")
            case {
                "type": "response.reasoning_summary_text.delta" | "response.reasoning_text.delta",
                "output_index": int(index),
                "delta": str(text),
            }:
                self._open(index)
                yield ThinkingDelta(text)
            case {"type": "response.function_call_arguments.delta", "output_index": int(index), "delta": str(text)}:
                item = self._open(index)
                if item.call_id and text:
                    yield ArgumentsDelta(item.call_id, item.name, text)
            case {"type": "response.completed" | "response.incomplete", "response": {**response}}:
                self._ending = response
            case {"type": "response.failed", "response": {"error": error}} | {"type": "error", "error": error}:
                raise fault(self._service, 200, error, {})
            case {"type": "error"}:
                raise fault(self._service, 200, event, {})
            case _:
                pass  # something that is said again when its item is done, or that is newer than this

    def reply(self) -> Reply:
        if self._ending is None or not all(item.done for item in self._items.values()):
            raise self._service.cut_off("it has no end")
        parts: list[Part] = []
        refusals: list[str] = []
        for index, item in sorted(self._items.items()):
            done = item.done or {}
            match done.get("type"):
                case "message":
                    text = _texts(done, "content", "text")
                    refusals.append(_texts(done, "content", "refusal"))
                    parts += [Text(text, string(done, "phase") or None)] if text else []
                case "reasoning":
                    parts.append(_thinking(done))
                case "function_call":
                    parts.append(self._calls[index])
                case _:
                    pass
        reason = string(mapping(self._ending, "incomplete_details"), "reason")
        if any(refusals):
            return self._service.reply(parts, "refused", _usage(self._ending), join(refusals))
        stop = STOPS.get(reason, "unknown") if reason else "tools"
        detail = f"incomplete because of {reason}" if stop == "unknown" else ""
        return self._service.reply(parts, stop, _usage(self._ending), detail)

    def _open(self, index: int) -> _Item:
        item = self._items.get(index)
        if item is None or item.done:
            raise self._service.cut_off("its events are out of order")
        return item

    def _end_call(self, index: int, item: Mapping[str, Any]) -> Iterator[StreamEvent]:
        call = tool_call(string(item, "call_id"), string(item, "name"), join([string(item, "arguments")]))
        self._calls[index] = call
        if not call.problem:
            yield CallReady(call)


def _instructions(request: Request) -> str:
    return "\n\n".join(filter(str.strip, request.system))


def _texts(item: Mapping[str, Any], name: str, kind: str, between: str = "") -> str:
    """What stands as `kind` in the list of this name."""
    found = item.get(name)
    pieces = [string(it, kind) for it in found if is_object(it)] if is_list(found) else []
    return join([between.join(filter(None, pieces))])


def _thinking(item: Mapping[str, Any]) -> Thinking:
    text = _texts(item, "summary", "text", "\n\n") or _texts(item, "content", "text")
    return Thinking(text, item if item.get("encrypted_content") else {})


def _usage(response: Mapping[str, Any]) -> Usage:
    usage = mapping(response, "usage")
    prompt, details = count(usage.get("input_tokens")), mapping(usage, "input_tokens_details")
    read, written = count(details.get("cached_tokens")), count(details.get("cache_write_tokens"))
    return Usage(
        input_tokens=prompt - read - written,
        output_tokens=count(usage.get("output_tokens")),
        cache_read_tokens=read,
        cache_write_tokens=written,
        context_tokens=prompt,
    )


def _items(message: Message, ref: str) -> Iterator[Mapping[str, Any]]:
    if message.role == "user":
        yield from map(_result, message.results)
        if content := [shown for part in message.parts if (shown := _content(part))]:
            yield {"role": "user", "content": content}
    else:
        yield from _said(message, is_own=message.origin == ref)


def _said(message: Message, *, is_own: bool) -> Iterator[Mapping[str, Any]]:
    """What was thought goes before what came of it. OpenAI refuses thoughts of which nothing came."""
    thoughts: list[Mapping[str, Any]] = []
    for part in message.parts:
        match part:
            case Thinking(_, opaque) if is_own and opaque:
                thoughts.append(dict(opaque))
            case Text(text, phase) if text.strip():
                content = [{"type": "output_text", "text": text}]
                own = {"phase": phase} if is_own and phase else {}
                yield from thoughts
                yield {"type": "message", "role": "assistant", "content": content, **own}
                thoughts.clear()
            case ToolCall(id, name, arguments):
                raw = json.dumps(dict(arguments), ensure_ascii=False)
                yield from thoughts
                yield {"type": "function_call", "call_id": id, "name": name, "arguments": raw}
                thoughts.clear()
            case _:
                pass


def _result(result: ToolResult) -> dict[str, Any]:
    shown = [_content(it) for it in (Text(result.content), *result.attached)]
    output = [*filter(None, shown)] if result.attached else result.content
    return {"type": "function_call_output", "call_id": result.call_id, "output": output}


def _content(part: Part) -> dict[str, Any] | None:
    match part:
        case Text(text):
            return {"type": "input_text", "text": text} if text.strip() else None
        case Image(media_type, data):
            return {"type": "input_image", "detail": "auto", "image_url": f"data:{media_type};base64,{data}"}
        case Document(data, name, _, media_type):
            file_data = f"data:{media_type};base64,{data}"
            return {"type": "input_file", "filename": name or "document.pdf", "file_data": file_data}
        case _:
            return None


def _tool(spec: ToolSpec) -> dict[str, Any]:
    schema = dict(spec.schema)
    return {
        "type": "function",
        "name": spec.name,
        "description": spec.description,
        "parameters": schema,
        "strict": False,
    }
