"""Chat Completions, in the ways of the many servers that speak it."""

import json
from importlib import import_module

import pytest

from odin_lsp.errors import ContextTooLong, KeyRejected, ModelError, ModelUnavailable
from odin_lsp.messages import Document, Image, Message, Text, Thinking, ToolCall, ToolResult, user
from odin_lsp.models.base import CallReady, Connection, Request, TextDelta, ThinkingDelta, ToolSpec
from odin_lsp.models.openai_chat import STOPS
from odin_lsp.models.reference import ModelRef
from odin_lsp.records import Usage

REF = "openai/gpt-6-sol"
PLAIN = "openai/unlisted"
TOOLS = (ToolSpec("ls", "List a folder.", {"type": "object", "properties": {"path": {"type": "string"}}}),)


@pytest.fixture
async def sent(connect, reply, wire, kit):
    """The request's body for some messages."""

    async def sent(*messages, ref=REF, **rest):
        request = Request(("You are Odin.", "Be brief."), messages, **rest)
        await reply(connect(ref), kit.openai_sse(kit.openai_chunk({"content": "."}, "stop")), request)
        return wire.request

    return sent


async def test_text_and_calls_come_as_they_are_made(connect, ask, kit):
    body = kit.openai_sse(
        kit.openai_chunk({"role": "assistant", "content": "", "refusal": None}),
        kit.openai_chunk({"content": "I "}),
        kit.openai_chunk({"content": "look."}),
        *kit.openai_call(0, "call_1", "read", '{"pa', 'th": "a.py"}'),
        *kit.openai_call(1, "call_2", "ls"),
        kit.openai_chunk({}, "tool_calls"),
    )
    read, ls = ToolCall("call_1", "read", {"path": "a.py"}), ToolCall("call_2", "ls", {})
    *events, reply = await ask(connect(REF), kit.Answer([body]))
    assert events == [TextDelta("I "), TextDelta("look."), CallReady(read), CallReady(ls)]
    assert reply.message == Message("assistant", (Text("I look."), read, ls), REF)
    assert reply.stop == "tools"


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
async def test_thinking_is_shown_and_not_sent_back(name, connect, ask, sent, kit):
    body = kit.openai_sse(
        kit.openai_chunk({name: "Hm"}), kit.openai_chunk({name: "."}), kit.openai_chunk({"content": "a"}, "stop")
    )
    *events, reply = await ask(connect(REF), kit.Answer([body]))
    assert events[:2] == [ThinkingDelta("Hm"), ThinkingDelta(".")]
    assert reply.message.parts == (Thinking("Hm."), Text("a"))
    request = await sent(user("a"), reply.message, user("b"))
    assert request["messages"][2] == {"role": "assistant", "content": "a"}


async def test_calls_that_share_an_index_are_told_apart_by_their_ids(connect, reply, kit):
    calls = [*kit.openai_call(0, "a", "ls", "{}"), *kit.openai_call(0, "b", "ls", "{}")]
    answer = await reply(connect(REF), kit.openai_sse(*calls, kit.openai_chunk({}, "tool_calls")))
    assert [call.id for call in answer.message.calls] == ["a", "b"]


async def test_calls_without_an_id_get_one(connect, reply, kit):
    calls = [*kit.openai_call(0, "", "ls", "{}"), *kit.openai_call(1, "", "ls", "{}")]
    answer = await reply(connect(REF), kit.openai_sse(*calls, kit.openai_chunk({}, "tool_calls")))
    one, two = answer.message.calls
    assert one.id
    assert one.id != two.id


async def test_pieces_of_a_call_that_never_began_end_the_stream(connect, reply, kit):
    _, piece = kit.openai_call(3, "", "ls", "{}")
    with pytest.raises(ModelUnavailable, match="cut off"):
        await reply(connect(REF), kit.openai_sse(piece, kit.openai_chunk({}, "tool_calls")))


@pytest.mark.parametrize("raw", ['{"command": "rm -rf build", "cwd": "/tm', '{"a": 1, "a": 2}', "{} {}", "null"])
async def test_a_call_that_cannot_be_read_is_no_call_to_run(raw, connect, ask, kit):
    body = kit.openai_sse(*kit.openai_call(0, "call_1", "run", raw), kit.openai_chunk({}, "tool_calls"))
    (reply,) = await ask(connect(REF), kit.Answer([body]))
    (call,) = reply.message.calls
    assert call.arguments == {}
    assert call.problem


@pytest.mark.parametrize(
    ("reason", "stop"),
    [*STOPS.items(), ("something_new", "unknown"), (None, "unknown")],
)
async def test_calls_stay_only_if_the_model_waits_for_them(reason, stop, connect, reply, kit):
    call = kit.openai_call(0, "call_1", "ls", "{}")
    text = kit.openai_chunk({"content": "I look."})
    answer = await reply(connect(REF), kit.openai_sse(text, *call, kit.openai_chunk({}, reason)))
    stop = "tools" if reason == "stop" else stop
    assert answer.stop == stop
    assert answer.message.text == "I look."
    assert bool(answer.message.calls) == (stop == "tools")
    assert bool(answer.detail) == (stop in ("unknown", "max_tokens"))


