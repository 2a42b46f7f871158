"""Whoever watches hears when a server has become another than it was: once for what comes close together."""

import asyncio
import json
import os
import signal
import sys

import pytest

from odin_lsp.agent.core import Core
from odin_lsp.agent.server_news import ServerNews
from odin_lsp.project.project import Project, Told
from odin_lsp.server_states import McpState, ServersChanged
from odin_lsp.terminal.editor import TerminalEditor
from tests.support.language_servers import SCRIPT, diagnostic, processes_below
from tests.support.trusting import agree_to_all


def told(odin):
    return [[(it.name, it.state, it.attempt) for it in news.mcp_servers] for news in odin.of(ServersChanged)]


async def until(found):
    while not found():
        await asyncio.sleep(0.01)


async def test_many_changes_in_a_moment_are_told_once_and_none_that_changes_nothing():
    now, emitted = [ServersChanged()], []
    news = ServerNews(lambda: now[0], emitted.append)
    for number in range(100):
        now[0] = ServersChanged(mcp_servers=(McpState(name=str(number), transport="stdio", state="ready"),))
        news.note_change()
    await until(lambda: emitted)
    news.note_change()
    while news._timer is not None:
        await asyncio.sleep(0.01)

    assert [it.mcp_servers[0].name for it in emitted] == ["99"]


async def test_a_server_that_becomes_ready_dies_and_is_switched_off_is_told_of(odin, serve, tmp_path):
    serve(toy={"tools": [{"name": "echo"}]})
    odin.script({"text": "done"})
    odin.start(trusted=True)
    await odin.take(mode="edit_mode")
    await until(lambda: [("toy", "ready", 1)] in told(odin))
    connection = await odin.core.mcp.of("toy").connection()

    for pid in processes_below(connection.pid):
        os.kill(pid, signal.SIGKILL)
    await until(lambda: [("toy", "retrying", 2)] in told(odin))
    odin.project.switch_extensions(["mcp:toy"], on=False)
    await until(lambda: told(odin)[-1] == [])

    [problem] = {news.mcp_servers[0].problem for news in odin.of(ServersChanged) if "retrying" in str(news)}
    assert "toy has stopped" in problem
    assert all(it.memory is None for news in odin.of(ServersChanged) for it in news.mcp_servers)
    [log] = tmp_path.rglob("sessions/*/*.jsonl")
    assert "turnFinished" in log.read_text()
    assert "serversChanged" not in log.read_text()


@pytest.fixture
async def core(tmp_path, monkeypatch):
    """Of a folder with a language server that reports problems of what it is shown."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    found = [
        diagnostic("bad"),
        diagnostic("worse", severity=1),
        diagnostic("hm", severity=2),
        diagnostic("?", severity=4),
    ]
    table = {"textDocument/didOpen": [{"report": found, "version": 1}]}
    (tmp_path / "table.json").write_text(json.dumps(table))
    command = [sys.executable, str(SCRIPT), str(tmp_path / "table.json")]
    settings = {"servers": {"toy": {"command": command, "languages": {".toy": "toy"}}}}
    root = tmp_path / "ws"
    root.mkdir()
    (root / "odinconfig.json").write_text(json.dumps({"languageServers": settings}))
    (root / "a.toy").write_text("x\n")
    core = Core(Project(Told(roots=(root,))), TerminalEditor("no"))
    agree_to_all(core.project)
    yield core
    await core.close()


async def test_a_language_server_is_told_of_with_its_errors_and_warnings_and_when_it_is_gone(core):
    news = []
    core.stream.subscribe(lambda record: news.append(record.event))
    path = core.project.now.root / "a.toy"

    await core.servers.problems([path], 20)
    await until(lambda: news and news[-1].language_servers and news[-1].language_servers[0].errors is not None)
    [server] = news[-1].language_servers
    [state] = await core.servers.all_states()
    core.project.tell(settings={"languageServers": {"enabled": False}})
    await until(lambda: news[-1].language_servers == ())

    assert (server.name, server.owner, server.errors, server.warnings) == ("toy", "odin", 2, 1)
    assert (state.errors, state.warnings) == (2, 1)
    assert server.memory is None
    assert news[0].language_servers[0].state in ("starting", "loading")  # what comes close together is told once
