"""The queue, and what happens to it."""

import asyncio
from types import SimpleNamespace

import pytest

from odin_lsp.agent.turn import Remark
from odin_lsp.agent.turn_queue import UNHEARD
from odin_lsp.errors import EmptyPrompt, RequestError, SessionBusy
from odin_lsp.events import Notice, ToolFinished, TurnQueued, TurnStarted, UserSpoke
from odin_lsp.messages import ToolResult
from odin_lsp.server.commands.turns import cancel
from odin_lsp.session_events import TurnEdited
from odin_lsp.sessions.session import Session


@pytest.fixture
async def busy(odin, call, person):
    """A turn that waits for an answer, and a message behind it."""
    waiting = asyncio.Event()

    async def never(question):
        waiting.set()
        await asyncio.Event().wait()

    person.ask = never
    odin.script({"calls": [call("AskUser", question="Well?")]}, {"text": "one"}, {"text": "two"})
    agent = odin.turns
    turns = agent.start(odin.message("slow")), agent.start(odin.message("then"))
    await waiting.wait()
    return agent, *turns


async def test_messages_run_in_order_each_with_its_own_mode(odin):
    odin.script({"text": "one"}, {"text": "two"}, {"text": "three"})
    agent = odin.turns

    turns = [agent.start(odin.message("q", mode)) for mode in ("ask_mode", "edit_mode", "plan_mode")]
    queue = agent.queue()
    outcomes = [await turn.outcome() for turn in turns]

    assert [(it.turn_id, it.mode) for it in queue] == [("turn-2", "edit_mode"), ("turn-3", "plan_mode")]
    assert [event.position for event in odin.of(TurnQueued)] == [1, 2]
    assert [(it.answer, it.mode) for it in outcomes] == [
        ("one", "ask_mode"),
        ("two", "edit_mode"),
        ("three", "plan_mode"),
    ]
    assert (
        odin.kinds("activityChanged", "requestStarted", "textStreamed", "messageFinished", "usageChanged")[2:]
        == ["turnStarted", "turnFinished"] * 3
    )


async def test_the_first_event_of_a_turn_is_its_start_whatever_there_is_to_tell_before(odin):
    (odin.root / "ODIN.md").write_text("Use tabs.")
    odin.script({"text": "ok"})

    await odin.take()

    assert odin.kinds()[:2] == ["turnStarted", "notice"]


async def test_a_subscriber_that_fails_at_every_event_leaves_the_session_as_it_is(odin):
    odin.script({"text": "one"}, {"text": "two"})
    core = odin.start()
    core.stream.subscribe(lambda record: 1 / 0)

    assert [(await odin.take()).answer for _ in range(2)] == ["one", "two"]
    assert odin.turns.running is None
    assert odin.kinds()[-2:] == ["turnFinished", "activityChanged"]


async def test_a_queued_message_can_be_edited_and_removed(odin):
    odin.script({"text": "one", "delayMs": 20}, {"text": "two"})
    agent = odin.turns
    first, second, third = (agent.start(odin.message(text)) for text in ("a", "b", "c"))

    agent.edit_queued(second.id, text="better", mode="plan_mode")
    agent.remove_queued(third.id)
    await first.outcome()

    assert (await second.outcome()).mode == "plan_mode"
    assert (await third.outcome()).reason == "interrupted"
    assert odin.of(TurnEdited) == [TurnEdited("plan_mode", "better")]
    assert [turn.body for turn in agent.session.turns] == ["a", "better"]
    with pytest.raises(RequestError, match="may have started already"):
        agent.remove_queued(first.id)


async def test_what_is_queued_waits_when_the_running_turn_is_cancelled(odin, busy):
    agent, first, second = busy

    assert agent.cancel(first.id)

    assert (await first.outcome()).reason == "interrupted"
    assert (agent.running, [it.turn_id for it in agent.queue()]) == (None, [second.id])
    assert odin.kinds()[-1] == "activityChanged"
    assert not agent.cancel()
    assert not odin.live.is_idle


