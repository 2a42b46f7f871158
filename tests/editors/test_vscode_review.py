"""Proposals in a real VS Code: shown as its own diffs, decided in every way, typed into on both sides."""

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.e2e.steps import play_calls, results, says
from tests.editors.conftest import StartVSCode, lent
from tests.editors.neovim import until
from tests.editors.vscode import NEWEST, VSCode
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="module")

BEFORE = "".join(f"line {number}\n" for number in range(1, 31))
CHANGES = (("line 2\n", "LINE 2\n"), ("line 15\n", "line 15\nadded\n"), ("line 28\n", ""))
AFTER = BEFORE.replace("line 2\n", "LINE 2\n", 1).replace("line 15\n", "line 15\nadded\n").replace("line 28\n", "")
PROPOSED = "vscode.workspace.textDocuments.findLast((it) => it.uri.scheme === 'odin-review')"

TEXT_OF = "vscode.workspace.textDocuments.find((it) => it.fileName === args[0]).getText()"
ACCEPT_ALL_AND_ASK = """
const order = [];
const note = (what) => () => order.push(what);
const changed = new Promise((resolve) => {
  const { document } = vscode.window.activeTextEditor;
  const subscription = vscode.workspace.onDidChangeTextDocument((event) => {
    if (event.document === document) {
      subscription.dispose();
      resolve();
    }
  });
});
await Promise.all([
  vscode.commands.executeCommand("odin.vscode.acceptAll"),
  vscode.commands.executeCommand("odin.cancel", { turnId: "another" }).then(note("odin.cancel")),
  vscode.commands.executeCommand("odin.state", {}).then(note("odin.state")),
  changed.then(note("applied")),
]);
return order;
"""
MUCH_LONGER = 20
"""Times what looks at everything once, on a machine that has other things to do as well."""


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def shared(start_vscode: StartVSCode, vsix: Path) -> VSCode:
    return await start_vscode(vsix, settings={"files.autoSave": "off"})


@pytest_asyncio.fixture(loop_scope="module")
async def vscode(shared: VSCode, wire: Wire, tmp_path: Path) -> AsyncIterator[VSCode]:
    """As if it had just been started."""
    async with lent(shared, wire, tmp_path):
        yield shared
        for command in ("odin.cancel", "odin.review.reject"):
            await shared.eval("await vscode.commands.executeCommand(args[0], {}).then(undefined, () => {})", command)


def write(root: Path, name: str, text: str = BEFORE) -> Path:
    path = root / name
    path.write_bytes(text.encode())
    return path


def play_edit(wire: Wire, *paths: Path, changes: tuple[tuple[str, str], ...] = CHANGES) -> None:
    edits = [{"old_string": old, "new_string": new} for old, new in changes]
    play_calls(wire, *(("Read", {"file_path": str(path)}) for path in paths))
    play_calls(wire, *(("MultiEditTool", {"file_path": str(path), "edits": edits}) for path in paths))
    wire.play(says())


async def ask(vscode: VSCode) -> None:
    await vscode.palette("Odin: Edit…")
    await vscode.answer("change it")


async def has_tab(vscode: VSCode, label: str) -> None:
    await vscode.until("vscode.window.tabGroups.all.some((it) => it.tabs.some((tab) => tab.label === args[0]))", label)


async def shows(vscode: VSCode, label: str) -> None:
    """The review comes; it is in front, with the focus."""
    await has_tab(vscode, label)
    await vscode.command("odin.vscode.review")
    await vscode.until("vscode.window.tabGroups.activeTabGroup.activeTab.label === args[0]", label)


async def shows_set(vscode: VSCode) -> None:
    """Several files are in one tab, which is in front; it waits in the background while somebody types."""
    is_review = "(it) => it.label.endsWith('(Odin)') || it.label.startsWith('Odin: Proposed Changes')"
    await vscode.until(f"vscode.window.tabGroups.all.flatMap((it) => it.tabs).some({is_review})")
    await vscode.command("odin.vscode.review")
    await vscode.until("vscode.window.tabGroups.activeTabGroup.activeTab?.label.startsWith('Odin: Proposed Changes')")
    await expect(vscode.lens("Accept Change").first).to_be_visible()


async def is_placed(vscode: VSCode, words: str) -> None:
    """Everything that tells where the user is in the review says so."""
    await expect(vscode.status(words)).to_be_visible()
    await expect(vscode.page.locator(".pane-header .description", has_text=words)).to_be_visible()
    await expect(vscode.webview().locator(".review", has_text=words)).to_be_visible()


