"""Locks: nobody waits for ever, and whoever cannot have one is told who has it."""

import fcntl
import subprocess
import sys
from pathlib import Path

import pytest

from odin_lsp import locks

HOLDER = """
import fcntl, sys
file = open(sys.argv[1], "a")
fcntl.flock(file, fcntl.LOCK_EX)
print(flush=True)
sys.stdin.read()
"""
FOR_EVER = 3600.0


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state" / "trust.lock"


@pytest.fixture
def holder(path):
    """Another process that has the lock."""
    path.parent.mkdir()
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        yield process
        process.stdin.close()


def test_whoever_keeps_a_lock_is_named(path, holder):
    named = f" (process {holder.pid})" if locks.KNOWN_LOCKS.exists() else ""

    with pytest.raises(locks.Held, match="try again") as raised, locks.held(path, patience=0):
        pass

    assert str(raised.value).startswith(f"{path} is held by another Odin{named};")


async def test_on_the_event_loop_nobody_waits(path, holder):
    with pytest.raises(locks.Held), locks.held(path, patience=FOR_EVER):
        pass


def test_a_lock_that_is_let_go_of_meanwhile_is_had(path, holder):
    holder.stdin.close()

    with locks.held(path, patience=FOR_EVER):
        pass


def test_many_can_share_one(path):
    with locks.held(path, shared=True), locks.held(path, shared=True, patience=0):
        pass


def test_only_one_module_knows_how_locks_are_made():
    package = Path(locks.__file__).parent
    asking = {file.name for file in package.rglob("*.py") if fcntl.__name__ in file.read_text().split()}

    assert asking == {"locks.py", "connect_broker.py", "waiting_calls.py"}  # for `ioctl`; to hear who waits for one
