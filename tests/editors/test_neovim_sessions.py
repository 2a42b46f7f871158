"""A session in a real Neovim: what is shown of it later is what was shown then, and a turn that was cut off goes on."""

import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.e2e.steps import play_calls, says
from tests.editors.conftest import StartNeovim, Write
from tests.editors.neovim import NEWEST, NOTE_EVENTS, READY, Neovim, until
from tests.editors.test_neovim import LINES, NAMED, change, chat, comes, happened, outcome, reads
from tests.support import wire as kit
from tests.support.wire import Wire

pytestmark = [pytest.mark.asyncio(loop_scope="module"), NEWEST]

CHOOSE_FIRST = "vim.ui.select = function(items, _, choose) choose(items[1]) end"
LAST = "return vim.api.nvim_buf_get_lines(..., -2, -1, false)[1]"
SHOWN_ANEW = "require('odin.chat').of_root(vim.fs.normalize(vim.fn.getcwd())).story ~= _G.story"
IN_TWO_PAGES = """
local chat, client = require("odin.chat").current(), vim.lsp.get_clients({ name = "odin" })[1]
require("odin.client.request").execute(chat.root, "session.events", { sessionId = chat.session }, function(page)
  local half = math.floor(#page.events / 2)
  local first, second = vim.list_slice(page.events, 1, half), vim.list_slice(page.events, half + 1)
  chat:restore({ events = second, earlierTurns = 0, before = 1, seq = page.seq }, client.id)
  _G.half = vim.api.nvim_buf_get_lines(chat.transcript.bufnr, 0, -1, false)
  chat:restore_earlier({ events = first, earlierTurns = 0 })
  _G.whole = vim.api.nvim_buf_get_lines(chat.transcript.bufnr, 0, -1, false)
end)
"""
UNDONE = """
local first = _G.finished[1]
local record = { seq = 10000, agentId = "main", turnId = first.turnId, sessionId = first.sessionId, event = ... }
require("odin.client.events").take(record, vim.lsp.get_clients({ name = "odin" })[1].id)
"""
FOLDED = """
local window = vim.fn.win_findbuf(...)[1]
return vim.api.nvim_win_call(window, function()
  return vim.iter(vim.fn.range(1, vim.fn.line("$"))):filter(function(row)
    return vim.fn.foldclosed(row) == row
  end):map(vim.fn.foldtextresult):totable()
end)
"""


@pytest_asyncio.fixture(loop_scope="module")
async def neovim(neovim: Neovim) -> Neovim:
    await neovim.lua(CHOOSE_FIRST)
    return neovim


async def told(neovim: Neovim) -> list[str]:
    """All that the chat shows."""
    return await neovim.lines(await neovim.lua(NAMED, "odin://chat"))


async def told_anew(neovim: Neovim, command: str) -> list[str]:
    """All that it shows when the session has been read again."""
    await neovim.lua("_G.story = require('odin.chat').of_root(vim.fs.normalize(vim.fn.getcwd())).story")
    await neovim.command(command)
    await neovim.until(SHOWN_ANEW)
    return await told(neovim)


def thinks(thought: str, text: str) -> kit.Answer:
    thinking = kit.anthropic_block(
        0, {"type": "thinking", "thinking": "", "signature": ""}, {"type": "thinking_delta", "thinking": thought}
    )
    said = kit.anthropic_text(1, *text.partition(" "))
    return kit.Answer([kit.anthropic_sse(kit.anthropic_start(), *thinking, *said, *kit.anthropic_end("end_turn"))])


def fails(status: int, **headers: str) -> kit.Answer:
    return kit.Answer(
        [kit.anthropic_error(status, "not now")],
        status=status,
        headers={"content-type": "application/json", **headers},
        framing="length",
    )


async def _is_played(wire: Wire) -> bool:
    return not wire.answers


async def turn(neovim: Neovim, command: str, number: int) -> dict[str, Any]:
    await neovim.command(command)
    return await outcome(neovim, number)


