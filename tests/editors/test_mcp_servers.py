"""MCP servers that others have written, by themselves and from a terminal, Neovim and VS Code."""

import asyncio
import json
import os
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import expect

from odin_lsp.config import McpSettings
from odin_lsp.errors import ToolError
from odin_lsp.extensions.mcp_files import McpServer
from odin_lsp.mcp.connection import Around, Connection
from odin_lsp.mcp.pool import McpServers
from odin_lsp.mcp.values import Answered, Asked
from tests.e2e.steps import play_calls, results, says
from tests.editors import neovim as nvim_kit
from tests.editors import vscode as vscode_kit
from tests.editors.code_server import mcp_server
from tests.editors.conftest import StartNeovim, StartVSCode, skipped_if_unavailable
from tests.editors.neovim import NOTE_EVENTS, READY
from tests.editors.vscode_chat import Chat
from tests.support.language_servers import processes_below
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="module")

ECHO = "mcp__everything__echo"
SLOW = "mcp__everything__trigger-long-running-operation"
READ = "mcp__files__read_text_file"
PATIENCE = 60.0


@pytest.fixture(scope="module")
def everything() -> str:
    with skipped_if_unavailable():
        return str(mcp_server("everything"))


@pytest_asyncio.fixture(loop_scope="module")
async def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, everything: str) -> AsyncIterator[McpServers]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with skipped_if_unavailable():
        files = str(mcp_server("filesystem"))
    (tmp_path / "note.txt").write_text("kept here\n")
    pool = McpServers(_say_nothing, pauses=(0.0, 0.0, 0.0))
    servers = {
        "everything": McpServer(name="everything", transport="stdio", command=everything),
        "files": McpServer(name="files", transport="stdio", command=files, args=(str(tmp_path),)),
    }
    pool.use(servers, Around((tmp_path,), McpSettings(timeout=PATIENCE)))
    await pool.begin(PATIENCE)
    yield pool
    await pool.close()


async def call(pool: McpServers, name: str, **arguments: object) -> Answered:
    offered = pool.offered[name]
    return await pool.of(offered.server).call(offered, arguments, lambda _: None, _nobody)


async def _nobody(*_: object) -> Asked:
    return "decline", {}


def _say_nothing(*_: object) -> None:
    pass


async def test_their_tools_answer(pool: McpServers, tmp_path: Path) -> None:
    assert "hello there" in (await call(pool, ECHO, message="hello there")).text
    assert "kept here" in (await call(pool, READ, path=str(tmp_path / "note.txt"))).text
    refused = await call(pool, READ, path="/etc/hostname")
    assert refused.failed


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "hung"])
async def test_one_that_is_killed_or_hangs_in_a_call_is_told_of_and_started_again(
    pool: McpServers, tmp_path: Path, how: signal.Signals
) -> None:
    around = Around((tmp_path,), McpSettings(timeout=3))
    pool.use({"everything": pool.of("everything").server}, around)
    await pool.begin(PATIENCE)

    async def connected() -> Connection | None:
        with suppress(ToolError):
            return await pool.of("everything").connection()

    connection = await nvim_kit.until(connected, "the server has started")
    calling = asyncio.create_task(call(pool, SLOW, duration=30, steps=300))
    await asyncio.sleep(0)
    assert connection.pid is not None
    for pid in processes_below(connection.pid):
        os.kill(pid, how)
    with pytest.raises(ToolError):
        await calling
    if how == signal.SIGSTOP:
        for pid in processes_below(connection.pid):
            os.kill(pid, signal.SIGKILL)

    async def answers() -> bool:
        try:
            return "again" in (await call(pool, ECHO, message="again")).text
        except ToolError:
            return False

    await nvim_kit.until(answers, "an answer")


async def test_one_behind_http_answers(pool: McpServers, everything: str, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "PORT": str(port)}
    process = await asyncio.create_subprocess_exec(
        everything,
        "streamableHttp",
        env=environment,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await nvim_kit.until(lambda: _listens(port), "it listens")
        entry = McpServer(name="everything", transport="http", url=f"http://127.0.0.1:{port}/mcp")
        pool.use({"everything": entry}, Around((tmp_path,), McpSettings(timeout=PATIENCE)))
        await pool.begin(PATIENCE)
        assert "by HTTP" in (await call(pool, ECHO, message="by HTTP")).text
    finally:
        process.kill()
        await process.wait()


async def _listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


@pytest.fixture
def known(place: Path, everything: str) -> None:
    """To the user who starts a terminal or an editor."""
    folder = place / "home" / ".config" / "odin"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": {"everything": {"command": everything}}}))
    (folder / "odinconfig.json").write_text(json.dumps({"mcp": {"wait": PATIENCE}, "titles": False}))


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("allowed", [True, False])
async def test_in_a_terminal_it_answers_if_it_is_allowed(
    wire: Wire, root: Path, env: dict[str, str], allowed: bool
) -> None:
    play_calls(wire, (ECHO, {"message": "from a terminal"}))
    wire.play(says("That is all."))
    process = await asyncio.create_subprocess_exec(
        *("odin-lsp", "edit", "--no-host", *(["--yes"] if allowed else []), "say it"),
        cwd=root,
        env=env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    assert b"That is all." in out
    assert ("Echo: from a terminal" in results(wire)[0]) == allowed


@nvim_kit.NEWEST
@pytest.mark.usefixtures("known")
async def test_in_neovim_it_is_asked_about_and_answers(start_neovim: StartNeovim, wire: Wire, root: Path) -> None:
    (root / "a.py").write_text("a = 1\n")
    neovim = await start_neovim("a.py")
    await neovim.lua(NOTE_EVENTS)
    await neovim.until(READY)
    play_calls(wire, (ECHO, {"message": "from Neovim"}))
    wire.play(says("It answered."))
    await neovim.command("OdinEdit say it")
    await neovim.until_asked()
    await neovim.press("1<CR>")
    await neovim.until("#_G.finished == 1")
    assert "Echo: from Neovim" in results(wire)[0]


@vscode_kit.NEWEST
@pytest.mark.usefixtures("known")
async def test_in_vscode_it_is_asked_about_answers_and_is_listed(
    start_vscode: StartVSCode, vsix: Path, wire: Wire, root: Path
) -> None:
    (root / "a.py").write_text("a = 1\n")
    vscode = await start_vscode(vsix)
    await vscode.open_file(root / "a.py")
    chat = Chat(vscode)
    await chat.open()
    play_calls(wire, (ECHO, {"message": "from VS Code"}))
    wire.play(says("It answered."))
    await chat.say("say it", "Edit")
    await chat.question.get_by_role("button", name="Allow once").click()
    await expect(chat.turn.get_by_text("It answered.")).to_be_visible()
    assert "Echo: from VS Code" in results(wire)[0]
    await vscode.palette("Odin: Show Extensions…")
    [listed] = await vscode.picks()
    assert listed.startswith("mcp everything, on, ready, ")
    await vscode.press("Escape")
