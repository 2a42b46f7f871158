"""A seccomp filter for what Landlock does not look at: sockets of all kinds, modes, times and attributes of files.

The supervisor of each command imports this: it needs no more than `os`, `ctypes` and `struct`."""

import ctypes
import errno
import os
import struct

SET_NO_NEW_PRIVS, SET_SECCOMP, FILTER = 38, 22, 2
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
LOAD, AND, EQUAL, AT_LEAST, RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
NUMBER, ARCHITECTURE = 0, 4
X32 = 0x40000000
"""Numbers from here on are a second set of names for the same calls."""

NEWER = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "openat2": 437, "fchmodat2": 452,
    "setxattrat": 463, "removexattrat": 466, "file_setattr": 469,
}  # fmt: skip
"""Since these, numbers are the same everywhere."""
GENERIC = {
    **NEWER, "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16,
    "ioctl": 29, "truncate": 45, "fchmod": 52, "fchmodat": 53, "fchownat": 54, "fchown": 55, "openat": 56,
    "utimensat": 88, "socket": 198, "add_key": 217, "request_key": 218, "keyctl": 219,
}  # fmt: skip
X86_64 = {
    **NEWER, "open": 2, "ioctl": 16, "socket": 41, "truncate": 76, "chmod": 90, "fchmod": 91, "chown": 92,
    "fchown": 93, "lchown": 94, "utime": 132, "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190, "removexattr": 197,
    "lremovexattr": 198, "fremovexattr": 199, "utimes": 235, "add_key": 248, "request_key": 249, "keyctl": 250,
    "openat": 257, "fchownat": 260, "futimesat": 261, "fchmodat": 268, "utimensat": 280,
}  # fmt: skip
MACHINES = {
    "x86_64": (0xC000003E, X86_64),
    "aarch64": (0xC00000B7, GENERIC),
    "riscv64": (0xC00000F3, GENERIC),
}

ALWAYS = ("io_uring_setup", "io_uring_enter", "io_uring_register", "add_key", "request_key", "keyctl")
"""The first three do other calls' work past every filter; the others reach the user's key rings."""
METADATA = (
    "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes", "futimesat",
    "utimensat", "setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr", "fremovexattr",
    "removexattrat", "file_setattr",
)  # fmt: skip
TYPE_INTO_TERMINAL, PASTE_INTO_TERMINAL = 0x5412, 0x541C
SET_FLAGS = (0x40086602, 0x40046602, 0x401C5820, 0x40087602)
"""Of `ioctl`: what `chattr` sets, for which a file need not be open for writing."""
ACCESS_AND_TRUNCATE, READ_AND_TRUNCATE = os.O_ACCMODE | os.O_TRUNC, os.O_RDONLY | os.O_TRUNC


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def available() -> bool:
    return os.uname().machine in MACHINES and os.access("/proc/sys/kernel/seccomp", os.F_OK)


def program(machine: str, *, network: bool, metadata: bool, truncation: bool) -> bytes:
    """The filter. `metadata`: modes, owners, times may change. `truncation`: Landlock looks after it by itself."""
    architecture, numbers = MACHINES[machine]
    refused = [*ALWAYS, *(() if network else ("socket",)), *(() if metadata else METADATA)]
    steps = [
        _step(LOAD, ARCHITECTURE),
        _step(EQUAL, architecture, yes=1),
        _refuse(errno.EPERM),
        _step(LOAD, NUMBER),
        *([_step(AT_LEAST, X32, no=1), _refuse(errno.EPERM)] if machine == "x86_64" else []),
    ]
    for name in (*refused, *(() if truncation else ("truncate",))):
        if name in numbers:
            steps += [_step(EQUAL, numbers[name], no=1), _refuse(errno.EPERM)]
    for request in (TYPE_INTO_TERMINAL, PASTE_INTO_TERMINAL, *(() if metadata else SET_FLAGS)):
        steps += _refuse_argument(numbers["ioctl"], 1, 0xFFFFFFFF, request)
    if not truncation:
        steps += [_step(EQUAL, numbers["openat2"], no=1), _refuse(errno.ENOSYS)]
        steps += _refuse_argument(numbers["openat"], 2, ACCESS_AND_TRUNCATE, READ_AND_TRUNCATE)
        if "open" in numbers:
            steps += _refuse_argument(numbers["open"], 1, ACCESS_AND_TRUNCATE, READ_AND_TRUNCATE)
    return b"".join([*steps, _step(RETURN, ALLOW)])


def install(filter: bytes) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    compiled = _Program(len(filter) // 8, filter)
    if libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(SET_SECCOMP, FILTER, ctypes.byref(compiled)):
        raise OSError(ctypes.get_errno(), f"seccomp: {os.strerror(ctypes.get_errno())}")


def _refuse_argument(number: int, argument: int, mask: int, value: int) -> list[bytes]:
    """Refuse the call if the masked argument has this value; only its lower half counts for what is looked at here."""
    return [
        _step(EQUAL, number, no=5),
        _step(LOAD, 16 + 8 * argument),
        _step(AND, mask),
        _step(EQUAL, value, no=1),
        _refuse(errno.EPERM),
        _step(LOAD, NUMBER),
    ]


def _refuse(code: int) -> bytes:
    return _step(RETURN, ERRNO | code)


def _step(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)
