"""Call a tool of an MCP server that is not listed."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from odin_lsp.errors import ToolError
from odin_lsp.messages import ToolCall
from odin_lsp.permissions.foreign_names import FOREIGN
from odin_lsp.permissions.rules import Effect
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolOutput
from odin_lsp.values import is_object


def meant(call: ToolCall) -> ToolCall:
    """The call that is made: rules, hooks and people know the tool by its own name."""
    name, arguments = call.arguments.get("name"), call.arguments.get("arguments", {})
    is_of_server = isinstance(name, str) and name.startswith(FOREIGN) and is_object(arguments)
    if call.name != CallTool.name or call.problem or not is_of_server:
        return call
    return replace(call, name=name, arguments=arguments)


class CallToolParams(Params):
    name: str
    """`mcp__server__tool`, as FindTool says."""
    arguments: Mapping[str, Any] = {}


class CallTool(Tool[CallToolParams]):
    """Call a tool that FindTool has found."""

    name = "CallTool"
    effect = Effect.NONE
    params = CallToolParams

    def describe(self, params: CallToolParams) -> str:
        return f"call {params.name}"

    async def execute(self, params: CallToolParams, context: ToolContext) -> ToolOutput:
        """Of what is no tool of a server; of those that are, the executor makes the call that is meant."""
        raise ToolError(f"there is no tool {params.name!r} of an MCP server; FindTool finds those that there are")
