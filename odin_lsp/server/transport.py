"""Moves frames between a client and the event loop. What they say is no concern of this module."""

import asyncio
import logging
import os
import select
import socket
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Condition, Thread
from typing import Literal, Protocol

from odin_lsp import system
from odin_lsp.frames import MAX_FRAME, Frame, FrameError, Frames, framed
from odin_lsp.loop_share import LoopShare

logger = logging.getLogger("odin")

MAX_WAITING = 64
"""Frames that wait for the loop. In a flood a request is as late as the frames before it take."""

Ending = Literal["eof", "broken frame", "client gone"]

MOST_OFFERED = 2**16
"""Bytes of a frame that the loop writes itself."""
PIPE_BUFFER = 512 if sys.platform == "win32" else select.PIPE_BUF


class Channel(Protocol):
    """A blocking stream in both directions. `read` returns b"" at the end; `write` writes everything, `offer` what is
    taken at once, and says how much that is."""

    def read(self, size: int, /) -> bytes: ...
    def write(self, data: bytes, /) -> None: ...
    def offer(self, data: bytes, /) -> int: ...
    def close(self) -> None: ...


class Cutting(Protocol):
    """Cuts what is read into frames."""

    def feed(self, data: bytes, /) -> Iterator[Frame]: ...


class Transport:
    """Two daemon threads do what blocks, so that the event loop never waits for the client. What a client takes at once
    is written by the loop itself: to hand it to a thread costs more than most frames.

    A client that floods is not read until its frames have been handled; one that does not take its answers
    is not asked for more. Neither grows the process. Frames that come together are handed over in small parts, with
    everybody else's turn in between: the loop would go through all of them at once.
    """

    def __init__(
        self, channel: Channel, frames: Cutting | None = None, framed: Callable[[bytes], bytes] = framed
    ) -> None:
        self._channel = channel
        self._frames = frames or Frames()
        self._framed = framed
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[Ending] = self._loop.create_future()
        self._outgoing: SimpleQueue[bytes | asyncio.Event | None] = SimpleQueue()
        self._changed = Condition()
        self._backlog = 0
        self._waiting = 0
        self._waiting_bytes = 0
        self._closed = False
        self._arrived: deque[Callable[[], None]] = deque()
        """Frames, and the end behind them, for the loop."""
        self._is_taking = False

    @property
    def backlog(self) -> int:
        """Bytes that the client has not taken yet."""
        return self._backlog

    async def run(self, on_frame: Callable[[Frame], None]) -> Ending:
        """Hand over every frame until the connection has ended; say how it did."""
        Thread(target=self._read, args=(on_frame,), name="odin reader", daemon=True).start()
        Thread(target=self._write, name="odin writer", daemon=True).start()
        return await self._ended

    def send(self, body: bytes) -> None:
        frame = self._framed(body)
        with self._changed:
            if not self._backlog:
                frame = frame[self._offer(frame) :]
            if not frame:
                return
            self._backlog += len(frame)
        self._outgoing.put(frame)

    async def drain(self, timeout: float) -> None:
        """Wait until the client has taken everything, but no longer than `timeout` seconds."""
        reached = asyncio.Event()
        self._outgoing.put(reached)
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await reached.wait()

    def close(self) -> None:
        """Let the threads end. The channel stays with its owner."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._outgoing.put(None)

    def _read(self, on_frame: Callable[[Frame], None]) -> None:
        try:
            while not self._closed and (data := self._channel.read(2**14)):
                for frame in self._frames.feed(data):
                    self._deliver_soon(frame, on_frame)
            self._end_soon("eof")
        except FrameError as error:
            logger.error("the client's frames are broken: %s", error)
            self._end_soon("broken frame")
        except OSError:
            self._end_soon("client gone")

    def _offer(self, frame: bytes) -> int:
        try:
            return self._channel.offer(frame)
        except OSError:
            self._end_soon("client gone")
            return len(frame)

    def _write(self) -> None:
        while (item := self._outgoing.get()) is not None:
            if isinstance(item, asyncio.Event):
                self._call_soon(item.set)
            else:
                self._write_frame(item)

    def _write_frame(self, frame: bytes) -> None:
        try:
            self._channel.write(frame)
        except OSError:
            self._end_soon("client gone")
        with self._changed:
            self._backlog -= len(frame)
            self._changed.notify_all()

    def _deliver_soon(self, frame: Frame, on_frame: Callable[[Frame], None]) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._has_room())
            self._waiting += 1
            self._waiting_bytes += _kept(frame)
        self._in_turn(partial(self._deliver, frame, on_frame))

    def _has_room(self) -> bool:
        return self._waiting < MAX_WAITING and self._waiting_bytes < MAX_FRAME and self._backlog < MAX_FRAME

    def _deliver(self, frame: Frame, on_frame: Callable[[Frame], None]) -> None:
        try:
            on_frame(frame)
        finally:
            with self._changed:
                self._waiting -= 1
                self._waiting_bytes -= _kept(frame)
                self._changed.notify_all()

    def _end_soon(self, ending: Ending) -> None:
        self._in_turn(partial(self._end, ending))

    def _end(self, ending: Ending) -> None:
        if not self._ended.done():
            self._ended.set_result(ending)

    def _in_turn(self, arrived: Callable[[], None]) -> None:
        with self._changed:
            self._arrived.append(arrived)
            is_taken, self._is_taking = self._is_taking, True
        if not is_taken:
            self._call_soon(self._take)

    def _take(self) -> None:
        share = LoopShare()
        try:
            while self._arrived and not share.is_used:
                self._arrived.popleft()()
        finally:
            with self._changed:
                self._is_taking = bool(self._arrived)
            if self._is_taking:
                self._call_soon(self._take)

    def _call_soon(self, callback: Callable[..., None], *args: object) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody is left to hear it
            self._loop.call_soon_threadsafe(callback, *args)


def _kept(frame: Frame) -> int:
    return len(frame) if isinstance(frame, bytes) else 0


def stdio_channel() -> Channel:
    """Keep fd 0 and fd 1 for the protocol.

    From here on whatever else is printed, by Python, C or a child, goes to stderr, and what the client does not
    read of it is dropped. Whatever else reads stdin finds it empty.
    """
    _fill_gaps()
    incoming, outgoing, stderr = os.dup(0), os.dup(1), os.dup(2)
    system.set_blocking(incoming, True)
    system.set_blocking(outgoing, True)
    _redirect(os.open(os.devnull, os.O_RDONLY), 0)
    prints, prints_end = os.pipe()
    _redirect(prints_end, 1, 2)
    forwarder = Thread(target=_forward, args=(prints, stderr), name="odin stderr", daemon=True)
    forwarder.start()
    return _Stdio(incoming, outgoing, forwarder)


def tcp_channel(host: str, port: int) -> Channel:
    """Wait for one client on this machine."""
    if host not in ("127.0.0.1", "localhost"):
        raise ValueError(f"Odin does not listen on {host}: who connects can act as you; use 127.0.0.1")
    with socket.create_server(("127.0.0.1", port)) as listener:
        sys.stderr.write(f"listening on 127.0.0.1:{listener.getsockname()[1]}\n")
        sys.stderr.flush()
        connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return SocketChannel(connection)


def _fill_gaps() -> None:
    """A client may start us with a closed stderr; the next descriptor would then take its place."""
    while (null := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(null)


def _redirect(target: int, *descriptors: int) -> None:
    for descriptor in descriptors:
        os.dup2(target, descriptor)
    os.close(target)


def _forward(prints: int, stderr: int) -> None:
    """Pass on what stderr takes at once. Nobody may ever wait for a client that does not read it."""
    while data := os.read(prints, PIPE_BUFFER):  # a writable pipe has room for as much
        with suppress(OSError):
            if select.select([], [stderr], [], 0)[1]:
                os.write(stderr, data)


class _Stdio:
    def __init__(self, incoming: int, outgoing: int, forwarder: Thread) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._forwarder = forwarder

    def read(self, size: int, /) -> bytes:
        return os.read(self._incoming, size)

    def write(self, data: bytes, /) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._outgoing, rest) :]

    def offer(self, data: bytes, /) -> int:
        if sys.platform == "win32" or len(data) > MOST_OFFERED:
            return 0
        written = 0
        while written < len(data) and select.select([], [self._outgoing], [], 0)[1]:
            # A writable pipe has room for as much.
            written += os.write(self._outgoing, data[written : written + PIPE_BUFFER])
        return written

    def close(self) -> None:
        """Give what was printed a moment to reach the client. The descriptors live as long as the process:
        a thread may still be reading."""
        for stream in (sys.stdout, sys.stderr):
            if stream:  # None where the client had closed it
                stream.flush()
        _redirect(os.open(os.devnull, os.O_WRONLY), 1, 2)
        self._forwarder.join(timeout=0.2)


class SocketChannel:
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def read(self, size: int, /) -> bytes:
        return self._connection.recv(size)

    def write(self, data: bytes, /) -> None:
        self._connection.sendall(data)

    def offer(self, data: bytes, /) -> int:
        if sys.platform == "win32" or len(data) > MOST_OFFERED:
            return 0
        with suppress(BlockingIOError):
            return self._connection.send(data, socket.MSG_DONTWAIT)
        return 0

    def close(self) -> None:
        with suppress(OSError):  # the client was faster
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()
