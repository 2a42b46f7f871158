"""A real agent of npm's in a terminal beside a real Neovim, which is its IDE: its diffs are reviewed in it."""

import json
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from tests.editors.agents import AGENTS, SAYS, Agent, Model, environment
from tests.editors.agents import GEMINI as GEMINI_SETTINGS
from tests.editors.conftest import NOTE_EVENTS, READY, StartNeovim, Write, at_home, program
from tests.editors.debian import TMUX
from tests.editors.neovim import NEWEST, Neovim, until
from tests.editors.terminal import Terminal
from tests.editors.test_neovim import CHOOSE, happened
from tests.support.wire import Wire

pytestmark = [pytest.mark.asyncio(loop_scope="module"), NEWEST]

LINES = ["def greet():", "    print('hello')", "", "", "def leave():", "    print('bye')", "", "", "COUNT = 1"]
WANTED = ["def greet():", "    print('Hello!')", "", "", "def leave():", "    print('Farewell!')", "", "", "COUNT = 2"]
TYPED = "# typed, not saved"
FOLLOW = "Follow the script."
GEMINI = {**GEMINI_SETTINGS, "ide": {"enabled": True, "hasSeenNudge": True}}


@pytest_asyncio.fixture(loop_scope="module")
async def beside(own_root: Path, write: Write, start_own_neovim: StartNeovim) -> AsyncIterator[Neovim]:
    """A Neovim that agents may use as their IDE, with a document that is not saved."""
    settings = Path(at_home(own_root.parent)["XDG_CONFIG_HOME"]) / "odin" / "odinconfig.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"ide": ["claude", "gemini"]}))
    file = write("greet.py", *LINES)
    neovim = await start_own_neovim(str(file), TMPDIR=str(own_root.parent / "run"))
    await neovim.lua(NOTE_EVENTS)
    await neovim.until(READY)
    await neovim.lua(CHOOSE, "Trust this version")
    await neovim.command("OdinTrust")
    await neovim.call("nvim_buf_set_lines", 0, 0, 0, False, [TYPED])
    yield neovim
    await neovim.close()


@asynccontextmanager
async def running(
    agent: Agent, own_root: Path, env: Mapping[str, str], url: str, *words: str
) -> AsyncIterator[Terminal]:
    around = environment(agent, {**env, **at_home(own_root.parent)}, own_root, url)
    own = {"TERM": "xterm-256color", "TMPDIR": str(own_root.parent / "run")}
    here = {**around, **own, "REMOTE_CONTAINERS": "1"}  # else Gemini CLI in a container looks for its IDE elsewhere
    here.pop("CI")  # it would not be interactive
    terminal = Terminal(shutil.which("tmux") or str(program(TMUX)), own_root.parent / "run", here)
    await terminal.start([str(agent.program()), *words], own_root)
    try:
        yield terminal
    except AssertionError as error:
        raise AssertionError(f"{error}; the agent shows:\n{await terminal.screen()}") from None
    finally:
        await terminal.close()


async def decide(neovim: Neovim) -> None:
    """The first and the last of three."""
    await happened(neovim, "OdinReviewOpened")
    for place, command in (("hello", "OdinAccept"), ("bye", "OdinReject too formal"), ("COUNT", "OdinAccept")):
        await neovim.command(f"execute '/{place}' | {command}")


async def is_as_reviewed(neovim: Neovim, file: Path) -> None:
    """In the buffer and on the disk, and nothing is left to save."""
    expected = [TYPED, *WANTED]
    expected[6] = LINES[5]
    assert await neovim.lines() == expected

    async def saved() -> bool:
        return not await neovim.lua("return vim.bo.modified")

    await until(saved, "a document that is saved")
    assert file.read_text().splitlines() == expected


async def test_gemini_cli_has_an_edit_reviewed_in_neovim(
    beside: Neovim, wire: Wire, own_root: Path, env: dict[str, str]
) -> None:
    home, file = Path(at_home(own_root.parent)["HOME"]), own_root / "greet.py"
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text(json.dumps(GEMINI))
    await until_there(own_root.parent / "run" / "gemini" / "ide", "*.json")
    edit = {
        "file_path": str(file),
        "instruction": "be polite",
        "old_string": "\n".join(LINES),
        "new_string": "\n".join(WANTED),
    }
    model = Model(wire, [("read_file", {"file_path": str(file)}), ("replace", edit)], 1)
    wire.may_answer.clear()

    async with running(AGENTS["gemini"], own_root, env, wire.url, "-m", "gemini-2.5-pro", "-i", FOLLOW) as terminal:
        await terminal.shows("1 open file")  # it asks the model before it has found its IDE
        wire.may_answer.set()
        await decide(beside)
        await terminal.shows(SAYS)

    await is_as_reviewed(beside, file)
    assert TYPED in model.told(2)


async def until_there(folder: Path, pattern: str) -> None:
    async def there() -> bool:
        return any(folder.glob(pattern))

    await until(there, f"{pattern} in {folder}")