async def is_taken_to(vscode: VSCode, line: int) -> None:
    """After a decision. Until then, VS Code may show the review over whatever else is opened."""
    await vscode.until("vscode.window.activeTextEditor?.selection.active.line === args[0]", line - 1)


async def is_at(vscode: VSCode, path: Path, line: int) -> None:
    """The file is in front, with the cursor in that line, which is to be seen."""
    editor = "vscode.window.activeTextEditor"
    await vscode.until(f"{editor}?.document.fileName === args[0]", str(path))
    await vscode.until(f"{editor}.selection.isEmpty && {editor}.selection.active.line === args[0]", line - 1)
    await vscode.until(f"{editor}.visibleRanges.some((it) => it.contains({editor}.selection))")


async def has_no_review(vscode: VSCode) -> None:
    tabs = "vscode.window.tabGroups.all.flatMap((it) => it.tabs)"
    await vscode.until(f"!{tabs}.some((it) => it.label.includes('Odin'))")


async def proposed_is(vscode: VSCode, text: str) -> None:
    await vscode.until(f"{PROPOSED}?.getText() === args[0]", text)


def right(vscode: VSCode) -> Locator:
    """The side of the diff that can be edited."""
    return vscode.page.locator(".editor-group-container.active .editor.modified")


async def click_into(vscode: VSCode, line: str) -> None:
    """At the end of a line on the right."""
    await right(vscode).locator(".view-line").get_by_text(line, exact=True).click()
    await vscode.press("End")


async def decided(wire: Wire) -> str:
    """What the model is told."""

    async def goes_on() -> bool:
        return not wire.answers

    await until(goes_on, "the turn goes on")
    return results(wire)[0]


async def test_two_hunks_are_accepted_and_one_is_rejected_with_a_reason(vscode: VSCode, wire: Wire, root: Path) -> None:
    path = write(root, "decided.txt")
    await vscode.open_file(path)
    play_edit(wire, path)
    await ask(vscode)
    await shows(vscode, "decided.txt (Odin)")

    await vscode.lens("Accept Change").first.click()
    await vscode.has_text(BEFORE.replace("line 2\n", "LINE 2\n", 1), path)
    await expect(vscode.page.locator(".codelens-decoration", has_text="Accepted")).to_be_visible()
    await proposed_is(vscode, AFTER)
    await is_placed(vscode, "2 of 3")
    await vscode.lens("Reject with Reason…").first.click()
    await vscode.answer("nothing is to be added")
    await expect(vscode.lens("Reject with Reason…")).to_have_count(1)
    await expect(vscode.page.locator(".codelens-decoration", has_text="Rejected")).to_be_visible()
    await proposed_is(vscode, AFTER.replace("added\n", ""))
    await vscode.lens("Accept Change").click()

    await vscode.has_text(BEFORE.replace("line 2\n", "LINE 2\n", 1).replace("line 28\n", ""), path)
    assert "): nothing is to be added" in await decided(wire)
    await has_no_review(vscode)
    await is_at(vscode, path, 2)
    await expect(vscode.page.locator(".monaco-editor.focused")).to_be_visible()

    await vscode.press("Control+Z", "Control+Z")
    await vscode.has_text(BEFORE, path)


async def test_what_is_decided_is_reopened_and_what_is_undone_waits_again(
    vscode: VSCode, wire: Wire, root: Path
) -> None:
    path = write(root, "reopened.txt")
    await vscode.open_file(path)
    play_edit(wire, path)
    await ask(vscode)
    await shows(vscode, "reopened.txt (Odin)")
    await click_into(vscode, "added")
    await vscode.type(" by me")
    await vscode.press("Alt+Enter")
    mine = "line 15\nadded by me\n"
    await vscode.has_text(BEFORE.replace("line 15\n", mine), path)
    await is_placed(vscode, "3 of 3")
    await is_taken_to(vscode, 29)
    await expect(vscode.lens("Reopen")).to_have_count(1)

    version = await vscode.eval(f"return {PROPOSED}.version")
    await vscode.press("Shift+Alt+Enter")
    await vscode.has_text(BEFORE, path)
    await expect(vscode.lens("Reject with Reason…")).to_have_count(3)
    await vscode.press("Alt+F5")
    await is_placed(vscode, "1 of 3")
    await proposed_is(vscode, AFTER.replace("added", "added by me"))
    assert await vscode.eval(f"return {PROPOSED}.version") == version

    await vscode.press("Alt+Enter")
    await vscode.has_text(BEFORE.replace("line 2\n", "LINE 2\n", 1), path)
    await is_placed(vscode, "2 of 3")
    await is_taken_to(vscode, 16)
    await vscode.open_file(path)
    await vscode.press("Control+Z")
    await vscode.has_text(BEFORE, path)
    await expect(vscode.lens("Odin: Show Change")).to_have_count(3)
    await vscode.palette("Odin: Accept All Changes")
    await vscode.has_text(AFTER.replace("added", "added by me"), path)
    await has_no_review(vscode)
    await decided(wire)


