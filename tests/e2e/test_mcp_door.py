"""`odin-lsp mcp serve` behind the official SDK's client."""

import os
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult

from tests.e2e.conftest import ODIN_LSP
from tests.support.forking import forked

LINES = "".join(f"line {number}\n" for number in range(1, 31))
EDITS = [{"old_string": f"line {it}\n", "new_string": f"changed {it}\n"} for it in (3, 15, 27)]


async def test_an_agent_reads_and_has_an_edit_of_three_hunks_reviewed_of_which_one_is_refused(root: Path) -> None:
    (root / "a.py").write_text(LINES)
    command, *arguments = (*forked(ODIN_LSP), "mcp", "serve")
    server = StdioServerParameters(command=command, args=arguments, env=dict(os.environ), cwd=root)

    async def ask(_: Any, params: Any) -> ElicitResult:
        decision = "reject" if "changed 15" in params.message else "accept"
        return ElicitResult(action="accept", content={"decision": decision, "reason": "keep it"})

    async with Client(server, elicitation_callback=ask) as agent:
        names = {it.name for it in (await agent.list_tools()).tools}
        read = await agent.call_tool("Read", {"file_path": "a.py"})
        edited = await agent.call_tool("MultiEditTool", {"file_path": "a.py", "edits": EDITS})

    assert {"Read", "Grep", "MultiEditTool"} <= names
    assert "line 30" in read.content[0].text
    assert edited.content[0].text.startswith("a.py: 2 accepted, 1 rejected.")
    assert "keep it" in edited.content[0].text
    assert (root / "a.py").read_text() == LINES.replace("line 3\n", "changed 3\n").replace("line 27\n", "changed 27\n")
