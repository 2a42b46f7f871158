"""Sessions as the core has them: switched, resumed, named, and looked at before they are sent."""

import asyncio
import errno
import gc
import json
import os
from contextlib import contextmanager
from pathlib import Path

import pytest

from odin_lsp.errors import SessionBusy, SessionError
from odin_lsp.ports import Answer
from odin_lsp.session_events import (
    SessionBegun,
    SessionRenamed,
    SessionRestored,
    SessionSwitchStarted,
    TrustChanged,
)
from odin_lsp.sessions.session import Session
from tests.support.trusting import agree_to_all

OF_A_SWITCH = SessionBegun | SessionSwitchStarted | SessionRestored


@pytest.fixture
def again(odin):
    """The same workspace in another process, as far as it can tell."""

    async def again():
        await odin.core.close()
        odin.core = None
        odin.events.clear()
        return odin.start()

    return again


async def test_a_resumed_session_goes_on_where_it_was(odin, again):
    odin.script({"text": "one"}, {"text": "two"})
    first = await odin.take("first", "edit_mode")
    before = odin.session

    core = await again()
    agent = await core.sessions.open(first.session_id)

    assert agent.session.messages == before.messages
    assert agent.session.turns == before.turns
    assert agent.turns.mode == "ask_mode"
    assert core.sessions.current is agent
    assert [it for it in odin.events if isinstance(it, SessionSwitchStarted | SessionRestored)] == [
        SessionSwitchStarted(first.session_id, "resume"),
        SessionRestored(first.session_id, "first", 1, "resume"),
    ]


async def test_how_one_comes_to_another_session_is_told_before_and_after_it_is_read(odin, again):
    odin.script({"text": "one"}, {"text": "two"})
    outcome = await odin.take("first")
    core = await again()
    sessions = core.sessions
    heard = []
    core.stream.subscribe(lambda it: heard.append(it.event))

    resumed = await sessions.open(outcome.session_id)
    forked, _ = await sessions.fork(None, None)
    forked.clear()
    begun = sessions.begin("mine")
    sessions.tell_begun(begun)
    await resumed.close()
    sessions._live.clear()
    owner = Session.resume(sessions.folder, outcome.session_id)
    copied = await sessions.open(outcome.session_id)
    with pytest.raises(SessionError):
        await sessions.open("unknown")

    first, fork, copy = outcome.session_id, forked.session.id, copied.session.id
    assert [(it.kind, it.session_id, it.how) for it in heard if isinstance(it, OF_A_SWITCH)] == [
        *(("sessionSwitchStarted", first, "resume"), ("sessionRestored", first, "resume")),
        *(("sessionSwitchStarted", fork, "fork"), ("sessionRestored", fork, "fork")),
        ("sessionRestored", fork, "new"),
        ("sessionBegun", begun.session.id, "new"),
        *(("sessionSwitchStarted", first, "resume"), ("sessionRestored", copy, "fork")),
        ("sessionSwitchStarted", "unknown", "resume"),
    ]
    owner.close()


async def test_a_switch_between_open_sessions_is_told_once_and_to_where_one_is_already_it_is_none(odin):
    odin.script({"text": "one"}, {"text": "two"})
    first = (await odin.take("first")).session_id
    sessions = odin.core.sessions
    left = sessions.find(first)
    sessions.begin()
    odin.events.clear()

    await sessions.open(first, switch=False)
    assert odin.events == []
    for _ in range(2):
        assert await sessions.open(first) is left is sessions.current
    assert odin.events == [SessionSwitchStarted(first, "resume"), SessionRestored(first, "first", 1, "resume")]


async def test_who_sits_beside_has_a_session_of_its_own(odin, again):
    odin.script({"text": "one"}, {"text": "two"})
    stored = (await odin.take("first")).session_id
    core = await again()
    editors = core.sessions.begin()
    seat, other = core.sessions.seat(), core.sessions.seat()

    assert await seat.take_up(None) is editors
    assert (await seat.open(stored[:8])).session.id == stored
    assert await seat.take_up(None) is core.sessions.find(stored)
    assert other.begin() not in (editors, seat.current)
    assert core.sessions.current is editors
    assert (seat.knows(stored), other.knows(stored)) == (True, False)
    assert not [it for it in odin.events if isinstance(it, SessionSwitchStarted | SessionRestored)]


