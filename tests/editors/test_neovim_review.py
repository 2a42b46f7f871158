"""The review in a real Neovim with the real server: how hunks are found, read, walked through and changed."""

from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.e2e.steps import play_calls, says
from tests.editors.conftest import StartNeovim, Write
from tests.editors.neovim import NOTE_EVENTS, Neovim, until
from tests.editors.test_neovim import DRAWN, LINES, change, comes, happened, outcome, reads
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOTE_ECHOES = """
_G.echoed = {}
local echo = vim.api.nvim_echo
vim.api.nvim_echo = function(chunks, ...)
  table.insert(_G.echoed, chunks[1][1]:match("^.- files?") or chunks[1][1]) -- without the keys
  return echo(chunks, ...)
end
"""
LISTED = """
return vim.iter(vim.fn.getqflist()):map(function(it)
  return { it.module, it.lnum, it.text }
end):totable()
"""
PICK = """
local wanted = ...
_G.offered = {}
vim.ui.select = function(items, opts, choose)
  for _, it in ipairs(items) do
    table.insert(_G.offered, opts.format_item(it))
    if opts.format_item(it):find(wanted, 1, true) then
      choose(it)
    end
  end
end
"""
SIGNED = """
local found = {}
local space = vim.api.nvim_get_namespaces()["odin.review"]
for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })) do
  if mark[4].sign_text then
    table.insert(found, ("%d %s%s"):format(mark[2] + 1, mark[4].sign_text, (mark[4].virt_text or { { "" } })[1][1]))
  end
end
return found
"""
WHERE = """
return { vim.fs.basename((vim.api.nvim_buf_get_name(0):gsub("#.*", ""))), vim.fn.line(".") }
"""
NEXT, PREVIOUS = "<Plug>(odin-next)", "<Plug>(odin-previous)"


@pytest_asyncio.fixture(loop_scope="module")
async def neovim(neovim: Neovim) -> Neovim:
    await neovim.lua(NOTE_ECHOES)
    return neovim


async def proposed(neovim: Neovim, wire: Wire, seen: tuple[Path, ...], *calls: tuple[str, dict[str, Any]]) -> None:
    """A review is open on what the model does in one step."""
    if seen:
        reads(wire, *seen)
    play_calls(wire, *calls)
    wire.play(says())
    await neovim.command("OdinEdit change it")
    await happened(neovim, "OdinReviewOpened")


def edits(file: Path, *pairs: tuple[str, str]) -> tuple[str, dict[str, Any]]:
    return "MultiEditTool", {
        "file_path": str(file),
        "edits": [{"old_string": old, "new_string": new} for old, new in pairs],
    }


async def test_lists_and_pickers_show_each_change_and_its_place(neovim: Neovim, wire: Wire, write: Write) -> None:
    padding = ["", "x = 0", ""]
    file = write("pkg/board.py", "    size = 1", *padding, "old = 2", *padding, f"{'word ' * 20}= 3", *padding)
    other = file.with_name("made.py")
    await proposed(
        *(neovim, wire, (file,)),
        edits(
            file,
            ("size = 1", "size = 11"),
            ("old = 2\n", "new = 2\nmore = 4\n"),
            ("= 3", "= 33"),
        ),
        ("WriteFile", {"file_path": str(other), "content": "made = 1\n"}),
    )
    long = "…d word word word = 3"
    expected = [
        ["pkg/board.py", 1, "- size = 1 → + size = 11"],
        ["pkg/board.py", 5, "- old = 2 → + new = 2  (−1 +2)"],
        ["pkg/board.py", 9, f"- {long} → + {long}3"],
        ["pkg/made.py", 1, "create: 1 line  + made = 1"],
    ]
    await neovim.command("OdinReview")
    assert await neovim.lua(LISTED) == expected
    await neovim.command("cclose")
    assert await neovim.lua("return vim.fn.buflisted(...)", str(file)) == 0  # nobody has looked at it yet

    await neovim.lua(PICK, "board.py:5")
    await neovim.command("OdinReview pick")
    assert await neovim.lua("return _G.offered") == [
        *(f"{path}:{line}  {text}" for path, line, text in expected[:3]),
        "pkg/made.py  create: 1 line  + made = 1",
    ]
    assert await neovim.lua(WHERE) == ["board.py", 5]
    await neovim.command("OdinReject!")
    await outcome(neovim)
    assert "4 changes to review" in await neovim.messages()


