import asyncio

import pytest

from odin_lsp.agent.stream import EventStream, Pacer, Speech
from odin_lsp.events import ActivityChanged, ArgumentsStreamed, TextStreamed
from odin_lsp.messages import ToolCall
from odin_lsp.models.base import ArgumentsDelta, CallReady


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


def test_small_pieces_go_out_at_a_pace_and_none_is_lost():
    now, sent = [0.0], []
    pacer = Pacer(sent.append, lambda: now[0])

    for piece in "abcdef":
        pacer.add(piece)
        now[0] += 0.06
    pacer.flush()
    pacer.flush()

    assert sent == ["a", "bcd", "ef"]


def test_arguments_are_told_as_they_come_each_call_by_itself_and_at_a_pace():
    events = []
    speech = Speech(events.append)
    for call_id in ("1", "2"):
        for piece in ('{"file_path": "a', '.py", ', '"content"', ': "x"}'):
            speech.hear(ArgumentsDelta(call_id, "WriteFile", piece))
    speech.hear(CallReady(ToolCall("2", "WriteFile", {})))

    told = [it for it in events if isinstance(it, ArgumentsStreamed)]
    whole = '{"file_path": "a.py", "content": "x"}'
    assert ["".join(it.text for it in told if it.call_id == call_id) for call_id in ("1", "2")] == [whole, whole]
    assert [it.call_id for it in told] == sorted(it.call_id for it in told)
    assert len(told) < 8
    assert events[0] == ActivityChanged("streaming")
