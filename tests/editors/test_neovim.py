"""The plugin in a real Neovim with the real server: what a person does, and what they see."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.e2e.steps import play_calls, results, says
from tests.editors.conftest import StartNeovim
from tests.editors.neovim import Neovim, until
from tests.support import wire as kit
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOTE_EVENTS = """
_G.events, _G.finished = {}, {}
vim.api.nvim_create_autocmd("User", { pattern = "Odin*", callback = function(event)
  _G.events[event.match] = (_G.events[event.match] or 0) + 1
  if event.match == "OdinTurnFinished" then
    table.insert(_G.finished, event.data.event.outcome)
  end
end })
"""
READY = "vim.iter(vim.lsp.get_clients({ name = 'odin' })):any(function(it) return it.initialized end)"
NAMED = """
for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
  if vim.startswith(vim.api.nvim_buf_get_name(bufnr), ...) then return bufnr end
end
return 0
"""
DRAWN = """
local found = {}
local space = vim.api.nvim_get_namespaces()["odin.review"]
for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })) do
  for _, line in ipairs(mark[4].virt_lines or {}) do
    local words = vim.iter(line):map(function(it) return it[1] end):join("")
    table.insert(found, ("%d + %s"):format(mark[2] + 1, words))
  end
  if mark[4].line_hl_group then
    table.insert(found, ("%d -"):format(mark[2] + 1))
  end
