"""Programs that are spoken to: each under a supervisor like a command, with pipes for what it reads, prints and
complains of."""

import asyncio
import os
from collections import deque
from contextlib import suppress
from dataclasses import replace
from functools import partial

from odin_lsp.commands.output import Cleaner
from odin_lsp.commands.runner import REST_SECONDS, Ended, Running, Sink, Spec
from odin_lsp.commands.supervising import Program, Supervisor
from odin_lsp.errors import ToolError

KEPT_LINES = 20
"""Of what it complained of last."""
LONGEST_LINE = 500
MAX_UNREAD_BYTES = 64 * 1024 * 1024
"""That wait for a program which does not read: what is beyond is not sent."""


async def start(spec: Spec, sink: Sink) -> "Piped":
    """`sink` takes what it prints; it is closed when the program has ended."""
    incoming, to_program = os.pipe()
    from_program, complaints = os.pipe()
    try:
        supervisor = Supervisor(partial(Program, (incoming, complaints)))
    except OSError as error:
        os.close(to_program)
        os.close(from_program)
        raise ToolError(f"no program can be started: {error.strerror}") from None
    finally:
        os.close(incoming)
        os.close(complaints)
    running = Running(supervisor, replace(spec, pipes=(incoming, complaints)), sink, lambda _: None)
    loop = asyncio.get_running_loop()
    writing, _ = await loop.connect_write_pipe(asyncio.Protocol, os.fdopen(to_program, "wb", 0))
    last_lines = LastLines()
    reading, _ = await loop.connect_read_pipe(lambda: last_lines, os.fdopen(from_program, "rb", 0))
    return Piped(supervisor.ends.pid, running, writing, reading, last_lines)


class Piped:
    def __init__(
        self,
        pid: int,
        running: Running,
        writing: asyncio.WriteTransport,
        reading: asyncio.ReadTransport,
        complaints: "LastLines",
    ) -> None:
        self.pid = pid
        """Of its supervisor: the program and all that it starts are below."""
        self._running = running
        self._writing = writing
        self._reading = reading
        self._complaints = complaints

    @property
    def complaints(self) -> str:
        """The last lines of its stderr."""
        return "\n".join(self._complaints.lines)

    @property
    def is_closed(self) -> bool:
        """It has closed its input, as it does when it ends."""
        return self._writing.is_closing()

    def write(self, data: bytes) -> bool:
        """Whether it was taken; a program that has ended, or does not read, takes nothing."""
        if self.is_closed or self._writing.get_write_buffer_size() > MAX_UNREAD_BYTES:
            return False
        self._writing.write(data)
        return True

    def end_input(self) -> None:
        """It has been told everything."""
        if not self._writing.is_closing():
            self._writing.write_eof()

    def stop(self) -> None:
        """Have the supervisor end it, and all that it has started."""
        self._running.stop()

    async def ended(self) -> Ended:
        """How it ended, by itself or not."""
        ended = await self._running.ended()
        if not self._writing.is_closing():
            self._writing.abort()
        with suppress(TimeoutError):
            async with asyncio.timeout(REST_SECONDS):
                await self._complaints.all_read.wait()
        self._reading.close()
        return ended

    async def ends_within(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.ended()
                return True
        return False


class LastLines(asyncio.Protocol):
    def __init__(self) -> None:
        self.lines: deque[str] = deque(maxlen=KEPT_LINES)
        self.all_read = asyncio.Event()
        self._cleaner = Cleaner()
        self._begun = ""

    def data_received(self, data: bytes) -> None:
        *whole, begun = (self._begun + self._cleaner.feed(data)).split("\n")
        self._begun = begun[:LONGEST_LINE]
        self.lines.extend(line[:LONGEST_LINE] for line in whole[-KEPT_LINES:] if line.strip())

    def connection_lost(self, exc: Exception | None) -> None:
        if self._begun.strip():
            self.lines.append(self._begun)
        self.all_read.set()
