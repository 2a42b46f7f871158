"""Where the files are that nobody is shown, after every kind of change."""

import os

import pytest

from odin_lsp.config import FileRules
from odin_lsp.workspace import hidden as module
from odin_lsp.workspace.hidden import Hidden
from odin_lsp.workspace.ignore import Ignore

LONG_AGO = 1_000_000_000


@pytest.fixture
def hidden(tmp_path):
    """The names of what is hidden, each time as it is then; folders look as if nothing had happened for long."""
    lookers = {}

    def hidden(*deny):
        for folder, *_ in os.walk(tmp_path):
            os.utime(folder, (LONG_AGO, LONG_AGO + hidden.changes))
        looker = lookers.setdefault(deny, Hidden([tmp_path], Ignore([tmp_path], FileRules(deny=deny))))
        return sorted(str(path.relative_to(tmp_path)) for path in looker.found())

    hidden.changes = 0
    return hidden


def made(tmp_path, *names, text=""):
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)


def test_secrets_and_what_is_denied_at_any_depth(tmp_path, hidden):
    made(tmp_path, "a.txt", ".env", "deep/er/key.pem", "private/one", "private/deep/two", ".ssh/config")

    assert hidden() == [".env", ".ssh", "deep/er/key.pem"]
    assert hidden("private/**") == [".env", ".ssh", "deep/er/key.pem", "private/deep", "private/one"]


def test_what_came_and_went_meanwhile(tmp_path, hidden):
    made(tmp_path, "deep/a.txt")
    assert hidden() == []
    made(tmp_path, "deep/.env", "new/.env")
    hidden.changes += 1
    assert hidden() == ["deep/.env", "new/.env"]
    (tmp_path / "deep" / ".env").unlink()
    hidden.changes += 1
    assert hidden() == ["new/.env"]


def test_folders_that_have_not_changed_are_not_listed_again(tmp_path, hidden, monkeypatch):
    made(tmp_path, "deep/.env", "deep/er/.env")
    assert hidden() == ["deep/.env", "deep/er/.env"]
    monkeypatch.setattr(module, "_entries", lambda folder: pytest.fail(f"{folder} is listed again"))

    assert hidden() == ["deep/.env", "deep/er/.env"]


def test_a_folder_that_was_changed_just_now_is_listed_again(tmp_path):
    looker = Hidden([tmp_path], Ignore([tmp_path], FileRules()))
    assert looker.found() == []
    status = tmp_path.stat()
    made(tmp_path, ".env")
    os.utime(tmp_path, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert looker.found() == [tmp_path / ".env"]


@pytest.mark.parametrize("place", ["", "deep/"])
def test_rules_of_the_folders_count_from_the_moment_they_are_there(tmp_path, hidden, place):
    made(tmp_path, f"{place}private/x", f"{place}notes.txt")
    assert hidden() == []
    made(tmp_path, f"{place}.odinignore", text="private/\n")
    hidden.changes += 1
    assert hidden() == [f"{place}private"]
    made(tmp_path, f"{place}.odinignore", text="notes.txt\n")
    assert hidden() == [f"{place}notes.txt"]
    (tmp_path / f"{place}.odinignore").unlink()
    hidden.changes += 1
    assert hidden() == []


def test_what_git_keeps_is_left_to_git_and_links_are_not_followed(tmp_path, hidden):
    made(tmp_path, ".git/refs/heads/.env", "deep/.env")
    (tmp_path / "link").symlink_to("deep")

    assert hidden() == ["deep/.env"]
