"""The only code that writes files of the workspace. Whole or not at all, and never through a link.

Every path must be canonical.
"""

import errno
import os
import re
import secrets
import stat
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from odin_lsp import locks, system
from odin_lsp.errors import ToolError
from odin_lsp.folders import Folder
from odin_lsp.workspace.opening import opened_folder
from odin_lsp.workspace.text import Decoded, decode
from odin_lsp.workspace.uris import printable

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.OWN
_FILE = os.O_RDONLY | system.NO_WAIT | system.OWN
_ASIDE = re.compile(r"\.odin-([1-9]\d{0,8})-[0-9a-f]{16}\.tmp")
_CHANGED = "has been changed by another program meanwhile; read it again"


def read_text(path: Path) -> Decoded:
    """What is on disk now, to be written back with changes."""
    with _explained(path, "read"), opened_folder(path.parent) as folder:
        _regular(path, folder)
        with os.fdopen(folder.open(path.name, _FILE), "rb") as file:
            content = decode(file.read())
    if content is None:
        raise ToolError(f"{_shown(path)} is not text that could be written back as it was; leave it alone")
    return content


def write_text(path: Path, content: Decoded, expected: str | None = None) -> None:
    """Put this text in place of the file's, of the `expected` one if that is given. Its mode stays, and its owner and
    attributes where that is possible. What another program writes meanwhile stays: then nothing is done."""
    data = _encoded(path, content)
    with _explained(path, "written"), opened_folder(path.parent) as folder, _held(path, folder) as current:
        status = os.fstat(current.fileno())
        if not status.st_mode & 0o222 or not folder.is_writable(path.name):
            raise ToolError(f"{_shown(path)} is read-only; ask the user to make it writable")
        before = _content(current)
        if expected is not None and ((decoded := decode(before)) is None or decoded.text != expected):
            raise ToolError(f"{_shown(path)} {_CHANGED}")
        with _aside(folder, data, 0o600) as (aside, file):
            _make_alike(file.fileno(), current.fileno(), status)
            if not folder.exchange(aside, path.name):
                _let_go(file, current)
                folder.replace(aside, path.name)
            elif _has_still(current, before):
                with suppress(OSError):  # the text is written, whatever becomes of the old one
                    folder.unlink(aside)
            else:
                folder.exchange(aside, path.name)
                raise ToolError(f"{_shown(path)} {_CHANGED}")


def create_text(path: Path, content: Decoded) -> None:
    """A new file, with the folders that it needs."""
    data = _encoded(path, content)
    with (
        _explained(path, "created"),
        opened_folder(path.parent, make=True) as folder,
        _aside(folder, data, 0o666) as (aside, file),
    ):
        _let_go(file)
        folder.give_name(aside, folder, path.name)


def delete(path: Path, *, recursive: bool) -> None:
    """Remove what is at this path; of a link, the link."""
    with _explained(path, "deleted"), opened_folder(path.parent) as folder:
        if not stat.S_ISDIR(folder.status(path.name).st_mode):
            folder.unlink(path.name)
        elif recursive:
            folder.remove_tree(path.name)
        else:
            folder.rmdir(path.name)


def rename(path: Path, new: Path) -> None:
    """Give the file or folder another name, one that nothing has, and make the folders that it needs."""
    if new.is_relative_to(path):
        raise ToolError(f"{_shown(path)} cannot be moved into itself; choose another name")
    with _explained(path, "renamed"), opened_folder(path.parent) as source:
        source.status(path.name)
        with _explained(new, "created"), opened_folder(new.parent, make=True) as target:
            source.give_name(path.name, target, new.name)


@contextmanager
def _held(path: Path, folder: Folder) -> Generator[BinaryIO]:
    """The file, which no other Odin changes meanwhile."""
    while True:
        _regular(path, folder)
        with os.fdopen(folder.open(path.name, _FILE), "rb") as file:
            _lock(file.fileno(), path)
            status = os.fstat(file.fileno())
            if os.path.samestat(status, folder.status(path.name)):  # else it has been exchanged by then
                yield file
                return


