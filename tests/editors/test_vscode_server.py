"""The server's life in a real VS Code: how it is found and started, and what is told if it is not as it should be."""

import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from textwrap import dedent

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.e2e.steps import says
from tests.editors.conftest import StartVSCode
from tests.editors.neovim import until
from tests.editors.processes import servers
from tests.editors.vscode import NEWEST, VSCode
from tests.editors.vscode_chat import Chat
from tests.support.wire import Answer, Wire, anthropic_error

pytestmark = [pytest.mark.asyncio(loop_scope="module"), NEWEST]

SECRET = "sk-ant-never-to-be-seen"
WRONG_KEY = Answer([anthropic_error(401, "invalid x-api-key")], 401, {"content-type": "application/json"})
SERVER = Path(sys.executable).parent / "odin-lsp"
INITIALIZED = """
    import json, sys

    def read():
        length = 0
        while line := sys.stdin.buffer.readline().strip():
            length = int(line.split(b":")[1])
        return json.loads(sys.stdin.buffer.read(length))

    def answer(experimental):
        result = {"capabilities": {"experimental": experimental}}
        body = json.dumps({"jsonrpc": "2.0", "id": read()["id"], "result": result}).encode()
        sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n%s" % (len(body), body))
        sys.stdout.buffer.flush()
"""
ODIN = '{"odin": {"version": 1, "server": "0", "model": "m", "smallModel": "m", "modes": [], "tools": []}}'
Write = Callable[[str, str], Path]


@pytest.fixture(scope="module")
def programs(installed: Path) -> Path:
    return installed


@pytest.fixture(scope="module")
def program(place: Path) -> Write:
    """Write a program that stands where the server should be."""

    def write(name: str, code: str) -> Path:
        path = place / name
        path.write_text(f"#!{sys.executable}\n{dedent(INITIALIZED)}\n{dedent(code)}")
        path.chmod(0o755)
        return path

    return write


@pytest.fixture(scope="module")
def first(root: Path) -> Path:
    """A file that is opened."""
    path = root / "first.py"
    path.write_text("def add(a, b):\n    return a - b\n")
    return path


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def window(start_vscode: StartVSCode, vsix: Path, place: Path) -> VSCode:
    """In it there is no server to be found."""
    return await start_vscode(vsix, settings={"odin.server.path": str(place / "nowhere")})


@pytest_asyncio.fixture(loop_scope="module")
async def vscode(window: VSCode) -> AsyncIterator[VSCode]:
    yield window
    await window.tidy()


async def test_nothing_is_started_before_it_is_needed(vscode: VSCode) -> None:
    await expect(vscode.status("Odin")).to_have_attribute("aria-label", "Odin is stopped.")
    assert await vscode.notifications() == []


async def test_a_server_that_is_not_there_is_told_with_what_to_do(vscode: VSCode, first: Path) -> None:
    await vscode.open_file(first)
    told = vscode.notification("which does not exist")
    await expect(told.get_by_role("button", name="Choose…")).to_be_visible()
    await expect(told.get_by_role("button", name="Help")).to_be_visible()
    await expect(vscode.page.locator(".statusbar-item.error-kind", has_text="Odin")).to_be_visible()


async def test_a_setting_that_is_right_again_is_enough(vscode: VSCode) -> None:
    await vscode.configure("odin.server.path", str(SERVER))
    await expect(vscode.status("claude")).to_be_visible()


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ('print("hello"); sys.stdout.flush(); read()', "is not a language server: its output starts with “hello”"),
        ('sys.exit("No module named pygls")', "No module named pygls"),
        ("answer({}); read(); read()", "is a language server, but not Odin's"),
        ('answer({"odin": {"version": 2, "server": "9"}}); read(); read()', "version 2 of the protocol"),
    ],
    ids=["rubbish", "exits", "another", "newer"],
)
async def test_what_is_no_server_of_ours_is_told(
    vscode: VSCode, program: Write, request: pytest.FixtureRequest, script: str, why: str
) -> None:
    await vscode.configure("odin.server.path", str(program(request.node.callspec.id, script)))
    await expect(vscode.notification(why)).to_be_visible()
    await expect(vscode.notification(why).get_by_role("button", name="Show Log")).to_be_visible()
    assert len(await vscode.notifications()) == 1


async def test_a_program_that_may_not_be_run_is_told(vscode: VSCode, program: Write) -> None:
    path = program("locked", "")
    path.chmod(0o644)
    await vscode.configure("odin.server.path", str(path))
    await expect(vscode.notification("is not executable")).to_be_visible()


async def test_a_server_that_keeps_ending_is_given_up_with_its_last_words(vscode: VSCode, program: Write) -> None:
    path = program("mortal", f'answer({ODIN}); read(); print("the disk is full", file=sys.stderr)')
    await vscode.configure("odin.server.path", str(path))
    told = vscode.notification("keeps stopping")
    await expect(told).to_contain_text("the disk is full")
    for name in ("Restart", "Show Log", "Run Doctor"):
        await expect(told.get_by_role("button", name=name)).to_be_visible()