async def test_what_is_said_after_a_cancel_goes_before_what_is_held(odin, busy):
    agent, first, second = busy
    agent.cancel(first.id)
    await first.outcome()

    instead = agent.start(odin.message("rather this"))
    outcomes = [await it.outcome() for it in (instead, second)]

    assert [it.answer for it in outcomes] == ["one", "two"]
    assert [turn.body for turn in agent.session.turns] == ["slow", "rather this", "then"]


async def test_what_is_held_is_not_lost_when_the_session_is_cleared_and_odin_is_ended(odin, busy):
    agent, first, second = busy
    agent.cancel(first.id)
    await first.outcome()

    odin.live.clear()
    await odin.core.close()

    assert (await second.outcome()).reason == "aborted"
    again = Session.resume(odin.core.sessions.folder, agent.session.id)
    assert [it.body for it in again.unbegun] == ["then"]
    again.close()


@pytest.mark.parametrize("how", ["resumed", "resumed at once", "cancelled once more"])
async def test_what_is_held_goes_on_when_the_user_says_so(odin, busy, how):
    agent, first, second = busy
    agent.cancel(first.id)
    if how != "resumed at once":
        await first.outcome()

    if how == "cancelled once more":
        assert not agent.cancel(then_next=True)
    else:
        agent.resume_queue()

    await first.outcome()
    assert agent.running is second
    assert (await second.outcome()).answer == "one"


async def test_a_cancelled_turn_is_taken_up_before_what_is_held(odin, busy):
    agent, first, second = busy
    agent.cancel(first.id)
    await first.outcome()

    again = agent.go_on()
    outcomes = [await it.outcome() for it in (again, second)]

    assert [it.answer for it in outcomes] == ["one", "two"]


async def test_the_queue_goes_on_after_a_cancel_if_that_is_wanted(odin, busy):
    agent, first, second = busy

    assert agent.cancel(first.id, then_next=True)

    assert (await first.outcome()).reason == "interrupted"
    assert agent.running is second
    assert (await second.outcome()).answer == "one"


async def test_a_message_that_is_cancelled_while_it_waits_holds_up_nobody(odin, busy):
    agent, first, second = busy
    third = agent.start(odin.message("last"))

    agent.cancel(second.id)
    await second.outcome()
    agent.cancel(first.id, then_next=True)

    assert (await third.outcome()).answer == "one"


async def test_what_was_queued_is_given_back(odin, busy):
    agent, first, second = busy
    server = SimpleNamespace(core=odin.core)

    answer = await cancel(server, {"queue": "return"}, None)

    assert (answer["cancelled"], [it["body"] for it in answer["returned"]]) == (True, ["then"])
    assert [(await it.outcome()).reason for it in (first, second)] == ["interrupted"] * 2
    assert agent.is_empty
    assert [turn.body for turn in agent.session.turns] == ["slow"]


async def test_clearing_the_queue_leaves_the_running_turn(odin):
    odin.script({"text": "one", "delayMs": 50})
    agent = odin.turns
    turns = [agent.start(odin.message(str(number))) for number in range(4)]
    agent.clear_queue()

    assert [(await turn.outcome()).reason for turn in turns] == ["end_turn", *["interrupted"] * 3]


async def test_a_cancelled_call_has_a_result_so_that_the_history_stays_valid(odin, call, person):
    waiting = asyncio.Event()

    async def never(question):
        waiting.set()
        await asyncio.Event().wait()

    person.ask = never
    odin.script({"calls": [call("AskUser", question="Well?")]}, {"text": "next"})
    agent = odin.turns
    turn = agent.start(odin.message("go"))
    await waiting.wait()

    agent.cancel()
    outcome = await turn.outcome()

    assert outcome.tools[0].status == "cancelled"
    assert odin.of(ToolFinished)[0].status == "cancelled"
    assert agent.session.messages[2].parts[0] == ToolResult("call_1", "AskUser", "canceled by the user", failed=True)
    assert (await odin.take("again")).answer == "next"


