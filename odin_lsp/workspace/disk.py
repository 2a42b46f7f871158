"""The only code that writes files of the workspace. Whole or not at all, and never through a link.

Every path must be canonical.
"""

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from odin_lsp.errors import ToolError
from odin_lsp.workspace.opening import opened_folder
from odin_lsp.workspace.text import Decoded, decode
from odin_lsp.workspace.uris import printable

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


def read_text(path: Path) -> Decoded:
    """What is on disk now, to be written back with changes."""
    with _explained(path, "read"), opened_folder(path.parent) as folder:
        _regular(path, folder)
        with os.fdopen(os.open(path.name, _FILE, dir_fd=folder), "rb") as file:
            content = decode(file.read())
    if content is None:
        raise ToolError(f"{_shown(path)} is not text that could be written back as it was; leave it alone")
    return content


def write_text(path: Path, content: Decoded) -> None:
    """Put this text in place of the file's. Its mode stays, and its owner and attributes where that is possible."""
    data = _encoded(path, content)
    with _explained(path, "written"), opened_folder(path.parent) as folder:
        status = _regular(path, folder)
        if not status.st_mode & 0o222 or not os.access(path.name, os.W_OK, dir_fd=folder):
            raise ToolError(f"{_shown(path)} is read-only; ask the user to make it writable")
        aside = f".odin-{secrets.token_hex(8)}.tmp"
        with _written(aside, folder, data, 0o600) as descriptor:
            with suppress(PermissionError):
                os.fchown(descriptor, status.st_uid, status.st_gid)
            os.fchmod(descriptor, status.st_mode & 0o777)
            _copy_attributes(path.name, folder, descriptor)
            os.replace(aside, path.name, src_dir_fd=folder, dst_dir_fd=folder)


def create_text(path: Path, content: Decoded) -> None:
    """A new file, with the folders that it needs."""
    data = _encoded(path, content)
    with (
        _explained(path, "created"),
        opened_folder(path.parent, make=True) as folder,
        _written(path.name, folder, data, 0o666),
    ):
        pass


def delete(path: Path, *, recursive: bool) -> None:
    """Remove what is at this path; of a link, the link."""
    with _explained(path, "deleted"), opened_folder(path.parent) as folder:
        if not stat.S_ISDIR(_status(path, folder).st_mode):
            os.unlink(path.name, dir_fd=folder)
        elif recursive:
            shutil.rmtree(path.name, dir_fd=folder)
        else:
            os.rmdir(path.name, dir_fd=folder)


def rename(path: Path, new: Path) -> None:
    """Give the file or folder another name, one that nothing has, and make the folders that it needs."""
    if new.is_relative_to(path):
        raise ToolError(f"{_shown(path)} cannot be moved into itself; choose another name")
    with _explained(path, "renamed"), opened_folder(path.parent) as source:
        status = _status(path, source)
        with _explained(new, "created"), opened_folder(new.parent, make=True) as target:
            if stat.S_ISDIR(status.st_mode):
                _rename_folder(path.name, source, new.name, target)
                return
            os.link(path.name, new.name, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
            with _explained(path, "renamed"), _undone(os.unlink, new.name, target):
                os.unlink(path.name, dir_fd=source)


def _rename_folder(name: str, source: int, new: str, target: int) -> None:
    """There are no hard links to folders. What comes in after the check is replaced only if it is an empty folder."""
    with suppress(FileNotFoundError):
        os.lstat(new, dir_fd=target)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    os.rename(name, new, src_dir_fd=source, dst_dir_fd=target)


@contextmanager
def _written(name: str, folder: int, data: bytes, mode: int) -> Generator[int]:
    """A file that was not there, with this in it; gone again if anything fails before the end of the block."""
    with os.fdopen(os.open(name, _NEW, mode, dir_fd=folder), "wb") as file, _undone(os.unlink, name, folder):
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
        yield file.fileno()


def _copy_attributes(name: str, folder: int, target: int) -> None:
    """Access lists, labels and whatever people have put there; some belong to the system and stay behind."""
    if not hasattr(os, "listxattr"):
        return
    source = os.open(name, _FILE, dir_fd=folder)
    try:
        for attribute in os.listxattr(source):
            with suppress(OSError):
                os.setxattr(target, attribute, os.getxattr(source, attribute))
    except OSError:
        return
    finally:
        os.close(source)


@contextmanager
def _undone(undo: Callable[..., None], name: str, folder: int) -> Generator[None]:
    try:
        yield
    except BaseException:
        with suppress(OSError):
            undo(name, dir_fd=folder)
        raise


def _regular(path: Path, folder: int) -> os.stat_result:
    status = _status(path, folder)
    if stat.S_ISLNK(status.st_mode):
        raise ToolError(f"{_shown(path)} has become a symbolic link; name the file that it leads to")
    if not stat.S_ISREG(status.st_mode):
        kind = "a directory" if stat.S_ISDIR(status.st_mode) else "not a regular file"
        raise ToolError(f"{_shown(path)} is {kind}; name a file")
    return status


def _status(path: Path, folder: int) -> os.stat_result:
    return os.lstat(path.name, dir_fd=folder)


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
