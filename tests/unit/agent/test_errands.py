"""What the user does to a conversation without asking the planner's model: commands, notes, shorter, cleared."""

import json

import pytest

from odin_lsp.agent.turn import Compact, RunCommand, UserMessage
from odin_lsp.errors import RequestError, SessionBusy
from odin_lsp.events import Compacted, ToolFinished
from odin_lsp.ports import Answer
from odin_lsp.session_events import SessionRestored
from odin_lsp.sessions import listing, replay
from odin_lsp.sessions.session import Session


@pytest.fixture
def run(odin):
    async def run(text, mode="edit_mode"):
        message = UserMessage(turn_id=f"run {text}", text=text, mode=mode, errand=RunCommand.of(text))
        return await odin.turns.start(message).outcome()

    return run


async def test_a_command_runs_without_a_model_and_the_next_message_tells_what_it_printed(odin, run):
    odin.script({"text": "I see"})

    outcome = await run("!cat greet.py", "ask_mode")
    asked = outcome.steps
    answer = (await odin.take("why?")).answer

    assert (outcome.reason, asked, answer) == ("end_turn", 0, "I see")
    assert outcome.answer.startswith("def greet(name):\n")
    told, said = odin.session.messages[0].parts
    assert (said.text, told.text.partition("\n")[0]) == (
        "!cat greet.py",
        '<context kind="command" command="cat greet.py">',
    )
    assert "def greet(name):" in told.text
    assert odin.of(ToolFinished)[0].name == "ExecuteCommand"


@pytest.mark.parametrize("mode", ["ask_mode", "plan_mode"])
async def test_the_users_own_command_passes_the_same_gate_as_the_models(odin, run, person, mode):
    outcome = await run("!touch made", mode)

    assert outcome.reason == "failed"
    assert not (odin.root / "made").exists()
    assert person.questions == []


async def test_the_users_own_command_is_asked_about_in_edit_mode(odin, run, person):
    person.answers = [Answer(("allow_once",))]

    outcome = await run("!touch made")

    assert (outcome.reason, (odin.root / "made").exists()) == ("end_turn", True)
    assert person.questions[0].command == "touch made"


async def test_a_plan_is_made_of_no_command(odin, run):
    assert (await run("!ls", "plan_mode")).plan is None


async def test_a_session_that_began_with_a_command_asks_no_model_for_a_title(odin, run):
    odin.start().models.get("scripted/nobody")
    odin.configure(small_model="scripted/nobody")

    await run("!ls", "ask_mode")

    assert odin.live._namer._task is None


async def test_the_model_can_be_asked_about_a_command_without_another_message(odin, run):
    odin.script({"text": "it is empty"})
    await run("!ls", "ask_mode")

    outcome = await odin.turns.go_on().outcome()

    assert (outcome.answer, outcome.turn_id) == ("it is empty", "run !ls")
    assert [message.role for message in odin.session.messages] == ["user", "assistant"]


@pytest.mark.parametrize(
    ("text", "command"),
    [("!ls -l", "ls -l"), ("! ls", "ls"), ("!", None), ("![a](b.png) what?", None), ("look: !ls", None)],
)
def test_what_begins_with_an_exclamation_mark_is_a_command(text, command):
    assert RunCommand.of(text) == (RunCommand(command) if command else None)


async def test_the_user_makes_a_conversation_shorter_and_says_what_matters(odin, call):
    (odin.root / "long.txt").write_text("word\n" * 2000)
    reads = [{"calls": [call("Read", file_path=str(odin.root / "long.txt"), offset=it)]} for it in range(1, 5)]
    odin.script(*reads, *[{"text": "ok " * 500}] * 3, {"text": "a summary", "when": {"contains": "word"}})
    for text in ("read it", "more", "even more"):
        await odin.take(text)

    turn = odin.turns.start(Compact("the names").message("compact", "ask_mode"))
    outcome = await turn.outcome()
    before, after = turn.progress.compacted

    assert (outcome.reason, outcome.steps) == ("end_turn", 0)
    assert after < before
    assert f"{after:,} tokens" in outcome.answer
    assert [it.status for it in odin.of(Compacted)] == ["started", "succeeded"]
    assert "a summary" in odin.session.messages[0].text
    assert odin.session.turns[-1].body == "/compact the names"


async def test_the_summary_is_asked_for_what_the_user_wants_kept(odin):
    asked = []

    async def small(instructions, text):
        asked.append(instructions)
        return "a summary"

    odin.script(*[{"text": "ok " * 500}] * 3)
    for text in ("one", "two", "three"):
        await odin.take(text)
    make = odin.live._plan_turn

    async def plan(*arguments):
        planner = await make(*arguments)
        planner.compaction.small = small
        return planner

    odin.live._plan_turn = plan
    await odin.turns.start(Compact("the names").message("compact", "ask_mode")).outcome()

    assert asked[0].endswith("Above all, keep what the user asks for: the names")


async def test_a_conversation_that_cannot_be_made_shorter_stays_as_it_is(odin):
    turn = odin.turns.start(Compact().message("compact", "ask_mode"))

    assert (await turn.outcome()).answer == "The conversation cannot be made shorter."
    before, after = turn.progress.compacted
    assert before == after


async def test_an_answer_that_was_taken_back_is_given_anew(odin):
    odin.script({"text": "no"}, {"text": "yes"})
    await odin.take("well?")
    with pytest.raises(RequestError, match="nothing to go on with"):
        odin.turns.go_on()

    odin.turns.remove_last_message()
    outcome = await odin.turns.go_on().outcome()

    assert outcome.answer == "yes"
    assert [message.text.endswith("well?") or message.text for message in odin.session.messages] == [True, "yes"]
    assert [turn.answer_summary for turn in odin.session.turns] == ["yes"]


async def test_a_session_that_was_cleared_begins_anew_also_after_a_restart(odin, call):
    todos = [{"id": "1", "content": "look", "status": "pending"}]
    read = call("Read", file_path=str(odin.root / "greet.py"))
    calls = [read, call("TodoWrite", todos=todos)]
    odin.script({"calls": calls}, {"text": "one"}, {"text": "one, all the same"}, {"text": "two"})
    await odin.take("first")
    folder, before = odin.core.sessions.folder, odin.session

    odin.live.clear()
    empty = odin.core.sessions.summary(odin.session)
    await odin.take("second")

    assert odin.session is before
    assert (empty.messages, empty.first_message) == (0, "")
    assert odin.of(SessionRestored)[-1].messages == 0
    again, listed = Session.load(folder, before.id), listing.summary(folder, before.id)
    for session in (before, again):
        assert [turn.body for turn in session.turns] == ["second"]
        assert [message.text.endswith("second") or message.text for message in session.messages] == [True, "two"]
        assert (session.todos, session.shown) == ([], {})
    assert (listed.messages, listed.first_message) == (1, "second")
    told = json.dumps([str(it.event) for it in replay.page(folder, before.id, None, 100).events])
    assert "first" not in told
    assert "second" in told


async def test_what_a_session_has_cost_stays_known_when_it_is_cleared(odin):
    odin.script({"text": "one", "usage": {"inputTokens": 7}})
    await odin.take("first")

    odin.live.clear()

    assert odin.session.usage.input_tokens == 7
    assert Session.load(odin.core.sessions.folder, odin.session.id).usage.input_tokens == 7


async def test_a_session_is_not_cleared_in_the_middle_of_a_turn(odin):
    odin.script({"text": "slow", "delayMs": 60_000})
    odin.turns.start(odin.message("busy"))

    with pytest.raises(SessionBusy):
        odin.live.clear()
