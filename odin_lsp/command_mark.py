"""The mark of whatever a command of Odin's has started: the kernel hands it on, and nobody who has it loses it.

Parents say nothing: they end, and their children get others. An environment can be replaced. A hard limit is inherited
by every process, with `setsid`, after a double fork and when the supervisor is gone; anybody may lower it, and to raise
it takes a capability that commands do not get. This one means nothing to Linux since 2.4, and everybody may read it.

The supervisor of each command imports this: it needs no more than `os`, `select` and `struct`."""

import errno
import os
import select
import struct
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from socket import socket

if sys.platform != "win32":
    import resource

FILE_LOCKS = 10
"""`RLIMIT_LOCKS`, on every processor that Linux knows but three old ones."""
NAME = "Max file locks"
SOCKET, PEER, PEER_DESCRIPTOR = 1, 17, 77
"""The last is `SO_PEERPIDFD`, since Linux 6.5."""
_CREDENTIALS = struct.Struct("3i")
"""Process, user and group."""
MARKED = 1 << 62
"""What "unlimited" becomes. Each Odin within a command of another one marks its own commands with one less."""


def mark_this_process() -> None:
    """From here on it belongs to a command, with all that it starts. `OSError`: it cannot be marked."""
    limit = mark_of(os.getpid())
    if limit is not None and sys.platform != "win32":
        lowered = max(limit - 1, 0)
        resource.setrlimit(FILE_LOCKS, (lowered, lowered))


def mark_of(pid: int) -> int | None:
    """The lower, the deeper within commands; `None` where the kernel does not say."""
    try:
        with open(f"/proc/{pid}/limits") as limits:  # noqa: PTH123 - `pathlib` takes long to import
            line = next((it for it in limits if it.startswith(NAME)), "")
    except OSError:
        return None
    match line.removeprefix(NAME).split():
        case [_, "unlimited", *_]:
            return MARKED + 1
        case [_, hard, *_] if hard.isdigit():
            return int(hard)
        case _:
            return None


def mark_of_peer(connection: "socket") -> int | None:
    """That of the process that connected, or listens. `None` also if it has ended: its number could be another one's by
    now. Linux only."""
    if sys.platform == "win32":
        return None
    pid, _, _ = _CREDENTIALS.unpack(connection.getsockopt(SOCKET, PEER, _CREDENTIALS.size))
    mark = mark_of(pid)
    try:
        held = connection.getsockopt(SOCKET, PEER_DESCRIPTOR)
    except OSError as error:
        return mark if error.errno == errno.ENOPROTOOPT else None
    try:
        looking = select.poll()
        looking.register(held, select.POLLIN)
        return None if looking.poll(0) else mark
    finally:
        os.close(held)