@pytest.mark.parametrize("reason", ["stop", "tool_calls", "function_call"])
async def test_an_answer_without_calls_is_the_end(reason, connect, reply, kit):
    assert (await reply(connect(REF), kit.openai_sse(kit.openai_chunk({"content": "a"}, reason)))).stop == "end"


async def test_a_stop_with_nothing_but_unreadable_calls_is_malformed(connect, reply, kit):
    call = kit.openai_call(0, "call_1", "ls", '{"path": ')
    assert (await reply(connect(REF), kit.openai_sse(*call, kit.openai_chunk({}, "stop")))).stop == "malformed"


async def test_a_call_that_was_cut_off_is_named(connect, reply, kit):
    call = kit.openai_call(0, "call_1", "write_file", '{"content": "im')
    answer = await reply(connect(REF), kit.openai_sse(*call, kit.openai_chunk({}, "length")))
    assert answer.message.parts == ()
    assert "write_file" in answer.detail


async def test_a_refusal_is_told(connect, reply, kit):
    chunks = [kit.openai_chunk({"refusal": "I can"}), kit.openai_chunk({"refusal": "not."}, "stop")]
    answer = await reply(connect(REF), kit.openai_sse(*chunks))
    assert (answer.stop, answer.detail) == ("refused", "I cannot.")


async def test_usage_tells_what_the_cache_served(connect, reply, kit):
    usage = {
        "prompt_tokens": 132,
        "completion_tokens": 17,
        "total_tokens": 149,
        "prompt_tokens_details": {"cached_tokens": 100},
        "completion_tokens_details": {"reasoning_tokens": 10},
    }
    last = {**kit.openai_chunk({}), "choices": [], "usage": usage}
    answer = await reply(connect(REF), kit.openai_sse(kit.openai_chunk({"content": "a"}, "stop"), last))
    assert answer.usage == Usage(32, 17, 100, 0, context_tokens=132)


async def test_usage_is_asked_for(sent, wire):
    request = await sent(user("a"))
    assert wire.sent[0].target == "/chat/completions"
    assert (request["stream"], request["stream_options"]) == (True, {"include_usage": True})


async def test_what_is_newer_than_odin_is_ignored(connect, reply, kit):
    chunks = [
        {"object": "something.new"},
        kit.openai_chunk({"new": [1]}),
        {**kit.openai_chunk({}), "choices": None},
        kit.openai_chunk({"content": "Hello.", "tool_calls": None}, "stop"),
    ]
    assert (await reply(connect(REF), kit.openai_sse(*chunks))).message.parts == (Text("Hello."),)


async def test_results_follow_their_calls_at_once(sent):
    calls = (Text("I look."), ToolCall("call_1", "ls", {"path": "ä"}), ToolCall("call_2", "ls", {}))
    results = (Text("b"), ToolResult("call_1", "ls", "a.py"), ToolResult("call_2", "ls", "no such folder", failed=True))
    request = await sent(user("a"), Message("assistant", calls, REF), Message("user", results))
    system, first, assistant, *rest = request["messages"]
    assert system == {"role": "system", "content": "You are Odin.\n\nBe brief."}
    assert first == {"role": "user", "content": [{"type": "text", "text": "a"}]}
    assert assistant["content"] == "I look."
    assert [call["id"] for call in assistant["tool_calls"]] == ["call_1", "call_2"]
    assert json.loads(assistant["tool_calls"][0]["function"]["arguments"]) == {"path": "ä"}
    assert rest == [
        {"role": "tool", "tool_call_id": "call_1", "content": "a.py"},
        {"role": "tool", "tool_call_id": "call_2", "content": "no such folder"},
        {"role": "user", "content": [{"type": "text", "text": "b"}]},
    ]


async def test_images_are_sent(sent):
    request = await sent(Message("user", (Image("image/png", "aGk="), Text("What is this?"))))
    image, text = request["messages"][1]["content"]
    assert image == {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    assert text == {"type": "text", "text": "What is this?"}


async def test_documents_are_sent_and_what_a_call_shows_comes_behind_its_result(sent):
    result = ToolResult("c", "Read", "two files", attached=(Image("image/png", "aGk="), Document("aGk=", "a.pdf")))
    call = Message("assistant", (ToolCall("c", "Read", {}),))
    request = await sent(user("a"), call, Message("user", (result, Text("b"))))
    assert request["messages"][-2:] == [
        {"role": "tool", "tool_call_id": "c", "content": "two files"},
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
                {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="}},
                {"type": "text", "text": "b"},
            ],
        },
    ]


