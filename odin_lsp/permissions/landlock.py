"""Landlock: what a process and all its children may do with files, held by the Linux kernel without any privilege.

The supervisor of each command imports this: it needs no more than `os`, `sys` and `ctypes`."""

import ctypes
import os
import stat
import sys
from collections.abc import Iterable

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION = 1
PATH_BENEATH = 1
SET_NO_NEW_PRIVS = 38

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE = 1 << 4, 1 << 5
MAKE_CHAR, MAKE_DIR, MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM = (1 << bit for bit in range(6, 13))
REFER = 1 << 13
TRUNCATE = 1 << 14
IOCTL_DEV = 1 << 15
MAKE = MAKE_CHAR | MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_BLOCK | MAKE_SYM
CHANGES = WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE | REFER | TRUNCATE | IOCTL_DEV
READS = EXECUTE | READ_FILE | READ_DIR
OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
SINCE = {REFER: 2, TRUNCATE: 3, IOCTL_DEV: 5}
BIND_TCP, CONNECT_TCP = 1 << 0, 1 << 1
ABSTRACT_SOCKETS, SIGNALS = 1 << 0, 1 << 1
HOLDS_NETWORK, HOLDS_SIGNALS = 4, 6
"""The versions since which these are held."""

_libc = ctypes.CDLL(None, use_errno=True) if sys.platform.startswith("linux") else ctypes.pythonapi


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _layout_ = "ms"  # the only one that may be packed, says Python 3.14
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def abi() -> int:
    """The version of Landlock that can be relied on; 0 where there is none, or where it is switched off. Some kernels
    say a number and do not hold all that belongs to it."""
    version = _libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(VERSION))
    while version > 0:
        try:
            os.close(_ruleset(held(READS | CHANGES, version), network=False, version=version))
        except OSError:
            version -= 1
        else:
            return version
    return 0


def held(rights: int, version: int) -> int:
    """Those of the rights that a kernel of this version knows; what it cannot hold is left to seccomp."""
    return rights & ~sum(right for right, since in SINCE.items() if version < since)


def restrict(rules: Iterable[tuple[str, int]], *, rights: int, network: bool, version: int) -> None:
    """From here on none of the `rights` is given but where a rule gives it, for a path and all that is below; and
    without `network` no TCP connection is opened. Paths are real ones: no link leads to what is allowed."""
    rights = held(rights, version)
    descriptor = _ruleset(rights, network=network, version=version)
    for path, allowed in rules:
        _allow(descriptor, path, allowed & rights)
    if _libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "no_new_privs")
    _call(RESTRICT_SELF, ctypes.c_int(descriptor), ctypes.c_uint32(0))
    os.close(descriptor)


def _ruleset(rights: int, *, network: bool, version: int) -> int:
    ruleset, size = _Ruleset(rights), 8
    if version >= HOLDS_NETWORK:
        size = 16
        ruleset.network = 0 if network else BIND_TCP | CONNECT_TCP
    if version >= HOLDS_SIGNALS:
        size = 24
        ruleset.scoped = SIGNALS | ABSTRACT_SOCKETS
    return _call(CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(size), ctypes.c_uint32(0))


def _allow(ruleset: int, path: str, rights: int) -> None:
    if sys.platform != "linux":
        return
    try:
        opened = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    try:
        kind = os.fstat(opened).st_mode
        rule = _PathBeneath(rights if stat.S_ISDIR(kind) else rights & OF_A_FILE, opened)
        is_meant = os.readlink(f"/proc/self/fd/{opened}") == path and not stat.S_ISLNK(kind)  # noqa: PTH115
        if rule.allowed and is_meant:
            _call(ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(PATH_BENEATH), ctypes.byref(rule), ctypes.c_uint32(0))
    finally:
        os.close(opened)


def _call(number: int, *arguments: object) -> int:
    result = _libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"Landlock: {os.strerror(ctypes.get_errno())}")
    return result
