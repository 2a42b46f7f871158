"""OpenAI's Chat Completions API, and the many servers that speak it too."""

import json
import os
import re
from collections.abc import AsyncIterator, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import openai
from openai import omit
from openai.types.chat import (
    ChatCompletionContentPartParam,
    ChatCompletionFunctionToolParam,
    ChatCompletionMessageFunctionToolCallParam,
    ChatCompletionMessageParam,
)

from odin_lsp.errors import ModelError
from odin_lsp.messages import Image, Message, Part, Text, Thinking, ToolCall
from odin_lsp.models import catalog
from odin_lsp.models.base import (
    ArgumentsDelta,
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
from odin_lsp.models.reference import ModelRef
from odin_lsp.models.service import BROKEN, UNPAID, Service, count, find_key, http_client, join, rate_limit, tool_call
from odin_lsp.records import Usage

STOPS: Mapping[str, StopReason] = {
    "stop": "end",
    "tool_calls": "tools",
    "function_call": "tools",
    "length": "max_tokens",
    "content_filter": "refused",
}
STATUSES: Mapping[str, int] = {
    "invalid_api_key": 401,
    "insufficient_quota": UNPAID,
    "billing_hard_limit_reached": UNPAID,
    "billing_not_active": UNPAID,
    "model_not_found": 404,
    "context_length_exceeded": 413,
    "exceed_context_size_error": 413,
    "string_above_max_length": 413,
    "rate_limit_exceeded": 429,
    "server_error": 500,
    "overloaded_error": 529,
}
"""What an error's own code or type says. It goes before the status, which is 200 within a stream."""

TOO_LONG = re.compile(
    r"maximum context length|context length exceeded|exceeds? the (available )?context (length|size|window)"
    r"|input tokens exceed|reduce the length of the messages|request too large for"
    r"|model is loaded with context length",
    re.IGNORECASE,
)


def connect(ref: ModelRef, connection: Connection) -> Model:
    key = _key(connection)
    client = openai.AsyncOpenAI(
        api_key=key,
        timeout=connection.network.timeout,
        max_retries=0,
        http_client=http_client(connection.network),
    )
    service = Service(
        provider="OpenAI",
        ref=ref,
        key=key,
        key_variable="OPENAI_API_KEY",
        base_variable="OPENAI_BASE_URL",
        usual_host="api.openai.com",
        too_long=TOO_LONG,
    )
    return OpenAIModel(service, client)


class OpenAIModel:
    def __init__(self, service: Service, client: openai.AsyncOpenAI) -> None:
        self._service = service
        self._client = client

    @property
    def ref(self) -> str:
        return str(self._service.ref)

    async def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        answer = _Answer(self._service)
        with _translated_errors(self._service):
            async with await self._send(request) as stream:
                yield Reached("waiting_token")
                for limited in rate_limit(stream.response.headers):
                    yield limited
                async for data in self._service.events(stream.response):
                    for event in answer.take(data):
                        yield event
        yield answer.reply()

    async def aclose(self) -> None:
        await self._client.close()

    async def _send(self, request: Request) -> openai.AsyncStream[Any]:
        entry = catalog.find(self.ref)
        temperature = None if entry.thinking else request.temperature
        max_tokens = min(request.max_tokens, entry.max_output)
        is_openai = self._client.base_url.host == "api.openai.com"
        # There, models that reason take no tools unless they are told not to; unasked, they would.
        unasked = "none" if is_openai and request.tools and entry.thinking else omit
        return await self._client.chat.completions.create(
            model=self._service.model,
            max_completion_tokens=max_tokens if is_openai else omit,
            max_tokens=omit if is_openai else max_tokens,
            messages=[],
            tools=[_tool(spec) for spec in request.tools] or omit,
            tool_choice="none" if request.tools and not request.may_call else omit,
            temperature=omit if temperature is None else temperature,
            reasoning_effort=self._service.ref.effort or unasked,
            stream=True,
            stream_options={"include_usage": True},
            # As an argument the SDK would compare each message with each kind there is, in every request.
            extra_body={"messages": _messages(request)},
        )


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
                raise _fault(self._service, 200, error, {})
            case {"choices": [{**choice}, *_], **rest}:
                yield from self._take_delta(_object(choice, "delta"))
                if reason := choice.get("finish_reason"):
                    self._reason = str(reason)
                    yield from self._end_call()
                self._usage = _object(rest, "usage") or self._usage
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
        if thought := _string(delta, "reasoning_content") or _string(delta, "reasoning"):
            self._thinking.append(thought)
            yield ThinkingDelta(thought)
        if text := _string(delta, "content"):
            self._text.append(text)
            yield TextDelta(text)
        self._refusal.append(_string(delta, "refusal"))
        for call in delta.get("tool_calls") or ():
            yield from self._take_call(call)

    def _take_call(self, delta: Mapping[str, Any]) -> Iterator[StreamEvent]:
        index, call_id, function = delta.get("index"), _string(delta, "id"), _object(delta, "function")
        if not self._open or self._open.index != index or call_id not in ("", self._open.id):
            yield from self._end_call()
            self._open = _Call(index, call_id, _string(function, "name"))
            if not self._open.name:
                raise self._service.cut_off("its calls are out of order")
        self._open.pieces.append(piece := _string(function, "arguments"))
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


def _string(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def _object(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    match values.get(name):
        case {**value}:
            return value
        case _:
            return {}


def _usage(usage: Mapping[str, Any]) -> Usage:
    prompt = count(usage.get("prompt_tokens"))
    read = count(_object(usage, "prompt_tokens_details").get("cached_tokens"))
    return Usage(
        input_tokens=prompt - read,
        output_tokens=count(usage.get("completion_tokens")),
        cache_read_tokens=read,
        context_tokens=prompt,
    )


def _messages(request: Request) -> list[ChatCompletionMessageParam]:
    sent: list[ChatCompletionMessageParam] = []
    if system := "\n\n".join(filter(str.strip, request.system)):
        sent.append({"role": "system", "content": system})
    for message in request.messages:
        sent += _from_user(message) if message.role == "user" else _from_assistant(message)
    return sent


def _from_user(message: Message) -> list[ChatCompletionMessageParam]:
    """Results go first, each a message of its own: they must follow their calls at once."""
    sent: list[ChatCompletionMessageParam] = [
        {"role": "tool", "tool_call_id": result.call_id, "content": result.content} for result in message.results
    ]
    content = [shown for part in message.parts if (shown := _content(part))]
    if content:
        sent.append({"role": "user", "content": content})
    return sent


def _from_assistant(message: Message) -> list[ChatCompletionMessageParam]:
    text = message.text if message.text.strip() else None
    calls = [_call(call) for call in message.calls]
    if calls:
        return [{"role": "assistant", "content": text, "tool_calls": calls}]
    return [{"role": "assistant", "content": text}] if text else []


def _content(part: Part) -> ChatCompletionContentPartParam | None:
    match part:
        case Text(text):
            return {"type": "text", "text": text} if text.strip() else None
        case Image(media_type, data):
            return {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{data}"}}
        case _:
            return None


def _call(call: ToolCall) -> ChatCompletionMessageFunctionToolCallParam:
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
    return {"type": "function", "id": call.id, "function": {"name": call.name, "arguments": arguments}}


def _tool(spec: ToolSpec) -> ChatCompletionFunctionToolParam:
    return {
        "type": "function",
        "function": {"name": spec.name, "description": spec.description, "parameters": dict(spec.schema)},
    }


def _key(connection: Connection) -> str:
    """A server of one's own wants no key, but the SDK does."""
    has_key = connection.key or os.environ.get("OPENAI_API_KEY")
    if os.environ.get("OPENAI_BASE_URL") and not has_key:
        return "no-key-needed"
    return find_key("OpenAI", connection, "OPENAI_API_KEY")


@contextmanager
def _translated_errors(service: Service) -> Generator[None]:
    try:
        yield
    except openai.APIStatusError as error:
        raise _fault(service, error.status_code, error.body, error.response.headers) from error
    except (openai.APIConnectionError, *BROKEN) as error:
        raise service.broken(error) from error


def _fault(service: Service, status: int, error: Any, headers: Mapping[str, str]) -> ModelError:
    match error:
        case {"message": str(message), **rest}:
            code, kind = rest.get("code"), rest.get("type")
            if isinstance(code, int) and 400 <= code < 600:
                status = code
            status = STATUSES.get(str(code), STATUSES.get(str(kind), status))
        case _:
            message = str(error or "")
    return service.fault(status, message, headers)