end
table.sort(found)
return found
"""

LINES = "return vim.api.nvim_buf_get_lines(... or 0, 0, -1, false)"

Write = Callable[..., Path]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def shared(start_neovim: StartNeovim, root: Path) -> Neovim:
    (root / "first.py").write_text("first = 1\n")
    neovim = await start_neovim("first.py")
    await neovim.lua(NOTE_EVENTS)
    await neovim.until(READY)
    return neovim


@pytest_asyncio.fixture(loop_scope="module")
async def neovim(shared: Neovim, wire: Wire) -> AsyncIterator[Neovim]:
    """As if it had just been started; and no test leaves an error behind."""
    await shared.press("<C-\\><C-n>")
    await shared.until("vim.fn.mode() == 'n'")
    await shared.command("silent! tabonly | silent! only | silent! %bwipeout! | messages clear")
    await shared.lua("_G.events, _G.finished = {}, {}")
    wire.answers.clear()
    yield shared
    said = await shared.messages()
    await shared.lua("require('odin').cancel({ queue = true })")
    await shared.until("not require('odin').status():find('ask') and not require('odin').status():find('edit')")
    assert "traceback" not in said, said
    assert not wire.answers


@pytest.fixture
def write(root: Path) -> Write:
    def write(name: str, *lines: str) -> Path:
        path = root / name
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    return write


async def outcome(neovim: Neovim, number: int = 1) -> dict[str, Any]:
    """How a turn has ended."""
    await neovim.until("#_G.finished >= ...", number)
    return await neovim.lua("return _G.finished[...]", number)


async def comes(neovim: Neovim, code: str, expected: Any, *arguments: Any) -> None:
    """Wait until the Lua code returns what is expected."""
    seen: list[Any] = []

    async def is_there() -> bool:
        seen[:] = [await neovim.lua(code, *arguments)]
        return seen == [expected]

    try:
        await until(is_there, f"{expected}")
    except AssertionError as error:
        raise AssertionError(f"{error}, but {seen}\nNeovim has said:\n{await neovim.messages()}") from None


async def happened(neovim: Neovim, event: str, times: int = 1) -> None:
    await neovim.until("(_G.events[({...})[1]] or 0) >= ({...})[2]", event, times)


async def chat(neovim: Neovim) -> list[str]:
    """The last turn, as the chat shows it."""
    lines = await neovim.lines(await neovim.lua(NAMED, "odin://chat"))
    headings = [row for row, line in enumerate(lines) if line.startswith("## ")]
    return lines[headings[-1] :]


async def attached(neovim: Neovim, file: Path) -> None:
    await neovim.command(f"edit {file}")
    await neovim.until("#vim.lsp.get_clients({ name = 'odin', bufnr = 0 }) == 1")


def told(wire: Wire) -> str:
    """All that the model was told in the last request."""
    blocks = [block for message in wire.request["messages"] for block in message["content"]]
    return "\n".join(block["text"] for block in blocks if block["type"] == "text")


def reads(wire: Wire, *files: Path) -> None:
    play_calls(wire, *(("Read", {"file_path": str(file)}) for file in files))


def change(file: Path, old: str, new: str) -> tuple[str, dict[str, Any]]:
    return "EditTool", {"file_path": str(file), "old_string": old, "new_string": new}


async def test_a_question_about_a_selection_streams_into_the_chat(neovim: Neovim, wire: Wire, write: Write) -> None:
    file = write("greet.py", "def greet(name):", "    return f'hello {name}'")
    await attached(neovim, file)
    await neovim.lua(
        "vim.diagnostic.set(vim.api.nvim_create_namespace('test'), 0, "
        "{ { lnum = 1, col = 0, message = 'no type', severity = 2 } })"
    )
    thinking = kit.anthropic_block(
        0, {"type": "thinking", "thinking": "", "signature": ""}, {"type": "thinking_delta", "thinking": "hm\nhm"}
    )
    text = kit.anthropic_text(1, "It greets", "\n\n- by name")
    wire.play(kit.Answer([kit.anthropic_sse(kit.anthropic_start(), *thinking, *text, *kit.anthropic_end("end_turn"))]))
    window = await neovim.call("nvim_get_current_win")
    await neovim.press("jfhve:OdinAsk what does this do?<CR>")
    assert (await outcome(neovim))["reason"] == "end_turn"
    assert await neovim.call("nvim_get_current_win") == window
    assert await neovim.call("nvim_win_get_cursor", window) == [2, 13]
    shown = await chat(neovim)
    assert shown[:3] == ["## Ask", "", "what does this do?"]
    assert shown[4:-2] == ["┊ hm", "┊ hm", "", "It greets", "", "- by name"]
    assert "tokens in, 17 out" in shown[-1]
    chat_window = await neovim.lua("return vim.fn.win_findbuf(...)[1]", await neovim.lua(NAMED, "odin://chat"))
    folded = "vim.api.nvim_win_call(..., function() return vim.fn.foldclosed(vim.fn.search('┊', 'wn')) end)"
    assert await neovim.lua(f"return {folded}", chat_window) > 0
    assert f'<context kind="selection" file="{file}" lines="2-2">\nhello\n</context>' in told(wire)
    assert "line 2: warning: no type" in told(wire)


async def test_a_plan_shows_its_todos(neovim: Neovim, wire: Wire, write: Write) -> None:
    await attached(neovim, write("plan.py", "x = 1"))
    todos = [("look", "completed"), ("write", "in_progress"), ("test", "pending")]
    items = [{"id": str(index), "content": text, "status": status} for index, (text, status) in enumerate(todos)]
    play_calls(wire, ("TodoWrite", {"todos": items}))
    wire.play(says("First this, then that."))
    await neovim.command("OdinPlan make it better")
    assert (await outcome(neovim))["mode"] == "plan_mode"
    shown = await chat(neovim)
    assert shown[0] == "## Plan"
    assert "First this, then that." in shown
    assert [line for line in shown if line.startswith("- [")] == ["- [x] look", "- [ ] **write**", "- [ ] test"]
    assert any(line.startswith("- ✓ TodoWrite") for line in shown)


async def test_three_files_are_reviewed_hunk_by_hunk(neovim: Neovim, wire: Wire, write: Write, root: Path) -> None:
    one = write("one.py", "alpha = 1", "beta = 2", "gamma = 3", "", "", "", "delta = 4")
    two = write("two.py", "first", "second", "third")
    three = write("three.py", "uno", "dos", "tres")
    await attached(neovim, one)
    reads(wire, one, two, three)
    edits = [
        {"old_string": "beta = 2\n", "new_string": "beta = 2\nnew = 0\n"},
        {"old_string": "delta = 4", "new_string": "delta = 44"},
    ]
    play_calls(
        wire,
        ("MultiEditTool", {"file_path": str(one), "edits": edits}),
        change(two, "second\n", ""),
        change(three, "dos", "zwei"),
    )
    wire.play(says())
    await neovim.command("OdinEdit change them")
    await happened(neovim, "OdinReviewOpened")

    assert await neovim.lua(DRAWN) == ["2 + new = 0", "7 + delta = 44", "7 -"]
    assert "4 to review" in await neovim.lua("return require('odin').status()")
    await neovim.press("gg0ifirst = 0<CR><Esc>")  # typing elsewhere moves the rest along
    await comes(neovim, DRAWN, ["3 + new = 0", "8 + delta = 44", "8 -"])
    await neovim.command("OdinReview")
    places = "vim.iter(vim.fn.getqflist()):map(function(it) return it.lnum end):totable()"
    assert await neovim.lua(f"return {places}") == [3, 8, 2, 2]
    await neovim.command("cclose")
    await neovim.command("8OdinAccept")
    await neovim.command("3OdinReject not needed")
    await comes(neovim, DRAWN, [])

    await neovim.command(f"buffer {two}")
    assert await neovim.lua(DRAWN) == ["2 -"]
    await neovim.command("2OdinAccept")
    await neovim.command(f"buffer {three}")
    await neovim.press("jj:OdinReview diff<CR>")
    texts = "vim.iter(vim.api.nvim_tabpage_list_wins(0)):map(function(it) return vim.wo[it].diff end):totable()"
    await neovim.until("vim.fn.tabpagenr('$') == 2")
    assert await neovim.lua(f"return {texts}") == [True, True]
    assert await neovim.lines(await neovim.lua(NAMED, "odin://proposed")) == ["uno", "zwei", "tres"]
    await neovim.command("tabclose")
    await neovim.press("gg:2<CR>:OdinReview edit<CR>")
    await neovim.until("vim.startswith(vim.api.nvim_buf_get_name(0), 'odin://hunk')")
    await neovim.press("cczwo<Esc>:w<CR>")

    end = await outcome(neovim)
    assert [it["state"] for it in end["receipts"]] == ["rejected", "accepted", "accepted", "modified"]
    first, second, third = results(wire)
    assert first.startswith("Of 2 hunks: 1 rejected, 1 accepted.\n- rejected: not needed")
    assert second.startswith("The user accepted the edit.")
    assert "modified by the user to:\nzwo" in third
    assert one.read_text() == "alpha = 1\nbeta = 2\ngamma = 3\n\n\n\ndelta = 4\n"  # the user has typed there
    assert two.read_text() == "first\nthird\n"
    assert three.read_text() == "uno\nzwo\ntres\n"
    await neovim.until("vim.fn.bufnr() == vim.fn.bufnr(...)", str(three))
    await neovim.press("u")
    await comes(neovim, LINES, ["uno", "dos", "tres"])
    await neovim.command(f"buffer {one}")
    assert (await neovim.lines())[-1] == "delta = 44"
    await neovim.press("u")
    await comes(neovim, LINES, ["first = 0", "alpha = 1", "beta = 2", "gamma = 3", "", "", "", "delta = 4"])


async def test_a_turn_is_cancelled_by_a_key_and_the_next_waits_its_turn(
    neovim: Neovim, wire: Wire, write: Write
) -> None:
    await attached(neovim, write("cancel.py", "x = 1"))
    start = kit.anthropic_sse(kit.anthropic_start(), *kit.anthropic_text(0, "Well"))
    wire.play(kit.Answer([start], held=True), says("two"), says("three"))
    await neovim.command("OdinAsk one")
    await happened(neovim, "OdinTextStreamed")
    await neovim.command("OdinAsk two")
    await neovim.command("OdinAsk three")
    await happened(neovim, "OdinTurnQueued", 2)
    queue = "vim.api.nvim_buf_get_extmarks(..., vim.api.nvim_get_namespaces()['odin.queue'], 0, -1, { details = true })"
    [mark] = await neovim.lua(f"return {queue}", await neovim.lua(NAMED, "odin://chat"))
    assert [line[0][0] for line in mark[3]["virt_lines"]] == ["queued: two", "queued: three"]
    assert "2 queued" in await neovim.lua("return require('odin').status()")
    await neovim.command("OdinChat")  # closes it
    await neovim.command("OdinChat")  # opens it, and enters its prompt
    await neovim.press("<C-c>")
    assert (await outcome(neovim))["reason"] == "interrupted"
    assert [(await outcome(neovim, number))["answer"] for number in (2, 3)] == ["two", "three"]
    assert (await chat(neovim))[2] == "three"
    assert await neovim.lua("return require('odin').status()") == ""


async def test_the_prompt_completes_mentions_and_is_sent_by_a_key(neovim: Neovim, wire: Wire, write: Write) -> None:
    await attached(neovim, write("mention.py", "mentioned = 1"))
    wire.play(says("I see"))
    await neovim.command("OdinChat")
    await neovim.press("ilook at @ment<C-x><C-o>")
    await neovim.until("vim.fn.getline('.') == 'look at @mention.py'")
    await neovim.press(" #<C-x><C-u><C-n><C-e><Esc>")
    assert await neovim.lua("return require('odin.context').complete(0, '#d')") == ["#diagnostics"]
    await neovim.press("<CR>")
    assert (await outcome(neovim))["answer"] == "I see"
    assert "mentioned = 1" in told(wire)
    assert await neovim.lines() == [""]


async def test_a_command_is_shown_in_full_and_denied(neovim: Neovim, wire: Wire, write: Write, root: Path) -> None:
    await attached(neovim, write("deny.py", "x = 1"))
    play_calls(wire, ("ExecuteCommand", {"command": "touch made.txt && echo 'all of it'"}))
    wire.play(says("Then not."))
    await neovim.press("i")  # while the user types nothing is asked
    await neovim.command("OdinEdit make a file")
    await happened(neovim, "OdinQuestion")
    text = "vim.iter(vim.api.nvim_list_wins()):map(function(it) return vim.api.nvim_win_get_config(it).relative ~= '' "
    text += "and table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(it), 0, -1, false), '\\n') or '' "
    text += "end):join('')"
    shown = await neovim.lua(f"return {text}")
    assert "touch made.txt && echo 'all of it'" in shown
    assert str(root) in shown
    await neovim.press("1<CR>")  # is text
    await comes(neovim, LINES, ["1", "x = 1"])
    await neovim.press("<Esc>")
    await neovim.until_asked()
    await neovim.press("2<CR>")
    assert (await outcome(neovim))["answer"] == "Then not."
    assert "the user did not allow ExecuteCommand" in results(wire)[0]
    assert not (root / "made.txt").exists()
    assert any(line.startswith("- ✗ ExecuteCommand") for line in await chat(neovim))


async def test_unsaved_text_is_found_and_changes_from_outside_are_seen(
    neovim: Neovim, wire: Wire, write: Write
) -> None:
    file, other = write("unsaved.py", "saved = 1"), write("outside.py", "old = 1")
    await attached(neovim, other)
    await attached(neovim, file)
    await neovim.press("onever_saved = 2<Esc>")
    await neovim.until("vim.fn.line('$') == 2")
    play_calls(wire, ("Grep", {"pattern": "never_saved", "output_mode": "content"}))
    wire.play(says())
    await neovim.command("OdinAsk where is it?")
    await outcome(neovim)
    assert "unsaved.py" in results(wire)[0]
    other.write_text("new = 2\n")
    buffer = await neovim.lua("return vim.fn.bufnr(...)", str(other))
    await comes(neovim, LINES, ["new = 2"], buffer)
    file.write_text("from outside = 1\n")
    kept = await neovim.lua("return require('odin.files').reload({ vim.uri_from_fname(...) })", str(file))
    assert kept["kept"][0]["reason"] == "it has unsaved changes"
    assert await neovim.lines() == ["saved = 1", "never_saved = 2"]
    assert "has changed on disk" in await neovim.lua(
        "return require('odin.files').write(vim.api.nvim_get_current_buf())"
    )
