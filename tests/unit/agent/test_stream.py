import asyncio

import pytest

from odin_lsp.agent.stream import EventStream
from odin_lsp.events import (
    MessageFinished,
    Notice,
    RequestProgress,
    RequestStarted,
    StreamRolledBack,
    TextStreamed,
    ThinkingFinished,
    ThinkingStarted,
    ToolStarted,
)


def test_every_subscriber_gets_every_event_with_ids_and_rising_numbers():
    stream = EventStream()
    one, two = [], []
    stream.subscribe(one.append)
    stop = stream.subscribe(two.append)
    emit = stream.emitter("turn", "session")

    emit(TextStreamed("a"))
    stop()
    emit(TextStreamed("b"))

    assert [(record.seq, record.turn_id, record.session_id, record.event.text) for record in one] == [
        (1, "turn", "session", "a"),
        (2, "turn", "session", "b"),
    ]
    assert len(two) == 1


@pytest.mark.parametrize("error", [ValueError, asyncio.CancelledError])
def test_a_subscriber_that_fails_hurts_nobody_and_is_logged_once(error, caplog):
    stream = EventStream()
    before, after = [], []

    def fail(record):
        raise error(record.event.text)

    for subscriber in (before.append, fail, after.append):
        stream.subscribe(subscriber)
    emit = stream.emitter("turn", "session")

    for text in "ab":
        emit(TextStreamed(text))

    assert [record.event.text for record in before] == [record.event.text for record in after] == ["a", "b"]
    assert [(it.levelname, it.exc_info[0]) for it in caplog.records] == [("ERROR", error)]


def test_what_a_subscriber_emits_comes_after_what_it_was_told_for_all():
    stream = EventStream()
    emit = stream.emitter("turn", "session")
    seen = []
    stream.subscribe(lambda record: emit(TextStreamed("answer")) if record.event.text == "question" else None)
    stream.subscribe(lambda record: seen.append((record.seq, record.event.text)))

    emit(TextStreamed("question"))

    assert seen == [(1, "question"), (2, "answer")]


def test_events_name_the_message_that_they_belong_to():
    heard, stream = [], EventStream()
    stream.subscribe(heard.append)
    main, helper = stream.emitter("t", "s"), stream.emitter("t", "s", "explore-1")
    call = ToolStarted("1", "Read", {}, "read")
    for emit, event in (
        (main, TextStreamed("a")), (main, MessageFinished("a", 1)), (main, call), (helper, TextStreamed("b")),
        (main, TextStreamed("c")), (main, StreamRolledBack()), (main, MessageFinished("d", 0)),
        (main, Notice("info", "x")), (stream.emitter("", "s"), TextStreamed("of no turn")),
        (main, RequestStarted(3, 1)), (main, RequestProgress(9, 1)), (main, ThinkingStarted()),
        (main, ThinkingFinished(5)),
    ):  # fmt: skip
        emit(event)

    assert [it.message_id for it in heard] == [
        *("t/main/1", "t/main/1", "t/main/1", "t/explore-1/1", "t/main/2", "t/main/2", "t/main/2", None, None),
        *["t/main/3"] * 4,
    ]
