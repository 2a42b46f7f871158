"""Helpers in the real core: which model they get, what they hand over, and on whose account they work."""

import json
import shutil
from collections import defaultdict
from dataclasses import replace

import pytest

from odin_lsp.agent.turn import Remark
from odin_lsp.config import Config
from odin_lsp.events import MessageFinished, SubagentFinished, SubagentStarted, ToolFinished, UsageChanged
from odin_lsp.messages import Message, Text, ToolCall
from odin_lsp.models.base import Reply
from odin_lsp.ports import Answer
from odin_lsp.records import SubagentRecord, Usage
from odin_lsp.sessions.replay import page
from odin_lsp.sessions.session import Session
from odin_lsp.values import from_wire, to_wire


@pytest.fixture
def models(odin):
    """Models by their names that give replies in turn; what each was asked."""
    replies, asked = {}, defaultdict(list)

    class Listener:
        def __init__(self, ref):
            self.ref = ref

        async def stream(self, request):
            asked[self.ref].append(request)
            is_helper = "AgentTool" not in {tool.name for tool in request.tools}
            yield replies["helper" if is_helper else "main"].pop(0)

        async def aclose(self):
            pass

    def start(main, helper, **settings):
        replies.update(main=list(main), helper=list(helper))
        odin.start().models.get = Listener
        odin.config = Config.model_validate(
            {"model": "scripted/main", "smallModel": "scripted/small", "titles": False, **settings}
        )
        odin.configure()
        return asked

    return start


def says(text, cost=0.0):
    return Reply(Message("assistant", (Text(text),)), "end", Usage(cost_usd=cost))


def calls(*tools, cost=0.0):
    made = tuple(ToolCall(f"c{index}", name, arguments) for index, (name, arguments) in enumerate(tools))
    return Reply(Message("assistant", made), "tools", Usage(cost_usd=cost))


def helper(**more):
    return "AgentTool", {"description": "look", "prompt": "look around", **more}


@pytest.mark.parametrize(
    ("settings", "task", "mode", "used"),
    [
        ({}, {}, "edit_mode", "scripted/small"),
        ({}, {"mode": "edit"}, "edit_mode", "scripted/main"),
        ({"subagentModel": "scripted/helper"}, {"mode": "edit"}, "edit_mode", "scripted/helper"),
        ({"subagentModel": "scripted/helper"}, {"model": "openai/named"}, "ask_mode", "openai/named"),
        ({"subagentModel": "openai/local@low"}, {}, "ask_mode", "openai/local@low"),
        ({"subagentModel": "openai/local@low"}, {"model": "google/x@high"}, "ask_mode", "google/x@high"),
    ],
)
async def test_c_091_the_task_then_the_settings_then_the_mode_decide_on_a_helpers_model(
    odin, models, settings, task, mode, used
):
    asked = models([calls(helper(**task)), says("done")], [says("seen")], **settings)

    await odin.take("go", mode)

    assert set(asked) == {"scripted/main", used}
    assert (await odin.state())["earlierSubagents"][0]["model"] == used


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("anthropic/claude-sonnet-5-5@hgih", "@low, @medium, @high"),
        ("offline/odin@low", "offline/odin takes no effort"),
        ("claude", "write provider/model"),
    ],
)
async def test_a_model_that_there_is_not_is_told_to_whoever_asked_for_it(odin, call, model, why):
    agent = call("AgentTool", description="look", prompt="look around", model=model)
    odin.script({"calls": [agent]}, {"text": "I go on myself"})

    outcome = await odin.take("go")

    assert (outcome.reason, outcome.answer) == ("end_turn", "I go on myself")
    [result] = odin.session.messages[2].results
    assert result.failed
    assert why in result.content


async def test_c_082_a_helper_hands_over_what_it_did_and_not_what_it_says_it_did(odin, models):
    run = ("ExecuteCommand", {"command": "ls", "description": "list the files"})
    asked = models([calls(helper()), says("done")], [calls(run), says("I have rewritten everything.")])

    await odin.take()

    [result] = asked["scripted/main"][-1].messages[-1].results
    assert result.content.startswith("The subagent ask-1 has completed.\n\nI have rewritten everything.")
    assert "Commands run:\n- " in result.content
    assert "Files changed" not in result.content


