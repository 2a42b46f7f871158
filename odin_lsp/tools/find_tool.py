"""Find a tool of an MCP server that is not listed."""

import json

from odin_lsp.errors import ToolError
from odin_lsp.mcp.finding import best
from odin_lsp.mcp.offered import Offered
from odin_lsp.permissions.rules import Effect, has
from odin_lsp.tools.base import MAX_RESULT_CHARS, NonEmpty, Params, Tool, ToolContext, ToolOutput
from odin_lsp.web.untrusted import fenced

MOST = 5
CALL = "Call one with CallTool: its name, and arguments as its schema says."


class FindToolParams(Params):
    query: NonEmpty
    """Words for what it should do."""


class FindTool(Tool[FindToolParams]):
    """Find tools of MCP servers that are not listed here: names, descriptions and schemas. CallTool calls them."""

    name = "FindTool"
    effect = Effect.NONE
    params = FindToolParams

    def describe(self, params: FindToolParams) -> str:
        return f"find a tool: {params.query}"

    async def execute(self, params: FindToolParams, context: ToolContext) -> ToolOutput:
        servers = context.mcp
        if servers is None:
            raise ToolError("there are no MCP servers here")
        mode, rules = context.mode, context.gate.rules(context.mode)
        usable = {
            name: it
            for name, it in servers.offered.items()
            if has(mode, name, Effect.FOREIGN, rules, owner=servers.of(it.server).owner)
        }
        found = best(params.query, usable.values(), MOST)
        waiting = [f"{it.name}: {it.problem or it.state}" for it in servers.states() if it.state != "ready"]
        notes = [f"Servers that have not answered: {'; '.join(waiting)}"] if waiting else []
        if not found:
            names = ", ".join(usable) or "none"
            told = f"No tool is about that. There are: {names}"[:MAX_RESULT_CHARS]
            return ToolOutput(data="\n".join([told, *notes]), description="no tool found")
        texts, size = list[str](), 0
        for it in found:
            texts.append(_described(it))
            size += len(texts[-1])
            if size > MAX_RESULT_CHARS:
                break
        told = fenced("\n\n".join(texts), "MCP servers")
        named = ", ".join(it.name for it in found)
        return ToolOutput(data="\n".join([told, CALL, *notes]), description=f"found {named}")


def _described(it: Offered) -> str:
    return f"{it.name}: {it.description}\n{json.dumps(it.schema, ensure_ascii=False, separators=(',', ':'))}"
