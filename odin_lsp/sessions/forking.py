"""A session that begins as a copy of another: all of it, or all before a message, which can then be sent anew."""

import time
import uuid
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from odin_lsp import private_files
from odin_lsp.errors import SessionError
from odin_lsp.sessions import attachments, reader
from odin_lsp.sessions.session import Session
from odin_lsp.sessions.store import line_of, log_path, open_log
from odin_lsp.sessions.turn_record import TurnRecord

OWN = ("session", "title", "repaired", "waiting", "begun", "dropped")
"""What says something of one session only."""


def fork(folder: Path, session_id: str, at_message: int | None = None) -> tuple[str, str | None]:
    """The new session's id, and the message that was left out. Records are copied as they are, unknown ones too."""
    new_id = uuid.uuid4().hex
    source = Session.load(folder, session_id)
    with open_log(log_path(folder, session_id)) as file:
        found = reader.index(file)
        if found.is_newer:
            raise SessionError(f"session {session_id!r} was written by a newer version of Odin; fork it with that")
        copied, draft = found.lines, None
        if at_message is not None:
            copied, draft = _before(file, found, at_message)
        now = time.time()
        first = line_of({"type": "session", "id": new_id, "title": source.title, "forkedFrom": session_id, "at": now})
        last = line_of({"type": "title", "title": source.title, "by": source.titled_by, "at": now})
        try:
            attachments.copy(log_path(folder, session_id), log_path(folder, new_id), file, copied)
            private_files.write_file(log_path(folder, new_id), chain([first], _copied(file, copied), [last]))
        except OSError as error:
            raise SessionError(f"{folder} cannot be written: {error.strerror}") from error
    return new_id, draft


def _before(file: BinaryIO, found: reader.Index, message: int) -> tuple[list[reader.Line], str]:
    turns = found.of("turn")
    if not 0 <= message < len(turns):
        raise SessionError(f"the session has no message {message}; it has {len(turns)}, counted from 0")
    [turn] = [reader.value(TurnRecord, it.get("turn")) for it in reader.read(file, turns[message])[-1:]] or [None]
    if turn is None:
        raise SessionError(f"message {message} of the session cannot be read")
    end = _beginning(file, found, turn.turn_id) or (turns[message - 1].offset + 1 if message else 0)
    return [line for line in found.lines if line.offset < end], turn.body


def _beginning(file: BinaryIO, found: reader.Index, turn_id: str) -> int | None:
    """Where the turn begins in the log; earlier versions have not noted it."""
    for line in found.of("begun"):
        if any(it["message"]["turnId"] == turn_id for it in reader.read(file, line)):
            return line.offset
    return None


def _copied(file: BinaryIO, lines: list[reader.Line]) -> Iterator[bytes]:
    for line in lines:
        if line.kind in OWN or line.kind is None:
            continue
        file.seek(line.offset)
        left = line.size
        while left:
            piece = file.read(min(left, reader.CHUNK))
            left -= len(piece)
            yield piece if left or piece.endswith(b"\n") else piece + b"\n"
