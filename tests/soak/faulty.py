"""`python -m tests.soak.faulty CONTROL …`: Odin with a disk and a clock that are as a file says, at any moment.

The file has two numbers: the error that each write to the disk ends with, or 0; and by how many seconds the clock is
wrong. What is held by the system, not by Odin, is the real thing: processes, signals, pipes and sockets."""

import builtins
import io
import mmap
import os
import stat
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

STATE = struct.Struct("=id")
ON_DESCRIPTORS = ("write", "pwrite", "fsync", "ftruncate")
ON_NAMES = ("replace", "rename", "link", "unlink", "rmdir", "mkdir")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Control:
    """The file, from either side."""

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), STATE.size)

    @classmethod
    def new(cls, path: Path) -> "Control":
        path.write_bytes(STATE.pack(0, 0.0))
        return cls(path)

    def set(self, *, error: int | None = None, ahead: float | None = None) -> None:
        now_error, now_ahead = STATE.unpack(self._map[:])
        new = now_error if error is None else error, now_ahead if ahead is None else ahead
        self._map[:] = STATE.pack(*new)

    @property
    def error(self) -> int:
        return STATE.unpack(self._map[:])[0]

    @property
    def ahead(self) -> float:
        return STATE.unpack(self._map[:])[1]


def install(control: Control) -> None:
    def fail() -> None:
        if error := control.error:
            raise OSError(error, os.strerror(error))

    for name in ON_NAMES:
        _wrap(os, name, lambda *_: fail())
    for name in ON_DESCRIPTORS:
        _wrap(os, name, lambda descriptor, *_: fail() if stat.S_ISREG(os.fstat(descriptor).st_mode) else None)
    _wrap(os, "open", lambda path, flags, *_: fail() if flags & WRITES and str(path) != os.devnull else None)
    for module in (io, builtins):
        _wrap(
            module,
            "open",
            lambda file, mode="r", *_: fail() if set(mode) & set("wax+") and not isinstance(file, int) else None,
        )
    now, now_ns = time.time, time.time_ns
    time.time = lambda: now() + control.ahead
    time.time_ns = lambda: now_ns() + int(control.ahead * 1e9)


def _wrap(owner: Any, name: str, look: Callable[..., object]) -> None:
    real = getattr(owner, name)

    def looked(*arguments: Any, **more: Any) -> Any:
        look(*arguments, *([more["mode"]] if name == "open" and "mode" in more else []))
        return real(*arguments, **more)

    setattr(owner, name, looked)


if __name__ == "__main__":
    install(Control(Path(sys.argv.pop(1))))
    from odin_lsp.cli.main import main

    sys.exit(main())
