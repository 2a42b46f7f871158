"""Several programs change one file: what each of them was told is what has happened, and nothing is lost."""

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from odin_lsp import folders
from odin_lsp.folders import Folder
from odin_lsp.ports import FileChange, Position, Range, TextReplacement
from odin_lsp.terminal.editor import TerminalEditor
from odin_lsp.workspace import disk
from odin_lsp.workspace.text import Decoded

ROUNDS = 200
AT_START = Range(Position(0, 0), Position(0, 0))
OLD = "old\n"


def change(path, before, new="new\n"):
    edits = (TextReplacement(AT_START, new),)
    return FileChange(uri=path.as_uri(), version=None, operation="edit", edits=edits, before=before)


def names(folder):
    return sorted(it.name for it in folder.iterdir())


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "ws" / "a.txt"
    path.parent.mkdir()
    path.write_text(OLD)
    return path


@pytest.fixture(params=["exchanged", "replaced"])
def kernel(request, monkeypatch):
    """One that can exchange two names, and one that cannot."""
    if request.param == "replaced":
        monkeypatch.setattr(folders, "_kernel", lambda: (None, None))
    return request.param


def test_two_odins_at_once_lose_nothing_that_they_said_was_made(path, capsys):
    command = [sys.executable, "-m", "tests.support.racing_writer", path]
    writers = {
        name: subprocess.Popen([*command, name, str(ROUNDS)], stdout=subprocess.PIPE, text=True)
        for name in ("one", "two")
    }
    made = {name: int(it.communicate(timeout=120)[0]) for name, it in writers.items()}

    lines = path.read_text().splitlines()
    with capsys.disabled():
        sys.stdout.write(f" {ROUNDS} rounds × 2, made: {made}")
    assert {name: sum(line.startswith(name) for line in lines) for name in writers} == made
    assert len(lines) == len(set(lines)) == sum(made.values()) + 1
    assert min(made.values()) > 0
    assert names(path.parent) == ["a.txt"]


async def test_a_change_for_another_text_is_not_made_and_that_is_said(path, kernel):
    said = await TerminalEditor("yes").apply(change(path, "another\n"))

    assert said == f"{path} has been changed by another program meanwhile; read it again"
    assert path.read_text() == OLD
    assert names(path.parent) == ["a.txt"]


@pytest.mark.parametrize("step", ["open", "fsync", "fchmod", "exchange"])
async def test_what_another_program_appends_meanwhile_is_not_lost(path, monkeypatch, step):
    """At each step between the look at the file and the new text in its place."""
    owner = Folder if step == "exchange" else os
    done = getattr(owner, step)
    appended = []

    def and_append(*arguments, **more):
        if not appended and (step != "open" or str(arguments[0]).endswith(".tmp")):
            with path.open("a") as file:
                file.write("appended\n")
            appended.append(True)
        return done(*arguments, **more)

    monkeypatch.setattr(owner, step, and_append)
    said = await TerminalEditor("yes").apply(change(path, OLD))

    assert appended
    assert said == f"{path} has been changed by another program meanwhile; read it again"
    assert path.read_text() == f"{OLD}appended\n"
    assert names(path.parent) == ["a.txt"]


@pytest.mark.parametrize("moment", ["fsync", "fchmod", "exchange", "unlink", "give_name"])
def test_what_a_killed_odin_has_left_aside_goes_with_the_next_change(path, moment):
    new = path.with_name("new.txt")

    def die(*_, **__):
        os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child == 0:
        setattr(Folder if moment in ("exchange", "give_name") else os, moment, die)
        if moment == "give_name":
            disk.create_text(new, Decoded("new\n", "utf-8"))
        else:
            disk.write_text(path, Decoded("new\n", "utf-8"), OLD)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert path.read_text() == ("new\n" if moment == "unlink" else OLD)
    assert not new.exists()

    disk.write_text(path, Decoded("last\n", "utf-8"))

    assert names(path.parent) == ["a.txt"]
    assert path.read_text() == "last\n"


@pytest.mark.parametrize("number", ["0", "99999999999999999999", "-1", "1 "])
def test_what_others_have_named_alike_is_in_nobodys_way(path, number):
    name = f".odin-{number}-{'0' * 16}.tmp"
    (path.parent / name).touch()

    disk.write_text(path, Decoded("new\n", "utf-8"))

    assert names(path.parent) == [name, "a.txt"]


def test_what_is_being_written_aside_stays(path):
    """By another Odin, or here."""
    about_to_be, held = (f".odin-{number}-{'0' * 16}.tmp" for number in (os.getppid(), os.getpid()))
    (path.parent / about_to_be).touch()
    with (path.parent / held).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        disk.write_text(path, Decoded("new\n", "utf-8"))
        assert names(path.parent) == sorted([about_to_be, held, "a.txt"])

    disk.write_text(path, Decoded("newer\n", "utf-8"))
    assert names(path.parent) == [about_to_be, "a.txt"]


async def test_without_help_of_the_kernel_all_of_it_works_too(path, monkeypatch):
    monkeypatch.setattr(folders, "_kernel", lambda: (None, None))
    assert await TerminalEditor("yes").apply(change(path, OLD)) is None
    disk.create_text(Path(f"{path}.new"), Decoded("created\n", "utf-8"))
    disk.rename(path, path.with_name("b.txt"))

    assert names(path.parent) == ["a.txt.new", "b.txt"]
    assert path.with_name("b.txt").read_text() == f"new\n{OLD}"
