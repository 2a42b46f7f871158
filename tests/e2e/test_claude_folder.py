"""A `.claude` folder that was written for Claude Code works as it stands, through the real server."""

import json
import shutil
from pathlib import Path

import pytest

from tests.e2e.steps import results_of, says

FOLDER = Path(__file__).parents[1] / "support" / "claude" / ".claude"


@pytest.fixture
async def client(start, root, anthropic):
    shutil.copytree(FOLDER, root / ".claude")
    return await start(trusted=True, **anthropic)


def said(wire, index=-1):
    return json.dumps(wire.sent[index].body["messages"][-1], ensure_ascii=False)


async def test_all_of_it_is_found_and_nothing_is_broken(client):
    listed = (await client.command("extensions"))["extensions"]

    assert {it["state"] for it in listed} == {"on"}
    assert sorted((it["kind"], it["name"]) for it in listed if it["kind"] != "hook") == [
        ("agent", "code-reviewer"),
        ("command", "explain"),
        ("command", "fix-issue"),
        ("command", "git:commit"),
        ("skill", "house-style"),
        ("skill", "release-notes"),
    ]
    assert sum(it["kind"] == "hook" for it in listed) == 5


async def test_commands_are_filled_and_read_and_run(client, wire):
    wire.play(says("fixed"), says("explained"), says("committed"))

    await client.command("ask", text="/fix-issue 123 high")
    await client.command("ask", text="/explain the parser")
    await client.command("ask", text="/git:commit")

    assert "Fix issue #123 with priority high." in said(wire, 0)
    assert "def greet(name)" in said(wire, 0)
    assert "Explain the parser to a new colleague." in said(wire, 1)
    assert "- Files here: " in said(wire, 2)
    assert "greet.py" in said(wire, 2)


async def test_hooks_tell_refuse_and_hear(client, wire, step, root):
    step(("ExecuteCommand", {"command": "rm -rf build"}), ("Read", {"file_path": str(root / "greet.py")}))
    wire.play(says("I see"))

    outcome = await client.command("edit", text="clean up")
    blocked = await client.command("ask", text="my password is 1234")

    assert "The branch is main." in said(wire, 0)
    assert "The sprint ends on Friday." in said(wire, 0)
    refused, read = results_of(wire.sent[1].body)
    assert "Removing folders is not allowed here." in refused
    assert "def greet" in read
    heard = [json.loads(line) for line in (root / ".claude" / "reads.jsonl").read_text().splitlines()]
    assert [it["tool_name"] for it in heard] == ["Read"]
    assert (root / ".claude" / "stopped").exists()
    assert outcome["reason"] == "end_turn"
    assert (blocked["reason"], "Do not paste passwords." in blocked["detail"]) == ("failed", True)


async def test_skills_are_offered_used_and_named(client, wire, step):
    step(("Skill", {"name": "release-notes"}))
    wire.play(says("written"), says("styled"))

    await client.command("ask", text="write release notes")
    await client.command("ask", text="/house-style for this")

    first = json.dumps(wire.sent[0].body)
    assert "release-notes: Write release notes." in first
    assert "house-style" not in first
    assert "Follow the template in" in results_of(wire.sent[1].body)[0]
    assert "Write short sentences." in said(wire)


async def test_the_agent_is_a_helper_that_only_reads(client, wire, step):
    step(("AgentTool", {"description": "review", "prompt": "review greet.py", "agent": "code-reviewer"}))
    wire.play(says("REVIEWED: fine"), says("done"))

    await client.command("edit", text="review it")

    helper = wire.sent[1].body
    assert "You are a senior code reviewer." in json.dumps(helper)
    assert not {"EditTool", "WriteFile"} & {it["name"] for it in helper["tools"]}
    assert "REVIEWED: fine" in results_of(wire.sent[2].body)[0]
