"""An agent of others beside a real Neovim: it reads what is in the buffer, and what it proposes is reviewed there."""

import asyncio
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from tests.editors.conftest import Write, at_home
from tests.editors.neovim import NEWEST, Neovim, until
from tests.editors.test_neovim import attached, happened

pytestmark = [pytest.mark.asyncio(loop_scope="module"), NEWEST]

LINES = [f"line {number}" for number in range(1, 31)]
EDITS = [{"old_string": f"line {it}\n", "new_string": f"changed {it}\n"} for it in (3, 15, 27)]
TYPED = "# typed, not saved"
MARKED = """
local found = {}
local space = vim.api.nvim_get_namespaces()["odin.review"]
for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })) do
  for _, piece in ipairs(mark[4].virt_text or {}) do table.insert(found, piece[1]) end
end
return table.concat(found, "\\n")
"""


@pytest.fixture(scope="module")
def programs(installed: Path) -> Path:
    return installed


async def test_an_agent_reads_the_buffer_and_its_hunks_are_reviewed_in_neovim(
    neovim: Neovim, write: Write, own_root: Path, env: dict[str, str]
) -> None:
    file = write("a.py", *LINES)
    await attached(neovim, file)
    await neovim.call("nvim_buf_set_lines", 0, 0, 0, False, [TYPED])
    sockets = own_root.parent / "run" / "odin"

    async def listens() -> bool:
        return any(sockets.glob("*.sock"))

    await until(listens, "a socket")
    server = StdioServerParameters(
        command="odin-lsp", args=["mcp", "serve"], env={**env, **at_home(own_root.parent)}, cwd=own_root
    )
    async with Client(server) as agent:
        read = await agent.call_tool("Read", {"file_path": "a.py"})
        editing = asyncio.create_task(agent.call_tool("MultiEditTool", {"file_path": "a.py", "edits": EDITS}))
        await happened(neovim, "OdinReviewOpened")
        assert (await neovim.lua(MARKED)).count("proposed by mcp") == 3
        await neovim.command("execute '/line 3$' | OdinAccept")
        await neovim.command("execute '/line 15$' | OdinReject keep it")
        await neovim.command("execute '/line 27$' | OdinAccept")
        edited = await editing

    assert TYPED in read.content[0].text
    assert edited.content[0].text.startswith("a.py: 2 accepted, 1 rejected.")
    assert "keep it" in edited.content[0].text
    expected = [TYPED, *LINES]
    expected[3], expected[27] = "changed 3", "changed 27"
    assert await neovim.lines() == expected
    assert file.read_text().splitlines() == LINES
    await neovim.command("write")
    assert file.read_text().splitlines() == expected
