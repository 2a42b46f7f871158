"""DOOR-01 to DOOR-08: whoever comes by the socket of an Odin. Nothing is let in, nothing is lost, and who is refused is
told what to do."""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from odin_lsp.agent_door.calls import agent_calls
from odin_lsp.errors import RequestError
from odin_lsp.host import place, terms
from tests.adversarial.table import NOBODY
from tests.e2e.conftest import PATIENCE
from tests.e2e.test_attaching import listens

LINES = "".join(f"line {number}\n" for number in range(1, 31))
CHANGE = {"file_path": "a.py", "old_string": "line 3\n", "new_string": "changed 3\n"}
AGENT = """
import asyncio, json, sys
from pathlib import Path
from odin_lsp.agent_door.calls import agent_calls

async def main(root, tool, arguments):
    async with agent_calls(Path(root), agent="killed") as calls:
        await calls.call("Read", {"file_path": "a.py"})
        await calls.call(tool, json.loads(arguments))

asyncio.run(main(*sys.argv[1:]))
"""
KNOCK = """
import os, socket, sys
folder, name = sys.argv[1:]
def tried(what):
    try:
        return what()
    except OSError as error:
        return type(error).__name__
def knock():
    one = socket.socket(socket.AF_UNIX)
    one.settimeout(30)
    one.connect(os.path.join(folder, name))
    one.sendall(b"Content-Length: 2\\r\\n\\r\\n{}")
    return "hung up" if one.recv(1) == b"" else "answered"
print(tried(lambda: len(os.listdir(folder))), tried(knock))
"""
SQUAT = """
import os, socket, sys
os.mkdir(os.path.dirname(sys.argv[1]), 0o777)
one = socket.socket(socket.AF_UNIX)
one.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
one.listen()
print("listens", flush=True)
sys.stdin.read()
"""


@pytest.fixture
async def editor(screen, root):
    (root / "a.py").write_text(LINES)
    screen.open(root / "a.py")
    await listens(root)
    return screen


