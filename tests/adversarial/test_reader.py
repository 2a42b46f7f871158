"""What runs unasked is held to reading by the kernel: whatever it is, whoever runs it, in every mode."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from odin_lsp.commands.runner import Spec, _job
from odin_lsp.commands.supervising import PROGRAM
from odin_lsp.config import FileRules
from odin_lsp.permissions import reader, sandbox
from odin_lsp.permissions.reader import Reads
from odin_lsp.permissions.sandbox import PACKAGES, Policy
from odin_lsp.workspace.hidden import Hidden
from odin_lsp.workspace.ignore import Ignore
from tests.adversarial.mechanisms import may_try, tried

NOBODY = 65534
WHO = ["root", "plain user"] if os.getuid() == 0 else ["plain user"]
HOLDS = [(who, it) for who in WHO for it in ("landlock", "bubblewrap") if it in tried() and may_try(it, who)]

OF_ITS_OWN = {"named memory", "own memory by the system", "a program of the workspace"}
"""With bubblewrap: in a root of its own there are devices and processes of its own, and what runs, runs in there."""


class Surroundings:
    """A workspace that anybody may read, and what has nothing to do with it."""

    def __init__(self, stack, who):
        self.user = NOBODY if (who, os.getuid()) == ("plain user", 0) else os.getuid()
        self.identity = {"user": self.user, "group": self.user, "extra_groups": []} if os.getuid() == 0 else {}
        self.python = _python_of(self.identity)
        folder = Path(os.path.realpath(stack.enter_context(tempfile.TemporaryDirectory())))
        self.root, self.outside, self.temporary = (folder / name for name in ("ws", "outside", "temporary"))
        for made in (folder, self.root, self.outside, self.temporary, self.root / ".ssh"):
            made.mkdir(exist_ok=True)
            made.chmod(0o755)
        (self.root / "a.txt").write_text("plain\n")
        (self.outside / "secret.txt").write_text("canary\n")
        (self.root / "linked.txt").symlink_to(self.outside / "secret.txt")
        for name in (".env", ".ssh/config"):
            (self.root / name).write_text("canary\n")
        (self.root / "innocent.txt").symlink_to(".env")
        (self.root / "program").write_text("#!/bin/sh\n")
        (self.root / "program").chmod(0o755)
        ear = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        self.datagram = str(self.outside / "ear")
        ear.bind(self.datagram)
        abstract = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        self.abstract = f"odin-{os.getpid()}"
        abstract.bind(f"\0{self.abstract}")
        for path in (folder, *folder.rglob("*")):
            os.chown(path, self.user, -1, follow_symlinks=False)
        self.bystander = stack.enter_context(subprocess.Popen(["sleep", "600"], env={}, **self.identity))
        stack.callback(self.bystander.kill)
        self.ears = (ear, abstract)
        for each in self.ears:
            each.setblocking(False)

    def heard(self):
        return any(_received(ear) for ear in self.ears)

    def reach_out(self, confinement):
        """What works of what is needed to read, and of everything else, as this user in this confinement."""
        script = Path(__file__).with_name("reaching_out.py").read_text()
        names = (self.root, self.outside, self.bystander.pid, self.datagram, self.abstract)
        spec = Spec(
            argv=(self.python, "-I", "-c", script, *map(str, names)),
            cwd=self.root,
            environment={"TMPDIR": str(self.temporary), "PATH": os.defpath},
            confinement=confinement,
        )
        with subprocess.Popen(
            [self.python, "-I", "-S", "-c", f"{PROGRAM}main()", PACKAGES],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
            env={},
            **self.identity,
        ) as supervisor:
            supervisor.stdin.write(json.dumps(_job(spec, "marker")).encode() + b"\n")
            supervisor.stdin.flush()
            printed, report = supervisor.stdout.read(), supervisor.stderr.read()
        assert json.loads(report)["exit"] == 0, (printed, report)
        return json.loads(printed)

    def held(self, mechanism, reads):
        hidden = Hidden([self.root], Ignore([self.root], FileRules())).found()
        reads = Reads(files=reads.files if mechanism == "landlock" else None, programs=(Path(self.python),))
        policy = Policy((self.temporary,), read=reader.reach(reads, [self.root], hidden))
        return sandbox.confine(policy, frozenset({mechanism}))


def _python_of(identity):
    """An interpreter that this user may start: root's own may be where nobody else gets to."""
    for python in (sys.executable, shutil.which("python3", path=os.defpath)):
        try:
            subprocess.run([python, "-I", "-S", "-c", ""], cwd="/", env={}, check=True, **identity)
        except (OSError, subprocess.CalledProcessError):
            continue
        return os.path.realpath(python)
    raise AssertionError("there is no Python here that a plain user may start")


def _received(ear):
    try:
        return bool(ear.recv(100))
    except BlockingIOError:
        return False


@pytest.fixture(params=WHO)
def around(request, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/local/bin:/usr/bin:/bin")
    with ExitStack() as stack:
        yield Surroundings(stack, request.param)


def test_the_attempts_are_real(around):
    """Where nothing holds them nearly all work; else they would show nothing."""
    reads, tries = around.reach_out(None)

    assert set(reads.values()) == {""}
    assert sum(not problem for problem in tries.values()) > 0.75 * len(tries)
    for name in ("datagram pair, sendto", "raw pair, sendto", "limits of another", "shared memory", "message queue"):
        assert not tries[name], tries[name]
    assert around.heard()


@pytest.mark.parametrize(("around", "mechanism"), HOLDS, indirect=["around"])
@pytest.mark.parametrize("named", [True, False])
def test_a_reader_can_read_and_do_nothing_else(around, mechanism, named):
    reads = Reads(files=(around.root / "a.txt",) if named else None)

    works, tries = around.reach_out(around.held(mechanism, reads))

    assert works == dict.fromkeys(works, "")
    private = OF_ITS_OWN if mechanism == "bubblewrap" else set()
    assert {name for name, problem in tries.items() if not problem} <= private
    assert not around.heard()
    assert around.bystander.poll() is None