async def test_a_session_looks_the_same_while_it_happens_and_when_it_is_read_again(
    neovim: Neovim, start_own_neovim: StartNeovim, wire: Wire, write: Write, own_root: Path
) -> None:
    one, two = write("one.py", "a = 1", "", "", "b = 2"), write("two.py", "c = 3")
    play_calls(wire, ("Grep", {"pattern": "first"}), ("Read", {"file_path": str(own_root / "none.py")}))
    wire.play(thinks("hm\nhm", "It is\n\n- here"))
    await turn(neovim, "OdinAsk where is it?", 1)

    todos = [{"id": "1", "content": "look", "status": "completed"}, {"id": "2", "content": "do", "status": "pending"}]
    play_calls(wire, ("TodoWrite", {"todos": todos}))
    play_calls(wire, ("ExecuteCommand", {"command": "touch made.txt; echo one; echo two"}))
    waits = "until test -e go; do sleep 0.05; done; echo later"
    play_calls(wire, ("ExecuteCommand", {"command": waits, "run_in_background": True}))
    wire.play(says("It ran."), says("It ran, and the rest of the list can wait."))
    await turn(neovim, "OdinEdit run it", 2)
    (own_root / "go").touch()
    await happened(neovim, "OdinBackgroundFinished")

    reads(wire, one, two)
    edits = [{"old_string": "a = 1", "new_string": "a = 11"}, {"old_string": "b = 2", "new_string": "b = 22"}]
    play_calls(
        wire,
        ("MultiEditTool", {"file_path": str(one), "edits": edits}),
        change(two, "c = 3", "c = 33"),
        ("WriteFile", {"file_path": str(own_root / "kept" / "new.py"), "content": "new = 1\n"}),
    )
    wire.play(says("Changed."))
    await neovim.command("OdinEdit change it")
    await happened(neovim, "OdinReviewOpened")
    await neovim.command(f"edit {one}")
    await neovim.command("1OdinReject")
    await neovim.until("#require('odin.review').pending() == 3")
    assert "- ± one.py: 1 rejected, 1 waiting" in await told(neovim)
    await neovim.command("OdinAccept!")
    await outcome(neovim, 3)
    await neovim.command("OdinUndo")
    await neovim.until("vim.fn.execute('messages'):find('3 files restored') ~= nil")
    assert not (own_root / "kept").exists()

    wire.play(fails(400))
    await turn(neovim, "OdinAsk will it fail?", 4)
    shown = await told(neovim)

    assert "- ? May Odin run this command? `touch made.txt; echo one; echo two`: Allow once" in shown
    ran = next(row for row, line in enumerate(shown) if line.startswith("- ✓ ExecuteCommand"))
    assert shown[ran + 1 : ran + 3] == ["  │ one", "  │ two"]
    assert any(line.startswith(f"- ✓ ExecuteCommand: `{waits}`: exit code 0") for line in shown)
    assert [line for line in shown if line.startswith("- ±")] == [
        "- ± one.py: 1 accepted, 1 rejected",
        "- ± two.py: 1 accepted",
        "- ± kept/new.py (create): 1 accepted",
    ]
    assert [line for line in shown if line.startswith("- ✓ EditTool")] == ["- ✓ EditTool: two.py +1 -1"]
    assert [line for line in shown if line.startswith("## ")] == ["## Ask", "## Edit", "## Edit", "## Ask"]
    assert shown[-1] == "*:OdinModel selects another model; :OdinContinue continues the turn*"
    assert await told_anew(neovim, "OdinRestart") == shown
    folded = await neovim.lua(FOLDED, await neovim.lua(NAMED, "odin://chat"))
    assert folded == ["┊ thinking, 2 lines", "  │ output, 2 lines"]
    await neovim.command("only | bwipeout! odin://chat* | OdinChat")
    await comes(neovim, LINES, shown, await neovim.lua(NAMED, "odin://chat"))

    other = await start_own_neovim("first.py")
    await other.lua(CHOOSE_FIRST)
    await neovim.close()
    assert await told_anew(other, "OdinSessions") == shown


async def test_a_session_that_is_read_again_in_the_middle_of_a_turn_tells_nothing_twice(
    neovim: Neovim, wire: Wire, own_root: Path
) -> None:
    reads(wire, own_root / "first.py")
    begun = kit.anthropic_sse(kit.anthropic_start(), *kit.anthropic_text(0, "I am going to"))
    wire.play(kit.Answer([begun], held=True))
    await neovim.command("OdinAsk what is it?")
    await happened(neovim, "OdinTextStreamed")
    await told_anew(neovim, "OdinSessions")
    await neovim.command("OdinCancel")
    assert (await outcome(neovim))["reason"] == "interrupted"
    shown = await told(neovim)
    assert shown[:-1] == ["## Ask", "", "what is it?", "", "- ✓ Read: first.py 1-1", "", "I am going to", ""]
    assert await told_anew(neovim, "OdinRestart") == shown