async def test_a_change_is_edited_in_whole_lines(neovim: Neovim, wire: Wire, write: Write) -> None:
    file = write("whole.py", "def greet(name):", "    return 'hello ' + name", "", "", "gone = 1", "", "", "end = 1")
    await proposed(
        *(neovim, wire, (file,)),
        edits(file, ("hello ", "good day, "), ("gone = 1\n", ""), ("end = 1", "end = 2")),
    )
    assert "3 changes to review" in await neovim.messages()
    await neovim.command(f"edit {file}")
    shown: list[str] = []
    written = {2: "    return 'welcome ' + name", 5: "stays = 1", 8: "end = 2"}
    for left, (line, text) in zip((2, 1, 0), written.items(), strict=True):
        await neovim.press(f"{line}G:OdinReview edit<CR>")
        await neovim.until("vim.startswith(vim.api.nvim_buf_get_name(0), 'odin://hunk')")
        shown += await neovim.lines()
        await neovim.call("nvim_buf_set_lines", 0, 0, -1, False, [text])
        await neovim.press(":w<CR>")
        await comes(neovim, "return #require('odin.review').pending()", left)
    assert shown == ["    return 'good day, ' + name", "", "end = 2"]
    end = await outcome(neovim)
    assert [it["state"] for it in end["receipts"]] == ["modified", "modified", "accepted"]
    assert file.read_text().splitlines() == [
        "def greet(name):",
        written[2],
        *("", "", "stays = 1", "", "", "end = 2"),
    ]


async def test_a_diff_is_aligned_and_hunks_are_drawn_again_behind_it(neovim: Neovim, wire: Wire, write: Write) -> None:
    file = write("aligned.py", "one = 1", "", "", "two = 2")
    await proposed(neovim, wire, (file,), edits(file, ("one = 1\n", "one = 1\nnew = 0\n"), ("two = 2", "two = 22")))
    await neovim.command(f"edit {file}")
    drawn = ["1 + new = 0", "4 + two = 22", "4 -"]
    assert await neovim.lua(DRAWN) == drawn
    await neovim.command("OdinReview diff")
    assert await neovim.lua(WHERE) == ["aligned.py", 1]
    assert await neovim.lua(DRAWN) == []
    await neovim.command("tabprevious")
    assert await neovim.lua(DRAWN) == drawn
    await neovim.command("tabnext")
    await neovim.command("1OdinAccept")  # where they are is known all the same
    await comes(neovim, LINES, ["one = 1", "new = 0", "", "", "two = 2"])
    await comes(neovim, WHERE, ["aligned.py", 5])
    await neovim.command("tabclose")
    await neovim.command("5OdinReject")
    assert [it["state"] for it in (await outcome(neovim))["receipts"]] == ["accepted", "rejected"]


async def test_new_lines_are_reached_from_both_their_neighbours(neovim: Neovim, wire: Wire, write: Write) -> None:
    file = write("between.py", "one = 1", "two = 2", "three = 3", "four = 4")
    new = "one = 1\nnew = 0\ntwo = 2\n"
    await neovim.command(f"edit {file}")
    for line in (1, 2):
        await proposed(neovim, wire, (file,), edits(file, ("one = 1\ntwo = 2\n", new), ("four = 4", "four = 5")))
        await happened(neovim, "OdinReviewOpened", line)
        await neovim.press(f"gg{line}G:OdinReject<CR>")
        await comes(neovim, DRAWN, ["4 + four = 5", "4 -"])
        await neovim.press("gg:OdinReject<CR>")
        await until(lambda: _says(neovim, "no pending change here"), "nothing is there")
        await neovim.command("OdinReject!")
        assert [it["state"] for it in (await outcome(neovim, line))["receipts"]] == ["rejected"] * 2


