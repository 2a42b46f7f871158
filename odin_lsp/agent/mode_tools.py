"""The only source of what each mode offers."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from odin_lsp.models.base import ToolSpec
from odin_lsp.modes import Mode
from odin_lsp.permissions.rules import CAPABILITIES
from odin_lsp.tools.base import Tool, all_tools


def mode_tools(mode: Mode, *, subagent: bool = False, restricted: bool = False) -> Mapping[str, Tool[Any]]:
    """`restricted`: the editor does not trust the workspace, and nothing of it may run."""
    return {
        name: tool
        for name, tool in all_tools().items()
        if tool.effect in CAPABILITIES[mode]
        and not (subagent and tool.main_only)
        and not (restricted and tool.runs_commands)
    }


@cache
def tool_spec(tool: Tool[Any]) -> ToolSpec:
    """The tool as each request lists it."""
    return ToolSpec(tool.name, tool.description, tool.schema)
