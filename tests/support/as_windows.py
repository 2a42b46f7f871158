"""Odin as Windows would import it, for pytest: `-p tests.support.as_windows`.

Odin's modules, and nobody else's, see a `sys`, `os`, `signal`, `socket` and `asyncio` without what Windows does not
have, cannot import modules that only POSIX has, and lock files as there. `os` is as there, too: it opens no folder,
knows no `dir_fd`, gives no name to what is open or that something has, removes nothing that is open, and asks after no
process by a signal. A folder that Odin holds stays where it is. Paths stay those of the system."""

import asyncio
import builtins
import errno
import fcntl
import importlib
import os
import pkgutil
import select
import signal
import socket
import stat
import sys
import termios
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any

import pytest

MISSING = ("crypt", "curses", "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty")
OF_OS = """
O_NOFOLLOW O_NONBLOCK O_CLOEXEC O_DIRECTORY O_PATH fork getuid geteuid getgid getegid getgroups setsid killpg getpgid
fchown fchmod chown major minor uname pread pwrite listxattr getxattr setxattr mkfifo waitid statvfs sysconf
memfd_create pidfd_open sched_getaffinity WNOHANG
"""
OF_SIGNAL = "SIGHUP SIGUSR1 SIGUSR2 SIGKILL SIGCHLD SIGPIPE SIGALRM SIGSTOP SIGCONT SIGWINCH"
ABSENT: Mapping[ModuleType, frozenset[str]] = {
    sys: frozenset(),
    os: frozenset(OF_OS.split()),
    signal: frozenset(OF_SIGNAL.split()),
    socket: frozenset(("AF_UNIX", "SO_PEERCRED")),
    asyncio: frozenset(("open_unix_connection", "start_unix_server")),
}
MODES = "files have no modes of POSIX's"
LOCKS = "locks are never shared, and nobody says who holds one"
COMMANDS = "no command runs"
NOT_THERE = {
    "test_a_file_that_is_a_link_stays_one_and_keeps_its_mode": MODES,
    "test_only_the_user_can_read_or_have_written_it": MODES,
    "test_the_mode_stays": MODES,
    "test_a_text_stays_if_nobody_can_tell_what_it_was_meanwhile": "names cannot be exchanged in one step",
    "test_many_can_share_one": LOCKS,
    "test_nothing_is_removed_while_somebody_else_writes": LOCKS,
    "test_whoever_keeps_a_lock_is_named": LOCKS,
    "test_a_command_that_is_ended_tells_what_it_had_changed": COMMANDS,
    "test_c_057_a_command_is_edited_judged_anew_run_and_told": COMMANDS,
    "test_c_066_a_switched_role_is_told_to_clients_and_the_model_and_its_rules_hold": COMMANDS,
    "test_files_that_were_read_are_told_as_such_and_once": COMMANDS,
    "test_of_many_files_some_are_named": COMMANDS,
    "test_questions_are_answered_by_the_editor": COMMANDS,
    "test_what_a_command_has_changed_is_told_and_listed": COMMANDS,
    "test_what_a_person_types_may_be_a_command_and_what_a_program_says_is_none": COMMANDS,
}
"""Tests of what Windows does not have, or Odin has not there."""
FOLDERS: dict[int, str] = {}
"""Which are held, by their handles."""


def _open(path: Any, flags: int, mode: int = 0o777) -> int:
    if os.path.isdir(path):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return os.open(path, flags, mode)


def _lstat(path: Any) -> Any:
    return Status(os.lstat(path))


def _fstat(descriptor: int) -> Any:
    return Status(os.fstat(descriptor))


class Status:
    """Of a file: everybody's there, and with a tag of what leads elsewhere."""

    def __init__(self, of: os.stat_result) -> None:
        self._of = of
        self.st_uid = 0
        self.st_reparse_tag = 0xA000000C if stat.S_ISLNK(of.st_mode) else 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)


def _rename(path: Any, new: Any) -> None:
    if os.path.lexists(new):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(new))
    _refuse_open(path)
    os.rename(path, new)


def _replace(path: Any, new: Any) -> None:
    _refuse_open(path, new)
    os.replace(path, new)


def _unlink(path: Any) -> None:
    _refuse_open(path)
    os.unlink(path)


def _rmdir(path: Any) -> None:
    _refuse_open(path)
    os.rmdir(path)


def _scandir(path: Any = ".") -> Any:
    if isinstance(path, int):
        raise TypeError("Windows lists no folder by its descriptor")
    return os.scandir(path)


