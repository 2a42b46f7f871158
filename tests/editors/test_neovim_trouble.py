"""What goes wrong around the plugin: no server, a server that dies, two Neovims, no plugin at all."""

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.e2e.steps import play_calls, results, says
from tests.editors.conftest import PLUGIN, StartNeovim
from tests.editors.neovim import NOTE_EVENTS, READY, Neovim
from tests.editors.test_neovim import LINES, NAMED, change, chat, comes, happened, outcome, reads
from tests.support import wire as kit
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="module")

STOCK = """
vim.lsp.start({ name = "odin", cmd = { "odin-lsp" }, root_dir = vim.fn.getcwd() })
"""
EXECUTE = """
local client, command, argument = vim.lsp.get_clients({ name = "odin" })[1], ...
local params = { command = command, arguments = { argument } }
client.rpc.request("workspace/executeCommand", params, function(_, result)
  _G.outcomes = vim.list_extend(_G.outcomes or {}, { result })
end)
"""
TRY = """
vim.cmd("messages clear")
local ok, problem = pcall(vim.cmd, ...)
return vim.fn.execute("messages") .. (ok and "" or problem)
"""
CODE_ACTION = """
local title = ...
vim.lsp.buf.code_action({
  apply = true,
  filter = function(action) return action.title == title end,
})
"""


@pytest.fixture(scope="module")
def programs(installed: Path) -> Path:
    return installed


@pytest_asyncio.fixture(loop_scope="module", autouse=True)
async def _answers_are_used(wire: Wire) -> AsyncIterator[None]:
    wire.answers.clear()
    yield
    assert not wire.answers


@pytest.fixture
def file(root: Path) -> Path:
    file = root / "trouble.py"
    file.write_text("alpha = 1\nbeta = 2\ngamma = 3\n")
    return file


async def with_server(start: StartNeovim, file: Path) -> Neovim:
    neovim = await start(str(file))
    await neovim.lua(NOTE_EVENTS)
    await neovim.until(READY)
    return neovim


async def kill_server(neovim: Neovim) -> None:
    pid = await neovim.lua("return vim.fn.systemlist({ 'pgrep', '-P', vim.fn.getpid(), '-f', 'odin-lsp' })[1]")
    os.kill(int(pid), signal.SIGKILL)


def held(text: str) -> kit.Answer:
    """The model begins to speak and does not end."""
    return kit.Answer([kit.anthropic_sse(kit.anthropic_start(), *kit.anthropic_text(0, text))], held=True)


async def test_a_server_that_dies_in_a_turn_is_started_again_and_the_turn_goes_on(
    start_neovim: StartNeovim, wire: Wire, file: Path
) -> None:
    neovim = await with_server(start_neovim, file)
    wire.play(says("Yes."))
    await neovim.command("OdinAsk are you there?")
    session = (await outcome(neovim))["sessionId"]
    wire.play(held("I am going to"))
    await neovim.command("OdinAsk and now?")
    await happened(neovim, "OdinTextStreamed", 2)
    await kill_server(neovim)
    await neovim.until_asked()
    await neovim.press("2<CR>")
    shown = await chat(neovim)
    assert shown[:5] == ["## Ask", "", "and now?", "", "I am going to"]
    assert "signal 9" in shown[-1]
    await neovim.command("OdinRestart")
    await neovim.until("#vim.lsp.get_clients({ name = 'odin', bufnr = 0 }) == 1")
    bufnr = await neovim.lua(NAMED, "odin://chat")
    await neovim.until("vim.fn.getbufline(..., '$')[1]:find('OdinContinue continues the turn') ~= nil", bufnr)
    shown = await chat(neovim)
    assert shown[:4] == ["## Ask", "", "and now?", ""]
    assert shown[4].startswith("*aborted")
    wire.play(says("Back again."))
    await neovim.command("OdinContinue")
    end = await outcome(neovim, 2)
    assert end["answer"] == "Back again."
    assert end["sessionId"] == session
    assert (await chat(neovim))[:5] == ["## Ask", "", "and now?", "", "Back again."]
    assert "traceback" not in await neovim.messages()


