"""A provider on loopback that answers at once, in Anthropic's streaming format, and notes when what happened."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Self

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"
PAUSE = 0.01
"""Seconds between deltas, about as fast as a quick model talks."""


@dataclass
class Endpoint:
    """Asks to read each of `files`, one a step, then says `deltas` words; `held`: and then goes on for ever."""

    files: list[Path]
    deltas: int = 1
    held: bool = False
    requests: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    arrivals: list[float] = field(default_factory=list[float])
    replies: list[float] = field(default_factory=list[float])
    """When the last byte of each reply was written."""
    spoken: list[float] = field(default_factory=list[float])
    """When each word was written."""
    talking: asyncio.Event = field(default_factory=asyncio.Event)
    hung_up: asyncio.Future[float] = field(default_factory=asyncio.Future[float])
    url: str = ""
    pause: float = PAUSE

    @property
    def gaps(self) -> list[float]:
        """From each reply's last byte to the next request."""
        return [after - before for before, after in zip(self.replies, self.arrivals[1:], strict=False)]

    @asynccontextmanager
    async def listening(self) -> AsyncGenerator[Self]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.arrivals.append(perf_counter())
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
                self.requests.append(json.loads(await reader.readexactly(int(length.split(b":")[1]))))
                await self._answer(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        step = len(self.replies)
        if step < len(self.files):
            writer.write(calling(f"toolu_{step}", "Read", {"file_path": str(self.files[step])}))
        else:
            await self._talk(reader, writer)
        await writer.drain()
        self.replies.append(perf_counter())

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + _chunk(_message_start()) + _chunk(_start({"type": "text", "text": ""})))
        for number in range(self.deltas):
            await asyncio.sleep(self.pause)
            self.spoken.append(perf_counter())
            writer.write(_chunk(_delta({"type": "text_delta", "text": self.word(number)})))
        self.talking.set()
        if self.held:
            await self._hold(reader)
        writer.write(_chunk(_block_stop()) + _chunk(_stop("end_turn")) + _chunk(MESSAGE_STOP) + END)

    def word(self, number: int) -> str:
        return f"{number} "

    async def _hold(self, reader: asyncio.StreamReader) -> None:
        try:
            await reader.read()
        finally:
            self.hung_up.set_result(perf_counter())
        raise ConnectionError


def calling(id: str, name: str, arguments: Mapping[str, Any]) -> bytes:
    """A whole answer that calls a tool."""
    return answering("", [(id, name, arguments)])


def answering(text: str, calls: Sequence[tuple[str, str, Mapping[str, Any]]] = (), tokens: int = 100) -> bytes:
    """A whole answer: what is said, and calls by id, name and arguments; `tokens`: what the request has taken."""
    return HEAD + b"".join(map(_chunk, _answer(text, calls, tokens))) + END


def _answer(text: str, calls: Sequence[tuple[str, str, Mapping[str, Any]]], tokens: int) -> Iterator[bytes]:
    yield _message_start(tokens)
    blocks: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"type": "text", "text": ""}, {"type": "text_delta", "text": it}) for it in [text] if it
    ]
    for call, name, arguments in calls:
        block: dict[str, Any] = {"type": "tool_use", "id": call, "name": name, "input": {}}
        blocks.append((block, {"type": "input_json_delta", "partial_json": json.dumps(arguments)}))
    for index, (block, delta) in enumerate(blocks):
        yield _start(block, index)
        yield _delta(delta, index)
        yield _block_stop(index)
    yield _stop("tool_use" if calls else "end_turn")
    yield MESSAGE_STOP


def _event(kind: str, **data: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()


def _message_start(tokens: int = 100) -> bytes:
    return _event(
        "message_start",
        message={
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-5-5",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": tokens, "output_tokens": 1},
        },
    )


def _start(block: dict[str, Any], index: int = 0) -> bytes:
    return _event("content_block_start", index=index, content_block=block)


def _delta(delta: dict[str, Any], index: int = 0) -> bytes:
    return _event("content_block_delta", index=index, delta=delta)


def _block_stop(index: int = 0) -> bytes:
    return _event("content_block_stop", index=index)


def _stop(reason: str) -> bytes:
    return _event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage={"output_tokens": 20})


def _chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


MESSAGE_STOP = _event("message_stop")