async def test_what_went_with_a_queued_message_comes_back_with_it(neovim: Neovim, wire: Wire) -> None:
    begun = kit.anthropic_sse(kit.anthropic_start(), *kit.anthropic_text(0, "I am going to"))
    wire.play(kit.Answer([begun], held=True), says("I see"))
    await neovim.command("OdinAsk one")
    await happened(neovim, "OdinTextStreamed")
    await neovim.command("1OdinAsk two")
    await happened(neovim, "OdinTurnQueued")
    await neovim.command("OdinCancel return")
    prompt = await neovim.lua(NAMED, "odin://prompt")
    await comes(neovim, LINES, ["two"], prompt)
    await neovim.command(f"call win_gotoid(bufwinid({prompt}))")
    assert "1 attached" in await neovim.lua("return require('odin.chat.prompt').winbar()")
    await neovim.press("<CR>")
    await neovim.until("vim.iter(_G.finished):any(function(it) return it.answer == 'I see' end)")
    assert "first = 1" in str(wire.request["messages"][-1])

    await neovim.lua("require('odin.chat').current():give_back({ { turnId = 'x', body = 'b', context = {{}} } })")
    assert "1 attached" in await neovim.lua("return require('odin.chat.prompt').winbar()")
    await neovim.press("gg0dG")
    await comes(neovim, LINES, [""], prompt)
    await neovim.until("not require('odin.chat.prompt').winbar():find('attached')")


async def test_queued_messages_go_on_or_come_back_and_a_session_is_cleared(neovim: Neovim, wire: Wire) -> None:
    begun = kit.anthropic_sse(kit.anthropic_start(), *kit.anthropic_text(0, "I am going to"))
    wire.play(kit.Answer([begun], held=True), kit.Answer([begun], held=True))
    await neovim.command("OdinAsk one")
    await happened(neovim, "OdinTextStreamed")
    for text in ("two", "three", "four"):
        await neovim.command(f"OdinAsk {text}")
    await happened(neovim, "OdinTurnQueued", 3)
    await neovim.command("OdinCancel next")
    await happened(neovim, "OdinTextStreamed", 2)
    prompt = await neovim.lua(NAMED, "odin://prompt")
    await neovim.call("nvim_buf_set_lines", prompt, 0, -1, False, ["my draft"])
    await neovim.command("OdinCancel return")
    await comes(neovim, LINES, ["three", "", "four", "", "my draft"], prompt)
    await outcome(neovim, 4)
    assert await neovim.lua("return require('odin').status()") == ""

    await turn(neovim, "OdinAsk !cat first.py", 5)
    shown = await told(neovim)
    assert shown[shown.index("!cat first.py") + 2].startswith("- ✓ ExecuteCommand: `cat first.py`: exit code 0")
    assert shown[shown.index("!cat first.py") + 3] == "    first = 1"
    transcript = await neovim.lua(NAMED, "odin://chat")
    await neovim.command("OdinNote the build is red")
    await neovim.until("vim.fn.execute('messages'):find('reads the note with your next message') ~= nil")
    await comes(neovim, LAST, "*info: noted: the build is red*", transcript)
    noted = await told(neovim)
    assert await told_anew(neovim, "OdinRestart") == noted
    await neovim.command("OdinRemoveLast")
    await neovim.until("vim.fn.execute('messages'):find('removed the last message') ~= nil")
    await comes(neovim, LAST, "*info: removed from what the model reads: the last message*", transcript)
    wire.play(kit.Answer([kit.anthropic_sse(kit.anthropic_start())], held=True))
    await neovim.command("OdinCompact the names")
    await until(lambda: _is_played(wire), "the summary is asked for")
    await neovim.until("require('odin').status():find('compaction stops it', 1, true) ~= nil")
    await neovim.command("OdinCancel compaction")
    await neovim.until("vim.fn.execute('messages'):find('Odin: canceled the compaction; the session') ~= nil")
    wire.play(says("In short."))
    await neovim.command("OdinCompact the names")
    await neovim.until("vim.fn.execute('messages'):find('Odin: compacted the session from') ~= nil")

    assert await told_anew(neovim, "OdinClear") == [""]
    wire.play(says("Nothing."))
    await neovim.command("OdinAsk what was said?")
    await neovim.until("_G.finished[#_G.finished].answer == 'Nothing.'")
    assert "first = 1" not in str(wire.request["messages"])


async def test_a_turn_that_was_undone_says_so_at_its_end(neovim: Neovim, wire: Wire, own_root: Path) -> None:
    for number in (1, 2):
        wire.play(says(f"answer {number}"))
        await turn(neovim, f"OdinAsk question {number}", number)
    kept = {"uri": (own_root / "first.py").as_uri(), "reason": "it has changed since"}
    await neovim.lua(UNDONE, {"kind": "turnUndone", "restored": [(own_root / "two.py").as_uri()], "kept": [kept]})
    shown = await told(neovim)
    end = shown.index("*undone: 1 file restored; first.py stays: it has changed since*")
    assert shown[end - 1].startswith("*end turn")
    assert shown[end + 1 : end + 5] == ["", "## Ask", "", "question 2"]


