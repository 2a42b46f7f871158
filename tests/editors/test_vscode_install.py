"""Where a real VS Code gets the server from if nobody says where it is: it installs the one that the extension carries,
or takes the one of the Python environment that is selected."""

import re
import shutil
import sys
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.editors import wheels
from tests.editors.conftest import StartVSCode
from tests.editors.neovim import until
from tests.editors.processes import servers
from tests.editors.vscode import NEWEST, VSCode
from tests.editors.vscode_chat import Chat
from tests.support.wire import DIALECTS, Answer, Wire

pytestmark = [pytest.mark.asyncio(loop_scope="module"), NEWEST]

HERE = Path(sys.executable).parent
PYTHON_EXTENSION = Path(__file__).parent / "python"
NO_GIT = {"git.enabled": False}
READY = "Odin is ready. Model: offline/odin."
MODELS = Answer([b'{"data": [{"id": "qwen3"}]}'], headers={"content-type": "application/json"})
HELLO_OF_OPENAI = next(it.hello for it in DIALECTS if it.provider == "openai")
RECORD = """
    window.progress = new Set();
    new MutationObserver(() => {
        for (const it of document.querySelectorAll(".notification-list-item-message")) progress.add(it.innerText);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
"""
SELECT = """
    const python = vscode.extensions.getExtension("ms-python.python");
    await python.exports.environments.updateActiveEnvironmentPath(args[0]);
"""


@pytest.fixture(scope="module")
def bare(place: Path) -> dict[str, str]:
    """Variables of somebody who has a Python, but neither Odin nor a key. The Python waits while it is told to."""
    programs = place / "programs"
    programs.mkdir()
    for name in ("dirname", "env", "sh", "sleep"):
        (programs / name).symlink_to(f"/bin/{name}")
    python = programs / "python3"
    python.write_text(
        f'#!/bin/sh\nwhile [ -e {place / "wait"} ]; do sleep 0.1; done\nexec {sys.base_prefix}/bin/python3 "$@"\n'
    )
    python.chmod(0o755)
    return {"PATH": str(programs), "ANTHROPIC_API_KEY": ""}


@pytest.fixture(scope="module")
def code_file(root: Path) -> Path:
    file = root / "code.py"
    file.write_text("def add(a, b):\n    return a - b\n")
    return file


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def vscode(
    start_vscode: StartVSCode, whole_vsix: Path, wheelhouse: Path, bare: dict[str, str], place: Path, wire: Wire
) -> VSCode:
    """There is no server, but Ollama with a model."""
    (place / "wait").touch()
    wire.reply_to = lambda request: MODELS if request is None else None
    variables = {**bare, **wheels.only_from(wheelhouse), "OLLAMA_HOST": wire.url, "ODIN_TITLES": "false"}
    return await start_vscode(whole_vsix, settings=NO_GIT, **variables)


async def test_an_installation_is_offered_in_the_chat_without_alarm_and_can_be_cancelled(
    vscode: VSCode, code_file: Path
) -> None:
    chat = Chat(vscode)
    await vscode.open_file(code_file)
    await expect(vscode.status("Odin: Set Up")).to_be_visible()
    await chat.open()
    await expect(chat.page.get_by_role("region", name="Set up Odin")).to_be_visible()
    await expect(chat.primary).to_have_text(["Install"])
    await expect(chat.page.locator(".example")).to_have_count(0)
    assert await vscode.notifications() == []
    await chat.button("Install").click()
    await installing(vscode).get_by_role("button", name="Cancel", exact=True).click()
    await expect(installing(vscode)).to_have_count(0)
    assert await vscode.notifications() == []
    await expect(vscode.page.locator(".statusbar-item.error-kind", has_text="Odin")).to_have_count(0)


async def test_the_server_is_installed_in_an_environment_of_its_own(vscode: VSCode, place: Path) -> None:
    (place / "wait").unlink()
    await vscode.page.evaluate(RECORD)
    await vscode.palette("Odin: Install Server")
    await expect(vscode.status("odin")).to_have_attribute("aria-label", READY)
    told: list[str] = await vscode.page.evaluate("[...progress]")
    assert any("Creating an environment…" in it for it in told)
    assert any("Unpacking " in it for it in told)
    assert await vscode.notifications() == []


