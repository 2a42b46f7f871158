"""The extension in a real VS Code with the real server: whole turns, from a wish to what is on the disk."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.e2e.steps import play_calls, results, says
from tests.editors.conftest import StartVSCode, lent
from tests.editors.neovim import until
from tests.editors.vscode import NEWEST, VSCode
from tests.editors.vscode_chat import Chat
from tests.support.wire import Answer, Wire, anthropic_error

pytestmark = pytest.mark.asyncio(loop_scope="module")

STEPS = ("Turn the sign in `sum.py`", "Write a test")
PLAN = "# Fix the sum\n\n## Steps\n\n" + "".join(f"- [ ] {it}\n" for it in (*STEPS, "Celebrate"))
SHOWN = "vscode.window.visibleTextEditors.find((it) => it.document.getText().includes(args[0]))?.document.fileName"
REMOVE_LINE = """
    const editor = vscode.window.activeTextEditor;
    const line = editor.document.getText().split("\\n").findIndex((it) => it.includes(args[0]));
    await editor.edit((edit) => edit.delete(editor.document.lineAt(line).rangeIncludingLineBreak));
"""
WRONG_KEY = Answer(
    [anthropic_error(401, "invalid x-api-key")], 401, {"content-type": "application/json"}, framing="length"
)


@pytest.fixture(scope="module")
def programs(installed: Path) -> Path:
    return installed


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def shared(start_vscode: StartVSCode, vsix: Path) -> VSCode:
    return await start_vscode(vsix, ODIN_TITLES="false")


@pytest_asyncio.fixture(loop_scope="module")
async def vscode(shared: VSCode, wire: Wire, tmp_path: Path) -> AsyncIterator[VSCode]:
    """As if it had just been started."""
    async with lent(shared, wire, tmp_path):
        yield shared


@pytest.fixture
def chat(vscode: VSCode) -> Chat:
    return Chat(vscode)


async def test_a_question_about_a_selection_is_answered_in_the_chat(
    vscode: VSCode, chat: Chat, wire: Wire, root: Path
) -> None:
    (root / "greet.py").write_text("def greet():\n    return 'hello'\n\n\ngreet()\n")
    wire.play(says("It says **hello**: see `greet.py:2` and [the call](greet.py#L5)."))
    await vscode.open_file(root / "greet.py")
    await vscode.select(1, 2)

    await vscode.palette("Odin: Ask…")
    await vscode.answer("what does it do?")

    await expect(chat.turn.get_by_text("It says hello")).to_be_visible()
    await expect(chat.turn.locator("strong")).to_have_text("hello")
    told = str(wire.request["messages"])
    assert f'file="{root / "greet.py"}" lines="1-2"' in told
    assert "def greet():\\n    return 'hello'" in told.replace("\\'", "'")
    assert "greet()\\n" not in told
    assert await vscode.dirty() == []

    await chat.turn.get_by_role("link", name="greet.py:2").click()
    await vscode.until("vscode.window.activeTextEditor?.selection.active.line === 1")
    await chat.turn.get_by_role("link", name="the call").click()
    await vscode.until("vscode.window.activeTextEditor?.selection.active.line === 4")


async def test_a_plan_is_changed_by_hand_and_carried_out(vscode: VSCode, chat: Chat, wire: Wire, root: Path) -> None:
    code, test = root / "sum.py", root / "test_sum.py"
    code.write_text("def add(a, b):\n    return a - b\n")
    test.unlink(missing_ok=True)
    await vscode.open_file(code)
    wire.play(says(PLAN))
    await vscode.palette("Odin: Plan…")
    await vscode.answer("fix the sum")
    plan = Path(await vscode.until(SHOWN, "Celebrate"))
    await vscode.page.get_by_role("tab", name=plan.name).click()
    await vscode.until("vscode.window.activeTextEditor?.document.fileName === args[0]", str(plan))
    await vscode.eval(REMOVE_LINE, "Celebrate")

    play_calls(wire, ("Read", {"file_path": str(code)}))
    play_calls(wire, ("EditTool", {"file_path": str(code), "old_string": "a - b", "new_string": "a + b"}))
    play_calls(wire, todos("completed", "in_progress"))
    play_calls(wire, ("WriteFile", {"file_path": str(test), "content": "from sum import add\n"}))
    play_calls(wire, todos("completed", "completed"))
    wire.play(says("Both steps are done."))
    await vscode.lens("Run the open steps").click()
    await expect(vscode.page.get_by_role("tab", name="sum.py (Odin)")).to_be_visible()
    assert "Celebrate" not in str(wire.request["messages"][-3])
    assert code.read_text() == "def add(a, b):\n    return a - b\n"
    await vscode.palette("Odin: Accept All Changes")
    await expect(vscode.page.get_by_role("tab", name="test_sum.py (Odin: new file)")).to_be_visible()
    await vscode.palette("Odin: Accept All Changes")

    await expect(chat.turn.get_by_text("Both steps are done.")).to_be_visible()
    await expect(chat.turn.get_by_role("region", name="Todos")).to_contain_text("2/2")
    ticked = "".join(f"- [x] {it}\n" for it in STEPS)
    await until(lambda: holds(vscode, plan, ticked), "the boxes are ticked")
    await until(lambda: on_disk(code, "a + b"), "the code is saved")
    await until(lambda: on_disk(test, "from sum import add"), "the test is saved")


@NEWEST
async def test_a_wrong_key_is_told_with_what_to_do(vscode: VSCode, chat: Chat, wire: Wire) -> None:
    wire.play(WRONG_KEY)
    await vscode.palette("Odin: Ask…")
    await vscode.answer("are you there?")
    await expect(chat.turn.locator(".end")).to_contain_text("does not accept the key")
    await chat.turn.get_by_role("button", name="Set API Key…").click()
    await expect(vscode.page.locator(".quick-input-widget:visible")).to_contain_text("Anthropic API Key")
    await vscode.press("Escape")
    wire.play(says("Yes, I am."))
    await chat.turn.get_by_role("button", name="Try Again").click()
    await expect(chat.turn.get_by_text("Yes, I am.")).to_be_visible()


@NEWEST
async def test_a_file_that_goes_away_under_review_is_told(vscode: VSCode, chat: Chat, wire: Wire, root: Path) -> None:
    path = root / "gone.txt"
    path.write_text("one\ntwo\n")
    play_calls(wire, ("Read", {"file_path": str(path)}))
    play_calls(wire, ("EditTool", {"file_path": str(path), "old_string": "two", "new_string": "2"}))
    wire.play(says("As it is."))
    await vscode.palette("Odin: Edit…")
    await vscode.answer("write a number")
    await expect(vscode.page.get_by_role("tab", name="gone.txt (Odin)")).to_be_visible()
    path.unlink()
    await vscode.respond("gone.txt was deleted", "Reject")
    await expect(chat.turn.get_by_text("As it is.")).to_be_visible()
    assert "rejected" in results(wire)[0]
    assert not path.exists()


@NEWEST
async def test_of_two_files_with_one_name_the_right_one_is_changed(
    vscode: VSCode, chat: Chat, wire: Wire, place: Path
) -> None:
    """The last: from here on two folders are open."""
    first, second = (place / name / "src" / "app.py" for name in ("first", "second"))
    for path in (first, second):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("port = 80\n")
    workspace = place / "both.code-workspace"
    workspace.write_text(json.dumps({"folders": [{"path": "first"}, {"path": "second"}]}))
    await vscode.open(workspace)
    await vscode.open_file(first)
    await expect(vscode.status("claude")).to_be_visible()
    play_calls(wire, ("Read", {"file_path": str(second)}))
    play_calls(wire, ("EditTool", {"file_path": str(second), "old_string": "80", "new_string": "8080"}))
    wire.play(says("It listens elsewhere: `second/src/app.py:1`."))
    await vscode.palette("Odin: Edit…")
    await vscode.answer("another port for the second")
    await expect(vscode.page.get_by_role("tab", name="app.py (Odin)")).to_be_visible()
    await vscode.palette("Odin: Accept All Changes")
    await expect(chat.turn.get_by_text("It listens elsewhere")).to_be_visible()
    await until(lambda: on_disk(second, "port = 8080\n"), "the second is changed")
    assert first.read_text() == "port = 80\n"
    await vscode.tidy()
    await chat.turn.get_by_role("link", name="second/src/app.py:1").click()
    await vscode.until("vscode.window.activeTextEditor?.document.fileName === args[0]", str(second))


def todos(*statuses: str) -> tuple[str, dict[str, Any]]:
    steps = zip(STEPS, statuses, strict=True)
    return "TodoWrite", {
        "todos": [
            {"id": f"step-{number}", "content": content, "status": status}
            for number, (content, status) in enumerate(steps, 1)
        ]
    }


async def holds(vscode: VSCode, path: Path, text: str) -> bool:
    return text in await vscode.text(path)


async def on_disk(path: Path, text: str) -> bool:
    return text in path.read_text()
