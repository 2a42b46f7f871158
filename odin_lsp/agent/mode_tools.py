"""The only source of what each mode can use: nothing else is listed to a model."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from odin_lsp.config import Config, RuleSettings
from odin_lsp.models.base import ToolSpec
from odin_lsp.modes import Mode
from odin_lsp.permissions.rules import ALIASES, Rules, forbids_name, has
from odin_lsp.tools.base import Tool, all_tools


def mode_tools(
    mode: Mode,
    *,
    subagent: bool = False,
    restricted: bool = False,
    tools: Mapping[str, Tool[Any]] | None = None,
    rules: Rules | None = None,
) -> Mapping[str, Tool[Any]]:
    """`restricted`: the editor does not trust the workspace, and nothing of it may run. `tools`: in place of Odin's.
    `rules`: of the user, who may let Ask and Plan have tools of MCP servers."""
    return {
        name: tool
        for name, tool in (all_tools() if tools is None else tools).items()
        if has(mode, name, tool.effect, rules, owner=tool.owner)
        and not (subagent and tool.main_only)
        and not (restricted and tool.runs_commands)
    }


def offered(tools: Mapping[str, Tool[Any]], mode: Mode, roles: Collection[str], config: Config) -> dict[str, Tool[Any]]:
    """Without those that the settings disable, or that a rule denies whatever they are used for."""
    verb = mode.removesuffix("_mode")
    off = {ALIASES.get(it, it) for it in config.tools.off(verb, *roles)}
    off |= {ALIASES.get(rule.tool, rule.tool) for rule in config.rules if _denies_all(rule, verb)}
    return {name: tool for name, tool in tools.items() if not any(forbids_name(it, name) for it in off)}


def _denies_all(rule: RuleSettings, verb: str) -> bool:
    is_about_some = rule.arguments or rule.server or any(it is not None for it in (rule.pattern, rule.path, rule.host))
    return rule.decision == "deny" and not is_about_some and (not rule.modes or verb in rule.modes)


@dataclass(frozen=True, slots=True)
class Listing:
    """What the requests of a turn list."""

    tools: Mapping[str, Tool[Any]]
    shared: int
    """So many of them, the first ones, are listed in every mode."""


def shared_first(mode: Mode, by_mode: Mapping[Mode, Mapping[str, Tool[Any]]]) -> Listing:
    """What providers cache is a prefix: what all modes list comes first, in the same order."""
    tools = by_mode[mode]
    shared = [name for name in tools if all(name in its for its in by_mode.values())]
    return Listing({name: tools[name] for name in dict.fromkeys([*shared, *tools])}, len(shared))


def tool_spec(tool: Tool[Any]) -> ToolSpec:
    """The tool as each request lists it."""
    return ToolSpec(tool.name, tool.description, tool.schema)


@lru_cache(maxsize=8)
def describe_tools() -> None:
    """Their schemas are made once in a process: off the loop, as it takes time."""
    for tool in all_tools().values():
        tool.schema  # noqa: B018 - it is kept


def tool_specs(tools: tuple[Tool[Any], ...]) -> tuple[ToolSpec, ...]:
    """The same ones for the same tools: who sends them has them ready."""
    return tuple(map(tool_spec, tools))
