"""`odin.extensions`: what users and projects have plugged in, and why some of it is not used. `odin.slashCommands` and
`odin.files`: what `/` and `@` may stand for."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from odin_lsp.errors import RequestError
from odin_lsp.extensions.registry import Listed
from odin_lsp.server import upkeep
from odin_lsp.server.commands.base import Token, command
from odin_lsp.server.commands.state import states_of_servers
from odin_lsp.server.host import Work
from odin_lsp.server_states import McpState
from odin_lsp.values import to_wire

SWITCHED_FOR_ALL = (
    "extensions are switched for all sessions; do it in the editor that has this folder open, or in your settings"
)


@command("odin.extensions", upkeep.ExtensionsParams)
async def extensions(server: Work, params: upkeep.ExtensionsParams, _: Token) -> dict[str, Any]:
    project = server.project
    if params.action != "list":
        if server.is_guest:
            raise RequestError(SWITCHED_FOR_ALL)
        listed = (await asyncio.to_thread(lambda: project.now.extensions)).listed
        project.switch_extensions(_meant(params, listed), on=params.action == "enable")
    found = await asyncio.to_thread(lambda: project.now.extensions)
    states = {it.name: it for it in await states_of_servers(server.core, project.now) if it.state != "disabled"}
    shown = (it for it in found.listed if params.kind in (None, it.kind))
    return to_wire(upkeep.ExtensionList(tuple(_with_state(it, states) for it in shown)))


def _meant(params: upkeep.ExtensionsParams, listed: Sequence[Listed]) -> set[str]:
    """What is to be switched, by `kind:name`: all that can be, if no name is said. Raises `RequestError`."""
    names = (params.name,) if params.name else params.names
    if names is None:
        raise RequestError(f"`name` or `names` is missing; {params.action} needs it")
    there = {f"{it.kind}:{it.name}": it.name for it in listed if params.kind in (None, it.kind)}
    if unknown := [it for it in names if it not in (*there, *there.values())]:
        raise RequestError(f"there is no extension {unknown[0]!r}; list what there is")
    return {full_name for full_name, name in there.items() if not names or full_name in names or name in names}


def _with_state(it: Listed, states: Mapping[str, McpState]) -> Listed:
    state = states.get(it.name) if it.kind == "mcp" and it.state == "on" else None
    if state is None:
        return it
    return replace(
        it,
        running=state.state,
        attempt=state.attempt,
        max_attempts=state.max_attempts,
        tokens=state.tokens,
        problem=state.problem,
    )


@command("odin.slashCommands", upkeep.SlashCommandsParams)
async def slash_commands(server: Work, _params: upkeep.SlashCommandsParams, _: Token) -> dict[str, Any]:
    own = server.core.own
    return to_wire(upkeep.SlashCommands((*await asyncio.to_thread(own.listed), *await own.prompts())))


@command("odin.files", upkeep.FilesParams)
async def files(server: Work, _params: upkeep.FilesParams, _: Token) -> dict[str, Any]:
    return to_wire(upkeep.FoundFiles(tuple(await server.core.files_shown())))
