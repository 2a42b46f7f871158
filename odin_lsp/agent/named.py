"""Helpers that a project describes in `.odin/agents/*.md`, once the user trusts it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from odin_lsp.errors import ToolError
from odin_lsp.modes import MODES
from odin_lsp.permissions.subagent_rights import is_within
from odin_lsp.permissions.trust import agent_files
from odin_lsp.tools.base import AgentTask
from odin_lsp.web.untrusted import visible

_FRONT = re.compile(r"\A---[ \t]*\r?\n(?P<head>.*?)^---[ \t]*\r?\n(?P<body>.*)", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"[A-Za-z][\w-]{0,40}")


@dataclass(frozen=True, slots=True)
class NamedAgent:
    name: str
    description: str
    prompt: str
    mode: Literal["ask", "plan", "edit"] | None = None
    """At most this, whatever is asked of it."""
    model: str | None = None

    def __str__(self) -> str:
        return f"- {self.name}: {self.description}"


def load(root: Path) -> Mapping[str, NamedAgent]:
    """By name; a file that makes no sense describes nobody."""
    described = (_parse(Path(name).stem, content) for name, content in agent_files(root).items())
    return {agent.name: agent for agent in described if agent is not None}


def choose(agents: Mapping[str, NamedAgent], task: AgentTask) -> NamedAgent | None:
    """The one that the task names; `ToolError` if there is none, or it may not do that."""
    if task.agent is None:
        return None
    agent = agents.get(task.agent)
    if agent is None:
        known = f"there are {', '.join(agents)}" if agents else "the project describes none"
        raise ToolError(f"there is no agent {task.agent!r} here: {known}; leave `agent` out for one without a name")
    if agent.mode is not None and not is_within(task.mode, MODES[agent.mode]):
        raise ToolError(f"{agent.name} works in {agent.mode} mode at most; set mode to {agent.mode}")
    return agent


def _parse(stem: str, content: bytes) -> NamedAgent | None:
    text = visible(content.decode("utf-8", "replace"))[0]
    found = _FRONT.match(text)
    head = dict(re.findall(r"^(\w+):[ \t]*(.*?)[ \t]*$", found["head"], re.MULTILINE)) if found else {}
    name, mode = head.get("name", stem), head.get("mode")
    if not _NAME.fullmatch(name) or mode not in (None, "ask", "plan", "edit"):
        return None
    body = (found["body"] if found else text).strip()
    return NamedAgent(name, head.get("description", ""), body, mode, head.get("model"))