async def test_c_082_c_084_the_whole_envelope_is_handed_over_and_kept(odin, models):
    odin.person.answers = [Answer(("allow_once",))]
    todos = [{"id": "1", "content": "test it", "status": "pending"}]
    write = ("ExecuteCommand", {"command": "echo x > made.txt", "description": "make a file"})
    report = "I made it.\n\n**Risks:**\n- it is untested\n\nTo do next:\n- run the tests\n- tell Ann\nThat is all."
    models(
        [calls(helper(mode="edit")), says("done")],
        [calls(("TodoWrite", {"todos": todos}), write), says(report), says(report)],
        smallModel="scripted/main",
    )

    await odin.take("go", "edit_mode")

    [kept] = (await odin.state())["earlierSubagents"]
    assert kept["prompt"] == "look around"
    assert kept["todos"] == todos
    assert kept["verificationRun"][0].startswith("`echo x > made.txt`: exit code 0")
    assert kept["remainingLimitations"] == ["test it"]
    assert kept["knownRisks"] == ["it is untested"]
    assert kept["followUpRecommended"] == ["run the tests", "tell Ann"]
    assert kept["artifacts"] == [str(odin.root / "made.txt")]
    [record] = odin.session.subagents.values()
    assert from_wire(SubagentRecord, json.loads(json.dumps(to_wire(record)))) == record


@pytest.mark.parametrize(("mode", "may_edit"), [("ask", False), ("plan", False), ("edit", True)])
async def test_agt_02_a_helper_works_in_the_mode_of_its_task(odin, models, mode, may_edit):
    asked = models([calls(helper(mode=mode)), says("done")], [says("seen")], smallModel="scripted/main")

    await odin.take("go", "edit_mode")

    assert ("WriteFile" in {tool.name for tool in asked["scripted/main"][1].tools}) is may_edit
    assert f"Mode: {mode}_mode" in asked["scripted/main"][1].messages[0].text


async def test_a_tool_can_be_disabled_for_helpers_alone(odin, models):
    settings = {"tools": {"disabledIn": {"helper": ["Grep"]}}}
    asked = models([calls(helper()), says("done")], [says("seen")], **settings)

    await odin.take()

    offered = {ref: {tool.name for tool in requests[0].tools} for ref, requests in asked.items()}
    assert {ref: "Grep" in tools for ref, tools in offered.items()} == {"scripted/main": True, "scripted/small": False}


async def test_agt_02_a_helper_edits_nothing_outside_of_its_scope(odin, models):
    write = ("WriteFile", {"file_path": str(odin.root / "out.txt"), "content": "x"})
    scope = [str(odin.root / "in")]
    asked = models([calls(helper(mode="edit", write_scope=scope)), says("done")], [calls(write), says("I may not")])

    await odin.take("go", "edit_mode")

    [refused] = asked["scripted/main"][2].messages[-1].results
    assert "is outside of what you were asked to edit" in refused.content
    assert (await odin.state())["earlierSubagents"][0]["writeScope"] == scope


async def test_the_budget_of_a_turn_is_its_helpers_too(odin, models):
    look = ("Glob", {"pattern": "*"})
    asked = models(
        [calls(helper(), cost=0.1), says("as far as I got", cost=0.1)],
        [calls(look, cost=0.5), calls(look, cost=0.5), says("so far", cost=0.1)],
        limits={"maxBudgetUsd": 1.0},
    )

    outcome = await odin.take()

    assert outcome.reason == "max_budget"
    assert outcome.usage.cost_usd == pytest.approx(1.3)
    told = [event.usage.cost_usd for event in odin.of(UsageChanged)]
    assert told == pytest.approx([0.1, 0.5, 1.0, 1.1, 1.2, 1.3])
    [kept] = (await odin.state())["earlierSubagents"]
    assert (kept["status"], kept["summary"]) == ("stopped", "so far")
    assert kept["usage"]["costUsd"] == pytest.approx(1.1)
    assert kept["remainingLimitations"] == ["the budget of $1 is spent"]
    [result] = asked["scripted/main"][-1].messages[-2].results
    assert result.content.endswith("so far\n\nNot done:\n- the budget of $1 is spent")


async def test_c_087_a_session_with_helpers_is_restored_without_asking_any_model(odin, models):
    asked = models([calls(helper()), says("done")], [says("seen")])
    outcome = await odin.take()
    before = {ref: len(requests) for ref, requests in asked.items()}
    await odin.core.sessions.close()

    agent = await odin.core.sessions.open(outcome.session_id)

    assert {ref: len(requests) for ref, requests in asked.items()} == before
    assert json.loads(json.dumps((await odin.state())["earlierSubagents"]))[0]["summary"] == "seen"
    assert agent.session.new_agent_id("ask") == "ask-2"


