"""A shell and an agent of others beside a real VS Code: all work with one Odin, on the text that is in its editor."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from mcp import Client, StdioServerParameters
from playwright.async_api import expect

from tests.e2e.steps import results, said, says
from tests.editors.conftest import StartVSCode, lent
from tests.editors.neovim import until
from tests.editors.test_vscode_review import AFTER, BEFORE, CHANGES, has_no_review, play_edit, shows, write
from tests.editors.vscode import NEWEST, VSCode
from tests.editors.vscode_chat import Chat
from tests.support.wire import Wire

pytestmark = [pytest.mark.asyncio(loop_scope="module"), NEWEST]

TYPED = "typed, not saved\n"
REVIEWED = TYPED + AFTER.replace("line 15\nadded\n", "line 15\n")
"""The second of three changes was rejected."""


@pytest.fixture(scope="module")
def programs(installed: Path) -> Path:
    return installed


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def shared(start_vscode: StartVSCode, vsix: Path) -> VSCode:
    return await start_vscode(vsix, settings={"files.autoSave": "off"})


@pytest_asyncio.fixture(loop_scope="module")
async def vscode(shared: VSCode, wire: Wire, tmp_path: Path) -> AsyncIterator[VSCode]:
    async with lent(shared, wire, tmp_path):
        yield shared


async def types(vscode: VSCode, path: Path) -> None:
    """What is not saved. The first file that is opened has the server started."""
    await vscode.open_file(path)

    async def listens() -> bool:
        return any((path.parents[1] / "run" / "odin").glob("*.sock"))

    await until(listens, "a socket")
    await vscode.press("Control+Home")
    await vscode.type(TYPED)
    await vscode.has_text(TYPED + BEFORE, path)


async def decides(vscode: VSCode, name: str) -> None:
    await shows(vscode, f"{name} (Odin)")
    await expect(vscode.lens("Accept Change")).to_have_count(3)
    await vscode.lens("Accept Change").first.click()
    await expect(vscode.lens("Accept Change")).to_have_count(2)
    await vscode.lens("Reject Change").first.click()
    await expect(vscode.lens("Accept Change")).to_have_count(1)
    await vscode.lens("Accept Change").first.click()
    await has_no_review(vscode)


async def test_an_edit_from_a_shell_is_reviewed_in_vs_code_on_the_text_that_is_there(
    vscode: VSCode, wire: Wire, root: Path, env: dict[str, str]
) -> None:
    path = write(root, "shell.txt")
    await types(vscode, path)
    play_edit(wire, path)
    process = await asyncio.create_subprocess_exec(
        *("odin-lsp", "edit", "change it"), cwd=root, env=env, stdin=-3, stdout=-1, stderr=-1
    )
    await decides(vscode, "shell.txt")
    out, err = await process.communicate()

    assert (process.returncode, out.decode()) == (0, "done\n")
    assert err.decode() == "info: waiting for your answer in the editor\n"
    assert "2 accepted, 1 rejected" in results(wire)[0]
    await vscode.has_text(REVIEWED, path)
    assert path.read_text() == BEFORE
    await vscode.open_file(path)
    await vscode.command("workbench.action.files.save")
    assert path.read_text() == REVIEWED

    chat = Chat(vscode)
    await chat.open()
    await expect(chat.said.last).to_contain_text("change it")
    wire.play(says("Not at all."), says("Really."))
    await chat.say("was it hard?")
    await expect(chat.turn).to_contain_text("Not at all.")
    again = await asyncio.create_subprocess_exec(
        *("odin-lsp", "ask", "really?"), cwd=root, env=env, stdin=-3, stdout=-1, stderr=-1
    )
    assert (await again.communicate())[0] == b"Really.\n"
    assert said(wire) == ["change it", "was it hard?", "really?"]


async def test_what_an_agent_of_others_proposes_is_reviewed_in_vs_code_under_its_name(
    vscode: VSCode, root: Path, env: dict[str, str]
) -> None:
    path = write(root, "agent.txt")
    await types(vscode, path)
    edits = [{"old_string": old, "new_string": new} for old, new in CHANGES]
    server = StdioServerParameters(command="odin-lsp", args=["mcp", "serve"], env=env, cwd=root)
    async with Client(server) as agent:
        read = await agent.call_tool("Read", {"file_path": "agent.txt"})
        editing = asyncio.create_task(agent.call_tool("MultiEditTool", {"file_path": "agent.txt", "edits": edits}))
        await shows(vscode, "agent.txt (Odin)")
        named = vscode.page.locator(".editor-group-container.active .codelens-decoration", has_text="mcp")
        await expect(named).to_have_count(3)
        await decides(vscode, "agent.txt")
        edited = await editing

    assert TYPED.strip() in read.content[0].text
    assert edited.content[0].text.startswith("agent.txt: 2 accepted, 1 rejected.")
    await vscode.has_text(REVIEWED, path)
    assert path.read_text() == BEFORE
