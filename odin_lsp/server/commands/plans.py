"""`odin.executePlan` carries out steps of a plan; `odin.plan.mark` and `odin.plan.refuse` say what becomes of them."""

import uuid
from dataclasses import replace
from typing import Any

from odin_lsp.agent.plans import PlanRun
from odin_lsp.errors import RequestError, ToolError
from odin_lsp.ports import Question
from odin_lsp.server import wire
from odin_lsp.server.commands.base import Token, command
from odin_lsp.server.host import Work
from odin_lsp.server.instructions import Instruction, Opened
from odin_lsp.values import to_wire

REFUSED = "The plan is not right yet: {}"
PLAN_ON = "The plan's document is as the user has left it, with their own changes. Plan on."


@command("odin.executePlan", wire.ExecutePlanParams)
async def execute_plan(server: Work, params: wire.ExecutePlanParams, token: Token) -> dict[str, Any]:
    core = server.core
    plan = core.plans.read(params.uri)
    steps = plan.chosen(params.steps)
    session_id = (await server.seat.take_up(core.plans.session_of(plan))).session.id
    turn_id = params.turn_id or uuid.uuid4().hex
    run = PlanRun(core.plans, plan, steps, turn_id, core.stream.emitter(turn_id, session_id))
    message = wire.MessageParams(
        text=run.words, typed=False, turn_id=turn_id, session_id=session_id, context=(plan.context,)
    )
    async with run.followed(core.stream):
        outcome = await server.turns.take("edit_mode", message, token, meaning=(run.meaning,), todos=run.todos)
        return to_wire(outcome)


@command("odin.plan.mark", wire.MarkStepParams)
async def mark(server: Work, params: wire.MarkStepParams, _: Token) -> dict[str, Any]:
    plans = server.core.plans
    plan = plans.read(params.uri)
    step = next((it for it in plan.steps if it.number == params.step), None)
    if step is None:
        raise RequestError(f"the plan has steps 1 to {len(plan.steps)}, and no step {params.step}")
    try:
        await plans.mark(plan.path, {step.key: params.status})
    except ToolError as error:
        raise RequestError(str(error)) from None
    return to_wire(wire.PlanSteps(tuple(wire.PlanStep(it.title, it.status) for it in plans.read(params.uri).steps)))


@command("odin.plan.refuse", wire.RefusePlanParams)
async def refuse(server: Work, params: wire.RefusePlanParams, token: Token) -> dict[str, Any]:
    plan = server.core.plans.read(params.uri)
    if not params.reason and not server.abilities.question:
        document = replace(plan.context, content=None)
        instruction = Instruction(
            "plan_mode", (document,), server.core.plans.session_of(plan), f"{REFUSED}\n\n{PLAN_ON}"
        )
        return to_wire(Opened(await server.instructions.open(instruction)))
    reason = params.reason or await _ask_for_reason(server)
    if not reason:
        return to_wire(wire.Cancelled(True))
    message = wire.MessageParams(
        text=REFUSED.format(reason),
        turn_id=params.turn_id,
        session_id=server.core.plans.session_of(plan),
        context=(plan.context,),
    )
    return to_wire(await server.turns.take("plan_mode", message, token, meaning=(PLAN_ON,)))


async def _ask_for_reason(server: Work) -> str | None:
    question = Question(
        question_id=uuid.uuid4().hex, kind="question", title="What should be different in the plan?", allow_text=True
    )
    answer = await server.core.asker.ask(question)
    return answer.text if answer else None
