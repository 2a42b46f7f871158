"""What a test has opened, and nobody but the end of the test closes."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

Close = Callable[[], Awaitable[None]]
_opened: list[list[Close]] = []


def at_the_end(close: Close) -> None:
    """Of the test, if it has a loop that waits for it."""
    for opened in _opened[-1:]:
        opened.append(close)


@asynccontextmanager
async def closing() -> AsyncIterator[None]:
    """At its end, what was opened last is closed first."""
    opened: list[Close] = []
    _opened.append(opened)
    yield
    _opened.remove(opened)
    for close in reversed(opened):
        await close()
