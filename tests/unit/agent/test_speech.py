"""What is told of a request and of what a model says, however it ends."""

import asyncio

import pytest

from odin_lsp.agent.speech import Pacer, Speech, StepRequests
from odin_lsp.events import (
    ActivityChanged,
    ArgumentsStreamed,
    MessageFinished,
    RequestProgress,
    RequestStarted,
    StreamRolledBack,
    TextStreamed,
    ThinkingFinished,
    ThinkingStarted,
    ThinkingStreamed,
)
from odin_lsp.messages import Message, Text, ToolCall
from odin_lsp.models.base import (
    ArgumentsDelta,
    Attempt,
    CallReady,
    Reached,
    Received,
    Reply,
    Status,
    TextDelta,
    ThinkingDelta,
)
from odin_lsp.records import ModelStatus

X = "scripted/x"
REPLY = Reply(Message("assistant", (Text("a"),)), "end")
AGAIN = Attempt(X, "busy", 0.0, "retrying", 2, 6)
LIMITED = Status(
    ModelStatus(selected=X, running=X, keys_ready=1, keys=1, next_key_in=0.0, context_limit=0, output_limit=0)
)
OF_THINKING = ThinkingStarted | ThinkingStreamed | ThinkingFinished


class Heard:
    """Speech, what it tells, and a clock."""

    def __init__(self):
        self.now = 0.0
        self.events = []
        emit = self.events.append
        self.speech = Speech(emit, StepRequests(emit, 1), lambda: self.now)

    def hear(self, *events, seconds=0.0):
        for event in events:
            self.speech.hear(event)
            self.now += seconds

    def of(self, kinds):
        return [it for it in self.events if isinstance(it, kinds)]


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
    speech = Speech(events.append, StepRequests(events.append, 1))
    for call_id in ("1", "2"):
        for piece in ('{"file_path": "a', '.py", ', '"content"', ': "x"}'):
            speech.hear(ArgumentsDelta(call_id, "WriteFile", piece))
    speech.hear(CallReady(ToolCall("2", "WriteFile", {})))

    told = [it for it in events if isinstance(it, ArgumentsStreamed)]
    whole = '{"file_path": "a.py", "content": "x"}'
    assert ["".join(it.text for it in told if it.call_id == call_id) for call_id in ("1", "2")] == [whole, whole]
    assert [it.call_id for it in told] == sorted(it.call_id for it in told)
    assert len(told) < 8
    assert events[1] == ActivityChanged("streaming")


def test_each_block_of_thinking_has_a_beginning_and_an_end():
    heard = Heard()
    hm, so = ThinkingDelta("hm"), ThinkingDelta("so")
    heard.hear(hm, Received(10, 1), Reached("waiting_token"), hm, seconds=0.1)
    heard.hear(TextDelta("a"), seconds=5)
    heard.hear(so, seconds=2)
    heard.hear(REPLY)
    heard.speech.finished("a")

    assert heard.of(OF_THINKING | TextStreamed | MessageFinished) == [
        *(ThinkingStarted(), ThinkingStreamed("hm"), ThinkingStreamed("hm"), ThinkingFinished(400)),
        TextStreamed("a"),
        *(ThinkingStarted(), ThinkingStreamed("so"), ThinkingFinished(2000)),
        MessageFinished("a", 0, "hmhmso", 2400),
    ]


@pytest.mark.parametrize(
    "end", [TextDelta("a"), ArgumentsDelta("1", "Read", "{"), CallReady(ToolCall("1", "Read", {}))]
)
def test_whatever_the_model_does_next_ends_its_thinking(end):
    heard = Heard()
    heard.hear(ThinkingDelta("hm"), seconds=1)
    heard.hear(end, seconds=1)
    heard.hear(REPLY)

    assert heard.of(ThinkingFinished) == [ThinkingFinished(1000)]


def test_an_attempt_that_fails_in_the_middle_of_thinking_ends_it_and_does_not_count():
    heard = Heard()
    heard.hear(ThinkingDelta("hm"), seconds=1)
    heard.hear(AGAIN, Reached("waiting_headers"), ThinkingDelta("so"), seconds=3)
    heard.hear(REPLY)
    heard.speech.finished("a")

    assert heard.of(ThinkingFinished | MessageFinished) == [
        *(ThinkingFinished(1000), ThinkingFinished(3000), MessageFinished("a", 0, "so", 3000))
    ]


@pytest.mark.parametrize(
    ("end", "last"),
    [("take_back", StreamRolledBack()), ("cut_off", MessageFinished("", 0, "hm", 1000))],
)
def test_what_is_taken_back_or_cut_off_in_the_middle_of_thinking_ends_it_first(end, last):
    heard = Heard()
    heard.hear(ThinkingDelta("h"), ThinkingDelta("m"), seconds=0.5)
    getattr(heard.speech, end)()

    assert heard.events[-2:] == [ThinkingFinished(1000), last]


def test_a_request_is_told_when_it_begins_and_counted_from_zero():
    heard = Heard()
    heard.hear(Reached("waiting_headers"), Received(10, 1), Received(40, 4))
    heard.hear(AGAIN)
    assert len(heard.of(RequestStarted)) == 1, "it waits"
    heard.hear(LIMITED, Reached("waiting_headers"), Received(7, 1), REPLY)

    assert heard.of(RequestStarted | RequestProgress) == [
        *(RequestStarted(1, 1), RequestProgress(10, 1), RequestProgress(40, 4)),
        *(RequestStarted(1, 2), RequestProgress(7, 1)),
    ]


async def test_steps_and_attempts_of_a_turn_are_told(odin, call):
    odin.settings["retries"] = {"attempts": 6}
    odin.script({"calls": [call("Glob", pattern="*")]}, {"error": "busy"}, {"text": "done"})

    await odin.take()

    assert [(it.step, it.attempt) for it in odin.of(RequestStarted)] == [(1, 1), (2, 1), (2, 2)]


async def test_a_turn_that_is_cancelled_while_the_model_thinks_ends_the_thinking(odin):
    class Thinker:
        ref = "scripted/thinker"

        async def stream(self, request):
            yield ThinkingDelta("hm")
            odin.core.cancel(None)
            await asyncio.Event().wait()

        async def aclose(self):
            pass

    odin.start().models.get = lambda ref: Thinker()
    await odin.take()

    told = [it.kind for it in odin.events if isinstance(it, OF_THINKING | MessageFinished)]
    assert told == ["thinkingStarted", "thinkingStreamed", "thinkingFinished", "messageFinished"]