async def test_one_hundred_messages_at_once_are_all_answered(odin):
    odin.script(*({"text": f"answer {number}"} for number in range(100)))
    agent = odin.turns

    outcomes = await asyncio.gather(*(agent.start(odin.message(f"q{number}")).outcome() for number in range(100)))

    assert [outcome.answer for outcome in outcomes] == [f"answer {number}" for number in range(100)]
    assert len(agent.session.turns) == 100


async def test_different_sessions_run_side_by_side(odin):
    odin.script({"text": "slow", "delayMs": 60_000, "when": {"contains": "slow"}}, {"text": "quick"})
    first = odin.turns
    slow = first.start(odin.message("slow"))
    odin.core.sessions.begin()

    quick = await odin.turns.start(odin.message("quick")).outcome()

    assert quick.answer == "quick"
    assert first.running is slow


@pytest.mark.parametrize("text", ["", "   \n\t", "\0\0"])
async def test_an_empty_prompt_is_refused(odin, text):
    with pytest.raises(EmptyPrompt, match="the prompt is empty"):
        odin.turns.start(odin.message(text))


async def test_a_prompt_that_is_too_long_says_what_to_do(odin):
    with pytest.raises(RequestError, match="put the text into a file"):
        odin.turns.start(odin.message("x" * 5_000_000))


async def test_lone_surrogates_and_nul_do_not_reach_the_model(odin):
    odin.script({"text": "ok"})

    await odin.take("a\ud800b\0c")

    assert odin.session.messages[0].parts[-1].text == "a\ufffdbc"


async def test_two_turns_cannot_have_one_id(odin):
    odin.script({"text": "one"})
    agent = odin.turns
    await agent.start(odin.message("a")).outcome()
    odin._turns = 0

    with pytest.raises(RequestError, match="already a turn 'turn-1'"):
        agent.start(odin.message("b"))


async def test_nothing_starts_after_the_shutdown(odin):
    agent = odin.turns
    await agent.close()

    with pytest.raises(RequestError, match="shutting down"):
        agent.start(odin.message("late"))


async def test_a_bug_in_a_turn_ends_the_turn_and_nothing_else(odin, monkeypatch):
    odin.script({"text": "fine"})
    agent = odin.turns
    make = agent._make_planner

    async def broken(*_):
        raise ZeroDivisionError

    agent._make_planner = broken
    outcome = await odin.take("first")
    agent._make_planner = make

    assert (outcome.reason, outcome.detail) == ("failed", "an internal error ended the turn; Odin's log says more")
    assert (await odin.take("second")).answer == "fine"


async def test_context_is_added_without_asking_the_model(odin):
    odin.script({"text": "ok"})
    agent = odin.turns

    odin.live.note("the build failed")
    assert odin.kinds() == ["notice"]
    await odin.take("why?")

    assert agent.session.messages[0].text == "the build failed"


async def test_what_is_noted_in_a_turn_is_told_after_it_and_asks_no_model(odin, busy):
    agent, _, second = busy

    agent.note("the build failed")
    agent.cancel(then_next=True)

    assert (await second.outcome()).answer == "one"
    said = [message.text for message in agent.session.messages if message.role == "user"]
    assert said.index("the build failed") == len(said) - 2


async def test_the_last_message_is_taken_back_only_between_turns(odin):
    odin.script({"text": "ok"}, {"text": "slow", "delayMs": 60_000})
    agent = odin.turns
    await odin.take("q")
    assert agent.remove_last_message().text == "ok"

    agent.start(odin.message("busy"))
    with pytest.raises(SessionBusy):
        agent.remove_last_message()