async def test_a_session_is_kept_open_for_who_sits_there(odin):
    core = odin.start()
    seat = core.sessions.seat()
    live = seat.begin()
    core.sessions.leave()
    assert core.sessions.find(live.session.id) is live

    seat.leave()
    core.sessions.leave()
    assert core.sessions.find(live.session.id) is None


async def test_where_nobody_has_a_session_who_sits_beside_begins_one_for_both(odin):
    core = odin.start()

    assert await core.sessions.seat().take_up(None) is core.sessions.current


async def test_the_last_session_is_resumed_without_an_id(odin, again):
    odin.script({"text": "one"}, {"text": "two"})
    outcome = await odin.take("first")

    core = await again()

    assert (await core.sessions.open()).session.id == outcome.session_id


async def test_two_who_resume_at_once_get_the_same(odin, again):
    odin.script({"text": "one"})
    outcome = await odin.take()
    core = await again()

    one, two = await asyncio.gather(*(core.sessions.open(outcome.session_id) for _ in range(2)))

    assert one is two


async def test_a_session_that_another_has_open_goes_on_as_a_fork(odin, again, person):
    odin.script({"text": "one"})
    outcome = await odin.take()
    core = await again()
    owner = Session.resume(core.sessions.folder, outcome.session_id)

    agent = await core.sessions.open(outcome.session_id)

    assert agent.session.id != outcome.session_id
    assert agent.session.forked_from == outcome.session_id
    assert agent.session.messages == owner.messages
    assert await core.sessions.open(outcome.session_id) is agent
    assert "is open in another Odin" in person.notices[0]
    with pytest.raises(SessionError, match="open in another"):
        await core.sessions.delete(outcome.session_id)
    owner.close()


async def test_a_session_in_a_turn_is_not_deleted(odin):
    odin.script({"text": "slow", "delayMs": 60_000})
    agent = odin.turns
    agent.start(odin.message("slow"))

    with pytest.raises(SessionBusy):
        await odin.core.sessions.delete(agent.session.id)


async def test_a_deleted_session_is_no_longer_the_current_one(odin):
    odin.script({"text": "one"})
    outcome = await odin.take()

    await odin.core.sessions.delete(outcome.session_id)

    assert odin.session.id != outcome.session_id
    assert await odin.core.sessions.listed(None, 10) == []


async def test_damage_is_told_to_the_user(odin, again, person):
    odin.script({"text": "one"})
    outcome = await odin.take()
    path = odin.session.log.path
    core = await again()
    path.write_bytes(path.read_bytes()[:-9])

    await core.sessions.open(outcome.session_id)

    assert "the last record was cut off" in person.notices[0]


async def test_a_disk_that_fails_is_told_once_and_so_is_that_it_works_again(odin, full_disk):
    odin.script(*({"text": str(number)} for number in range(4)))

    await odin.take()
    with full_disk():
        await odin.take()
        await odin.take()
    await odin.take()

    told = [(it.level, it.message) for it in odin.events if it.kind == "notice"]
    assert [level for level, _ in told] == ["warning", "info"]
    assert "No space left on device" in told[0][1]
    session = odin.session
    assert Session.load(session.log.path.parent, session.id).turns == session.turns


@pytest.fixture
def small(odin, tmp_path):
    """A small model that names sessions."""

    def small(*replies):
        path = tmp_path / "small.json"
        path.write_text(json.dumps({"replies": list(replies)}))
        odin.settings |= {"smallModel": f"scripted/{path}", "titles": True}

    return small


async def named(odin):
    if task := odin.live._namer._task:
        await asyncio.wait([task])


@pytest.fixture(autouse=True)
def titles_as_set(monkeypatch):
    monkeypatch.delenv("ODIN_TITLES")


async def test_the_small_model_names_a_session_once_after_its_first_turn(odin, small):
    odin.script({"text": "one"}, {"text": "two"})
    small({"text": '"Greeting the world"', "usage": {"outputTokens": 5}, "when": {"contains": "<user>\nhello"}})

    await odin.take("hello")
    await named(odin)
    await odin.take("again")
    await named(odin)

    session = odin.session
    assert (session.title, session.titled_by) == ("Greeting the world", "model")
    assert odin.of(SessionRenamed) == [SessionRenamed("Greeting the world")]
    assert session.usage.output_tokens == 5


