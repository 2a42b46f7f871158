"""Calls that a local model writes into its text or its thinking, and that its server does not read.

Only for models of which the settings say so, and in the formats that they name: other text is text."""

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, cast

from odin_lsp.config import CallFormat
from odin_lsp.messages import Part, Text, Thinking, ToolCall
from odin_lsp.models.base import Model, Reply, Request, StreamEvent, TextDelta, parse_arguments
from odin_lsp.models.service import tool_call
from odin_lsp.values import is_list, is_object

CUT_OFF = "a call was cut off"
Schemas = Mapping[str, Mapping[str, Any]]
"""By tool: what its parameters are."""
Named = tuple[str, str]
"""A call's name, and its arguments as JSON."""


class _Unreadable(Exception):
    """It is no call in this format."""


@dataclass(frozen=True, slots=True)
class _Format:
    begin: str
    end: str
    """Empty: where the next one begins, or the text ends."""
    read: Callable[[str, Schemas], Iterator[Named]]


class ReadsWrittenCalls:
    """A model whose calls are found in what it writes. What may be the beginning of one is not told as text."""

    def __init__(self, model: Model, formats: Sequence[CallFormat]) -> None:
        self._model = model
        self._formats = [FORMATS[it] for it in formats]

    @property
    def ref(self) -> str:
        return self._model.ref

    async def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        held: list[str] = []
        """What may begin a call. Behind its mark all belongs to it: it is not looked through again."""
        is_call = False
        async with aclosing(cast("AsyncGenerator[StreamEvent]", self._model.stream(request))) as events:
            async for event in events:
                match event:
                    case TextDelta(text) if request.tools and is_call:
                        held.append(text)
                    case TextDelta(text) if request.tools:
                        told, rest = self._split("".join(held) + text)
                        held, is_call = [rest], any(it.begin in rest for it in self._formats)
                        if told:
                            yield TextDelta(told)
                    case Reply() if request.tools:
                        reply = self._understood(event, {it.name: it.schema for it in request.tools})
                        if any(held) and reply is event:
                            yield TextDelta("".join(held))
                        yield reply
                    case _:
                        yield event

    async def aclose(self) -> None:
        await self._model.aclose()

    def _split(self, text: str) -> tuple[str, str]:
        """What is surely no call, and the rest."""
        marks = [it.begin for it in self._formats]
        whole = [at for it in marks if (at := text.find(it)) >= 0]
        begun = [len(text) - size for it in marks for size in range(1, len(it)) if text.endswith(it[:size])]
        cut = min([*whole, *begun, len(text)])
        return text[:cut], text[cut:]

    def _understood(self, reply: Reply, schemas: Schemas) -> Reply:
        """What was thought counts only where nothing was said: a call that is merely considered is none."""
        message = reply.message
        thought = "".join(it.text for it in message.parts if isinstance(it, Thinking))
        written = message.text if message.text.strip() else thought
        if message.calls or not any(it.begin in written for it in self._formats):
            return reply
        text = self._split(message.text)[0]
        parts: list[Part] = [it for it in message.parts if not isinstance(it, Text)]
        parts += [Text(text)] if text.strip() else []
        if reply.stop != "end":
            detail = CUT_OFF if reply.stop == "max_tokens" else reply.detail
            return replace(reply, message=replace(message, parts=tuple(parts)), detail=detail)
        try:
            calls = list(self._calls(written, schemas))
        except _Unreadable as error:
            return replace(reply, message=replace(message, parts=tuple(parts)), stop="malformed", detail=str(error))
        return replace(reply, message=replace(message, parts=(*parts, *calls)), stop="tools")

    def _calls(self, text: str, schemas: Schemas) -> Iterator[ToolCall]:
        """All that begin as the first one does; what is said between them or after them is dropped."""
        _, written = self._split(text)
        formats = [it for it in self._formats if written.startswith(it.begin)]
        begin, end = formats[0].begin, formats[0].end
        for body in written.split(begin)[1:]:
            read = _read(formats, body.partition(end)[0] if end else body, schemas)
            yield from (tool_call(None, name, arguments) for name, arguments in read)


def _read(formats: Sequence[_Format], body: str, schemas: Schemas) -> list[Named]:
    """In the first of the formats that it has."""
    why = ""
    for it in formats:
        try:
            return list(it.read(body.strip(), schemas))
        except _Unreadable as error:
            why = str(error)
    raise _Unreadable(why)


def _object(body: str, _: Schemas) -> Iterator[Named]:
    """`{"name": …, "arguments": {…}}`; some call the latter parameters."""
    call, problem = parse_arguments(body)
    arguments = call.get("arguments", call.get("parameters", {}))
    if problem or not isinstance(call.get("name"), str) or not (is_object(arguments) or isinstance(arguments, str)):
        raise _Unreadable(problem or "it has no name or no arguments")
    yield call["name"], arguments if isinstance(arguments, str) else json.dumps(arguments)


def _list(body: str, schemas: Schemas) -> Iterator[Named]:
    """`[{…}, {…}]`, or `name[ARGS]{…}`."""
    if named := re.fullmatch(r"([\w.-]+)(?:\[CALL_ID\]\w+)?\[ARGS\](\{.*\})", body, re.DOTALL):
        yield named[1], named[2]
        return
    calls, problem = parse_arguments(f'{{"calls": {body}}}')
    if problem:
        raise _Unreadable(problem)
    for call in calls["calls"] if is_list(calls["calls"]) else ():
        yield from _object(json.dumps(call), schemas)


def _function(body: str, schemas: Schemas) -> Iterator[Named]:
    """`<function=name><parameter=key>value</parameter></function>`: what is no text by the schema is JSON."""
    function = re.fullmatch(r"<function=([^>\s]+)>(.*?)(?:</function>)?", body, re.DOTALL)
    if function is None:
        raise _Unreadable("it names no function")
    properties = schemas.get(function[1], {}).get("properties", {})
    given = re.findall(r"<parameter=([^>\s]+)>\n?(.*?)\n?</parameter>", function[2], re.DOTALL)
    values = (f"{json.dumps(key)}: {_value(value, properties.get(key, {}))}" for key, value in given)
    yield function[1], f"{{{', '.join(values)}}}"


def _value(written: str, schema: Mapping[str, Any]) -> str:
    is_text = "string" in {schema.get("type"), *(it.get("type") for it in schema.get("anyOf", ()))}
    return json.dumps(written) if is_text else written


def _separated(body: str, _: Schemas) -> Iterator[Named]:
    """`name<sep>{…}`, or `function<sep>name` and the arguments in a fence; each between marks of its own."""
    for call in body.split("<｜tool▁call▁begin｜>")[1:]:
        found = re.fullmatch(_SEPARATED, call.partition("<｜tool▁call▁end｜>")[0].strip(), re.DOTALL)
        if found is None:
            raise _Unreadable("it has no name")
        yield found[1], found[2]


_SEPARATED = r"(?:function<｜tool▁sep｜>)?([\w.-]+)\s*(?:<｜tool▁sep｜>)?(?:```json)?(.*?)(?:```)?"


FORMATS: Mapping[CallFormat, _Format] = {
    "hermes": _Format("<tool_call>", "</tool_call>", _object),
    "qwen": _Format("<tool_call>", "</tool_call>", _function),
    "mistral": _Format("[TOOL_CALLS]", "", _list),
    "llama": _Format("<|python_tag|>", "", _object),
    "deepseek": _Format("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", _separated),
}
