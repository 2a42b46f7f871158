"""DOOR-13 to DOOR-17: with `commands.network`, a command in the sandbox has the internet and sockets of its own, and
gets to nobody else's."""

import json
import os
import shutil
import socket
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from odin_lsp.commands import connect_broker
from odin_lsp.commands.environment import named_sockets
from odin_lsp.commands.output import Output
from odin_lsp.commands.runner import Runner, Spec
from odin_lsp.permissions import sandbox
from tests.adversarial import mechanisms

pytestmark = pytest.mark.held

ALL = [("landlock",), ("landlock", "namespaces"), ("bubblewrap",)]
MECHANISMS = [pytest.param(frozenset(it), id="-".join(it)) for it in ALL if mechanisms.tried().issuperset(it)]
BROKERED = [it for it in MECHANISMS if it.id != "bubblewrap"]
"""Those in which somebody connects for the command."""
PYTHON = shutil.which("python3", path=os.defpath)
SUITE = """
import asyncio, os, socket, sys, tempfile, threading, unittest

class Serving(unittest.TestCase):
    def serve(self, path):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen()
            def answer():
                connection, _ = listener.accept()
                connection.sendall(connection.recv(100).upper())
                connection.close()
            threading.Thread(target=answer).start()
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(60)
                client.connect(path)
                client.sendall(b"hello")
                self.assertEqual(client.recv(100), b"HELLO")
                with self.assertRaises(OSError):
                    client.connect(path)

    def test_in_the_workspace(self):
        self.serve("served")
        self.serve(os.path.abspath("served-too"))

    def test_in_the_temporary_folder(self):
        self.serve(os.path.join(tempfile.mkdtemp(), "served"))

    def test_asyncio(self):
        async def main():
            async def answer(reader, writer):
                writer.write(await reader.readline())
                writer.close()
            server = await asyncio.start_unix_server(answer, "async")
            reader, writer = await asyncio.open_unix_connection("async")
            writer.write(b"line\\n")
            self.assertEqual(await reader.readline(), b"line\\n")
            writer.close()
            server.close()
        asyncio.run(main())

    def test_processes(self):
        import multiprocessing
        with multiprocessing.Manager() as manager:
            shared = manager.dict(a=1)
            self.assertEqual(shared["a"], 1)

    def test_the_internet(self):
        for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
            with socket.create_server((host, 0), family=family) as listener:
                client = socket.create_connection(listener.getsockname()[:2])
                accepted, _ = listener.accept()
                accepted.sendall(b"tcp")
                self.assertEqual(client.recv(10), b"tcp")
                name = listener.getsockname()[:2]
            with self.assertRaises(ConnectionRefusedError):
                socket.create_connection(name, timeout=60)
        with socket.socket(type=socket.SOCK_DGRAM) as one, socket.socket(type=socket.SOCK_DGRAM) as two:
            one.bind(("127.0.0.1", 0))
            two.connect(one.getsockname())
            two.send(b"udp")
            self.assertEqual(one.recv(10), b"udp")

    def test_pairs_and_routes(self):
        for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
            one, two = socket.socketpair(type=kind)
            one.send(b"x")
            self.assertEqual(two.recv(1), b"x")
        self.assertTrue(socket.if_nameindex())
        socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).bind((0, 0))

unittest.main()
"""
NODE_TEST = """
const { Worker, isMainThread, parentPort } = require("worker_threads");
const cluster = require("cluster"), net = require("net"), os = require("os"), path = require("path");
const { fork } = require("child_process");
const said = (name, times) => { console.log("ok " + name); if (--left === 0) process.exit(0); };
let left = 5;
if (!isMainThread) parentPort.postMessage("thread");
else if (cluster.isWorker) net.createServer((one) => one.end("worker")).listen(process.env.SERVED);
else if (process.argv[2] === "child") process.send("child");
else {
  new Worker(__filename).on("message", said);
  fork(__filename, ["child"]).on("message", said);
  const through = (where, name) => net.connect(where, function () { this.resume(); said(name); });
  for (const [name, where] of [["socket", "own.sock"], ["temporary", path.join(os.tmpdir(), "own.sock")]])
    net.createServer((one) => one.end("x")).listen(where, () => through(where, name));
  cluster.fork({ SERVED: path.resolve("cluster.sock") }).on("listening", () => through("cluster.sock", "cluster"));
}
"""
ATTEMPT = """
import os, socket, sys
kind, name = sys.argv[1:]
if os.path.isabs(name):
    os.chdir(os.path.dirname(name))  # an address may have no more than about 100 characters
    name = os.path.basename(name)
if name.startswith("@"):
    name = "\\0" + name[1:]
try:
    if kind == "pair":
        socket.socketpair(type=socket.SOCK_DGRAM)[0].sendto(b"x", name)
    elif kind == "datagram":
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", name)
    else:
        one = socket.socket(socket.AF_UNIX)
        one.settimeout(60)
        one.connect(name)
        one.sendall(b"x")
    print("reached")
except OSError as error:
    print(type(error).__name__)
"""
RACE = """
import ctypes, os, socket, struct, sys, threading
foreign, own = sys.argv[1:]
libc = ctypes.CDLL(None)
listener = socket.socket(socket.AF_UNIX)
listener.bind(own)
listener.listen(1000)
served = socket.create_server(("127.0.0.1", 0), backlog=1000)
def address(path):
    return struct.pack("=H", socket.AF_UNIX) + path.encode().ljust(100, b"\\0")
theirs, ours = address(foreign), address(own)
port = struct.pack("!H", served.getsockname()[1])
internet = (struct.pack("=H", socket.AF_INET) + port + bytes([127, 0, 0, 1])).ljust(102, b"\\0")
buffer = ctypes.create_string_buffer(102)
going = True
def swap():
    while going:
        for family, one in ((socket.AF_INET, internet), (socket.AF_UNIX, theirs), (socket.AF_UNIX, ours)):
            fresh = socket.socket(family)
            os.dup2(fresh.fileno(), 100)
            ctypes.memmove(buffer, one, 102)
            fresh.close()
os.dup2(listener.fileno(), 100)
swapping = threading.Thread(target=swap)
swapping.start()
for _ in range(150):
    libc.connect(100, buffer, 102)
going = False
print("raced")
"""


