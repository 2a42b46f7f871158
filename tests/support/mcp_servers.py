"""MCP servers for tests: those that do what a table says, and what they ask of Odin."""

import json
import sys
from pathlib import Path

from odin_lsp.config import RuleSettings
from odin_lsp.extensions.mcp_files import McpServer
from odin_lsp.mcp.values import Host

SCRIPT = Path(__file__).with_name("scripted_mcp_server.py")
NAME = "scripted"


def scripted(folder, table, name=NAME, **more):
    """The entry of a server that does what the table says."""
    path = folder / f"{name}.json"
    path.write_text(json.dumps(table), encoding="utf-8")
    return McpServer(name=name, transport="stdio", command=sys.executable, args=(str(SCRIPT), str(path)), **more)


def entry(folder, table, name=NAME):
    """The same as `mcp.json` has it."""
    server = scripted(folder, table, name)
    return {"command": server.command, "args": list(server.args)}


class Asked:
    """Answers what servers ask, and remembers it."""

    def __init__(self, *roots):
        self.questions = []
        self.answers = []
        self.changes = []
        self.reasons = []
        self.tools = ()
        self.has_resources = False
        self.host = Host(self._ask, lambda: roots, self.changes.append)

    async def listed(self, tools, has_resources):
        self.tools = tools
        self.has_resources = has_resources

    async def _ask(self, question):
        self.questions.append(question)
        return self.answers.pop(0) if self.answers else ("decline", {})


def allowing(odin, name, **more):
    """The user's rule for a server of the project, which needs more than its name."""
    server = odin.project.now.extensions.servers[name]
    return RuleSettings(tool=f"mcp__{name}", decision="allow", server=server.identity, **more)