def _let_go(*files: BinaryIO) -> None:
    """Windows gives no other name to what is open, nor its name to something else."""
    if sys.platform == "win32":
        for file in files:
            file.close()


def _lock(descriptor: int, path: Path) -> None:
    try:
        locks.hold(descriptor, path)
    except locks.Held:
        raise
    except OSError:  # this file system knows no locks
        return


@contextmanager
def _aside(folder: Folder, data: bytes, mode: int) -> Generator[tuple[str, BinaryIO]]:
    """A file with this in it, to be given its name in the block; gone if that fails. What others have left that were
    killed right here goes, too."""
    _sweep(folder)
    name = f".odin-{os.getpid()}-{secrets.token_hex(8)}.tmp"
    with _undone(folder.unlink, name), os.fdopen(folder.open(name, _NEW, mode), "wb") as file:
        _lock(file.fileno(), Path(name))
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
        yield name, file


def _sweep(folder: Folder) -> None:
    for name in [name for name, _ in folder.listing() if _ASIDE.fullmatch(name)]:
        with suppress(OSError):
            if _is_left(name, folder):
                folder.unlink(name)


def _is_left(name: str, folder: Folder) -> bool:
    """Nobody holds the lock on it. Another Odin that is there may be about to."""
    found = _ASIDE.fullmatch(name)
    number = int(found[1]) if found else os.getpid()
    if number != os.getpid() and system.is_alive(number):
        return False
    descriptor = folder.open(name, _FILE)
    try:
        locks.hold(descriptor, Path(name), patience=0)
        return True
    except locks.Held:
        return False
    finally:
        os.close(descriptor)


def _has_still(file: BinaryIO, content: bytes) -> bool:
    """What cannot be read may be anything."""
    with suppress(OSError):
        return _content(file) == content
    return False


def _content(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read()


def _make_alike(target: int, source: int, status: os.stat_result) -> None:
    """Owner, mode, access lists, labels and what people have put there; some belong to the system and stay behind."""
    if sys.platform != "win32":
        with suppress(PermissionError):
            os.fchown(target, status.st_uid, status.st_gid)
        os.fchmod(target, status.st_mode & 0o777)
    if sys.platform == "linux":
        with suppress(OSError):
            for attribute in os.listxattr(source):
                with suppress(OSError):
                    os.setxattr(target, attribute, os.getxattr(source, attribute))


@contextmanager
def _undone(undo: Callable[[str], None], name: str) -> Generator[None]:
    try:
        yield
    except BaseException:
        with suppress(OSError):
            undo(name)
        raise


def _regular(path: Path, folder: Folder) -> None:
    status = folder.status(path.name)
    if stat.S_ISLNK(status.st_mode):
        raise ToolError(f"{_shown(path)} has become a symbolic link; name the file that it leads to")
    if not stat.S_ISREG(status.st_mode):
        kind = "a directory" if stat.S_ISDIR(status.st_mode) else "not a regular file"
        raise ToolError(f"{_shown(path)} is {kind}; name a file")


def _encoded(path: Path, content: Decoded) -> bytes:
    try:
        return content.encode()
    except UnicodeEncodeError as error:
        raise ToolError(f"the text for {_shown(path)} is not valid Unicode: {error.reason}; write it anew") from None


@contextmanager
def _explained(path: Path, done: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise ToolError(f"{_shown(path)} {_reason(error, done)}") from None


def _reason(error: OSError, done: str) -> str:
    match error.errno:
        case errno.ENOENT:
            return "does not exist; look for it, or create it"
        case errno.EEXIST:
            return "exists already; edit it, or choose another name"
        case errno.ENOTEMPTY:
            return "is not empty; delete it recursively, or what is in it first"
        case errno.ENOTDIR | errno.ELOOP:
            return f"cannot be {done}: a folder on its path is a link or no folder; look at the path again"
        case _:
            return f"cannot be {done}: {error.strerror}; ask the user"


def _shown(path: Path) -> str:
    return printable(str(path))
