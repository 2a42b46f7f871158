"""`odin.ask`, `odin.plan`, `odin.edit` are turns: the answer is the outcome. The others look at or steer them."""

import asyncio
import uuid
from collections.abc import Awaitable
from dataclasses import replace
from typing import Any

from odin_lsp.agent.context import gathered, looked_up
from odin_lsp.agent.turn import Changes, Remark
from odin_lsp.agent.turn_queue import TurnQueue
from odin_lsp.errors import OdinError, RequestError
from odin_lsp.modes import MODES, Mode
from odin_lsp.ports import Option, Question
from odin_lsp.records import QueuedMessage
from odin_lsp.server import upkeep, wire
from odin_lsp.server.attachments import ImageItem, attached
from odin_lsp.server.commands.base import Token, all_commands, command
from odin_lsp.server.host import Work
from odin_lsp.server.instructions import Instruction, Opened, SendParams
from odin_lsp.server.plain_questions import Answered, AnswerParams
from odin_lsp.sessions.session import Session
from odin_lsp.values import to_wire

WISHES = {
    "plan": ("Plan an improvement of the selected code.", "Plan tests for the selected code."),
    "edit": (
        "Fix what is wrong in the selected code.",
        "Simplify the selected code.",
        "Handle errors in the selected code.",
    ),
}
"""What can be said without typing."""


@command("odin.ask", wire.MessageParams)
async def ask(server: Work, params: wire.MessageParams, token: Token) -> dict[str, Any]:
    return await _take(server, "ask_mode", params, token)


@command("odin.plan", wire.MessageParams)
async def plan(server: Work, params: wire.MessageParams, token: Token) -> dict[str, Any]:
    return await _take(server, "plan_mode", params, token)


@command("odin.edit", wire.MessageParams)
async def edit(server: Work, params: wire.MessageParams, token: Token) -> dict[str, Any]:
    return await _take(server, "edit_mode", params, token)


@command("odin.continue", upkeep.ContinueParams)
async def go_on(server: Work, params: upkeep.ContinueParams, token: Token) -> dict[str, Any]:
    return to_wire(await server.turns.go_on(params.session_id, token))


@command("odin.init", wire.InitParams)
async def init(server: Work, params: wire.InitParams, token: Token) -> dict[str, Any]:
    """Write the project's ODIN.md."""
    message = wire.MessageParams(text="/init", turn_id=params.turn_id)
    return await _take(server, "edit_mode", message, token)


@command("odin.prompt", wire.PromptParams)
async def prompt(server: Work, params: wire.PromptParams, token: Token) -> dict[str, Any]:
    """Ask the user what to do with the context, then do it."""
    if not server.abilities.question:
        return to_wire(Opened(await server.instructions.open(Instruction(MODES[params.mode], params.context))))
    question = Question(
        question_id=uuid.uuid4().hex,
        kind="question",
        title=f"What should Odin {params.mode}?",
        options=tuple(Option(str(index), wish) for index, wish in enumerate(WISHES.get(params.mode, ()))),
        allow_text=True,
    )
    answer = await server.core.asker.ask(question)
    chosen = [question.options[int(it)].label for it in answer.option_ids] if answer else []
    text = " ".join(filter(None, [*chosen, answer.text if answer else None]))
    if not text:
        return to_wire(wire.Cancelled(True))
    message = wire.MessageParams(text=text, turn_id=params.turn_id, context=params.context)
    return await _take(server, MODES[params.mode], message, token)


@command("odin.send", SendParams)
async def send(server: Work, params: SendParams, token: Token) -> dict[str, Any]:
    """What the user has written in a document."""
    mode, message = server.instructions.message(params.uri)
    return await _take(server, mode, replace(message, turn_id=params.turn_id), token)


@command("odin.begin", wire.BeginParams)
async def begin(server: Work, params: wire.BeginParams, _: Token) -> dict[str, Any]:
    """Begin a turn; whoever asked does not wait for its end."""
    server.background(_tell_of_errors(server, all_commands()[params.command](server, params.argument, None)))
    return to_wire(wire.Begun(True))


@command("odin.answer", AnswerParams)
async def answer(server: Work, params: AnswerParams, _: Token) -> dict[str, Any]:
    return to_wire(Answered(server.editor.questions.answer(params.question_id, params.option_id)))


