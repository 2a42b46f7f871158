"""Locks on files and folders: the kernel's, which end with the process that holds them, however it ends.

Nobody waits for ever, and on the event loop for a moment only: whoever may have to wait longer does so in a thread."""

import errno
import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from odin_lsp import system
from odin_lsp.loop_share import is_event_loop

if sys.platform == "win32":
    import msvcrt

    LOCKED_BYTE = 1 << 30
    """Far behind the end: there what is locked can be neither read nor written by others."""

    def _lock(descriptor: int, *, shared: bool) -> None:  # noqa: ARG001
        """Nothing is shared there: who only reads waits as well."""
        before = os.lseek(descriptor, 0, os.SEEK_CUR)
        try:
            os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(*error.args) from None
        finally:
            os.lseek(descriptor, before, os.SEEK_SET)

else:
    import fcntl

    def _lock(descriptor: int, *, shared: bool) -> None:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


PATIENCE = 3.0
"""Seconds for another process to finish what it writes."""
MOMENT = 0.2
"""Seconds: whoever only looks whether a lock is held has it for less."""
PAUSE = 0.02
KNOWN_LOCKS = Path("/proc/locks")
_LOCK_FILE = os.O_RDWR | os.O_CREAT | system.NO_WAIT | system.OWN


class Held(BlockingIOError):
    """Somebody else has the lock. An `OSError`, since whoever writes is prepared for one."""

    def __init__(self, path: Path, holder: str) -> None:
        super().__init__(errno.EWOULDBLOCK, f"it is held by {holder}", str(path))
        self.holder = holder
        """`another Odin (process 123)`."""

    def __str__(self) -> str:
        return f"{self.filename} is held by {self.holder}; try again when that has finished, or stop it"


@contextmanager
def held(path: Path, *, shared: bool = False, patience: float = PATIENCE) -> Generator[None]:
    """Hold the lock file at `path`, which is made if it is missing, as are its folders."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = system.open_no_link(path, _LOCK_FILE, 0o600)
    try:
        hold(descriptor, path, shared=shared, patience=patience)
        yield
    finally:
        os.close(descriptor)


def hold(descriptor: int, path: Path, *, shared: bool = False, patience: float = PATIENCE) -> None:
    """Have the lock on what is open here until it is closed; `Held` if somebody keeps it for too long."""
    until = time.monotonic() + (min(patience, MOMENT) if is_event_loop() else patience)
    while True:
        try:
            return _lock(descriptor, shared=shared)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise Held(path, _holder(descriptor)) from None
        time.sleep(PAUSE)


def _holder(descriptor: int) -> str:
    """With its number, where the system tells of locks."""
    if sys.platform == "win32":
        return "another Odin"
    status = os.fstat(descriptor)
    place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    try:
        locks = [line.split() for line in KNOWN_LOCKS.read_text("ascii").splitlines()]
    except OSError:
        locks = []
    numbers = (int(fields[4]) for fields in locks if fields[1] == "FLOCK" and fields[5] == place)
    number = next((it for it in numbers if it > 0 and it != os.getpid()), None)
    return f"another Odin (process {number})" if number else "another Odin"
