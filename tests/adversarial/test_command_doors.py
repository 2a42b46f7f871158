"""DOOR-10 to DOOR-12: what a command has started is no front end of a person, however far it has got away from it."""

import asyncio
import os
import shutil
import socket
import sys
from pathlib import Path

import pytest

from odin_lsp import command_mark
from odin_lsp.agent_door.calls import agent_calls
from odin_lsp.commands.output import Output
from odin_lsp.commands.runner import Runner, Spec
from odin_lsp.host import place
from tests.e2e.conftest import ODIN_LSP, PATIENCE
from tests.e2e.steps import says
from tests.e2e.test_attaching import listens

KNOCK = """
import os, resource, socket, sys, time
path, said, *outlived = sys.argv[1:]
while any(os.path.exists(f"/proc/{pid}") for pid in outlived):
    time.sleep(0.01)
def raise_limits():
    try:
        resource.setrlimit(10, (resource.RLIM_INFINITY,) * 2)
    except (OSError, ValueError):
        pass
def knock():
    one = socket.socket(socket.AF_UNIX)
    one.settimeout(60)
    try:
        os.chdir(os.path.dirname(path))  # an address may have no more than about 100 characters
        one.connect(os.path.basename(path))
        one.sendall(b'Content-Length: 48\\r\\n\\r\\n{"jsonrpc": "2.0", "id": 1, "method": "no/such"}')
        return "let in" if one.recv(1) else "hung up"
    except OSError as error:
        return "hung up" if isinstance(error, (BrokenPipeError, ConnectionResetError)) else type(error).__name__
raise_limits()
answer = knock()
with open(said + ".new", "w") as out:
    out.write(answer)
os.rename(said + ".new", said)
"""
PYTHON = shutil.which("python3", path=os.defpath)
DOUBLE_FORK = (
    "import os, sys; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0);"
    "os.execv(sys.argv[1], sys.argv[1:])"
)
WAYS = {
    "setsid": "setsid env -i $KNOCK & until [ -e $SAID ]; do sleep 0.01; done",
    "double fork": '{python} -c "$DOUBLE" $KNOCK; until [ -e $SAID ]; do sleep 0.01; done',
    "killed supervisor": '{python} -c "$DOUBLE" /usr/bin/env -i $KNOCK $PPID; kill -KILL $PPID; sleep 60',
}
"""How a command gets away from who has started it."""


@pytest.fixture
async def run(tmp_path):
    """Runs a script as a command that was allowed without a sandbox; gives what ended."""
    runner = Runner()

    async def run(script, **environment):
        spec = Spec(
            argv=("/bin/bash", "--noprofile", "--norc", "-c", script),
            cwd=tmp_path,
            environment={"PATH": os.environ["PATH"], "HOME": str(tmp_path), **environment},
        )
        output = Output(tmp_path / "printed", lambda text: None)
        ended = await (await runner.start(spec, output)).wait(PATIENCE)
        return ended, output.shown

    yield run
    await runner.close()


async def content_of(path):
    async with asyncio.timeout(PATIENCE):
        while not path.exists():
            await asyncio.sleep(0.01)
    return path.read_text()


@pytest.fixture
def knocking(run, tmp_path):
    """A command that knocks at a socket from a process that is this far away from it; what that was answered."""

    async def knocking(path, way):
        said, script = tmp_path / f"said-{way.replace(' ', '-')}", tmp_path / "knock.py"
        script.write_text(KNOCK)
        await run(
            WAYS[way].format(python=PYTHON),
            KNOCK=f"{PYTHON} {script} {path} {said}",
            SAID=str(said),
            DOUBLE=DOUBLE_FORK,
        )
        return await content_of(said)

    return knocking


@pytest.mark.parametrize("way", WAYS)
async def test_door_10_what_a_command_has_started_is_not_let_in(screen, root, knocking, way):
    await listens(root)
    assert await knocking(place.folders()[0] / f"{place.name_of(root)}.sock", way) == "hung up"

    async with agent_calls(root, agent="a person's") as calls:
        assert not (await calls.call("Read", {"file_path": "greet.py"})).failed


async def test_door_10_a_peer_that_has_ended_is_not_let_in(tmp_path, monkeypatch):
    """Its number could be another process's by now."""
    script = (
        "import os, socket, sys; one = socket.socket(socket.AF_UNIX); one.connect(sys.argv[1]);"
        "os.fork() and os._exit(0); sys.stdin.read()"
    )
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(tmp_path)
        listener.bind("socket")
        listener.listen()
        peer = await asyncio.create_subprocess_exec(sys.executable, "-c", script, "socket", stdin=-1)
        await peer.wait()
        accepted, _ = listener.accept()
        with accepted:
            assert not place.is_own(accepted)
        peer.stdin.close()


async def test_door_11_an_odin_in_a_command_is_told_and_works_by_itself(screen, root, run, anthropic, wire):
    """It neither gets at the person's session, nor does it ask in the person's name."""
    await listens(root)
    wire.play(says("from its own model"))
    _, printed = await run(f'cd "{root}" && {" ".join(ODIN_LSP)} ask "hello"', **{**os.environ, **anthropic})
    assert "a command that Odin runs is no front end of a person" in printed
    assert "from its own model" in printed


async def test_door_11_a_listener_that_a_command_has_made_is_no_odin_of_ours(run, tmp_path, monkeypatch, root):
    """It would be asked for the person's words, and be told them."""
    path = place.folders()[0] / f"{place.name_of(root)}.sock"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    script = (
        "import os, socket, sys; os.chdir(os.path.dirname(sys.argv[1])); one = socket.socket(socket.AF_UNIX);"
        "one.bind(os.path.basename(sys.argv[1])); one.listen(); open(sys.argv[2], 'w').close(); one.accept()"
    )
    ready = tmp_path / "ready"
    running = asyncio.create_task(run(f'{PYTHON} -c "{script}" {path} {ready}'))
    await content_of(ready)

    assert place.connected(root) is None

    with socket.socket(socket.AF_UNIX) as one:  # it may end
        one.connect(f"/proc/self/fd/{os.open(path.parent, os.O_PATH)}/{path.name}")
    await running


def test_door_12_each_odin_within_a_command_has_a_mark_of_its_own():
    """So that one within a command takes its own front ends, and not what its own commands start."""
    marks = []
    for depth in range(3):
        reading, writing = os.pipe()
        if not (child := os.fork()):
            for _ in range(depth):
                command_mark.mark_this_process()
            os.write(writing, str(command_mark.mark_of(os.getpid())).encode())
            os._exit(0)
        os.waitpid(child, 0)
        marks.append(int(os.read(reading, 100)))
        os.close(reading)
        os.close(writing)
    assert marks == sorted(marks, reverse=True)
    assert len(set(marks)) == 3
    assert marks[0] == command_mark.mark_of(os.getpid())
    assert Path("/proc/self/limits").read_text().count(command_mark.NAME) == 1
