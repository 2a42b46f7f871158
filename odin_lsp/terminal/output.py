"""Standard output that is piped on. A thread of its own writes, so that whoever reads slowly holds up no turn. It is
handed what has gathered, at a pace: to wake it takes longer than to write."""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any

from odin_lsp.display import shown
from odin_lsp.errors import OdinError

CROWDED = 1 << 17
"""Bytes that nobody has read yet; from here on there is no room for what can be done without."""
PACE_SECONDS = 0.02
"""Between two times that something is handed over. What comes after a pause goes at once."""


class PipedOutput:
    def __init__(self, pace: float = PACE_SECONDS) -> None:
        self._pace = pace
        self.if_lost: Callable[[], object] = lambda: None
        """Called when nothing can be written any more."""
        self._pieces: SimpleQueue[bytes | None] = SimpleQueue()
        self._held: list[bytes] = []
        """What is handed over when the loop has done what it does now, or when it is time."""
        self._handed_over = float("-inf")
        self._given = self._taken = 0
        """Bytes; the thread counts those that it has written."""
        self._ended = asyncio.Event()
        self._problem: OSError | None = None
        self._loop = asyncio.get_running_loop()
        self._has_written_all = False
        Thread(target=self._work, name="output", daemon=True).start()

    @property
    def is_crowded(self) -> bool:
        return self._given - self._taken > CROWDED

    def write_text(self, text: str) -> None:
        """A pipe is no terminal, but what it leads to often is one: control characters do not pass here either."""
        self._write(shown(text))

    def write_json(self, value: Any) -> None:
        """On a line of its own, and exactly as it is."""
        self._write(f"{json.dumps(value)}\n")

    def _write(self, text: str) -> None:
        if not self._held:
            self._loop.call_at(self._handed_over + self._pace, self._hand_over)
        self._held.append(text.encode(sys.stdout.encoding, sys.stdout.errors or "replace"))
        self._given += len(self._held[-1])

    async def close(self) -> bool:
        """Wait until all of it is taken; whether it is. `BrokenPipeError`: nobody reads it any more."""
        self._hand_over()
        self._pieces.put(None)
        await self._ended.wait()
        if isinstance(self._problem, BrokenPipeError):
            raise self._problem
        if self._problem is not None:
            raise OdinError(f"the output cannot be written: {self._problem.strerror}")
        return self._has_written_all

    def give_up(self) -> None:
        """Whoever waits for the reader does not want to wait any longer."""
        self._ended.set()

    def _hand_over(self) -> None:
        if self._held:
            held, self._held = self._held, []
            self._handed_over = self._loop.time()
            self._pieces.put(b"".join(held))

    def _work(self) -> None:
        problem: OSError | None = None
        try:
            while (piece := self._pieces.get()) is not None:
                _write(piece)
                self._taken += len(piece)
        except OSError as error:
            problem = error
        with suppress(RuntimeError):  # the loop has ended, since nobody wanted to wait
            self._loop.call_soon_threadsafe(self._end, problem)

    def _end(self, problem: OSError | None) -> None:
        self._problem = problem
        self._has_written_all = True
        self._ended.set()
        if problem is not None:
            self.if_lost()


def _write(piece: bytes) -> None:
    """Not by way of `sys.stdout`: its lock would be held while this waits, also when the process wants to end."""
    while piece:
        piece = piece[os.write(sys.stdout.fileno(), piece) :]
