"""Locks on files and folders: the kernel's, which end with the process that holds them, however it ends.

Nobody waits for ever, and on the event loop for a moment only: whoever may have to wait longer does so in a thread."""

import asyncio
import errno
import fcntl
import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 3.0
"""Seconds for another process to finish what it writes."""
MOMENT = 0.2
"""Seconds: whoever only looks whether a lock is held has it for less."""
PAUSE = 0.02
KNOWN_LOCKS = Path("/proc/locks")
_LOCK_FILE = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


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
    descriptor = os.open(path, _LOCK_FILE, 0o600)
    try:
        hold(descriptor, path, shared=shared, patience=patience)
        yield
    finally:
        os.close(descriptor)


def hold(descriptor: int, path: Path, *, shared: bool = False, patience: float = PATIENCE) -> None:
    """Have the lock on what is open here until it is closed; `Held` if somebody keeps it for too long."""
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    until = time.monotonic() + (min(patience, MOMENT) if _is_event_loop() else patience)
    while True:
        try:
            return fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise Held(path, _holder(descriptor)) from None
        time.sleep(PAUSE)


def _is_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _holder(descriptor: int) -> str:
    """With its number, where the system tells of locks."""
    status = os.fstat(descriptor)
    place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    try:
        locks = [line.split() for line in KNOWN_LOCKS.read_text("ascii").splitlines()]
    except OSError:
        locks = []
    numbers = (int(fields[4]) for fields in locks if fields[1] == "FLOCK" and fields[5] == place)
    number = next((it for it in numbers if it > 0 and it != os.getpid()), None)
    return f"another Odin (process {number})" if number else "another Odin"