@pytest.fixture
def runtime(monkeypatch):
    """Where the sockets are: every user of the machine can get there."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        runtime = Path(folder, "run")
        runtime.mkdir(mode=0o755)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
        yield runtime


def as_another(script, *arguments):
    python = shutil.which("python3", path=os.defpath)
    identity = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    return subprocess.Popen(
        [python, "-c", script, *map(str, arguments)], stdin=-1, stdout=-1, text=True, cwd="/", **identity
    )


async def knocked(folder, name):
    out, _ = await asyncio.to_thread(as_another(KNOCK, folder, name).communicate)
    return out.split(maxsplit=1)


def accepting(review):
    hunks = [hunk for file in review["files"] for hunk in file["hunks"]]
    return {"decisions": [{"hunkId": hunk["id"], "decision": "accept"} for hunk in hunks]}


async def reviewed(editor, count):
    """So many reviews have been shown."""
    async with asyncio.timeout(PATIENCE):
        while len(editor.reviews) < count:
            await asyncio.sleep(0.01)


async def test_door_01_another_user_of_the_machine_is_kept_out(runtime, screen, root):
    """By the folder and the socket; and where somebody has opened these up, by who the kernel says it is."""
    await listens(root)
    folder, name = runtime / "odin", f"{place.name_of(root)}.sock"
    assert (stat.S_IMODE(folder.stat().st_mode), stat.S_IMODE((folder / name).stat().st_mode)) == (0o700, 0o600)
    if os.getuid() == 0:  # only root can be somebody else
        assert await knocked(folder, name) == ["PermissionError", "PermissionError\n"]
        folder.chmod(0o755)
        (folder / name).chmod(0o666)
        assert (await knocked(folder, name))[1] in ("hung up\n", "BrokenPipeError\n", "ConnectionResetError\n")
        folder.chmod(0o700)

    async with agent_calls(root, agent="agent") as calls:
        assert not (await calls.call("Read", {"file_path": "greet.py"})).failed


async def test_door_01_nobody_works_with_an_odin_of_another_user(runtime, root):
    path = runtime / "odin" / f"{place.name_of(root)}.sock"
    runtime.chmod(0o777)
    if os.getuid() == 0:
        squatter = as_another(SQUAT, path)
        assert squatter.stdout.readline() == "listens\n"
    else:  # what is open to others could be theirs
        path.parent.mkdir()
        path.parent.chmod(0o777)

    assert place.connected(root) is None
    async with agent_calls(root, agent="agent") as calls:
        assert "def greet" in (await calls.call("Read", {"file_path": "greet.py"})).content
    if os.getuid() == 0:
        squatter.communicate()


async def test_door_03_an_agent_with_another_version_is_told_so_and_does_not_go_round(editor, root, monkeypatch):
    monkeypatch.setattr(terms, "__version__", "0.0.1")
    async with agent_calls(root, agent="agent") as calls:
        read = await calls.call("Read", {"file_path": "a.py"})
        written = await calls.call("WriteFile", {"file_path": "new.py", "content": "x\n"})

    assert (read.failed, written.failed) == (True, True)
    assert "and this is 0.0.1. Ask the user to restart it" in written.content
    assert not (root / "new.py").exists()


async def test_door_04_what_was_accepted_is_applied_though_the_agent_is_gone(editor, root):
    agent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", AGENT, root, "EditTool", json.dumps(CHANGE), stderr=-3
    )
    apply = editor.apply

    async def kill_and_apply(params):
        agent.send_signal(signal.SIGKILL)
        await agent.wait()
        return await apply(params)

    editor.apply, editor.decide = kill_and_apply, accepting
    closed = await editor.client.until_kind("reviewClosed")

    assert [it["state"] for it in closed["event"]["receipts"]] == ["accepted"]
    assert editor.text(root / "a.py") == LINES.replace("line 3\n", "changed 3\n")
    await editor.client.until(lambda it: it["event"]["kind"] == "turnFinished" and "EditTool" in str(it))


async def test_door_04_what_is_not_decided_waits_for_the_person_though_the_agent_is_gone(editor, root):
    agent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", AGENT, root, "EditTool", json.dumps(CHANGE), stderr=-3
    )
    await reviewed(editor, 1)
    agent.send_signal(signal.SIGKILL)
    await agent.wait()
    async with agent_calls(root, agent="another") as calls:
        assert not (await calls.call("Read", {"file_path": "a.py"})).failed
    assert editor.text(root / "a.py") == LINES
    await editor.client.command("review.accept")

    assert editor.text(root / "a.py") == LINES.replace("line 3\n", "changed 3\n")


async def test_door_05_of_two_agents_that_change_the_same_lines_at_once_one_is_told_that_it_is_too_late(editor, root):
    async with agent_calls(root, agent="one") as one, agent_calls(root, agent="two") as two:
        for calls in (one, two):
            await calls.call("Read", {"file_path": "a.py"})
        edits = [
            asyncio.create_task(calls.call("EditTool", {**CHANGE, "new_string": f"{name} was here\n"}))
            for name, calls in (("one", one), ("two", two))
        ]
        await reviewed(editor, 2)
        for review in [next(it for it in editor.reviews if it["origin"] == name) for name in ("two", "one")]:
            await editor.client.command("review.accept", proposalId=review["proposalId"])
        first, second = await asyncio.gather(*edits)

    assert editor.text(root / "a.py") == LINES.replace("line 3\n", "two was here\n")
    assert (first.failed, second.failed) == (True, False)
    assert "accepted" in second.content
    assert "read the file again" in first.content


@pytest.mark.parametrize(
    ("tool", "arguments", "left"),
    [
        ("WriteFile", {"file_path": "a.py", "content": "all new\n"}, "all new\n"),
        ("DeleteFile", {"file_path": "a.py"}, None),
    ],
)
async def test_door_06_what_covers_the_pending_change_of_another_agent_takes_it_along(
    editor, root, tool, arguments, left
):
    async with agent_calls(root, agent="one") as one, agent_calls(root, agent="two") as two:
        for calls in (one, two):
            await calls.call("Read", {"file_path": "a.py"})
        covered = asyncio.create_task(one.call("EditTool", CHANGE))
        await reviewed(editor, 1)
        covering = asyncio.create_task(two.call(tool, arguments))
        await reviewed(editor, 2)
        await editor.client.command("review.accept", proposalId=editor.reviews[1]["proposalId"])
        async with asyncio.timeout(PATIENCE):
            made, lost = await asyncio.gather(covering, covered)

    assert (made.failed, lost.failed) == (False, True)
    assert "accepted" not in lost.content
    if left is not None:
        assert editor.text(root / "a.py") == left


async def test_door_07_what_is_denied_is_denied_to_agents(editor, root, tmp_path):
    (root / ".env").write_text("TOKEN=hush\n")
    (root / "link").symlink_to(root / ".env")
    (tmp_path / "outside.txt").write_text("hush\n")
    async with agent_calls(root, agent="agent") as calls:
        said = [
            await calls.call("Read", {"file_path": ".env"}),
            await calls.call("Read", {"file_path": "link"}),
            await calls.call("Read", {"file_path": str(tmp_path / "outside.txt")}),
            await calls.call("Read", {"file_path": "../outside.txt"}),
            await calls.call("WriteFile", {"file_path": ".env", "content": "x"}),
            await calls.call("WriteFile", {"file_path": str(tmp_path / "outside.txt"), "content": "x"}),
            await calls.call("MoveFile", {"file_path": ".env", "new_path": "open.txt"}),
        ]
        found = await calls.call("Grep", {"pattern": "hush"})
        for tool in ("ExecuteCommand", "AgentTool", "WebFetch", "MemoryTool", "AskUser", "CallTool"):
            with pytest.raises(RequestError, match="no such tool"):
                await calls.call(tool, {"command": "cat .env"})

    assert [it.failed for it in said] == [True] * len(said)
    assert "hush" not in "".join(it.content for it in (*said, found))
    assert (root / ".env").read_text() == "TOKEN=hush\n"
    assert (tmp_path / "outside.txt").read_text() == "hush\n"


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x00" * 100_000,
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"Content-Length: 99999999999999999999\r\n\r\n",
        b"Content-Length: -1\r\n\r\n{}",
        b"Content-Length: 5\r\n\r\n[[[[[",
        b"Content-Length: 100000\r\n\r\n" + b"[" * 100_000,
        b'Content-Length: 60\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"odin.agent.call"}         ',
        b"Content-Length: 1000\r\n\r\n{",
    ],
)
async def test_door_08_garbage_is_nobody_elses_trouble(editor, root, garbage):
    connection = place.connected(root)
    connection.setblocking(True)
    connection.settimeout(PATIENCE)
    async with agent_calls(root, agent="agent") as calls:
        await calls.call("Read", {"file_path": "a.py"})
        with contextlib.suppress(ConnectionError):  # it may be left before all is said
            await asyncio.to_thread(connection.sendall, garbage)
        editor.decide = accepting
        assert not (await calls.call("EditTool", CHANGE)).failed
    connection.close()

    assert editor.text(root / "a.py") == LINES.replace("line 3\n", "changed 3\n")