@pytest.mark.parametrize(
    "reply",
    [
        {"error": "busy"},
        {"error": {"kind": "failed", "message": "no"}},
        {"text": "Here is a title:\n\nX"},
        {"text": ""},
    ],
)
async def test_without_a_good_answer_the_first_words_stay_and_nobody_asks_again(odin, small, reply):
    odin.script({"text": "one"}, {"text": "two"})
    small(reply, {"text": "A second try"})

    await odin.take("hello there")
    await named(odin)
    await odin.take("again")
    await named(odin)

    assert odin.session.title == "hello there"


async def test_a_title_of_the_user_is_not_replaced(odin, small):
    odin.script({"text": "one"})
    small({"text": "By the model", "delayMs": 50})

    await odin.take("hello")
    await odin.core.sessions.rename(None, "By me")
    await named(odin)

    assert odin.session.title == "By me"


async def test_closing_does_not_wait_for_a_title(odin, small):
    odin.script({"text": "one"})
    small({"text": "Late", "delayMs": 60_000})

    await odin.take("hello")
    async with asyncio.timeout(30):
        session = odin.session
        await odin.core.close()

    assert session.title == "hello"


async def test_the_preview_is_what_is_sent(odin, call):
    odin.script({"calls": [call("Read", file_path=str(odin.root / "greet.py"))]}, {"text": "one"})
    await odin.take("first")
    odin.project.pick({"model": "anthropic/claude-sonnet-5-5"})

    seen = await odin.core.preview(None, "ask_mode", "second")

    messages = [json.loads(it.content) for it in seen.parts if it.kind == "message"]
    assert messages[0][-1]["text"] == "first"
    assert messages[-1][-1]["text"] == "second"
    assert "def greet" in json.dumps(messages)
    assert [it.kind for it in seen.parts] == sorted(
        (it.kind for it in seen.parts), key=["tool", "system", "message"].index
    )
    assert {it.name for it in seen.parts if it.kind == "system"} == {"system"}
    assert [it.name for it in seen.parts if it.kind == "message"] == ["user", "assistant", "user", "assistant", "user"]
    assert seen.tokens == sum(it.tokens for it in seen.parts)
    assert seen.model == "anthropic/claude-sonnet-5-5"
    assert 0 < seen.cached_cost_usd < seen.switched_cost_usd < seen.cost_usd
    assert odin.session.messages[-1].text == "one"


def held():
    """What this process holds: descriptors, and processes of its own."""
    gc.collect()  # what tests before this one have left
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    return len(list(Path("/proc/self/fd").iterdir())), len(children)


async def test_sessions_that_were_opened_used_and_deleted_leave_nothing(odin, call):
    run = {"calls": [call("ExecuteCommand", command="pwd", description="look")]}
    odin.script(*[run, {"text": "done"}] * 12)
    core = odin.start()
    followers = len(core.stream._subscriptions)
    before = None
    for number in range(12):
        core.sessions.begin()
        outcome = await odin.take(f"go {number}", "edit_mode")
        await core.sessions.delete(outcome.session_id)
        before = before or held()

    assert held() == before
    assert list(core.sessions) == []
    assert len(core.stream._subscriptions) == followers


async def test_a_deleted_sessions_background_command_ends_with_it(odin, call, person):
    person.answers.append(Answer(("allow_once",)))
    calls = [call("ExecuteCommand", command="sleep 600", description="wait", run_in_background=True)]
    odin.script({"calls": calls}, {"text": "done"})
    outcome = await odin.take("go", "edit_mode")
    [command] = odin.live.scope.commands.background
    assert command.ended is None

    await odin.core.sessions.delete(outcome.session_id)

    assert command.ended is not None


async def test_a_session_that_was_left_is_closed_after_a_while_unless_something_goes_on_in_it(odin, call):
    odin.script({"text": "slow", "delayMs": 60_000, "when": {"contains": "slow"}}, {"text": "one"})
    core = odin.start()
    core.sessions._kept_open = 0.0
    busy, turn = odin.live, odin.turns.start(odin.message("slow"))
    idle = core.sessions.begin()

    current = core.sessions.begin()
    while idle in list(core.sessions):
        await asyncio.sleep(0)

    assert set(core.sessions) == {busy, current}
    turn.cancel()
    while busy in list(core.sessions):
        await asyncio.sleep(0)
    assert core.sessions.current is current