async def test_files_that_come_go_and_move_are_walked_to_and_decided_there(
    neovim: Neovim, wire: Wire, write: Write, own_root: Path
) -> None:
    edited, gone, old = write("a_edited.py", "x = 1"), write("c_gone.py", "gone = 1"), write("d_old.py", "old = 1")
    made, refused = own_root / "b_made.py", own_root / "e_refused.py"
    await proposed(
        *(neovim, wire, (edited, gone, old)),
        change(edited, "x = 1", "x = 2"),
        ("WriteFile", {"file_path": str(made), "content": "made = 1\nby = 2\n"}),
        ("DeleteFile", {"file_path": str(gone)}),
        ("MoveFile", {"file_path": str(old), "new_path": str(own_root / "d_new.py")}),
        ("WriteFile", {"file_path": str(refused), "content": "refused = 1\n"}),
    )
    names = ["a_edited.py", "b_made.py", "c_gone.py", "d_old.py", "e_refused.py"]
    await neovim.lua("_G.echoed = {}")
    for keys, order in ((NEXT, [*names, names[0]]), (PREVIOUS, names[::-1])):
        for name in order:
            await neovim.feed(keys)
            await comes(neovim, WHERE, [name, 1])
    assert (await neovim.lua("return _G.echoed"))[:3] == [f"{n} of 5 · {n} of 5 files" for n in (1, 2, 3)]

    await neovim.feed(NEXT)
    await comes(neovim, WHERE, [names[1], 1])
    assert await neovim.lines() == ["made = 1", "by = 2"]
    assert await neovim.lua("return vim.bo.filetype") == "python"
    await neovim.press("j:OdinAccept<CR>")
    for name, decision in zip(names[2:], ("Accept", "Accept", "Reject"), strict=True):
        await comes(neovim, WHERE, [name, 1])
        await neovim.command(f"Odin{decision}")
    await comes(neovim, WHERE, [names[0], 1])
    await neovim.command("OdinAccept")
    states = [it["state"] for it in (await outcome(neovim))["receipts"]]
    assert states == ["accepted"] * 4 + ["rejected"]
    assert made.read_text() == "made = 1\nby = 2\n"
    assert sorted(it.name for it in own_root.glob("[b-e]_*")) == ["b_made.py", "d_new.py"]


async def test_undo_leaves_no_folder_that_was_made(neovim: Neovim, wire: Wire, write: Write, own_root: Path) -> None:
    kept, moved = write("kept/here.py", "x = 1"), write("moved.py", "y = 1")
    await proposed(
        *(neovim, wire, (moved,)),
        ("WriteFile", {"file_path": str(own_root / "new" / "deep" / "made.py"), "content": "made = 1\n"}),
        ("MoveFile", {"file_path": str(moved), "new_path": str(own_root / "target" / "moved.py")}),
        ("WriteFile", {"file_path": str(kept.with_name("too.py")), "content": "too = 1\n"}),
    )
    await neovim.command("OdinAccept!")
    await outcome(neovim)
    assert (own_root / "new" / "deep" / "made.py").exists()
    await neovim.command("OdinUndo")
    await until(lambda: _says(neovim, "3 files restored"), "undone")
    assert [(own_root / name).exists() for name in ("new", "target", "kept", "moved.py")] == [False, False, True, True]


async def test_one_file_is_undone_and_brought_back(neovim: Neovim, wire: Wire, write: Write) -> None:
    one, two = write("one.py", "x = 1"), write("two.py", "x = 1")
    await proposed(neovim, wire, (one, two), change(one, "x = 1", "x = 2"), change(two, "x = 1", "x = 2"))
    await neovim.command("OdinAccept!")
    await outcome(neovim)
    await neovim.command(f"edit {one}")
    await neovim.command("OdinUndo %")
    await until(lambda: _says(neovim, "1 file restored"), "undone")
    assert [it.read_text() for it in (one, two)] == ["x = 1\n", "x = 2\n"]
    await neovim.command("messages clear")
    await neovim.command("OdinUndo!")
    await until(lambda: _says(neovim, "1 file restored"), "brought back")
    assert [it.read_text() for it in (one, two)] == ["x = 2\n", "x = 2\n"]


