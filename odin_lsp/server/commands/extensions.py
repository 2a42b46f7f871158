"""`odin.extensions`: what users and projects have plugged in, and why some of it is not used. `odin.slashCommands` and
`odin.files`: what `/` and `@` may stand for."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from odin_lsp.errors import RequestError
from odin_lsp.extensions.registry import Listed
from odin_lsp.mcp.served import McpState
from odin_lsp.server import upkeep
from odin_lsp.server.commands.base import Token, command
from odin_lsp.server.commands.state import states_of_servers
from odin_lsp.server.host import Work
from odin_lsp.values import to_wire


@command("odin.extensions", upkeep.ExtensionsParams)
async def extensions(server: Work, params: upkeep.ExtensionsParams, _: Token) -> dict[str, Any]:
    project = server.project
    if params.action != "list":
        if not params.name:
            raise RequestError(f"`name` is missing; {params.action} needs it")
        listed = (await asyncio.to_thread(lambda: project.now.extensions)).listed
        if not any(params.name in (it.name, f"{it.kind}:{it.name}") for it in listed):
            raise RequestError(f"there is no extension {params.name!r}; list what there is")
        project.switch_extension(params.name, on=params.action == "enable")
    found = await asyncio.to_thread(lambda: project.now.extensions)
    states = {it.name: it for it in await states_of_servers(server.core, project.now)}
    return to_wire(upkeep.ExtensionList(tuple(_with_state(it, states) for it in found.listed)))


def _with_state(it: Listed, states: Mapping[str, McpState]) -> Listed:
    state = states.get(it.name) if it.kind == "mcp" and it.state == "on" else None
    if state is None:
        return it
    return replace(it, running=state.state, tokens=state.tokens, problem=state.problem)


@command("odin.slashCommands", upkeep.SlashCommandsParams)
async def slash_commands(server: Work, _params: upkeep.SlashCommandsParams, _: Token) -> dict[str, Any]:
    own = server.core.own
    return to_wire(upkeep.SlashCommands((*await asyncio.to_thread(own.listed), *await own.prompts())))


@command("odin.files", upkeep.FilesParams)
async def files(server: Work, _params: upkeep.FilesParams, _: Token) -> dict[str, Any]:
    return to_wire(upkeep.FoundFiles(tuple(await server.core.files_shown())))
