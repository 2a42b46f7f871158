"""The palette and the menus of a real VS Code: turns with what is selected, and what else Odin can be asked for."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.e2e.steps import says
from tests.editors.conftest import StartVSCode, lent
from tests.editors.neovim import until
from tests.editors.vscode import VSCode
from tests.support.wire import Answer, Wire

pytestmark = pytest.mark.asyncio(loop_scope="module")

SERVER = str(Path(sys.executable).parent / "odin-lsp")
CODE = "def add(a, b):\n    return a - b\n\n\nprint(add(1, 2))\n"
PLAN = "# Fix it\n\n- [ ] Turn the sign\n- [ ] Test it\n"
ANOTHER_PROVIDER = """
    const kind = vscode.CodeActionKind.QuickFix;
    const uri = vscode.Uri.file(args[0]);
    globalThis.collection ??= vscode.languages.createDiagnosticCollection("lint");
    const range = new vscode.Range(1, 4, 1, 16);
    globalThis.collection.set(uri, [new vscode.Diagnostic(range, "wrong sign", vscode.DiagnosticSeverity.Warning)]);
    vscode.languages.registerCodeActionsProvider({ language: "python" }, {
        provideCodeActions: () => [new vscode.CodeAction("Turn the sign", kind)],
    });
"""


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def window(start_vscode: StartVSCode, vsix: Path) -> VSCode:
    settings = {"odin.server.path": SERVER, "files.autoSave": "off"}
    return await start_vscode(vsix, settings=settings, ODIN_TITLES="false")


@pytest_asyncio.fixture(loop_scope="module")
async def vscode(window: VSCode, wire: Wire, root: Path, tmp_path: Path) -> AsyncIterator[VSCode]:
    """With a file of some code open, all of which is on disk."""
    async with lent(window, wire, tmp_path):
        (root / "code.py").write_text(CODE)
        await window.open_file(root / "code.py")
        await expect(window.status("claude")).to_be_visible()
        yield window


async def test_what_is_selected_goes_with_a_question(vscode: VSCode, wire: Wire, root: Path) -> None:
    await vscode.eval(ANOTHER_PROVIDER, str(root / "code.py"))
    await vscode.select(2, 2)
    await vscode.press("Control+Shift+Alt+A")
    await expect(vscode.page.locator(".quick-input-widget:visible")).to_contain_text("About line 2 of code.py.")
    wire.play(says("The sign is wrong."))
    await vscode.answer("what is wrong?")
    await expect(said(vscode, "The sign is wrong.")).to_be_visible()
    told = str(wire.request["messages"])
    assert "    return a - b" in told
    assert "wrong sign" in told
    assert "print(add" not in told


async def test_the_focus_stays_in_the_editor(vscode: VSCode, wire: Wire) -> None:
    await vscode.press("Control+Home")
    wire.play(says("It prints -1."))
    await vscode.palette("Odin: Ask")
    await vscode.answer("what does it print?")
    await expect(said(vscode, "It prints -1.")).to_be_visible()
    await vscode.type("x")
    await vscode.has_text(f"x{CODE}")


async def test_odin_comes_last_in_the_menu_and_is_not_preferred(vscode: VSCode, root: Path) -> None:
    await vscode.select(2, 2)
    titles = await vscode.code_actions()
    first = next(index for index, title in enumerate(titles) if title.startswith("Odin"))
    assert titles[0] == "Turn the sign"
    assert all(title.startswith("Odin") for title in titles[first:])
    await vscode.press("Escape")
    actions = "await vscode.commands.executeCommand('vscode.executeCodeActionProvider', uri, range)"
    code = f"const [uri, range] = [vscode.Uri.file(args[0]), new vscode.Range(1, 0, 1, 9)]; return ({actions})"
    assert not any(it.get("isPreferred") for it in await vscode.eval(code, str(root / "code.py")))


async def test_a_code_action_that_needs_words_asks_for_them(vscode: VSCode, wire: Wire) -> None:
    await vscode.select(2, 2)
    await vscode.code_actions()
    await vscode.take_action("Odin: Edit…")
    await expect(vscode.quick_input).to_be_visible()
    wire.play(says("I have nothing to change."))
    await vscode.answer("say no")
    await expect(said(vscode, "I have nothing to change.")).to_be_visible()
    assert "    return a - b" in str(wire.request["messages"])


async def test_a_plan_is_shown_beside_the_editor_that_is_typed_into(vscode: VSCode, wire: Wire) -> None:
    await vscode.press("Control+Home")
    await vscode.palette("Odin: Plan")
    wire.play(says(PLAN))
    await vscode.answer("fix it")
    plan = "vscode.window.visibleTextEditors.find((it) => it.document.fileName.endsWith('.plan.md'))"
    assert PLAN.strip() in await vscode.until(f"{plan}?.document.getText()")
    await vscode.type("x")
    await vscode.has_text(f"x{CODE}")


async def test_a_model_is_selected(vscode: VSCode) -> None:
    await vscode.palette("Odin: Select Model")
    await vscode.pick("anthropic/claude-haiku")
    await expect(vscode.status("haiku")).to_be_visible()
    await vscode.palette("Odin: Select Model")
    await vscode.pick("anthropic/claude-sonnet-5-5")
    await expect(vscode.status("sonnet")).to_be_visible()


async def test_what_would_be_sent_is_shown(vscode: VSCode) -> None:
    await vscode.palette("Odin: Show What Would Be Sent")
    await vscode.until("vscode.window.activeTextEditor?.document.uri.scheme === 'odin-text'")
    assert "# What would be sent" in await vscode.text()


async def test_a_turn_is_cancelled_from_the_status_bar(vscode: VSCode, wire: Wire) -> None:
    wire.play(Answer(held=True))
    await vscode.palette("Odin: Ask")
    await vscode.answer("think")
    await vscode.status("Ask").click()
    await vscode.pick("Cancel Turn")
    await expect(vscode.status("Ask")).to_have_count(0)


async def test_a_change_of_settings_reaches_the_server_that_runs(vscode: VSCode) -> None:
    await vscode.configure("odin.model", "anthropic/claude-opus-4-1")
    await vscode.palette("Odin: Show What Would Be Sent")
    await vscode.until("vscode.window.activeTextEditor?.document.getText().includes('opus')")
    await vscode.configure("odin.model", None)


async def test_a_file_that_changes_on_disk_is_read_again_and_a_dirty_one_is_kept(vscode: VSCode, root: Path) -> None:
    code = root / "code.py"
    code.write_text("changed = True\n")
    await vscode.has_text("changed = True\n")
    await vscode.press("Control+Home")
    await vscode.type("x")
    await vscode.has_text("xchanged = True\n")
    code.write_text("changed = 2\n")
    other = root / "other.py"
    other.write_text("")
    await vscode.open_file(other)
    other.write_text("later = 1\n")
    await vscode.has_text("later = 1\n", other)
    assert await vscode.text(code) == "xchanged = True\n"


async def test_sessions_are_searched_and_resumed(vscode: VSCode, wire: Wire) -> None:
    await vscode.palette("Odin: New Session")
    await expect(said(vscode, "The sign is wrong.")).to_have_count(0)
    await vscode.palette("Odin: Search Sessions")
    await vscode.quick_input.fill("sign is wrong")
    await until(lambda: _is_alone(vscode), "one session is found")
    await vscode.press("Enter")
    await expect(said(vscode, "The sign is wrong.")).to_be_visible()


def said(vscode: VSCode, text: str) -> Locator:
    return vscode.webview().get_by_role("log").get_by_text(text)


async def _is_alone(vscode: VSCode) -> bool:
    return len(await vscode.picks()) == 1
