"""Odin as Windows would import it, for pytest: `-p tests.support.as_windows`.

Odin's modules, and nobody else's, see a `sys`, `os`, `signal`, `socket` and `asyncio` without what Windows does not
have, cannot import modules that only POSIX has, and lock files as there. File systems and paths stay those of the
system: that a folder cannot be opened on Windows, nor a file be replaced that is open, is not seen here."""

import asyncio
import builtins
import fcntl
import importlib
import os
import pkgutil
import signal
import socket
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

MISSING = ("crypt", "curses", "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty")
OF_OS = """
O_NOFOLLOW O_NONBLOCK O_CLOEXEC O_DIRECTORY O_PATH fork getuid geteuid getgid getegid getgroups setsid killpg getpgid
fchown chown major minor uname pread pwrite listxattr getxattr setxattr mkfifo waitid statvfs sysconf memfd_create
pidfd_open sched_getaffinity WNOHANG
"""
OF_SIGNAL = "SIGHUP SIGUSR1 SIGUSR2 SIGKILL SIGCHLD SIGPIPE SIGALRM SIGSTOP SIGCONT SIGWINCH"
ABSENT: Mapping[ModuleType, frozenset[str]] = {
    sys: frozenset(),
    os: frozenset(OF_OS.split()),
    signal: frozenset(OF_SIGNAL.split()),
    socket: frozenset(("AF_UNIX", "SO_PEERCRED")),
    asyncio: frozenset(("open_unix_connection", "start_unix_server")),
}
PRESENT: Mapping[ModuleType, Mapping[str, Any]] = {
    sys: {"platform": "win32"},
    os: {"O_BINARY": 0, "O_NOINHERIT": os.O_CLOEXEC},
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


def _begin() -> None:
    """What Odin stands on is imported as it is; then Odin is, anew."""
    import odin_lsp

    for module in pkgutil.walk_packages(odin_lsp.__path__, "odin_lsp."):
        if module.name != "odin_lsp.__main__":
            importlib.import_module(module.name)
    for name in [it for it in sys.modules if it.partition(".")[0] == "odin_lsp"]:
        del sys.modules[name]
    msvcrt: Any = ModuleType("msvcrt")
    msvcrt.LK_NBLCK, msvcrt.locking = 2, _locking
    sys.modules["msvcrt"] = msvcrt
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
