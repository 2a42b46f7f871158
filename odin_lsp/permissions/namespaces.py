"""A view of the files of one's own, in which only some can be written: with exceptions, which Landlock does not know,
and for modes, owners and times as well, which Landlock does not look at.

The supervisor of each command imports this: it needs no more than `os`, `sys` and `ctypes`."""

import ctypes
import errno
import os
import sys
from collections.abc import Iterable

NEW_MOUNTS, NEW_USER, NEW_IPC = 0x00020000, 0x10000000, 0x08000000
BIND, RECURSIVE, PRIVATE = 4096, 16384, 1 << 18
MOUNT_SETATTR, HERE, ALL_BELOW, READ_ONLY = 442, -100, 0x8000, 1
SHARED_MEMORY = "/dev/shm"  # noqa: S108

_libc = ctypes.CDLL(None, use_errno=True) if sys.platform.startswith("linux") else ctypes.pythonapi


class _Attributes(ctypes.Structure):
    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("user_namespace", ctypes.c_uint64),
    )


def hold(writable: Iterable[str], read_only: Iterable[str]) -> None:
    """From here on everything is read-only but `writable`, and in that `read_only` is. What programs share by name or
    by number is private: memory, queues, semaphores."""
    writable = list(writable)
    _enter()
    _mount(None, "/", None, RECURSIVE | PRIVATE)
    for path in writable:
        _mount(path, path, None, BIND)
    _change("/", _Attributes(set=READ_ONLY), ALL_BELOW)
    for path in writable:
        _change(path, _Attributes(clear=READ_ONLY))
    for path in read_only:
        _mount(path, path, None, BIND | RECURSIVE)
        _change(path, _Attributes(set=READ_ONLY), ALL_BELOW)
    if os.access(SHARED_MEMORY, os.X_OK):
        _mount("tmpfs", SHARED_MEMORY, "tmpfs", 0)


def _enter() -> None:
    """Namespaces of mounts and of what is shared; who is no superuser needs one of users for them."""
    if sys.platform != "linux":
        return
    user, group = os.getuid(), os.getgid()
    try:
        _call(_libc.unshare(NEW_MOUNTS | NEW_IPC))
    except PermissionError:
        _call(_libc.unshare(NEW_MOUNTS | NEW_IPC | NEW_USER))
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")


def _change(path: str, attributes: _Attributes, flags: int = 0) -> None:
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    target = ctypes.c_char_p(os.fsencode(path))
    _call(_libc.syscall(MOUNT_SETATTR, HERE, target, ctypes.c_uint(flags), ctypes.byref(attributes), size))


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
