"""Files that only the user may read or write: opened so that nobody can lead Odin to others, written whole or not."""

import json
import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from odin_lsp import locks, system
from odin_lsp.errors import SessionError
from odin_lsp.folders import Folder

_FILE = system.NO_WAIT | system.OWN
NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL
MAX_JSON = 1024 * 1024
"""Bytes of what is approved or trusted."""


def open_folder(path: Path, *, create: bool = False) -> Folder:
    """A folder that is no link and the user's own, as is the one above it."""
    if create:
        for missing in reversed([it for it in (path, *path.parents) if not os.path.lexists(it)]):
            with suppress(FileExistsError):
                missing.mkdir(mode=0o700)
    with Folder(path.parent) as above:
        _keep_out_of(above, path.parent, 0o022)
        folder = above.inner(path.name)
    try:
        _keep_out_of(folder, path, 0o077)
    except BaseException:
        folder.close()
        raise
    return folder


def open_file(path: Path, flags: int) -> int:
    """A descriptor of a file that has no other name, is no link, pipe or device, and is the user's own."""
    with open_folder(path.parent, create=bool(flags & os.O_CREAT)) as folder:
        descriptor = folder.open(path.name, flags | _FILE, 0o600)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise SessionError(f"{path} is no file; remove it")
        if status.st_nlink > 1:
            raise SessionError(f"{path} is a file with a second name elsewhere; copy it, and remove the original")
        _refuse_others(path, status)
        if sys.platform != "win32" and status.st_mode & 0o077:
            with suppress(OSError):  # where nothing can be changed it can still be read
                os.fchmod(descriptor, stat.S_IMODE(status.st_mode) & ~0o077)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def write_file(path: Path, pieces: Iterable[bytes], *, durable: bool = True) -> None:
    """The whole file or nothing of it, in place of one that was there, in a folder as `open_folder` wants it.

    `durable`: whatever happens to the machine."""
    with open_folder(path.parent, create=True) as folder:
        _replace(folder, path.name, pieces, durable=durable)


def replace_file(path: Path, pieces: Iterable[bytes], *, durable: bool = True) -> None:
    """The same in any folder that is there."""
    with Folder(path.parent.resolve()) as folder:
        _replace(folder, path.name, pieces, durable=durable)


def read_json(path: Path) -> Any:
    """What is stored; `None` if there is nothing, or nothing that can be relied on: others could have written it."""
    try:
        descriptor = system.open_no_link(path, os.O_RDONLY | _FILE)
        with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, no path
            status = os.fstat(descriptor)
            if sys.platform != "win32" and (status.st_uid != system.user() or status.st_mode & 0o022):
                return None
            return json.loads(file.read(MAX_JSON))
    except (OSError, ValueError, RecursionError):
        return None


def update_json(path: Path, change: Callable[[Any], Any]) -> None:
    """Store what `change` makes of what is stored. Nobody sees half of it, and no other process's change is lost.

    An `OSError` says why it cannot be stored."""
    with locks.held(path.with_suffix(".lock")):
        replace_file(path, [json.dumps(change(read_json(path)), indent=1).encode()])


def _replace(folder: Folder, name: str, pieces: Iterable[bytes], *, durable: bool) -> None:
    draft = f".{secrets.token_hex(8)}.new"
    descriptor = folder.open(draft, NEW | _FILE, 0o600)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, no path
            file.writelines(pieces)
            if durable:
                file.flush()
                os.fsync(descriptor)
        folder.replace(draft, name)
    except BaseException:
        with suppress(FileNotFoundError):
            folder.unlink(draft)
        raise


def _keep_out_of(folder: Folder, path: Path, forbidden: int) -> None:
    _refuse_others(path, folder.status())
    with suppress(OSError):  # where nothing can be changed it can still be read
        folder.keep_others_out(forbidden)


def _refuse_others(path: Path, status: os.stat_result) -> None:
    if status.st_uid != system.user():
        raise SessionError(f"{path} belongs to somebody else; Odin does not use it")
