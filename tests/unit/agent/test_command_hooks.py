"""Commands as hooks: what they are told, and what becomes of what they say."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from odin_lsp.agent.command_hooks import CommandHooks, Surroundings
from odin_lsp.agent.hooks import Hooks
from odin_lsp.events import Notice
from odin_lsp.extensions.hook_files import CommandHook, describe_hook
from odin_lsp.extensions.places import Brought

CALL = {"tool": "EditTool", "arguments": {"file_path": "a.py"}, "callId": "c1"}


@pytest.fixture
def told():
    return []


@pytest.fixture
def fire(tmp_path, told):
    async def fire(command, event="PreToolUse", about=CALL, *, matcher="", timeout=20.0):
        source = Brought("hooks", "project", tmp_path / "hooks.json", "hooks", b"")
        around = Surroundings("s1", tmp_path, "edit_mode", tmp_path / "s1.jsonl", [tmp_path])
        commands = command if isinstance(command, list) else [command]
        hooks = [CommandHook(event, matcher, it, timeout, source) for it in commands]
        return await Hooks([CommandHooks(hooks, around, told.append)]).fire(event, about)

    return fire


def warnings(told):
    return [it.message for it in told if isinstance(it, Notice)]


async def test_a_hook_is_told_what_claude_code_tells_it(fire, tmp_path):
    await fire("cat > seen; echo $CLAUDE_PROJECT_DIR > where; env > env")

    assert json.loads((tmp_path / "seen").read_text()) == {
        "session_id": "s1",
        "transcript_path": str(tmp_path / "s1.jsonl"),
        "cwd": str(tmp_path),
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Edit",
        "tool_input": {"file_path": "a.py"},
        "tool_use_id": "c1",
    }
    assert (tmp_path / "where").read_text().strip() == str(tmp_path)


async def test_trust_07_a_script_that_changed_after_it_was_agreed_to_keeps_its_gate_shut(tmp_path, told):
    (tmp_path / "guard.sh").write_text("exit 0")
    source = Brought("hooks", "project", tmp_path / "hooks.json", "hooks", b"")
    hook = CommandHook("PreToolUse", "", "sh guard.sh", 20.0, source)
    hook = replace(hook, agreed_as=describe_hook(hook, tmp_path).id)
    around = Surroundings("s1", tmp_path, "edit_mode", tmp_path / "s1.jsonl", [tmp_path])
    hooks = Hooks([CommandHooks([hook], around, told.append)])
    assert (await hooks.fire("PreToolUse", CALL)).allow

    (tmp_path / "guard.sh").write_text("touch ran")
    decision = await hooks.fire("PreToolUse", CALL)

    assert not decision.allow
    assert "has changed since you agreed to it" in decision.message
    assert not (tmp_path / "ran").exists()


ANSWERS = {
    "nothing": ("true", True, ""),
    "text": ("echo fine", True, ""),
    "exit 2": ("echo not there >&2; exit 2", False, "the hook `{}` says: not there"),
    "deny": (
        """echo '{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}}'""",
        False,
        "the hook `{}` says: no",
    ),
    "block": ("""echo '{"decision": "block", "reason": "never"}'""", False, "the hook `{}` says: never"),
    "allow": ("""echo '{"hookSpecificOutput": {"permissionDecision": "allow"}}'""", True, ""),
    "another exit": ("echo oops >&2; exit 1", False, "the hook `{}` failed: it ended with 1: oops"),
    "no such program": ("/no/such/guard 2>/dev/null", False, "the hook `{}` failed: it ended with 127: "),
    "broken JSON": ("echo '{oops'", False, "the hook `{}` failed: what it printed is no JSON"),
    "too much": ("yes '{'", False, "the hook `{}` failed: it printed too much"),
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_a_guard_that_does_not_say_yes_keeps_the_gate_shut(fire, name):
    command, allowed, message = ANSWERS[name]

    decision = await fire(command)

    assert (decision.allow, decision.message) == (allowed, message.format(command))


async def test_a_guard_that_hangs_says_no_and_nothing_of_it_is_left(fire, tmp_path):
    decision = await fire("echo $$ > pid; setsid sleep 300 & sleep 300", timeout=2)

    assert decision.message.endswith("failed: it did not answer within 2 s")
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()


async def test_after_a_call_a_hook_that_fails_is_told_and_changes_nothing(fire, told):
    decision = await fire("exit 1", "PostToolUse", {**CALL, "result": "done"})

    assert (decision.allow, decision.message) == (True, "")
    assert warnings(told) == ["the hook `exit 1` failed: it ended with 1: "]


async def test_one_no_is_not_overruled_by_others(fire):
    decision = await fire(["true", "echo no >&2; exit 2", """echo '{"decision": "approve"}'"""])

    assert not decision.allow


async def test_a_hook_changes_what_a_call_is_given_and_adds_what_the_model_hears(fire):
    answer = {
        "systemMessage": "one",
        "continue": False,
        "hookSpecificOutput": {"updatedInput": {"file_path": "b.py"}, "additionalContext": "two"},
    }

    decision = await fire(f"echo '{json.dumps(answer)}'")

    assert (decision.arguments, decision.system_message, decision.go_on) == ({"file_path": "b.py"}, "one\ntwo", False)


@pytest.mark.parametrize(
    ("matcher", "is_meant"),
    [
        ("", True),
        ("*", True),
        ("Edit|Write", True),
        ("EditTool", True),
        ("Write", False),
        ("E.*", True),
        ("Ed", False),
        ("^Ed", True),
        ("e$", False),
        ("itT.", True),
    ],
)
async def test_a_hook_is_asked_about_the_tools_that_it_names(fire, matcher, is_meant):
    assert (await fire("exit 2", matcher=matcher)).allow != is_meant


async def test_keys_do_not_reach_hooks(fire, tmp_path, monkeypatch):
    monkeypatch.setitem(os.environ, "ANTHROPIC_API_KEY", "sk-ant-0123456789")

    await fire("env > env")

    assert "ANTHROPIC" not in (tmp_path / "env").read_text()


@pytest.fixture
def project(odin):
    def make(**hooks):
        folder = odin.root / ".claude"
        folder.mkdir(exist_ok=True)
        events = {event: [{"hooks": [{"type": "command", "command": it}]}] for event, it in hooks.items()}
        (folder / "settings.json").write_text(json.dumps({"hooks": events}))

    return make


async def test_what_a_hook_prints_at_a_message_is_told_with_it(odin, project):
    project(UserPromptSubmit="echo the branch is main", SessionStart="echo begun >> starts; echo welcome")
    odin.script({"text": "ok"}, {"text": "ok"})
    odin.start(trusted=True)

    await odin.take("one")
    await odin.take("two")

    first, second = odin.session.messages[0].text, odin.session.messages[2].text
    assert "welcome" in first
    assert "the branch is main" in first
    assert "welcome" not in second
    assert "the branch is main" in second
    assert (odin.root / "starts").read_text() == "begun\n"


async def test_a_message_that_a_hook_blocks_is_not_sent(odin, project):
    project(UserPromptSubmit="echo it has a secret >&2; exit 2")
    odin.script({"text": "no"})
    odin.start(trusted=True)

    outcome = await odin.take("my password is …")

    assert outcome.reason == "failed"
    assert outcome.detail.endswith("says: it has a secret")
    assert odin.session.messages == []


async def test_a_turn_goes_on_once_if_a_hook_wants_it(odin, project):
    project(Stop="cat >> stops; echo >> stops; echo run the tests first >&2; exit 2")
    odin.script({"text": "done"}, {"text": "really done"})
    odin.start(trusted=True)

    outcome = await odin.take("go")

    assert (outcome.reason, outcome.answer) == ("end_turn", "really done")
    assert "run the tests first" in odin.session.messages[2].text
    stops = [json.loads(line) for line in (odin.root / "stops").read_text().splitlines() if line]
    assert [it["stop_hook_active"] for it in stops] == [False, True]


async def test_hooks_of_a_folder_that_is_not_trusted_do_not_run(odin, project):
    project(UserPromptSubmit="touch ran", SessionStart="touch ran", Stop="touch ran", PreToolUse="touch ran")
    odin.script({"text": "ok"})

    await odin.take("hello")

    assert not (odin.root / "ran").exists()
