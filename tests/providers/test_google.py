"""Google's own ways: whole calls in a chunk, signatures, reasons in the error's details."""

import json

import pytest
from google.genai.types import FinishReason

from odin_lsp.errors import ContextTooLong, KeyRejected, ModelUnavailable
from odin_lsp.messages import Document, Image, Message, Text, Thinking, ToolCall, ToolResult, user
from odin_lsp.models.base import CallReady, Request, TextDelta, ThinkingDelta, ToolSpec
from odin_lsp.models.google import STOPS
from odin_lsp.records import Usage

REF = "google/gemini-3.8-flash"
PLAIN = "google/gemini-unlisted"
SIGNATURE = "c2lnbmF0dXJl"
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": False}
TOOLS = (ToolSpec("ls", "List a folder.", SCHEMA),)


@pytest.fixture
async def sent(connect, reply, wire, kit):
    """The request's body for some messages."""

    async def sent(*messages, ref=REF, **rest):
        request = Request(("You are Odin.", "Be brief."), messages, **rest)
        await reply(connect(ref), kit.google_sse(kit.google_chunk({"text": "."}, reason="STOP")), request)
        return wire.request

    return sent


async def test_text_thinking_and_calls_come_as_they_are_made(connect, ask, kit):
    body = kit.google_sse(
        kit.google_chunk({"text": "Hm", "thought": True}),
        kit.google_chunk({"text": ".", "thought": True}),
        kit.google_chunk({"text": "I "}),
        kit.google_chunk({"text": "look."}),
        kit.google_chunk(
            {"functionCall": {"id": "1", "name": "ls", "args": {"path": "."}}, "thoughtSignature": SIGNATURE},
            {"functionCall": {"id": "2", "name": "ls", "args": {}}},
        ),
        kit.google_chunk({"text": "", "thoughtSignature": SIGNATURE}, reason="STOP"),
    )
    first = ToolCall("1", "ls", {"path": "."}, signature=SIGNATURE)
    second = ToolCall("2", "ls", {})

    *events, reply = await ask(connect(REF), kit.Answer([body]))

    assert events == [
        ThinkingDelta("Hm"),
        ThinkingDelta("."),
        TextDelta("I "),
        TextDelta("look."),
        CallReady(first),
        CallReady(second),
    ]
    parts = (Thinking("Hm."), Text("I look."), first, second, Text("", SIGNATURE))
    assert reply.message == Message("assistant", parts, REF)
    assert reply.stop == "tools"


async def test_calls_without_an_id_get_one_that_stays_here(connect, reply, sent, kit):
    calls = [kit.google_call("ls", {}), kit.google_call("ls", {})]
    answer = await reply(connect(REF), kit.google_sse(kit.google_chunk(*calls, reason="STOP")))
    one, two = answer.message.calls
    assert one.id != two.id
    results = tuple(ToolResult(call.id, "ls", "a") for call in (one, two))
    request = await sent(user("a"), answer.message, Message("user", results))
    assert "odin" not in json.dumps(request["contents"])


async def test_a_number_that_is_no_json_makes_the_call_unreadable(connect, ask, kit):
    body = kit.google_sse(kit.google_chunk(kit.google_call("ls", {"depth": float("nan")}), reason="STOP"))
    (reply,) = await ask(connect(REF), kit.Answer([body]))
    assert reply.message.calls[0].problem


def test_every_finish_reason_of_the_sdk_is_known():
    assert {reason.value for reason in FinishReason} <= set(STOPS)


@pytest.mark.parametrize(("reason", "stop"), STOPS.items())
async def test_calls_stay_only_if_the_model_waits_for_them(reason, stop, connect, reply, kit):
    body = kit.google_sse(
        kit.google_chunk({"text": "I look."}, kit.google_call("ls", {})), kit.google_chunk(reason=reason)
    )
    answer = await reply(connect(REF), body)
    assert answer.stop == ("tools" if reason == "STOP" else stop)
    assert answer.message.text == "I look."
    assert bool(answer.message.calls) == (reason == "STOP")
    assert answer.detail == {"tools": "", "max_tokens": "the call of ls was cut off"}.get(answer.stop, reason)


async def test_a_finish_reason_that_is_newer_than_odin_is_unknown(connect, reply, kit):
    answer = await reply(connect(REF), kit.google_sse(kit.google_chunk({"text": "a"}, reason="SOMETHING_NEW")))
    assert (answer.stop, answer.detail) == ("unknown", "SOMETHING_NEW")


