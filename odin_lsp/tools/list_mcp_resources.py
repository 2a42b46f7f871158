"""List what MCP servers have to read."""

import asyncio
from collections.abc import Sequence

from odin_lsp.errors import ToolError
from odin_lsp.mcp.pool import McpServers
from odin_lsp.mcp.values import Resource
from odin_lsp.permissions.foreign_names import resources_name
from odin_lsp.permissions.rules import Effect
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolOutput
from odin_lsp.tools.listing import clipped
from odin_lsp.web.untrusted import fenced, visible

MAX_DESCRIPTION = 200
"""Characters of one resource."""


class ListMcpResourcesParams(Params):
    server: str | None = None
    """Left out: all servers."""


class ListMcpResources(Tool[ListMcpResourcesParams]):
    """List the resources of MCP servers: what ReadMcpResource can read. `{…}` in an address is for you to fill in."""

    name = "ListMcpResources"
    effect = Effect.NONE
    params = ListMcpResourcesParams

    def describe(self, params: ListMcpResourcesParams) -> str:
        return f"list the resources of {params.server or 'MCP servers'}"

    async def execute(self, params: ListMcpResourcesParams, context: ToolContext) -> ToolOutput:
        servers = context.mcp
        if servers is None:
            raise ToolError("there are no MCP servers here")
        named = [params.server] if params.server is not None else servers.names
        asked = [it for it in named if servers.of(it).has_resources and not _is_denied(it, servers, context)]
        answers = await asyncio.gather(*(servers.of(it).resources() for it in asked), return_exceptions=True)
        lines, failed = list[str](), list[str]()
        for server, answer in zip(asked, answers, strict=True):
            match answer:
                case ToolError():
                    failed.append(f"{server}: {answer}")
                case BaseException():
                    raise answer
                case _:
                    lines += _lines(server, answer)
        if not lines:
            return ToolOutput(data="\n".join(("There are no resources.", *failed)), description="no resources")
        told = fenced(clipped(lines, len(lines), "lines"), "MCP servers")
        return ToolOutput(data="\n".join((told, *failed)), description=f"resources of {', '.join(asked)}")


def _is_denied(server: str, servers: McpServers, context: ToolContext) -> bool:
    rules, owner = context.gate.rules(context.mode), servers.of(server).owner
    said = rules.on(resources_name(server), context.mode, owner=owner)
    return said is not None and said.decision == "deny"


def _lines(server: str, resources: Sequence[Resource]) -> list[str]:
    return [f"Server {server}:", *map(_described, resources)]


def _described(it: Resource) -> str:
    """In one line, whatever the server writes."""
    about = " ".join(f"{it.name}: {it.description}".removesuffix(": ").split())[:MAX_DESCRIPTION]
    kind = f" ({it.media_type})" if it.media_type else ""
    return visible(" ".join(f"- {it.uri} {about}{kind}".split()))[0]
