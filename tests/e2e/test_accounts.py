"""What an account has, where a model is chosen, and the provider's own count of what the next message would send."""

import json

import pytest
from lsprotocol import types

from tests.e2e.steps import says
from tests.support.wire import KEY, Answer

CLAUDE = {
    "id": "claude-new-1",
    "type": "model",
    "display_name": "Claude New",
    "created_at": "2026-11-01T00:00:00Z",
    "lifecycle": "active",
    "max_input_tokens": 200_000,
    "max_tokens": 64_000,
}
LISTED = {
    "provider": "anthropic",
    "title": "Anthropic",
    "models": [{"ref": "anthropic/claude-new-1", "title": "Claude New", "context": 200_000, "maxOutput": 64_000}],
    "problem": "",
}
COUNTED = ("messages", "system", "tools", "tool_choice", "thinking", "output_config", "model")


def told(body, status=200):
    return Answer([json.dumps(body).encode()], status, {"content-type": "application/json"}, framing="length")


def has(*models):
    return told({"data": [*models], "has_more": False})


async def test_accounts_are_asked_on_demand_and_nobody_waits_who_does_not_want_to(start, wire, anthropic):
    client = await start(**anthropic)
    assert "accounts" not in await client.command("model")
    assert wire.sent == []

    wire.play(has(CLAUDE), has())
    wire.may_answer.clear()
    at_once = await client.command("model", askAccounts="beside")
    assert "accounts" not in at_once
    assert at_once["available"]

    wire.may_answer.set()
    assert (await client.command("model", askAccounts="wait"))["accounts"] == [LISTED]
    assert (await client.command("model", askAccounts="wait"))["accounts"] == [LISTED]
    assert (await client.command("model"))["accounts"] == [LISTED]
    assert len(wire.sent) == 1
    assert "AsyncAnthropic" in wire.sent[0].headers["user-agent"]

    anew = await client.command("model", askAccounts="anew")
    assert anew["accounts"] == [{**LISTED, "models": []}]
    assert len(wire.sent) == 2


async def test_an_account_that_refuses_is_one_line_and_is_asked_again(start, wire, anthropic):
    client = await start(**anthropic)
    wire.play(told({"type": "error", "error": {"type": "authentication_error", "message": f"bad {KEY}"}}, 401))
    refused = await client.command("model", askAccounts="wait")
    assert refused["accounts"] == [{**LISTED, "models": [], "problem": "bad [key]; check the key"}]
    assert refused["available"]

    wire.play(has(CLAUDE))
    assert (await client.command("model", askAccounts="wait"))["accounts"] == [LISTED]


async def test_what_accounts_have_is_listed_in_a_chat(start, wire, anthropic):
    client = await start(**anthropic)
    wire.play(has(CLAUDE))
    assert "Your accounts are being asked" in (await client.command("ask", text="/model"))["answer"]
    await client.command("model", askAccounts="wait")
    assert "- `/model anthropic/claude-new-1`" in (await client.command("ask", text="/model"))["answer"]


@pytest.mark.parametrize(
    ("mode", "earlier"),
    [("ask", ()), ("plan", ("edit",)), ("edit", ("plan", "ask"))],
    ids=["the first", "in another mode", "with a plan"],
)
async def test_the_provider_counts_the_body_that_the_next_message_sends(start, wire, anthropic, mode, earlier):
    client = await start(**anthropic)
    for before in earlier:
        wire.play(says("# Greet\n\n## Steps\n\n1. Shout\n2. Sing\n" if before == "plan" else "hello"))
        await client.command(before, text="hi")
    wire.play(told({"input_tokens": 4711}), says("again"))

    preview = await client.command("context", text="and now?", mode=f"{mode}_mode", exact=True)
    assert preview["counted"] == 4711
    assert "notCounted" not in preview
    await client.command(mode, text="and now?")

    counting, turn = wire.sent[-2:]
    assert counting.target == "/v1/messages/count_tokens"
    assert counting.body == {name: turn.body[name] for name in COUNTED if name in turn.body}
    assert {"messages", "system", "tools"} <= counting.body.keys()
    assert "AsyncAnthropic" in counting.headers["user-agent"]


async def test_nothing_is_counted_exactly_unless_somebody_wants_it(start, wire, anthropic):
    client = await start(**anthropic)
    assert "counted" not in await client.command("context", text="hi")
    assert wire.sent == []


async def test_a_provider_that_does_not_count_says_so_beside_the_estimate(start):
    client = await start(options={"settings": {"model": "offline/odin"}})
    preview = await client.command("context", text="hi", exact=True)
    assert preview["tokens"] > 0
    assert "counted" not in preview
    assert preview["notCounted"] == "the provider of offline/odin does not count tokens"


async def test_a_chat_says_both(start, wire, anthropic):
    client = await start(**anthropic)
    wire.play(told({"input_tokens": 4711}))
    answer = (await client.command("ask", text="/context exact"))["answer"]
    assert "The next message would send about" in answer
    assert "Its provider counts 4,711 tokens." in answer


@pytest.fixture
async def complete(start, wire, anthropic):
    """The names of models where the text ends, at once and when the account was asked."""
    client = await start(**anthropic)

    async def complete(uri, text):
        client.lsp.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "json", 1, text)))
        last = text.rpartition("\n")[2]
        place = types.Position(text.count("\n"), len(last))
        found = await client.lsp.text_document_completion_async(
            types.CompletionParams(types.TextDocumentIdentifier(uri), place)
        )
        client.lsp.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
        return found

    complete.client = client
    return complete


SETTINGS = (
    '{\n  "model": "anth',
    '{"smallModel":"anth',
    '{"subagentModel": "anth',
    '{"fallbackModels": ["a/b", "anth',
    '{"roles": {"r": {"models": [\n  "a/b",\n  "anth',
)
ELSEWHERE = (
    ("odinconfig.json", '{"titles": "anth'),
    ("odinconfig.json", '{"model": '),
    ("odinconfig.json", '{"fallbackModels": ["a/b", '),
    ("package.json", '{"model": "anth'),
)


async def test_settings_of_odin_complete_the_models_that_the_account_has(complete, root, wire):
    uri = (root / "odinconfig.json").as_uri()
    wire.play(has(CLAUDE))
    at_once = await complete(uri, SETTINGS[0])
    assert "anthropic/claude-sonnet-5-5@low" in [it.label for it in at_once.items]
    assert at_once.is_incomplete

    await complete.client.command("model", askAccounts="wait")
    for text in SETTINGS:
        whole = await complete(uri, text)
        (new,) = [it for it in whole.items if it.label == "anthropic/claude-new-1"]
        assert (new.detail, new.text_edit.new_text) == ("Claude New", "anthropic/claude-new-1")
        assert new.text_edit.range.end.character - new.text_edit.range.start.character == len("anth")
        assert not whole.is_incomplete
    message = await complete("odin://prompt/workspace", "/model anthropic/")
    assert "anthropic/claude-new-1" in [it.label for it in message.items]


async def test_nothing_else_completes_models_or_asks_for_them(complete, root, wire):
    assert [await complete((root / name).as_uri(), text) for name, text in ELSEWHERE] == [None] * len(ELSEWHERE)
    assert wire.sent == []
