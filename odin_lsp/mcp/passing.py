"""What a server sends, on its way to the SDK: answers and questions one by one, of its news the newest of each kind.

The SDK starts a task for each notification. A server may tell ten thousand times how far it has come before it answers;
nobody can look at that, and the answer would wait behind it."""

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Callable, Hashable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from types import TracebackType
from typing import Any, Self

from anyio import ClosedResourceError, EndOfStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification

from odin_lsp.loop_share import LoopShare
from odin_lsp.values import is_object

NEWS_SECONDS = 0.1
"""Between two news of a kind: what comes meanwhile takes the place of what came before."""
MOST_KINDS = 256
"""Of which news wait; more calls than that are not under way."""
MOST_UNHEARD = 50_000
"""Messages that wait to be looked at."""
LISTS = frozenset({
    "notifications/message", "notifications/prompts/list_changed", "notifications/resources/list_changed",
    "notifications/tools/list_changed",
})  # fmt: skip
Message = SessionMessage | Exception
Read = Callable[[], Message | None]
"""Reads a message, when it is wanted; nothing, if it is none."""


class Unheard(Exception):
    """More messages wait than anybody can look at."""


def kind_of(method: object, params: object) -> Hashable | None:
    """Which news a notification has; none: it is more than news, and each of them counts."""
    if isinstance(method, str) and method in LISTS:
        return method
    given: Mapping[str, Any] = params if is_object(params) else {}
    match method:
        case "notifications/progress":
            return method, str(given.get("progressToken"))
        case "notifications/resources/updated":
            return method, str(given.get("uri"))
        case _:
            return None


class Passing:
    """The stream that the SDK reads."""

    def __init__(self) -> None:
        self._messages: deque[Message] = deque()
        self._news: OrderedDict[Hashable, Read] = OrderedDict()
        self._told_at: dict[Hashable, float] = {}
        self._has_come = asyncio.Event()
        self._is_ended = False
        self._is_closed = False
        self._share = LoopShare()

    def put(self, message: Message) -> None:
        """It is told behind the news that came before it. Raises `Unheard`."""
        if self._is_ended:
            return
        if len(self._messages) >= MOST_UNHEARD:
            raise Unheard
        for read in self._news.values():
            self._take(read)
        self._news.clear()
        self._messages.append(message)
        self._has_come.set()

    def put_news(self, kind: Hashable, read: Read) -> None:
        if self._is_ended:
            return
        self._news[kind] = read
        if len(self._news) > MOST_KINDS:
            self._news.popitem(last=False)
        self._has_come.set()

    def end(self) -> None:
        """Nothing more comes."""
        self._is_ended = True
        self._has_come.set()

    async def receive(self) -> Message:
        await self._share.pass_on()
        while not self._messages:
            if self._is_closed:
                raise ClosedResourceError
            wait = self._take_what_is_due()
            if self._messages:
                break
            if self._is_ended:
                raise EndOfStream
            self._has_come.clear()
            try:
                async with asyncio.timeout(wait):
                    await self._has_come.wait()
            except TimeoutError:
                continue
        return self._messages.popleft()

    def close(self) -> None:
        self._is_closed = True
        self.end()

    async def aclose(self) -> None:
        self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Message:
        try:
            return await self.receive()
        except EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        self.close()

    def _take_what_is_due(self) -> float | None:
        """Seconds until there is more, if there is."""
        now = time.monotonic()
        self._told_at = {kind: at for kind, at in self._told_at.items() if now - at < NEWS_SECONDS}
        for kind in [it for it in self._news if it not in self._told_at or self._is_ended]:
            self._told_at[kind] = now
            self._take(self._news.pop(kind))
        if not self._news:
            return None
        return max(0.0, min(self._told_at[it] for it in self._news) + NEWS_SECONDS - now)

    def _take(self, read: Read) -> None:
        if (message := read()) is not None:
            self._messages.append(message)


@asynccontextmanager
async def passed(transport: AbstractAsyncContextManager[Any]) -> AsyncGenerator[Any]:
    """A transport of the SDK's whose messages come by `Passing`."""
    async with transport as (read, write):
        passing = Passing()
        pumping = asyncio.create_task(_pump(read, passing))
        try:
            yield passing, write
        finally:
            pumping.cancel()
            await asyncio.gather(pumping, return_exceptions=True)


async def _pump(read: Any, passing: Passing) -> None:
    try:
        async with read:
            with suppress(ClosedResourceError, Unheard):
                async for message in read:
                    _pass(message, passing)
    finally:
        passing.end()


def _pass(message: Message, passing: Passing) -> None:
    told = message.message if isinstance(message, SessionMessage) else None
    kind = kind_of(told.method, told.params) if isinstance(told, JSONRPCNotification) else None
    if kind is None:
        passing.put(message)
    else:
        passing.put_news(kind, lambda: message)