async def test_earlier_messages_are_shown_page_by_page(neovim: Neovim, wire: Wire) -> None:
    for number in range(1, 4):
        wire.play(says(f"answer {number}"))
        await turn(neovim, f"OdinAsk question {number}", number)
    shown = await told(neovim)
    await neovim.lua("require('odin.session.sessions').PAGE = 1")

    last = await told_anew(neovim, "OdinRestart")
    assert last[:4] == ["*2 earlier messages: p or :OdinSessions earlier shows more*", "", "## Ask", ""]
    assert last[2:] == shown[-len(last) + 2 :]
    await neovim.command("OdinSessions earlier")
    await until_told(neovim, "*1 earlier message: p or :OdinSessions earlier shows more*")
    await neovim.command("wincmd l | wincmd k")
    await neovim.press("p")
    await until_told(neovim, "## Ask")
    assert await told(neovim) == shown


async def test_a_turn_that_is_too_long_for_a_page_is_shown_from_where_it_is_cut(
    neovim: Neovim, wire: Wire, own_root: Path
) -> None:
    reads(wire, own_root / "first.py")
    wire.play(says("It is one."))
    await turn(neovim, "OdinAsk what is it?", 1)
    shown = await told(neovim)
    await neovim.lua(IN_TWO_PAGES)
    await neovim.until("_G.whole ~= nil")
    half = await neovim.lua("return _G.half")
    assert half[0] == "*more above: p or :OdinSessions earlier shows more*"
    assert half[-4:] == shown[-4:]
    assert await neovim.lua("return _G.whole") == shown


async def until_told(neovim: Neovim, first: str) -> None:
    """Wait until this is the chat's first line."""
    bufnr = await neovim.lua(NAMED, "odin://chat")
    await neovim.until("vim.fn.getbufoneline(({...})[1], 1) == ({...})[2]", bufnr, first)


async def test_a_turn_that_has_failed_says_what_helps_and_goes_on(neovim: Neovim, wire: Wire, own_root: Path) -> None:
    reads(wire, own_root / "first.py")
    wire.play(fails(401))
    assert (await turn(neovim, "OdinAsk what is it?", 1))["problem"]["kind"] == "key"
    shown = await chat(neovim)
    assert shown[-2].startswith("*failed: ")
    assert shown[-1] == "*:let $ANTHROPIC_API_KEY = 'your key', then :OdinRestart; :OdinContinue continues the turn*"

    await told_anew(neovim, "OdinRestart")
    wire.play(says("It is one."))
    assert (await turn(neovim, "OdinContinue", 2))["reason"] == "end_turn"
    assert [line for line in await told(neovim) if line.startswith(("## ", "- ", "*failed"))] == [
        "## Ask",
        "- ✓ Read: first.py 1-1",
    ]
    assert (await chat(neovim))[-3] == "It is one."


async def test_a_limit_says_when_it_is_over(neovim: Neovim, wire: Wire) -> None:
    wire.play(fails(429, **{"retry-after": "7200"}))
    end = await turn(neovim, "OdinAsk what is it?", 1)
    assert end["problem"]["kind"] == "limited"
    line = (await chat(neovim))[-1]
    assert re.fullmatch(r"\*the provider may answer again at \d\d:\d\d; :OdinContinue continues the turn then\*", line)


async def test_what_a_killed_server_had_begun_goes_on_in_the_next_neovim(
    neovim: Neovim, start_own_neovim: StartNeovim, wire: Wire, own_root: Path
) -> None:
    reads(wire, own_root / "first.py")
    begun = kit.anthropic_sse(kit.anthropic_start(), *kit.anthropic_text(0, "I am going to"))
    wire.play(kit.Answer([begun], held=True))
    await neovim.command("OdinAsk what is it?")
    await happened(neovim, "OdinTextStreamed")
    wire.hung_up.clear()
    os.kill(neovim.process.pid, signal.SIGKILL)
    await neovim.close()
    await wire.hung_up.wait()

    other = await start_own_neovim("first.py")
    await other.lua(NOTE_EVENTS)
    await other.until(READY)
    wire.play(says("It is one."))
    await other.command("OdinContinue")
    assert (await outcome(other))["answer"] == "It is one."
    shown = await chat(other)
    assert shown[:5] == ["## Ask", "", "what is it?", "", "- ✓ Read: first.py 1-1"]
    assert "It is one." in shown
