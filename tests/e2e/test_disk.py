"""A disk that does not help: locks that others keep, folders that cannot be written, files that are none."""

import asyncio
import fcntl
import json
import os
from contextlib import contextmanager

import pytest
from lsprotocol import types

from odin_lsp.sessions.memory import LOCK
from odin_lsp.sessions.store import sessions_folder
from tests.e2e.conftest import PATIENCE
from tests.e2e.steps import results, says


@contextmanager
def kept(path):
    """This process keeps the lock, which to the server is another one."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@pytest.fixture
def state(tmp_path):
    return tmp_path / "state"


def warnings_of(client):
    return [it.message for it in client.lsp.messages if it.type == types.MessageType.Warning]


async def test_a_lock_on_trust_that_is_kept_keeps_nobody_waiting(start, root, state):
    (root / "odinconfig.json").write_text(json.dumps({"model": "offline/other"}))
    (state / "odin").mkdir(parents=True)
    lock = state / "odin" / "trust.lock"
    lock.touch()

    with kept(lock):
        async with asyncio.timeout(PATIENCE):
            client = await start(XDG_STATE_HOME=str(state))
            assert await client.trusts()
            config = (await client.command("state"))["config"]
            while not (warned := warnings_of(client)):
                await client.command("state")
            await client.leave()

    assert config["model"] == "offline/other"
    assert f"{lock} is held by another Odin (process {os.getpid()})" in warned[0]


async def test_notes_that_another_process_locks_hold_up_nothing_else(start, wire, step, anthropic, root, state):
    folder = state / "odin" / "memory" / sessions_folder(root).name
    folder.mkdir(parents=True, mode=0o700)
    (folder / LOCK).touch(mode=0o600)
    client = await start(XDG_STATE_HOME=str(state), **anthropic)
    step(("Memory", {"action": "remember", "text": "something"}))
    step(("Memory", {"action": "remember", "text": "something"}))
    wire.play(says())

    with kept(folder / LOCK):
        turn = asyncio.create_task(client.command("plan", turnId="t", text="begin"))
        async with asyncio.timeout(PATIENCE):
            await client.until_kind("toolStarted", "t")
            assert (await client.command("state"))["executing"]
            await turn
            assert f"is held by another Odin (process {os.getpid()})" in results(wire)[0]


@pytest.fixture
def nowhere(tmp_path):
    """A state folder that cannot be made, whoever tries."""
    (tmp_path / "file").touch()
    return {"XDG_STATE_HOME": str(tmp_path / "file" / "state")}


async def test_work_goes_on_where_nothing_can_be_kept(start, wire, step, anthropic, root, nowhere):
    (root / "odinconfig.json").write_text(json.dumps({"allowedCommands": ["seq"]}))
    client = await start(**anthropic, **nowhere)
    await client.trusts()
    step(("ExecuteCommand", {"command": "seq 3"}))
    wire.play(says("done"))

    outcome = await client.command("edit", turnId="t", text="go")

    assert (outcome["reason"], outcome["answer"]) == ("end_turn", "done")
    assert "1\n2\n3" in results(wire)[0]
    assert [nowhere["XDG_STATE_HOME"] in it and "sessions" in it for it in warnings_of(client)] == [True]


async def test_a_terminal_works_where_nothing_can_be_kept(run, script, nowhere):
    code, out, err = await run("plan", "go", **script({"text": "1. one\n2. two"}), **nowhere)

    assert (code, out) == (0, "1. one\n2. two\n")
    assert [line.partition(" /")[0] for line in err.splitlines()] == [
        "warning: Cannot write to",
        "warning: The session is not being saved:",
    ]


@pytest.mark.parametrize("home", [".", "inside", "{root}/missing"])
async def test_a_home_that_is_no_place_leaves_the_workspace_where_it_is(run, script, root, home):
    (root / "inside").mkdir()
    call = {"calls": [{"name": "Grep", "arguments": {"pattern": "greet"}}]}

    code, _, err = await run(
        "ask", "--no", "go", **script(call, {"text": "done"}), HOME=home.format(root=root), XDG_CONFIG_HOME=""
    )

    assert (code, err) == (0, "")
    assert sorted(it.name for it in root.iterdir()) == ["greet.py", "inside"]
    assert list((root / "inside").iterdir()) == []