async def test_c_076_a_helper_that_nobody_waits_for_reports_before_the_turn_ends(odin, models):
    asked = models([calls(helper(run_in_background=True)), says("I go on"), says("with the report")], [says("seen")])

    outcome = await odin.take()

    [begun] = asked["scripted/main"][1].messages[2].results
    last = asked["scripted/main"][2].messages[-1]
    assert outcome.answer == "with the report"
    assert begun.content.startswith("The subagent ask-1 has started.")
    assert "The subagent ask-1 has completed.\n\nseen" in "".join(it.text for it in asked["scripted/main"][2].messages)
    assert last.role == "user"
    assert odin.kinds().index("subagentFinished") < odin.kinds().index("turnFinished")
    assert [it.status for it in odin.session.subagents.values()] == ["completed"]


async def test_c_076_a_turn_that_is_cancelled_ends_the_helpers_that_nobody_waits_for(odin, models):
    models([calls(helper(run_in_background=True)), says("I go on")], [calls(("Glob", {"pattern": "*"}))])
    odin.core.stream.subscribe(
        lambda record: odin.core.cancel(None) if isinstance(record.event, SubagentStarted) else None
    )

    outcome = await odin.take()

    assert outcome.reason == "interrupted"
    assert [it.status for it in odin.session.subagents.values()] == ["cancelled"]
    assert odin.live.helpers.helpers == {}


async def test_c_076_a_report_that_the_turn_has_not_had_is_not_lost_when_odin_is_killed(odin, models, tmp_path):
    models([calls(helper(run_in_background=True)), says("I go on"), says("with the report")], [says("seen")])
    odin.core.stream.subscribe(
        lambda record: (
            isinstance(record.event, SubagentFinished)
            and shutil.copytree(odin.core.sessions.folder, tmp_path / "killed")
        )
    )
    outcome = await odin.take()

    killed = Session.resume(tmp_path / "killed", outcome.session_id)
    killed.close()

    assert "The subagent ask-1 had completed before Odin was ended.\n\nseen" in killed.messages[-1].text
    assert killed.turns[-1].reason == "aborted"


async def test_c_087_what_helpers_said_and_did_is_shown_again_without_asking_any_model(odin, models):
    look = ("Glob", {"pattern": "*"})
    asked = models([calls(helper()), says("done")], [calls(look), says("seen")])
    outcome = await odin.take()
    shown = [
        replace(it, result="") if isinstance(it, ToolFinished) else it  # what the model was told is in its messages
        for it in odin.events
        if isinstance(it, MessageFinished | ToolFinished)
    ]
    before = {ref: len(requests) for ref, requests in asked.items()}
    await odin.core.sessions.close()

    again = page(odin.core.sessions.folder, outcome.session_id, None, 10).events

    assert [it.event for it in again if isinstance(it.event, MessageFinished | ToolFinished)] == shown
    did = [it.event for it in again if it.agent_id == "ask-1" and isinstance(it.event, ToolFinished)]
    assert [it.name for it in did] == ["Glob"]
    assert {ref: len(requests) for ref, requests in asked.items()} == before


async def test_c_077_what_is_said_to_a_helper_reaches_it_and_not_its_turn(odin, models):
    look = ("Glob", {"pattern": "*"})
    asked = models([calls(helper()), says("done"), says("both")], [calls(look), says("seen"), says("seen again")])
    told = []

    def speak(record):
        match record.event:
            case SubagentStarted(agent_id):
                told.append(odin.core.steer(Remark("look at the tests"), None, agent_id))
            case SubagentFinished(agent_id):
                told.append(odin.core.steer(Remark("and at the docs"), record.turn_id))
            case _:
                pass

    odin.core.stream.subscribe(speak)
    outcome = await odin.take()

    assert told == [True, True]
    assert "look at the tests" in str(asked["scripted/small"][1].messages)
    assert "look at the tests" not in str(asked["scripted/main"][-1].messages)
    assert "and at the docs" in str(asked["scripted/main"][-1].messages)
    assert outcome.answer == "done"
    assert not odin.core.steer(Remark("anybody?"), None, "ask-1")


async def test_c_077_what_a_helper_does_not_hear_any_more_is_its_turns(odin, models):
    look = ("Glob", {"pattern": "*"})
    asked = models([calls(helper()), says("so far")], [calls(look), says("as far as I got")], limits={"maxTurns": 1})

    def speak(record):
        if record.event == MessageFinished("as far as I got", 0):
            assert odin.core.steer(Remark("one more thing"), None, record.agent_id)

    odin.core.stream.subscribe(speak)
    await odin.take()

    assert "one more thing" in str(asked["scripted/main"][-1].messages)
