"""Sessions on disk: append-only JSON lines, one write per record, one writer, private to the user."""

import errno
import hashlib
import json
import os
import re
import secrets
import shutil
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from odin_lsp import locks, private_files, state_folder, system
from odin_lsp.errors import SessionError, SessionLocked
from odin_lsp.sessions import attachments, reader

MAX_WAITING = 64 * 1024 * 1024
"""Bytes that are kept for a disk that may work again."""
_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_JSON = json.JSONEncoder(separators=(",", ":"))


def sessions_folder(root: Path) -> Path:
    """Where the sessions of the workspace at `root` are; never inside the workspace."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", root.name)[:40].strip("-") or "root"
    digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:12]
    return state_folder.folder() / "sessions" / f"{name}-{digest}"


def log_path(folder: Path, session_id: str) -> Path:
    if not _ID.fullmatch(session_id):
        raise SessionError(f"{session_id!r} is not a session id; letters, digits, - and _ only")
    return folder / f"{session_id}.jsonl"


def line_of(record: dict[str, Any]) -> bytes:
    """A record as it is stored. `v` and `type` come first: `reader` finds records by them."""
    return _JSON.encode({"v": reader.SCHEMA_VERSION, **record}).encode() + b"\n"


def open_log(path: Path) -> BinaryIO:
    """For reading; nobody has to hold the lock for that."""
    try:
        return open(private_files.open_file(path, os.O_RDONLY), "rb")  # noqa: PTH123 - a descriptor, no path
    except FileNotFoundError:
        raise SessionError(f"there is no session {path.stem!r} in this workspace") from None
    except OSError as error:
        raise SessionError(f"{path} cannot be read: {error.strerror}") from error


def is_locked(path: Path) -> bool:
    """Whether somebody may be writing to the session, this process included."""
    try:
        with open_log(path) as file:
            locks.hold(file.fileno(), path, shared=True, patience=0)
    except locks.Held:
        return True
    except (OSError, SessionError):
        return False
    return False


def delete_log(folder: Path, session_id: str) -> None:
    """The session and all that was made of it: no other file's name begins like this, for ids have no dots."""
    path = log_path(folder, session_id)
    open_log(path).close()
    if is_locked(path):
        raise SessionLocked(f"session {session_id!r} is open in another Odin; close it there first")
    try:
        for file in (path, *folder.glob(f"{session_id}.*")):
            if file.is_dir() and not file.is_symlink():
                shutil.rmtree(file)
            else:
                file.unlink(missing_ok=True)
    except OSError as error:
        raise SessionError(f"{path} cannot be deleted: {error.strerror}") from error


