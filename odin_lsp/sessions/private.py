"""Files that only the user may read or write, opened so that nobody can lead Odin to others."""

import os
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from odin_lsp.errors import SessionError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL


def open_folder(path: Path, *, create: bool = False) -> int:
    """A descriptor of a folder that is no link and the user's own, as is the one above it."""
    if create:
        for missing in reversed([it for it in (path, *path.parents) if not os.path.lexists(it)]):
            with suppress(FileExistsError):
                missing.mkdir(mode=0o700)
    above = os.open(path.parent, _FOLDER)
    try:
        _keep_others_out(above, path.parent, 0o022)
        folder = os.open(path.name, _FOLDER, dir_fd=above)
    finally:
        os.close(above)
    try:
        _keep_others_out(folder, path, 0o077)
    except BaseException:
        os.close(folder)
        raise
    return folder


def open_file(path: Path, flags: int) -> int:
    """A descriptor of a file that has no other name, is no link, pipe or device, and is the user's own."""
    folder = open_folder(path.parent, create=bool(flags & os.O_CREAT))
    try:
        descriptor = os.open(path.name, flags | _FILE, 0o600, dir_fd=folder)
    finally:
        os.close(folder)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise SessionError(f"{path} is no file; remove it")
        if status.st_nlink > 1:
            raise SessionError(f"{path} is a file with a second name elsewhere; copy it, and remove the original")
        _keep_others_out(descriptor, path, 0o077)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def write_file(path: Path, pieces: Iterable[bytes], *, durable: bool = True) -> None:
    """The whole file or nothing of it, in place of one that was there. `durable`: whatever happens to the machine."""
    draft = path.with_name(f".{secrets.token_hex(8)}.new")
    descriptor = open_file(draft, NEW)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, no path
            file.writelines(pieces)
            if durable:
                file.flush()
                os.fsync(descriptor)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _keep_others_out(descriptor: int, path: Path, forbidden: int) -> None:
    status = os.fstat(descriptor)
    if status.st_uid != os.getuid():
        raise SessionError(f"{path} belongs to somebody else; Odin does not use it")
    if status.st_mode & forbidden:
        with suppress(OSError):  # where nothing can be changed it can still be read
            os.fchmod(descriptor, stat.S_IMODE(status.st_mode) & ~forbidden)
