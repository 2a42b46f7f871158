"""Bodies of answers, read in small pieces and within bounds, whoever it is that answers.

A little that is packed can be very much, and the end of a line may never come. What is read is looked at once, and
others have their turn while it is. The bounds are far beyond what models send: the longest answers have some 130,000
tokens, and the servers that send most for each of them take 300 bytes."""

import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any

import httpx2

from odin_lsp.loop_share import MOST_VALUES, LoopShare, values_in

MOST_OF_AN_ANSWER = 256 * 2**20
"""Bytes of it, unpacked."""
MOST_OF_AN_EVENT = 16 * 2**20
"""Bytes of the data of a server-sent event, or of any of its lines: what is larger would stop all else while it is
parsed."""
MOST_LINES = 4_000_000
"""Of an answer: servers send three for a token."""
MOST_OF_A_REFUSAL = 200_000
"""Bytes of it that are read: what refuses need not be the provider."""
PIECE = 64 * 1024
"""Bytes that are looked at in one part."""


class TooMuch(Exception):
    """What comes is more than any answer, and is read no further; the text says how much of what."""


async def pieces(response: httpx2.Response, most: int) -> AsyncGenerator[bytes]:
    """The body, unpacked; raises `TooMuch` behind `most` bytes of it."""
    if "," in response.headers.get("content-encoding", ""):
        raise httpx2.DecodingError("it is packed more than once")
    share, size = LoopShare(), 0
    async for unpacked in response.aiter_bytes():  # by the client, a MiB at a time
        size += len(unpacked)
        for start in range(0, len(unpacked), PIECE):
            yield unpacked[start : start + PIECE]
            await share.pass_on()
        if size > most:
            raise TooMuch(f"it has more than {most // 2**20:,} MiB")


async def events(response: httpx2.Response) -> AsyncGenerator[str]:
    """The data of each server-sent event, as they come."""
    share, found = LoopShare(), EventData()
    async with aclosing(pieces(response, MOST_OF_AN_ANSWER)) as body:
        async for piece in body:
            for data in found.of(piece):
                yield data
                await share.pass_on()


async def whole(response: httpx2.Response, most: int) -> bytes:
    """The body, if it has an end; raises `TooMuch` behind `most` bytes of it."""
    async with aclosing(pieces(response, most)) as body:
        return b"".join([piece async for piece in body])


async def beginning(response: httpx2.Response, most: int = MOST_OF_A_REFUSAL) -> bytes:
    """About so many bytes of the body: it need not have an end."""
    read = bytearray()
    async with aclosing(pieces(response, most)) as body:
        try:
            async for piece in body:
                read += piece
        except TooMuch:
            pass
    return bytes(read)


def parsed(body: bytes) -> Any:
    """What it says, if that is JSON; else its text."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body.decode(errors="replace")


class EventData:
    """The data of each server-sent event that is complete. One that the end of the answer cuts off does not count."""

    def __init__(self) -> None:
        self._begun = bytearray()
        """A line without its end. What has come of it is not looked at again."""
        self._lines: list[bytes] = []
        self._size = 0
        self._values = 0
        self._count = 0

    def of(self, piece: bytes) -> Iterator[str]:
        """Those that this piece completes; raises `TooMuch` at one that no model sends."""
        *ends, rest = piece.split(b"\n")
        self._count += len(ends)
        if self._count > MOST_LINES:
            raise TooMuch(f"it has more than {MOST_LINES:,} lines")
        for end in ends:
            line = self._whole(end)
            if line.startswith(b"data:"):
                self._lines.append(line[5:].removeprefix(b" ").removesuffix(b"\r"))
                self._size += len(line)
            elif line in (b"", b"\r") and self._lines:
                yield b"\n".join(self._lines).decode()
                self._lines.clear()
                self._size = self._values = 0
        self._begun += rest
        if self._lines or self._begun:
            self._check(piece)

    def _whole(self, end: bytes) -> bytes:
        if not self._begun:
            return end
        line = bytes(self._begun + end)
        self._begun.clear()
        return line

    def _check(self, piece: bytes) -> None:
        """Of the event that goes on behind this piece. How many values it has is counted while it comes, about right:
        to parse many takes longer than to read them, and cannot be done in parts."""
        self._values += values_in(piece)
        if self._size + len(self._begun) > MOST_OF_AN_EVENT:
            raise TooMuch(f"one event in it has more than {MOST_OF_AN_EVENT // 2**20} MiB")
        if self._values > MOST_VALUES:
            raise TooMuch(f"one event in it has more than {MOST_VALUES:,} values")