async def test_an_answer_that_stops_without_calls_is_the_end(connect, reply, kit):
    assert (await reply(connect(REF), kit.google_sse(kit.google_chunk({"text": "a"}, reason="STOP")))).stop == "end"


async def test_a_prompt_that_is_blocked_is_a_refusal(connect, reply, kit):
    blocked = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 9}}
    answer = await reply(connect(REF), kit.google_sse(blocked))
    assert (answer.stop, answer.detail, answer.message.parts) == ("refused", "PROHIBITED_CONTENT", ())
    assert answer.usage.context_tokens == 9


async def test_no_candidates_at_all_are_no_answer(connect, reply, kit):
    with pytest.raises(ModelUnavailable, match="cut off"):
        await reply(connect(REF), kit.google_sse({"usageMetadata": {"promptTokenCount": 9}}))


async def test_a_limit_for_one_request_does_not_start_another(connect, reply, wire, kit):
    chunk = kit.google_chunk({"text": "a"}, reason="CONTINUATION")
    chunk["candidates"][0]["continuationToken"] = "dG9rZW4="
    assert (await reply(connect(REF), kit.google_sse(chunk))).stop == "max_tokens"
    assert len(wire.sent) == 1


async def test_usage_tells_what_the_cache_served(connect, reply, kit):
    counts = {
        "promptTokenCount": 132,
        "cachedContentTokenCount": 100,
        "candidatesTokenCount": 7,
        "thoughtsTokenCount": 10,
        "totalTokenCount": 149,
    }
    chunk = kit.google_chunk({"text": "a"}, reason="STOP", usageMetadata=counts)
    answer = await reply(connect(REF), kit.google_sse(chunk))
    assert answer.usage == Usage(32, 17, 100, 0, context_tokens=132)


async def test_the_model_is_asked_for_a_stream_of_events(sent, wire):
    request = await sent(user("a"))
    assert wire.sent[0].target == "/v1/models/gemini-3.8-flash:streamGenerateContent?alt=sse"
    texts = [part["text"] for part in request["systemInstruction"]["parts"]]
    assert texts == ["You are Odin.", "Be brief."]


async def test_calls_and_results_go_back_by_name_and_id(sent):
    calls = (ToolCall("1", "ls", {"path": "."}, signature=SIGNATURE), ToolCall("2", "ls", {}))
    results = (Text("b"), ToolResult("1", "ls", "a.py"), ToolResult("2", "ls", "no such folder", failed=True))
    request = await sent(user("a"), Message("assistant", calls, REF), Message("user", results))
    assert request["contents"][1] == {
        "role": "model",
        "parts": [
            {"functionCall": {"id": "1", "name": "ls", "args": {"path": "."}}, "thoughtSignature": SIGNATURE},
            {"functionCall": {"id": "2", "name": "ls", "args": {}}},
        ],
    }
    assert request["contents"][2] == {
        "role": "user",
        "parts": [
            {"functionResponse": {"id": "1", "name": "ls", "response": {"output": "a.py"}}},
            {"functionResponse": {"id": "2", "name": "ls", "response": {"error": "no such folder"}}},
            {"text": "b"},
        ],
    }


async def test_images_are_sent(sent):
    request = await sent(Message("user", (Image("image/png", "aGk="), Text("What is this?"))))
    assert request["contents"][0]["parts"][0] == {"inlineData": {"mime_type": "image/png", "data": "aGk="}}


async def test_documents_are_sent_and_what_a_call_shows_comes_behind_its_result(sent):
    result = ToolResult("c", "Read", "two files", attached=(Image("image/png", "aGk="), Document("aGk=", "a.pdf")))
    request = await sent(user("a"), Message("assistant", (ToolCall("c", "Read", {}),)), Message("user", (result,)))
    response, image, document = request["contents"][2]["parts"]
    assert response["functionResponse"]["response"] == {"output": "two files"}
    assert image == {"inlineData": {"mime_type": "image/png", "data": "aGk="}}
    assert document == {"inlineData": {"mime_type": "application/pdf", "data": "aGk="}}


