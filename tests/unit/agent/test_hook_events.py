"""Each event is told to hooks once, at its point, and what they say counts there and nowhere else."""

import json

import pytest

from odin_lsp.agent.hooks import HookDecision, Hooks
from odin_lsp.agent.turn import Compact
from odin_lsp.events import Notice
from odin_lsp.permissions.gate import Want
from odin_lsp.ports import Answer

SAYS = "cat >> {event}; echo >> {event}"


@pytest.fixture
def user(tmp_path, monkeypatch):
    """The user's own hooks."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def hooks(odin):
    def hooks(folder=None, **commands):
        place = (folder or odin.root) / ".claude" / "settings.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        events = {
            event: [{"hooks": [{"type": "command", "command": it.format(event=event)}]}]
            for event, it in commands.items()
        }
        place.write_text(json.dumps({"hooks": events}))

    return hooks


@pytest.fixture
def heard(odin):
    def heard(event):
        place = odin.root / event
        return [json.loads(line) for line in place.read_text().splitlines() if line] if place.exists() else []

    return heard


def says(**answer):
    return f"echo '{json.dumps(answer)}'".replace("{", "{{").replace("}", "}}")


async def test_a_helper_is_told_of_at_its_beginning_and_its_end_and_not_as_the_turn(odin, hooks, heard, call):
    hooks(
        SubagentStart=f"{SAYS}; {says(hookSpecificOutput={'additionalContext': 'mind the gap'})}",
        SubagentStop=SAYS,
        Stop=SAYS,
    )
    task = call("AgentTool", description="look", prompt="look around", mode="ask")
    odin.script({"calls": [task]}, {"text": "seen"}, {"text": "done"})
    odin.start(trusted=True)

    await odin.take("go")

    (begun,), (ended,), (stop,) = heard("SubagentStart"), heard("SubagentStop"), heard("Stop")
    assert (begun["agent_id"], begun["agent_type"]) == ("ask-1", "ask_mode")
    assert (ended["agent_id"], ended["stop_hook_active"]) == ("ask-1", False)
    assert "agent_id" not in stop


async def test_a_helper_goes_on_if_a_hook_wants_it(odin, hooks, call):
    hooks(SubagentStop="echo look again >&2; exit 2")
    task = call("AgentTool", description="look", prompt="look around", mode="ask")
    odin.script({"calls": [task]}, {"text": "seen"}, {"text": "seen twice"}, {"text": "done"})
    odin.start(trusted=True)

    await odin.take("go")

    assert "seen twice" in odin.session.messages[2].results[0].content


async def test_a_hook_that_the_user_adds_meanwhile_is_asked_from_the_next_turn_on(odin, user, hooks, heard):
    odin.script({"text": "hello"}, {"text": "hello again"})
    await odin.take("hello")
    hooks(user, Stop=SAYS)

    await odin.take("hello again")

    assert len(heard("Stop")) == 1


async def test_a_compaction_is_told_of_before_and_after(odin, hooks, heard):
    hooks(PreCompact=SAYS, PostCompact=SAYS)
    odin.script({"text": "long " * 400}, {"text": "long " * 400}, {"text": "short"})
    odin.start(trusted=True)
    await odin.take("hello " * 200)
    await odin.take("hello " * 200)

    await odin.turns.start(Compact("the names").message("c", "ask_mode")).outcome()

    (before,), (after,) = heard("PreCompact"), heard("PostCompact")
    assert (before["trigger"], before["custom_instructions"]) == ("manual", "the names")
    assert after["trigger"] == "manual"


async def test_a_hook_can_keep_a_conversation_as_it_is(odin, hooks):
    hooks(PreCompact="echo not now >&2; exit 2")
    odin.script({"text": "long " * 400})
    odin.start(trusted=True)
    await odin.take("hello " * 200)
    before = list(odin.session.messages)

    await odin.turns.start(Compact().message("c", "ask_mode")).outcome()

    assert odin.session.messages == before
    assert any("not now" in it.message for it in odin.of(Notice))


async def test_a_question_is_told_of_while_it_waits(odin, hooks, heard, person, call):
    hooks(Notification=SAYS)
    odin.script({"calls": [call("ExecuteCommand", command="touch made")]}, {"text": "ok"})
    odin.start(trusted=True)

    await odin.take("go", "edit_mode")
    await odin.live._telling.settled()

    (told,) = heard("Notification")
    assert told["notification_type"] == "permission_prompt"
    assert told["message"] == person.questions[0].title


async def test_a_session_ends_once_for_hooks(odin, hooks, heard):
    hooks(SessionEnd=SAYS)
    odin.script({"text": "one"}, {"text": "two"})
    odin.start(trusted=True)
    await odin.take("one")
    odin.live.clear()
    await odin.live._telling.settled()
    await odin.take("two")

    await odin.core.close()

    assert [it["reason"] for it in heard("SessionEnd")] == ["clear", "other"]
    odin.core = None


@pytest.mark.parametrize("changed", ["the command", "the script"])
async def test_trust_07_hooks_that_changed_after_trust_run_at_no_end(odin, hooks, heard, changed):
    """Nobody has looked again since: what runs is taken from what was agreed to."""
    (odin.root / "end.sh").write_text("exit 0")
    hooks(SessionEnd="sh end.sh")
    odin.script({"text": "one"}, {"text": "two"})
    odin.start(trusted=True)
    await odin.take("one")
    if changed == "the command":
        hooks(SessionEnd=SAYS)
    else:
        (odin.root / "end.sh").write_text(SAYS.format(event="SessionEnd"))
    assert odin.project.now.standing == "trusted"

    odin.live.clear()
    await odin.live._telling.settled()
    await odin.core.close()

    assert heard("SessionEnd") == []
    odin.core = None


async def test_a_session_in_which_nothing_was_said_does_not_end_for_hooks(odin, hooks, heard):
    hooks(SessionEnd=SAYS)
    odin.start(trusted=True)
    assert odin.live

    await odin.core.close()

    assert heard("SessionEnd") == []
    odin.core = None


ALLOW = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}
OTHER = {"hookSpecificOutput": {"decision": {"behavior": "allow", "updatedInput": {"command": "touch other"}}}}
DENY = {"hookSpecificOutput": {"decision": {"behavior": "deny", "message": "not on a Friday"}}}


async def test_a_hook_says_no_in_the_users_place(odin, hooks, heard, person, call):
    hooks(PermissionRequest=f"{SAYS}; {says(**DENY)}")
    odin.script({"calls": [call("ExecuteCommand", command="touch made")]}, {"text": "ok"})
    odin.start(trusted=True)

    await odin.take("go", "edit_mode")

    (told,) = heard("PermissionRequest")
    assert (told["tool_name"], told["tool_input"]) == ("Bash", {"command": "touch made"})
    assert person.questions == []
    assert "not on a Friday" in odin.session.messages[2].results[0].content


@pytest.mark.parametrize(
    ("owner", "answer", "is_asked"), [("user", ALLOW, False), ("project", ALLOW, True), ("user", OTHER, True)]
)
async def test_only_a_hook_of_the_user_says_yes_and_only_to_what_was_asked(
    odin, hooks, user, person, call, owner, answer, is_asked
):
    hooks(user if owner == "user" else None, PermissionRequest=says(**answer))
    odin.script({"calls": [call("ExecuteCommand", command="python3 -c 1")]}, {"text": "ok"})
    odin.start(trusted=True)

    await odin.take("go", "edit_mode")

    assert bool(person.questions) == is_asked


@pytest.mark.parametrize(("mode", "is_enough"), [("edit_mode", True), ("plan_mode", False), ("ask_mode", False)])
async def test_outside_of_edit_mode_nobody_says_yes_in_the_users_place(mode, is_enough):
    async def hook(event, about):
        return HookDecision(approve=event == "PermissionRequest")

    hook.hears_all = True
    want = Want(tool="WebFetch", title="", reason="", what="https://example.org", mode=mode)

    assert await Hooks([hook]).consult(want) == is_enough


async def test_a_hook_that_fails_leaves_the_question_to_the_user(odin, hooks, person, call):
    hooks(PermissionRequest="exit 1")
    person.answers = [Answer(("allow_once",))]
    odin.script({"calls": [call("ExecuteCommand", command="touch made")]}, {"text": "ok"})
    odin.start(trusted=True)

    await odin.take("go", "edit_mode")

    assert len(person.questions) == 1
    assert (odin.root / "made").exists()


async def test_a_matcher_is_about_what_the_event_is_about(odin, heard):
    place = odin.root / ".claude" / "settings.json"
    place.parent.mkdir()
    entry = {"type": "command", "command": SAYS.format(event="SessionStart")}
    events = {
        "SessionStart": [{"matcher": "startup", "hooks": [entry]}, {"matcher": "resume", "hooks": [entry]}],
        "UserPromptSubmit": [{"matcher": "anything", "hooks": [{"type": "command", "command": "touch said"}]}],
    }
    place.write_text(json.dumps({"hooks": events}))
    odin.script({"text": "ok"})
    odin.start(trusted=True)

    await odin.take("hello")

    assert len(heard("SessionStart")) == 1
    assert (odin.root / "said").exists()


async def test_a_message_for_the_user_is_shown(odin, hooks):
    hooks(UserPromptSubmit=says(systemMessage="the build is red"))
    odin.script({"text": "ok"})
    odin.start(trusted=True)

    await odin.take("hello")

    assert "the build is red" in [it.message for it in odin.of(Notice)]