@NEWEST
async def test_a_turn_that_is_cancelled_leaves_what_waits(vscode: VSCode, wire: Wire, root: Path) -> None:
    path = write(root, "cancelled.txt")
    await vscode.open_file(path)
    play_edit(wire, path)
    await ask(vscode)
    await shows(vscode, "cancelled.txt (Odin)")
    await vscode.lens("Accept Change").first.click()
    await is_placed(vscode, "2 of 3")
    await expect(vscode.lens("Reject with Reason…")).to_have_count(2)
    await vscode.command("odin.vscode.cancel")
    wire.answers.clear()

    card = vscode.webview().locator(".review", has_text="2 changes wait for you")
    await expect(card).to_be_visible()
    await has_tab(vscode, "cancelled.txt (Odin)")
    await vscode.lens("Accept Change").first.click()
    await vscode.has_text(AFTER.replace("line 29\n", "line 28\nline 29\n"), path)
    card = vscode.webview().locator(".review", has_text="1 change waits for you")
    await card.get_by_role("button", name="Drop").click()
    await has_no_review(vscode)
    await vscode.has_text(AFTER.replace("line 29\n", "line 28\nline 29\n"), path)
    await expect(card).to_have_count(0)


async def test_what_is_typed_on_the_right_is_in_the_file(vscode: VSCode, wire: Wire, root: Path) -> None:
    path = write(root, "typed.txt", BEFORE.replace("\n", "\r\n"))
    await vscode.open_file(path)
    play_edit(wire, path)
    await ask(vscode)
    await shows(vscode, "typed.txt (Odin)")

    await click_into(vscode, "added")
    await vscode.type(" by me")
    await click_into(vscode, "line 5")
    await vscode.type(" is mine")
    await vscode.has_text(BEFORE.replace("line 5\n", "line 5 is mine\n").replace("\n", "\r\n"), path)
    await vscode.press("Control+S")

    after = AFTER.replace("line 5\n", "line 5 is mine\n").replace("added", "added by me")
    await vscode.has_text(after.replace("\n", "\r\n"), path)
    told = await decided(wire)
    assert "2 accepted, 1 modified" in told
    assert "added by me" in told
    await has_no_review(vscode)


async def test_both_sides_follow_typing_in_the_file_and_keep_what_was_changed(
    vscode: VSCode, wire: Wire, root: Path
) -> None:
    path = write(root, "moved.txt")
    await vscode.open_file(path)
    play_edit(wire, path)
    await ask(vscode)
    await shows(vscode, "moved.txt (Odin)")
    await click_into(vscode, "added")
    await vscode.type("!")
    await proposed_is(vscode, AFTER.replace("added", "added!"))

    await vscode.open_file(path)
    await vscode.press("Control+Home")
    await vscode.type("zero\n")
    expected = "zero\n" + BEFORE.replace("line 15\n", "line 15\nadded!\n").replace("line 28\n", "")
    await proposed_is(vscode, expected.replace("line 2\n", "LINE 2\n", 1))
    await expect(vscode.lens("Odin: Show Change")).to_have_count(3)

    await vscode.page.locator(".view-line").get_by_text("line 2", exact=True).click()
    await vscode.press("Home", "ArrowRight")
    await vscode.type("?")
    expected = expected.replace("line 2\n", "l?ine 2\n", 1)
    await proposed_is(vscode, expected)
    await expect(vscode.lens("Odin: Show Change")).to_have_count(2)

    await vscode.palette("Odin: Accept All Changes")
    await vscode.has_text(expected, path)
    assert "1 superseded" in await decided(wire)
    await has_no_review(vscode)
    await is_at(vscode, path, 3)


