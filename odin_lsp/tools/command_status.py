"""Look after commands in the background."""

import asyncio
from typing import Annotated

from pydantic import Field

from odin_lsp.commands.background import BackgroundCommand
from odin_lsp.permissions.rules import Effect
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolOutput
from odin_lsp.workspace.uris import printable

MAX_WAIT_MS = 600_000


class CommandStatusParams(Params):
    background_id: str | None = None
    """The id from ExecuteCommand. Left out: list all commands."""
    wait: Annotated[int, Field(ge=0, le=MAX_WAIT_MS)] = 0
    """Milliseconds to wait for its end."""
    stop: bool = False


class CommandStatus(Tool[CommandStatusParams]):
    """Get the status and new output of a background command, wait until it ends, or stop it."""

    name = "CommandStatus"
    effect = Effect.NONE
    params = CommandStatusParams

    def describe(self, params: CommandStatusParams) -> str:
        if params.background_id is None:
            return "list background commands"
        return f"{'stop' if params.stop else 'look at'} {params.background_id}"

    async def execute(self, params: CommandStatusParams, context: ToolContext) -> ToolOutput:
        if params.background_id is None:
            lines = [_line(command) for command in context.commands.background]
            return ToolOutput(data="\n".join(lines) or "No command was started.", description=f"{len(lines)} commands")
        command = context.commands.background.find(params.background_id)
        if params.stop:
            command.running.stop()
        if params.stop or params.wait:
            await asyncio.wait((command.finished,), timeout=None if params.stop else params.wait / 1000)
        news = command.news()
        text = "\n".join([_line(command), *command.notes, news or "(nothing new)"])
        return ToolOutput(data=text, description=f"{command.id}: {command.status}")


def _line(command: BackgroundCommand) -> str:
    command.end_is_known = command.ended is not None
    return f"{command.id}: {command.status}: {printable(command.command)} (log: {command.output.path})"
