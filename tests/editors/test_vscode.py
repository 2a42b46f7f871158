"""The extension in a real VS Code with the real server: what a person does, and what they see."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.e2e.steps import says
from tests.editors.conftest import StartVSCode
from tests.editors.vscode import VSCode
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def shared(start_vscode: StartVSCode, vsix: Path) -> VSCode:
    return await start_vscode(vsix)


@pytest_asyncio.fixture(loop_scope="module")
async def vscode(shared: VSCode, wire: Wire, tmp_path: Path) -> AsyncIterator[VSCode]:
    """As if it had just been started."""
    wire.answers.clear()
    yield shared
    await shared.screenshot(tmp_path / "end.png")
    await shared.tidy()
    assert not wire.answers


async def test_a_question_about_a_selection_is_answered_in_the_chat(vscode: VSCode, wire: Wire, root: Path) -> None:
    (root / "greet.py").write_text("def greet():\n    return 'hello'\n")
    wire.play(says("It says **hello**."))
    await vscode.open_file(root / "greet.py")
    await vscode.select(1, 2)

    await vscode.palette("Odin: Ask…")
    await vscode.answer("what does it do?")

    await expect(vscode.webview().get_by_role("log").get_by_text("It says hello.")).to_be_visible()
    assert "def greet():" in str(wire.request["messages"])
    assert await vscode.dirty() == []