@pytest.fixture
def tmp_path():
    """A short one: an address may have no more than about 100 characters."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="odin-") as folder:
        yield Path(os.path.realpath(folder))


@pytest.fixture(params=MECHANISMS)
def works(request):
    return request.param


@pytest.fixture
def temporary():
    """A folder of the command's own; the path of a socket in it may have some 100 characters."""
    with tempfile.TemporaryDirectory(prefix="odin-") as folder:
        yield Path(folder)


@pytest.fixture
async def confined(tmp_path, temporary):
    """Runs a program in the sandbox with the network; gives what it printed."""
    runner, count = Runner(), 0
    (tmp_path / "ws").mkdir()

    async def confined(works, *argv, agents=()):
        nonlocal count
        count += 1
        policy = sandbox.Policy((tmp_path / "ws", temporary), network=True, agents=tuple(agents))
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": str(temporary)}
        output = Output(tmp_path / f"printed-{count}", lambda text: None)
        confinement = sandbox.confine(policy, works)
        spec = Spec(argv=argv, cwd=tmp_path / "ws", environment=environment, confinement=confinement)
        ended = await (await runner.start(spec, output)).wait(90)
        return ended.exit_code, output.shown

    yield confined
    await runner.close()


@pytest.fixture
def listening(monkeypatch):
    """Somebody else, who listens there."""
    with ExitStack() as stack:

        def listening(path, kind=socket.SOCK_STREAM):
            one = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
            if str(path).startswith("@"):
                one.bind(f"\0{path[1:]}")
            else:
                monkeypatch.chdir(path.parent)
                one.bind(path.name)
            if kind == socket.SOCK_STREAM:
                one.listen(1000)
            one.setblocking(False)
            return one

        yield listening


def is_reached(one):
    """Whether somebody has come that has said something."""
    try:
        while True:
            if one.type == socket.SOCK_DGRAM:
                return bool(one.recv(100))
            with one.accept()[0] as accepted:
                accepted.settimeout(60)
                if accepted.recv(100):
                    return True
    except (BlockingIOError, ConnectionError):
        return False


@pytest.mark.parametrize("works", BROKERED)
async def test_door_13_a_suite_serves_on_sockets_of_its_own(confined, works):
    code, printed = await confined(works, PYTHON, "-c", SUITE)
    assert (code, printed.splitlines()[-1]) == (0, "OK"), printed


async def test_door_13_names_are_resolved(confined, works):
    code, printed = await confined(works, shutil.which("getent"), "hosts", "localhost")
    assert code == 0
    assert "localhost" in printed


@pytest.mark.thorough
@pytest.mark.skipif(not shutil.which("npm"), reason="needs npm")
@pytest.mark.parametrize("works", BROKERED)
async def test_door_13_npm_test_has_workers(confined, works, tmp_path):
    (tmp_path / "ws" / "package.json").write_text(json.dumps({"scripts": {"test": "node test.js"}}))
    (tmp_path / "ws" / "test.js").write_text(NODE_TEST)
    code, printed = await confined(works, shutil.which("npm"), "test")
    said = sorted(line.removeprefix("ok ") for line in printed.splitlines() if line.startswith("ok "))
    assert (code, said) == (0, ["child", "cluster", "socket", "temporary", "thread"]), printed