async def test_a_model_on_this_computer_is_offered_and_answers(vscode: VSCode, wire: Wire) -> None:
    chat = Chat(vscode)
    await expect(chat.page.get_by_role("region", name="Set up Odin")).to_contain_text("Ollama runs on this computer.")
    await chat.button("Use qwen3").click()
    await expect(vscode.status("qwen3")).to_be_visible()
    wire.play(Answer([HELLO_OF_OPENAI]))
    await chat.say("hello?")
    await expect(chat.turn).to_contain_text("Grüße")
    await vscode.palette("Odin: Select Model")
    await expect(vscode.page.locator(".quick-input-list")).to_contain_text("Ollama on this computer")
    await vscode.pick("Use Model from Settings")
    await expect(vscode.status("odin")).to_have_attribute("aria-label", READY)


async def test_without_a_model_odin_answers_by_searching(vscode: VSCode) -> None:
    await vscode.palette("Odin: Ask…")
    await vscode.answer("what does add do?")
    await expect(Chat(vscode).turn).to_contain_text("code.py:1")


async def test_without_a_model_odin_renames_in_all_files(vscode: VSCode, root: Path) -> None:
    files = [root / "cart.py", root / "shop.py"]
    for file in files:
        file.write_text("total = 1\n")
    chat = Chat(vscode)
    await chat.say("rename total to cart_total in all files", "Edit")
    await chat.review.get_by_role("button", name="Accept All").click()
    for file in files:
        await vscode.has_text("cart_total = 1\n", file)
    await expect(chat.turn.locator(".figures")).to_be_visible()


async def test_a_newer_server_takes_the_place_of_the_old_one(vscode: VSCode) -> None:
    (program,) = servers(vscode).values()
    old = program.parent.parent
    (old / "installed-from").write_text("odin_lsp-0.0.0-py3-none-any.whl")
    await vscode.palette("Odin: Restart Server")
    await vscode.respond("contains a newer server", "Update")

    async def replaced() -> bool:
        running = [it.parent.parent for it in servers(vscode).values()]
        return len(running) == 1 and running != [old]

    await until(replaced, "only the new server runs")
    await expect(vscode.status("odin")).to_have_attribute("aria-label", READY)


async def test_the_server_of_the_selected_python_environment_is_used(
    start_vscode: StartVSCode, vsix: Path, bare: dict[str, str], place: Path, code_file: Path
) -> None:
    other, without = environment(place / "other", HERE / "odin-lsp"), environment(place / "without")
    settings = {**NO_GIT, "python.defaultInterpreterPath": str(HERE / "python")}
    vscode = await start_vscode(vsix, PYTHON_EXTENSION, settings=settings, **bare)
    await vscode.open_file(code_file)
    await runs(vscode, HERE / "odin-lsp")

    await vscode.eval(SELECT, str(without))
    await vscode.eval(SELECT, str(HERE / "python"))
    await vscode.eval(SELECT, str(other))
    await runs(vscode, other.parent / "odin-lsp")
    await expect(vscode.status("odin")).to_have_attribute("aria-label", READY)
    assert started(vscode) == [HERE / "odin-lsp", other.parent / "odin-lsp"]
    assert await vscode.notifications() == []


def environment(folder: Path, *programs: Path) -> Path:
    """With its Python, and programs of another environment; its interpreter."""
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    for program in programs:
        shutil.copy2(program, python.parent)
    return python


async def runs(vscode: VSCode, program: Path) -> None:
    async def alone() -> bool:
        return list(servers(vscode).values()) == [program]

    await until(alone, f"only {program} runs")


def started(vscode: VSCode) -> list[Path]:
    """All servers so far, as the log has them."""
    (log,) = Path(f"/proc/{vscode.process.pid}/cwd").resolve().rglob("Odin.log")
    return [Path(it) for it in re.findall(r"The server is (\S+) \(python\)", log.read_text())]


def installing(vscode: VSCode) -> Locator:
    return vscode.notification("Installing Odin's server")
