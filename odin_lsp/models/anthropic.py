"""Anthropic's Messages API."""

import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from odin_lsp.errors import ModelError
from odin_lsp.messages import Document, Image, Message, Part, Text, Thinking, ToolCall, ToolResult
from odin_lsp.models import catalog
from odin_lsp.models.base import (
    ArgumentsDelta,
    CallReady,
    Connection,
    Model,
    Reply,
    Request,
    StopReason,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolSpec,
)
from odin_lsp.models.encoding import Blocks, Head, Turn, Turns, encode, with_list
from odin_lsp.models.key import find_key
from odin_lsp.models.line import OWN_HEADERS, Line, address, custom_headers
from odin_lsp.models.reference import ModelRef
from odin_lsp.models.senders import DirectSender
from odin_lsp.models.service import UNPAID, Service, count, http_client, join, tool_call
from odin_lsp.records import Usage

STOPS: Mapping[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "max_tokens": "max_tokens",
    "refusal": "refused",
    "pause_turn": "paused",
    "model_context_window_exceeded": "context_full",
}
STATUSES: Mapping[str, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": UNPAID,
    "enforced_spend_limit_reached": UNPAID,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""What an error's own type says. It goes before the status, which is 200 within a stream."""

TOO_LONG = re.compile(
    r"prompt is too long|exceeds? (the )?(model )?context (limit|window)|request exceeds the maximum size",
    re.IGNORECASE,
)
PATH = "/v1/messages"
VERSION = "2026-10-21"
EPHEMERAL = {"type": "ephemeral"}
MARK = b',"cache_control":{"type":"ephemeral"}}'
"""Ends a block up to which the cache shall reach."""


def connect(ref: ModelRef, connection: Connection) -> Model:
    key = find_key("Anthropic", connection, "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
    service = Service(
        provider="Anthropic",
        ref=ref,
        key=key,
        key_place=connection.key_place or "ANTHROPIC_API_KEY",
        base_variable="ANTHROPIC_BASE_URL",
        usual="https://api.anthropic.com",
        too_long=TOO_LONG,
    )
    custom = custom_headers("ANTHROPIC_CUSTOM_HEADERS")

    def headers(key: str) -> dict[str, str]:
        return {**OWN_HEADERS, "authorization": f"Bearer {key}", "anthropic-version": VERSION, **custom}

    sender = DirectSender(http_client(connection.network), address(service), key, headers)
    return AnthropicModel(Line(service, sender, fault))


class AnthropicModel:
    def __init__(self, line: Line) -> None:
        self._line = line
        self._service = line.service
        self._bodies = Bodies(line.service.ref)

    @property
    def ref(self) -> str:
        return str(self._service.ref)

    def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        return self._line.talk(lambda: self._line.post(PATH, self._bodies.of(request)), _Answer(self._service))

    async def aclose(self) -> None:
        await self._line.aclose()


class Bodies:
    """Of requests to one model, whoever sends or counts them."""

    def __init__(self, ref: ModelRef) -> None:
        self._ref = ref
        self._head = Head(self._fields)
        self._turns = Turns(lambda message: _blocks(message, ref.model), _turn)

    def of(self, request: Request) -> bytes:
        settled, last = self._turns.of(request.messages)
        return with_list(self._head.of(request), "messages", [*settled, *_marked(last)])

    def _fields(self, request: Request) -> dict[str, Any]:
        entry, effort = catalog.find(str(self._ref)), self._ref.effort
        fields: dict[str, Any] = {
            "model": self._ref.name,
            "max_tokens": min(request.max_tokens, entry.max_output),
            "stream": True,
        }
        if entry.thinking:
            fields["thinking"] = {"type": "adaptive", "display": "summarized"}
        elif request.temperature is not None:
            fields["temperature"] = request.temperature
        if effort:
            fields["output_config"] = {"effort": effort}
        if request.tools:
            fields["tools"] = [_tool(spec) for spec in request.tools]
            if request.shared_tools:
                fields["tools"][request.shared_tools - 1]["cache_control"] = EPHEMERAL
            if not request.may_call:
                fields["tool_choice"] = {"type": "none"}
        if system := _system(request.system):
            fields["system"] = system
        return fields


@dataclass(slots=True)
class _Block:
    start: Mapping[str, Any]
    pieces: list[str] = field(default_factory=list[str])
    signature: list[str] = field(default_factory=list[str])
    ended: bool = False


class _Answer:
    """An answer in the making. The arguments of a call stay text until their block has ended: half of them can be
    read as another call."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._blocks: dict[int, _Block] = {}
        self._usage: dict[str, Any] = {}
        self._ending: dict[str, Any] = {}
        self._complete = False

    def take(self, data: str) -> Iterator[StreamEvent]:
        event = json.loads(data)
        match event:
            case {"type": "message_start", "message": {"usage": {**usage}}}:
                self._usage |= usage
            case {"type": "content_block_start", "index": int(index), "content_block": {**block}}:
                if index in self._blocks:
                    raise self._service.cut_off("a block began twice")
                self._blocks[index] = _Block(block)
            case {"type": "content_block_delta", "index": int(index), "delta": {**delta}}:
                yield from _grown(self._open(index), delta)
            case {"type": "content_block_stop", "index": int(index)}:
                block = self._open(index)
                block.ended = True
                part = _part(block)
                if isinstance(part, ToolCall) and not part.problem:
                    yield CallReady(part)
            case {"type": "message_delta", "delta": {**ending}, **rest}:
                counts: dict[str, Any] = rest.get("usage") or {}
                self._ending = ending
                self._usage |= {name: value for name, value in counts.items() if value is not None}
            case {"type": "message_stop"}:
                self._complete = True
            case {"type": "error"}:
                raise fault(self._service, 200, event, {"request-id": str(event.get("request_id", ""))})
            case _:
                pass  # a ping, or something that is newer than this

    def reply(self) -> Reply:
        if not self._complete or not all(block.ended for block in self._blocks.values()):
            raise self._service.cut_off("it has no end")
        parts = [part for _, block in sorted(self._blocks.items()) if (part := _part(block))]
        reason = str(self._ending.get("stop_reason"))
        stop = STOPS.get(reason, "unknown")
        detail = f"stop reason {reason}" if stop == "unknown" else _explanation(self._ending)
        return self._service.reply(parts, stop, _usage(self._usage), detail)

    def _open(self, index: int) -> _Block:
        block = self._blocks.get(index)
        if block is None or block.ended:
            raise self._service.cut_off("its events are out of order")
        return block


def _grown(block: _Block, delta: Mapping[str, Any]) -> Iterator[StreamEvent]:
    match delta:
        case {"type": "text_delta", "text": str(text)}:
            block.pieces.append(text)
            yield TextDelta(text)
        case {"type": "thinking_delta", "thinking": str(text)}:
            block.pieces.append(text)
            yield ThinkingDelta(text)
        case {"type": "input_json_delta", "partial_json": str(text)}:
            block.pieces.append(text)
            match block.start:
                case {"type": "tool_use", "id": str(id), "name": str(name)}:
                    yield ArgumentsDelta(id, name, text)
                case _:
                    pass
        case {"type": "signature_delta", "signature": str(signature)}:
            block.signature.append(signature)
        case _:
            pass


def _part(block: _Block) -> Part | None:
    text = join(block.pieces)
    match block.start:
        case {"type": "text"}:
            return Text(text) if text else None
        case {"type": "thinking"}:
            signature = "".join(block.signature)
            opaque = {"type": "thinking", "thinking": text, "signature": signature}
            return Thinking(text, opaque if signature else {})
        case {"type": "redacted_thinking", "data": str(data)}:
            return Thinking("", {"type": "redacted_thinking", "data": data})
        case {"type": "tool_use", "id": str(id), "name": str(name), **rest}:
            return tool_call(id, name, text or json.dumps(rest.get("input", {})))
        case _:
            return None


def _explanation(ending: Mapping[str, Any]) -> str:
    match ending:
        case {"stop_details": {"explanation": str(explanation)}}:
            return explanation
        case _:
            return ""


def _usage(usage: Mapping[str, Any]) -> Usage:
    fresh = count(usage.get("input_tokens"))
    read = count(usage.get("cache_read_input_tokens"))
    written = count(usage.get("cache_creation_input_tokens"))
    return Usage(
        input_tokens=fresh,
        output_tokens=count(usage.get("output_tokens")),
        cache_read_tokens=read,
        cache_write_tokens=written,
        context_tokens=fresh + read + written,
    )


def _system(texts: Sequence[str]) -> list[dict[str, Any]]:
    """The mark covers the tools too, since they come before it; what follows it is another mode's in another turn."""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text} for text in texts if text.strip()]
    for block in blocks[-2:][:1]:
        block["cache_control"] = EPHEMERAL
    return blocks


def _marked(turns: Sequence[Turn]) -> Iterator[bytes]:
    """The cache reaches up to the last two turns of the user; these hold no thinking, which cannot be marked."""
    users = [number for number, turn in enumerate(turns) if turn.role == "user"][-2:]
    for number, turn in enumerate(turns):
        yield _turn(turn, MARK if number in users else b"}")


def _turn(turn: Turn, end: bytes = b"}") -> bytes:
    return b'{"role":"%b","content":[%b%b]}' % (turn.role.encode(), b",".join(turn.blocks)[:-1], end)


def _blocks(message: Message, ref: str) -> Blocks:
    is_own = message.origin == ref
    blocks = [block for part in message.parts if (block := _block(part, is_own))]
    results = tuple(encode(it) for it in blocks if it["type"] == "tool_result")
    return Blocks(message.role, results, tuple(encode(it) for it in blocks if it["type"] != "tool_result"))


def _block(part: Part, is_own: bool) -> dict[str, Any] | None:
    match part:
        case Text(text):
            return {"type": "text", "text": text} if text.strip() else None
        case Image(media_type, data):
            return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}
        case Document(data, name, _, media_type):
            source = {"type": "base64", "media_type": media_type, "data": data}
            titled = {"title": name} if name else {}
            return {"type": "document", "source": source, **titled}
        case Thinking(_, opaque):
            return dict(opaque) if is_own and opaque else None
        case ToolCall(id, name, arguments):
            return {"type": "tool_use", "id": _id(id), "name": name, "input": dict(arguments)}
        case ToolResult(call_id, _, content, failed, attached):
            shown = [_block(Text(content), is_own), *(_block(it, is_own) for it in attached)]
            result = {"type": "tool_result", "tool_use_id": _id(call_id), "is_error": failed}
            return {**result, "content": [*filter(None, shown)] if attached else content}


def _id(id: str) -> str:
    """Other providers' ids may have characters that Anthropic refuses."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", id)


def _tool(spec: ToolSpec) -> dict[str, Any]:
    return {"name": spec.name, "description": spec.description, "input_schema": dict(spec.schema)}


def fault(service: Service, status: int, body: Any, headers: Mapping[str, str]) -> ModelError:
    match body:
        case {"error": {"type": str(kind), "message": str(message), "details": {"error_code": str(code)}}}:
            status = STATUSES.get(code, STATUSES.get(kind, status))
        case {"error": {"type": str(kind), "message": str(message)}}:
            status = STATUSES.get(kind, status)
        case _:
            message = str(body or "")
    return service.fault(status, message, headers)