@pytest.mark.parametrize("ends", [False, True])
async def test_a_file_with_a_swap_file_is_changed_and_nobody_is_asked(
    neovim: Neovim, start_own_neovim: StartNeovim, wire: Wire, write: Write, *, ends: bool
) -> None:
    """Of a Neovim that still runs, and of one that has ended without tidying up."""
    file = write(f"swapped_{ends}.py", "one = 1", "two = 2")
    other = await start_own_neovim(str(file))
    await other.command("preserve")
    if ends:
        await other.close()
    await proposed(neovim, wire, (file,), change(file, "two = 2", "two = 22"))
    await neovim.feed(NEXT)
    await comes(neovim, WHERE, [file.name, 2])
    await neovim.command("OdinAccept")
    assert [it["state"] for it in (await outcome(neovim))["receipts"]] == ["accepted"]
    assert file.read_text() == "one = 1\ntwo = 22\n"
    words = "has a swap file of a Neovim that stopped" if ends else "is also open in another Neovim"
    assert f"{file.name} {words}" in await neovim.messages()


async def test_a_file_of_no_known_type_is_changed_though_nobody_has_opened_it(
    neovim: Neovim, wire: Wire, write: Write
) -> None:
    file = write("untyped", "one", "two")
    await proposed(neovim, wire, (file,), change(file, "two", "zwei"))
    await neovim.command("OdinAccept!")
    assert [it["state"] for it in (await outcome(neovim))["receipts"]] == ["accepted"]
    assert file.read_text() == "one\nzwei\n"
    assert "1 change to review" in await neovim.messages()
    await neovim.command("OdinUndo")
    await until(lambda: _says(neovim, "1 file restored"), "undone")


async def _says(neovim: Neovim, words: str) -> bool:
    return words in await neovim.messages()


async def test_what_is_decided_looks_so_and_can_be_taken_back(neovim: Neovim, wire: Wire, write: Write) -> None:
    one = write("decide_a.py", "one = 1", "", "", "two = 2", "", "", "three = 3")
    two = write("decide_b.py", "four = 4")
    await neovim.command(f"edit {one}")
    await proposed(
        *(neovim, wire, (one, two)),
        edits(one, ("one = 1\n", "one = 11\nnew = 0\n"), ("two = 2", "two = 22"), ("three = 3", "three = 33")),
        change(two, "four = 4", "four = 44"),
    )
    await neovim.lua("_G.echoed = {}")
    await neovim.press("4G:OdinAccept<CR>")
    await comes(neovim, WHERE, ["decide_a.py", 7])
    assert (await neovim.lines())[3] == "two = 22"
    assert one.read_text().splitlines()[3] == "two = 2"
    assert await neovim.lua(SIGNED) == ["4 ✓  accepted"]
    await neovim.press(":OdinReject<CR>")
    await comes(neovim, WHERE, ["decide_b.py", 1])
    await neovim.press(":OdinAccept<CR>")
    await comes(neovim, WHERE, ["decide_a.py", 1])
    assert await neovim.lua("return _G.echoed") == [f"{n} of 4 · {f} of 2 files" for n, f in ((3, 1), (4, 2), (1, 1))]
    assert await neovim.lua(SIGNED) == ["4 ✓  accepted", "7 ✗ "]

    await neovim.press("7G:OdinReopen<CR>")
    await comes(neovim, DRAWN, ["1 + new = 0", "1 + one = 11", "1 -", "7 + three = 33", "7 -"])
    await neovim.press("4G:OdinReopen<CR>")
    await comes(neovim, SIGNED, [])
    assert (await neovim.lines())[3] == "two = 2"
    await neovim.lua(PICK, "decide_b.py:1  - four = 4 → + four = 44")
    await neovim.press("2G:OdinReopen<CR>")  # nothing was decided there
    await comes(neovim, WHERE, ["decide_b.py", 1])
    assert await neovim.lines() == ["four = 4"]

    await neovim.command("OdinAccept")
    await comes(neovim, WHERE, ["decide_a.py", 1])
    await neovim.command(f"buffer {two}")
    await neovim.press("u")
    await comes(neovim, DRAWN, ["1 + four = 44", "1 -"])
    await neovim.command("OdinAccept!")
    assert [it["state"] for it in (await outcome(neovim))["receipts"]] == ["accepted"] * 4
    assert await neovim.lua(SIGNED) == []
    assert two.read_text() == "four = 44\n"


