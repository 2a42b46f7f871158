"""Odin's end of a supervisor: started at once, without anything that could be cancelled halfway.

asyncio's own processes are not used here: one that is cancelled while it starts can leave a loop that never ends."""

import asyncio
import os
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import ClassVar, Generic, Protocol, TypeVar

from odin_lsp import system
from odin_lsp.commands.environment import hide_own_environment
from odin_lsp.commands.orders import FORK, KILL, ORDER_BYTES
from odin_lsp.loop_share import is_event_loop
from odin_lsp.permissions.sandbox import PACKAGES

PROGRAM = "import sys; sys.path.append(sys.argv[1]); from odin_lsp.commands import supervisor; supervisor."
CHUNK = 1 << 16
MAX_REPORT_BYTES = 1 << 16


class Ends(Protocol):
    """What else there is to the end of a supervisor."""

    def kill(self) -> None: ...

    def bury(self) -> None:
        """It has ended."""
        ...


E = TypeVar("E", bound=Ends, covariant=True)


class Supervisor(Generic[E]):
    """A process that waits for its job, does it, has a last word, and ends."""

    def __init__(self, start: Callable[[int, int, int], E]) -> None:
        """`start` gets what is to be its stdin, stdout and stderr."""
        self._words = self._orders = -1
        self.printed, writing = os.pipe()
        """Where the command will write; whoever gives a job closes it."""
        orders, self._orders = os.pipe()
        self._words, saying = os.pipe()
        try:
            self.ends = start(orders, writing, saying)
        except BaseException:
            _close(self.printed, self._orders, self._words)
            raise
        finally:
            _close(orders, writing, saying)
        self._unsent = b""
        self._is_forgotten = weakref.finalize(self, _forget, self.ends, self.printed, self._orders, self._words)

    def give(self, job: bytes) -> None:
        """Its job, which it reads when it can."""
        self._is_forgotten.detach()
        system.set_blocking(self._orders, False)
        self._unsent = job
        self._send()

    def dismiss(self) -> None:
        """It ends everything, and then itself."""
        if self._orders >= 0:
            self._send_no_more()
            os.close(self._orders)
            self._orders = -1

    def kill(self) -> None:
        self.ends.kill()

    async def last_word(self) -> bytes:
        """What it says when everything has ended. Nothing, if it was killed."""
        return await self._heard(lambda said: said.endswith(b"\n"))

    async def ended(self) -> None:
        """Buried, and nothing of it is open any more: it alone had the other end of where it speaks."""
        self.dismiss()
        try:
            await self._heard(lambda _: False)
            await asyncio.to_thread(self.ends.bury)
        finally:
            os.close(self._words)

    async def _heard(self, is_all: Callable[[bytes], bool]) -> bytes:
        loop, heard = asyncio.get_running_loop(), bytearray()
        all_heard = loop.create_future()

        def read() -> None:
            data = b""
            with suppress(OSError):
                data = os.read(self._words, CHUNK)
            heard.extend(data)
            if (not data or is_all(data) or len(heard) > MAX_REPORT_BYTES) and not all_heard.done():
                all_heard.set_result(None)

        loop.add_reader(self._words, read)
        try:
            await all_heard
        finally:
            loop.remove_reader(self._words)
        return bytes(heard)

    def _send(self) -> None:
        loop, orders = asyncio.get_running_loop(), self._orders
        try:
            self._unsent = self._unsent[os.write(orders, self._unsent[:CHUNK]) :]
        except BlockingIOError:
            pass
        except OSError:  # it was killed
            self._unsent = b""
        if self._unsent:
            loop.add_writer(orders, self._send)
        else:
            loop.remove_writer(orders)

    def _send_no_more(self) -> None:
        if self._unsent:
            asyncio.get_running_loop().remove_writer(self._orders)
            self._unsent = b""


class Program:
    """A supervisor that was started for a program that is spoken to, and inherits `pipes`."""

    def __init__(self, pipes: tuple[int, ...], orders: int, printed: int, words: int) -> None:
        self._process = _started("main()", orders, printed, words, pipes)
        self.pid = self._process.pid
        self.kill = self._process.kill

    def bury(self) -> None:
        self._process.wait()


class Forker:
    """A process that forks supervisors, at once. It ends with the last that uses it."""

    _now: ClassVar["weakref.WeakValueDictionary[int, Forker]"] = weakref.WeakValueDictionary()
    """By the process that has it."""

    @classmethod
    def used_by(cls, user: object) -> "Forker":
        """That of this process: one is enough for all sessions. Another one, if somebody has killed it meanwhile."""
        found = cls._now.get(os.getpid())
        if found is None or not found.is_alive:
            found = cls._now[os.getpid()] = cls()
        found._users.add(user)
        return found

    def __init__(self) -> None:
        self._asking, orders = socket.socketpair()
        try:
            self._process = _started("fork_when_asked()", orders.fileno(), subprocess.DEVNULL, subprocess.DEVNULL)
        except BaseException:
            self._asking.close()
            raise
        finally:
            orders.close()
        self._numbers = count()
        self._users: weakref.WeakSet[object] = weakref.WeakSet()
        self._end = weakref.finalize(self, _end, self._process, self._asking)

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    async def close(self, user: object) -> None:
        """One does not use it any more."""
        self._users.discard(user)
        if not self._users:
            if self._now.get(os.getpid()) is self:
                del self._now[os.getpid()]
            await asyncio.to_thread(self._end)

    def forked(self, orders: int, printed: int, words: int) -> "Forked":
        if sys.platform == "win32":
            raise OSError("Windows has no processes that can be forked")
        number = next(self._numbers).to_bytes(ORDER_BYTES - 1)
        socket.send_fds(self._asking, [FORK + number], [orders, printed, words])
        return Forked(self, number)

    def kill(self, number: bytes) -> None:
        with suppress(OSError):
            self._asking.send(KILL + number)


@dataclass(frozen=True, slots=True)
class Forked:
    """A supervisor that was forked, and is buried by who did that."""

    forker: Forker
    number: bytes

    def kill(self) -> None:
        self.forker.kill(self.number)

    def bury(self) -> None:
        pass


def _started(
    entry: str, stdin: int, stdout: int, stderr: int, pipes: tuple[int, ...] = ()
) -> "subprocess.Popen[bytes]":
    hide_own_environment()
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-I", "-S", "-c", PROGRAM + entry, PACKAGES],
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        env={},
        cwd="/",
        start_new_session=True,
        pass_fds=pipes,
    )


def _end(process: "subprocess.Popen[bytes]", asking: socket.socket) -> None:
    """It may be found out anywhere that nobody needs it any more."""
    asking.close()
    if is_event_loop():
        threading.Thread(target=process.wait, name="odin burial", daemon=True).start()
    else:
        process.wait()


def _forget(ends: Ends, *descriptors: int) -> None:
    """Without a job it has nothing to end, and takes no time."""
    _close(*descriptors)
    ends.bury()


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
