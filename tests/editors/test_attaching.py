"""A shell beside a real Neovim: both work with one Odin, on the text in the buffer and in one conversation."""

import asyncio
from pathlib import Path

import pytest

from tests.e2e.steps import play_calls, results, said, says
from tests.editors.code_server import acp_client
from tests.editors.conftest import Write, at_home, skipped_if_unavailable
from tests.editors.neovim import NEWEST, Neovim, until
from tests.editors.test_neovim import NAMED, attached, happened, reads
from tests.support.wire import Wire

pytestmark = [pytest.mark.asyncio(loop_scope="module"), NEWEST]

LINES = ["def greet(name):", "    return f'hello {name}'", "", "", "def leave(name):", "    return f'bye {name}'"]
TYPED = "# typed, not saved"
EDITS = [
    {"old_string": "hello {name}", "new_string": "Hello, {name}!"},
    {"old_string": "bye {name}", "new_string": "Goodbye, {name}!"},
]
CHANGED = [TYPED, LINES[0], "    return f'Hello, {name}!'", *LINES[2:]]


@pytest.fixture(scope="module")
def programs(installed: Path) -> Path:
    return installed


async def shell(root: Path, env: dict[str, str], *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *("odin-lsp", *arguments), cwd=root, env={**env, **at_home(root.parent)}, stdin=-3, stdout=-1, stderr=-1
    )


async def opened(neovim: Neovim, file: Path, root: Path) -> None:
    """With a line that is not saved."""
    await attached(neovim, file)
    await neovim.call("nvim_buf_set_lines", 0, 0, 0, False, [TYPED])
    sockets = root.parent / "run" / "odin"

    async def listens() -> bool:
        return any(sockets.glob("*.sock"))

    await until(listens, "a socket")


async def decide(neovim: Neovim) -> None:
    await happened(neovim, "OdinReviewOpened")
    await neovim.command("/hello")
    await neovim.command("OdinAccept")
    await neovim.command("/bye")
    await neovim.command("OdinReject too formal")


async def test_an_edit_from_a_shell_is_reviewed_in_neovim_on_the_text_that_is_there(
    neovim: Neovim, wire: Wire, write: Write, own_root: Path, env: dict[str, str]
) -> None:
    file = write("greet.py", *LINES)
    await opened(neovim, file, own_root)
    reads(wire, file)
    play_calls(wire, ("MultiEditTool", {"file_path": str(file), "edits": EDITS}))
    wire.play(says("Polite, as far as you wanted it."))

    process = await shell(own_root, env, "edit", "be polite")
    await decide(neovim)
    out, err = await process.communicate()

    assert (process.returncode, out.decode()) == (0, "Polite, as far as you wanted it.\n")
    assert err.decode() == "info: waiting for your answer in the editor\n"
    assert "too formal" in results(wire)[0]
    assert await neovim.lines() == CHANGED
    assert file.read_text().splitlines() == LINES
    await neovim.command("write")
    assert file.read_text().splitlines() == CHANGED

    shown = await neovim.lines(await neovim.lua(NAMED, "odin://chat"))
    assert "be polite" in shown
    assert "Polite, as far as you wanted it." in shown
    wire.play(says("No."), says("Not at all."))
    await neovim.command("OdinAsk was it hard?")
    await neovim.until("#_G.finished >= 2")
    again = await shell(own_root, env, "ask", "really?")
    assert (await again.communicate())[0] == b"Not at all.\n"
    asked = said(wire)
    assert asked == ["be polite", "was it hard?", "really?"]


async def test_an_edit_of_a_client_of_acp_is_reviewed_in_neovim_on_the_text_that_is_there(
    neovim: Neovim, wire: Wire, write: Write, own_root: Path, env: dict[str, str]
) -> None:
    with skipped_if_unavailable():
        acpx = acp_client()
    file = write("agreet.py", *LINES)
    await opened(neovim, file, own_root)
    reads(wire, file)
    play_calls(wire, ("MultiEditTool", {"file_path": str(file), "edits": EDITS}))
    wire.play(says("Polite, as far as you wanted it."))

    process = await asyncio.create_subprocess_exec(
        *(acpx, "--agent", "odin-lsp acp", "--cwd", own_root, "--format", "json", "--deny-all", "exec", "be polite"),
        cwd=own_root,
        env={**env, **at_home(own_root.parent)},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
    )
    await decide(neovim)
    out, _ = await process.communicate()

    assert b"session/request_permission" not in out
    assert b"Polite, as far as you wanted it." in out
    assert "too formal" in results(wire)[0]
    assert TYPED in str(wire.request["messages"])
    assert await neovim.lines() == CHANGED
    assert file.read_text().splitlines() == LINES
