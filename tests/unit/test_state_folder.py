"""Where things are kept: never at a place that depends on the folder from which it is looked at."""

import os
import pwd
from pathlib import Path

import pytest

from odin_lsp import state_folder


@pytest.fixture
def home(monkeypatch, tmp_path):
    """What becomes of a HOME, seen from a workspace."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inside").mkdir()

    def home(value):
        monkeypatch.setenv("HOME", value)
        state_folder.settle_home()
        return os.environ["HOME"]

    return home


@pytest.mark.parametrize("value", ["", ".", "inside", "../", "~", "missing"])
def test_a_home_that_is_no_place_is_ignored(home, value):
    known = pwd.getpwuid(os.getuid()).pw_dir

    assert home(value) == (known if Path(known).is_dir() else state_folder.NOWHERE)


def test_a_home_that_does_not_exist_is_ignored(home, tmp_path):
    assert not home(str(tmp_path / "missing")).startswith(str(tmp_path))


def test_a_home_stays_what_it_is(home, tmp_path):
    assert home(str(tmp_path / "inside")) == str(tmp_path / "inside")


def test_relative_folders_for_state_and_settings_are_ignored(home, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", "inside")
    monkeypatch.setenv("XDG_CONFIG_HOME", "")

    home(str(tmp_path / "inside"))

    assert state_folder.folder().is_relative_to(tmp_path / "inside")
    assert "XDG_CONFIG_HOME" not in os.environ


def test_a_folder_that_cannot_be_written_is_named_with_what_is_lost(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file" / "state"))

    assert str(tmp_path / "file" / "state" / "odin") in (state_folder.problem() or "")
    assert "sessions" in (state_folder.problem() or "")
    assert state_folder.scratch_folder(state_folder.folder(), "now").is_dir()


def test_looking_whether_it_can_be_written_leaves_nothing_there(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    assert state_folder.problem() is None
    assert list((tmp_path / "odin").iterdir()) == []