async def test_three_files_are_reviewed_in_one_tab(vscode: VSCode, wire: Wire, root: Path) -> None:
    paths = [write(root, f"{name}.txt") for name in ("first", "second", "third")]
    await vscode.open_file(paths[0])
    play_edit(wire, *paths)
    await ask(vscode)

    await shows_set(vscode)
    await is_placed(vscode, "1 of 9 · 1 of 3 files")
    rows = vscode.page.locator(".pane-body .monaco-list-row[aria-level='1']", has_text=".txt")
    size = vscode.page.viewport_size
    assert size
    await vscode.page.set_viewport_size({**size, "height": 1400})  # VS Code draws only the rows that can be seen
    await expect(rows).to_have_text(["first.txt+2 −2", "second.txt+2 −2", "third.txt+2 −2"])
    await vscode.page.set_viewport_size(size)
    await vscode.lens("Accept All Changes in File").first.click()
    await is_placed(vscode, "4 of 9 · 2 of 3 files")
    second = "(it) => it.document.uri.scheme === 'odin-review' && it.document.uri.path.endsWith('/second.txt')"
    await vscode.until(f"vscode.window.visibleTextEditors.find({second})?.selection.active.line === 1")  # it is shown
    await vscode.press("Alt+F5")
    await is_placed(vscode, "5 of 9 · 2 of 3 files")
    await vscode.press("Alt+Backspace")
    await is_placed(vscode, "6 of 9 · 2 of 3 files")
    await vscode.press("Shift+Alt+F5")
    await is_placed(vscode, "4 of 9 · 2 of 3 files")
    await shows_set(vscode)
    await vscode.palette("Odin: Reject All Changes")

    await has_no_review(vscode)
    await decided(wire)
    assert [await vscode.text(path) for path in paths] == [AFTER, BEFORE, BEFORE]


async def test_files_are_created_deleted_and_renamed(vscode: VSCode, wire: Wire, root: Path) -> None:
    old, gone, new = write(root, "old.txt"), write(root, "gone.txt"), root / "new.txt"
    play_calls(wire, *(("Read", {"file_path": str(path)}) for path in (old, gone)))
    play_calls(
        wire,
        ("WriteFile", {"file_path": str(new), "content": "one\ntwo\n"}),
        ("DeleteFile", {"file_path": str(gone)}),
        ("MoveFile", {"file_path": str(old), "new_path": str(root / "moved-away.txt")}),
    )
    wire.play(says())
    await ask(vscode)

    await shows_set(vscode)
    await vscode.command("odin.vscode.previousChange")
    await is_placed(vscode, "3 of 3 · 3 of 3 files")
    await vscode.page.locator(".pane-body .monaco-list-row", has_text="new.txt").click()
    await is_placed(vscode, "1 of 3 · 1 of 3 files")
    await vscode.command("odin.vscode.acceptChange")
    await is_placed(vscode, "2 of 3 · 2 of 3 files")
    await vscode.command("odin.vscode.rejectChange")
    await is_placed(vscode, "3 of 3 · 3 of 3 files")
    await vscode.command("odin.vscode.acceptChange")
    await has_no_review(vscode)
    await decided(wire)
    assert await vscode.text(new) == "one\ntwo\n"
    assert gone.exists()
    assert not old.exists()
    assert (root / "moved-away.txt").read_text() == BEFORE


@NEWEST
async def test_hundreds_of_hunks_in_a_long_file_hold_nobody_up(vscode: VSCode, wire: Wire, root: Path) -> None:
    count, apart, typed = 300, 66, "typed above all of them " * 6
    rows = [f"old_{row} = {row}\n" if row % apart == 0 else f"row_{row} = {row}\n" for row in range(count * apart)]
    path = write(root, "long.txt", "".join(rows))
    await vscode.open_file(path)
    await vscode.until("(await vscode.commands.getCommands()).includes('odin.state')")
    play_calls(wire, ("Grep", {"pattern": "^old_", "path": str(path), "limit": count}))
    edit = {"file_path": str(path), "old_string": "old_", "new_string": "new_", "replace_all": True}
    play_calls(wire, ("EditTool", edit))
    wire.play(says())
    began = time.monotonic()
    await ask(vscode)
    await shows(vscode, "long.txt (Odin)")
    opening = time.monotonic() - began
    await vscode.open_file(path)

    assert await typing_takes(vscode, path, typed) < MUCH_LONGER * opening
    began = time.monotonic()
    order = await vscode.eval(ACCEPT_ALL_AND_ASK)
    await vscode.until(f"{TEXT_OF} === args[1]", str(path), typed + "".join(rows).replace("old_", "new_"))

    assert time.monotonic() - began < MUCH_LONGER * opening
    assert order == ["odin.cancel", "odin.state", "applied"]
    told = await decided(wire)
    assert told.startswith("long.txt: accepted (lines 1, 67, ")
    assert told.count(", ") == count - 1
    await has_no_review(vscode)


