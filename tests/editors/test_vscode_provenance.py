"""A comment that is done with a click in a real VS Code, and the hover that tells afterwards who wrote the line."""

import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.e2e.steps import play_calls, says
from tests.editors.conftest import StartVSCode, lent
from tests.editors.vscode import NEWEST, VSCode
from tests.support.wire import Wire

pytestmark = [pytest.mark.asyncio(loop_scope="module"), NEWEST]

SERVER = str(Path(sys.executable).parent / "odin-lsp")
CODE = "def add(a, b):\n    return a - b\n"
COMMENT = "# turn the sign AI!\n"
DONE = CODE.replace("-", "+")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def window(start_vscode: StartVSCode, vsix: Path) -> VSCode:
    settings = {"odin.server.path": SERVER, "odin.review.policy": "auto", "files.autoSave": "off"}
    return await start_vscode(vsix, settings=settings, ODIN_TITLES="false")


@pytest_asyncio.fixture(loop_scope="module")
async def vscode(window: VSCode, wire: Wire, root: Path, tmp_path: Path) -> AsyncIterator[VSCode]:
    async with lent(window, wire, tmp_path):
        (root / "code.py").write_text(CODE)
        await window.open_file(root / "code.py")
        await expect(window.status("claude")).to_be_visible()
        yield window


async def test_a_comment_is_done_and_the_line_leads_back_to_its_turn(vscode: VSCode, wire: Wire, root: Path) -> None:
    path = str(root / "code.py")
    await vscode.press("Control+Home")
    await vscode.type(COMMENT)
    await vscode.has_text(COMMENT + CODE)
    play_calls(wire, ("Read", {"file_path": path}))
    play_calls(wire, ("EditTool", {"file_path": path, "old_string": COMMENT + CODE, "new_string": DONE}))
    wire.play(says("The sign is turned."))
    await vscode.lens("Odin: Do this").click()
    log = vscode.webview().get_by_role("log")
    await expect(log.get_by_text("The sign is turned.")).to_be_visible()
    await vscode.has_text(DONE)
    await vscode.palette("Odin: New Session")
    await expect(log.get_by_text("The sign is turned.")).to_have_count(0)

    await vscode.open_file(root / "code.py")
    await vscode.select(2, 2)
    await vscode.command("editor.action.showHover")
    hover = vscode.page.locator(".monaco-hover:visible")
    await expect(hover).to_contain_text(re.compile(r"Odin wrote this line · accepted.*turn the sign", re.DOTALL))
    await hover.get_by_text("Open Session").click()
    await expect(log.get_by_text("The sign is turned.")).to_be_visible()

    await vscode.open_file(root / "code.py")
    await vscode.select(2, 2)
    await vscode.command("editor.action.showHover")
    await hover.get_by_text("Undo Change").click()
    await vscode.has_text(CODE)  # that the comment is gone was a change of its own
    await expect(vscode.notification("Bring Back")).to_be_visible()
