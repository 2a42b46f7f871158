"""The only source of what each mode can use, and of what a conversation lists."""

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

from odin_lsp.config import Config, RuleSettings
from odin_lsp.models.base import ToolSpec
from odin_lsp.modes import Mode
from odin_lsp.permissions.rules import ALIASES, CAPABILITIES, means
from odin_lsp.tools.base import Tool, all_tools


def mode_tools(
    mode: Mode,
    *,
    subagent: bool = False,
    restricted: bool = False,
    tools: Mapping[str, Tool[Any]] | None = None,
) -> Mapping[str, Tool[Any]]:
    """`restricted`: the editor does not trust the workspace, and nothing of it may run. `tools`: in place of Odin's."""
    return {
        name: tool
        for name, tool in (all_tools() if tools is None else tools).items()
        if tool.effect in CAPABILITIES[mode]
        and not (subagent and tool.main_only)
        and not (restricted and tool.runs_commands)
    }


def offered(tools: Mapping[str, Tool[Any]], mode: Mode, roles: Collection[str], config: Config) -> dict[str, Tool[Any]]:
    """Without those that the settings disable, or that a rule denies whatever they are used for."""
    verb = mode.removesuffix("_mode")
    off = {ALIASES.get(it, it) for it in config.tools.off(verb, *roles)}
    off |= {ALIASES.get(rule.tool, rule.tool) for rule in config.rules if _denies_all(rule, verb)}
    return {name: tool for name, tool in tools.items() if not any(means(it, name) for it in off)}


def _denies_all(rule: RuleSettings, verb: str) -> bool:
    is_about_some = rule.arguments or any(it is not None for it in (rule.pattern, rule.path, rule.host))
    return rule.decision == "deny" and not is_about_some and (not rule.modes or verb in rule.modes)


def listed_tools(
    mode: Mode,
    *,
    subagent: bool = False,
    restricted: bool = False,
    tools: Mapping[str, Tool[Any]] | None = None,
) -> Mapping[str, Tool[Any]]:
    """A session lists the same in every mode, so that switching keeps the prefix that providers cache; what its mode
    forbids is refused when it is called. A helper never switches, and what is restricted has no other mode: they list
    what they can use."""
    widest = mode if subagent or restricted else "edit_mode"
    return mode_tools(widest, subagent=subagent, restricted=restricted, tools=tools)


def tool_spec(tool: Tool[Any]) -> ToolSpec:
    """The tool as each request lists it."""
    return ToolSpec(tool.name, tool.description, tool.schema)


@lru_cache(maxsize=8)
def tool_specs(tools: tuple[Tool[Any], ...]) -> tuple[ToolSpec, ...]:
    """The same ones for the same tools: who sends them has them ready."""
    return tuple(map(tool_spec, tools))
