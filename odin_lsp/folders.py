"""Folders that are held open, and what is done with names in them.

A name in a held folder is one in the folder that was looked at, whatever has become of its path. On POSIX a descriptor
goes with the folder wherever it is moved. On Windows it stays where it is: as long as something in a folder is open,
neither it nor one around it can be moved."""

import errno
import os
import shutil
import stat
import sys
import time
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Self

from odin_lsp import system

_NO_REPLACE = 1
_EXCHANGE = 2
_UNABLE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM)
IN_PROC = Path("/proc/self/fd").is_dir()
"""Whether the system has a path to what is open, which leads there wherever that is moved."""

if sys.platform == "win32":
    import _winapi

    _TRAVERSE, _SHARED, _IS_THERE = 0x20, 0x1 | 0x2, 3
    """To read and to write, but not to remove or to rename."""
    _FOLDER_ITSELF = 0x02000000 | 0x00200000
    _PAUSES = (0.01, 0.03, 0.1)
    """Seconds: whoever looks into every new file, to find a virus or a word, has it open for a moment."""

    class Folder:
        """A folder, held open until it is closed: an `OSError` for a link or a junction."""

        def __init__(self, path: Path) -> None:
            self.way = str(path)
            """A path by which others come here."""
            self._path = path
            self._handle = _winapi.CreateFile(str(path), _TRAVERSE, _SHARED, 0, _IS_THERE, _FOLDER_ITSELF, 0)
            try:
                status = os.lstat(path)
                system.refuse_link(path, status)
                if not stat.S_ISDIR(status.st_mode):
                    raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
            except BaseException:
                self.close()
                raise

        def close(self) -> None:
            _winapi.CloseHandle(self._handle)

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            self.close()

        def inner(self, name: str) -> "Folder":
            """A folder in this one."""
            return Folder(self._path / name)

        def make(self, name: str) -> None:
            os.mkdir(self._path / name)

        def open(self, name: str, flags: int, mode: int = 0o777) -> int:
            """A descriptor of a file; an `OSError` for a link."""
            return system.open_no_link(self._path / name, flags, mode)

        def status(self, name: str = "") -> os.stat_result:
            """Of what has this name, or of the folder; of a link, its own."""
            return os.lstat(self._path / name)

        def listing(self, most: int | None = None) -> list[tuple[str, bool]]:
            """Names in it, and whether they are folders; not more than `most` of them."""
            with os.scandir(self._path) as scan:
                return [(it.name, it.is_dir(follow_symlinks=False)) for it in islice(scan, most)]

        def is_writable(self, name: str) -> bool:
            return os.access(self._path / name, os.W_OK)

        def keep_others_out(self, forbidden: int) -> None:
            """Access lists say who may do what there, and a user's own folder lets nobody else in."""

        def unlink(self, name: str) -> None:
            os.unlink(self._path / name)

        def rmdir(self, name: str) -> None:
            os.rmdir(self._path / name)

        def remove_tree(self, name: str) -> None:
            shutil.rmtree(self._path / name)

        def replace(self, name: str, new: str) -> None:
            """Give this file another name in the folder, also one that a file has. Both must be closed."""
            for pause in _PAUSES:
                with suppress(PermissionError):
                    os.replace(self._path / name, self._path / new)
                    return
                time.sleep(pause)
            os.replace(self._path / name, self._path / new)

        def exchange(self, one: str, two: str) -> bool:
            """What has the one name has the other one then; whether that can be done here."""
            return False

        def give_name(self, name: str, target: "Folder", new: str) -> None:
            """Another name, in the same folder or another one; a `FileExistsError` if something has it."""
            os.rename(self._path / name, target._path / new)

        def sync(self) -> None:
            """Names are kept there with what they name."""

