"""Sessions on disk: append-only JSON lines, one write per record, private to the user."""

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

import platformdirs

from odin_lsp.errors import SessionError
from odin_lsp.values import is_object

SCHEMA_VERSION = 1
_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")


def sessions_folder(root: Path) -> Path:
    """Where the sessions of the workspace at `root` are; never inside the workspace."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", root.name)[:40].strip("-") or "root"
    digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:12]
    return Path(platformdirs.user_state_dir("odin", appauthor=False)) / "sessions" / f"{name}-{digest}"


class SessionLog:
    """One session's file. It is made when the first record is written."""

    def __init__(self, folder: Path, session_id: str) -> None:
        if not _ID.fullmatch(session_id):
            raise SessionError(f"{session_id!r} is not a session id; letters, digits, - and _ only")
        self.path = folder / f"{session_id}.jsonl"

    def append(self, record: dict[str, Any], *, flush: bool = False) -> None:
        line = json.dumps({"v": SCHEMA_VERSION, **record}, ensure_ascii=True, separators=(",", ":")) + "\n"
        try:
            descriptor = self._open()
            try:
                data = line.encode()
                if os.write(descriptor, data) != len(data):
                    raise SessionError(f"{self.path} could not be written in full; is the disk full?")
                if flush:
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise SessionError(f"{self.path} cannot be written: {error.strerror}") from error

    def _open(self) -> int:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return os.open(self.path, flags, 0o600)
        except FileNotFoundError:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return os.open(self.path, flags, 0o600)

    def records(self) -> list[dict[str, Any]]:
        """All that can be read: a torn or damaged line is left out, the others count."""
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise SessionError(f"{self.path} cannot be read: {error.strerror}") from error
        return [record for line in lines if (record := _record(line))]


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if is_object(record) else None
