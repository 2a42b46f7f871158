"""What is read of a session later is what those saw who were there; and a turn that was cut off goes on."""

import asyncio
from dataclasses import replace

import pytest

from odin_lsp.errors import RequestError
from odin_lsp.events import MAIN, BackgroundFinished, MessageFinished, TurnStarted
from odin_lsp.ports import Answer
from odin_lsp.records import Outcome, Problem, SubagentRecord, ToolRecord, Usage
from odin_lsp.sessions import replay
from odin_lsp.sessions.export import exported
from odin_lsp.sessions.forking import fork
from odin_lsp.sessions.recording import PASSING
from odin_lsp.sessions.session import Session
from odin_lsp.sessions.telling import Asked, Said, Used, told

FAILED = {"error": {"kind": "failed", "message": "no"}}


@pytest.fixture
def heard(odin):
    """Every event of every turn, as it came."""
    records = []
    odin.start().stream.subscribe(records.append)
    return records


def live(heard, turn_id):
    return told(it for it in heard if it.turn_id == turn_id)


def again(odin, session_id=None):
    folder = odin.core.sessions.folder
    return {it.turn_id: it for it in map(told, replay.turns(folder, session_id or odin.session.id))}


def same(one, other):
    """But for a moment: when it was heard is not when it was written."""
    return replace(one, began=0) == replace(other, began=0)


RECORDINGS = {
    "an answer": [{"text": ["It is ", "here."], "thinking": "where?"}],
    "tools": [
        {"text": "I look", "calls": [("Read", {"file_path": "greet.py"}), ("Glob", {"pattern": "*"})]},
        {"text": "found"},
    ],
    "a command": [{"calls": [("ExecuteCommand", {"command": "echo one; echo two"})]}, {"text": "done"}],
    "an unknown tool": [{"calls": [("Nothing", {})]}, {"text": "well"}],
    "todos": [
        {"calls": [("TodoWrite", {"todos": [{"id": "1", "content": "a", "status": "completed"}]})]},
        {"text": "done"},
    ],
    "a question": [{"calls": [("AskUser", {"question": "which?", "options": [{"label": "left"}]})]}, {"text": "left"}],
    "a helper": [
        {"calls": [("AgentTool", {"description": "look", "prompt": "LOOK", "mode": "ask"})]},
        {"text": "it said so"},
        {"text": "seen by the helper", "when": {"contains": "LOOK"}},
    ],
    "a failure": [FAILED],
    "a second try": [{"error": "busy"}, {"text": "now"}],
}


@pytest.mark.parametrize("name", RECORDINGS)
async def test_a_turn_is_told_later_as_it_was_told_then(odin, heard, person, name):
    async def ask(question):
        return Answer(("1",), "or right")

    person.ask = ask
    odin.settings["retries"] = {"attempts": 2}
    odin.script(
        *(
            {**it, "calls": [{"name": tool, "arguments": arguments} for tool, arguments in it.get("calls", [])]}
            for it in RECORDINGS[name]
        )
    )

    outcome = await odin.take(name, "edit_mode")

    assert same(again(odin)[outcome.turn_id], live(heard, outcome.turn_id))
    assert again(odin)[outcome.turn_id].outcome == outcome
    assert again(odin)[outcome.turn_id].said == name


async def test_what_was_streamed_is_not_kept_and_what_it_came_to_is(odin, heard):
    odin.script({"text": ["It is ", "here."], "thinking": "where?"})

    await odin.take()

    stored = [it.event for records in replay.turns(odin.core.sessions.folder, odin.session.id) for it in records]
    assert not {it.kind for it in stored} & PASSING
    assert MessageFinished("It is here.", 0, "where?") in stored


async def test_a_command_is_told_with_what_it_printed(odin, heard):
    odin.script(
        {"calls": [{"name": "ExecuteCommand", "arguments": {"command": "echo one; echo two"}}]}, {"text": "done"}
    )

    await odin.take("run", "edit_mode")

    [used] = [it for turn in again(odin).values() for _, it in turn.items.values() if isinstance(it, Used)]
    assert (used.status, used.output) == ("success", "one\ntwo\n")