@command("odin.cancel", wire.CancelParams)
async def cancel(server: Work, params: wire.CancelParams, _: Token) -> dict[str, Any]:
    if params.only == "compaction":
        return to_wire(wire.Cancelled(server.core.cancel_compaction(params.turn_id)))
    gives_back = params.queue == "return" and params.agent_id is None
    behind = server.core.queue_of(params.turn_id) if gives_back else None
    returned = tuple(behind.clear_queue()) if behind else None
    cancelled = server.core.cancel(params.turn_id, params.agent_id, drop=params.drop, then_next=params.queue == "next")
    return to_wire(wire.Cancelled(cancelled, returned))


@command("odin.steer", wire.SteerParams)
async def steer(server: Work, params: wire.SteerParams, _: Token) -> dict[str, Any]:
    core = server.core
    context = gathered(await looked_up(params.context, core.servers, core.search), core.files)
    heard = core.steer(Remark(params.text, context.texts), params.turn_id, params.agent_id)
    unsent = (f"{it} was not sent along: a turn that runs takes words only" for it in context.attached)
    for notice in (*context.left_out, *unsent) if heard else ():
        server.editor.notify("warning", notice)
    return to_wire(wire.Steered(heard))


@command("odin.queue", wire.QueueParams)
async def queue(server: Work, params: wire.QueueParams, _: Token) -> dict[str, Any]:
    turns = server.core.queue_of(params.turn_id) or server.core.queue_of(None)
    if turns is None:
        if params.action in ("edit", "remove"):
            raise RequestError(f"no message {params.turn_id!r} is waiting")
        return to_wire(wire.Queue(()))
    match params.action, params.turn_id:
        case "list", _:
            pass
        case "clear", _:
            turns.clear_queue()
        case "resume", _:
            turns.resume_queue()
        case _, None:
            raise RequestError(f"`turnId` is missing; {params.action} needs it")
        case "edit", turn_id:
            await _edit_queued(server, turns, turn_id, params)
        case "remove", turn_id:
            turns.remove_queued(turn_id)
    return to_wire(wire.Queue(tuple(turns.queue())))


async def _edit_queued(server: Work, turns: TurnQueue, turn_id: str, params: wire.QueueParams) -> None:
    """The other text means what it would mean if it was sent now."""
    changes = Changes() if params.mode is None else Changes(mode=params.mode)
    waiting = next((it for it in turns.queue() if it.turn_id == turn_id), None)
    core, live = server.core, next(it for it in server.core.sessions if it.turns is turns)
    if params.text is not None:
        mode = params.mode or (waiting.mode if waiting else turns.mode)
        typed = await asyncio.to_thread(core.own.understood, params.text, mode)
        if typed.is_apart:
            raise RequestError("this changes the session itself, and cannot wait in its queue; send it by itself")
        errand = core.own.errand(live, typed, decides_for_all=not server.is_guest)
        changes |= Changes(text=typed.text, mode=typed.mode, errand=errand)
    if waiting is not None and (params.context is not None or params.images is not None):
        changes |= await _with_it(server, live.session, waiting, params)
    turns.edit_queued(turn_id, **changes)


async def _with_it(server: Work, session: Session, waiting: QueuedMessage, params: wire.QueueParams) -> Changes:
    """What is to come along with a message that waits."""
    core, kept = server.core, [ImageItem(digest=it.digest, name=it.name) for it in waiting.attached]
    items = waiting.context if params.context is None else params.context
    context = gathered(await looked_up(items, core.servers, core.search), core.files)
    images = kept if params.images is None else params.images
    found = await asyncio.to_thread(attached, images, core.files, session.log.path)
    for notice in context.left_out:
        server.editor.notify("warning", notice)
    everything = tuple(dict.fromkeys((*context.attached, *found)))
    return Changes(context=context.texts, sent=context.sent, items=tuple(items), attached=everything)


async def _tell_of_errors(server: Work, work: Awaitable[Any]) -> None:
    """There is no request any more that could be answered with what goes wrong. Its answer goes out first: eglot drops
    what it is asked while it waits for that."""
    await asyncio.sleep(0)
    try:
        await work
    except OdinError as error:
        server.editor.notify("error", str(error))


async def _take(server: Work, mode: Mode, params: wire.MessageParams, token: Token) -> dict[str, Any]:
    return to_wire(await server.turns.take(mode, params, token))
