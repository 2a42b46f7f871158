"""A view of the files of one's own, in which some of them are read-only: what Landlock cannot say, since there whoever
may write a folder may write all that is in it.

The supervisor of each command imports this: it needs no more than `os` and `ctypes`."""

import ctypes
import errno
import os
from collections.abc import Iterable

NEW_MOUNTS, NEW_USER = 0x00020000, 0x10000000
READ_ONLY, REMOUNT, BIND, RECURSIVE, PRIVATE = 1, 32, 4096, 16384, 1 << 18
KEPT = {2: 2, 4: 4, 8: 8, 1024: 1024, 2048: 2048, 4096: 1 << 21}
"""Flags of a mount that a remount must repeat: as `statvfs` tells them, as `mount` takes them."""
SHARED_MEMORY = "/dev/shm"  # noqa: S108

_libc = ctypes.CDLL(None, use_errno=True)


def hold(paths: Iterable[str]) -> None:
    """From here on these are read-only, and memory that programs share by name is private."""
    user, group = os.getuid(), os.getgid()
    try:
        _call(_libc.unshare(NEW_MOUNTS))
    except PermissionError:
        _call(_libc.unshare(NEW_MOUNTS | NEW_USER))
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")
    _mount(None, "/", None, RECURSIVE | PRIVATE)
    for path in paths:
        _mount(path, path, None, BIND | RECURSIVE)
        flags = os.statvfs(path).f_flag
        kept = sum(wanted for told, wanted in KEPT.items() if flags & told)
        _mount(None, path, None, BIND | REMOUNT | READ_ONLY | kept)
    if os.access(SHARED_MEMORY, os.X_OK):
        _mount("tmpfs", SHARED_MEMORY, "tmpfs", 0)


def _mount(source: str | None, target: str, kind: str | None, flags: int) -> None:
    coded = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    _call(_libc.mount(*coded, ctypes.c_ulong(flags), None))


def _write(path: str, text: str) -> None:
    opened = os.open(path, os.O_WRONLY)
    try:
        os.write(opened, text.encode())
    finally:
        os.close(opened)


def _call(result: int) -> None:
    if result:
        code = ctypes.get_errno()
        kind = PermissionError if code in (errno.EPERM, errno.EACCES) else OSError
        raise kind(code, f"namespaces: {os.strerror(code)}")
