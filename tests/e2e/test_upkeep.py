"""What can be done to a conversation between its turns, from an editor and from a terminal."""

import asyncio
import json

import pytest
from pygls.exceptions import JsonRpcException

from tests.e2e.steps import says
from tests.support import wire as kit


async def test_a_note_and_a_command_are_told_with_the_next_message(start, wire, anthropic):
    client = await start(**anthropic)
    wire.play(says("I see"))

    noted = await client.command("note", text="the build is red")
    ran = await client.command("ask", text="!cat greet.py", turnId="run")
    outcome = await client.command("ask", text="why?")

    assert (noted, ran["steps"], outcome["answer"]) == ({"noted": True}, 0, "I see")
    assert ran["answer"].startswith("def greet(name):")
    [request] = wire.sent
    sent = json.dumps(request.body["messages"])
    assert sent.index("the build is red") < sent.index("def greet(name):") < sent.index("why?")
    kinds = [it["event"]["kind"] for it in client.events if it["turnId"] == "run"]
    assert (kinds[0], "toolFinished" in kinds, "turnFinished" in kinds) == ("turnStarted", True, True)


async def test_an_answer_is_taken_back_and_given_anew(start, wire, anthropic):
    client = await start(**anthropic)
    wire.play(says("no"), says("yes"))
    await client.command("ask", text="well?")

    removed = await client.command("removeLast")
    outcome = await client.command("continue")

    assert (removed, outcome["answer"]) == ({"removed": True}, "yes")
    told = [it["event"]["message"] for it in client.events if it["event"]["kind"] == "notice"]
    assert told == ["removed from what the model reads: no"]
    assert wire.sent[1].body["messages"] == wire.sent[0].body["messages"]


async def test_a_conversation_is_made_shorter_and_emptied(start, wire, anthropic):
    client = await start(**anthropic)
    wire.play(*[says("word " * 800)] * 3, says("a summary of the names"), says("fresh"))
    for text in ("one", "two", "three"):
        await client.command("ask", text=text)

    sizes = await client.command("compact", focus="the names")
    session = await client.command("clear")
    outcome = await client.command("ask", text="hello")

    assert sizes["after"] < sizes["before"]
    assert "keep what the user asks for: the names" in json.dumps(wire.sent[3].body["system"])
    assert (session["sessionId"], session["messages"]) == (outcome["sessionId"], 0)
    assert len(wire.sent[4].body["messages"]) == 1


async def test_c_101_a_summary_that_is_being_written_is_seen_and_cancelled(start, wire, anthropic):
    client = await start(**anthropic)
    wire.play(*[says("word " * 800)] * 3, kit.Answer([kit.anthropic_sse(kit.anthropic_start())], held=True))
    for text in ("one", "two", "three"):
        await client.command("ask", text=text)
    compacting = asyncio.create_task(client.command("compact"))
    await client.until(lambda it: it["event"] == {**it["event"], "kind": "compacted", "status": "started"})

    assert (await client.command("state"))["compacting"]
    assert (await client.command("cancel", only="compaction"))["cancelled"]
    sizes = await compacting

    assert sizes["after"] == sizes["before"]
    assert not (await client.command("state"))["compacting"]
    assert not (await client.command("cancel", only="compaction"))["cancelled"]


@pytest.mark.parametrize("command", ["removeLast", "compact", "clear"])
async def test_there_is_nothing_to_put_in_order_without_a_session(start, command):
    client = await start()

    with pytest.raises(Exception, match="there is no current session"):
        await client.command(command)


async def test_the_same_from_a_terminal(run, root, script):
    assert (await run("ask", "hello", **script({"text": "no"})))[:2] == (0, "no\n")
    code, listed, _ = await run("sessions", "list", "--json")
    session = json.loads(listed)[0]["sessionId"]

    assert (await run("ask", "!cat greet.py", "--session", session, **script()))[1].startswith("def greet(name):\n")
    assert (await run("sessions", "note", session, "the", "build", "is", "red"))[0] == 0
    assert (await run("continue", **script({"text": "so it is", "when": {"contains": "the build is red"}})))[:2] == (
        0,
        "so it is\n",
    )
    assert (await run("sessions", "remove-last", session))[0] == 0
    assert (await run("compact", "the names", "--session", session, **script()))[0] == 0
    assert (await run("sessions", "clear", session))[0] == 0
    code, listed, _ = await run("sessions", "list", "--json")
    assert (code, json.loads(listed)[0]["messages"]) == (0, 0)


async def test_what_a_trusted_project_plugs_in_is_listed_used_and_switched_off(start, wire, anthropic, root):
    place = root / ".claude/commands/fix.md"
    place.parent.mkdir(parents=True)
    place.write_text("Fix issue $1 by the book.\n")
    client = await start(trusted=True, **anthropic)
    wire.play(says("fixed"))

    (listed,) = (await client.command("extensions"))["extensions"]
    await client.command("ask", text="/fix 12")
    (off,) = (await client.command("extensions", action="disable", name="command:fix"))["extensions"]
    with pytest.raises(JsonRpcException, match="/fix is switched off"):
        await client.command("ask", text="/fix 13")

    assert (listed["kind"], listed["name"], listed["state"], off["state"]) == ("command", "fix", "on", "off")
    (sent,) = wire.sent
    assert "Fix issue 12 by the book." in json.dumps(sent.body["messages"][-1])
