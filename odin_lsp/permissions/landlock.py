"""Landlock: which files a process and all its children may change, held by the Linux kernel without any privilege.

The supervisor of each command imports this: it needs no more than `os` and `ctypes`."""

import ctypes
import os
import stat
from collections.abc import Iterable

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION = 1
PATH_BENEATH = 1
SET_NO_NEW_PRIVS = 38

WRITE_FILE = 1 << 1
REMOVE_DIR, REMOVE_FILE = 1 << 4, 1 << 5
MAKE_CHAR, MAKE_DIR, MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM = (1 << bit for bit in range(6, 13))
REFER = 1 << 13
TRUNCATE = 1 << 14
IOCTL_DEV = 1 << 15
MAKE = MAKE_CHAR | MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_BLOCK | MAKE_SYM
CHANGES = WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE
OF_A_FILE = WRITE_FILE | TRUNCATE | IOCTL_DEV
BIND_TCP, CONNECT_TCP = 1 << 0, 1 << 1
ABSTRACT_SOCKETS, SIGNALS = 1 << 0, 1 << 1

_libc = ctypes.CDLL(None, use_errno=True)


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def abi() -> int:
    """The kernel's version of Landlock; 0 where there is none, or where it is switched off."""
    return max(0, _libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(VERSION)))


def restrict(writable: Iterable[str], *, network: bool, version: int) -> None:
    """From here on change nothing but `writable` and what is below, and without `network` open no TCP connection.

    Reading is not restricted. What a kernel of an older `version` cannot hold is left to seccomp."""
    files, size = CHANGES, 8
    files |= REFER if version >= 2 else 0
    files |= TRUNCATE if version >= 3 else 0
    files |= IOCTL_DEV if version >= 5 else 0
    ruleset = _Ruleset(files)
    if version >= 4:
        size = 16
        ruleset.network = 0 if network else BIND_TCP | CONNECT_TCP
    if version >= 6:
        size = 24
        ruleset.scoped = SIGNALS if network else SIGNALS | ABSTRACT_SOCKETS
    descriptor = _call(CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(size), ctypes.c_uint32(0))
    for path in writable:
        _allow(descriptor, path, files)
    if _libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "no_new_privs")
    _call(RESTRICT_SELF, ctypes.c_int(descriptor), ctypes.c_uint32(0))
    os.close(descriptor)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        kind = os.fstat(opened).st_mode
        if not stat.S_ISLNK(kind):
            rule = _PathBeneath(rights if stat.S_ISDIR(kind) else rights & OF_A_FILE, opened)
            _call(ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(PATH_BENEATH), ctypes.byref(rule), ctypes.c_uint32(0))
    finally:
        os.close(opened)


def _call(number: int, *arguments: object) -> int:
    result = _libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"Landlock: {os.strerror(ctypes.get_errno())}")
    return result
