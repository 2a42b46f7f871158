"""A seccomp filter for what Landlock does not look at: sockets of all kinds, other processes, what outlives a process,
modes, times and attributes of files.

The supervisor of each command imports this: it needs no more than `os`, `ctypes` and `struct`."""

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Sequence

SET_NO_NEW_PRIVS, SET_SECCOMP, FILTER = 38, 22, 2
SET_MODE_FILTER, NEW_LISTENER = 1, 8
SECCOMP = {"x86_64": 317, "aarch64": 277, "riscv64": 277}
"""The number of the call that answers with a listener."""
ALLOW, ERRNO, HAND_OVER = 0x7FFF0000, 0x00050000, 0x7FC00000
LOAD, AND, EQUAL, AT_LEAST, RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
NUMBER, ARCHITECTURE = 0, 4
X32 = 0x40000000
"""Numbers from here on are a second set of names for the same calls."""

NEWER = {
    "pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "pidfd_open": 434, "clone3": 435,
    "openat2": 437, "pidfd_getfd": 438, "process_madvise": 440, "mount_setattr": 442, "quotactl_fd": 443,
    "process_mrelease": 448, "fchmodat2": 452, "setxattrat": 463, "removexattrat": 466, "open_tree_attr": 467,
    "file_setattr": 469,
}  # fmt: skip
"""Since these, numbers are the same everywhere."""
GENERIC = {
    **NEWER, "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16,
    "fcntl": 25, "inotify_init1": 26, "ioctl": 29, "ioprio_set": 30, "umount2": 39, "mount": 40, "pivot_root": 41,
    "truncate": 45, "chroot": 51, "fchmod": 52, "fchmodat": 53, "fchownat": 54, "fchown": 55, "openat": 56,
    "vhangup": 58, "quotactl": 60, "utimensat": 88, "acct": 89, "personality": 92, "unshare": 97, "kexec_load": 104,
    "init_module": 105, "delete_module": 106, "clock_settime": 112, "syslog": 116, "ptrace": 117, "sched_setparam": 118,
    "sched_setscheduler": 119, "sched_setaffinity": 122, "kill": 129, "tkill": 130, "tgkill": 131,
    "rt_sigqueueinfo": 138, "setpriority": 140, "reboot": 142, "sethostname": 161, "setdomainname": 162,
    "settimeofday": 170, "adjtimex": 171, "mq_open": 180, "mq_unlink": 181, "mq_timedsend": 182, "mq_timedreceive": 183,
    "mq_notify": 184, "mq_getsetattr": 185, "msgget": 186, "msgctl": 187, "msgrcv": 188, "msgsnd": 189, "semget": 190,
    "semctl": 191, "semtimedop": 192, "semop": 193, "shmget": 194, "shmctl": 195, "shmat": 196, "shmdt": 197,
    "socket": 198, "socketpair": 199, "bind": 200, "listen": 201, "accept": 202, "connect": 203, "add_key": 217,
    "request_key": 218, "keyctl": 219, "clone": 220, "swapon": 224, "swapoff": 225, "migrate_pages": 238,
    "move_pages": 239, "rt_tgsigqueueinfo": 240, "perf_event_open": 241, "accept4": 242, "prlimit64": 261,
    "fanotify_init": 262, "name_to_handle_at": 264, "open_by_handle_at": 265, "clock_adjtime": 266, "setns": 268,
    "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "finit_module": 273, "sched_setattr": 274,
    "bpf": 280, "userfaultfd": 282, "kexec_file_load": 294,
}  # fmt: skip
X86_64 = {
    **NEWER, "open": 2, "ioctl": 16, "shmget": 29, "shmat": 30, "shmctl": 31, "socket": 41, "connect": 42, "accept": 43,
    "bind": 49, "listen": 50, "socketpair": 53, "clone": 56, "kill": 62, "semget": 64, "semop": 65, "semctl": 66,
    "shmdt": 67, "msgget": 68, "msgsnd": 69, "msgrcv": 70, "msgctl": 71, "fcntl": 72, "truncate": 76, "chmod": 90,
    "fchmod": 91, "chown": 92, "fchown": 93, "lchown": 94, "ptrace": 101, "syslog": 103, "rt_sigqueueinfo": 129,
    "utime": 132, "personality": 135, "setpriority": 141, "sched_setparam": 142, "sched_setscheduler": 144,
    "vhangup": 153, "modify_ldt": 154, "pivot_root": 155, "adjtimex": 159, "chroot": 161, "acct": 163,
    "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167, "swapoff": 168, "reboot": 169, "sethostname": 170,
    "setdomainname": 171, "iopl": 172, "ioperm": 173, "init_module": 175, "delete_module": 176, "quotactl": 179,
    "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190, "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199,
    "tkill": 200, "sched_setaffinity": 203, "semtimedop": 220, "clock_settime": 227, "tgkill": 234, "utimes": 235,
    "mq_open": 240, "mq_unlink": 241, "mq_timedsend": 242, "mq_timedreceive": 243, "mq_notify": 244,
    "mq_getsetattr": 245, "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250, "ioprio_set": 251,
    "inotify_init": 253, "migrate_pages": 256, "openat": 257, "fchownat": 260, "futimesat": 261, "fchmodat": 268,
    "unshare": 272, "move_pages": 279, "utimensat": 280, "accept4": 288, "inotify_init1": 294, "rt_tgsigqueueinfo": 297,
    "perf_event_open": 298, "fanotify_init": 300, "prlimit64": 302, "name_to_handle_at": 303, "open_by_handle_at": 304,
    "clock_adjtime": 305, "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312,
    "finit_module": 313, "sched_setattr": 314, "kexec_file_load": 320, "bpf": 321, "userfaultfd": 323,
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
NO_READING = (
    # other machines and other processes
    "connect", "bind", "listen", "accept", "accept4", "ptrace", "process_vm_readv", "process_vm_writev", "kcmp",
    "process_madvise", "process_mrelease", "move_pages", "migrate_pages", "pidfd_open", "pidfd_getfd",
    "pidfd_send_signal", "ioprio_set",
    # what stays when the process has ended
    "shmget", "shmat", "shmctl", "shmdt", "msgget", "msgsnd", "msgrcv", "msgctl", "semget", "semop", "semctl",
    "semtimedop", "mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify", "mq_getsetattr",
    # other views of the files, and names of files elsewhere
    "setns", "unshare", "mount", "umount2", "pivot_root", "chroot", "open_tree", "open_tree_attr", "move_mount",
    "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "name_to_handle_at", "open_by_handle_at",
    "fanotify_init", "inotify_init", "inotify_init1",
    # the machine
    "bpf", "userfaultfd", "perf_event_open", "init_module", "finit_module", "delete_module", "kexec_load",
    "kexec_file_load", "swapon", "swapoff", "reboot", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex",
    "quotactl", "quotactl_fd", "sethostname", "setdomainname", "iopl", "ioperm", "modify_ldt", "syslog", "acct",
    "vhangup",
)  # fmt: skip
"""What nobody needs who only reads."""
SIGNALS = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
OF_ANY_PROCESS = ("sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr")
"""Their first argument names a process; 0 is the caller."""
TYPE_INTO_TERMINAL, PASTE_INTO_TERMINAL = 0x5412, 0x541C
SET_FLAGS = (0x40086602, 0x40046602, 0x401C5820, 0x40087602)
"""Of `ioctl`: what `chattr` sets, for which a file need not be open for writing."""
SET_OWNER = (0x8901, 0x8902)
"""Of `ioctl`, as the next two are of `fcntl`: have the kernel signal another process."""
F_SETOWN, F_SETOWN_EX = 8, 15
NEW_NAMESPACES = 0x7E020000
SOCK_TYPE, SOCK_STREAM, SOCK_SEQPACKET = 0xF, 1, 5
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
NETLINK_ROUTE = 0
QUERY_PERSONALITY = 0xFFFFFFFF
ACCESS_MODE = 3
ACCESS_AND_TRUNCATE, READ_AND_TRUNCATE = ACCESS_MODE | os.O_TRUNC, os.O_RDONLY | os.O_TRUNC
WHOLE = 0xFFFFFFFF


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def available() -> bool:
    if sys.platform != "linux":
        return False
    return os.uname().machine in MACHINES and os.access("/proc/sys/kernel/seccomp", os.F_OK)


def program(
    machine: str,
    *,
    network: bool,
    metadata: bool,
    truncation: bool,
    reading: bool = False,
    signals: bool = True,
    brokered: bool = False,
) -> bytes:
    """The filter. `brokered`: somebody listens, who connects sockets on behalf of the command; without that there are
    no unix sockets, since nobody could tell whose they are. `metadata`: modes, owners, times may change. `truncation`:
    Landlock looks after it by itself. `reading`: what only reads gets by without all the rest. `signals`: something
    else looks after them."""
    architecture, numbers = MACHINES[machine]
    refused = [
        *ALWAYS,
        *(() if network else ("socket",)),
        *(() if metadata else METADATA),
        *(() if truncation else ("truncate",)),
        *(NO_READING if reading else ()),
        *(() if signals else SIGNALS),
    ]
    steps = [
        _step(LOAD, ARCHITECTURE),
        _step(EQUAL, architecture, yes=1),
        _refuse(errno.EPERM),
        _step(LOAD, NUMBER),
        *([_step(AT_LEAST, X32, no=1), _refuse(errno.EPERM)] if machine == "x86_64" else []),
    ]
    for name in refused:
        if name in numbers:
            steps += [_step(EQUAL, numbers[name], no=1), _refuse(errno.EPERM)]
    for request in (
        TYPE_INTO_TERMINAL,
        PASTE_INTO_TERMINAL,
        *(() if metadata else SET_FLAGS),
        *(SET_OWNER if reading else ()),
    ):
        steps += _refuse_argument(numbers["ioctl"], 1, WHOLE, request)
    steps += _require_argument(numbers["prlimit64"], 0, WHOLE, (0,))
    # what sends datagrams needs no connection to reach any other unix socket, also as one of a pair
    steps += _require_argument(numbers["socketpair"], 0, WHOLE, (AF_UNIX,))
    steps += _require_argument(
        numbers["socketpair"], 1, SOCK_TYPE, (SOCK_STREAM, SOCK_SEQPACKET) if network else (SOCK_STREAM,)
    )
    if network:
        steps += _only_known_sockets(numbers["socket"], brokered=brokered)
    if network and brokered:
        steps += [_step(EQUAL, numbers["connect"], no=1), _step(RETURN, HAND_OVER)]
    if reading:
        steps += _only_itself(numbers)
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


def install_with_listener(filter: bytes) -> int:
    """Where what the filter hands over can be read. Only one filter of a process and of all around it may have one."""
    libc = ctypes.CDLL(None, use_errno=True)
    compiled = _Program(len(filter) // 8, filter)
    number = SECCOMP["" if sys.platform == "win32" else os.uname().machine]
    listener = -1
    if not libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        listener = libc.syscall(ctypes.c_long(number), SET_MODE_FILTER, NEW_LISTENER, ctypes.byref(compiled))
    if listener < 0:
        raise OSError(ctypes.get_errno(), f"seccomp: {os.strerror(ctypes.get_errno())}")
    return listener


def _only_known_sockets(number: int, *, brokered: bool) -> list[bytes]:
    """Those of the internet, of the kernel's addresses and routes, and unix sockets that must be connected."""
    families = (AF_INET, AF_INET6, AF_NETLINK, *((AF_UNIX,) if brokered else ()))
    return [
        *_require_argument(number, 0, WHOLE, families),
        *_require_argument_if(number, AF_NETLINK, 2, WHOLE, (NETLINK_ROUTE,)),
        *_require_argument_if(number, AF_UNIX, 1, SOCK_TYPE, (SOCK_STREAM, SOCK_SEQPACKET)),
    ]


def _only_itself(numbers: dict[str, int]) -> list[bytes]:
    """Calls that are harmless as long as they are about the process itself."""
    steps = [
        _step(EQUAL, numbers["clone3"], no=1),
        _refuse(errno.ENOSYS),  # its flags are in memory; who gets this takes `clone`
        *_require_argument(numbers["clone"], 0, NEW_NAMESPACES, (0,)),
        *_require_argument(numbers["personality"], 0, WHOLE, (0, QUERY_PERSONALITY)),
        *_require_argument(numbers["setpriority"], 1, WHOLE, (0,)),
    ]
    for name in OF_ANY_PROCESS:
        steps += _require_argument(numbers[name], 0, WHOLE, (0,))
    for command in (F_SETOWN, F_SETOWN_EX):
        steps += _refuse_argument(numbers["fcntl"], 1, WHOLE, command)
    return steps


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


def _require_argument(number: int, argument: int, mask: int, values: Sequence[int]) -> list[bytes]:
    """Refuse the call unless the masked argument has one of these values."""
    tests = [_step(EQUAL, value, yes=len(values) - place) for place, value in enumerate(values)]
    return [
        _step(EQUAL, number, no=4 + len(values)),
        _step(LOAD, 16 + 8 * argument),
        _step(AND, mask),
        *tests,
        _refuse(errno.EPERM),
        _step(LOAD, NUMBER),
    ]


def _require_argument_if(number: int, first: int, argument: int, mask: int, values: Sequence[int]) -> list[bytes]:
    """The same, only if the first argument is this one."""
    inner = _require_argument(number, argument, mask, values)[1:-1]
    return [
        _step(EQUAL, number, no=len(inner) + 3),
        _step(LOAD, 16),
        _step(EQUAL, first, no=len(inner)),
        *inner,
        _step(LOAD, NUMBER),
    ]


def _refuse(code: int) -> bytes:
    return _step(RETURN, ERRNO | code)


def _step(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)