class SessionLog:
    """One session's file, made with the first record. The kernel holds the lock, and lets go of it when the process
    ends, however it ends: there is no owner to be asked after, and none that could be mistaken."""

    def __init__(self, folder: Path, session_id: str) -> None:
        self.path = log_path(folder, session_id)
        self.known_end: int | None = None
        """How far the file was read; `None` for a session that is new."""
        self._descriptor: int | None = None
        self._end = 0
        self._synced = 0
        self._waiting: deque[bytes] = deque()
        self._is_torn = False
        self._is_doubtful = False
        """The disk failed to take what is behind `_synced`: the kernel may have forgotten it."""
        self._has_lost = False

    @property
    def end(self) -> int:
        """How far it is written."""
        return self._end

    def claim(self, patience: float = locks.MOMENT) -> tuple[reader.Index, str | None]:
        """Become the only writer, of a file whose last record is whole; what is in it, and what had to be repaired."""
        try:
            descriptor = private_files.open_file(self.path, os.O_RDWR)
        except FileNotFoundError:
            raise SessionError(f"there is no session {self.path.stem!r} in this workspace") from None
        except OSError as error:
            raise SessionError(f"{self.path} cannot be written: {error.strerror}") from error
        try:
            self._lock(descriptor, patience)
            claimed = self._repair(descriptor)
        except OSError as error:
            os.close(descriptor)
            raise SessionError(f"{self.path} cannot be written: {error.strerror}") from error
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        return claimed

    def append(self, record: dict[str, Any], *, flush: bool = False) -> None:
        """Write the record. If that fails it waits, and is written before the next one."""
        self._waiting.append(line_of(attachments.set_aside(self.path, record)))
        try:
            self._write()
            if flush:
                self._sync()
        except OSError as error:
            raise SessionError(f"{self.path} cannot be written: {error.strerror}") from error
        finally:
            if sum(map(len, self._waiting)) > MAX_WAITING:
                self._has_lost = True
                self._waiting.clear()

    @property
    def is_behind(self) -> bool:
        """The disk has refused some of it."""
        return bool(self._waiting)

    def catch_up(self) -> None:
        """Write what the disk has refused, if it takes it now."""
        if self._waiting:
            with suppress(OSError, SessionError):
                self._write()

    def close(self) -> None:
        """Let go of the lock."""
        self.catch_up()
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        try:
            if self._is_torn:
                os.ftruncate(descriptor, self._end)
        except OSError:
            pass  # whoever reads it next leaves the torn record out
        finally:
            os.close(descriptor)

    def _write(self) -> None:
        if self._has_lost:
            raise SessionError(f"{self.path} could not be written for too long")
        descriptor = self._open()
        status = os.fstat(descriptor)
        if not self._is_at_its_place(status):
            raise SessionError(f"{self.path} was deleted or replaced")
        if status.st_size < self._end or (status.st_size > self._end and not self._is_torn):
            raise SessionError(f"{self.path} was changed by somebody else")
        while self._waiting:
            self._is_torn = True
            _write_at(descriptor, self._waiting[0], self._end)
            self._is_torn = False
            self._end += len(self._waiting.popleft())

    def _is_at_its_place(self, status: os.stat_result) -> bool:
        try:
            return os.path.samestat(status, os.lstat(self.path))
        except FileNotFoundError:
            return False

    def _sync(self) -> None:
        descriptor = self._open()
        if self._is_doubtful:
            _write_at(descriptor, system.pread(descriptor, self._end - self._synced, self._synced), self._synced)
        self._is_doubtful = True
        os.fsync(descriptor)
        if self._synced == 0:
            with private_files.open_folder(self.path.parent) as folder:
                folder.sync()
        self._is_doubtful = False
        self._synced = self._end

    def _open(self) -> int:
        if self._descriptor is not None:
            return self._descriptor
        if self.known_end is not None:
            self.claim()
            if self._end != self.known_end:
                raise SessionError(f"{self.path} was changed by somebody else")
        if self._descriptor is None:
            self._descriptor = self._made()
        return self._descriptor

    def _made(self) -> int:
        descriptor = private_files.open_file(self.path, private_files.NEW)
        try:
            self._lock(descriptor)
        except SessionLocked:  # by somebody who only looks at it; next time it has to be new again
            os.close(descriptor)
            with suppress(OSError):
                self.path.unlink()
            raise
        return descriptor

    def _lock(self, descriptor: int, patience: float = locks.MOMENT) -> None:
        try:
            locks.hold(descriptor, self.path, patience=patience)
        except locks.Held as error:
            raise SessionLocked(f"session {self.path.stem!r} is open in {error.holder}") from None

    def _repair(self, descriptor: int) -> tuple[reader.Index, str | None]:
        """Take off what is torn, and keep it in a file beside; end the last record's line."""
        with open(os.dup(descriptor), "rb") as file:  # noqa: PTH123 - a descriptor, no path
            found = reader.index(file)
        if found.is_newer:
            raise SessionError(
                f"session {self.path.stem!r} was written by a newer version of Odin; "
                "go on with that version, or export the session with this one"
            )
        self._end = self._synced = found.end
        if found.lacks_newline:
            _write_at(descriptor, b"\n", found.end)
            self._end += 1
        if found.size == found.end:
            return found, None
        backup = self.path.with_name(f"{self.path.stem}.{secrets.token_hex(4)}.torn")
        private_files.write_file(backup, _pieces(descriptor, found.end, found.size))
        os.ftruncate(descriptor, found.end)
        return found, f"the last record was cut off; its {found.size - found.end:,} bytes are kept in {backup}"


def _write_at(descriptor: int, data: bytes, offset: int) -> None:
    """One write, unless the system takes only a part of it."""
    while data:
        written = system.pwrite(descriptor, data, offset)
        if not written:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        data, offset = data[written:], offset + written


def _pieces(descriptor: int, start: int, end: int) -> Iterator[bytes]:
    for offset in range(start, end, reader.CHUNK):
        yield system.pread(descriptor, min(reader.CHUNK, end - offset), offset)
