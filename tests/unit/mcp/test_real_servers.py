"""Servers that people use."""

import subprocess
import sys

import pytest

from odin_lsp.agent.mcp_tool import McpTool
from odin_lsp.config import McpSettings
from odin_lsp.errors import ToolError
from odin_lsp.extensions.mcp_files import McpServer
from odin_lsp.mcp.connection import Around
from odin_lsp.mcp.finding import best
from odin_lsp.mcp.pool import McpServers


@pytest.fixture
async def pool(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    pool = McpServers(lambda *_: None)
    modules = {"git": "mcp_server_git", "time": "mcp_server_time"}
    servers = {
        name: McpServer(name=name, transport="stdio", command=sys.executable, args=("-m", module))
        for name, module in modules.items()
    }
    pool.use(servers, Around((tmp_path,), McpSettings(timeout=60)))
    await pool.begin(60)
    yield pool
    await pool.close()


@pytest.fixture
def repository(tmp_path):
    author = ("-c", "user.name=a", "-c", "user.email=a@b")
    for words in (("init", "-q"), (*author, "commit", "-qm", "the first", "--allow-empty")):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    return tmp_path


async def test_their_tools_are_found_by_words_and_answer(pool, repository):
    [log, *_] = best("show the log of commits", pool.offered.values(), 5)
    [now, *_] = best("what time is it in Tokyo", pool.offered.values(), 5)
    answered = await pool.of("git").call(log, {"repo_path": str(repository)}, print, None)

    assert (log.name, now.name) == ("mcp__git__git_log", "mcp__time__get_current_time")
    assert "the first" in answered.text
    with pytest.raises(ToolError, match="`repo_path` is missing"):
        McpTool(log, pool).parse({})