async def test_door_14_nobody_elses_sockets_are_reached(confined, works, listening, tmp_path, temporary):
    """Of docker, of a bus, in a folder of others and in the workspace itself, by a link, and without a file."""
    (tmp_path / "run").mkdir()
    name = f"@odin-{os.getpid()}-{tmp_path.name}"
    others = {
        str(tmp_path / "run" / "docker.sock"): listening(tmp_path / "run" / "docker.sock"),
        str(tmp_path / "ws" / "theirs.sock"): listening(tmp_path / "ws" / "theirs.sock"),
        str(temporary / "theirs.sock"): listening(temporary / "theirs.sock"),
        name: listening(name),
    }
    (tmp_path / "ws" / "link.sock").symlink_to(tmp_path / "run" / "docker.sock")
    for path in (*others, str(tmp_path / "ws" / "link.sock")):
        assert await confined(works, PYTHON, "-c", ATTEMPT, "stream", path) == (0, "PermissionError\n"), path
    datagrams = listening(tmp_path / "run" / "log", socket.SOCK_DGRAM)
    for kind in ("datagram", "pair"):
        said = await confined(works, PYTHON, "-c", ATTEMPT, kind, str(tmp_path / "run" / "log"))
        assert said == (0, "PermissionError\n")
    assert not any(map(is_reached, [*others.values(), datagrams]))


async def test_door_14_the_attempts_are_real(tmp_path, listening):
    (tmp_path / "run").mkdir()
    one = listening(tmp_path / "run" / "docker.sock")
    two = listening(tmp_path / "run" / "log", socket.SOCK_DGRAM)
    runner = Runner()
    for kind, name in (("stream", "docker.sock"), ("datagram", "log")):
        argv = (PYTHON, "-c", ATTEMPT, kind, str(tmp_path / "run" / name))
        output = Output(tmp_path / name, lambda text: None)
        spec = Spec(argv=argv, cwd=tmp_path, environment={"PATH": os.environ["PATH"]})
        await (await runner.start(spec, output)).wait(60)
        assert output.shown == "reached\n"
    await runner.close()
    assert is_reached(one)
    assert is_reached(two)


@pytest.mark.parametrize("works", BROKERED[:1])
async def test_door_15_what_changes_while_it_is_looked_at_reaches_nobody(confined, works, listening, tmp_path):
    """One thread connects, another one exchanges the address and the descriptor below it."""
    one = listening(tmp_path / "theirs.sock")
    said = await confined(works, PYTHON, "-c", RACE, "../theirs.sock", "own.sock")
    assert said == (0, "raced\n")
    with pytest.raises(BlockingIOError):
        one.accept()


@pytest.mark.parametrize("works", BROKERED)
async def test_door_16_an_agent_is_reached_if_its_variable_is_named(confined, works, listening, tmp_path):
    (tmp_path / "run").mkdir()
    agent, other = (listening(tmp_path / "run" / name) for name in ("agent.sock", "other.sock"))
    environ = {"SSH_AUTH_SOCK": str(tmp_path / "run" / "agent.sock"), "BUS": f"unix:path={tmp_path}/run/other.sock,x=y"}
    agents = list(named_sockets(environ, ["SSH_AUTH_SOCK", "UNKNOWN"]))
    assert list(named_sockets(environ, ["BUS"])) == [tmp_path / "run" / "other.sock"]

    said = [
        (await confined(works, PYTHON, "-c", ATTEMPT, "stream", str(tmp_path / "run" / name), agents=agents))[1]
        for name in ("agent.sock", "other.sock")
    ]

    assert said == ["reached\n", "PermissionError\n"]
    assert is_reached(agent)
    assert not is_reached(other)


@pytest.mark.parametrize("works", BROKERED)
async def test_door_17_where_nobody_can_connect_for_it_there_are_no_unix_sockets(confined, works, tmp_path):
    """A listener around it takes the place of ours, as in a container or in another Odin's sandbox."""
    inner = (
        "import sys; sys.path.insert(0, sys.argv[1]); from odin_lsp.permissions import seccomp; import os, socket;"
        "own = dict(network=True, metadata=True, truncation=True);"
        "machine = os.uname().machine\n"
        "try: seccomp.install_with_listener(seccomp.program(machine, **own, brokered=True))\n"
        "except OSError: seccomp.install(seccomp.program(machine, **own))\n"
        "try: socket.socket(socket.AF_UNIX)\n"
        "except PermissionError: print('refused')\n"
        "socket.create_server(('127.0.0.1', 0)); socket.socketpair()"
    )
    said = await confined(works, PYTHON, "-c", inner, sandbox.PACKAGES)
    assert said == (0, "refused\n")


def test_door_17_a_process_that_may_not_be_looked_into_has_nobody_to_connect_for_it():
    assert connect_broker.can_look_into(os.getpid())
    assert not connect_broker.can_look_into(2**22 - 3)
    if os.getuid() != 0:
        assert not connect_broker.can_look_into(1)
    assert sys.platform == "linux"
