"""Notes: private files that people can edit, bounded, and never lost to another process."""

import subprocess
import sys
from datetime import date

import pytest

from odin_lsp.errors import SessionError
from odin_lsp.sessions.memory import MAX_FILE, MAX_NOTE, Memory

TODAY = date(2026, 3, 10)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "state" / "memory"


@pytest.fixture
def at(folder):
    return lambda day: Memory(lambda: folder, lambda: day)


@pytest.fixture
def memory(at):
    return at(TODAY)


def test_notes_are_lists_that_only_the_user_can_read(memory, folder):
    memory.remember("tabs, not\n  spaces", lasting=True)
    memory.remember("the parser is half done", lasting=False)

    assert (folder / "lasting.md").read_text() == "# What to remember\n\n- tabs, not spaces\n"
    assert (folder / "2026-03-10.md").read_text() == "# Notes of 2026-03-10\n\n- the parser is half done\n"
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700


def test_what_is_known_is_not_written_twice(memory):
    assert memory.remember("once", lasting=True) == memory.remember("once ", lasting=True)

    assert len(memory.search("")) == 1


def test_a_session_begins_with_lasting_notes_and_those_of_the_last_three_days(at):
    for day in (6, 7, 8, 9, 10, 11):
        at(date(2026, 3, day)).remember(f"day {day}", lasting=False)
    at(date(2026, 1, 1)).remember("always", lasting=True)

    lasting, daily = at(TODAY).recent()

    assert [note.text for note in lasting] == ["always"]
    assert [note.text for note in daily] == ["day 10", "day 9", "day 8"]


def test_no_session_begins_with_more_than_there_is_room_for(memory):
    for number in range(30):
        memory.remember(f"{number} {'x' * 500}", lasting=True)

    lasting, _ = memory.recent()

    assert [note.text.split()[0] for note in lasting] == ["29", "28", "27", "26", "25", "24", "23"]


def test_notes_are_found_by_their_words_and_forgotten_by_their_ids(memory, at):
    at(date(2025, 1, 1)).remember("The parser lives in parse.py", lasting=False)
    memory.remember("the parser is fast", lasting=True)

    found = memory.search("PARSER")
    assert [note.text for note in found] == ["the parser is fast", "The parser lives in parse.py"]
    assert memory.search("parser fast") == found[:1]
    assert memory.search("where the parser lives") == found[::-1][:1]

    assert memory.forget(found[1].id) == found[1]
    assert memory.search("parser") == found[:1]
    with pytest.raises(SessionError, match="there is no note"):
        memory.forget(found[1].id)


def test_what_people_write_into_the_files_counts(memory, folder):
    memory.remember("one", lasting=True)
    (folder / "lasting.md").write_bytes(b"my own words\n- two\r\n-\n- \xff\n* three\n- four")
    (folder / "2026-99-99.md").write_text("- never")

    assert [note.text for note in memory.search("")] == ["two", "\ufffd", "four"]


@pytest.mark.parametrize("text", ["", " \n ", "x" * (MAX_NOTE + 1)])
def test_a_note_is_neither_empty_nor_long(memory, text):
    with pytest.raises(SessionError):
        memory.remember(text, lasting=True)


def test_a_full_file_is_full(memory, folder):
    for number in range(MAX_FILE // 910):
        memory.remember(f"{number:05} {'x' * 900}", lasting=True)

    with pytest.raises(SessionError, match="is full; forget something first"):
        memory.remember("y" * 900, lasting=True)

    assert (folder / "lasting.md").stat().st_size <= MAX_FILE


def test_no_link_leads_elsewhere(memory, folder, tmp_path):
    folder.mkdir(parents=True)
    (tmp_path / "other.md").write_text("- stolen\n")
    (folder / "lasting.md").symlink_to(tmp_path / "other.md")

    with pytest.raises(OSError, match="symbolic links"):
        memory.search("")
    with pytest.raises(OSError, match="symbolic links"):
        memory.remember("mine", lasting=True)
    assert (tmp_path / "other.md").read_text() == "- stolen\n"


def test_processes_that_write_at_the_same_time_lose_nothing(memory, folder):
    script = (
        "import os, sys; from pathlib import Path; from odin_lsp.sessions.memory import Memory\n"
        "os.fsync = lambda _: None\n"  # whoever waits for a lock waits for the disk of whoever has it
        "memory = Memory(lambda: Path(sys.argv[1]))\n"
        "for number in range(20): memory.remember(f'{sys.argv[2]} {number}', lasting=True)\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", script, str(folder), name]) for name in ("a", "b")]

    assert [writer.wait(60) for writer in writers] == [0, 0]
    assert len(memory.search("a")) == 20
    assert len(memory.search("b")) == 20
