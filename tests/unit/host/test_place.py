"""Where a host is found, and by whom."""

import os
import socket
import stat
import subprocess
import sys

import pytest

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
