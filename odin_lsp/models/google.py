"""Google's Gemini API."""

import asyncio
import base64
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Mapping
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from typing import Any

import httpx2
import pydantic
from google import genai
from google.genai import errors, types
from google.genai.types import FinishReason

from odin_lsp.errors import ModelError
from odin_lsp.messages import Attachment, Document, Image, Message, Part, Text, Thinking, ToolCall, ToolResult
from odin_lsp.models import catalog
from odin_lsp.models.base import (
    CallReady,
    Connection,
    Model,
    Reached,
    Reply,
    Request,
    StopReason,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolSpec,
)
from odin_lsp.models.encoding import Blocks, Head, Turn, Turns, encode, with_list
from odin_lsp.models.reference import Effort, ModelRef
from odin_lsp.models.service import BROKEN, OWN_ID, Service, find_key, http_client, tool_call
from odin_lsp.records import Usage

STOPS: Mapping[FinishReason, StopReason] = {
    FinishReason.FINISH_REASON_UNSPECIFIED: "unknown",
    FinishReason.STOP: "end",
    FinishReason.MAX_TOKENS: "max_tokens",
    FinishReason.CONTINUATION: "max_tokens",
    FinishReason.SAFETY: "refused",
    FinishReason.RECITATION: "refused",
    FinishReason.LANGUAGE: "refused",
    FinishReason.BLOCKLIST: "refused",
    FinishReason.PROHIBITED_CONTENT: "refused",
    FinishReason.SPII: "refused",
    FinishReason.IMAGE_SAFETY: "refused",
    FinishReason.IMAGE_PROHIBITED_CONTENT: "refused",
    FinishReason.IMAGE_RECITATION: "refused",
    FinishReason.IMAGE_OTHER: "refused",
    FinishReason.NO_IMAGE: "refused",
    FinishReason.MALFORMED_FUNCTION_CALL: "malformed",
    FinishReason.UNEXPECTED_TOOL_CALL: "malformed",
    FinishReason.TOO_MANY_TOOL_CALLS: "malformed",
    FinishReason.MALFORMED_RESPONSE: "malformed",
    FinishReason.OTHER: "unknown",
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
REPLACED = "-"
"""Stands for the conversation: the body is ready."""


CONFIG = types.GenerateContentConfig(
    automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True), automatic_continuation=False
)


def connect(ref: ModelRef, connection: Connection) -> Model:
    key = find_key("Google", connection, "GEMINI_API_KEY", "GOOGLE_API_KEY")
    service = Service(
        provider="Google",
        ref=ref,
        key=key,
        key_place=connection.key_place or "GEMINI_API_KEY",
        base_variable="GOOGLE_GEMINI_BASE_URL",
        usual_host="generativelanguage.googleapis.com",
        too_long=TOO_LONG,
    )
    http = http_client(connection.network, _Client)
    options = types.HttpOptions(httpx_async_client=http, timeout=int(connection.network.timeout * 1000))
    return GoogleModel(service, genai.Client(vertexai=False, api_key=key, http_options=options), http)


_BODY: ContextVar[bytes | None] = ContextVar("body", default=None)
"""What the task sends."""
_WHEN_ANSWERED: ContextVar[Callable[[], None]] = ContextVar("when_answered", default=lambda: None)
"""Of the task that reads: the SDK does not tell when the headers of its answer are there."""


class _Client(httpx2.AsyncClient):
    """Sends a body that is ready in place of the SDK's, which would check, copy and convert the whole conversation in
    every request."""

    def build_request(self, method: str, url: httpx2.URL | str, *, content: Any = None, **given: Any) -> httpx2.Request:
        return super().build_request(method, url, content=_BODY.get() or content, **given)


class GoogleModel:
    def __init__(self, service: Service, client: genai.Client, http: httpx2.AsyncClient) -> None:
        self._service = service
        self._client = client
        self._http = http
        self._head = Head(self._fields)
        self._turns = Turns(lambda message: _blocks(message, service.ref.model), _turn)
        http.event_hooks = {"response": [self._check]}

    @property
    def ref(self) -> str:
        return str(self._service.ref)

    async def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        answer = _Answer(self._service)
        with _translated_errors(self._service):
            async with aclosing(self._chunks(request)) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, Reached):
                        yield chunk
                        continue
                    for event in answer.take(chunk):
                        yield event
        yield answer.reply()

    async def aclose(self) -> None:
        await self._http.aclose()
        self._client.close()

    async def _chunks(self, request: Request) -> AsyncGenerator[types.GenerateContentResponse | Reached]:
        """Read by a task of its own. The SDK nests generators, and closing the outermost leaves the connection
        to the garbage collector; a read that is cancelled closes it at once."""
        chunks: asyncio.Queue[types.GenerateContentResponse | Reached | None] = asyncio.Queue()

        async def read() -> None:
            try:
                _WHEN_ANSWERED.set(lambda: chunks.put_nowait(Reached("waiting_token")))
                async for chunk in await self._send(request):
                    chunks.put_nowait(chunk)
            except errors.APIError as error:
                await _let_go(error)
                raise
            finally:
                chunks.put_nowait(None)

        reading = asyncio.create_task(read())
        try:
            while chunk := await chunks.get():
                yield chunk
            await reading
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def _send(self, request: Request) -> AsyncIterator[types.GenerateContentResponse]:
        _BODY.set(self._body(request))
        return await self._client.aio.models.generate_content_stream(  # pyright: ignore[reportUnknownMemberType]
            model=self._service.model, contents=REPLACED, config=CONFIG
        )

    def _body(self, request: Request) -> bytes:
        settled, last = self._turns.of(request.messages)
        return with_list(self._head.of(request), "contents", [*settled, *map(_turn, last)])

    def _fields(self, request: Request) -> dict[str, Any]:
        entry = catalog.find(self.ref)
        limits: dict[str, Any] = {"maxOutputTokens": min(request.max_tokens, entry.max_output)}
        if not entry.thinking and request.temperature is not None:
            limits["temperature"] = request.temperature
        if thinking := _thinking(entry, self._service.ref.effort):
            limits["thinkingConfig"] = thinking
        fields: dict[str, Any] = {"generationConfig": limits}
        if system := [{"text": text} for text in request.system if text.strip()]:
            fields["systemInstruction"] = {"parts": system, "role": "user"}
        if request.tools:
            fields["tools"] = [{"functionDeclarations": [_tool(spec) for spec in request.tools]}]
            if not request.may_call:
                fields["toolConfig"] = {"functionCallingConfig": {"mode": "NONE"}}
        return fields

    async def _check(self, response: httpx2.Response) -> None:
        self._service.check_events(response)
        if response.is_success:
            _WHEN_ANSWERED.get()()


