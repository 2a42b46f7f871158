"""Events as updates: what is told, how often, and what is not told twice."""

from pathlib import Path

import pytest

from odin_lsp.acp.telling import AGAIN, TAIL, Telling
from odin_lsp.events import (
    EventRecord,
    MessageFinished,
    StreamRolledBack,
    TextStreamed,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnStarted,
    UsageChanged,
)
from odin_lsp.records import Usage

COMMAND = ToolStarted("1", "ExecuteCommand", {"command": "make"}, "make")


@pytest.fixture
def telling():
    return Telling(Path("/w"), lambda: 1.0, clock=lambda: 5.0)


def told(telling, *events, agent="main"):
    records = [EventRecord(0, "t", "s", agent, event) for event in events]
    return [update for record in records for update in telling.told(record)]


def texts(updates):
    return [it["content"]["text"] for it in updates]


def test_what_was_streamed_is_not_told_again_and_what_was_not_is(telling):
    assert texts(told(telling, TextStreamed("a"), TextStreamed("b"), MessageFinished("ab", 0))) == ["a", "b"]
    assert texts(told(telling, MessageFinished("whole", 0, thinking="why"))) == ["why", "whole"]


def test_an_attempt_that_failed_cannot_be_taken_back_but_is_told(telling):
    assert texts(told(telling, StreamRolledBack())) == []
    assert texts(told(telling, TextStreamed("a"), StreamRolledBack(), TextStreamed("b"))) == ["a", AGAIN, "b"]


def test_output_of_a_command_is_told_now_and_then_and_only_its_end(telling):
    first, *rest = told(telling, COMMAND, ToolProgress("1", "x" * 2 * TAIL), ToolProgress("1", "y"))[1:]
    assert (first["toolCallId"], len(first["content"][0]["content"]["text"]), rest) == ("1", TAIL, [])

    telling.clock = lambda: 6.0
    [second] = told(telling, ToolProgress("1", "z"))
    assert second["content"][0]["content"]["text"].endswith("xyz")
    end = ToolFinished(call_id="1", name="ExecuteCommand", status="success", description="made it", output="all")
    [last] = told(telling, end)
    assert (last["status"], last["content"][0]["content"]["text"]) == ("completed", "all")


def test_of_a_helper_its_calls_are_told_and_not_its_words(telling):
    assert told(telling, TextStreamed("a"), MessageFinished("b", 0), agent="explore-1") == []
    [call] = told(telling, COMMAND, agent="explore-1")
    assert (call["kind"], call["status"]) == ("execute", "in_progress")


def test_a_question_belongs_to_the_one_call_that_is_under_way(telling):
    assert telling.call_under_way is None
    told(telling, COMMAND)
    assert telling.call_under_way == ("1", "make")
    told(telling, ToolStarted("2", "Read", {}, "read"))
    assert telling.call_under_way is None
    told(telling, TurnStarted("ask_mode", "m"))
    assert telling.call_under_way is None


def test_usage_is_what_the_session_has_cost(telling):
    [update] = told(telling, UsageChanged(Usage(cost_usd=0.5, context_tokens=10, context_limit=100)))
    assert (update["used"], update["size"], update["cost"]) == (10, 100, {"amount": 1.5, "currency": "USD"})
