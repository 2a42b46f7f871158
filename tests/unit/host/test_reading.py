"""What goes over the wire is the same for those who read it without what has written it."""

import dataclasses
from typing import get_args

import pytest

from odin_lsp.events import Event, EventRecord, QuestionAsked, ReviewOpened, TurnFinished
from odin_lsp.host.reading import read
from odin_lsp.host.remote import written
from odin_lsp.ports import (
    Answer,
    Decision,
    Option,
    Position,
    Question,
    Range,
    Review,
    ReviewAnswer,
    ReviewFile,
    ReviewHunk,
)
from odin_lsp.records import Outcome, Receipt, Todo, ToolRecord, Usage
from odin_lsp.values import to_wire

HUNK = ReviewHunk("h", Range(Position(1, 2), Position(3, 4)), "old", "new", "why")
FILE = ReviewFile(uri="file:///x", operation="edit", base_hash="0", proposed_text="new", hunks=(HUNK,))
OUTCOME = Outcome(
    turn_id="t",
    session_id="s",
    mode="edit_mode",
    reason="end_turn",
    answer="ä",
    todos=(Todo("1", "do it", "completed"),),
    tools=(ToolRecord("Read", "x", ("x",), "success"),),
    receipts=(Receipt(hunk_id="h", uri="file:///x", state="accepted"),),
    usage=Usage(1, 2, 3, 4, 0.5),
)
QUESTION = Question(question_id="q", kind="permission", title="Run?", options=(Option("allow_once", "Yes"),))


@pytest.mark.parametrize(
    "event",
    [TurnFinished(OUTCOME), ReviewOpened(Review("p", "t", "why", (FILE,))), QuestionAsked(QUESTION)],
    ids=lambda it: it.kind,
)
def test_an_event_is_read_as_it_was_written(event):
    record = EventRecord(1, "t", "s", "main", event, 2.5)

    assert read(EventRecord, to_wire(record)) == record


def test_each_event_is_known_by_its_kind():
    kinds = [it for event in get_args(Event) for it in dataclasses.fields(event) if it.name == "kind"]

    assert len(kinds) == len(get_args(Event)) == len({it.default for it in kinds})


@pytest.mark.parametrize(
    "answer",
    [
        ReviewAnswer(decisions=(Decision(hunk_id="h", decision="modify", text="x"),)),
        Answer(("allow_once",), command="ls"),
    ],
)
def test_an_answer_is_written_as_a_server_would_write_it(answer):
    assert written(answer) == to_wire(answer)
