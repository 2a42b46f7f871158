"""What users and projects plug in, at its worst: hooks that do not behave, and a hostile workspace with everything in
it."""

import asyncio
import json
import os
import socket
import time
from contextlib import suppress
from pathlib import Path

import pytest
from pygls.exceptions import JsonRpcException

from odin_lsp.agent.command_hooks import MAX_PRINTED, CommandHooks, Surroundings
from odin_lsp.agent.hooks import Hooks
from odin_lsp.extensions.hook_events import EVENTS
from odin_lsp.extensions.hook_files import CommandHook
from odin_lsp.extensions.places import Brought
from tests.e2e.steps import says

CALL = {"tool": "EditTool", "arguments": {"file_path": "a.py"}, "callId": "c1"}


@pytest.fixture
def fire(tmp_path):
    async def fire(command, event="PreToolUse", *, timeout=20.0, network=None):
        source = Brought("hooks", "user", tmp_path / "hooks.json", "hooks", b"")
        around = Surroundings("s1", tmp_path, "edit_mode", tmp_path / "s1.jsonl", [tmp_path], network=network)
        hooks = CommandHooks([CommandHook(event, "", command, timeout, source)], around, lambda _: None)
        return await Hooks([hooks]).fire(event, CALL)

    return fire


def alive(marker: str) -> list[str]:
    """Processes whose command line has the marker."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if marker.encode() in words and int(process.name) != os.getpid():
            found.append(process.name)
    return found


FORKS = {
    "in the background": "sleep {0} & exit 0",
    "twice, and away": "(setsid sh -c 'sleep {0} & sleep {0}' >/dev/null 2>&1 &) ; exit 0",
    "and hangs": "setsid sleep {0} & sleep {0}",
}


@pytest.mark.parametrize("name", FORKS)
async def test_a_hook_that_forks_leaves_nothing(fire, name):
    seconds = f"3{time.monotonic_ns() % 10**6:06}"

    decision = await fire(FORKS[name].format(seconds), timeout=2.0 if name == "and hangs" else 60.0)

    assert decision.allow == (name != "and hangs")
    assert alive(f"sleep\0{seconds}") == []


FLOODS = {
    "on stdout": "head -c 100000000 /dev/zero | tr '\\0' x",
    "on stderr": "head -c 100000000 /dev/zero | tr '\\0' x >&2; exit 2",
    "in lines on stderr": "yes no | head -c 100000000 >&2; exit 2",
}


@pytest.mark.parametrize("name", FLOODS)
async def test_a_hook_that_prints_a_hundred_megabytes_is_a_no_and_nothing_more(fire, name):
    decision = await fire(FLOODS[name], timeout=60.0)

    assert not decision.allow
    assert len(decision.message) < MAX_PRINTED


async def test_a_hook_that_does_not_read_what_it_is_told_holds_nobody_up(fire):
    decision = await asyncio.wait_for(fire("exec <&-; exit 0"), 20)

    assert decision.allow


async def test_a_hook_in_the_sandbox_changes_the_workspace_alone(fire, tmp_path, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "made"

    decision = await fire(f'touch inside "$TMPDIR/own" && ! touch {outside} 2>/dev/null', network=False)

    assert decision.allow
    assert (tmp_path / "inside").exists()
    assert not outside.exists()


MARK = "XYZZY"
"""In every text of the hostile workspace."""


@pytest.fixture
def ear():
    """Hears whoever calls it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


