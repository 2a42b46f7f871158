"""A request costs what is new in it, and repeats the rest to the byte."""

import json
import sys

import pytest

from odin_lsp.messages import Image, Message, Text, Thinking, ToolCall, ToolResult, user
from odin_lsp.models.base import Request, ToolSpec
from tests.support.wire import Answer

TOOLS = (ToolSpec("ls", "List a folder.", {"type": "object", "properties": {"path": {"type": "string"}}}),)
MARK = b',"cache_control":{"type":"ephemeral"}'


@pytest.fixture
def send(dialect, connect, wire):
    """Send these messages; the body, byte by byte."""
    model = connect(dialect.ref)

    async def send(messages):
        wire.play(Answer([dialect.hello]))
        _ = [event async for event in model.stream(Request(("Be brief.",), tuple(messages), TOOLS))]
        return wire.sent[-1].raw

    return send


def a_step(number, origin):
    call = ToolCall(f"call_{number}", "ls", {"path": f"ä/{number}"})
    thought = Thinking("Hm.", {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"})
    result = ToolResult(call.id, "ls", f"{number}.py\n" * 20, failed=number % 7 == 0)
    return Message("assistant", (thought, Text(f"I look {number}."), call), origin), Message("user", (result,))


def steps(dialect, count):
    return [user("go"), *(it for number in range(count) for it in a_step(number, dialect.ref))]


def taken_apart(raw):
    """What was said, and all that comes with it."""
    body = json.loads(raw.replace(MARK, b""))
    said = next(body.pop(name) for name in ("messages", "contents", "input") if name in body)
    return json.dumps(said).removesuffix("]"), json.dumps(body)


async def test_a_message_that_was_sent_before_costs_next_to_nothing(dialect, send):
    called = 0

    def count(_frame, event, _argument):
        nonlocal called
        called += event == "call"

    async def cost(messages):
        nonlocal called
        called = 0
        sys.setprofile(count)
        try:
            await send(messages)
        finally:
            sys.setprofile(None)
        return called

    messages = steps(dialect, 1_000)
    await send(messages)
    few, many = await cost(messages[:201]), await cost(messages)

    assert (many - few) / 1_800 <= 6


async def test_what_was_sent_is_sent_again_to_the_byte(dialect, send):
    messages = [Message("user", (Image("image/png", "aGk="), Text("What is this?"))), *steps(dialect, 5)[1:]]
    whole = taken_apart(await send(messages))

    for count in range(1, len(messages), 2):
        said, rest = taken_apart(await send(messages[:count]))
        assert whole[0].startswith(said), f"after {count} messages"
        assert rest == whole[1]
    assert taken_apart(await send(list(messages))) == whole
