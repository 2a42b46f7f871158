"""Google's Gemini API."""

import base64
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from odin_lsp.errors import ModelError
from odin_lsp.messages import Attachment, Document, Image, Message, Part, Text, Thinking, ToolCall, ToolResult
from odin_lsp.models import catalog
from odin_lsp.models.base import (
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
from odin_lsp.models.line import OWN_HEADERS, Line, address
from odin_lsp.models.reference import Effort, ModelRef
from odin_lsp.models.senders import DirectSender
from odin_lsp.models.service import OWN_ID, Service, count, http_client, mapping, string, tool_call
from odin_lsp.records import Usage
from odin_lsp.values import is_list, is_object

STOPS: Mapping[str, StopReason] = {
    "FINISH_REASON_UNSPECIFIED": "unknown",
    "STOP": "end",
    "MAX_TOKENS": "max_tokens",
    "CONTINUATION": "max_tokens",
    "SAFETY": "refused",
    "RECITATION": "refused",
    "LANGUAGE": "refused",
    "BLOCKLIST": "refused",
    "PROHIBITED_CONTENT": "refused",
    "SPII": "refused",
    "IMAGE_SAFETY": "refused",
    "IMAGE_PROHIBITED_CONTENT": "refused",
    "IMAGE_RECITATION": "refused",
    "IMAGE_OTHER": "refused",
    "NO_IMAGE": "refused",
    "ESCALATION": "refused",
    "MODEL_ARMOR": "refused",
    "PUP_LIMITED_DISABLED": "refused",
    "MALFORMED_FUNCTION_CALL": "malformed",
    "UNEXPECTED_TOOL_CALL": "malformed",
    "TOO_MANY_TOOL_CALLS": "malformed",
    "MALFORMED_RESPONSE": "malformed",
    "MISSING_THOUGHT_SIGNATURE": "malformed",
    "OTHER": "unknown",
}
STATUSES: Mapping[str, int] = {
    "API_KEY_INVALID": 401,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ABORTED": 409,
    "RESOURCE_EXHAUSTED": 429,
    "CANCELLED": 499,
    "INTERNAL": 500,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}
"""What an error's own reason or status says. It goes before that of HTTP, which is 200 within a stream."""

TOO_LONG = re.compile(
    r"input token count|exceeds the maximum number of tokens|request payload size exceeds",
    re.IGNORECASE,
)
FOREIGN = base64.b64encode(b"skip_thought_signature_validator").decode()
"""Google's word for a call that another model made: Gemini 3 refuses calls without a signature."""


def connect(ref: ModelRef, connection: Connection) -> Model:
    key = find_key("Google", connection, "GEMINI_API_KEY", "GOOGLE_API_KEY")
    service = Service(
        provider="Google",
        ref=ref,
        key=key,
        key_place=connection.key_place or "GEMINI_API_KEY",
        base_variable="GOOGLE_GEMINI_BASE_URL",
        usual="https://generativelanguage.googleapis.com",
        too_long=TOO_LONG,
    )
    sender = DirectSender(
        http_client(connection.network), address(service), key, lambda it: {**OWN_HEADERS, "x-goog-api-key": it}
    )
    return GoogleModel(Line(service, sender, fault))


class GoogleModel:
    def __init__(self, line: Line) -> None:
        self._line = line
        self._service = line.service
        self._bodies = Bodies(line.service.ref)
        self._path = f"/v1/{_resource(line.service.model)}:streamGenerateContent?alt=sse"

    @property
    def ref(self) -> str:
        return str(self._service.ref)

    def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        return self._line.talk(lambda: self._line.post(self._path, self._bodies.of(request)), _Answer(self._service))

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
        return with_list(self._head.of(request), "contents", [*settled, *map(_turn, last)])

    def _fields(self, request: Request) -> dict[str, Any]:
        entry = catalog.find(str(self._ref))
        limits: dict[str, Any] = {"maxOutputTokens": min(request.max_tokens, entry.max_output)}
        if not entry.thinking and request.temperature is not None:
            limits["temperature"] = request.temperature
        if thinking := _thinking(entry, self._ref.effort):
            limits["thinkingConfig"] = thinking
        fields: dict[str, Any] = {"generationConfig": limits}
        if system := [{"text": text} for text in request.system if text.strip()]:
            fields["systemInstruction"] = {"parts": system, "role": "user"}
        if request.tools:
            fields["tools"] = [{"functionDeclarations": [_tool(spec) for spec in request.tools]}]
            if not request.may_call:
                fields["toolConfig"] = {"functionCallingConfig": {"mode": "NONE"}}
        return fields


def _resource(model: str) -> str:
    """Names are of Google's own models, unless they say otherwise."""
    return quote(model if model.startswith(("models/", "tunedModels/")) else f"models/{model}")


def _thinking(entry: catalog.Entry, effort: Effort | None) -> dict[str, Any]:
    shown = {"include_thoughts": True} if entry.thinking else {}
    return {**shown, "thinking_level": effort.upper()} if effort else shown


@dataclass(frozen=True, slots=True)
class _Pieces:
    """What is one part in the end."""

    is_thought: bool
    texts: list[str]

    @property
    def part(self) -> Part:
        text = "".join(self.texts)
        return Thinking(text) if self.is_thought else Text(text)


class _Answer:
    """An answer in the making."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._parts: list[Part | _Pieces] = []
        self._usage: Mapping[str, Any] = {}
        self._stop: StopReason | None = None
        self._detail = ""

    def take(self, data: str) -> Iterator[StreamEvent]:
        chunk = json.loads(data)
        match chunk:
            case {"error": {}}:
                raise fault(self._service, 200, chunk, {})
            case {"candidates": [{**candidate}, *_]}:
                yield from self._take_candidate(candidate)
            case {"candidates": found} if found:
                raise self._service.cut_off("a piece of it makes no sense")
            case {}:
                pass
            case _:
                raise self._service.cut_off("a piece of it makes no sense")
        self._usage = mapping(chunk, "usageMetadata") or self._usage
        feedback = mapping(chunk, "promptFeedback")
        if reason := string(feedback, "blockReason"):
            self._stop, self._detail = "refused", string(feedback, "blockReasonMessage") or reason

    def reply(self) -> Reply:
        if not self._stop:
            raise self._service.cut_off("it has no end")
        waits = self._stop == "end" and any(isinstance(part, ToolCall) for part in self._parts)
        parts = [it.part if isinstance(it, _Pieces) else it for it in self._parts]
        return self._service.reply(parts, "tools" if waits else self._stop, _usage(self._usage), self._detail)

    def _take_candidate(self, candidate: Mapping[str, Any]) -> Iterator[StreamEvent]:
        parts = mapping(candidate, "content").get("parts")
        for part in filter(is_object, parts if is_list(parts) else ()):
            yield from self._take_part(part)
        if reason := string(candidate, "finishReason"):
            self._stop = STOPS.get(reason, "unknown")
            self._detail = "" if self._stop == "end" else string(candidate, "finishMessage") or reason

    def _take_part(self, part: Mapping[str, Any]) -> Iterator[StreamEvent]:
        text, signature = string(part, "text"), string(part, "thoughtSignature") or None
        if call := mapping(part, "functionCall"):
            raw = json.dumps(call.get("args") or {})
            ready = tool_call(string(call, "id"), string(call, "name"), raw, signature)
            self._parts.append(ready)
            if not ready.problem:
                yield CallReady(ready)
        elif text or signature:
            is_thought = bool(part.get("thought"))
            self._say(text, signature, is_thought=is_thought)
            if text:
                yield ThinkingDelta(text) if is_thought else TextDelta(text)

    def _say(self, text: str, signature: str | None, *, is_thought: bool) -> None:
        """Pieces become one part, except where a signature belongs to a piece."""
        match self._parts[-1:]:
            case _ if signature:
                self._parts.append(Thinking(text, {"signature": signature}) if is_thought else Text(text, signature))
            case [_Pieces(it, texts)] if it == is_thought:
                texts.append(text)
            case _:
                self._parts.append(_Pieces(is_thought, [text]))


def _usage(usage: Mapping[str, Any]) -> Usage:
    prompt, read = count(usage.get("promptTokenCount")), count(usage.get("cachedContentTokenCount"))
    return Usage(
        input_tokens=prompt - read,
        output_tokens=count(usage.get("candidatesTokenCount")) + count(usage.get("thoughtsTokenCount")),
        cache_read_tokens=read,
        context_tokens=prompt,
    )


def _turn(turn: Turn) -> bytes:
    role = b"user" if turn.role == "user" else b"model"
    return b'{"parts":[%b],"role":"%b"}' % (b",".join(turn.blocks), role)


def _blocks(message: Message, ref: str) -> Blocks:
    """What a call shows comes behind its result."""
    is_own = message.origin == ref
    attached = [it for result in message.results for it in result.attached]
    others = (it for it in (*attached, *message.parts) if not isinstance(it, ToolResult))
    parts = (encode(sent) for it in others if (sent := _part(it, is_own)))
    return Blocks(message.role, tuple(encode(_result(it)) for it in message.results), tuple(parts))


def _part(part: Text | Attachment | Thinking | ToolCall, is_own: bool) -> dict[str, Any] | None:
    match part:
        case Text(text, signature):
            signed = _signed(signature) if is_own else {}
            return {"text": text, **signed} if text.strip() or signed else None
        case Image() | Document():
            return {"inlineData": {"mime_type": part.media_type, "data": part.data}}
        case Thinking(text, {"signature": str(signature)}) if is_own:
            return {"text": text, "thought": True, **_signed(signature)}
        case Thinking():
            return None
        case ToolCall(id, name, arguments, _, signature):
            call = {**_id(id), "name": name, "args": dict(arguments)}
            return {"functionCall": call, **_signed(signature if is_own else FOREIGN)}


def _result(result: ToolResult) -> dict[str, Any]:
    response = {"error" if result.failed else "output": result.content}
    return {"functionResponse": {**_id(result.call_id), "name": result.name, "response": response}}


def _signed(signature: str | None) -> dict[str, str]:
    return {"thoughtSignature": signature} if signature else {}


def _id(id: str) -> dict[str, str]:
    return {} if id.startswith(OWN_ID) else {"id": id}


def _tool(spec: ToolSpec) -> dict[str, Any]:
    return {"name": spec.name, "description": spec.description, "parameters_json_schema": dict(spec.schema)}


def fault(service: Service, status: int, body: Any, headers: Mapping[str, str]) -> ModelError:
    """Google tells the reason and the time to wait among the error's details."""
    error = mapping(body, "error") if is_object(body) else None
    if not error:
        return service.fault(status, str(body or ""), headers)
    told, kinds = dict(headers), [string(error, "status")]
    for info in _infos(error):
        match info:
            case {"reason": str(reason)}:
                kinds.insert(0, reason)
            case {"retryDelay": str(delay)}:
                told["retry-after"] = delay.removesuffix("s")
            case _:
                pass
    said = next((STATUSES[kind] for kind in kinds if kind in STATUSES), count(error.get("code")))
    return service.fault(said or status, string(error, "message"), told)


def _infos(error: Mapping[str, Any]) -> list[Any]:
    found = error.get("details")
    return found if is_list(found) else []