else:
    _OPEN = system.FOLDER | system.OWN | os.O_NOFOLLOW
    _PASSED = _OPEN | getattr(os, "O_PATH", os.O_RDONLY)
    """Whoever may pass through a folder need not be one who may read it."""

    class Folder:
        """A folder, held open until it is closed: an `OSError` for a link."""

        def __init__(self, path: Path | str, outer: int | None = None) -> None:
            self.descriptor = os.open(path, _PASSED, dir_fd=outer)
            self.way = f"/proc/self/fd/{self.descriptor}" if IN_PROC else str(path)
            """A path by which others come here."""

        def close(self) -> None:
            os.close(self.descriptor)

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            self.close()

        def inner(self, name: str) -> "Folder":
            """A folder in this one."""
            return Folder(name, self.descriptor)

        def make(self, name: str) -> None:
            os.mkdir(name, dir_fd=self.descriptor)

        def open(self, name: str, flags: int, mode: int = 0o777) -> int:
            """A descriptor of a file; an `OSError` for a link."""
            return os.open(name, flags | os.O_NOFOLLOW, mode, dir_fd=self.descriptor)

        def status(self, name: str = "") -> os.stat_result:
            """Of what has this name, or of the folder; of a link, its own."""
            return os.lstat(name, dir_fd=self.descriptor) if name else os.fstat(self.descriptor)

        def listing(self, most: int | None = None) -> list[tuple[str, bool]]:
            """Names in it, and whether they are folders; not more than `most` of them."""
            readable = self._readable()
            try:
                with os.scandir(readable) as scan:
                    return [(it.name, it.is_dir(follow_symlinks=False)) for it in islice(scan, most)]
            finally:
                os.close(readable)

        def is_writable(self, name: str) -> bool:
            return os.access(name, os.W_OK, dir_fd=self.descriptor)

        def keep_others_out(self, forbidden: int) -> None:
            """Take these rights from others, if they have them."""
            mode = stat.S_IMODE(os.fstat(self.descriptor).st_mode)
            if mode & forbidden:
                os.chmod(".", mode & ~forbidden, dir_fd=self.descriptor)

        def unlink(self, name: str) -> None:
            os.unlink(name, dir_fd=self.descriptor)

        def rmdir(self, name: str) -> None:
            os.rmdir(name, dir_fd=self.descriptor)

        def remove_tree(self, name: str) -> None:
            shutil.rmtree(name, dir_fd=self.descriptor)

        def replace(self, name: str, new: str) -> None:
            """Give this file another name in the folder, also one that a file has."""
            os.replace(name, new, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)

        def exchange(self, one: str, two: str) -> bool:
            """What has the one name has the other one then; whether that can be done here."""
            return self._renamed(one, self, two, _EXCHANGE)

        def give_name(self, name: str, target: "Folder", new: str) -> None:
            """Another name, in the same folder or another one; a `FileExistsError` if something has it."""
            if self._renamed(name, target, new, _NO_REPLACE):
                return
            source, there = self.descriptor, target.descriptor
            if stat.S_ISDIR(self.status(name).st_mode):
                self._give_folder_name(name, target, new)
                return
            os.link(name, new, src_dir_fd=source, dst_dir_fd=there, follow_symlinks=False)
            try:
                os.unlink(name, dir_fd=source)
            except BaseException:
                with suppress(OSError):  # why it was not done counts, not this
                    os.unlink(new, dir_fd=there)
                raise

        def sync(self) -> None:
            """Have the names on the disk."""
            readable = self._readable()
            try:
                os.fsync(readable)
            finally:
                os.close(readable)

        def _readable(self) -> int:
            return os.open(".", _OPEN | os.O_RDONLY, dir_fd=self.descriptor)

        def _give_folder_name(self, name: str, target: "Folder", new: str) -> None:
            """There are no hard links to folders. What comes in after the check is replaced only if it is empty."""
            try:
                target.status(new)
            except FileNotFoundError:
                os.rename(name, new, src_dir_fd=self.descriptor, dst_dir_fd=target.descriptor)
            else:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new)

        def _renamed(self, name: str, target: "Folder", new: str, how: int) -> bool:
            rename, problem = _kernel()
            if rename is None:
                return False
            if rename(self.descriptor, os.fsencode(name), target.descriptor, os.fsencode(new), how) == 0:
                return True
            number = problem()
            if number in _UNABLE:
                return False
            raise OSError(number, os.strerror(number))

    @cache
    def _kernel() -> tuple[Any, Any]:
        """How names are given and exchanged in one step, by kernels and file systems that can."""
        import ctypes  # editors start the server without it

        return getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None), ctypes.get_errno
