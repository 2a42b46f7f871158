import subprocess
import sys
from typing import ClassVar

import pytest
from pydantic import BaseModel, Field, create_model

from odin_lsp.errors import RequestError
from odin_lsp.events import EventRecord, TextStreamed, TodosChanged, TurnFinished
from odin_lsp.messages import Image, Message, Text, Thinking, ToolCall, ToolResult
from odin_lsp.records import Outcome, Todo
from odin_lsp.server.wire import MessageParams
from odin_lsp.values import from_wire, json_schema, to_wire


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


class AtTop(BaseModel):
    kept: ClassVar[int] = 1
    """No field."""
    name: str
    """What it is called."""
    size: int = Field(default=1, description="As pydantic has it.")
    """As below it."""


def descriptions(model):
    return {name: it.get("description") for name, it in json_schema(model)["properties"].items()}


def test_fields_are_described_by_what_stands_below_them_wherever_the_class_is():
    class Within(BaseModel):
        """Begins
        at the edge."""

        name: str
        """What it is called."""
        inner: AtTop

    assert descriptions(AtTop) == {"name": "What it is called.", "size": "As pydantic has it."}
    assert descriptions(Within) == {"name": "What it is called.", "inner": None}
    assert json_schema(Within)["$defs"]["AtTop"]["properties"]["name"]["description"] == "What it is called."


def test_a_class_without_a_source_is_described_by_its_fields_alone():
    made = create_model("Made", name=(str, ...))
    like_another = create_model("AtTop", __module__=__name__, name=(str, ...), other=(int, 1))
    both = create_model("Both", one=(made, ...), two=(AtTop, ...), three=(like_another, ...))

    assert descriptions(made) == {"name": None}
    assert set(descriptions(like_another)) == {"name", "other"}
    assert set(descriptions(both)) == {"one", "two", "three"}


def test_a_class_that_was_typed_in_has_no_source():
    program = """
from pydantic import BaseModel
from odin_lsp.values import json_schema

class Params(BaseModel):
    name: str
    '''What it is called.'''

print(json_schema(Params)["properties"]["name"]["type"])
"""
    done = subprocess.run([sys.executable, "-"], input=program, capture_output=True, text=True, timeout=120)

    assert (done.stdout, done.returncode) == ("string\n", 0), done.stderr
