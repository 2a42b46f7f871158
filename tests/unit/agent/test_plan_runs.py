"""Steps of a plan that a turn carries out: the document follows the todo list."""

import pytest

from odin_lsp.agent.plans import PlanRun, Plans
from odin_lsp.errors import RequestError
from odin_lsp.events import EventRecord, Notice, Todo, TodosChanged
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.text import Change, Position
from tests.support.context import tool_context

PLAN = "# Plan\n\n- [ ] first\n- [ ] second\n- [ ] third\n"


@pytest.fixture
def files(tmp_path):
    root = tmp_path / "workspace"
    root.mkdir()
    return Files([root], Buffers(), FileCache())


@pytest.fixture
def plans(files, tmp_path, person):
    context = tool_context(files, person, tmp_path)
    return Plans(files, person, context.draft.desk.applier, lambda: tmp_path / "sessions")


@pytest.fixture
def emitted():
    return []


@pytest.fixture
def run(plans, emitted):
    plan = plans.read(plans.keep("abc", PLAN).as_uri())
    return PlanRun(plans, plan, plan.chosen((1, 2)), "turn", emitted.append)


async def follow(run, *todos, turn_id="turn"):
    run.follow(EventRecord(1, turn_id, "session", "main", TodosChanged(todos)))
    await run.written()
    return [line for line in run.plan.path.read_text().splitlines() if line.startswith("- ")]


@pytest.mark.parametrize("todo", [Todo("step-2", "in other words", "completed"), Todo("x", "second", "completed")])
async def test_a_step_is_ticked_when_its_todo_is_done_by_its_id_or_its_words(run, todo):
    assert await follow(run, todo) == ["- [ ] first", "- [x] second", "- [ ] third"]


async def test_nothing_is_ticked_by_what_is_not_done_or_not_meant(run):
    todos = (Todo("step-1", "first", "in_progress"), Todo("step-3", "third", "completed"))

    assert await follow(run, *todos) == ["- [ ] first", "- [ ] second", "- [ ] third"]


async def test_the_list_of_another_turn_ticks_nothing(run):
    assert "- [ ] first" in await follow(run, Todo("step-1", "first", "completed"), turn_id="another")


async def test_what_the_user_has_opened_again_is_not_ticked_a_second_time(run):
    await follow(run, Todo("step-1", "first", "completed"))
    run.plan.path.write_text(PLAN)

    todos = (Todo("step-1", "first", "completed"), Todo("step-2", "second", "completed"))

    assert await follow(run, *todos) == ["- [ ] first", "- [x] second", "- [ ] third"]


async def test_a_step_that_cannot_be_ticked_is_told_and_the_others_are_ticked(run, emitted):
    run.plan.path.write_text(PLAN.replace("first", "another"))

    lines = await follow(run, Todo("step-1", "first", "completed"), Todo("step-2", "second", "completed"))

    assert lines == ["- [ ] another", "- [x] second", "- [ ] third"]
    reason = f"“first” is not a step of {run.plan.path} any more"
    assert emitted == [Notice("warning", f"a step is done and not ticked: {reason}")]


def test_the_steps_are_the_todo_list(run):
    assert run.todos == (Todo("step-1", "first", "pending"), Todo("step-2", "second", "pending"))


def test_the_model_is_told_which_steps_to_carry_out_of_how_many(plans):
    plan = plans.read(plans.keep("abc", PLAN.replace("second", "second\n  with care")).as_uri())

    def told(*numbers):
        return PlanRun(plans, plan, plan.chosen(numbers), "turn", print).meaning

    assert "“Plan”: steps 1, 2 of 3, in this order.\n\n1. first\n\n2. second\n  with care\n\n" in told(1, 2)
    assert "“Plan”: step 3 of 3, in this order.\n\n3. third\n\n" in told(3)


def test_a_document_that_nobody_knows_any_more_is_no_plan(plans, files):
    path = plans.keep("abc", PLAN)
    files.buffers.open(path.as_uri(), 1, PLAN)
    assert plans.read(path.as_uri()).uri == path.as_uri()

    files.buffers.change(path.as_uri(), 1, [Change("x", Position(0, 0), Position(0, 1))])

    with pytest.raises(RequestError, match="close it and open it again"):
        plans.read(path.as_uri())


async def test_a_plan_that_cannot_be_written_down_is_an_answer_all_the_same(odin):
    def fail(session_id, answer):
        raise OSError("no space left")

    odin.script({"text": PLAN})
    odin.start().plans.keep = fail

    outcome = await odin.take("plan it", "plan_mode")

    assert (outcome.reason, outcome.plan) == ("end_turn", None)
    assert Notice("warning", "the plan is not kept as a document: no space left") in odin.of(Notice)


async def test_a_plan_that_is_to_be_carried_out_in_words_is_named_and_ticked(odin, call):
    done = [{"id": "step-2", "content": "second", "status": "completed"}]
    odin.script({"text": PLAN}, {"calls": [call("TodoWrite", todos=done)]}, {"text": "did one"}, {"text": "and now?"})
    planned = await odin.take("plan it", "plan_mode")
    [path] = odin.core.sessions.folder.glob("*.plan/*.plan.md")
    assert planned.plan == path.as_uri()

    await odin.take("carry out step 2 of the plan", "edit_mode")
    await odin.live.plan_run.written()

    told = odin.session.messages[2].parts[0].text
    assert f"This session has a plan, in {path}, with these steps:\n1. [open] first\n2. [open] second\n" in told
    assert path.read_text().endswith("- [ ] first\n- [x] second\n- [ ] third\n")

    await odin.take("what is left?", "edit_mode")

    assert "2. [done] second" in odin.session.messages[-2].text


async def test_a_plan_is_not_named_where_nothing_of_it_can_be_done(odin):
    odin.script({"text": PLAN}, {"text": "yes"}, {"text": "yes"})
    await odin.take("plan it", "plan_mode")
    [path] = odin.core.sessions.folder.glob("*.plan/*.plan.md")

    await odin.take("is it good?", "ask_mode")
    path.write_text(PLAN.replace("[ ]", "[x]"))
    await odin.take("go on", "edit_mode")

    assert not any("This session has a plan" in message.text for message in odin.session.messages)
