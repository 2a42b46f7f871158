"""A script is played as it is written."""

import asyncio
import json

import pytest

from odin_lsp.errors import ContextTooLong, KeyRejected, ModelError, ModelUnavailable
from odin_lsp.messages import Message, Text, Thinking, ToolCall, ToolResult, user
from odin_lsp.models.base import CallReady, Connection, Reply, Request, TextDelta, ThinkingDelta
from odin_lsp.models.reference import ModelRef
from odin_lsp.models.scripted import connect
from odin_lsp.records import Usage

ASK = Request(system=(), messages=(user("what is this?"),))


@pytest.fixture
def play(tmp_path):
    def play(*replies):
        path = tmp_path / "script.json"
        path.write_text(json.dumps({"replies": replies}))
        return connect(ModelRef("scripted", str(path)), Connection())

    return play


async def events(model, request=ASK):
    return [event async for event in model.stream(request)]


async def reply(model, request=ASK):
    return (await events(model, request))[-1]


async def test_text_comes_in_chunks_and_then_whole(play, tmp_path):
    model = play({"thinking": "hm", "text": ["It is ", "", "Odin."]})

    *deltas, last = await events(model)

    assert deltas == [ThinkingDelta("hm"), TextDelta("It is "), TextDelta("Odin.")]
    message = Message("assistant", (Thinking("hm"), Text("It is Odin.")), origin=model.ref)
    assert last == Reply(message, "end")
    assert model.ref == f"scripted/{tmp_path}/script.json"


async def test_calls_are_ready_before_the_reply_that_stops_for_them(play):
    model = play({"text": "Look.", "calls": [{"name": "LS", "arguments": {"path": "/x"}}]})

    delta, ready, last = await events(model)

    call = ToolCall("call_1", "LS", {"path": "/x"})
    assert (delta, ready) == (TextDelta("Look."), CallReady(call))
    assert (last.stop, last.message.calls) == ("tools", (call,))


async def test_ids_stay_unique_over_the_models_life(play):
    model = play(
        {"calls": [{"name": "LS"}, {"name": "LS", "id": "call_2"}]},
        {"calls": [{"name": "LS"}]},
    )

    ids = [call.id for _ in range(2) for call in (await reply(model)).message.calls]

    assert ids == ["call_1", "call_2", "call_3"]


async def test_usage_and_stop_are_taken_from_the_script(play):
    model = play({"text": "so", "stop": "max_tokens", "usage": {"inputTokens": 7, "cacheReadTokens": 3}})

    last = await reply(model)

    assert (last.stop, last.usage) == ("max_tokens", Usage(input_tokens=7, cache_read_tokens=3))


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        ("busy", ModelUnavailable),
        ({"kind": "unavailable", "message": "busy"}, ModelUnavailable),
        ({"kind": "failed", "message": "busy"}, ModelError),
        ({"kind": "key", "message": "busy"}, KeyRejected),
        ({"kind": "context", "message": "busy"}, ContextTooLong),
    ],
)
async def test_an_error_is_raised_and_the_next_reply_follows(play, error, raised):
    model = play({"error": error}, {"text": "back"})

    with pytest.raises(ModelError, match="busy") as caught:
        await events(model)

    assert type(caught.value) is raised
    assert (await reply(model)).message.text == "back"


async def test_a_reply_waits_for_the_prompt_it_is_meant_for(play):
    model = play({"when": {"contains": "tests"}, "text": "of tests"}, {"text": "of anything"})
    tests = Request(
        system=(),
        messages=(
            user("find the tests"),
            Message("assistant", (ToolCall("1", "LS", {}),)),
            Message("user", (ToolResult("1", "LS", "- a.py"), Text("a reminder"))),
        ),
    )

    assert (await reply(model)).message.text == "of anything"
    assert (await reply(model, tests)).message.text == "of tests"


async def test_a_script_that_is_over_says_so(play):
    with pytest.raises(ModelError, match=r"^the script has no further reply$"):
        await events(play())


async def test_a_delay_can_be_cancelled(play):
    task = asyncio.create_task(events(play({"delayMs": 60_000, "text": "late"})))
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize(
    ("script", "key"),
    [
        ({}, "replies"),
        ({"replies": [{"txt": "a"}]}, "replies.0.txt"),
        ({"replies": [{}, {"stop": "whenever"}]}, "replies.1.stop"),
        ({"replies": [{"calls": [{"arguments": {}}]}]}, "replies.0.calls.0.name"),
        ({"replies": [{"usage": {"input_tokens": 1}}]}, "replies.0.usage.input_tokens"),
        ({"replies": [{"delayMs": -1}]}, "replies.0.delayMs"),
    ],
)
def test_a_bad_script_is_refused_by_file_and_key(tmp_path, script, key):
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(script))

    with pytest.raises(ModelError, match=f"bad.json.*`{key}`"):
        connect(ModelRef("scripted", str(path)), Connection())


def test_a_script_that_is_no_json_is_refused(tmp_path):
    path = tmp_path / "bad.json"
    path.write_text("{")

    with pytest.raises(ModelError, match=r"bad\.json is not valid: .*invalid JSON"):
        connect(ModelRef("scripted", str(path)), Connection())


def test_a_script_that_is_missing_is_refused(tmp_path):
    with pytest.raises(ModelError, match=r"none\.json cannot be read: No such file"):
        connect(ModelRef("scripted", str(tmp_path / "none.json")), Connection())