async def typing_takes(vscode: VSCode, path: Path, text: str) -> float:
    """Seconds until a text is there, and Odin has answered what was asked while it was typed."""
    await vscode.press("Control+Home")
    began = time.monotonic()
    middle = len(text) // 2
    await vscode.type(text[:middle])
    await vscode.command("odin.cancel", {"turnId": "another"})
    await vscode.command("odin.state", {})
    await vscode.type(text[middle:])
    await vscode.until(f"{TEXT_OF}.startsWith(args[1])", str(path), text)
    return time.monotonic() - began


async def test_nobody_who_types_is_taken_elsewhere(vscode: VSCode, wire: Wire, root: Path) -> None:
    path, other = write(root, "background.txt"), write(root, "mine.txt", "")
    play_edit(wire, path)
    await vscode.open_file(other)
    turn = await vscode.eval("void vscode.commands.executeCommand('odin.edit', { text: 'change it' })")
    assert turn is None
    await vscode.type("x")
    while not any("background.txt" in label for label in await vscode.tabs()):
        await vscode.type("x")
    await vscode.type("the end")

    await vscode.until("vscode.window.activeTextEditor?.document.getText().endsWith('xthe end')")
    assert await vscode.eval("return vscode.window.tabGroups.activeTabGroup.activeTab.label") == "mine.txt"
    await vscode.respond("Odin proposes 3 changes.", "Review")
    await expect(vscode.lens("Accept Change").first).to_be_visible()
    await vscode.palette("Odin: Reject All Changes")
    await has_no_review(vscode)
    await decided(wire)


@NEWEST
async def test_a_review_outlives_the_server(vscode: VSCode, wire: Wire, root: Path) -> None:
    path = write(root, "restarted.txt")
    await vscode.open_file(path)
    play_edit(wire, path)
    await ask(vscode)
    await shows(vscode, "restarted.txt (Odin)")
    await vscode.press("Alt+Enter")
    await is_placed(vscode, "2 of 3")
    await is_taken_to(vscode, 16)
    await click_into(vscode, "added")
    await vscode.type(" words of mine")

    await vscode.command("odin.vscode.restart")
    await is_placed(vscode, "2 of 3")
    await shows(vscode, "restarted.txt (Odin)")
    await vscode.palette("Odin: Accept All Changes")
    await vscode.has_text(AFTER.replace("added", "added words of mine"), path)
    await has_no_review(vscode)
    await decided(wire)


async def test_strict_mode_is_vs_codes_own_preview(vscode: VSCode, wire: Wire, root: Path) -> None:
    path = write(root, "strict.txt")
    await vscode.open_file(path)
    await vscode.configure("odin.review.surface", "refactorPreview")
    await vscode.command("odin.vscode.restart")
    play_edit(wire, path)
    await ask(vscode)

    panel = vscode.page.locator(".bulk-edit-panel")
    await expect(panel.locator(".edit-checkbox").first).to_be_visible()
    for box in await panel.locator(".edit-checkbox").all():
        await box.set_checked(True)
    await panel.get_by_role("button", name="Apply", exact=True).click()
    await vscode.has_text(AFTER, path)
    await decided(wire)
    assert not any("(Odin)" in label for label in await vscode.tabs())
    await vscode.configure("odin.review.surface", None)
    await vscode.command("odin.vscode.restart")


async def test_a_review_outlives_the_window_with_all_that_was_typed(
    vscode: VSCode, wire: Wire, root: Path, tmp_path: Path
) -> None:
    path = write(root, "reloaded.txt")
    await vscode.open_file(path)
    play_edit(wire, path)
    await ask(vscode)
    await shows(vscode, "reloaded.txt (Odin)")
    await click_into(vscode, "added")
    await vscode.type(" words of mine")

    async def is_kept() -> bool:
        kept = tmp_path.parent.glob("code*/data/User/Backups/*/odin-review/*")
        return any("added words of mine" in it.read_text() for it in kept)

    await until(is_kept, "VS Code keeps what is unsaved")
    await vscode.reload()
    await vscode.until("vscode.window.tabGroups.activeTabGroup.activeTab?.label === 'reloaded.txt (Odin)'")
    await expect(vscode.lens("Accept Change").first).to_be_visible()
    assert not await vscode.notifications()
    await vscode.palette("Odin: Accept All Changes")
    await vscode.has_text(AFTER.replace("added", "added words of mine"), path)
    await has_no_review(vscode)
    assert "added words of mine" in await decided(wire)
    await expect(vscode.webview().locator(".turn").last.get_by_text("done", exact=True)).to_be_visible()
