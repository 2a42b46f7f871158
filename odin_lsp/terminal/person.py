"""The person at a terminal: what they are told, and the lines with which they answer."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from odin_lsp.printing import put_prompt, say

if sys.platform == "win32":
    import msvcrt

    PAUSE = 0.02

    async def _typed() -> str:
        """Asked after again and again: the event loop waits for no console there."""
        while not msvcrt.kbhit():  # noqa: ASYNC110
            await asyncio.sleep(PAUSE)
        return await asyncio.to_thread(sys.stdin.readline)

else:

    async def _typed() -> str:
        loop = asyncio.get_running_loop()
        ready = loop.create_future()
        loop.add_reader(sys.stdin, lambda: ready.done() or ready.set_result(None))
        try:
            await ready
            return sys.stdin.readline()
        finally:
            loop.remove_reader(sys.stdin)


async def line(prompt: str) -> str | None:
    """A line from the terminal, `None` at its end; unlike a thread that reads, this can be cancelled."""
    put_prompt(prompt)
    typed = await _typed()
    return typed.strip() if typed else None


def is_at_terminal() -> bool:
    """Somebody who can answer, and sees what they are asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def wants_colour() -> bool:
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


class Say(Protocol):
    def __call__(self, text: str, colour: int | None = None, /) -> None: ...


@dataclass(frozen=True, slots=True)
class Person:
    say: Say = say
    ask: Callable[[str], Awaitable[str | None]] = line
    """The line that answers a prompt; `None` when nobody will answer any more."""
    is_there: Callable[[], bool] = is_at_terminal
