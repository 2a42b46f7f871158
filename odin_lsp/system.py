"""What not every system has: flags for opening files, reading at a place, a signal that nobody ignores, users."""

import os
import signal
import sys

if sys.platform == "win32":
    NO_FOLLOW = NO_WAIT = FOLDER = 0
    OWN = os.O_BINARY | os.O_NOINHERIT
    KILL = signal.SIGTERM

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
    NO_FOLLOW, NO_WAIT, FOLDER = os.O_NOFOLLOW, os.O_NONBLOCK, os.O_DIRECTORY
    OWN = os.O_CLOEXEC
    KILL = signal.SIGKILL

    def pread(descriptor: int, length: int, at: int) -> bytes:
        """Read there; where the next one reads or writes stays the same."""
        return os.pread(descriptor, length, at)

    def pwrite(descriptor: int, data: bytes, at: int) -> int:
        return os.pwrite(descriptor, data, at)

    def set_blocking(descriptor: int, blocking: bool) -> None:
        os.set_blocking(descriptor, blocking)

    def user() -> int:
        return os.getuid()
