"""A disk that fails, or a process that ends, at one of its writes, or of all that is done with files: all that Python
does it by passes here."""

import builtins
import errno
import io
import os
import stat
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from odin_lsp.folders import Folder

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
OF_OS = ("write", "replace", "rename", "link", "unlink", "rmdir", "mkdir", "fsync", "ftruncate", "utime", "fchmod")
OF_KERNEL = ("exchange", "give_name")
READS = ("read", "pread", "pwrite", "stat", "lstat", "fstat", "scandir", "listdir", "readlink", "truncate")
KILLED = 86
Fault = Callable[[], None]
_fstat = os.fstat


def _is_file(descriptor: int) -> bool:
    """And no pipe or socket."""
    mode = _fstat(descriptor).st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def error(number: int) -> Fault:
    def fail() -> None:
        raise OSError(number, os.strerror(number))

    return fail


FAULTS: dict[str, tuple[Fault, bool]] = {
    "full disk": (error(errno.ENOSPC), True),
    "read-only disk": (error(errno.EROFS), True),
    "no permission": (error(errno.EACCES), False),
    "killed": (lambda: os._exit(KILLED), False),
}
"""What happens, and whether it happens at each further write, too."""


class Writes:
    """Counts them, and has one of them fail."""

    of_os: tuple[str, ...] = OF_OS
    of_opening: int = WRITES
    """Flags of `open`; 0: whichever."""

    def __init__(self, at: int = 0, fault: tuple[Fault, bool] = FAULTS["killed"]) -> None:
        self.names: list[str] = []
        self._at = at
        self._fault, self._lasts = fault
        self._lock = threading.Lock()
        self._has_failed = False
        self._real: list[tuple[Any, str, Any]] = []

    def __enter__(self) -> "Writes":
        for name in self.of_os:
            self._wrap(os, name)
        for name in OF_KERNEL:
            self._wrap(Folder, name)
        self._replace(os, "open", self._os_open)
        for module in (io, builtins):
            self._replace(module, "open", self._open)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        for owner, name, real in self._real:
            setattr(owner, name, real)

    def passes(self, name: str, half: Callable[[], object] = lambda: None) -> None:
        """`half`: what is done of it even if it fails."""
        with self._lock:
            self.names.append(name)
            is_it = self._at and (len(self.names) == self._at or (self._lasts and len(self.names) > self._at))
        if is_it:
            half()
            self._fault()

    def _wrap(self, owner: Any, name: str) -> None:
        real = getattr(owner, name)

        def passing(*arguments: Any, **more: Any) -> Any:
            if arguments and isinstance(arguments[0], int) and not _is_file(arguments[0]):
                return real(*arguments, **more)
            is_write = name == "write" and len(self.names) + 1 == self._at
            self.passes(name, lambda: real(arguments[0], arguments[1][: len(arguments[1]) // 2]) if is_write else None)
            return real(*arguments, **more)

        self._replace(owner, name, passing)

    def _replace(self, owner: Any, name: str, new: Any) -> None:
        self._real.append((owner, name, getattr(owner, name)))
        setattr(owner, name, new)

    def _os_open(self, path: Any, flags: int, *arguments: Any, **more: Any) -> int:
        if not self.of_opening or flags & self.of_opening:
            self.passes("open")
        return next(real for owner, name, real in self._real if (owner, name) == (os, "open"))(
            path, flags, *arguments, **more
        )

    def _open(self, file: Any, mode: str = "r", *arguments: Any, **more: Any) -> Any:
        real = next(real for owner, name, real in self._real if (owner, name) == (io, "open"))
        if isinstance(file, int) and not _is_file(file):
            return real(file, mode, *arguments, **more)
        if not set(mode) & set("wax+"):
            if not self.of_opening and not isinstance(file, int):
                self.passes("open")
            return real(file, mode, *arguments, **more)
        if not isinstance(file, int):
            self.passes("open")
        raw = _Raw(file, mode.replace("b", "").replace("t", ""), closefd=more.get("closefd", True))
        raw.passes = self.passes
        written = io.BufferedWriter(raw)
        return written if "b" in mode else io.TextIOWrapper(written, encoding=more.get("encoding") or "utf-8")


class Operations(Writes):
    """The same for reads. There are thousands in a turn, most of them the same in a loop: they are told apart by where
    in Odin they are made, and by how many came before from there."""

    of_os = OF_OS + READS
    of_opening = 0

    def __init__(self, wanted: tuple[str, int] = ("", 0), fault: tuple[Fault, bool] = FAULTS["killed"]) -> None:
        super().__init__(0, fault)
        self._wanted = wanted

    def passes(self, name: str, half: Callable[[], object] = lambda: None) -> None:
        frame = sys._getframe(1)
        while frame.f_back is not None and "odin_lsp" not in frame.f_code.co_filename:
            frame = frame.f_back
        place = f"{name} in {Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
        with self._lock:
            self.names.append(place)
            is_it = (place, self.names.count(place)) == self._wanted or (self._lasts and self._has_failed)
            self._has_failed |= is_it
        if is_it:
            self._fault()

    @property
    def cases(self) -> list[tuple[str, int]]:
        """The first and the last from each place."""
        return sorted({(place, number) for place in set(self.names) for number in (1, self.names.count(place))})


class _Raw(io.FileIO):
    passes: Callable[..., None]

    def write(self, data: Any) -> int:
        taken = bytes(data)
        self.passes("write", lambda: super(_Raw, self).write(taken[: len(taken) // 2]))
        return super().write(data) or 0
