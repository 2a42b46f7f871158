"""Edits at the selection in a real VS Code: asked for, watched, decided and cancelled where the text is."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.e2e.steps import play_calls, results, says
from tests.editors.conftest import StartVSCode, lent
from tests.editors.neovim import until
from tests.editors.vscode import VSCode
from tests.editors.vscode_chat import Chat
from tests.support import wire as kit
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="module")

BEFORE = "one\ntwo\nthree\nfour\nfive\n"
AFTER = "one\n2\n3\nfour\nfive\n"


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def shared(start_vscode: StartVSCode, vsix: Path) -> VSCode:
    window = await start_vscode(vsix, settings={"files.autoSave": "off"}, ODIN_TITLES="false")
    await window.open_palette("Odin: Edit…")
    await window.press("Escape")
    return window


@pytest_asyncio.fixture(loop_scope="module")
async def vscode(shared: VSCode, wire: Wire, tmp_path: Path) -> AsyncIterator[VSCode]:
    async with lent(shared, wire, tmp_path):
        yield shared
        for command in ("odin.cancel", "odin.review.reject"):
            await shared.eval("await vscode.commands.executeCommand(args[0], {}).then(undefined, () => {})", command)


async def ask(vscode: VSCode, path: Path, text: str = "as numbers") -> Locator:
    """About the second and third line, by keys alone; where it is shown."""
    path.write_text(BEFORE)
    await vscode.open_file(path)
    await vscode.select(2, 3)
    await vscode.press("Control+I")
    box = vscode.page.locator(".review-widget")
    await expect(box.locator(".monaco-editor.focused")).to_be_visible()
    await expect(box.locator(".review-title")).to_contain_text(f"Odin: Edit lines 2–3 of {path.name}")
    await vscode.type(text)
    await vscode.press("Enter")
    await expect(box.locator(".comment-body", has_text=text)).to_be_visible()
    return box


def play_edit(wire: Wire, path: Path, *written: str) -> None:
    """The model reads the file, and proposes these for both lines, one after the other."""
    play_calls(wire, ("Read", {"file_path": str(path)}))
    for text in written:
        play_calls(wire, ("EditTool", {"file_path": str(path), "old_string": "two\nthree", "new_string": text}))
    wire.play(says())


def play_beginning(wire: Wire, path: Path, written: str) -> None:
    """The model writes an edit, and does not come to its end."""
    call = json.dumps({"file_path": str(path), "old_string": "two\nthree", "new_string": written})
    *block, _ = kit.anthropic_call(0, "toolu_0", "EditTool", call.removesuffix('"}'))
    wire.play(kit.Answer([kit.anthropic_sse(kit.anthropic_start(), *block)], held=True))


async def proposes(vscode: VSCode, box: Locator, text: str) -> None:
    """It waits to be decided, in the file and not in a diff."""
    await expect(box.locator(".comment-body").last).to_have_text(text)
    await expect(vscode.lens("Accept")).to_be_visible()
    assert not any("Odin" in label for label in await vscode.tabs())


async def goes_on(wire: Wire) -> str:
    """What the model was told."""

    async def is_told() -> bool:
        return not wire.answers

    await until(is_told, "the turn goes on")
    return results(wire)[0]


async def test_an_edit_is_asked_for_and_accepted_where_the_text_is(vscode: VSCode, wire: Wire, root: Path) -> None:
    path = root / "accepted.txt"
    play_edit(wire, path, "2\n3")
    box = await ask(vscode, path)
    await proposes(vscode, box, "23")
    assert await vscode.text(path) == BEFORE
    await expect(vscode.page.locator(".part.panel")).to_be_hidden()

    await vscode.press("Alt+Enter")
    await vscode.has_text(AFTER, path)
    await expect(box).to_have_count(0)
    await goes_on(wire)
    chat = Chat(vscode)
    await chat.open()
    await expect(chat.turn.locator(".said-text")).to_have_text("as numbers")
    await vscode.press("Control+Z")


async def test_one_that_is_rejected_with_a_reason_is_made_again(vscode: VSCode, wire: Wire, root: Path) -> None:
    path = root / "refined.txt"
    play_edit(wire, path, "II\nIII", "2\n3")
    box = await ask(vscode, path)
    await proposes(vscode, box, "IIIII")

    await box.get_by_role("button", name="Say what should be different…").click()
    await expect(box.locator(".monaco-editor.focused")).to_be_visible()
    await vscode.type("Arabic ones")
    await vscode.press("Enter")
    await proposes(vscode, box, "23")
    assert ": Arabic ones" in results(wire)[0]
    await box.get_by_role("button", name="Accept Inline Edit").click()
    await vscode.has_text(AFTER, path)
    await expect(box).to_have_count(0)
    await goes_on(wire)


async def test_what_is_typed_meanwhile_and_not_saved_is_kept(vscode: VSCode, wire: Wire, root: Path) -> None:
    path = root / "typed.txt"
    play_edit(wire, path, "2\n3")
    box = await ask(vscode, path)
    await proposes(vscode, box, "23")
    await vscode.press("Control+Home")
    await vscode.type("zero\n")
    await vscode.press("Control+End")
    await vscode.type("six\n")
    mine = f"zero\n{BEFORE}six\n"
    await vscode.has_text(mine, path)

    await vscode.lens("Accept").click()
    await vscode.has_text(f"zero\n{AFTER}six\n", path)
    await expect(box).to_have_count(0)
    await goes_on(wire)


async def test_escape_takes_the_prompt_away_and_cancels_what_is_being_written(
    vscode: VSCode, wire: Wire, root: Path, tmp_path: Path
) -> None:
    path = root / "cancelled.txt"
    path.write_text(BEFORE)
    chat = Chat(vscode)
    await chat.open()
    await vscode.open_file(path)
    await vscode.select(2, 3)
    await expect(chat.button("Do not send lines 2–3 of cancelled.txt")).to_be_visible()
    await vscode.press("Control+I")
    box = vscode.page.locator(".review-widget")
    await expect(box.locator(".monaco-editor.focused")).to_be_visible()
    await vscode.type("never mind")
    await vscode.screenshot(tmp_path / "prompt.png")
    await expect(chat.button("Do not send lines 2–3 of cancelled.txt")).to_be_visible()
    await vscode.press("Escape")
    await expect(box).to_have_count(0)
    assert not wire.sent or "never mind" not in json.dumps(wire.request)

    play_beginning(wire, path, "2 and\nso on")
    await ask(vscode, path)
    await expect(box.locator(".comment-body").last).to_have_text("2 andso on")
    await expect(vscode.page.locator(".view-overlays .cdr[class*='TextEditorDecorationType']").first).to_be_visible()
    wire.hung_up.clear()
    await vscode.press("Escape")
    await expect(box).to_have_count(0)
    await wire.hung_up.wait()
    assert await vscode.text(path) == BEFORE


async def test_one_that_is_rejected_leaves_nothing_behind(vscode: VSCode, wire: Wire, root: Path) -> None:
    path = root / "rejected.txt"
    play_edit(wire, path, "2\n3")
    box = await ask(vscode, path)
    await proposes(vscode, box, "23")
    await vscode.press("Alt+Backspace")
    await expect(box).to_have_count(0)
    await expect(vscode.lens("Accept")).to_have_count(0)
    assert "rejected" in await goes_on(wire)
    assert await vscode.text(path) == BEFORE