async def test_updates_are_shown_while_it_runs_and_gone_afterwards(odin, call, person):
    seen = []

    async def look(question):
        seen.extend((await odin.state())["updates"])

    person.ask = look
    odin.script({"calls": [call("Glob", pattern="*"), call("AskUser", question="ok?")]}, {"text": "done"})

    await odin.take()

    assert "found 1 file for *" in seen
    assert (await odin.state())["updates"] == []


async def test_the_state_is_no_older_than_what_took_longest_to_learn(odin, busy, monkeypatch):
    agent, *_ = busy

    async def meanwhile(*_):
        agent.start(odin.message("meanwhile"))
        return ()

    monkeypatch.setattr("odin_lsp.server.commands.state.states_of_servers", meanwhile)

    assert [it["body"] for it in (await odin.state())["queue"]] == ["then", "meanwhile"]


async def test_the_state_has_all_its_parts(odin, call):
    odin.script({"calls": [call("Read", file_path=str(odin.root / "greet.py"))]}, {"text": "done"})
    await odin.take("what?", "plan_mode")

    state = await odin.state()

    assert state.keys() == {
        "sessionId",
        "unbegun",
        "suspended",
        "languageServers",
        "mcpServers",
        "mode",
        "messages",
        "earlierMessages",
        "queue",
        "executing",
        "compacting",
        "updates",
        "subagents",
        "earlierSubagents",
        "todos",
        "usage",
        "context",
        "instructions",
        "instructionFiles",
        "config",
        "cache",
        "cacheConfig",
        "models",
    }
    assert (state["mode"], state["executing"]) == ("plan_mode", False)
    assert state["messages"][0]["answerSummary"] == "done"
    assert state["messages"][0]["toolHistory"][0]["affectedFiles"] == [str(odin.root / "greet.py")]
    [cached] = state["cache"]
    assert cached.pop("cachedAt") > 0
    assert cached == {"filePath": str(odin.root / "greet.py"), "size": 44, "isModified": False, "isTruncated": False}


async def until(condition) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0)


async def test_what_is_said_into_a_running_turn_is_heard_after_the_results_of_a_step(odin, call):
    odin.script({"text": "looking", "calls": [call("LS", path=str(odin.root))], "delayMs": 60}, {"text": "as you wish"})
    agent = odin.turns
    turn = agent.start(odin.message("go"))
    await until(lambda: odin.of(TurnStarted))

    assert agent.steer(Remark("only the tests, please"), turn.id)
    outcome = await turn.outcome()

    assert outcome.answer == "as you wish"
    assert [it.text for it in odin.of(UserSpoke)] == ["only the tests, please"]
    spoken = [bool(message.results) or message.text for message in agent.session.messages if message.role == "user"]
    assert spoken[1:] == [True, "only the tests, please"]
    assert not agent.steer(Remark("too late"), turn.id)


async def test_a_turn_goes_on_after_its_answer_if_the_user_has_said_more(odin):
    odin.script({"text": "done", "delayMs": 60}, {"text": "that too"})
    agent = odin.turns
    turn = agent.start(odin.message("go"))
    await until(lambda: odin.of(TurnStarted))

    agent.steer(Remark("and the docs"))

    assert (await turn.outcome()).answer == "that too"


async def test_what_no_model_has_heard_is_told_to_the_user(odin):
    odin.script({"text": "slow", "delayMs": 60_000})
    agent = odin.turns
    turn = agent.start(odin.message("go"))
    await until(lambda: odin.of(TurnStarted))

    agent.steer(Remark("faster"))
    agent.cancel()
    await turn.outcome()

    assert [it.message for it in odin.of(Notice)] == [UNHEARD.format("faster")]


async def test_a_turn_whose_end_cannot_be_kept_does_not_hold_up_the_next(odin, monkeypatch, caplog):
    odin.script({"text": "one"}, {"text": "two"})

    def fail(*_):
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(odin.session, "finish_turn", fail)
        first = await odin.take("first")
    second = await odin.take("second")

    assert (first.answer, second.answer) == ("one", "two")
    assert "is not kept" in caplog.text
