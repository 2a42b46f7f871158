"""A disk that fails, or a process that ends, at one of its writes: all that Python writes by passes here."""

import builtins
import errno
import io
import os
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

from odin_lsp.workspace import naming

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
OF_OS = ("write", "replace", "rename", "link", "unlink", "rmdir", "mkdir", "fsync", "ftruncate", "utime", "fchmod")
OF_KERNEL = ("exchange", "give_name")
KILLED = 86
Fault = Callable[[], None]


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

    def __init__(self, at: int = 0, fault: str = "killed") -> None:
        self.names: list[str] = []
        self._at = at
        self._fault, self._lasts = FAULTS[fault]
        self._lock = threading.Lock()
        self._real: list[tuple[Any, str, Any]] = []

    def __enter__(self) -> "Writes":
        for name in OF_OS:
            self._wrap(os, name)
        for name in OF_KERNEL:
            self._wrap(naming, name)
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
            is_write = name == "write" and len(self.names) + 1 == self._at
            self.passes(name, lambda: real(arguments[0], arguments[1][: len(arguments[1]) // 2]) if is_write else None)
            return real(*arguments, **more)

        self._replace(owner, name, passing)

    def _replace(self, owner: Any, name: str, new: Any) -> None:
        self._real.append((owner, name, getattr(owner, name)))
        setattr(owner, name, new)

    def _os_open(self, path: Any, flags: int, *arguments: Any, **more: Any) -> int:
        if flags & WRITES:
            self.passes("open")
        return next(real for owner, name, real in self._real if (owner, name) == (os, "open"))(
            path, flags, *arguments, **more
        )

    def _open(self, file: Any, mode: str = "r", *arguments: Any, **more: Any) -> Any:
        real = next(real for owner, name, real in self._real if (owner, name) == (io, "open"))
        if not set(mode) & set("wax+"):
            return real(file, mode, *arguments, **more)
        if not isinstance(file, int):
            self.passes("open")
        raw = _Raw(file, mode.replace("b", "").replace("t", ""), closefd=more.get("closefd", True))
        raw.passes = self.passes
        written = io.BufferedWriter(raw)
        return written if "b" in mode else io.TextIOWrapper(written, encoding=more.get("encoding") or "utf-8")


class _Raw(io.FileIO):
    passes: Callable[..., None]

    def write(self, data: Any) -> int:
        taken = bytes(data)
        self.passes("write", lambda: super(_Raw, self).write(taken[: len(taken) // 2]))
        return super().write(data) or 0