@pytest.fixture
def full_disk(monkeypatch):
    @contextmanager
    def full_disk():
        def refuse(*_):
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as broken:
            broken.setattr(os, "pwrite", refuse)
            yield

    return full_disk


async def test_a_session_that_the_disk_refuses_is_not_closed_before_it_is_written(odin, full_disk):
    odin.script({"text": "one"})
    with full_disk():
        outcome = await odin.take("first")
        left = odin.live
        odin.core.sessions._kept_open = 0.0
        odin.core.sessions.begin()
        for _ in range(9):
            await asyncio.sleep(0)
        assert left in list(odin.core.sessions)

    while left in list(odin.core.sessions):
        await asyncio.sleep(0)

    again = await odin.core.sessions.open(outcome.session_id)
    assert [it.body for it in again.session.turns] == ["first"]


async def test_what_the_disk_refuses_of_a_session_is_written_with_the_next_turn_of_another(odin, full_disk):
    odin.script({"text": "one"}, {"text": "two"})
    with full_disk():
        await odin.take("first")
    refused = odin.session

    odin.core.sessions.begin()
    await odin.take("second")

    assert [it.body for it in Session.load(refused.log.path.parent, refused.id).turns] == ["first"]


async def test_what_the_disk_refuses_of_a_session_is_written_when_odin_ends(odin, full_disk):
    odin.script({"text": "one"})
    with full_disk():
        await odin.take("first")
    refused = odin.session

    await odin.core.close()

    assert [it.body for it in Session.load(refused.log.path.parent, refused.id).turns] == ["first"]


async def test_a_closed_session_is_opened_again_as_it_was(odin):
    odin.script({"text": "one"}, {"text": "two"})
    outcome = await odin.take("first")
    first = odin.live
    odin.core.sessions._kept_open = 0.0
    odin.core.sessions.begin()
    while first in list(odin.core.sessions):
        await asyncio.sleep(0)

    again = await odin.core.sessions.open(outcome.session_id)

    assert again is not first
    assert [turn.body for turn in again.session.turns] == ["first"]


async def test_looking_at_a_session_neither_opens_nor_forks_it_nor_makes_it_the_current_one(odin, again):
    odin.script({"text": "one"})
    outcome = await odin.take("first")
    core = await again()
    owner = Session.resume(core.sessions.folder, outcome.session_id)

    seen = await core.preview(outcome.session_id, "ask_mode", "second")
    await odin.state()

    assert "first" in json.dumps([part.content for part in seen.parts])
    assert core.sessions.current is None
    assert list(core.sessions) == []
    assert [it.session_id for it in await core.sessions.listed(None, 10)] == [outcome.session_id]
    owner.close()


async def test_the_sessions_of_another_folder_are_others(odin, tmp_path):
    odin.script({"text": "one"}, {"text": "two"})
    await odin.take("first")
    other = tmp_path / "other"
    other.mkdir()

    odin.project.change_folders((odin.root,), (other,))

    assert odin.core.sessions.current is None
    assert await odin.core.sessions.listed(None, 10) == []
    await odin.take("second")
    assert [it.title for it in await odin.core.sessions.listed(None, 10)] == ["second"]


async def test_a_session_that_is_opened_while_it_still_closes_is_not_forked(odin):
    odin.script({"text": "one"}, {"text": "two"})
    outcome = await odin.take("first")
    left, may_close = odin.live, asyncio.Event()
    close = left.scope.commands.close

    async def slowly():
        await may_close.wait()
        await close()

    left.scope.commands.close = slowly
    odin.core.sessions._kept_open = 0.0
    odin.core.sessions.begin()
    while left in list(odin.core.sessions):
        await asyncio.sleep(0)

    opening = asyncio.create_task(odin.core.sessions.open(outcome.session_id))
    asyncio.get_running_loop().call_later(0.5, may_close.set)

    assert (await opening).session.id == outcome.session_id


async def test_a_new_session_and_a_change_of_trust_are_told(odin):
    sessions = odin.start().sessions
    live = sessions.begin("mine")
    sessions.tell_begun(live)
    sessions.tell_begun(sessions.begin_beside("nobody else's"))
    agree_to_all(odin.project)

    assert odin.of(SessionBegun | TrustChanged) == [SessionBegun(live.session.id, "mine"), TrustChanged(True)]
