"""The person at a terminal: what they are told, and the lines with which they answer."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass


def say(text: str) -> None:
    """To the person, not into the answer that may be piped on; if nobody is there any more, to nobody."""
    with suppress(OSError):
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


async def line(prompt: str) -> str | None:
    """A line from the terminal, `None` at its end; unlike a thread that reads, this can be cancelled."""
    sys.stderr.write(f"{prompt} ")
    sys.stderr.flush()
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    loop.add_reader(sys.stdin, lambda: ready.done() or ready.set_result(None))
    try:
        await ready
        typed = sys.stdin.readline()
        return typed.strip() if typed else None
    finally:
        loop.remove_reader(sys.stdin)


def is_at_terminal() -> bool:
    """Somebody who can answer, and sees what they are asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def wants_colour() -> bool:
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


@dataclass(frozen=True, slots=True)
class Person:
    say: Callable[[str], None] = say
    ask: Callable[[str], Awaitable[str | None]] = line
    """The line that answers a prompt; `None` when nobody will answer any more."""
    is_there: Callable[[], bool] = is_at_terminal
