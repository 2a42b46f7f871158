"""Imports what a server of Odin's comes to need, once, and forks for each launcher: see `tests.support.forking`.

`python -m tests.support.fork_server DESCRIPTOR`, which listens; it prints a line when it is ready, and ends with its
stdin.
"""

import gc
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from io import BufferedReader, BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

from pygls.protocol import default_converter

import odin_lsp
from odin_lsp.server.commands.base import all_commands
from odin_lsp.tools.base import all_tools
from odin_lsp.values import Value, adapter
from tests.support.disks import never_wait_for_them

LEFT_OUT = ("odin_lsp.__main__",)
"""It would run Odin."""
IMPORTED_LATER = (
    "anyio._backends._asyncio",
    "httpcore2",
    "idna",
    "markdown_it",
    "multiprocessing",
    "pathspec",
    "tree_sitter_bash",
    "truststore",
    "watchfiles",
)
"""What Odin and its libraries import when they come to need it."""
UNBUFFERED = "PYTHONUNBUFFERED"
READ_BY_PYTHON = ("PYTHON", "LC_", "LANG")
"""How the names of variables begin that count only while Python starts."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a launcher wants: a process like itself, but with Python and these arguments."""

    body: bytes
    """The rest of it, as it came: whatever is wrong with it must not harm the fork server."""
    descriptors: tuple[int, ...]


def main() -> None:
    warm()
    gc.freeze()
    interrupted = signal.signal(signal.SIGINT, signal.SIG_IGN)  # at a terminal everybody gets it
    os.write(1, b"ready\n")
    with ForkServer(socket.socket(fileno=int(sys.argv[1]))) as server:
        order = server.serve()
    if order is not None:
        signal.signal(signal.SIGINT, interrupted)
        become(order)


def warm() -> None:
    """Import it all, and make what is made only once. It starts no thread and keeps nothing of its surroundings."""
    never_wait_for_them()
    modules = {it.name for it in pkgutil.walk_packages(odin_lsp.__path__, "odin_lsp.")}
    for name in (*sorted(modules.difference(LEFT_OUT)), *IMPORTED_LATER):
        import_module(name)
    values = Value.__subclasses__()
    for value in values:
        adapter(value)
        values += value.__subclasses__()
    for tool in all_tools().values():
        _ = tool.schema
    all_commands()
    default_converter()


class ForkServer:
    """Minds the processes that it has forked: passes signals on to them, and tells how they ended."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._launchers: dict[socket.socket, int] = {}
        """Each with the number of its process."""
        self._woken, self._waker = socket.socketpair()

    def __enter__(self) -> "ForkServer":
        self._waker.setblocking(False)
        signal.set_wakeup_fd(self._waker.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        for it in (self._listener, self._woken, self._waker, *self._launchers):
            it.close()

    def serve(self) -> Order | None:
        """Fork until the tests have ended: then nothing is left, and there is no order. In each process that was forked
        for an order, that."""
        while True:
            ready = _ready(sys.stdin, self._woken, self._listener, *self._launchers)
            if sys.stdin in ready:
                for launcher in list(self._launchers):
                    self._kill(launcher)
                return None
            if self._woken in ready:
                self._woken.recv(4096)
                self._tell_of_ends()
            for launcher in self._launchers.keys() & set(ready):
                self._pass_on(launcher)
            if self._listener in ready and (order := self._take_order()) is not None:
                return order

    def _take_order(self) -> Order | None:
        """Fork for it; it is for the process that was forked."""
        launcher, _ = self._listener.accept()
        size, descriptors, _, _ = socket.recv_fds(launcher, 4, 4)
        body = launcher.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL)
        self._launchers[launcher] = os.fork()
        if not self._launchers[launcher]:
            return Order(body, tuple(descriptors))
        for descriptor in descriptors:
            os.close(descriptor)
        return None

    def _pass_on(self, launcher: socket.socket) -> None:
        if number := launcher.recv(1):
            os.kill(self._launchers[launcher], number[0])
        else:
            self._kill(launcher)

    def _tell_of_ends(self) -> None:
        for launcher, pid in list(self._launchers.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True)
                with suppress(OSError):  # it may have been killed
                    launcher.send(code)
                self._forget(launcher)

    def _kill(self, launcher: socket.socket) -> None:
        os.kill(self._launchers[launcher], signal.SIGKILL)
        os.waitpid(self._launchers[launcher], 0)
        self._forget(launcher)

    def _forget(self, launcher: socket.socket) -> None:
        del self._launchers[launcher]
        launcher.close()


def become(order: Order) -> None:
    """Go on as the process that was ordered: all that is left of this one is what it has imported."""
    wanted: dict[str, Any] = json.loads(order.body)
    *streams, folder = order.descriptors
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
    os.fchdir(folder)
    for descriptor in order.descriptors:
        os.close(descriptor)
    os.umask(wanted["umask"])
    command = [sys.executable, *wanted["arguments"]]
    if _read_by_python(wanted["environment"]) != _read_by_python(os.environ):
        os.execve(sys.executable, command, wanted["environment"])
    os.environ.clear()
    os.environ.update(wanted["environment"])
    _open_standard_streams()
    sys.orig_argv = command
    match wanted["arguments"]:
        case ["-m", module, *arguments]:
            sys.path[0] = str(Path.cwd())
            sys.argv = [module, *arguments]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case [script, *arguments]:
            sys.path[0] = str(Path(script).parent)
            sys.argv = [script, *arguments]
            runpy.run_path(script, run_name="__main__")


def _read_by_python(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(READ_BY_PYTHON) and name != UNBUFFERED and value
    }


def _open_standard_streams() -> None:
    """As Python does when it starts: how much is held back depends on what is behind a descriptor."""
    reader = BufferedReader(FileIO(0, closefd=False))
    sys.stdin = sys.__stdin__ = TextIOWrapper(reader, sys.stdin.encoding, sys.stdin.errors)
    sys.stdout = sys.__stdout__ = _writer(1, sys.stdout, by_line=os.isatty(1))
    sys.stderr = sys.__stderr__ = _writer(2, sys.stderr, by_line=True)


def _writer(descriptor: int, like: TextIO, *, by_line: bool) -> TextIOWrapper:
    raw = FileIO(descriptor, "w", closefd=False)
    if os.environ.get(UNBUFFERED):
        return TextIOWrapper(raw, like.encoding, like.errors, write_through=True)
    return TextIOWrapper(BufferedWriter(raw), like.encoding, like.errors, line_buffering=by_line)


def _ready(*files: Any) -> list[Any]:
    """Those that have something. The tests' process may have many files open, so numbers can be high."""
    poll = select.poll()
    for file in files:
        poll.register(file, select.POLLIN)
    numbers = {number for number, _ in poll.poll()}
    return [file for file in files if file.fileno() in numbers]


if __name__ == "__main__":
    main()
