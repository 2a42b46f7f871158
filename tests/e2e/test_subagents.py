"""Helpers of a turn, over the wire: at once, failing, cancelled, and never with more rights."""

import asyncio
from collections import Counter

import pytest

from tests.e2e.steps import play_calls, results, results_of, says
from tests.support import wire as kit

OUTPUT = kit.anthropic_end("end_turn")[0]["usage"]["output_tokens"]


@pytest.fixture
async def client(start, anthropic):
    return await start(**anthropic)


def task(request):
    """Which helper asks: the first words of its conversation."""
    first = request["messages"][0]["content"]
    text = first if isinstance(first, str) else first[-1]["text"]
    return text.partition(":")[0]


def helper(number, **more):
    return "AgentTool", {"description": f"part {number}", "prompt": f"task {number}: look around", **more}


async def test_eight_at_once_two_recover_from_overload_and_one_is_cancelled(client, wire, step):
    asked = Counter()

    def reply(request):
        name = task(request)
        if not name.startswith("task"):
            return None
        asked[name] += 1
        if name in ("task 3", "task 5") and asked[name] == 1:
            return kit.Answer(
                [kit.anthropic_error(529, "busy")], status=529, headers={"content-type": "application/json"}
            )
        if name == "task 7":
            return kit.Answer([kit.anthropic_sse(kit.anthropic_start())], held=True)
        return says(f"{name} is done")

    wire.reply_to = reply
    step(*(helper(number) for number in range(1, 9)))
    wire.play(says())
    turn = asyncio.ensure_future(client.command("ask", text="go", turnId="t"))
    started = await client.until(lambda it: it["event"].get("description") == "part 7" and "agentId" in it["event"])
    await until(lambda: asked["task 7"])
    state = await client.command("state")
    at_work = {it["agentId"]: it for it in state["subagents"]}
    assert at_work[started["event"]["agentId"]]["status"] == "running"
    assert at_work[started["event"]["agentId"]]["model"] == "anthropic/claude-haiku-5-5"
    assert await client.command("cancel", turnId="t", agentId=started["event"]["agentId"]) == {"cancelled": True}
    outcome = await turn

    assert outcome["reason"] == "end_turn"
    told = results(wire)
    for number in (1, 2, 3, 4, 5, 6, 8):
        assert f"task {number} is done" in told[number - 1]
        assert "has completed" in told[number - 1]
    assert "has cancelled" in told[6]
    assert asked["task 3"] == asked["task 5"] == 2
    finished = [it["event"]["status"] for it in client.events if it["event"]["kind"] == "subagentFinished"]
    assert Counter(finished) == {"completed": 7, "cancelled": 1}
    alone = Counter(it["event"]["kind"] for it in client.events)
    assert alone["subagentStarted"] == 8
    assert outcome["usage"]["outputTokens"] >= 9 * OUTPUT
    state = await client.command("state")
    assert state["subagents"] == []
    kept = {it["description"]: it for it in state["earlierSubagents"]}
    assert {it["status"] for it in kept.values()} == {"completed", "cancelled"}
    assert kept["part 3"]["summary"] == "task 3 is done"
    assert state["usage"]["outputTokens"] == outcome["usage"]["outputTokens"]
    assert sum(it["usage"]["outputTokens"] for it in kept.values()) + 2 * OUTPUT == outcome["usage"]["outputTokens"]


async def until(condition):
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


async def test_cancelling_the_turn_ends_its_helpers(client, wire, step):
    wire.reply_to = lambda request: (
        kit.Answer([kit.anthropic_sse(kit.anthropic_start())], held=True) if task(request) == "task 1" else None
    )
    step(helper(1))
    turn = asyncio.ensure_future(client.command("ask", text="go", turnId="t"))
    await client.until_kind("subagentStarted")
    await until(lambda: any(task(it.body) == "task 1" for it in wire.sent))

    await client.command("cancel", turnId="t")

    assert (await turn)["reason"] == "interrupted"
    await asyncio.wait_for(wire.hung_up.wait(), 60)
    assert (await client.command("state"))["subagents"] == []


async def test_a_helper_has_no_more_rights_than_its_turn_and_starts_no_helpers(client, wire, step, root):
    inner = []

    def reply(request):
        if task(request) != "task 2":
            return None
        inner.append(request)
        if len(inner) == 1:
            made = kit.Wire()
            play_calls(
                made,
                ("WriteFile", {"file_path": str(root / "x"), "content": "x"}),
                helper(3),
            )
            return made.answers[0]
        return says("I could not")

    wire.reply_to = reply
    step(helper(1, mode="edit"), helper(2))
    wire.play(says())

    await client.command("ask", text="go")

    refused, done = results(wire)
    assert "it may never do more than you" in refused
    assert "I could not" in done
    assert {"WriteFile", "AgentTool"}.isdisjoint(tool["name"] for tool in inner[0]["tools"])
    assert all("did not run" in it or "is not for subagents" in it for it in results_of(inner[1]))
    assert not (root / "x").exists()


async def test_a_failed_helper_hands_over_what_it_has(client, wire, step):
    calls = Counter()

    def reply(request):
        if task(request) != "task 1":
            return None
        calls["n"] += 1
        if calls["n"] == 1:
            made = kit.Wire()
            play_calls(made, ("Glob", {"pattern": "*.py"}))
            return made.answers[0]
        return kit.Answer([kit.anthropic_error(400, "no")], status=400, headers={"content-type": "application/json"})

    wire.reply_to = reply
    step(helper(1))
    wire.play(says("go on without"))

    outcome = await client.command("ask", text="go")

    assert outcome["answer"] == "go on without"
    [told] = results(wire)
    assert told.startswith("The subagent ask-1 has failed.")
    assert "Not done:" in told
    assert (await client.command("state"))["subagents"] == []


async def test_a_projects_own_helper_works_only_where_the_user_trusts_it(start, anthropic, wire, step, root):
    (root / ".odin" / "agents").mkdir(parents=True)
    (root / ".odin" / "agents" / "poet.md").write_text("---\ndescription: rhymes\n---\nYou rhyme.\n")
    inner = []

    def reply(request):
        if task(request) != "task 1":
            return None
        inner.append(request)
        return says("a rhyme")

    wire.reply_to = reply
    for trusted in (False, True):
        client = await start(trusted=True if trusted else None, **anthropic)
        step(helper(1, agent="poet"))
        wire.play(says())
        await client.command("ask", text="go")
        [told] = results(wire)
        assert ("there is no agent 'poet' here" in told) is not trusted
        assert ("- poet: rhymes" in str(wire.request["system"])) is trusted

    assert "You rhyme." in str(inner[0]["system"])
