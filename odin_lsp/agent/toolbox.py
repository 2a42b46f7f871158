"""Which tools a turn is offered: Odin's own, and those of MCP servers."""

from collections.abc import Mapping, Sequence
from typing import Any

from odin_lsp.agent.mcp_tool import McpTool
from odin_lsp.agent.mode_tools import Listing, mode_tools, offered, shared_first
from odin_lsp.agent.model_registry import ModelRegistry
from odin_lsp.agent.scope import Briefing
from odin_lsp.errors import RequestError
from odin_lsp.events import ActivityChanged, Emit, Notice
from odin_lsp.extensions.registry import Extensions
from odin_lsp.formats import notebooks
from odin_lsp.mcp.connection import Around
from odin_lsp.mcp.offered import Offered, within
from odin_lsp.mcp.pool import McpServers
from odin_lsp.models import catalog
from odin_lsp.modes import MODES, Mode
from odin_lsp.permissions.rules import Rules
from odin_lsp.project.project import Project, Situation
from odin_lsp.tools.base import Tool, all_tools
from odin_lsp.tools.call_tool import CallTool
from odin_lsp.tools.find_tool import FindTool
from odin_lsp.tools.list_mcp_resources import ListMcpResources
from odin_lsp.tools.memory import MemoryTool
from odin_lsp.tools.notebook_edit import NotebookEdit
from odin_lsp.tools.read_mcp_resource import ReadMcpResource
from odin_lsp.tools.skill import SkillTool
from odin_lsp.tools.web_search import WebSearch
from odin_lsp.workspace.shown import Shown

HIDDEN = (
    "The MCP server {0} is the project's here, not your own of this name. Your rules, approvals and logins for {0} do"
    " not count for it."
)
HELPER = "helper"
"""The role of all that a turn delegates to."""


class Toolbox:
    def __init__(
        self, project: Project, models: ModelRegistry, mcp: McpServers, own: Mapping[str, Tool[Any]] | None
    ) -> None:
        self._project = project
        self._models = models
        self._mcp = mcp
        self._own = own
        self._told_hidden: set[str] = set()

    @property
    def known(self) -> Mapping[str, Tool[Any]]:
        """In any mode, without those of MCP servers."""
        return all_tools() if self._own is None else self._own

    def add(self, tool: Tool[Any]) -> None:
        """From the next turn on it is offered, where the mode has what it does."""
        if tool.name in self.known:
            raise RequestError(f"there is already a tool {tool.name!r}")
        self._own = {**self.known, tool.name: tool}

    async def begin_servers(self, at_hand: Extensions, emit: Emit) -> None:
        """Those that are on, in the background: the turn waits a moment for what nobody knows of them."""
        now = self._project.now
        self._mcp.use({} if now.is_restricted else at_hand.servers, around_mcp(now))
        if not self._mcp.names:
            return
        for name in _hidden_by_project(at_hand) - self._told_hidden:
            self._told_hidden.add(name)
            emit(Notice("warning", HIDDEN.format(name)))
        emit(ActivityChanged("connecting", "MCP servers"))
        await self._mcp.begin(now.config.mcp.wait)
        waiting = [it.name for it in self._mcp.states() if it.state == "starting" and not it.tools]
        if waiting:
            emit(Notice("info", f"MCP servers that are still starting: {', '.join(waiting)}; their tools come later"))

    def listed(self) -> tuple[Offered, ...]:
        share, window = self._project.now.config.mcp.share, catalog.find(self._models.selected).context
        return within(share, window, self._mcp.offered.values())

    def tools(
        self,
        mode: Mode,
        briefing: Briefing,
        shown: Shown,
        listed: Sequence[Offered] = (),
        parts: Sequence[str] = (),
    ) -> Listing:
        """Without those that there is nothing for."""
        now = self._project.now
        rules = Rules.of(now.config, root=now.root)
        known = {**self.known, **{it.name: McpTool(it, self._mcp) for it in listed}}
        has_notebooks = briefing.has_notebooks or any(path.suffix == notebooks.SUFFIX for path, _ in shown)
        has_servers = bool(briefing.extensions.servers) and not now.is_restricted

        def in_mode(mode: Mode) -> Mapping[str, Tool[Any]]:
            tools = mode_tools(mode, subagent=HELPER in parts, restricted=now.is_restricted, tools=known, rules=rules)
            wanted = offered(tools, mode, (*parts, now.config.role), now.config)
            may_find = has_servers and (mode == "edit_mode" or rules.let_servers_read(mode))
            needs = {
                MemoryTool.name: now.config.memory,
                SkillTool.name: bool(briefing.extensions.skills),
                NotebookEdit.name: has_notebooks,
                WebSearch.name: now.config.web_search.provider is not None,
                FindTool.name: may_find,
                CallTool.name: may_find,
                ListMcpResources.name: self._mcp.have_resources,
                ReadMcpResource.name: self._mcp.have_resources,
            }
            return {name: tool for name, tool in wanted.items() if needs.get(name, True)}

        return shared_first(mode, {it: in_mode(it) for it in MODES.values()})

    def unlisted(self, mode: Mode, parts: Sequence[str], name: str) -> Tool[Any] | None:
        """A tool of an MCP server, as things are now."""
        now, found = self._project.now, self._mcp.offered.get(name)
        tools = {name: McpTool(found, self._mcp)} if found else {}
        return offered(tools, mode, (*parts, now.config.role), now.config).get(name)


def _hidden_by_project(at_hand: Extensions) -> set[str]:
    """Names of the user's servers that a server of the project has, too."""
    hidden = (it.name for it in at_hand.listed if (it.kind, it.owner, it.state) == ("mcp", "user", "hidden"))
    return {it for it in hidden if it in at_hand.servers and at_hand.servers[it].layer == "project"}


def around_mcp(now: Situation) -> Around:
    secret_names = frozenset(name for names in now.config.keys.values() for name in names)
    return Around(now.roots, now.config.mcp, now.config.network, now.is_trusted, secret_names)
