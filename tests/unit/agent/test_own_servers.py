"""Odin's own language servers follow what is in force in the project."""

import asyncio
import json
import sys

import pytest

from odin_lsp.agent.core import Core
from odin_lsp.project.project import Project, Told
from odin_lsp.terminal.editor import TerminalEditor
from tests.support.language_servers import SCRIPT, own_processes
from tests.support.trusting import agree_to_all


@pytest.fixture
async def core(tmp_path, monkeypatch):
    """Of a folder whose own settings name a server."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "table.json").write_text("{}")
    command = [sys.executable, str(SCRIPT), str(tmp_path / "table.json")]
    settings = {"servers": {"toy": {"command": command, "languages": {".toy": "toy"}}}}
    root = tmp_path / "ws"
    root.mkdir()
    (root / "odinconfig.json").write_text(json.dumps({"languageServers": settings}))
    (root / "a.toy").write_text("x\n")
    core = Core(Project(Told(roots=(root,))), TerminalEditor("no"))
    yield core
    await core.close()


async def names(core):
    return [it.name for it in await core.servers.of(core.project.now.root / "a.toy")]


async def test_a_server_that_a_folder_names_starts_once_the_folder_is_trusted_and_ends_when_it_is_not(core):
    before = own_processes()
    assert await names(core) == []
    assert [it.needs_trust for it in core.project.now.problems] == [True]

    agree_to_all(core.project)
    assert await names(core) == ["toy"]
    core.project.decide_trust(trusted=False)

    assert core.own_servers.states() == []
    assert await names(core) == []
    while not own_processes() <= before:
        await asyncio.sleep(0.01)


async def test_settings_count_at_once_and_others_change_nothing(core):
    agree_to_all(core.project)
    assert await names(core) == ["toy"]
    [running] = core.own_servers.states()

    core.project.tell(settings={"memory": False})
    assert [it.state for it in core.own_servers.states()] == [running.state]
    core.project.tell(settings={"languageServers": {"enabled": False}})

    assert core.own_servers.states() == []
    assert await names(core) == []
