"""Where a host is found, and by whom."""

import os
import signal
import socket
import stat
import subprocess
import sys
from dataclasses import replace

import pytest

from odin_lsp import locks
from odin_lsp.host import place
from odin_lsp.host.place import Owner


@pytest.fixture
def owner(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / ("deep" * 40)))
    (tmp_path / ("deep" * 40)).mkdir(mode=0o700)
    (tmp_path / "ws").mkdir()
    return Owner(os.getpid(), str(tmp_path / "ws"), "1.2.3")


def socket_of(owner):
    return place.folders()[0] / f"{place.name_of(owner.root)}.sock"


@pytest.fixture
def open_to_all():
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_to_all")
def test_a_socket_is_the_users_alone_however_long_its_path(owner):
    with place.listening(owner) as listener:
        connection = place.connected(owner.root)
        accepted, _ = listener.accept()

        assert stat.S_IMODE(socket_of(owner).stat().st_mode) == 0o600
        assert stat.S_IMODE(socket_of(owner).parent.stat().st_mode) == 0o700
        assert place.is_own(accepted)
        assert place.is_own(connection)
        accepted.close()
        connection.close()


def test_of_two_only_one_listens_until_it_ends(owner):
    with place.listening(owner) as first:
        with place.listening(owner) as second:
            assert (first is not None, second) == (True, None)
        assert list(place.owners()) == [owner]
    assert list(place.owners()) == []
    with place.listening(owner) as third:
        assert third is not None


def test_what_a_killed_host_has_left_is_replaced(owner):
    script = (
        "import os, sys\nfrom odin_lsp.host import place\n"
        "with place.listening(place.Owner(os.getpid(), sys.argv[1], '1')):\n    os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script, owner.root], check=False)
    assert socket_of(owner).exists()
    assert place.connected(owner.root) is None
    assert list(place.owners()) == []

    with place.listening(owner) as listener:
        assert listener is not None
        place.connected(owner.root).close()


def test_what_a_killed_host_has_left_names_nobody_while_others_look_at_it(owner):
    lock = socket_of(owner).with_suffix(".lock")
    with place.listening(owner):
        left = lock.read_bytes()
    lock.touch(mode=0o600)
    lock.write_bytes(left)
    looking = os.open(lock, os.O_RDWR)
    locks.hold(looking, lock, shared=True)

    assert list(place.owners()) == []
    os.close(looking)


def test_a_lock_that_is_removed_just_now_is_no_error(owner, monkeypatch):
    hold = locks.hold

    def hold_and_lose(descriptor, path, **more):
        hold(descriptor, path, **more)
        path.with_suffix(".lock").unlink()

    monkeypatch.setattr(locks, "hold", hold_and_lose)
    with place.listening(owner) as listener:
        assert listener is None


def test_only_who_listens_is_told_to_end(owner):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        mistaken = replace(owner, pid=other.pid)
        assert not place.tell(mistaken, signal.SIGTERM)
        with place.listening(mistaken):
            assert not place.tell(mistaken, signal.SIGTERM)
        assert other.poll() is None
        other.communicate(b"\n")


def test_who_listens_is_told(owner):
    told = []
    before = signal.signal(signal.SIGUSR1, lambda number, _: told.append(number))
    try:
        with place.listening(owner):
            assert place.tell(owner, signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert told == [signal.SIGUSR1]


def test_a_folder_has_one_name_by_whatever_way_it_is_reached(owner, tmp_path):
    (tmp_path / "link").symlink_to(owner.root)

    assert place.name_of(tmp_path / "link") == place.name_of(tmp_path / "ws" / ".." / "ws")
    assert place.name_of(tmp_path / "link") != place.name_of(tmp_path)


def test_a_folder_that_others_could_have_made_is_not_used(owner, tmp_path):
    with place.listening(owner):
        folder = socket_of(owner).parent
        folder.rename(tmp_path / "real")
        folder.symlink_to(tmp_path / "real")

        assert place.connected(owner.root) is None


def test_where_no_runtime_folder_is_the_state_folder_is_used(owner, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", "relative")
    with place.listening(owner) as listener:
        assert listener is not None
        assert socket_of(owner).parent.name == "hosts"
        place.connected(owner.root).close()


def test_another_users_process_is_told_by_the_kernel(tmp_path, monkeypatch):
    """Who is another user here: the one that this process is not."""
    one, two = socket.socketpair()
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)

    assert not place.is_own(one)
    one.close()
    two.close()