@pytest.fixture
def hostile(root, ear):
    """One of each kind, wherever it may be, that would be noticed if it ran, connected or was read to a model."""
    address = f"http://127.0.0.1:{ear.getsockname()[1]}"
    run = f"touch {root}/{MARK}-ran; sleep 30 # {MARK}"
    hooks = json.dumps({"hooks": {it: [{"hooks": [{"type": "command", "command": run}]}] for it in EVENTS}})
    local = {"command": "sh", "args": ["-c", run]}
    servers = json.dumps({"mcpServers": {"local": local, "remote": {"type": "http", "url": address}}})
    skill = f"---\nname: {{0}}\ndescription: {MARK}\n---\n{MARK}\n"
    files = {
        ".odin/hooks.json": hooks,
        ".claude/settings.json": hooks,
        ".claude/settings.local.json": hooks,
        ".odin/mcp.json": servers,
        ".mcp.json": servers,
        ".vscode/mcp.json": json.dumps({"servers": {"vscode": local}}),
        ".odin/agents/helper.md": f"---\nname: helper\ndescription: {MARK}\n---\n{MARK}",
        ".claude/agents/other.md": f"---\nname: other\ndescription: {MARK}\n---\n{MARK}",
        ".odin/skills/one/SKILL.md": skill.format("one"),
        ".agents/skills/two/SKILL.md": skill.format("two"),
        ".claude/skills/three/SKILL.md": skill.format("three"),
        ".odin/commands/first.md": f"{MARK} !`{run}` @secret",
        ".claude/commands/second.md": f"{MARK} !`{run}`",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def heard(ear):
    with suppress(BlockingIOError):
        return ear.accept()[1]
    return None


@pytest.mark.parametrize("options", [None, {"trusted": True}], ids=["said nothing", "the editor trusts it"])
async def test_trust_05_nothing_of_a_folder_that_is_not_trusted_runs_connects_or_is_read_to_a_model(
    start, hostile, ear, wire, anthropic, step, options
):
    client = await start(options=options, **anthropic)
    step(("Grep", {"pattern": "def greet", "path": "greet.py"}), ("Skill", {"name": "one"}))
    wire.play(says("no"), says("planned"), says("edited"))

    await client.command("ask", text="hello")
    await client.command("plan", text="hello")
    await client.command("edit", text="hello")
    for name in ("first", "second", "one", "two", "three"):
        with pytest.raises(JsonRpcException, match="which you do not trust"):
            await client.command("ask", text=f"/{name}")
    listed = (await client.command("extensions"))["extensions"]
    shown = await client.command("context")

    assert {it["state"] for it in listed} == {"untrusted"}
    assert {it["kind"] for it in listed} == {"agent", "skill", "command", "hook", "mcp"}
    assert MARK not in json.dumps([it.body for it in wire.sent])
    assert MARK not in json.dumps(shown)
    assert alive(MARK) == []
    assert not (hostile / f"{MARK}-ran").exists()
    await client.leave()
    assert not (hostile / f"{MARK}-ran").exists()
    assert heard(ear) is None


async def test_trust_06_a_folder_that_brings_something_is_asked_about_once_with_all_of_it(start, hostile, script):
    client = await start(**script({"text": "one"}))
    await client.until_asked(1)
    await client.command("ask", text="hello")

    [question] = client.questions
    brought = await client.command("brought")
    assert question["kind"] == "trust"
    assert question["items"] == brought["items"]
    assert {it["kind"] for it in brought["items"]} == {"agent", "skill", "command", "hook", "server"}
    for it in brought["items"]:
        assert it["what"] in question["detail"]
        assert it["file"] in question["detail"]


async def test_trust_06_programs_are_agreed_to_one_by_one_and_no_answer_is_a_no(start, root, script):
    client = await start(**script({"text": "one"}))
    client.answers[:] = [{"optionIds": ["allow_always"]}, {"optionIds": ["deny"]}, {"optionIds": ["allow_always"]}]
    commands = {"Stop": "touch one", "SessionEnd": "touch two", "UserPromptSubmit": "touch three"}
    events = {event: [{"hooks": [{"command": it}]}] for event, it in commands.items()}
    (root / ".claude").mkdir()
    (root / ".claude" / "settings.json").write_text(json.dumps({"hooks": events}))

    client.changes_settings(titles=False)
    await client.until_asked(4)
    while {it["state"] for it in (await client.command("brought"))["items"]} & {"new"}:
        await client.command("state")
    await client.command("ask", text="hello")
    await client.leave()

    assert [it.get("command") for it in client.questions] == [None, "touch one", "touch two", "touch three"]
    assert [it for it in ("one", "two", "three") if (root / it).exists()] == ["two"]


async def test_what_changes_after_it_was_trusted_is_asked_about_with_the_difference(start, root, script):
    command = root / ".claude" / "commands" / "fix.md"
    command.parent.mkdir(parents=True)
    command.write_text("Fix it.\n")
    client = await start(**script({"text": "one"}, {"text": "two"}))
    await client.trusts()
    await client.command("ask", text="/fix")
    command.write_text("Steal it.\n")
    (command.parent / "new.md").write_text("Hello.\n")
    client.tells_of(command)

    await client.command("ask", text="hello")
    await client.until_asked(2)

    *_, question = client.questions
    assert question["kind"] == "trust"
    lines = question["detail"].splitlines()
    assert "- changed: .claude/commands/fix.md" in lines
    assert "- new: .claude/commands/new.md" in lines
    assert "-Fix it." in lines
    assert "+Steal it." in lines
    with pytest.raises(JsonRpcException, match="which you do not trust"):
        await client.command("ask", text="/fix")
