"""Odin's commands. Their names are known from the start; what answers them is imported with the first."""

from typing import Any

from lsprotocol import types

from odin_lsp.errors import RequestError
from odin_lsp.server.declared import command_names
from odin_lsp.server.host import Commanded


def register(server: Commanded) -> None:
    @server.feature(types.WORKSPACE_EXECUTE_COMMAND)
    async def execute_command(params: types.ExecuteCommandParams) -> Any:
        from odin_lsp.server.commands.base import all_commands

        command = all_commands().get(params.command)
        if command is None:
            raise RequestError(f"there is no command {params.command!r}; there are {', '.join(all_commands())}")
        match params.arguments:
            case None | [] | [None]:  # eglot has one word for null and for an empty object
                return await command(server, {}, params.work_done_token)
            case [argument]:
                return await command(server, argument, params.work_done_token)
            case _:
                raise RequestError(f"{params.command} takes one object as its only argument")

    for name in command_names():
        server.command(name)(execute_command)

    @server.feature(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)
    def work_done_progress_cancel(params: types.WorkDoneProgressCancelParams) -> None:
        server.turns.cancel_by_token(params.token)
