"""What is known of a turn while it runs, of those that wait for it, and of all of them afterwards."""

import asyncio

import pytest

from odin_lsp.agent.turn import Remark
from odin_lsp.events import ActivityChanged, TurnStarted
from odin_lsp.messages import Text
from odin_lsp.terminal.editor import TerminalEditor


@pytest.fixture
def asked(odin, call, person):
    """A turn that waits for the user in its first step: what is done meanwhile, and what it is answered with."""

    def asked(meanwhile, *replies):
        async def ask(question):
            await meanwhile()

        person.ask = ask
        odin.script({"calls": [call("AskUser", question="Well?")]}, *replies)

    return asked


async def test_the_state_says_what_runs_and_what_waits(odin, asked):
    async def look():
        odin.turns.start(odin.message("and then?", "ask_mode"))
        seen.append(await odin.state())

    seen = []
    asked(look, {"text": "one"}, {"text": "two"})
    await odin.take("first", "plan_mode")

    [state] = seen
    assert (state["executing"], state["mode"]) == (True, "plan_mode")
    [waiting] = state["queue"]
    assert (waiting["body"], waiting["mode"]) == ("and then?", "ask_mode")
    assert waiting["timestamp"] > 0


async def test_what_waits_is_no_part_of_the_turn_that_runs(odin, asked):
    async def say_more():
        turns.append(odin.turns.start(odin.message("something else")))

    turns = []
    asked(say_more, {"text": "one"}, {"text": "two"})
    await odin.take("first")
    assert (await turns[0].outcome()).answer == "two"

    said = [message.parts[-1] for message in odin.session.messages]
    assert [it.text for it in said if isinstance(it, Text)] == ["first", "one", "something else", "two"]


async def test_every_turn_stays_with_its_tools_and_todos(odin, call, person):
    odin.settings["review"] = {"policy": "auto"}
    path = str(odin.root / "new.txt")
    todos = [{"id": "1", "content": "write", "status": "completed"}]
    odin.script(
        {"calls": [call("TodoWrite", todos=todos), call("WriteFile", file_path=path, content="x\n")]},
        {"text": "written"},
        {"text": "again"},
    )
    person.apply = TerminalEditor("yes").apply
    await odin.take("write", "edit_mode")
    await odin.take("and now?")

    first, second = (await odin.state())["messages"]
    assert (first["body"], first["answerSummary"]) == ("write", "written")
    assert [it["content"] for it in first["todos"]] == ["write"]
    assert [it["name"] for it in first["toolHistory"]] == ["TodoWrite", "WriteFile"]
    written = first["toolHistory"][1]
    assert written["affectedFiles"] == [path]
    assert "\n" not in written["description"]
    assert (second["body"], second["answerSummary"]) == ("and now?", "again")


async def test_when_all_is_done_that_is_told_once(odin):
    odin.script({"text": "one"}, {"text": "two"}, {"text": "three"})
    turns = [odin.turns.start(odin.message("q")) for _ in range(3)]
    for turn in turns:
        await turn.outcome()

    assert [it.activity for it in odin.of(ActivityChanged)].count("idle") == 1
    assert odin.events[-1] == ActivityChanged("idle")


async def test_whatever_is_said_at_once_is_heard_in_order(odin, asked):
    async def speak():
        for number in range(200):
            assert odin.turns.steer(Remark(f"remark {number}"))

    asked(speak, {"text": "all right"})
    await odin.take()

    heard = [it.text for message in odin.session.messages for it in message.parts if isinstance(it, Text)]
    assert [it for it in heard if it.startswith("remark")] == [f"remark {number}" for number in range(200)]


async def test_a_hundred_messages_at_once_share_the_files_and_lose_nothing(odin, call, caplog):
    """In asyncio's debug mode, which tells of what is not awaited, not closed, or not of this thread."""
    loop = asyncio.get_running_loop()
    loop.set_debug(True)
    loop.slow_callback_duration = 60
    path = odin.root / "greet.py"
    read = {"calls": [call("Read", file_path=str(path))]}
    odin.script(*(it for number in range(100) for it in (read, {"text": f"answer {number}"})))

    turns = [odin.turns.start(odin.message(f"q{number}")) for number in range(100)]
    outcomes = await asyncio.gather(*(turn.outcome() for turn in turns))

    assert [it.answer for it in outcomes] == [f"answer {number}" for number in range(100)]
    assert [turn.body for turn in odin.session.turns] == [f"q{number}" for number in range(100)]
    assert len(odin.of(TurnStarted)) == 100
    [(cached, file)] = odin.core.files.cache
    assert (cached, file.access_count) == (path, 100)
    assert [it.message for it in caplog.records if it.name == "asyncio"] == []


async def test_the_time_that_the_model_took_is_part_of_the_outcome(odin):
    odin.script({"text": "slow", "delayMs": 20})

    outcome = await odin.take()

    assert 20 <= outcome.model_ms <= outcome.duration_ms
