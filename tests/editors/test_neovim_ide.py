"""Neovim as the IDE of agents in a terminal: they know what is selected, and what they have written is saved."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.editors.conftest import StartNeovim, Write, at_home
from tests.editors.neovim import NEWEST, NOTE_EVENTS, READY, Neovim, until
from tests.editors.test_neovim import CHOOSE, happened
from tests.support.ide import claude

pytestmark = [pytest.mark.asyncio(loop_scope="module"), NEWEST]

LINES = ["one", "two", "three"]
TYPED = "# typed, not saved"


@pytest_asyncio.fixture(loop_scope="module")
async def ide(own_root: Path, write: Write, start_own_neovim: StartNeovim) -> AsyncIterator[Neovim]:
    """With a document that is not saved."""
    settings = Path(at_home(own_root.parent)["XDG_CONFIG_HOME"]) / "odin" / "odinconfig.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"ide": ["claude"]}))
    neovim = await start_own_neovim(str(write("a.txt", *LINES)))
    await neovim.lua(NOTE_EVENTS)
    await neovim.until(READY)
    await neovim.lua(CHOOSE, "Trust this version")
    await neovim.command("OdinTrust")
    await neovim.call("nvim_buf_set_lines", 0, 0, 0, False, [TYPED])
    yield neovim
    await neovim.close()


async def test_an_agent_knows_what_is_selected_and_what_it_has_written_is_saved(ide: Neovim, own_root: Path) -> None:
    file = own_root / "a.txt"
    async with claude(Path(at_home(own_root.parent)["HOME"]) / ".claude" / "ide") as code:
        await ide.call("nvim_input", "2Gvj")

        async def selected() -> bool:
            told = [it["params"] for it in code.told if it["method"] == "selection_changed"]
            return bool(told) and told[-1]["text"] == "one\nt"

        await until(selected, "a selection")
        await ide.call("nvim_input", "<Esc>")

        answer = asyncio.create_task(code.change(file, "one\n2\nthree\n"))
        await happened(ide, "OdinReviewOpened")
        await ide.command("OdinAccept all")
        assert (await answer)[0] == "FILE_SAVED"

        async def saved() -> bool:
            return not await ide.lua("return vim.bo.modified")

        await until(saved, "a document that is saved")
        assert file.read_text() == f"{TYPED}\none\n2\nthree\n"
        assert await ide.lines() == [TYPED, "one", "2", "three"]
