"""What not every system has: ways to open files, to read at a place, a signal that nobody ignores, users."""

import errno
import os
import signal
import stat
import sys
from pathlib import Path

if sys.platform == "win32":
    NO_WAIT = FOLDER = 0
    OWN = os.O_BINARY | os.O_NOINHERIT
    KILL = signal.SIGTERM

    def open_no_link(name: Path | str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        """A descriptor of what has this name itself: an `OSError` for a link, also for one that came meanwhile."""
        try:
            _refuse_link(name, os.lstat(name, dir_fd=dir_fd))
        except FileNotFoundError:
            if not flags & os.O_CREAT:
                raise
        descriptor = os.open(name, flags, mode, dir_fd=dir_fd)
        try:
            _refuse_link(name, os.lstat(name, dir_fd=dir_fd))
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _refuse_link(name: Path | str, status: os.stat_result) -> None:
        if stat.S_ISLNK(status.st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(name))

    def pread(descriptor: int, length: int, at: int) -> bytes:
        """Read there; where the next one reads or writes stays the same."""
        before = os.lseek(descriptor, 0, os.SEEK_CUR)
        try:
            os.lseek(descriptor, at, os.SEEK_SET)
            return os.read(descriptor, length)
        finally:
            os.lseek(descriptor, before, os.SEEK_SET)

    def pwrite(descriptor: int, data: bytes, at: int) -> int:
        before = os.lseek(descriptor, 0, os.SEEK_CUR)
        try:
            os.lseek(descriptor, at, os.SEEK_SET)
            return os.write(descriptor, data)
        finally:
            os.lseek(descriptor, before, os.SEEK_SET)

    def set_blocking(descriptor: int, blocking: bool) -> None:
        """Pipes always wait there."""

    def user() -> int:
        """As files have it there: everybody's is 0."""
        return 0

else:
    NO_WAIT, FOLDER = os.O_NONBLOCK, os.O_DIRECTORY
    OWN = os.O_CLOEXEC
    KILL = signal.SIGKILL

    def open_no_link(name: Path | str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        """A descriptor of what has this name itself: an `OSError` for a link, also for one that came meanwhile."""
        return os.open(name, flags | os.O_NOFOLLOW, mode, dir_fd=dir_fd)

    def pread(descriptor: int, length: int, at: int) -> bytes:
        """Read there; where the next one reads or writes stays the same."""
        return os.pread(descriptor, length, at)

    def pwrite(descriptor: int, data: bytes, at: int) -> int:
        return os.pwrite(descriptor, data, at)

    def set_blocking(descriptor: int, blocking: bool) -> None:
        os.set_blocking(descriptor, blocking)

    def user() -> int:
        return os.getuid()
