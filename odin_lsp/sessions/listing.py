"""The sessions of a workspace, newest first, without reading the whole of any."""

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from odin_lsp.errors import SessionError
from odin_lsp.sessions import reader, titles
from odin_lsp.sessions.store import is_locked, log_path, open_log
from odin_lsp.values import Value, is_list, is_object

TAIL = 64 * 1024
HEAD_LINES = 4
TURNS = ("turn", "resumed")
"""Records of how a turn has ended: for the first time, and after it was taken up again."""
ASIDES = ("<reminder", "<context")
"""How what begins that the user has not said."""
MAX_SHOWN = 200
"""Characters of a first message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary(Value):
    session_id: str
    title: str
    created_at: float
    updated_at: float
    messages: int
    """Of the user, answered or not, that a turn has ended for."""
    first_message: str
    forked_from: str | None = None
    is_compacted: bool = False
    """The model has had a shorter history than the user."""
    locked: bool
    """Another Odin has it open: to resume it here is to fork it."""
    uri: str
    """Its transcript, a Markdown document; `odin.session.resume` brings it up to date."""
    excerpt: str | None = None
    """Where a search has found something: the words around it."""
    draft: str | None = None
    """Of a fork at a message: that message, to be changed and sent again."""


def transcript_path(log: Path) -> Path:
    return log.with_suffix(".md")


def logs(folder: Path) -> list[Path]:
    """The newest first; what is no session is left out."""
    try:
        with os.scandir(folder) as entries:
            dated = [
                (entry.stat(follow_symlinks=False).st_mtime_ns, folder / entry.name)
                for entry in entries
                if entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False)
            ]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise SessionError(f"{folder} cannot be read: {error.strerror}") from error
    return [path for _, path in sorted(dated, reverse=True)]


def named(folder: Path, beginning: str) -> str:
    """The id that begins like this, if there is exactly one."""
    log_path(folder, beginning)
    found = [path.stem for path in logs(folder) if path.stem.startswith(beginning)]
    if len(found) > 1 and beginning not in found:
        raise SessionError(f"{len(found)} sessions begin with {beginning!r}; say more of the id")
    return beginning if beginning in found else next(iter(found), beginning)


def summaries(folder: Path, own: Collection[str] = ()) -> Iterator[SessionSummary]:
    """`own`: those that this process has open."""
    for path in logs(folder):
        try:
            yield summary(folder, path.stem, own)
        except SessionError:
            continue


def summary(folder: Path, session_id: str, own: Collection[str] = ()) -> SessionSummary:
    path = log_path(folder, session_id)
    with open_log(path) as file:
        changed = os.fstat(file.fileno()).st_mtime
        about = _About()
        for record in _head(file):
            about.begin(record)
        for record in _tail(file):
            about.go_on(record)
    if not about.is_session:
        raise SessionError(f"nothing of session {session_id!r} can be read")
    return SessionSummary(
        session_id=session_id,
        title=about.title,
        created_at=about.created_at or changed,
        updated_at=about.updated_at or changed,
        messages=about.count,
        first_message=about.first_message[:MAX_SHOWN],
        forked_from=about.forked_from,
        is_compacted=about.is_compacted,
        locked=session_id not in own and is_locked(path),
        uri=transcript_path(path).as_uri(),
    )


@dataclass(slots=True)
class _About:
    is_session: bool = False
    title: str = titles.NEW
    created_at: float = 0
    updated_at: float = 0
    first_message: str = ""
    forked_from: str | None = None
    is_compacted: bool = False
    is_cleared: bool = False
    count: int = 0

    def begin(self, record: reader.Record) -> None:
        self.is_session = True
        match record["type"]:
            case "session":
                self.created_at = reader.number(record.get("at"), 0)
                forked_from = record.get("forkedFrom")
                self.forked_from = forked_from if isinstance(forked_from, str) else None
                self._take_title(record)
            case "message" if not self.first_message:
                self.first_message = _first_text(record.get("message"))
            case _:
                pass

    def go_on(self, record: reader.Record) -> None:
        self.is_session = True
        self.updated_at = reader.number(record.get("at"), self.updated_at)
        if record["type"] == "cleared":
            self.count, self.is_compacted, self.first_message, self.is_cleared = 0, False, "", True
        if record["type"] == "message" and self.is_cleared:
            self.first_message = self.first_message or _first_text(record.get("message"))
        if record["type"] in (*TURNS, "title"):
            self.count = max(self.count, int(reader.number(record.get("count"), 0)))
            self.is_compacted = self.is_compacted or record.get("isCompacted") is True
            self._take_title(record)

    def _take_title(self, record: reader.Record) -> None:
        title = record.get("title")
        if isinstance(title, str) and title.strip():
            self.title = titles.cleaned(title)


def _head(file: BinaryIO) -> Iterator[reader.Record]:
    for _ in range(HEAD_LINES):
        yield from reader.records(file.readline(reader.MAX_RECORD))


def _tail(file: BinaryIO) -> Iterator[reader.Record]:
    """The last records. Each turn says what the session is called and how many there are; where the end holds none,
    the whole file is looked through."""
    size = file.seek(0, os.SEEK_END)
    start = max(0, size - TAIL)
    file.seek(start)
    lines = file.read(TAIL).splitlines(keepends=True)[1 if start else 0 :]
    found = [record for line in lines for record in reader.records(line)]
    if start and not any(record["type"] in TURNS for record in found):
        file.seek(0)
        yield from reader.every(file, *TURNS, "title")
    yield from found


def _first_text(message: object) -> str:
    parts = message.get("parts") if is_object(message) else None
    found = (it.get("text") for it in (parts if is_list(parts) else ()) if is_object(it))
    return next((it for it in found if isinstance(it, str) and not it.startswith(ASIDES)), "")
