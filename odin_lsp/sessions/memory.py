"""What Odin remembers of a workspace from one session to the next: lasting notes, and notes of each day.

They are Markdown lists that people can read and edit, in a folder that only the user can open."""

import asyncio
import hashlib
import os
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from odin_lsp import locks, private_files
from odin_lsp.errors import SessionError
from odin_lsp.sessions.store import sessions_folder

LASTING = "lasting.md"
LOCK = "notes.lock"
MAX_NOTE = 1000
"""Characters."""
MAX_FILE = 64 * 1024
"""Bytes of notes in one file."""
MAX_FOUND = 50
DAYS = 3
"""Whose notes a session begins with."""
MAX_LASTING, MAX_DAILY = 4000, 4000
"""Characters of each kind that a session begins with."""
_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})\.md")


@dataclass(frozen=True, slots=True)
class Note:
    text: str
    day: date | None = None
    """None: it is a lasting one."""

    @property
    def id(self) -> str:
        return hashlib.sha256(self.text.encode("utf-8", "replace")).hexdigest()[:8]

    def __str__(self) -> str:
        return f"{f'{self.day}: ' if self.day else ''}{self.text} (id {self.id})"


def memory_folder(root: Path) -> Path:
    """Where the notes on the workspace at `root` are; never inside the workspace."""
    sessions = sessions_folder(root)
    return sessions.parents[1] / "memory" / sessions.name


class Memory:
    """Its methods wait for the disk, and for other processes: they take a thread."""

    def __init__(self, folder: Callable[[], Path], today: Callable[[], date] = date.today) -> None:
        self._folder = folder
        self._today = today
        self.one_at_a_time = asyncio.Lock()
        """For those whose threads use it, so that calls keep their order."""

    def remember(self, text: str, *, lasting: bool) -> Note:
        """Keep it; what is known already is not written twice."""
        text = " ".join(text.split())
        if not text:
            raise SessionError("there is nothing to remember")
        if len(text) > MAX_NOTE:
            raise SessionError(f"a note has at most {MAX_NOTE:,} characters, this one has {len(text):,}")
        day = None if lasting else self._today()
        with self._alone():
            notes = self._read(day)
            if text not in notes:
                self._write(day, [*notes, text])
        return Note(text, day)

    def forget(self, note_id: str) -> Note:
        with self._alone():
            found = next((note for note in self._all() if note.id == note_id), None)
            if found is None:
                raise SessionError(f"there is no note {note_id!r}; recall lists notes with their ids")
            for day in {note.day for note in self._all() if note.id == note_id}:
                self._write(day, [text for text in self._read(day) if text != found.text])
        return found

    def search(self, words: str) -> list[Note]:
        """Notes with most of these words, those with more of them first, else the lasting ones, then the latest; all of
        them if there are no words."""
        wanted = set(words.casefold().split())
        counted = [(sum(word in note.text.casefold() for word in wanted), note) for note in self._all()]
        found = [it for it in counted if 2 * it[0] > len(wanted) or not wanted]
        return [note for _, note in sorted(found, key=lambda it: -it[0])[:MAX_FOUND]]

    def recent(self) -> tuple[list[Note], list[Note]]:
        """What a session should begin with: lasting notes, and those of the last days; the newest, as far as there is
        room."""
        oldest = self._today() - timedelta(days=DAYS - 1)
        lasting = [Note(text) for text in reversed(self._read(None))]
        daily = [
            Note(text, day)
            for day in self._days()
            if oldest <= day <= self._today()
            for text in reversed(self._read(day))
        ]
        return list(_fitting(lasting, MAX_LASTING)), list(_fitting(daily, MAX_DAILY))

    def _all(self) -> Iterator[Note]:
        yield from (Note(text) for text in self._read(None))
        for day in self._days():
            yield from (Note(text, day) for text in reversed(self._read(day)))

    def _days(self) -> list[date]:
        """The newest first."""
        try:
            names = os.listdir(self._folder())  # noqa: PTH208 - names are all that is wanted
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted((day for name in names if (day := _day(name)) is not None), reverse=True)

    def _path(self, day: date | None) -> Path:
        return self._folder() / (LASTING if day is None else f"{day.isoformat()}.md")

    def _read(self, day: date | None) -> list[str]:
        try:
            with open(private_files.open_file(self._path(day), os.O_RDONLY), "rb") as file:  # noqa: PTH123 - a descriptor
                text = file.read(MAX_FILE + MAX_NOTE).decode("utf-8", "replace")
        except (FileNotFoundError, NotADirectoryError):
            return []
        notes = (line[2:].strip()[:MAX_NOTE] for line in text.splitlines() if line.startswith("- "))
        return [note for note in notes if note]

    def _write(self, day: date | None, notes: list[str]) -> None:
        title = "What to remember" if day is None else f"Notes of {day.isoformat()}"
        data = "\n".join([f"# {title}", "", *(f"- {note}" for note in notes), ""]).encode("utf-8", "replace")
        if len(data) > MAX_FILE:
            raise SessionError(f"{self._path(day)} is full; forget something first")
        private_files.write_file(self._path(day), [data])

    @contextmanager
    def _alone(self) -> Generator[None]:
        """No other process changes the notes meanwhile."""
        private_files.open_folder(self._folder(), create=True).close()
        try:
            with locks.held(self._folder() / LOCK):
                yield
        except locks.Held as error:
            raise SessionError(str(error)) from None


def _day(name: str) -> date | None:
    found = _DAY.fullmatch(name)
    try:
        return date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None


def _fitting(notes: list[Note], room: int) -> Iterator[Note]:
    for note in notes:
        room -= len(note.text)
        if room < 0:
            return
        yield note
