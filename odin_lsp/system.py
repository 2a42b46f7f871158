"""What not every system has: ways to open files, to read at a place, a signal that nobody ignores, users, and a look at
pipes and processes."""

import errno
import os
import signal
import stat
import sys
from contextlib import suppress
from pathlib import Path

if sys.platform == "win32":
    import _winapi
    import msvcrt
    import time

    NO_WAIT = FOLDER = 0
    OWN = os.O_BINARY | os.O_NOINHERIT
    KILL = signal.SIGTERM
    NEEDED = {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP") if name in os.environ}
    """Of the environment: no program that uses sockets or chance starts without it."""

    PAUSE = 0.02
    NAME_SURROGATE = 0x20000000
    """A bit in the tag of what leads elsewhere: links and junctions; not of what a cloud keeps."""

    def open_no_link(path: Path | str, flags: int, mode: int = 0o777) -> int:
        """A descriptor of what is at this path itself: an `OSError` for a link, also for one that came meanwhile."""
        try:
            refuse_link(path, os.lstat(path))
        except FileNotFoundError:
            if not flags & os.O_CREAT:
                raise
        descriptor = os.open(path, flags, mode)
        try:
            status = os.lstat(path)
            refuse_link(path, status)
            if not os.path.samestat(status, os.fstat(descriptor)):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def refuse_link(path: Path | str, status: os.stat_result) -> None:
        if stat.S_ISLNK(status.st_mode) or status.st_reparse_tag & NAME_SURROGATE:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))

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

    def is_readable(pipe: int, patience: float) -> bool:
        """Whether something of it can be read, or its end, after so many seconds at the latest."""
        handle, until = msvcrt.get_osfhandle(pipe), time.monotonic() + patience
        while True:
            try:
                if _winapi.PeekNamedPipe(handle)[0]:
                    return True
            except BrokenPipeError:  # its end
                return True
            if time.monotonic() >= until:
                return False
            time.sleep(PAUSE)

    def is_alive(pid: int) -> bool:
        """Whether there is such a process. `os.kill` with 0 would send it Ctrl+C."""
        try:
            process = _winapi.OpenProcess(_winapi.SYNCHRONIZE, False, pid)
        except PermissionError:
            return True
        except (OSError, OverflowError):
            return False
        try:
            return _winapi.WaitForSingleObject(process, 0) == _winapi.WAIT_TIMEOUT
        finally:
            _winapi.CloseHandle(process)

    def end_group(pid: int) -> None:
        """End a process that was started in a session of its own; there, it alone."""
        with suppress(OSError):
            os.kill(pid, KILL)

    def user() -> int:
        """As files have it there: everybody's is 0."""
        return 0

else:
    import select

    NO_WAIT, FOLDER = os.O_NONBLOCK, os.O_DIRECTORY
    OWN = os.O_CLOEXEC
    KILL = signal.SIGKILL
    NEEDED = dict[str, str]()

    def open_no_link(path: Path | str, flags: int, mode: int = 0o777) -> int:
        """A descriptor of what is at this path itself: an `OSError` for a link, also for one that came meanwhile."""
        return os.open(path, flags | os.O_NOFOLLOW, mode)

    def pread(descriptor: int, length: int, at: int) -> bytes:
        """Read there; where the next one reads or writes stays the same."""
        return os.pread(descriptor, length, at)

    def pwrite(descriptor: int, data: bytes, at: int) -> int:
        return os.pwrite(descriptor, data, at)

    def set_blocking(descriptor: int, blocking: bool) -> None:
        os.set_blocking(descriptor, blocking)

    def is_readable(pipe: int, patience: float) -> bool:
        """Whether something of it can be read, or its end, after so many seconds at the latest."""
        return bool(select.select([pipe], [], [], patience)[0])

    def is_alive(pid: int) -> bool:
        """Whether there is such a process."""
        try:
            os.kill(pid, 0)
        except (ProcessLookupError, OverflowError):
            return False
        except PermissionError:
            return True
        return True

    def end_group(pid: int) -> None:
        """End a process that was started in a session of its own, with all that it has started."""
        with suppress(ProcessLookupError):
            os.killpg(pid, KILL)

    def user() -> int:
        return os.getuid()
