"""An Odin that a terminal has started: it stays for the next command, and for nobody else."""

import asyncio
import json
import os
import pty
import signal

import pytest

from odin_lsp.host import place
from tests.e2e.conftest import ODIN_LSP, PATIENCE
from tests.e2e.steps import said, says
from tests.support.forking import forked


@pytest.fixture
async def at_terminal(root, anthropic, monkeypatch):
    """A command with a person in front of it: what it printed. What it has started is ended."""
    for name, value in anthropic.items():
        monkeypatch.setenv(name, value)

    async def at_terminal(*arguments, **env):
        ours, theirs = pty.openpty()
        process = await asyncio.create_subprocess_exec(
            *(*forked(ODIN_LSP), *arguments),
            cwd=root,
            env={**os.environ, "ODIN_HOST": "on", **env},
            stdin=-3,
            stdout=-1,
            stderr=theirs,
        )
        os.close(theirs)
        async with asyncio.timeout(PATIENCE):
            out, _ = await process.communicate()
        os.set_blocking(ours, False)
        try:
            err = os.read(ours, 65536).decode()
        except OSError:
            err = ""
        os.close(ours)
        return process.returncode, out.decode(), err

    yield at_terminal
    if owner := place.owner_of(root):
        os.kill(owner.pid, signal.SIGKILL)


async def until_gone(root):
    async with asyncio.timeout(PATIENCE):
        while place.owner_of(root):
            await asyncio.sleep(0.05)


async def test_the_first_command_starts_one_and_the_next_one_uses_it(at_terminal, root, wire, run):
    wire.play(says("One."), says("Two."), says("Three."))
    assert await at_terminal("ask", "first") == (0, "One.\n", "")
    owner = place.owner_of(root)
    assert (owner.root, owner.is_resident) == (str(root), True)

    assert await at_terminal("ask", "second") == (0, "Two.\n", "")
    assert said(wire) == ["second"]
    _, out, _ = await run("host", "list")
    assert out == f"{root}  started by a terminal, version {owner.version}, process {owner.pid}\n"
    newest = json.loads((await run("sessions", "list", "--json"))[1])[0]["sessionId"]
    assert await at_terminal("ask", "--session", newest[:12], "third") == (0, "Three.\n", "")
    assert said(wire) == ["second", "third"]
    assert place.owner_of(root) == owner

    assert (await run("host", "stop", "--cwd", str(root)))[0] == 0
    await until_gone(root)
    assert (await run("host", "stop"))[0] == 1
    assert await run("host", "list") == (0, "", "odin: no workspace has one\n")


async def test_each_command_says_what_is_wrong_and_what_the_folder_brings(at_terminal, root, wire):
    (settings := place.state_folder.settings_file()).parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"modle": "x"}))
    hook = {"matcher": "*", "hooks": [{"type": "command", "command": "sh check.sh"}]}
    (root / ".claude").mkdir()
    (root / ".claude/settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [hook]}}))
    wire.play(says("One."), says("Two."))

    for answer in ("One.\n", "Two.\n"):
        code, out, err = await at_terminal("ask", "what is here?")

        assert (code, out) == (0, answer)
        assert "`modle` is not known here" in err
        assert "- hook PreToolUse(*) runs: sh check.sh" in err
        assert "None of this is used until you agree: odin-lsp permissions trust" in err
    assert place.owner_of(root).is_resident


async def test_one_that_nobody_needs_ends(at_terminal, root, wire):
    (settings := place.state_folder.settings_file()).parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"host": {"idle": 0.1}}))
    wire.play(says("One."))
    try:
        assert await at_terminal("ask", "first") == (0, "One.\n", "")
        await until_gone(root)
    finally:
        settings.unlink()


@pytest.mark.parametrize("how", ["setting", "variable", "flag"])
async def test_who_wants_none_starts_none(at_terminal, root, wire, how):
    (settings := place.state_folder.settings_file()).parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"host": {"idle": 0}} if how == "setting" else {}))
    wire.play(says("One."))
    try:
        flags, env = ["--no-host"] if how == "flag" else [], {"ODIN_HOST": "off"} if how == "variable" else {}
        assert await at_terminal("ask", *flags, "first", **env) == (0, "One.\n", "")
        assert place.owner_of(root) is None
    finally:
        settings.unlink()


async def test_a_script_starts_none(run, root, wire, anthropic):
    wire.play(says("One."))

    assert await run("ask", "first", ODIN_HOST="on", **anthropic) == (0, "One.\n", "")
    assert place.owner_of(root) is None


async def test_where_nobody_can_be_asked_it_is_a_no_as_ever(at_terminal, root, wire, step):
    step(("ExecuteCommand", {"command": "touch made"}))
    wire.play(says("Not made."))

    code, out, err = await at_terminal("edit", "make it")

    assert (code, out) == (4, "Not made.\n")
    assert "not allowed: touch made" in err
    assert not (root / "made").exists()


async def test_it_makes_way_for_an_editor(at_terminal, root, wire, start, anthropic):
    wire.play(says("One."))
    await at_terminal("ask", "first")
    await start(**anthropic)
    async with asyncio.timeout(PATIENCE):
        while (owner := place.owner_of(root)) is None or owner.is_resident:
            await asyncio.sleep(0.05)
