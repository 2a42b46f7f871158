"""Work on the event loop that grows: done in small parts, with everybody else's turn in between."""

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")

PART_SECONDS = 0.005
"""After which others get their turn: nobody notices that long a wait."""
MOST_VALUES = 250_000
"""Of JSON that is parsed at once, about. That cannot be done in parts, and not beside the loop: Python's parser hands
nobody the interpreter meanwhile. Text takes no time, values do."""
MOST_OF_A_PROGRAM = 1_000_000
"""Of a message of an editor or a language server, which answer with lists of many thousand places."""


def is_event_loop() -> bool:
    """Whether this thread has one that runs: nothing may wait here."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def values_in(raw: str | bytes) -> int:
    """How many values JSON has at most, but for one: each other has one of these signs before it or behind it."""
    if isinstance(raw, str):
        return sum(map(raw.count, "[{:,"))
    return sum(map(raw.count, (b"[", b"{", b":", b",")))


def has_more_values(raw: str | bytes, most: int = MOST_VALUES) -> bool:
    """Than may be parsed at once; what is short has not."""
    return len(raw) > most and values_in(raw) > most


def checked(raw: bytes, most: int = MOST_OF_A_PROGRAM) -> bytes:
    """JSON that may be parsed at once; else a `ValueError`."""
    if has_more_values(raw, most):
        raise ValueError(f"more than {most:,} values")
    return raw


class LoopShare:
    """The time that one piece of work has the event loop for itself."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    @property
    def is_used(self) -> bool:
        return time.monotonic() - self._began >= PART_SECONDS

    async def pass_on(self) -> None:
        """Let others have their turn, if this part has taken its time. Between two calls the work is to be short."""
        if self.is_used:
            await asyncio.sleep(0)
            self._began = time.monotonic()


async def each_in_turn(items: Iterable[T], work: Callable[[T], object]) -> None:
    """`work` for each; in between others have their turn, and so has what it has begun."""
    for it in items:
        work(it)
        await asyncio.sleep(0)
