"""OpenAI's own ways: items that are said whole, thinking that is encrypted, nothing stored."""

import json
import typing

import pytest
from openai.types.responses.response import IncompleteDetails
from openai.types.responses.response_error import ResponseError

from odin_lsp.errors import KeyRejected, ModelError, ModelUnavailable
from odin_lsp.messages import Document, Image, Message, Text, Thinking, ToolCall, ToolResult, user
from odin_lsp.models.base import CallReady, Request, TextDelta, ThinkingDelta, ToolSpec
from odin_lsp.models.openai_faults import STATUSES
from odin_lsp.models.openai_responses import STOPS
from odin_lsp.records import Usage

REF = "openai/gpt-6-sol"
PLAIN = "openai/unlisted"
TOOLS = (ToolSpec("ls", "List a folder.", {"type": "object", "properties": {"path": {"type": "string"}}}),)
THOUGHT = {
    "id": "rs_0",
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "Hm."}],
    "encrypted_content": "xyz",
}
LOOKING = Thinking("Hm.", THOUGHT)


@pytest.fixture(autouse=True)
def address(monkeypatch, environment, wire):
    monkeypatch.setenv("OPENAI_BASE_URL", f"{wire.url}/responses")


@pytest.fixture
async def sent(connect, reply, wire, kit):
    """The request's body for some messages."""

    async def sent(*messages, ref=REF, system=("You are Odin.", "Be brief."), **rest):
        request = Request(system, messages, **rest)
        await reply(connect(ref), kit.responses_sse(*kit.responses_text(0, "."), kit.responses_end()), request)
        return wire.request

    return sent


async def test_text_thinking_and_calls_come_as_they_are_made(connect, ask, kit):
    body = kit.responses_sse(
        *kit.responses_thinking(0, "xyz", "Hm.", "Well."),
        *kit.responses_text(1, "I ", "look."),
        *kit.responses_call(2, "call_1", "read", '{"pa', 'th": "a.py"}'),
        *kit.responses_call(3, "call_2", "ls"),
        kit.responses_end(),
    )
    read, ls = ToolCall("call_1", "read", {"path": "a.py"}), ToolCall("call_2", "ls", {})

    *events, reply = await ask(connect(REF), kit.Answer([body]))

    assert events == [
        ThinkingDelta("Hm."),
        ThinkingDelta("\n\n"),
        ThinkingDelta("Well."),
        TextDelta("I "),
        TextDelta("look."),
        CallReady(read),
        CallReady(ls),
    ]
    thinking, *said = reply.message.parts
    assert said == [Text("I look.", "commentary"), read, ls]
    assert (thinking.text, thinking.opaque["encrypted_content"]) == ("Hm.\n\nWell.", "xyz")
    assert (reply.stop, reply.message.origin) == ("tools", REF)


async def test_nothing_is_stored_and_models_think_beside_tools(sent, wire):
    request = await sent(user("a"), tools=TOOLS)
    assert wire.sent[0].target == "/responses"
    assert (request["store"], request["include"]) == (False, ["reasoning.encrypted_content"])
    assert request["reasoning"] == {"summary": "auto"}
    assert request["instructions"] == "You are Odin.\n\nBe brief."
    assert request["input"] == [{"role": "user", "content": [{"type": "input_text", "text": "a"}]}]
    (tool,) = request["tools"]
    assert (tool["name"], tool["parameters"], tool["strict"]) == ("ls", TOOLS[0].schema, False)


async def test_a_conversation_has_one_key_for_the_cache(sent):
    first = await sent(user("a"))
    later = await sent(user("a"), Message("assistant", (Text("b"),)), user("c"))
    switched = await sent(user("a"), system=("You are Odin.", "Mode: edit_mode"))
    other = await sent(user("b"))
    assert first["prompt_cache_key"] == later["prompt_cache_key"] != other["prompt_cache_key"]
    assert switched["prompt_cache_key"] == first["prompt_cache_key"]


async def test_thinking_goes_back_whole_and_before_what_came_of_it(connect, reply, sent, kit):
    body = kit.responses_sse(
        *kit.responses_thinking(0, "xyz", "Hm."), *kit.responses_call(1, "call_1", "ls", "{}"), kit.responses_end()
    )
    answer = await reply(connect(REF), body)
    result = Message("user", (ToolResult("call_1", "ls", "a.py"),))

    own = await sent(user("a"), answer.message, result, ref=f"{REF}@high")
    assert own["input"][1:] == [
        THOUGHT,
        {"type": "function_call", "call_id": "call_1", "name": "ls", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "a.py"},
    ]
    foreign = await sent(user("a"), answer.message, result, ref=PLAIN)
    assert foreign["input"] == [own["input"][0], *own["input"][2:]]