async def test_what_is_written_around_a_fragment_is_the_users_own_edit(
    neovim: Neovim, wire: Wire, write: Write
) -> None:
    file = write("around.py", "value = 1  # was 0", "", "", "end = 1")
    await neovim.command(f"edit {file}")
    await proposed(neovim, wire, (file,), edits(file, ("value = 1", "value = 12"), ("end = 1", "end = 2")))
    await neovim.press("gg:OdinReview edit<CR>")
    await neovim.until("vim.startswith(vim.api.nvim_buf_get_name(0), 'odin://hunk')")
    await neovim.call("nvim_buf_set_lines", 0, 0, -1, False, ["worth = 13"])
    await neovim.press(":w<CR>")
    await comes(neovim, LINES, ["worth = 13", "", "", "end = 1"])
    await neovim.command("OdinAccept!")
    assert [it["state"] for it in (await outcome(neovim))["receipts"]] == ["modified", "accepted"]
    assert await neovim.lines() == ["worth = 13", "", "", "end = 2"]


async def test_a_cancelled_turn_leaves_what_waits_for_the_user(neovim: Neovim, wire: Wire, write: Write) -> None:
    file = write("cancelled.py", "one = 1", "", "", "two = 2")
    await neovim.command(f"edit {file}")
    for decision in ("", " drop"):
        reads(wire, file)
        play_calls(wire, edits(file, ("one = 1", "one = 11"), ("two = 2", "two = 22")))
        await neovim.command("OdinEdit change it")
        times = 2 if decision else 1
        await happened(neovim, "OdinReviewOpened", times)
        await neovim.command(f"OdinCancel{decision}")
        end = await outcome(neovim, times)
        assert end["reason"] == "interrupted"
        if decision:
            await happened(neovim, "OdinReviewClosed", 2)
            assert [it["state"] for it in end["receipts"]] == ["rejected"] * 2
        else:
            await until(lambda: _says(neovim, "2 changes still wait for you: :OdinReview"), "they wait")
            assert await neovim.lua(DRAWN) == ["1 + one = 11", "1 -", "4 + two = 22", "4 -"]
            await neovim.command("1OdinAccept")
            await comes(neovim, DRAWN, ["4 + two = 22", "4 -"])
            await neovim.command("4OdinReject")
            await happened(neovim, "OdinReviewClosed")
        await comes(neovim, DRAWN, [])
        assert await neovim.lua(SIGNED) == []
    assert (await neovim.lines())[0] == "one = 11"


async def test_what_waits_is_told_of_and_drawn_in_the_next_neovim(
    neovim: Neovim, start_own_neovim: StartNeovim, wire: Wire, write: Write
) -> None:
    file = write("restored.py", "one = 1", "", "", "two = 2", "", "", "three = 3")
    reads(wire, file)
    play_calls(wire, edits(file, ("one = 1", "one = 11"), ("two = 2", "two = 22"), ("three = 3", "three = 33")))
    await neovim.command("OdinEdit change it")
    await happened(neovim, "OdinReviewOpened")
    await neovim.command(f"edit {file}")
    await neovim.command("1OdinAccept")
    await comes(neovim, LINES, ["one = 11", "", "", "two = 2", "", "", "three = 3"])
    await comes(neovim, SIGNED, ["1 ✓  accepted"])
    await neovim.command("write")
    await neovim.close()

    other = await start_own_neovim("first.py")
    await other.lua(NOTE_EVENTS)
    await until(lambda: _says(other, "2 changes wait for you: :OdinReview"), "they are told of")
    assert (await other.messages()).count("wait for you") == 1
    await other.command(f"edit {file}")
    assert await other.lua(DRAWN) == ["4 + two = 22", "4 -", "7 + three = 33", "7 -"]
    assert await other.lua(SIGNED) == ["1 ✓  accepted"]
    wire.play(says())
    await other.command("OdinAccept!")
    assert (await outcome(other))["reason"] == "end_turn"
    assert await other.lines() == ["one = 11", "", "", "two = 22", "", "", "three = 33"]
    await comes(other, SIGNED, [])
    assert "traceback" not in await other.messages()