async def test_without_a_server_every_command_says_what_to_do(start_neovim: StartNeovim, file: Path) -> None:
    neovim = await start_neovim(str(file), PATH="/usr/bin:/bin")
    for command in ("OdinAsk hello", "OdinSessions", "OdinUndo", "OdinInit", "OdinModel"):
        said = await neovim.lua(TRY, command)
        assert f"`odin-lsp` is not installed: run `pipx install {PLUGIN.parents[1]}`" in said
        assert "traceback" not in said
    for command in ("OdinAccept!", "OdinReject", "OdinReview", "OdinCancel"):
        await neovim.command(command)
    await neovim.command("checkhealth odin")
    assert any("is not installed" in line for line in await neovim.lines())
    assert "traceback" not in await neovim.messages()


async def test_the_health_check_warns_if_no_key_is_set(start_neovim: StartNeovim, file: Path) -> None:
    neovim = await start_neovim(str(file), ANTHROPIC_API_KEY="")
    await neovim.until(READY)
    await neovim.command("checkhealth odin")
    assert any("WARNING" in line and "no API key is set" in line for line in await neovim.lines())


async def test_two_neovims_work_on_one_project(start_neovim: StartNeovim, wire: Wire, file: Path) -> None:
    one = await with_server(start_neovim, file)
    two = await with_server(start_neovim, file)
    for neovim, answer in ((one, "to one"), (two, "to two")):
        wire.play(says(answer))
        await neovim.command("OdinAsk hello")
        assert (await outcome(neovim))["answer"] == answer
    reads(wire, file)
    play_calls(wire, change(file, "beta = 2", "beta = 22"))
    wire.play(says())
    await one.command("OdinEdit change it")
    await happened(one, "OdinReviewOpened")
    await one.command("OdinAccept!")
    assert (await outcome(one, 2))["receipts"][0]["state"] == "accepted"
    assert file.read_text() == "alpha = 1\nbeta = 22\ngamma = 3\n"
    await comes(two, LINES, ["alpha = 1", "beta = 22", "gamma = 3"])
    for neovim in (one, two):
        assert "traceback" not in await neovim.messages()


async def test_stock_neovim_asks_and_never_applies_what_nobody_accepted(
    start_neovim: StartNeovim, wire: Wire, file: Path
) -> None:
    neovim = await start_neovim(str(file), plugin=False)
    await neovim.lua(STOCK)
    await neovim.until(READY)
    wire.play(says("It counts."))
    await neovim.lua(EXECUTE, "odin.ask", {"text": "what is it?"})
    await neovim.until("#(_G.outcomes or {}) == 1")
    assert (await neovim.lua("return _G.outcomes[1]"))["answer"] == "It counts."
    await neovim.until("vim.fn.search('It counts.', 'nw') > 0")  # the transcript is shown
    await neovim.command(f"buffer {file}")
    reads(wire, file)
    edits = [
        {"old_string": "alpha = 1", "new_string": "alpha = 11"},
        {"old_string": "gamma = 3", "new_string": "gamma = 33"},
    ]
    play_calls(wire, ("MultiEditTool", {"file_path": str(file), "edits": edits}))
    wire.play(says())
    await neovim.lua(EXECUTE, "odin.edit", {"text": "change it"})
    await neovim.until("#vim.diagnostic.get(0) == 2")
    shown = ["alpha = 1", "beta = 2", "gamma = 3"]
    assert await neovim.lines() == shown
    assert (await neovim.call("nvim_get_mode"))["blocking"] is False
    for line, title in ((1, "Odin: Accept this change"), (3, "Odin: Reject this change")):
        await neovim.call("nvim_win_set_cursor", 0, [line, 0])
        await comes(neovim, LINES, shown)
        shown[0] = "alpha = 11"
        await neovim.lua(CODE_ACTION, title)
        await neovim.until("#vim.diagnostic.get(0) < ...", 2 if line == 1 else 1)
    await neovim.until("#_G.outcomes == 2")
    assert await neovim.lines(await neovim.lua("return vim.fn.bufnr(...)", str(file))) == shown
    assert ": 1 accepted, 1 rejected." in results(wire)[0]
