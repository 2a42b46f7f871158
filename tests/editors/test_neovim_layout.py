"""Where the chat stands in a real Neovim, and which keys there are while something waits for a person."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.e2e.steps import play_calls, results, says
from tests.editors.conftest import StartNeovim
from tests.editors.neovim import NEWEST, NOTE_EVENTS, READY, Neovim, until
from tests.support import wire as kit
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="module")

WINDOWS = """
return vim.iter(vim.api.nvim_tabpage_list_wins(0)):map(function(it)
  local name = vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(it))
  local kind = name:match("^odin://(%w+)") or vim.fs.basename(name)
  return { kind, vim.api.nvim_win_get_width(it), vim.api.nvim_win_get_config(it).relative }
end):totable()
"""
SHOW = "vim.o.columns, vim.o.lines, vim.g.odin = ...; vim.cmd('OdinChat')"
MAPPED = "return vim.tbl_map(function(it) return it.lhs end, vim.api.nvim_buf_get_keymap(0, 'n'))"
ANSWERS = "return vim.fn.maparg([[<C-\\>1]], 'i') ~= ''"
AT_END = "return vim.fn.line('w$', ...) == vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(...))"
COUNT = """
_G.redrawn, _G.counted = 0, 0
_G.plain = { redrawstatus = vim.cmd.redrawstatus, all = require("odin.review").all }
vim.cmd.redrawstatus = function(...) _G.redrawn = _G.redrawn + 1; return _G.plain.redrawstatus(...) end
require("odin.review").all = function(...) _G.counted = _G.counted + 1; return _G.plain.all(...) end
"""
COUNT_NO_MORE = "vim.cmd.redrawstatus, require('odin.review').all = _G.plain.redrawstatus, _G.plain.all"
OFFERED = "vim.list_contains(vim.tbl_map(function(it) return it.word end, vim.fn.complete_info().items), ...)"
TAKE_FIRST = """
_G.plain_select = vim.ui.select
vim.ui.select = function(items, about, choose)
  _G.line = about.format_item(items[1])
  choose(items[1])
