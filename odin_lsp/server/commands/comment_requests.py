"""`odin.commentRequests`: what comments of the workspace ask for, to be done or answered together."""

from typing import Any

from odin_lsp.server.commands.base import Token, command
from odin_lsp.server.comment_requests import CommentRequestsParams, of_workspace
from odin_lsp.server.host import Work
from odin_lsp.values import to_wire


@command("odin.commentRequests", CommentRequestsParams)
async def comment_requests(server: Work, params: CommentRequestsParams, _: Token) -> dict[str, Any]:
    return to_wire(await of_workspace(server, params.kind))
