import pytest

from odin_lsp.errors import RequestError
from odin_lsp.events import EventRecord, TextStreamed, TodosChanged, TurnFinished
from odin_lsp.messages import Image, Message, Text, Thinking, ToolCall, ToolResult
from odin_lsp.records import Outcome, Todo
from odin_lsp.server.wire import MessageParams
from odin_lsp.values import from_wire, to_wire


def test_names_are_camel_case_on_the_wire_and_none_is_left_out():
    outcome = Outcome(turn_id="t", session_id="s", mode="ask_mode", reason="end_turn", answer="a")

    wire = to_wire(TurnFinished(outcome))

    assert wire["kind"] == "turnFinished"
    assert wire["outcome"]["turnId"] == "t"
    assert wire["outcome"]["durationMs"] == 0
    assert "detail" not in wire["outcome"]


@pytest.mark.parametrize("event", [TextStreamed("x"), TodosChanged((Todo("1", "c", "pending"),))])
def test_events_survive_the_journey(event):
    record = EventRecord(1, "t", "s", "main", event)

    assert from_wire(EventRecord, to_wire(record)) == record


def test_messages_survive_the_journey():
    parts = (
        Text("a", signature="s"),
        Image("image/png", "aGk="),
        Thinking("hm", {"signature": "x", "snake_case": 1}),
        ToolCall("1", "Grep", {"-n": True, "file_path": "x"}, signature="y"),
        ToolResult("1", "Grep", "ok", failed=True),
    )
    message = Message("assistant", parts, "anthropic/x")

    assert from_wire(Message, to_wire(message)) == message


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({}, "`text` is missing"),
        ({"text": "x", "txet": 1}, "`txet` is not known here"),
        ({"text": 5}, "`text`: input should be a valid string"),
        ({"text": "x", "turn_id": "y"}, "`turn_id` is not known here"),
        ({"text": "x", "context": [{"kind": "moon"}]}, "`context.0.kind`"),
        ([], "the argument"),
        (None, "the argument"),
        ("text", "the argument"),
    ],
)
def test_stray_and_missing_keys_are_named(data, problem):
    with pytest.raises(RequestError) as caught:
        from_wire(MessageParams, data)

    assert problem in str(caught.value)