def _thinking(entry: catalog.Entry, effort: Effort | None) -> dict[str, Any]:
    shown = {"include_thoughts": True} if entry.thinking else {}
    return {**shown, "thinking_level": effort.upper()} if effort else shown


class _Answer:
    """An answer in the making."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._parts: list[Part] = []
        self._usage = types.GenerateContentResponseUsageMetadata()
        self._stop: StopReason | None = None
        self._detail = ""

    def take(self, chunk: types.GenerateContentResponse) -> Iterator[StreamEvent]:
        self._usage = chunk.usage_metadata or self._usage
        feedback = chunk.prompt_feedback
        if feedback and feedback.block_reason:
            self._stop = "refused"
            self._detail = feedback.block_reason_message or feedback.block_reason.value
        for candidate in (chunk.candidates or [])[:1]:
            for part in (candidate.content and candidate.content.parts) or []:
                yield from self._take_part(part)
            if reason := candidate.finish_reason:
                self._stop = STOPS.get(reason, "unknown")
                self._detail = "" if self._stop == "end" else candidate.finish_message or reason.value

    def reply(self) -> Reply:
        if not self._stop:
            raise self._service.cut_off("it has no end")
        waits = self._stop == "end" and any(isinstance(part, ToolCall) for part in self._parts)
        return self._service.reply(self._parts, "tools" if waits else self._stop, _usage(self._usage), self._detail)

    def _take_part(self, part: types.Part) -> Iterator[StreamEvent]:
        text, call = part.text or "", part.function_call
        signature = base64.b64encode(part.thought_signature).decode() if part.thought_signature else None
        if call:
            ready = tool_call(call.id, call.name or "", json.dumps(call.args or {}), signature)
            self._parts.append(ready)
            if not ready.problem:
                yield CallReady(ready)
        elif text or signature:
            opaque = {"signature": signature} if signature else {}
            self._say(Thinking(text, opaque) if part.thought else Text(text, signature))
            if text:
                yield ThinkingDelta(text) if part.thought else TextDelta(text)

    def _say(self, part: Text | Thinking) -> None:
        """Pieces become one part, except where a signature belongs to a piece."""
        match self._parts[-1:], part:
            case [Text(said, None)], Text(more, None):
                self._parts[-1] = Text(said + more)
            case [Thinking(said, {**rest})], Thinking(more, {**opaque}) if not rest and not opaque:
                self._parts[-1] = Thinking(said + more)
            case _:
                self._parts.append(part)


def _usage(usage: types.GenerateContentResponseUsageMetadata) -> Usage:
    prompt = usage.prompt_token_count or 0
    read = usage.cached_content_token_count or 0
    return Usage(
        input_tokens=prompt - read,
        output_tokens=(usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0),
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


async def _let_go(error: Any) -> None:
    """Of an error within an answer, which the SDK raises half-way through its generators."""
    if segments := getattr(error.response, "segment_iterator", None):
        await segments.aclose()


@contextmanager
def _translated_errors(service: Service) -> Generator[None]:
    try:
        yield
    except errors.APIError as error:
        raise _fault(service, error) from error
    except (errors.UnknownApiResponseError, pydantic.ValidationError, *BROKEN) as error:
        raise service.broken(error) from error


def _fault(service: Service, error: Any) -> ModelError:
    """Google tells the reason and the time to wait among the error's details. The error is untyped because
    the SDK names classes in it that are not installed."""
    headers: dict[str, str] = dict(error.response.headers) if error.response else {}
    kinds: list[str | None] = [error.status]
    for info in _infos(error.details):
        match info:
            case {"reason": str(reason)}:
                kinds.insert(0, reason)
            case {"retryDelay": str(delay)}:
                headers["retry-after"] = delay.removesuffix("s")
            case _:
                pass
    status = next((STATUSES[kind] for kind in kinds if kind and kind in STATUSES), error.code)
    return service.fault(status, error.message or "", headers)


def _infos(details: Any) -> list[Any]:
    match details:
        case {"error": {"details": [*infos]}}:
            return infos
        case _:
            return []
