"""Long conversations: shortened, summarised, and nothing that the user said is lost."""

import asyncio

import pytest

from odin_lsp.agent.compaction import Compaction, words_of
from odin_lsp.agent.history import is_shortened, shortened
from odin_lsp.errors import ModelUnavailable
from odin_lsp.events import Compacted
from odin_lsp.messages import Image, Message, Text, ToolCall, ToolResult, user
from odin_lsp.sessions.history import estimate, repair
from tests.support.long_work import WINDOW, long_work


def steps(count, size=400):
    for number in range(count):
        yield Message("assistant", (ToolCall(f"c{number}", "Read", {"file_path": f"/f{number}"}),))
        yield Message("user", (ToolResult(f"c{number}", "Read", "x" * size),))


def ignore(event):
    pass


async def compacted(messages, small=None, budget=10_000):
    return await Compaction(small).compact(messages, estimate(messages), budget, ignore)


async def test_stale_results_are_shortened_first_without_a_model():
    async def small(instructions, text):
        raise AssertionError("nobody needs to be asked")

    history = [user("the request"), *steps(10, size=3500)]

    shorter = await compacted(history, small)

    assert len(shorter) == len(history)
    assert estimate(shorter) < 5_000
    assert shorter[-1] == history[-1]


async def test_a_summary_takes_the_place_of_what_is_old_and_the_users_words_stay():
    asked = []

    async def small(instructions, text):
        asked.append(text)
        return "It read many files."

    history = [user("the request"), *steps(40), user("no, use tabs"), *steps(40), user("and be quick"), *steps(40)]

    shorter = await compacted(history, small, 6_000)
    again = await compacted([*shorter, *steps(100)], small, 6_000)

    for made in (shorter, again):
        assert made[0].parts[0] == Text("<said>\nthe request\n</said>")
        assert "no, use tabs" in made[0].text
        assert "It read many files." in made[0].text
        assert made[0].text.count("<summary>") == 1
        assert made[1].role == "assistant"
        assert repair(made) == made
    assert "and be quick" in again[0].text
    assert ["Read said: xxx" in text for text in asked] == [True, True]


async def test_the_mode_stays_known_also_if_the_user_has_said_something_into_the_turn():
    async def small(instructions, text):
        return "It read many files."

    mode = "<reminder>\nMode: plan_mode\n</reminder>"
    history = [user(mode, "the request"), *steps(40), user("no, use tabs"), *steps(80)]

    shorter = await compacted(history, small, 6_000)
    again = await compacted([*shorter, *steps(100)], small, 6_000)

    for made in (shorter, again):
        assert made[0].text.count(mode) == 1
        assert "<request>\nno, use tabs\n</request>" in made[0].text


async def test_what_the_user_says_in_thousands_of_turns_stays_bounded_with_the_first_and_the_last_of_it():
    async def small(instructions, text):
        return "Much was said."

    history, sizes = [user("the request")], []
    for number in range(3000):
        history += [user(f"wish {number} of many"), Message("assistant", (Text("done"),))]
        if estimate(history) > 4_800:
            history = await compacted(history, small, 6_000)
            sizes.append(estimate(history))

    assert max(sizes) <= 3_700
    assert len(sizes) < 3000 / 50
    for words in ("the request", "wish 0 of many", "wish 2999 of many"):
        assert any(words in message.text for message in history)


async def test_a_model_that_fails_twice_is_replaced_by_an_outline():
    tries = []

    async def small(instructions, text):
        tries.append(text)
        raise ModelUnavailable("down")

    shorter = await compacted([user("the request"), *steps(100)], small, 6_000)

    assert len(tries) == 2
    assert "Read {'file_path': '/f" in shorter[0].text


async def test_a_summary_begun_early_is_used_and_a_cancelled_one_says_so():
    began, go = asyncio.Event(), asyncio.Event()
    events = []

    async def small(instructions, text):
        began.set()
        await go.wait()
        return "early"

    history = [user("the request"), *steps(60)]
    compaction = Compaction(small)
    compaction.prepare(history, 8_000, 10_000, events.append)
    await began.wait()
    go.set()
    shorter = await compaction.compact([*history, *steps(3)], 9_000, 10_000, events.append)
    assert "early" in shorter[0].text

    go.clear()
    task = asyncio.create_task(compaction.compact(history, 9_000, 10_000, events.append))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [it.status for it in events] == ["started", "started", "succeeded", "started", "cancelled"]


async def test_c_101_a_compaction_is_seen_and_ended_and_the_history_stays_as_it_is():
    began = asyncio.Event()
    events = []

    async def small(instructions, text):
        began.set()
        await asyncio.Event().wait()

    history = [user("the request"), *steps(60)]
    beside, needed = Compaction(small), Compaction(small)
    beside.prepare(history, 8_000, 10_000, events.append)
    await began.wait()
    assert beside.is_running
    assert beside.cancel()
    await asyncio.sleep(0)
    assert not beside.is_running
    assert not beside.cancel()
    beside.prepare(history, 8_000, 10_000, events.append)
    assert not beside.is_running

    began.clear()
    compacting = asyncio.create_task(needed.compact(history, 9_000, 10_000, events.append))
    await began.wait()
    assert needed.cancel()
    assert await compacting is None
    assert [it.status for it in events] == ["started", "cancelled", "started", "cancelled"]
    assert [it.in_background for it in events] == [True, True, False, False]


