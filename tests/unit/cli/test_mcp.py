"""`odin-lsp mcp`."""

import json
import sys

import pytest

from odin_lsp.cli.doctor import diagnose
from odin_lsp.cli.main import main
from tests.support.language_servers import own_processes
from tests.support.mcp_servers import SCRIPT


@pytest.fixture
def mcp(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    root = tmp_path / "project"
    root.mkdir()

    def mcp(action, *words, code=0):
        assert main(["mcp", action, "--cwd", str(root), *words]) == code
        return "".join(capsys.readouterr())

    mcp.root = root
    mcp.file = tmp_path / "config" / "odin" / "mcp.json"
    return mcp


def table(folder, content):
    path = folder / "table.json"
    path.write_text(json.dumps(content))
    return sys.executable, str(SCRIPT), str(path)


def test_a_server_is_added_and_removed_and_the_rest_of_the_file_stays(mcp):
    mcp.file.parent.mkdir(parents=True)
    mcp.file.write_text(json.dumps({"other": 1, "mcpServers": {"old": {"command": "x"}}}))

    mcp("add", "--env", "A=b=c", "git", "--", "uvx", "mcp-server-git", "--repository", ".")
    mcp("add", "--header", "Authorization=Bearer ${TOKEN}", "web", "https://example.org/mcp")

    added = {"command": "uvx", "args": ["mcp-server-git", "--repository", "."], "env": {"A": "b=c"}}
    web = {"type": "http", "url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}
    servers = {"old": {"command": "x"}, "git": added, "web": web}
    assert json.loads(mcp.file.read_text()) == {"other": 1, "mcpServers": servers}

    mcp("remove", "git")

    assert json.loads(mcp.file.read_text())["mcpServers"] == {"old": {"command": "x"}, "web": web}
    assert "has no server 'git'" in mcp("remove", "git", code=1)


def test_a_file_that_a_program_cannot_read_is_left_alone(mcp):
    mcp.file.parent.mkdir(parents=True)
    mcp.file.write_text('{"mcpServers": {}} // mine')

    assert "edit it yourself" in mcp("add", "git", "uvx", code=1)
    assert mcp.file.read_text() == '{"mcpServers": {}} // mine'


def test_what_is_added_to_a_project_is_listed_and_wants_trust(mcp):
    said = mcp("add", "--project", "git", "uvx")

    assert "Odin asks before it is used" in said
    assert (mcp.root / ".odin" / "mcp.json").exists()
    assert "not used: you have not agreed to it" in mcp("list")
    assert "git is untrusted" in mcp("test", "git", code=1)


def test_a_server_is_started_and_its_tools_are_listed(mcp, tmp_path):
    before = own_processes()
    tools = [{"name": "echo", "description": "Say it again.\nAnd more."}, {"name": "echo"}]
    mcp("add", "toy", "--", *table(tmp_path, {"tools": tools}))

    said = mcp("test", "toy")

    assert "protocol 2025-11-25\n  mcp__toy__echo: Say it again.\n" in said
    assert "a second tool with the name echo is left out" in said
    assert own_processes() <= before


def test_one_that_does_not_start_says_why(mcp, tmp_path, capsys):
    mcp("add", "toy", "--", *table(tmp_path, {"start": [{"complain": 1}, {"exit": 5}]}))

    assert "✗ toy has stopped with code 5\n  complaint\n" in mcp("test", "toy", code=1)
    diagnose(mcp.root)
    assert "✗ MCP server toy: toy has stopped with code 5\n    → it said:\n      complaint" in capsys.readouterr().out