async def test_strangers_thinking_and_empty_messages_are_left_out(sent):
    foreign = Thinking("Hm.", {"type": "thinking", "thinking": "Hm.", "signature": "secret"})
    request = await sent(
        user("a"),
        Message("assistant", (foreign, Text(" \n"))),
        Message("assistant", (foreign, Text("b", "secret"), ToolCall("1", "ls", {}, signature="secret"))),
        Message("user", (ToolResult("1", "ls", "c"),)),
        user(),
    )
    assert [message["role"] for message in request["messages"]] == ["system", "user", "assistant", "tool"]
    assert "secret" not in json.dumps(request)


async def test_tools_stay_listed_when_they_must_not_be_called(sent):
    free = await sent(user("a"), tools=TOOLS)
    bound = await sent(user("a"), tools=TOOLS, may_call=False)
    assert free["tools"] == bound["tools"]
    assert free["tools"][0]["function"]["parameters"] == TOOLS[0].schema
    assert "tool_choice" not in free
    assert bound["tool_choice"] == "none"


async def test_temperature_and_length_follow_the_catalog(sent):
    thinks = await sent(user("a"), temperature=0.2, max_tokens=10_000_000)
    assert thinks["max_tokens"] == 128_000
    assert "temperature" not in thinks
    plain = await sent(user("a"), ref=PLAIN, temperature=0.2, max_tokens=100)
    assert (plain["max_tokens"], plain["temperature"]) == (100, 0.2)
    assert "max_completion_tokens" not in plain


async def test_the_effort_is_sent_as_such(sent):
    named = await sent(user("a"), ref=f"{PLAIN}@low", tools=TOOLS)
    assert (named["model"], named["reasoning_effort"]) == ("unlisted", "low")
    assert "reasoning_effort" not in await sent(user("a"), ref=PLAIN, tools=TOOLS)


async def test_an_at_in_the_name_of_a_model_is_part_of_it(sent):
    assert (await sent(user("a"), ref="openai/my@model"))["model"] == "my@model"
    both = await sent(user("a"), ref="openai/my@model@high")
    assert (both["model"], both["reasoning_effort"]) == ("my@model", "high")


async def test_a_server_of_ones_own_wants_no_key(monkeypatch, connect, reply, wire, kit):
    monkeypatch.delenv("OPENAI_API_KEY")
    await reply(connect(REF), kit.openai_sse(kit.openai_chunk({"content": "a"}, "stop")))
    assert wire.sent[0].headers["authorization"] == "Bearer no-key-needed"


def test_openai_itself_wants_a_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_BASE_URL")
    with pytest.raises(KeyRejected, match="OPENAI_API_KEY"):
        import_module("odin_lsp.models.openai").connect(ModelRef.of(REF), Connection())


@pytest.mark.parametrize(
    ("status", "code", "message"),
    [
        (400, "context_length_exceeded", "Too much."),
        (400, None, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000."),
        (400, None, "Input tokens exceed the configured limit of 272000 tokens."),
        (400, None, "the request exceeds the available context size. try increasing the context size"),
        (400, None, "Please reduce the length of the messages or completion."),
        (400, None, "the model is loaded with context length of only 4096 tokens, which is not enough"),
        (500, None, "input length exceeds the context length"),
        (429, "rate_limit_exceeded", "Request too large for gpt-6-sol on tokens per min (TPM): Limit 30000"),
    ],
)
async def test_a_request_that_does_not_fit_is_told_apart(status, code, message, connect, ask, kit):
    body = kit.openai_error(status, message).replace(b'"code": null', f'"code": {json.dumps(code)}'.encode())
    with pytest.raises(ContextTooLong):
        await ask(connect(REF), kit.Answer([body], status))


async def test_a_spent_budget_is_not_waited_for(connect, ask, kit):
    body = kit.openai_error(429, "You exceeded your current quota.").replace(b"some_error", b"insufficient_quota")
    with pytest.raises(ModelError, match="billing") as caught:
        await ask(connect(REF), kit.Answer([body], 429))
    assert type(caught.value) is ModelError


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"message": "No.", "code": 502}, ModelUnavailable),
        ({"message": "No.", "code": 401}, KeyRejected),
        ({"message": "No.", "code": "rate_limit_exceeded"}, ModelUnavailable),
        ({"message": "No.", "type": "something_new"}, ModelUnavailable),
        ("just text", ModelUnavailable),
    ],
)
async def test_an_error_within_an_answer_goes_by_its_code(error, expected, connect, ask, kit):
    body = kit.sse(kit.openai_chunk({"content": "a"}), {"error": error})
    with pytest.raises(expected) as caught:
        await ask(connect(REF), kit.Answer([body]))
    assert type(caught.value) is expected