async def test_a_server_that_dies_is_started_again(vscode: VSCode) -> None:
    await vscode.configure("odin.server.path", str(SERVER))
    await expect(vscode.status("claude")).to_be_visible()
    (server,) = servers(vscode)
    os.kill(server, signal.SIGKILL)
    await expect(vscode.page.locator(".statusbar-item.warning-kind", has_text="Odin")).to_be_visible()
    await expect(vscode.status("claude")).to_be_visible()
    assert server not in servers(vscode)
    assert await vscode.notifications() == []


async def test_the_doctor_examines_the_installation(vscode: VSCode) -> None:
    await vscode.palette("Odin: Run Doctor")
    await vscode.until("vscode.window.activeTextEditor?.document.uri.scheme === 'odin-text'")
    assert "✓ Odin" in await vscode.text()
    await vscode.type("x")
    assert "✓ Odin" in await vscode.text()
    assert await vscode.dirty() == []


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def unkeyed(start_vscode: StartVSCode, vsix: Path) -> VSCode:
    """Without a key, and with logs that tell all."""
    settings = {"odin.trace.server": "verbose"}
    return await start_vscode(vsix, settings=settings, ANTHROPIC_API_KEY="", LOG_LEVEL="trace")


async def test_a_key_is_checked_used_and_written_nowhere(unkeyed: VSCode, first: Path, place: Path, wire: Wire) -> None:
    vscode = unkeyed
    await vscode.open_file(first)
    await expect(vscode.status("odin")).to_have_attribute("aria-label", "Odin is ready. Model: offline/odin.")
    await vscode.palette("Odin: Set API Key")
    await vscode.pick("Anthropic")
    wire.play(WRONG_KEY, Answer([b"{}"]))
    await vscode.answer(f"{SECRET}-wrong")
    typed_into = vscode.page.locator(".quick-input-widget:visible")
    await expect(typed_into).to_contain_text("Anthropic does not accept this key (invalid x-api-key)")
    await vscode.answer(SECRET)
    await expect(vscode.status("claude")).to_be_visible()
    files = [*Path(f"/proc/{vscode.process.pid}/cwd").resolve().rglob("*"), *place.rglob("*")]
    written = {file: file.read_bytes() for file in files if file.is_file()}
    assert any(b"[hidden]" in content for file, content in written.items() if file.name == "Odin.log")
    assert [file for file, content in written.items() if SECRET.encode() in content] == []


async def test_the_doctor_knows_the_key_that_vs_code_keeps(unkeyed: VSCode) -> None:
    await unkeyed.palette("Odin: Run Doctor")
    await unkeyed.until("vscode.window.activeTextEditor?.document.uri.scheme === 'odin-text'")
    found = await unkeyed.text()
    assert "anthropic/claude" in found
    assert "no language model is set" not in found
    assert SECRET not in found


async def test_a_key_that_is_no_longer_accepted_is_mended_where_it_was_typed(unkeyed: VSCode, wire: Wire) -> None:
    chat = Chat(unkeyed)
    await chat.open()
    (server,) = servers(unkeyed)
    wire.play(WRONG_KEY)
    await chat.say("are you there?")
    await expect(chat.turn.locator(".end")).to_contain_text("does not accept the key")
    await expect(chat.turn.locator(".end")).not_to_contain_text("ANTHROPIC_API_KEY")
    await expect(chat.primary).to_have_text(["Set API Key…"])
    await chat.button("Set API Key…").click()
    await expect(unkeyed.page.locator(".quick-input-widget:visible")).to_contain_text("Anthropic API Key")
    wire.play(Answer([b"{}"]))
    await unkeyed.answer(f"{SECRET}-anew")
    await until(lambda: _others(unkeyed, server), "the server has the new key")
    await expect(unkeyed.status("claude")).to_be_visible()
    wire.play(says("Yes, I am."))
    await chat.turn.get_by_role("button", name="Try Again").click()
    await expect(chat.turn.get_by_text("Yes, I am.")).to_be_visible()


async def test_a_workspace_that_is_not_trusted_is_only_asked_about(
    start_vscode: StartVSCode, vsix: Path, first: Path
) -> None:
    vscode = await start_vscode(vsix, settings={"security.workspace.trust.startupPrompt": "never"}, trust=False)
    await vscode.open_file(first)
    await expect(vscode.status("claude")).to_have_attribute("aria-label", re.compile("only Ask works"))
    (server,) = servers(vscode)
    await vscode.press("F1")
    await vscode.quick_input.fill(">Odin: ")
    picks = await vscode.picks()
    assert any(it.startswith("Odin: Ask") for it in picks)
    assert not any(it.startswith(("Odin: Plan", "Odin: Edit", "Odin: Write ODIN.md", "Odin: Trust")) for it in picks)
    await vscode.press("Escape")
    await vscode.command("workbench.trust.manage")
    await vscode.page.locator(".workspace-trust-editor").get_by_role("button", name="Trust", exact=True).click()
    await expect(vscode.status("claude")).not_to_have_attribute("aria-label", re.compile("only Ask works"))
    await until(lambda: _others(vscode, server), "the server was started anew")


async def _others(vscode: VSCode, server: int) -> bool:
    now = servers(vscode)
    return len(now) == 1 and server not in now