@pytest.mark.parametrize("rest", [(), (Text(" \n"),)])
async def test_a_thought_of_which_nothing_came_is_not_sent(rest, sent):
    request = await sent(user("a"), Message("assistant", (LOOKING, *rest), REF), user("b"))
    assert [item["role"] for item in request["input"]] == ["user", "user"]


async def test_thinking_that_is_not_encrypted_is_shown_and_not_sent_back(connect, reply, sent, kit):
    body = kit.responses_sse(*kit.responses_thinking(0, None, "Hm."), *kit.responses_text(1, "a"), kit.responses_end())
    answer = await reply(connect(REF), body)
    assert answer.message.parts[0] == Thinking("Hm.")
    assert "reasoning" not in {item.get("type") for item in (await sent(user("a"), answer.message))["input"]}


async def test_what_a_text_was_for_goes_back_to_its_own_model_only(sent):
    said = Message("assistant", (Text("I look.", "commentary"),), REF)
    item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]}
    assert (await sent(user("a"), said))["input"][1] == {**item, "phase": "commentary"}
    assert (await sent(user("a"), said, ref=PLAIN))["input"][1] == item


async def test_results_go_first_with_what_they_show(sent):
    shown = (Image("image/png", "aGk="), Document("aGk=", "a.pdf"))
    results = (
        Text("b"),
        ToolResult("1", "Read", "two files", attached=shown),
        ToolResult("2", "ls", "no", failed=True),
    )
    calls = (ToolCall("1", "Read", {"path": "ä"}), ToolCall("2", "ls", {}))
    request = await sent(user("a"), Message("assistant", calls, REF), Message("user", results))
    assert json.loads(request["input"][1]["arguments"]) == {"path": "ä"}
    assert request["input"][3:] == [
        {
            "type": "function_call_output",
            "call_id": "1",
            "output": [
                {"type": "input_text", "text": "two files"},
                {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,aGk="},
                {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="},
            ],
        },
        {"type": "function_call_output", "call_id": "2", "output": "no"},
        {"role": "user", "content": [{"type": "input_text", "text": "b"}]},
    ]


async def test_tools_stay_listed_when_they_must_not_be_called(sent):
    free = await sent(user("a"), tools=TOOLS)
    bound = await sent(user("a"), tools=TOOLS, may_call=False)
    assert free["tools"] == bound["tools"]
    assert "tool_choice" not in free
    assert bound["tool_choice"] == "none"


async def test_temperature_length_and_effort_follow_the_catalog(sent):
    thinks = await sent(user("a"), ref=f"{REF}@low", temperature=0.2, max_tokens=10_000_000)
    assert (thinks["max_output_tokens"], thinks["reasoning"]["effort"]) == (128_000, "low")
    assert "temperature" not in thinks
    plain = await sent(user("a"), ref=PLAIN, temperature=0.2, max_tokens=100)
    assert (plain["max_output_tokens"], plain["temperature"]) == (100, 0.2)
    assert not {"reasoning", "include"} & plain.keys()


@pytest.mark.parametrize("raw", ['{"command": "rm -rf build", "cwd": "/tm', '{"a": 1, "a": 2}', "{} {}", "null"])
async def test_a_call_that_cannot_be_read_is_no_call_to_run(raw, connect, ask, kit):
    body = kit.responses_sse(*kit.responses_call(0, "call_1", "run", raw), kit.responses_end())
    (reply,) = await ask(connect(REF), kit.Answer([body]))
    (call,) = reply.message.calls
    assert call.arguments == {}
    assert call.problem


@pytest.mark.parametrize(
    "reason", [*typing.get_args(typing.get_args(IncompleteDetails.__annotations__["reason"])[0]), "x"]
)
async def test_calls_stay_only_if_the_answer_is_complete(reason, connect, reply, kit):
    items = [*kit.responses_text(0, "I look."), *kit.responses_call(1, "call_1", "ls", "{}")]
    end = kit.responses_end("incomplete", incomplete_details={"reason": reason})
    answer = await reply(connect(REF), kit.responses_sse(*items, end))
    assert answer.stop == STOPS.get(reason, "unknown")
    assert answer.message.parts == (Text("I look.", "commentary"),)
    assert (reason in answer.detail) == (answer.stop == "unknown")


async def test_an_answer_without_calls_is_the_end(connect, reply, kit):
    assert (
        await reply(connect(REF), kit.responses_sse(*kit.responses_text(0, "a"), kit.responses_end()))
    ).stop == "end"


async def test_a_refusal_is_told(connect, reply, kit):
    said = {"id": "msg_0", "type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}
    answer = await reply(connect(REF), kit.responses_sse(*kit.responses_item(0, said, said), kit.responses_end()))
    assert (answer.stop, answer.detail) == ("refused", "No.")


async def test_usage_tells_what_the_cache_served(connect, reply, kit):
    usage = {
        "input_tokens": 132,
        "input_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 12},
        "output_tokens": 17,
        "output_tokens_details": {"reasoning_tokens": 10},
        "total_tokens": 149,
    }
    answer = await reply(connect(REF), kit.responses_sse(*kit.responses_text(0, "a"), kit.responses_end(usage=usage)))
    assert answer.usage == Usage(20, 17, 100, 12, context_tokens=132)


async def test_what_is_newer_than_odin_is_ignored(connect, reply, kit):
    item = {"id": "x", "type": "something_new"}
    events = [*kit.responses_item(0, item, item), {"type": "response.new"}, *kit.responses_text(1, "Hello.")]
    answer = await reply(connect(REF), kit.responses_sse(*events, kit.responses_end()))
    assert answer.message.text == "Hello."


@pytest.mark.parametrize("fault", ["missing start", "missing end", "twice", "after its end"])
async def test_events_out_of_order_end_the_stream(fault, connect, reply, kit):
    added, delta, done = kit.responses_call(0, "call_1", "ls", "{}")
    events = {
        "missing start": [delta, done],
        "missing end": [added, delta],
        "twice": [added, added, done],
        "after its end": [added, done, delta],
    }[fault]
    with pytest.raises(ModelUnavailable, match="cut off"):
        await reply(connect(REF), kit.responses_sse(*events, kit.responses_end()))


async def test_who_may_not_see_what_models_think_is_answered_all_the_same(connect, ask, wire, kit):
    refusal = kit.openai_error(400, "Your organization must be verified to generate reasoning summaries.")
    answer = kit.Answer([kit.responses_sse(*kit.responses_text(0, "a"), kit.responses_end())])
    model = connect(f"{REF}@high")

    for answers in ([kit.Answer([refusal], 400), answer], [answer]):
        *_, reply = await ask(model, *answers)
        assert reply.message.text == "a"

    assert [it.body["reasoning"] for it in wire.sent] == [
        {"summary": "auto", "effort": "high"},
        {"effort": "high"},
        {"effort": "high"},
    ]


async def test_what_is_refused_otherwise_is_not_tried_again(connect, ask, wire, kit):
    with pytest.raises(ModelError, match="refused"):
        await ask(connect(REF), kit.Answer([kit.openai_error(400, "bad thing")], 400))
    assert len(wire.sent) == 1


@pytest.mark.parametrize("host", ["api.openai.com", "eu.api.openai.com"])
async def test_openai_itself_is_asked_for_responses(host, monkeypatch, wire, sent):
    monkeypatch.setenv("HTTP_PROXY", wire.url)
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://{host}/v1/")
    await sent(user("a"))
    assert wire.sent[0].target == f"http://{host}/v1/responses"


@pytest.mark.parametrize("path", ["", "/v1"])
async def test_other_servers_are_asked_for_chat_completions(path, monkeypatch, connect, reply, wire, kit):
    monkeypatch.setenv("OPENAI_BASE_URL", f"{wire.url}{path}")
    await reply(connect(REF), kit.openai_sse(kit.openai_chunk({"content": "a"}, "stop")))
    assert wire.sent[0].target == f"{path}/chat/completions"


def test_every_error_of_the_sdk_is_known():
    assert set(typing.get_args(ResponseError.__annotations__["code"])) <= set(STATUSES)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"code": "rate_limit_exceeded", "message": "No."}, ModelUnavailable),
        ({"code": "invalid_prompt", "message": "No."}, ModelError),
        ({"code": "invalid_api_key", "message": "No."}, KeyRejected),
        ({"code": "something_new", "message": "No."}, ModelUnavailable),
    ],
)
@pytest.mark.parametrize("form", ["failed", "event", "nested"])
async def test_an_error_within_an_answer_goes_by_its_code(form, error, expected, connect, ask, kit):
    said = {
        "failed": kit.responses_end("failed", error=error),
        "event": {"type": "error", **error},
        "nested": {"type": "error", "error": error},
    }[form]
    with pytest.raises(expected) as caught:
        await ask(connect(REF), kit.Answer([kit.responses_sse(*kit.responses_text(0, "a"), said)]))
    assert type(caught.value) is expected
