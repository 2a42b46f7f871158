"""A client in the same process."""

import asyncio
import json
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import pytest

from odin_lsp.frames import Frames


class MemoryChannel:
    """What the client's end of a pipe is: it can be fed, held up and broken."""

    def __init__(self) -> None:
        self.on_write: Callable[[bytes], None] = lambda data: None
        self.taking = threading.Event()
        self.taking.set()
        self.broken = False
        self._fed: SimpleQueue[bytes] = SimpleQueue()

    def feed(self, data: bytes) -> None:
        self._fed.put(data)

    def feed_frame(self, body: bytes) -> None:
        self.feed(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def hang_up(self) -> None:
        self.feed(b"")

    def read(self, size: int, /) -> bytes:
        return self._fed.get()

    def offer(self, data: bytes, /) -> int:
        return 0

    def write(self, data: bytes, /) -> None:
        self.taking.wait()
        if self.broken:
            raise BrokenPipeError
        self.on_write(data)

    def close(self) -> None:
        self.broken = True
        self.taking.set()
        self.hang_up()


class Client:
    """Speaks JSON-RPC over a channel, as badly as it is told to."""

    def __init__(self, channel: MemoryChannel) -> None:
        self.channel = channel
        self._loop = asyncio.get_running_loop()
        self._frames = Frames()
        self._received: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        channel.on_write = lambda data: self._loop.call_soon_threadsafe(self._take, data)

    def send(self, message: Any) -> None:
        self.channel.feed_frame(message if isinstance(message, bytes) else json.dumps(message).encode())

    def notify(self, method: str, params: Any = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, id: Any, method: str, params: Any = None) -> None:
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})

    async def receive(self) -> dict[str, Any]:
        async with asyncio.timeout(10):
            return await self._received.get()

    async def error(self) -> tuple[Any, int]:
        answer = await self.receive()
        return answer["id"], answer["error"]["code"]

    async def initialize(self) -> None:
        self.request("initialize", "initialize", {"processId": None, "capabilities": {}})
        assert "result" in await self.receive()

    def _take(self, data: bytes) -> None:
        for body in self._frames.feed(data):
            assert isinstance(body, bytes)
            self._received.put_nowait(json.loads(body))


@pytest.fixture
def channel():
    channel = MemoryChannel()
    yield channel
    channel.close()


@pytest.fixture
async def client(channel):
    return Client(channel)