end
"""
LISTEN = """
_G.told, _G.plain_notify = {}, vim.notify
vim.notify = function(text, ...) table.insert(_G.told, text) return _G.plain_notify(text, ...) end
"""
LONG = "require('odin.words').say(('a provider says much, '):rep(20) .. 'on\\ntwo lines', vim.log.levels.ERROR)"
SPEAKING = (
    *("OdinModel", "OdinTrust restrict", "OdinTrust", "OdinRole builder", "OdinPermissions", "OdinExtensions"),
    *("OdinPlan run", "OdinSteer go on", "OdinNote use tabs", "OdinRemoveLast", "OdinRemoveLast", "OdinComments"),
    *("OdinReview", "OdinReview next", "OdinAccept", "OdinReopen", "OdinUndo!", "OdinCancel"),
)
"""Each says something."""
KEYS = {"]o", "[o", "\\oy", "\\on", "\\ou", "\\oe"}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def shared(start_neovim: StartNeovim, root: Path) -> Neovim:
    (root / "code.py").write_text("one = 1\n\n\n\ntwo = 2\n")
    neovim = await start_neovim("code.py")
    await neovim.command("set nomore")  # what goes wrong is to be read, not to be waited for
    await neovim.lua(NOTE_EVENTS)
    await neovim.until(READY)
    return neovim


@pytest_asyncio.fixture(loop_scope="module")
async def neovim(shared: Neovim, root: Path) -> AsyncIterator[Neovim]:
    await shared.command("stopinsert | silent! tabonly | silent! %bwipeout! | silent! only | messages clear")
    await shared.until("vim.fn.mode() == 'n'")  # else what ends the mode of one test would end that of the next
    await shared.command(f"edit {root / 'code.py'}")
    await shared.lua("vim.o.columns, vim.g.odin, _G.events, _G.finished = 120, nil, {}, {}")
    yield shared
    assert "traceback" not in await shared.messages()


@pytest.mark.parametrize(("columns", "code"), [(60, 30), (80, 40), (100, 40), (200, 119)])
async def test_the_code_can_still_be_read_beside_the_chat(neovim: Neovim, columns: int, code: int) -> None:
    await neovim.lua(SHOW, columns, 24)
    widths = {kind: width for kind, width, _ in await neovim.lua(WINDOWS)}
    assert widths["code.py"] >= code - 1
    assert sum(widths[it] for it in ("code.py", "chat")) == columns - 1


async def test_the_chat_stands_where_it_is_wanted(neovim: Neovim) -> None:
    for position, order in (
        ("right", ["code.py", "chat", "prompt"]),
        ("left", ["chat", "prompt", "code.py"]),
        ("bottom", ["code.py", "chat", "prompt"]),
    ):
        await neovim.lua(SHOW, 120, 40, {"chat_position": position})
        assert [kind for kind, *_ in await neovim.lua(WINDOWS)] == order
        await neovim.command("stopinsert | OdinChat")
        assert [kind for kind, *_ in await neovim.lua(WINDOWS)] == ["code.py"]
    await neovim.lua(SHOW, 120, 40, {"chat_position": "float"})
    places = {kind: relative for kind, _, relative in await neovim.lua(WINDOWS)}
    assert places == {"code.py": "", "chat": "editor", "prompt": "editor"}
    await neovim.command("stopinsert | OdinChat")
    await neovim.lua(SHOW, 120, 40, {"chat_position": "tab"})
    assert [kind for kind, *_ in await neovim.lua(WINDOWS)] == ["chat", "prompt"]
    assert len(await neovim.call("nvim_list_tabpages")) == 2


async def test_the_prompt_is_entered_and_left_by_one_command(neovim: Neovim) -> None:
    await neovim.command("OdinChat")
    await neovim.until("vim.fn.mode() == 'i'")
    assert "<C-s> send" in await neovim.lua("return require('odin.chat.prompt').winbar()")
    await neovim.press("<Esc>")
    await neovim.until("vim.fn.mode() == 'n'")
    assert "<CR> send" in await neovim.lua("return require('odin.chat.prompt').winbar()")
    assert (await neovim.lua("return require('odin.session.status').winbar()")).startswith("Odin: new session")
    await neovim.command("wincmd t | OdinChat")
    assert (await neovim.lua("return vim.api.nvim_buf_get_name(0)")).startswith("odin://prompt")


async def test_the_last_window_with_code_takes_the_chat_with_it(neovim: Neovim) -> None:
    await neovim.command("tab split | OdinChat")
    await neovim.command("stopinsert | wincmd t | quit")
    assert len(await neovim.call("nvim_list_tabpages")) == 1


async def test_nothing_of_the_chat_is_left_in_its_window(neovim: Neovim, root: Path) -> None:
    before = await neovim.lua("return { vim.wo.foldmethod, vim.wo.winbar }")
    await neovim.command("OdinChat")
    await neovim.command("stopinsert | wincmd t | only! | wincmd t")
    await neovim.command("OdinChat")
    await neovim.command("stopinsert | wincmd k | only! | bwipeout!")
    await neovim.until("not vim.wo.winfixbuf")
    await neovim.command(f"edit {root / 'code.py'}")
    assert await neovim.lua("return { vim.wo.foldmethod, vim.wo.winbar }") == before


async def test_the_windows_of_the_chat_show_nothing_else(neovim: Neovim, root: Path) -> None:
    await neovim.command("OdinChat")
    await neovim.command("stopinsert")
    for window in ("b", "k"):
        await neovim.command(f"wincmd {window}")
        before = await neovim.lua("return vim.api.nvim_buf_get_name(0)")
        assert not await neovim.lua("return (pcall(vim.cmd.edit, ...))", str(root / "code.py"))
        assert await neovim.lua("return vim.api.nvim_buf_get_name(0)") == before


async def test_a_message_is_sent_by_return_while_it_is_typed_if_that_is_wanted(neovim: Neovim, wire: Wire) -> None:
    wire.play(says("Sent."))
    await neovim.lua(SHOW, 120, 40, {"send_in_insert": True})
    await neovim.until("vim.fn.mode() == 'i'")
    await neovim.press("first<C-j>second<CR>")
    await neovim.until("#_G.finished == 1")
    chat = await neovim.lua("return vim.fn.bufnr('odin://chat')")
    assert (await neovim.lines(chat))[-7:-4] == ["", "first", "second"]
    assert await neovim.lua("return vim.fn.mode()") == "i"


async def test_the_chat_goes_to_its_end_with_a_message_and_with_a_session(neovim: Neovim, wire: Wire) -> None:
    wire.play(says("\n\n".join(f"line {number}" for number in range(90))), says("short"))
    await neovim.lua(SHOW, 120, 24)
    await neovim.command("stopinsert | OdinAsk one")
    await neovim.until("#_G.finished == 1")
    window = await neovim.lua("return vim.fn.win_findbuf(vim.fn.bufnr('odin://chat'))[1]")
    await neovim.call("nvim_win_set_cursor", window, [1, 0])
    await neovim.command("OdinAsk two")
    await neovim.until("#_G.finished == 2")
    assert await neovim.lua(AT_END, window)
    await neovim.call("nvim_win_set_cursor", window, [1, 0])
    await neovim.lua("_G.story = require('odin.chat').current().story")
    await neovim.lua("require('odin.session.sessions').resume(...)", await neovim.lua("return vim.b.odin_root"))
    await neovim.until("require('odin.chat').current().story ~= _G.story")
    assert await neovim.lua(AT_END, window)


async def test_what_is_streamed_redraws_no_statusline(neovim: Neovim, wire: Wire) -> None:
    pieces = [f"piece {number} " for number in range(100)]
    text = kit.anthropic_text(0, *pieces)
    wire.play(kit.Answer([kit.anthropic_sse(kit.anthropic_start(), *text, *kit.anthropic_end("end_turn"))]))
    await neovim.lua(COUNT)
    await neovim.command("OdinAsk say much")
    await neovim.until("#_G.finished == 1")
    assert await neovim.lua("return _G.events.OdinTextStreamed") > 2 * await neovim.lua("return _G.redrawn")
    assert await neovim.lua("for _ = 1, 100 do require('odin').status() end return _G.counted") <= 1
    await neovim.lua(COUNT_NO_MORE)


async def test_a_question_is_asked_in_a_terminal_that_nobody_types_in(neovim: Neovim, wire: Wire) -> None:
    play_calls(wire, ("AskUser", {"question": "Which?", "options": [{"label": "This"}, {"label": "That"}]}))
    wire.play(says("I see."))
    await neovim.command("terminal cat")
    await neovim.until("vim.api.nvim_get_mode().mode == 'nt'")
    await neovim.lua("vim.ui.select = function(items, _, choose) choose(items[2]) end")
    await neovim.command("OdinAsk which one?")
    await neovim.until("#_G.finished == 1")
    assert "The user answered: That" in results(wire)[0]
    await neovim.command("bwipeout!")


async def test_keys_decide_while_changes_wait_and_are_gone_after_that(neovim: Neovim, wire: Wire, root: Path) -> None:
    path = str(root / "code.py")
    await neovim.lua("vim.o.columns = 80")
    await neovim.command("nnoremap <buffer> <Leader>oe :echo 'mine'<CR>")
    play_calls(wire, ("Read", {"file_path": path}))
    edits = [{"old_string": f"= {n}", "new_string": f"= {n}0"} for n in (1, 2)]
    play_calls(wire, ("MultiEditTool", {"file_path": path, "edits": edits}))
    wire.play(says("Done."))
    await neovim.command("OdinEdit ten times as much")
    await neovim.until("(_G.events.OdinReviewOpened or 0) > 0")
    await neovim.until("vim.fn.maparg(']o', 'n') ~= ''")
    assert "\\oy accept · \\on reject · ]o next" in await neovim.messages()
    assert set(await neovim.lua(MAPPED)) >= KEYS
    assert "mine" in await neovim.lua("return vim.fn.maparg([[<Leader>oe]], 'n')")
    await neovim.press("gg[o]o")
    await neovim.until("require('odin').status():find('2 to review %(1 of 2%)') ~= nil")
    await neovim.press("\\oy")
    await neovim.until("require('odin').status():find('1 to review') ~= nil")
    await neovim.until("vim.fn.line('.') == 5")
    await neovim.press("\\on")
    await neovim.until("#_G.finished == 1")
    assert await neovim.lines() == ["one = 10", "", "", "", "two = 2"]
    assert set(await neovim.lua(MAPPED)) & KEYS == {"\\oe"}
    await neovim.command("silent undo | silent write")


async def test_a_question_is_answered_while_the_user_types(neovim: Neovim, wire: Wire, root: Path) -> None:
    play_calls(wire, ("ExecuteCommand", {"command": "touch made.txt"}))
    wire.play(says("Made."))
    await neovim.lua("vim.o.columns = 80")
    await neovim.press("i")
    await neovim.command("OdinEdit make a file")
    await neovim.until("(_G.events.OdinQuestion or 0) > 0")
    await neovim.command("normal! zz")  # which leaves the mode and comes back to it
    await neovim.lua("vim.schedule(function() _G.events.later = 1 end)")
    await neovim.until("_G.events.later")
    assert "a question waits" in await neovim.lua("return require('odin').status()")
    assert any("<C-\\>1  Allow once" in line for line in await _floating(neovim))
    await neovim.press("x<C-\\>1")
    await neovim.until("#_G.finished == 1")
    assert (root / "made.txt").exists()
    assert await neovim.lua("return { vim.fn.mode(), vim.fn.getline(1):sub(1, 1) }") == ["i", "x"]
    assert not await neovim.lua(ANSWERS)
    await neovim.press("<Esc>")
    await neovim.command("silent edit!")


async def test_no_message_stops_whoever_works_at_80_columns(neovim: Neovim, wire: Wire, root: Path) -> None:
    """With a screen: where a message does not fit, Neovim waits for a key."""
    path = str(root / "code.py")
    await neovim.call("nvim_ui_attach", 80, 24, {})
    await neovim.lua(LISTEN)
    for number, command in enumerate(SPEAKING, 1):
        await neovim.command(command)
        await unblocked(neovim, number)
    play_calls(wire, ("Read", {"file_path": path}))
    play_calls(wire, ("EditTool", {"file_path": path, "old_string": "one = 1", "new_string": "one = 10"}))
    play_calls(wire, ("ExecuteCommand", {"command": "touch made.txt"}))
    wire.play(says("Done."))
    await neovim.press("i")
    await neovim.command("OdinEdit ten times as much")
    await unblocked(neovim, len(SPEAKING) + 1)
    await neovim.lua(LONG)
    await unblocked(neovim, len(SPEAKING) + 2)
    await neovim.command("OdinReject!")
    await neovim.until("(_G.events.OdinQuestion or 0) > 0")
    await unblocked(neovim, len(SPEAKING) + 3)
    await neovim.press("<C-\\>2")
    await neovim.until("#_G.finished == 1")
    said = await neovim.lua("vim.notify = _G.plain_notify return _G.told")
    await neovim.call("nvim_ui_detach")
    assert said[-1].startswith("Odin: Odin has a question")
    assert all(len(text) < 80 for text in said)
    await neovim.press("<Esc>")


@NEWEST
async def test_the_prompt_completes_while_it_is_typed(neovim: Neovim) -> None:
    await neovim.command("OdinChat")
    await neovim.until("vim.fn.mode() == 'i' and #vim.lsp.get_clients({ name = 'odin', bufnr = 0 }) == 1")
    for typed, offered in (("/", "/help"), ("<C-e><C-u>see @", "@code.py")):
        await neovim.press(typed)
        await neovim.until(OFFERED, offered)
    await neovim.press("<C-e><C-u><Esc>")


async def test_extensions_are_listed_with_why_one_is_not_used(neovim: Neovim, root: Path) -> None:
    skill = root / ".claude" / "skills" / "deploy" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: deploy\ndescription: How this is shipped\n---\n\nRun it.\n")
    await neovim.command("OdinTrust restrict")
    await neovim.until("vim.fn.execute('messages'):find('can only tighten') ~= nil")
    await neovim.lua(TAKE_FIRST)
    await neovim.command("OdinExtensions")
    await neovim.until("vim.api.nvim_buf_get_name(0) == ...", str(skill))
    about = "skill deploy (not used: you have not agreed to it): How this is shipped"
    assert await neovim.lua("vim.ui.select = _G.plain_select return _G.line") == about
    shutil.rmtree(root / ".claude")


async def test_the_help_is_found(neovim: Neovim) -> None:
    for topic in ("odin", ":OdinAsk", "odin-review", "odin-plans", "odin-troubleshooting", "odin-chat_position"):
        await neovim.command(f"help {topic}")
        assert (await neovim.lua("return vim.api.nvim_buf_get_name(0)")).endswith("doc/odin.txt")


async def unblocked(neovim: Neovim, messages: int) -> None:
    """So much was said, and nothing waits for a key."""

    async def is_said() -> bool:
        assert not (await neovim.call("nvim_get_mode"))["blocking"]
        return len(await neovim.lua("return _G.told")) >= messages

    await until(is_said, f"{messages} messages")
    assert not (await neovim.call("nvim_get_mode"))["blocking"], await neovim.lua("return _G.told")


async def _floating(neovim: Neovim) -> list[Any]:
    return await neovim.lua("""
        return vim.iter(vim.api.nvim_list_wins()):filter(function(it)
          return vim.api.nvim_win_get_config(it).relative ~= ""
        end):map(function(it)
          return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(it), 0, -1, false)
        end):flatten():totable()
    """)