async def test_a_reply_that_was_cut_off_is_told_as_far_as_it_came(odin, heard):
    odin.script({"text": "the beginning", "calls": [{"name": "AskUser", "arguments": {"question": "?"}}]})
    turn = odin.turns.start(odin.message("go"))
    while not any(isinstance(it.event, TurnStarted) for it in heard):
        await asyncio.sleep(0)
    odin.core.abort()
    await turn.task

    assert same(again(odin)["turn-1"], live(heard, "turn-1"))


async def test_a_question_and_its_answer_stand_in_the_conversation(odin, heard, person):
    async def ask(question):
        return Answer(("allow_once",))

    person.ask = ask
    odin.script({"calls": [{"name": "ExecuteCommand", "arguments": {"command": "touch made"}}]}, {"text": "done"})

    await odin.take("make it", "edit_mode")

    [asked] = [it for turn in again(odin).values() for _, it in turn.items.values() if isinstance(it, Asked)]
    assert (asked.question.title, asked.answer) == ("May Odin run this command?", Answer(("allow_once",)))


def pages(folder, session_id, limit):
    before, found = None, []
    while True:
        page = replay.page(folder, session_id, before, limit)
        found.insert(0, page)
        if page.before is None:
            return found
        before = page.before


async def test_events_come_in_pages_that_begin_with_a_turn(odin):
    odin.script(*[{"text": "one"}] * 7)
    for _ in range(7):
        await odin.take()
    folder, session_id = odin.core.sessions.folder, odin.session.id
    [whole] = pages(folder, session_id, 1000)

    for limit in (1, 5, 6):
        several = pages(folder, session_id, limit)
        assert [it for page in several for it in page.events] == list(whole.events)
        assert all(isinstance(page.events[0].event, TurnStarted) for page in several)
        assert [page.earlier_turns for page in several] == [
            sum(isinstance(it.event, TurnStarted) for page in several[:index] for it in page.events)
            for index in range(len(several))
        ]


async def test_a_copy_of_a_session_tells_what_came_before_the_message_and_nothing_else(odin):
    odin.script(*[{"text": f"answer {number}"} for number in range(3)])
    for number in range(3):
        await odin.take(f"message {number}")

    copy, draft = fork(odin.core.sessions.folder, odin.session.id, 2)

    assert draft == "message 2"
    assert list(again(odin, copy).values()) == list(again(odin).values())[:2]


def test_turns_of_earlier_versions_are_told_as_far_as_they_were_kept(tmp_path):
    session = Session(tmp_path)
    session.note_subagent(
        SubagentRecord(
            agent_id="ask-1",
            turn_id="t",
            call_id="c",
            description="look",
            mode="ask_mode",
            model="m",
            status="running",
            started_at=1.0,
        )
    )
    outcome = Outcome(
        turn_id="t",
        session_id=session.id,
        mode="edit_mode",
        reason="end_turn",
        answer="done",
        tools=(ToolRecord("Read", "read a.py", ("a.py",), "success", 1, 2),),
        usage=Usage(1, 2),
    )
    session.finish_turn("do it", 5.0, outcome)

    [turn] = map(told, replay.turns(tmp_path, session.id))

    assert (turn.said, turn.mode, turn.began) == ("do it", "edit_mode", 5.0)
    assert [type(it).__name__ for _, it in turn.items.values()] == ["Helped", "Used", "Said"]
    assert turn.outcome == outcome


def test_an_event_that_nobody_understands_costs_only_itself(tmp_path):
    session = Session(tmp_path)
    session.note_event("t", MAIN, TurnStarted("ask_mode", "m", "hi"))
    session._write({"type": "event", "turnId": "t", "agentId": MAIN, "event": {"kind": "fromTheFuture"}})
    session._write({"type": "event", "turnId": "t", "agentId": MAIN, "event": {"kind": "messageFinished"}})
    session.note_event("t", MAIN, MessageFinished("hello", 0))

    [turn] = map(told, replay.turns(tmp_path, session.id))

    assert [it for _, it in turn.items.values()] == [Said("hello")]
    assert Session.load(tmp_path, session.id).notices == []


async def test_an_export_tells_in_order_what_was_said_and_done(odin, heard):
    odin.script(
        {"text": "First I look.", "calls": [{"name": "Read", "arguments": {"file_path": "greet.py"}}]},
        {"text": "Then I answer."},
    )
    await odin.take("what is in it?")

    for kind in ("markdown", "html"):
        text = "".join(exported(odin.core.sessions.folder, odin.session.id, kind))
        places = [text.index(it) for it in ("what is in it?", "First I look.", "1 tool", "Then I answer.")]
        assert places == sorted(places)


