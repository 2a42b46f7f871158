"""What Odin sends is what the providers' own SDKs make of typed arguments."""

import json
from dataclasses import replace

import anthropic
import openai
import pytest
from google import genai
from google.genai import types

from odin_lsp.messages import Document, Image, Message, Text, Thinking, ToolCall, ToolResult, user
from odin_lsp.models.base import Request, ToolSpec
from tests.support.wire import DIALECTS, KEY, Answer

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = (ToolSpec("ls", "List a folder: “ä”.", SCHEMA), ToolSpec("read", "Read a file.", {"type": "object"}))
NAMED = ("authorization", "x-goog-api-key", "anthropic-version", "content-type")

ADDED = ("x-team", "openai-organization", "openai-project")


def conversation(ref):
    opaque = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    calls = (
        ToolCall("call_1", "ls", {"path": "ä"}, signature="c2ln"),
        ToolCall("call_2", "read", {"path": "b", "n": 1}),
    )
    shown = (Image("image/png", "aGk="), Document("aGk=", "a.pdf"))
    results = (
        ToolResult("call_1", "ls", 'a.py\n"b"\t\\', attached=shown),
        ToolResult("call_2", "read", "no such file", failed=True),
    )
    return (
        user("Grüße 👋", "second"),
        Message("assistant", (Thinking("Hm.", opaque), Text("I look."), *calls), ref),
        Message("user", (*results, Text("(a reminder)"))),
        Message("assistant", (Text("Done."),), "elsewhere/model"),
        Message("user", (Image("image/png", "aGk="), Text("What is this?"))),
    )


async def by_anthropic(url, model, body):
    client = anthropic.AsyncAnthropic(api_key=KEY, base_url=url, max_retries=0)
    temperature = {"temperature": body.pop("temperature")} if "temperature" in body else None
    async with await client.messages.create(**body, extra_body=temperature) as stream:
        _ = [event async for event in stream]
    await client.close()


async def by_openai(url, model, body):
    client = openai.AsyncOpenAI(api_key=KEY, base_url=url, max_retries=0)
    async with await client.chat.completions.create(**body) as stream:
        _ = [event async for event in stream]
    await client.close()


async def by_google(url, model, body):
    limits = body["generationConfig"]
    config = types.GenerateContentConfig(
        system_instruction=types.Content.model_validate(body["systemInstruction"]),
        tools=[types.Tool.model_validate(it) for it in body["tools"]],
        tool_config=types.ToolConfig.model_validate(body["toolConfig"]) if "toolConfig" in body else None,
        max_output_tokens=limits["maxOutputTokens"],
        temperature=limits.get("temperature"),
        thinking_config=types.ThinkingConfig.model_validate(limits["thinkingConfig"])
        if "thinkingConfig" in limits
        else None,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    contents = [types.Content.model_validate(it) for it in body["contents"]]
    client = genai.Client(vertexai=False, api_key=KEY, http_options=types.HttpOptions(base_url=url))
    answer = await client.aio.models.generate_content_stream(model=model, contents=contents, config=config)
    _ = [chunk async for chunk in answer]
    await client.aio.aclose()
    client.close()


async def by_responses(url, model, body):
    client = openai.AsyncOpenAI(api_key=KEY, base_url=url, max_retries=0)
    async with await client.responses.create(**body) as stream:
        _ = [event async for event in stream]
    await client.close()


SDKS = {"anthropic": by_anthropic, "google": by_google, "openai": by_openai, "openai/responses": by_responses}


async def test_headers_that_the_environment_wants_are_sent_too(dialect, monkeypatch, connect, wire):
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Team: odin\nAuthorization: Bearer other")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Team: odin\nnothing")
    monkeypatch.setenv("OPENAI_ORG_ID", "org")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project")
    wire.play(Answer([dialect.hello]), Answer([dialect.hello]))

    request = Request(("Be brief.",), (user("a"),), TOOLS)
    _ = [event async for event in connect(dialect.ref).stream(request)]
    await SDKS[dialect.name](wire.url, dialect.model, wire.request)

    ours, theirs = ({it: sent.headers.get(it) for it in (*NAMED, *ADDED)} for sent in wire.sent)
    assert ours == theirs


@pytest.mark.parametrize("may_call", [True, False])
@pytest.mark.parametrize("effort", ["", "@high", "plain"])
async def test_the_sdk_would_send_the_same(dialect, effort, may_call, connect, wire):
    name = dialect.plain if effort == "plain" else dialect.model
    ref = f"{dialect.provider}/{name}"
    messages = conversation(ref)
    request = Request(("Be brief.", "Be kind."), messages, TOOLS, temperature=0.2, may_call=may_call)
    wire.play(Answer([dialect.hello]), Answer([dialect.hello]))

    _ = [event async for event in connect(f"{ref}{effort}" if effort == "@high" else ref).stream(request)]
    await SDKS[dialect.name](wire.url, name, wire.request)

    ours, theirs = wire.sent
    assert ours.body == theirs.body
    assert ours.target == theirs.target
    assert {it: ours.headers.get(it) for it in NAMED} == {it: theirs.headers.get(it) for it in NAMED}


async def test_calls_of_tools_that_another_mode_lists_stay_in_the_conversation(dialect, connect, wire):
    messages = conversation(dialect.ref)
    both = Request(("Be brief.", "Mode: edit_mode"), messages, TOOLS, shared_tools=1)
    one = replace(both, tools=TOOLS[:1])
    wire.play(*[Answer([dialect.hello])] * 3)

    for request in (both, one):
        _ = [event async for event in connect(dialect.ref).stream(request)]
    edit, ask = (sent.body for sent in wire.sent)
    await SDKS[dialect.name](wire.url, dialect.model, wire.request)

    assert wire.sent[2].body == ask
    assert {key: it for key, it in ask.items() if key != "tools"} == {
        key: it for key, it in edit.items() if key != "tools"
    }
    assert "no such file" in str(ask)
    assert '"List a folder' in json.dumps(ask["tools"], ensure_ascii=False)
    assert "Read a file." in json.dumps(edit["tools"])
    assert "Read a file." not in json.dumps(ask["tools"])


@pytest.mark.parametrize("model", ["gemini-3.8-flash", "models/gemini-3.8-flash", "tunedModels/mine"])
async def test_the_sdk_would_ask_the_same_model_of_google(model, connect, wire):
    hello = DIALECTS[1].hello
    wire.play(Answer([hello]), Answer([hello]))

    _ = [event async for event in connect(f"google/{model}").stream(Request((), (user("a"),)))]
    client = genai.Client(vertexai=False, api_key=KEY, http_options=types.HttpOptions(base_url=wire.url))
    answer = await client.aio.models.generate_content_stream(model=model, contents="a")
    _ = [chunk async for chunk in answer]
    await client.aio.aclose()
    client.close()

    ours, theirs = wire.sent
    assert ours.target == theirs.target
