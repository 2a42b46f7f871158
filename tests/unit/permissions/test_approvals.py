"""Approvals that outlive a session: private, removable, and nobody else's."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from odin_lsp.permissions.approvals import Approvals


@pytest.fixture
def approvals(tmp_path):
    return Approvals(tmp_path / "state" / "approvals.json")


def test_what_was_added_counts_for_its_workspace_or_everywhere(approvals, tmp_path):
    approvals.add("ExecuteCommand", "ruff check", tmp_path, "edit_mode")
    approvals.add("ExecuteCommand", "tsc", None, "edit_mode")

    assert approvals.patterns("ExecuteCommand", tmp_path, "edit_mode") == ("ruff check", "tsc")
    assert approvals.patterns("ExecuteCommand", tmp_path.parent, "edit_mode") == ("tsc",)
    assert approvals.patterns("WebFetch", tmp_path, "edit_mode") == ()
    assert approvals.patterns("ExecuteCommand", tmp_path, "plan_mode") == ()


def test_the_same_twice_is_one(approvals, tmp_path):
    first = approvals.add("ExecuteCommand", "tsc", tmp_path, "edit_mode")
    second = approvals.add("ExecuteCommand", "tsc", tmp_path, "edit_mode")

    assert first.id == second.id
    assert len(approvals.all()) == 1


def test_one_can_be_removed(approvals, tmp_path):
    kept = approvals.add("ExecuteCommand", "tsc", None, "edit_mode")
    gone = approvals.add("ExecuteCommand", "ruff check", tmp_path, "edit_mode")

    assert approvals.remove(gone.id) == gone
    assert approvals.remove(gone.id) is None
    assert approvals.all() == (kept,)


def test_sec_05_the_file_is_private(approvals, tmp_path):
    approvals.add("ExecuteCommand", "tsc", None, "edit_mode")
    file = tmp_path / "state" / "approvals.json"

    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert {path.name for path in file.parent.iterdir()} == {"approvals.json", "approvals.lock"}


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"{}", b"[1, null, []]", b'[{"tool": "x"}]', b"[" * 100_000, b"\xff", b'[{"tool":1,"pattern":"x"}]'],
)
def test_a_damaged_file_approves_nothing_and_can_be_written_again(approvals, tmp_path, content):
    file = tmp_path / "state" / "approvals.json"
    file.parent.mkdir()
    file.write_bytes(content)

    assert approvals.all() == ()
    approvals.add("ExecuteCommand", "tsc", None, "edit_mode")
    assert len(approvals.all()) == 1


def test_sec_05_a_file_that_others_can_write_or_that_is_a_link_approves_nothing(approvals, tmp_path):
    approvals.add("ExecuteCommand", "tsc", None, "edit_mode")
    file = tmp_path / "state" / "approvals.json"
    file.chmod(0o666)
    assert approvals.all() == ()

    file.chmod(0o600)
    file.rename(tmp_path / "elsewhere.json")
    file.symlink_to(tmp_path / "elsewhere.json")
    assert approvals.all() == ()


def test_nothing_is_lost_when_several_add_at_once(approvals):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: approvals.add("ExecuteCommand", f"tool{number}", None, "edit_mode"), range(40)))

    assert len(approvals.all()) == 40


def test_a_write_that_fails_leaves_the_old_file(approvals, tmp_path, monkeypatch):
    approvals.add("ExecuteCommand", "tsc", None, "edit_mode")

    def full(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="disk full"):
        approvals.add("ExecuteCommand", "ruff", None, "edit_mode")

    assert [it["pattern"] for it in json.loads((tmp_path / "state" / "approvals.json").read_text())] == ["tsc"]
    assert {path.name for path in (tmp_path / "state").iterdir()} == {"approvals.json", "approvals.lock"}