async def test_a_turn_that_has_failed_goes_on_without_being_told_anything_again(odin):
    odin.script(
        {"text": "I look", "calls": [{"name": "Read", "arguments": {"file_path": str(odin.root / "greet.py")}}]},
        FAILED,
        {"text": "It greets."},
    )
    failed = await odin.take("what does it do?")
    before = list(odin.session.messages)
    assert (failed.reason, failed.problem) == ("failed", Problem(kind="model", provider="scripted"))

    outcome = await odin.turns.go_on().outcome()

    assert (outcome.reason, outcome.answer, outcome.turn_id) == ("end_turn", "It greets.", failed.turn_id)
    assert odin.session.messages[:-1] == before
    [turn] = odin.session.turns
    assert ([it.name for it in turn.tool_history], turn.reason) == (["Read"], "end_turn")
    stored = Session.load(odin.core.sessions.folder, odin.session.id)
    assert (stored.turns, stored.usage) == (odin.session.turns, odin.session.usage)
    [shown] = again(odin).values()
    assert [it.text for _, it in shown.items.values() if isinstance(it, Said)] == ["I look", "It greets."]


async def test_a_turn_that_failed_before_the_model_heard_of_it_is_said_then(odin):
    odin.script({"text": "now"})
    session = odin.session
    failed = Outcome(turn_id="turn-0", session_id=session.id, mode="ask_mode", reason="failed", answer="")
    session.finish_turn("hello", 1.0, failed)

    outcome = await odin.turns.go_on().outcome()

    assert outcome.answer == "now"
    assert [it.role for it in session.messages] == ["user", "assistant"]


async def test_there_is_nothing_to_go_on_with_after_the_end(odin):
    with pytest.raises(RequestError, match="nothing to go on with"):
        odin.turns.go_on()
    odin.script({"text": "done"})
    await odin.take()
    with pytest.raises(RequestError, match="nothing to go on with"):
        odin.turns.go_on()


async def test_what_was_shown_before_a_restart_may_be_edited_if_it_is_still_so(odin, tmp_path):
    same, other = odin.root / "same.txt", odin.root / "other.txt"
    for file in (same, other):
        file.write_text("one\ntwo\nthree\n")
    odin.script(
        *[{"calls": [{"name": "Read", "arguments": {"file_path": str(it)}}]} for it in (same, other)], {"text": "read"}
    )
    await odin.take()
    session_id = odin.session.id
    await odin.core.close()
    odin.core = None
    other.write_text("one\n2\nthree\n")

    odin.script({"text": "yes"})
    await odin.start().sessions.open(session_id)
    await odin.take()

    shown = odin.live.scope.shown
    assert shown.covers(same, 1, ["one", "two", "three"])
    assert shown.of(other) is None


async def test_what_was_moved_was_seen(odin):
    shown = odin.live.scope.shown
    shown.note(odin.root / "a", 1, ["one", "two"], total=3)

    shown.move(odin.root / "a", odin.root / "b")

    assert shown.of(odin.root / "a") is None
    assert [(it.first, it.last) for it in shown.stretches(odin.root / "b")] == [(1, 2)]


async def test_a_message_that_was_removed_while_it_waited_is_no_turn(odin):
    odin.script({"text": "slow", "delayMs": 20}, {"text": "second"})
    first, gone = (odin.turns.start(odin.message(it)) for it in ("first", "gone"))
    odin.turns.remove_queued(gone.id)
    await first.outcome()
    await gone.outcome()
    await odin.take("second")

    assert [it.said for it in again(odin).values()] == ["first", "second"]
    assert replay.page(odin.core.sessions.folder, odin.session.id, None, 1).earlier_turns == 1


async def test_a_command_in_the_background_is_told_with_what_it_printed(odin):
    odin.settings["allowedCommands"] = ["sh"]
    start = {"command": "sh -c 'echo one'", "run_in_background": True}
    odin.script(
        {"calls": [{"name": "ExecuteCommand", "arguments": start}]},
        {"calls": [{"name": "CommandStatus", "arguments": {"background_id": "background-1", "wait": 60_000}}]},
        {"text": "done"},
    )

    await odin.take("run", "edit_mode")

    [ended] = odin.of(BackgroundFinished)
    assert ended.output == "one\n"