async def test_signatures_go_back_to_their_own_model_only(sent):
    call = ToolCall("1", "ls", {}, signature=SIGNATURE)
    signed = Thinking("Hm.", {"signature": SIGNATURE})
    parts = (Thinking("Oh."), signed, Text("Hello.", SIGNATURE), Text("", SIGNATURE), call)
    result = Message("user", (ToolResult("1", "ls", "a"),))

    own = await sent(user("a"), Message("assistant", parts, REF), result)
    assert own["contents"][1]["parts"] == [
        {"text": "Hm.", "thought": True, "thoughtSignature": SIGNATURE},
        {"text": "Hello.", "thoughtSignature": SIGNATURE},
        {"text": "", "thoughtSignature": SIGNATURE},
        {"functionCall": {"id": "1", "name": "ls", "args": {}}, "thoughtSignature": SIGNATURE},
    ]
    foreign = await sent(user("a"), Message("assistant", parts, PLAIN), result)
    text, called = foreign["contents"][1]["parts"]
    assert text == {"text": "Hello."}
    assert SIGNATURE not in called["thoughtSignature"], "a stranger's call carries Google's mark for strangers"


async def test_messages_of_one_role_are_merged_and_empty_ones_left_out(sent):
    request = await sent(
        user("a"),
        Message("assistant", (Thinking("Hm."), Text(" \n"))),
        user("b"),
        Message("assistant", (Text("c"),)),
        Message("assistant", (Text("d"),)),
        user("e"),
    )
    texts = [(it["role"], [part["text"] for part in it["parts"]]) for it in request["contents"]]
    assert texts == [("user", ["a", "b"]), ("model", ["c", "d"]), ("user", ["e"])]


async def test_tools_stay_listed_when_they_must_not_be_called(sent):
    free = await sent(user("a"), tools=TOOLS)
    bound = await sent(user("a"), tools=TOOLS, may_call=False)
    assert free["tools"] == bound["tools"]
    (declared,) = free["tools"][0]["functionDeclarations"]
    assert declared == {"name": "ls", "description": "List a folder.", "parameters_json_schema": SCHEMA}
    assert "toolConfig" not in free
    assert bound["toolConfig"] == {"functionCallingConfig": {"mode": "NONE"}}


async def test_thinking_and_temperature_follow_the_catalog(sent):
    thinks = (await sent(user("a"), temperature=0.2, max_tokens=10_000_000))["generationConfig"]
    assert thinks == {"maxOutputTokens": 65_536, "thinkingConfig": {"include_thoughts": True}}
    plain = (await sent(user("a"), ref=PLAIN, temperature=0.2, max_tokens=100))["generationConfig"]
    assert plain == {"maxOutputTokens": 100, "temperature": 0.2}


async def test_the_effort_is_a_level_of_thinking(sent, wire):
    listed = (await sent(user("a"), ref=f"{REF}@low"))["generationConfig"]
    assert listed["thinkingConfig"] == {"include_thoughts": True, "thinking_level": "LOW"}
    assert f"{REF.removeprefix('google/')}:" in wire.sent[-1].target
    unlisted = (await sent(user("a"), ref=f"{PLAIN}@high"))["generationConfig"]
    assert unlisted["thinkingConfig"] == {"thinking_level": "HIGH"}


@pytest.mark.parametrize(
    "message",
    [
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "Unable to submit request because the input token count is 33000 but model only supports up to 32768.",
        "Request payload size exceeds the limit: 20971520 bytes.",
    ],
)
async def test_a_request_that_does_not_fit_is_told_apart(message, connect, ask, kit):
    with pytest.raises(ContextTooLong):
        await ask(connect(REF), kit.Answer([kit.google_error(400, message)], 400))


def with_details(body, *details):
    error = json.loads(body)
    error["error"]["details"] = list(details)
    return json.dumps(error).encode()


async def test_a_key_that_is_wrong_comes_as_a_bad_request(connect, ask, kit):
    info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    body = with_details(kit.google_error(400, "API key not valid."), info)
    with pytest.raises(KeyRejected, match="GEMINI_API_KEY"):
        await ask(connect(REF), kit.Answer([body], 400))


async def test_the_time_to_wait_is_among_the_details(connect, ask, kit):
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}
    body = with_details(kit.google_error(429, "You exceeded your current quota."), info)
    with pytest.raises(ModelUnavailable) as caught:
        await ask(connect(REF), kit.Answer([body], 429))
    assert (caught.value.retry_after, caught.value.limited) == (34.5, True)


async def test_a_chunk_of_the_wrong_shape_is_unavailability(connect, ask, kit):
    with pytest.raises(ModelUnavailable):
        await ask(connect(REF), kit.Answer([kit.google_sse({"candidates": "none"})]))
