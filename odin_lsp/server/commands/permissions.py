"""`odin.permissions`: what the user has allowed, in this session or for good."""

import asyncio
from typing import Any

from odin_lsp.errors import RequestError
from odin_lsp.permissions.approvals import Approval
from odin_lsp.permissions.gate import Gate
from odin_lsp.server import upkeep
from odin_lsp.server.commands.base import Token, command
from odin_lsp.server.host import Work
from odin_lsp.values import to_wire


@command("odin.permissions", upkeep.PermissionsParams)
async def permissions(server: Work, params: upkeep.PermissionsParams, _: Token) -> dict[str, Any]:
    sessions = server.core.sessions
    live = sessions.find(params.session_id) if params.session_id else sessions.current
    gate = live.scope.gate if live else Gate(server.editor, workspace=lambda: server.project.now.root)
    if params.action == "remove":
        if params.id is None:
            raise RequestError("`id` is missing; remove needs it")
        if not await asyncio.to_thread(gate.revoke, params.id):
            raise RequestError(f"nothing that was allowed has the id {params.id!r}; list what there is")
    return to_wire(upkeep.Permissions(tuple(map(_allowed, await asyncio.to_thread(gate.approvals)))))


def _allowed(approval: Approval) -> upkeep.Allowed:
    lasting = "always" if approval.workspace is None else "workspace"
    return upkeep.Allowed(
        id=approval.id,
        tool=approval.tool,
        pattern=approval.pattern,
        mode=approval.mode,
        scope="session" if approval.session is not None else lasting,
        since=approval.when,
    )
