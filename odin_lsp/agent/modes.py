"""The three modes, and the only source of what each of them offers."""

from collections.abc import Mapping
from typing import Any, get_args

from odin_lsp.events import Mode
from odin_lsp.permissions.rules import CAPABILITIES
from odin_lsp.tools.base import Tool, all_tools

MODES: tuple[Mode, ...] = get_args(Mode)


def mode_tools(mode: Mode, *, subagent: bool = False) -> Mapping[str, Tool[Any]]:
    return {
        name: tool
        for name, tool in all_tools().items()
        if tool.effect in CAPABILITIES[mode] and not (subagent and tool.main_only)
    }