def _utime(path: Any, *times: Any, **more: Any) -> None:
    if isinstance(path, int):
        raise TypeError("Windows sets no times by a descriptor")
    os.utime(path, *times, **more)


def _kill(pid: int, number: int) -> None:
    if number == 0:
        raise OSError(errno.EINVAL, "that would send Ctrl+C, if there were such a group of processes")
    os.kill(pid, number)


def _refuse_open(*paths: Any) -> None:
    """Files that this process has open, and folders in which it holds one."""
    for path in paths:
        place = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        held = any(it == place or it.startswith(f"{place}/") for it in FOLDERS.values())
        if held or place in _open_files():
            raise PermissionError(errno.EACCES, "it is used by another process", place)


def _open_files() -> Iterator[str]:
    for descriptor in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            yield os.readlink(f"/proc/self/fd/{descriptor}")


def _hold(path: str, *_: int) -> int:
    handle = os.open(path, os.O_PATH | os.O_NOFOLLOW)
    FOLDERS[handle] = os.path.realpath(path)
    return handle


def _let_go(handle: int) -> None:
    del FOLDERS[handle]
    os.close(handle)


def _open_process(_access: int, _inherit: bool, pid: int) -> int:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL)) from None
    return _hold("/")


def _peek(pipe: int) -> tuple[int, int]:
    waiting = bytearray(4)
    fcntl.ioctl(pipe, termios.FIONREAD, waiting)
    count = int.from_bytes(waiting, sys.byteorder)
    if not count and select.select([pipe], [], [], 0)[0]:
        raise BrokenPipeError
    return count, 0


PRESENT: Mapping[ModuleType, Mapping[str, Any]] = {
    sys: {"platform": "win32"},
    os: {
        "O_BINARY": 0,
        "O_NOINHERIT": os.O_CLOEXEC,
        "open": _open,
        "lstat": _lstat,
        "fstat": _fstat,
        "scandir": _scandir,
        "utime": _utime,
        "kill": _kill,
        "rename": _rename,
        "replace": _replace,
        "unlink": _unlink,
        "remove": _unlink,
        "rmdir": _rmdir,
    },
}


class Lacking(ModuleType):
    """A module without some of its names."""

    def __init__(self, of: ModuleType) -> None:
        super().__init__(of.__name__)
        self.__dict__["_of"] = of
        self.__dict__.update(PRESENT.get(of, {}))

    def __getattr__(self, name: str) -> Any:
        if name in ABSENT[self.__dict__["_of"]]:
            raise AttributeError(f"Windows has no {self.__name__}.{name}")
        return getattr(self.__dict__["_of"], name)


def _locking(descriptor: int, _mode: int, _length: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise PermissionError(*error.args) from None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left = [it for it in items if it.nodeid.partition("[")[0].rpartition("::")[2] in NOT_THERE]
    config.hook.pytest_deselected(items=left)
    items[:] = [it for it in items if it not in left]


def _begin() -> None:
    """What Odin stands on is imported as it is; then Odin is, anew."""
    import odin_lsp

    for module in pkgutil.walk_packages(odin_lsp.__path__, "odin_lsp."):
        if module.name != "odin_lsp.__main__":
            importlib.import_module(module.name)
    for name in [it for it in sys.modules if it.partition(".")[0] == "odin_lsp"]:
        del sys.modules[name]
    msvcrt: Any = ModuleType("msvcrt")
    msvcrt.LK_NBLCK, msvcrt.locking, msvcrt.get_osfhandle = 2, _locking, int
    msvcrt.kbhit = lambda: bool(select.select([sys.stdin], [], [], 0)[0])
    winapi: Any = ModuleType("_winapi")
    winapi.CreateFile, winapi.CloseHandle = _hold, _let_go
    winapi.OpenProcess, winapi.PeekNamedPipe = _open_process, _peek
    winapi.SYNCHRONIZE, winapi.WAIT_TIMEOUT, winapi.WaitForSingleObject = 0x100000, 258, lambda *_: 258
    sys.modules.update(msvcrt=msvcrt, _winapi=winapi)
    lacking = {module.__name__: Lacking(module) for module in ABSENT}
    really = builtins.__import__

    def import_(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        if str((globals or {}).get("__name__", "")).partition(".")[0] != "odin_lsp" or level:
            return really(name, globals, locals, fromlist, level)
        if name in MISSING:
            raise ModuleNotFoundError(f"Windows has no {name}", name=name)
        found = really(name, globals, locals, fromlist, level)
        return lacking.get(name, found)

    builtins.__import__ = import_


_begin()
