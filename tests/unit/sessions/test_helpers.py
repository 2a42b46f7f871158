"""Helpers in the session file: what of them outlives the turn, the process and a crash."""

from dataclasses import replace

import pytest

from odin_lsp.events import MAIN, UsageChanged
from odin_lsp.messages import Message, ToolCall, ToolResult, user
from odin_lsp.records import Outcome, QueuedMessage, SubagentRecord, Usage
from odin_lsp.sessions import session as sessions
from odin_lsp.sessions.export import exported, transcript
from odin_lsp.sessions.forking import fork
from odin_lsp.sessions.helpers import STARTED
from odin_lsp.sessions.history import UNKNOWN_OUTCOME, repair
from odin_lsp.sessions.search import search
from odin_lsp.sessions.session import Session

BEGUN = SubagentRecord(
    agent_id="ask-1",
    turn_id="t",
    call_id="c1",
    description="look around",
    mode="ask_mode",
    model="scripted/x",
    status="running",
    started_at=1.0,
)
ENDED = replace(
    BEGUN, status="completed", summary="it is in the lexer", usage=Usage(10, 5, cost_usd=0.25), ended_at=2.0
)


def finish(session, turn_id="t", usage=None):
    outcome = Outcome(
        turn_id=turn_id,
        session_id=session.id,
        mode="ask_mode",
        reason="end_turn",
        answer="done",
        usage=usage or Usage(100, 50, cost_usd=1.0),
    )
    session.finish_turn("go", 1.0, outcome)


@pytest.fixture
def session(tmp_path):
    session = Session(tmp_path)
    session.append(user("go"))
    session.append(Message("assistant", (ToolCall("c1", "AgentTool", {}), ToolCall("c2", "AgentTool", {}))))
    session.note_subagent(BEGUN)
    session.note_subagent(replace(BEGUN, agent_id="ask-2", call_id="c2"))
    session.note_subagent(ENDED)
    return session


def again(session):
    session.close()
    return Session.resume(session.log.path.parent, session.id)


def test_helpers_come_back_as_they_were(session):
    assert again(session).subagents == {"ask-1": ENDED, "ask-2": replace(BEGUN, agent_id="ask-2", call_id="c2")}


def test_c_075_no_id_is_used_twice_not_even_after_a_restart_or_in_a_fork(session, tmp_path):
    assert again(session).new_agent_id("plan") == "plan-3"
    copy, _ = fork(tmp_path, session.id)
    assert Session.load(tmp_path, copy).new_agent_id("ask") == "ask-3"


def test_what_helpers_cost_is_part_of_their_turn_and_counts_once(session):
    finish(session)

    assert session.usage.cost_usd == again(session).usage.cost_usd == 1.0


def test_what_helpers_of_a_turn_that_never_ended_cost_counts_too(session):
    resumed = again(session)
    assert resumed.usage.cost_usd == 0.25

    finish(resumed, "next")

    assert resumed.usage.cost_usd == again(resumed).usage.cost_usd == 1.25


def test_what_a_turn_itself_has_cost_counts_where_it_was_cut_off_and_each_helper_once(tmp_path):
    session = Session(tmp_path)
    session.note_begun(QueuedMessage("t", "go", "ask_mode", 1.0))
    session.note_event("t", MAIN, UsageChanged(Usage(100, cost_usd=1.0)))
    session.note_subagent(ENDED)
    session.note_event("t", "ask-1", UsageChanged(ENDED.usage))
    session.note_event("t", MAIN, UsageChanged(Usage(210, 5, cost_usd=2.25)))
    session.note_subagent(replace(ENDED, agent_id="ask-2"))

    resumed = again(session)

    assert resumed.usage == resumed.turns[-1].usage == Usage(220, 10, cost_usd=2.5)
    assert again(resumed).usage == resumed.usage


def test_what_was_found_before_a_crash_is_handed_over_and_the_rest_is_unknown(session):
    resumed = again(session)
    resumed.append(user("go on"))

    told = {it.call_id: it for message in repair(resumed.messages) for it in message.results}
    assert told["c1"].content == "The subagent ask-1 had completed before Odin was ended.\n\nit is in the lexer"
    assert not told["c1"].failed
    assert told["c2"].content == UNKNOWN_OUTCOME
    assert again(resumed).messages == resumed.messages


@pytest.fixture
def alone(tmp_path):
    """A session with two helpers that nobody waits for, of which one has ended."""
    session = Session(tmp_path)
    session.note_begun(QueuedMessage("t", "go", "ask_mode", 1.0))
    session.append(user("go"))
    session.append(Message("assistant", (ToolCall("c1", "AgentTool", {}), ToolCall("c2", "AgentTool", {}))))
    begun = [ToolResult(f"c{number}", "AgentTool", STARTED.format(f"ask-{number}")) for number in (1, 2)]
    session.append(Message("user", tuple(begun)))
    session.note_subagent(BEGUN)
    session.note_subagent(replace(BEGUN, agent_id="ask-2", call_id="c2"))
    session.note_subagent(ENDED)
    return session


def test_what_helpers_found_that_nobody_waited_for_is_told_after_a_crash_once(alone):
    resumed = again(alone)

    told = resumed.messages[-1].text
    assert "The subagent ask-1 had completed before Odin was ended.\n\nit is in the lexer" in told
    assert "The subagent ask-2 was ended with Odin, before it could report." in told
    assert again(resumed).messages == resumed.messages


def test_a_report_that_was_told_before_a_crash_is_not_told_again(alone):
    alone.append(user("<reminder>\nThe subagent ask-1 has completed.\n\nit is in the lexer\n</reminder>"))

    assert "ask-1" not in again(alone).messages[-1].text


def test_nothing_is_handed_over_for_another_turns_call_of_the_same_id(session):
    finish(session)
    session.append(Message("assistant", (ToolCall("c1", "AgentTool", {}),)))
    before = list(session.messages)

    assert again(session).messages == before


@pytest.mark.parametrize("format", ["markdown", "html"])
def test_the_transcript_and_exports_tell_who_helped(session, tmp_path, format):
    finish(session)
    finish(session, "alone")

    text = "".join(exported(tmp_path, session.id, format))

    assert text.count("2 subagents") == 1
    assert "ask-1 (Ask, completed): look around: it is in the lexer" in text
    assert "ask-2 (Ask, did not end): look around" in text
    if format == "markdown":
        assert text == transcript(session)


def test_a_session_is_found_by_what_its_helpers_found(session, tmp_path):
    assert [it.excerpt for it in search(tmp_path, "LEXER")] == ["it is in the lexer"]


def test_a_record_that_says_nonsense_of_a_helper_costs_only_itself(session):
    session.close()
    with session.log.path.open("a") as file:
        file.write('{"v":1,"type":"subagent","subagent":{"agentId":7}}\n')
        file.write('{"v":1,"type":"subagent","subagent":"x"}\n')

    resumed = again(session)

    assert len(resumed.subagents) == 2
    assert resumed.notices == [f"2 damaged lines of {session.log.path} were left out"]


def test_as_many_helpers_as_there_may_be_are_in_memory_and_all_on_disk(session, tmp_path):
    for number in range(3, sessions.MAX_TURNS + 50):
        session.note_subagent(replace(ENDED, agent_id=f"ask-{number}"))

    for it in (session, Session.load(tmp_path, session.id)):
        assert len(it.subagents) == sessions.MAX_TURNS
        assert it.new_agent_id("ask") == f"ask-{sessions.MAX_TURNS + 50}"
    assert session.log.path.read_text().count('"agentId":') == sessions.MAX_TURNS + 50