async def test_what_cannot_be_shorter_is_left_and_that_is_told():
    events = []

    assert await Compaction(None).compact([user("x" * 100)], 50, 10, events.append) is None
    assert events == [Compacted("started", 50, 50), Compacted("failed", 50, 50)]


def test_only_the_users_own_words_count_as_theirs():
    assert words_of(Message("user", (Text("fix it"), Text("<context>x</context>")))) == "fix it"
    assert words_of(user("<reminder>\nx\n</reminder>")) == ""
    assert words_of(Message("user", (ToolResult("1", "Read", "do this"),))) == ""


async def test_three_hundred_steps_on_a_small_window(tmp_path):
    work = await long_work(tmp_path, 300)

    assert work.ending.reason == "end_turn"
    assert 2 <= work.compactions <= 60
    assert max(work.sizes) <= WINDOW
    assert "the very first request" in work.last_request
    assert work.cached >= 0.9
    assert work.later_cost <= 1.5 * work.earlier_cost


async def test_helpers_of_a_compaction_do_not_outlive_the_turn(tmp_path):
    await long_work(tmp_path, 20)

    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_what_is_short_already_stays_as_it_is():
    once = shortened(Message("user", (ToolResult("1", "Read", "x" * 10_000),)))

    assert once.results[0].content.endswith(
        "(9,600 more characters of this old result were taken out to make room; make the call again if you need them)"
    )
    assert shortened(once) == once


async def test_an_image_is_a_sentence_when_room_is_made():
    image = Image("image/png", "aGk=", "shot.png", 20, 10)
    said, found = map(
        shortened,
        (
            Message("user", (image, Text("what is this?"))),
            Message("user", (ToolResult("1", "Read", "an image", attached=(image,)),)),
        ),
    )

    assert said.text == "(image shot.png, 20 × 10 was here, and was taken out to make room)what is this?"
    assert found.results[0].content.startswith("an image\n(image shot.png, 20 × 10 of this old result were taken out")
    assert found.results[0].attached == ()
    assert shortened(found) == found


async def test_no_more_results_are_shortened_than_have_to_be_and_the_oldest_first():
    history = [user("the request"), *steps(10, size=3500)]

    shorter = await compacted(history)

    is_short = [is_shortened(it) for message in shorter for it in message.results]
    assert is_short == sorted(is_short, reverse=True)
    assert 4_000 <= estimate(shorter) <= 5_000


async def test_no_summary_is_begun_that_would_not_be_used():
    async def small(instructions, text):
        raise AssertionError("shorter results are enough")

    compaction = Compaction(small)
    history = [user("the request"), *steps(10, size=3500)]

    compaction.prepare(history, estimate(history), round(estimate(history) / 0.75), lambda _: None)

    assert await compaction.compact(history, estimate(history), 10_000, ignore)


async def test_who_summarises_gets_the_newest_whole_and_of_the_rest_the_beginnings():
    asked = []

    async def small(instructions, text):
        asked.append(text)
        return "summary"

    old = [Message("user", (ToolResult("old", "Read", "o" * 5_000),)) for _ in range(20)]
    new = Message("user", (ToolResult("new", "Read", "n" * 5_000),))
    history = [user("the request"), *old, Message("assistant", (Text("I found it"),)), new, *steps(120, size=300)]

    await compacted(history, small, 30_000)

    [text] = asked
    assert len(text) <= 0.5 * 30_000 * 3.5
    assert "n" * 5_000 in text
    assert text.startswith(f"user: the request\nRead said: {'o' * 400}\n(4,600 more characters")


async def test_the_request_that_is_worked_on_is_marked_and_all_that_came_with_it_stays():
    async def small(instructions, text):
        return "summary"

    first = Message(
        "user", (Text("the first request"), Text("<context>old</context>"), Text("<reminder>old</reminder>"))
    )
    current = Message("user", (Text("the second"), Text("<context>new</context>"), Text("<reminder>Today</reminder>")))
    history = [first, *steps(40), current, Message("assistant", (Text("I found the lexer"),)), *steps(100)]

    shorter = await compacted(history, small, 6_000)
    again = await compacted([*shorter, *steps(100)], small, 6_000)

    for made in (shorter, again):
        assert [part.text for part in made[0].parts] == [
            "<said>\nthe first request\n</said>",
            "<request>\nthe second\n</request>",
            "<context>new</context>",
            "<reminder>Today</reminder>",
            "<you-said>\nI found the lexer\n</you-said>",
            made[0].parts[-1].text,
        ]
        assert made[0].parts[-1].text.startswith("<summary>")
