"""Which of the subagents that a project or the user describes a task is for."""

from collections.abc import Mapping

from odin_lsp.errors import ToolError
from odin_lsp.extensions.agents import NamedAgent
from odin_lsp.modes import MODES
from odin_lsp.permissions.subagent_rights import is_within
from odin_lsp.tools.base import AgentTask


def choose(agents: Mapping[str, NamedAgent], task: AgentTask) -> NamedAgent | None:
    """The one that the task names; `ToolError` if there is none, or it may not do that."""
    if task.agent is None:
        return None
    agent = agents.get(task.agent)
    if agent is None:
        known = f"there are {', '.join(agents)}" if agents else "none is described"
        raise ToolError(f"there is no agent {task.agent!r} here: {known}; leave `agent` out for one without a name")
    if agent.mode is not None and not is_within(task.mode, MODES[agent.mode]):
        raise ToolError(f"{agent.name} works in {agent.mode} mode at most; set mode to {agent.mode}")
    return agent
