"""AGT rows: however many helpers are asked for, and whatever they inherit, it is never more than the turn has."""

import asyncio
import json
from dataclasses import replace

import pytest

from odin_lsp.agent.hooks import Hooks
from odin_lsp.agent.planner import Ending
from odin_lsp.agent.subagents import Subagents
from odin_lsp.agent.turn import Progress, UserMessage
from odin_lsp.commands.holding import Order
from odin_lsp.config import SubagentSettings
from odin_lsp.errors import ToolError
from odin_lsp.events import SubagentFinished, SubagentStarted
from odin_lsp.permissions import sandbox
from odin_lsp.review.turn_review import TurnReview
from odin_lsp.sessions.session import Session
from odin_lsp.tools.base import AgentTask, all_tools

TASK = AgentTask("look", "look around", "ask_mode")


class Planner:
    """Works until it is let go."""

    ref = "scripted/x"
    about_mode = ""

    def __init__(self, go):
        self.go = go
        self.model = self.prompt = self.executor = self.context = self.gate = self
        self.hooks = Hooks()

    async def opening(self, conversation):
        return ""

    async def run(self):
        await self.go.wait()
        return Ending("end_turn")

    async def close(self):
        pass


@pytest.fixture
def events():
    return []


@pytest.fixture
def go():
    return asyncio.Event()


@pytest.fixture
def session(tmp_path):
    return Session(tmp_path / "sessions", "s")


@pytest.fixture
def helpers(session, events, go):
    progress = Progress(UserMessage(turn_id="t", text="x", mode="ask_mode"), "s")
    progress.review = TurnReview("t", events.append)
    settings = SubagentSettings(atOnce=3, perTurn=10)
    return Subagents(session, progress, events.append, lambda agent_id: events.append, lambda *_: Planner(go), settings)


async def test_agt_01_a_hundred_helpers_are_not_started(helpers, events, go, session):
    tasks = [asyncio.create_task(helpers.run(TASK)) for _ in range(100)]
    while len([it for it in events if isinstance(it, SubagentStarted)]) < 3:
        await asyncio.sleep(0)
    assert len([it for it in events if isinstance(it, SubagentStarted)]) == 3
    go.set()

    results = await asyncio.gather(*tasks, return_exceptions=True)

    assert sum(isinstance(it, ToolError) for it in results) == 90
    assert len({it.agent_id for it in results if not isinstance(it, ToolError)}) == 10
    assert helpers.helpers == {}
    again = Session.load(session.log.path.parent, "s")
    assert again.subagents == session.subagents
    assert {it.status for it in again.subagents.values()} == {"completed"}
    assert again.new_agent_id("ask") == "ask-11"


async def test_agt_01_no_helper_outlives_a_cancelled_turn(helpers, events, session):
    tasks = [asyncio.create_task(helpers.run(TASK)) for _ in range(5)]
    while not helpers.helpers or not any(isinstance(it, SubagentStarted) for it in events):
        await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)

    assert helpers.helpers == {}
    assert {it.status for it in events if isinstance(it, SubagentFinished)} == {"cancelled"}
    assert {it.status for it in session.subagents.values()} == {"cancelled"}
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_agt_01_helpers_have_no_helpers():
    from odin_lsp.agent.mode_tools import mode_tools

    for mode in ("ask_mode", "plan_mode", "edit_mode"):
        assert "AgentTool" in mode_tools(mode)
        assert "AgentTool" not in mode_tools(mode, subagent=True)


@pytest.mark.parametrize("mode", ["ask_mode", "plan_mode"])
async def test_agt_02_a_helper_never_has_a_mode_above_its_turns(world, mode):
    tool = all_tools()["AgentTool"]
    params = tool.parse({"description": "x", "prompt": "x", "mode": "edit"})

    with pytest.raises(ToolError, match="it may never do more than you"):
        await tool.run(params, replace(world.context, mode=mode))


@pytest.mark.parametrize("named", [False, True])
async def test_agt_02_no_helper_is_a_script_that_a_model_or_a_project_has_brought(odin, call, tmp_path, named):
    """A script makes calls: whoever could choose one would choose what is called."""
    script = tmp_path / "evil.json"
    script.write_text(json.dumps({"replies": [{"calls": [call("Read", file_path=str(odin.root / "greet.py"))]}]}))
    agents = odin.root / ".odin" / "agents"
    agents.mkdir(parents=True)
    (agents / "evil.md").write_text(f"---\nmodel: scripted/{script}\n---\nHelp.\n")
    asked = {"agent": "evil"} if named else {"model": f"scripted/{script}"}
    odin.script({"calls": [call("AgentTool", description="x", prompt="x", **asked)]}, {"text": "no"})
    odin.start(trusted=True)

    outcome = await odin.take()

    [said] = [it.content for message in odin.session.messages for it in message.results]
    assert "is a script" in said
    assert [it.name for it in outcome.tools] == ["AgentTool"]


async def test_agt_02_edits_stay_in_the_scope_that_was_given(world):
    inside, outside = world.root / "in", world.root / "out"
    for folder in (inside, outside):
        folder.mkdir()
    context = replace(world.context, mode="edit_mode", write_scope=(inside,))
    tool = all_tools()["WriteFile"]

    with pytest.raises(ToolError, match="is outside of what you were asked to edit"):
        await tool.run(tool.parse({"file_path": str(outside / "x"), "content": "x"}), context)
    assert not (outside / "x").exists()


@pytest.mark.parametrize("held", [True, False])
async def test_agt_02_commands_stay_in_the_scope_that_was_given(world, monkeypatch, held):
    """Whatever the user has allowed, and whether or not the user wants other commands in a sandbox."""
    inside, outside = world.root / "in", world.root / "out"
    for folder in (inside, outside):
        folder.mkdir()
    if held and not sandbox.available():
        pytest.skip("no sandbox works on this machine: a helper with a scope runs no commands that write")
    monkeypatch.setattr(sandbox, "confine", sandbox.confine if held else lambda policy: None)
    order = Order(
        command=f"touch {inside}/x; touch {outside}/x",
        cwd=world.root,
        roots=[world.root],
        mode="edit_mode",
        write_scope=(inside,),
    )
    running = world.context.commands.run(order, 60, lambda _: None)
    if not held:
        with pytest.raises(ToolError, match="leave this command to the agent that gave you the task"):
            await running
        return

    await running

    assert (inside / "x").exists()
    assert not (outside / "x").exists()
