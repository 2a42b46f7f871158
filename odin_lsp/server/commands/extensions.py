"""`odin.extensions`: what users and projects have plugged in, and why some of it is not used."""

import asyncio
from typing import Any

from odin_lsp.errors import RequestError
from odin_lsp.server import upkeep
from odin_lsp.server.commands.base import Token, command
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
    return to_wire(upkeep.ExtensionList(found.listed))
