"""`odin.ask`, `odin.plan`, `odin.edit` are turns: the answer is the outcome. The others look at or steer them."""

from functools import partial
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from odin_lsp.errors import RequestError
from odin_lsp.events import Mode
from odin_lsp.server import wire
from odin_lsp.values import to_wire

if TYPE_CHECKING:
    from odin_lsp.server.server import OdinServer

VERBS: dict[str, Mode] = {"ask": "ask_mode", "plan": "plan_mode", "edit": "edit_mode"}


def register(server: "OdinServer") -> None:
    for verb, mode in VERBS.items():
        server.odin_command(f"odin.{verb}", wire.MessageParams)(partial(_take, server, mode))
    server.odin_command("odin.cancel", wire.CancelParams)(partial(_cancel, server))
    server.odin_command("odin.queue", wire.QueueParams)(partial(_queue, server))
    server.odin_command("odin.model", wire.ModelParams)(partial(_model, server))
    server.odin_command("odin.state", wire.StateParams)(partial(_state, server))

    @server.feature(types.WORKSPACE_EXECUTE_COMMAND)
    async def execute_command(params: types.ExecuteCommandParams) -> Any:
        command = server.commands.get(params.command)
        if command is None:
            raise RequestError(f"there is no command {params.command!r}; there are {', '.join(server.commands)}")
        match params.arguments:
            case None | []:
                return await command({}, params.work_done_token)
            case [argument]:
                return await command(argument, params.work_done_token)
            case _:
                raise RequestError(f"{params.command} takes one object as its only argument")

    @server.feature(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)
    def work_done_progress_cancel(params: types.WorkDoneProgressCancelParams) -> None:
        server.turns.cancel_by_token(params.token)


async def _take(
    server: "OdinServer", mode: Mode, params: wire.MessageParams, token: types.ProgressToken | None
) -> dict[str, Any]:
    return to_wire(await server.turns.take(mode, params, token))


async def _cancel(server: "OdinServer", params: wire.CancelParams, _: object) -> dict[str, Any]:
    return to_wire(wire.Cancelled(server.core.cancel(params.turn_id)))


async def _queue(server: "OdinServer", params: wire.QueueParams, _: object) -> dict[str, Any]:
    agent = server.core.agent()
    match params.action, params.turn_id:
        case "list", _:
            pass
        case "clear", _:
            agent.clear_queue()
        case _, None:
            raise RequestError(f"`turnId` is missing; {params.action} needs it")
        case "edit", turn_id:
            agent.edit_queued(turn_id, params.text, params.mode)
        case "remove", turn_id:
            agent.remove_queued(turn_id)
    return to_wire(wire.Queue(tuple(agent.queue())))


async def _model(server: "OdinServer", params: wire.ModelParams, _: object) -> dict[str, Any]:
    server.core.choose_models(params.model, params.small_model)
    model, small = server.core.selected
    return to_wire(wire.ModelState(model, small, model))


async def _state(server: "OdinServer", _params: wire.StateParams, _: object) -> dict[str, Any]:
    return server.core.state()
