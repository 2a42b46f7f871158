"""Commands with a slash, through the real server and the terminal."""

import asyncio

import pytest
from pygls.exceptions import JsonRpcException

from tests.e2e.steps import says


async def test_what_odin_does_itself_is_answered_as_a_turn_without_a_request(start, wire, anthropic):
    client = await start(**anthropic)

    outcome = await client.command("ask", turnId="1", text="/help")

    assert "`/compact" in outcome["answer"]
    assert client.kinds("1")[0] == "turnStarted"
    assert wire.sent == []


async def test_a_message_that_changes_the_session_is_answered_like_any(start, script):
    client = await start(**script({"text": "hello"}))
    first = await client.command("ask", text="hi")

    new = await client.command("edit", turnId="2", text="/new")
    again = await client.command("ask", text=f"/resume {first['sessionId']}")

    assert new["sessionId"] != first["sessionId"] == again["sessionId"]
    assert (new["turnId"], new["reason"]) == ("2", "end_turn")


async def test_a_name_that_nobody_has_is_an_error_with_the_nearest(start, script):
    client = await start(**script())

    with pytest.raises(JsonRpcException, match="did you mean /compact"):
        await client.command("ask", text="/compat")


async def test_front_ends_are_told_what_there_is(start, root, script):
    command = root / ".claude" / "commands" / "fix.md"
    command.parent.mkdir(parents=True)
    command.write_text("---\nargument-hint: issue\n---\nFix $1.")
    client = await start(trusted=True, **script())

    listed = (await client.command("slashCommands"))["commands"]

    by_name = {it["name"]: it for it in listed}
    assert by_name["new"] | {"description": ""} == {
        "name": "new",
        "kind": "builtin",
        "description": "",
        "hint": "[title]",
        "how": "session",
        "command": "odin.session.new",
    }
    assert (by_name["fix"]["kind"], by_name["fix"]["hint"], by_name["fix"]["source"]) == (
        "command",
        "issue",
        str(command),
    )


async def test_a_terminal_knows_them_too(run, script):
    code, out, _ = await run("ask", "/cost", **script())
    wrong, _, complaint = await run("ask", "/cots", **script())

    assert (code, out.startswith("This session has cost")) == (0, True)
    assert (wrong, complaint.strip()) == (2, "odin: there is no command /cots; did you mean /cost?")


async def test_a_message_that_is_edited_while_it_waits_means_what_it_says_then(start, wire, anthropic):
    client = await start(**anthropic)
    wire.play(says("one"), says("two"))
    wire.may_answer.clear()
    first = asyncio.create_task(client.command("ask", turnId="1", text="hi"))
    await client.until_kind("turnStarted", "1")
    words = asyncio.create_task(client.command("ask", turnId="2", text="/cost"))
    command = asyncio.create_task(client.command("ask", turnId="3", text="hello"))
    await client.until_kind("turnQueued", "3")

    await client.command("queue", action="edit", turnId="2", text="just words")
    await client.command("queue", action="edit", turnId="3", text="/cost")
    wire.may_answer.set()

    await first
    assert (await words)["answer"] == "two"
    assert (await command)["answer"].startswith("This session has cost")
