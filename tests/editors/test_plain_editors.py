"""Editors without a plugin, with the settings of docs/editors.md: ask, and review hunk by hunk with quick fixes."""

from pathlib import Path

import pytest

from tests.e2e.steps import play_calls, results, says
from tests.editors.conftest import program
from tests.editors.debian import EMACS, HELIX
from tests.editors.neovim import until
from tests.editors.terminal import Terminal
from tests.support.wire import Answer, Wire, anthropic_sse, anthropic_start, anthropic_text

pytestmark = pytest.mark.asyncio(loop_scope="module")

DOCS = Path(__file__).parents[2] / "docs" / "editors.md"
OLD = "alpha = 1\nbeta = 2\ngamma = 3\n"
EDITS = [
    {"old_string": "alpha = 1", "new_string": "alpha = 11"},
    {"old_string": "gamma = 3", "new_string": "gamma = 33"},
]


@pytest.fixture
def file(root: Path, wire: Wire) -> Path:
    wire.answers.clear()
    file = root / "plain.py"
    file.write_text(OLD)
    return file


def settings(editor: str) -> str:
    """What the documentation tells the users of an editor to write."""
    section = DOCS.read_text().split(f"\n## {editor}\n")[1]
    return section.split("```")[1].partition("\n")[2]


def play_review(wire: Wire, file: Path) -> None:
    play_calls(wire, ("Read", {"file_path": str(file)}))
    play_calls(wire, ("MultiEditTool", {"file_path": str(file), "edits": EDITS}))
    wire.play(says("Reviewed."))


async def receipts(wire: Wire) -> str:
    async def told() -> bool:
        return not wire.answers

    await until(told, "the model is told")
    return results(wire)[0]


async def _more(wire: Wire, before: int) -> bool:
    return len(wire.sent) > before


async def test_emacs(terminal: Terminal, wire: Wire, root: Path, file: Path, env: dict[str, str]) -> None:
    (Path(env["HOME"]) / ".emacs").write_text(settings("Emacs"))
    await terminal.start([str(program(EMACS)), "-nw", "--no-splash", str(file)], root, height=90)
    await terminal.shows("[eglot:")

    back = ("C-x", "1", "C-x", "b", "Enter")

    async def act(command: str, title: str) -> None:
        await terminal.press("M-x")
        await terminal.write(f"{command}\n")
        await terminal.shows("Pick an action")
        await terminal.write(f"{title}\n")
        await terminal.hides("Pick an action")

    wire.play(says("It counts to three."))
    await terminal.press("C-x", "h")
    await act("eglot-code-actions", "Odin: Explain")
    await terminal.shows("It counts to three.")
    before = len(wire.sent)
    wire.play(Answer([anthropic_sse(anthropic_start(), *anthropic_text(0, "Well"))], held=True))
    await terminal.press(*back, "C-x", "h")
    await act("eglot-code-actions", "Odin: Explain")
    await until(lambda: _more(wire, before), "the model is asked")
    await act("eglot-code-actions", "Odin: Cancel the running turn")
    await terminal.shows("*interrupted*")
    play_review(wire, file)
    await terminal.press(*back, "C-x", "h")
    await act("eglot-code-actions", "Odin: Document")
    await terminal.shows("Odin proposes 2 changes in plain.py")
    assert file.read_text() == OLD
    await terminal.press("M-<")
    await act("eglot-code-action-quickfix", "Odin: Accept this change")
    await terminal.press("M-<", "C-n", "C-n")
    await act("eglot-code-action-quickfix", "Odin: Reject this change")
    assert ": 1 accepted, 1 rejected." in await receipts(wire)
    await terminal.shows("Reviewed.")
    screen = await terminal.shows("alpha = 11")
    assert "gamma = 33" not in screen


async def test_helix(terminal: Terminal, wire: Wire, root: Path, file: Path, env: dict[str, str]) -> None:
    config = Path(env["XDG_CONFIG_HOME"]) / "helix" / "languages.toml"
    config.parent.mkdir()
    config.write_text(settings("Helix"))
    log = root.parent / "helix.log"
    await terminal.start([str(program(HELIX)), "-vv", "--log", str(log), str(file)], root)

    async def ready() -> bool:
        return log.exists() and '"serverInfo"' in log.read_text()

    await until(ready, "the server is there")

    async def command(text: str) -> None:
        await terminal.write(f":{text}")
        await terminal.press("Enter")

    async def act(title: str) -> None:
        """The first entry of the menu is chosen already."""
        await terminal.press("Space", "a")
        screen = await terminal.shows(title)
        entries = [line for line in screen.splitlines() if "Odin: " in line]
        above = next(index for index, entry in enumerate(entries) if title in entry)
        await terminal.press(*["Down"] * above, "Enter")
        await terminal.hides(title)

    wire.play(says("It counts to three."))
    await terminal.press("%")
    await act("Odin: Explain")
    await terminal.shows("It counts to three.")
    play_review(wire, file)
    await command(f"o {file.name}")
    await terminal.shows("gamma = 3")
    await terminal.press("%")
    await act("Odin: Document")
    await terminal.shows("Odin proposes 2 changes in plain.py")
    assert file.read_text() == OLD
    await terminal.press("g", "g")
    await act("Odin: Accept this change")
    await terminal.press("3", "G")
    await act("Odin: Reject this change")
    assert ": 1 accepted, 1 rejected." in await receipts(wire)
    await terminal.shows("It counts to three.")
    await command("reload")  # Helix does not read an open file again by itself
    await terminal.shows("Reviewed.")
    await command(f"o {file.name}")
    assert "gamma = 33" not in await terminal.shows("alpha = 11")
