"""What an SDK reads, as the event stream that a provider sends: whoever takes an answer knows one form of it."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import httpx2


def as_event(value: Mapping[str, Any]) -> bytes:
    return b"data: %b\n\n" % json.dumps(value).encode()


def event_stream(
    events: AsyncIterator[bytes], close: Callable[[], Awaitable[None]], headers: Mapping[str, str]
) -> httpx2.Response:
    """An answer that has begun well."""
    return httpx2.Response(
        200, headers={**unpacked(headers), "content-type": "text/event-stream"}, stream=_Events(events, close)
    )


class _Events(httpx2.AsyncByteStream):
    def __init__(self, events: AsyncIterator[bytes], close: Callable[[], Awaitable[None]]) -> None:
        self._events = events
        self._close = close

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._events

    async def aclose(self) -> None:
        await self._close()


def unpacked(headers: Mapping[str, str]) -> dict[str, str]:
    """Without those that say how the body was packed."""
    packing = ("content-encoding", "content-length", "transfer-encoding", "connection")
    return {name: value for name, value in headers.items() if name not in packing}
