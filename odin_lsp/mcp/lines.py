"""What a server prints, line by line: each a message, none too long, and not too many of them."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

MAX_MESSAGE = 16 * 2**20
"""Bytes: what is larger would stop all else while it is read, and nobody wants to see it."""
MAX_A_SECOND = 20_000
"""Messages: whoever sends more is not saying anything."""
EDGE = 4096
_ID = re.compile(rb'"id"\s*:\s*(\d{1,18})')


class Flooded(Exception):
    pass


@dataclass(frozen=True, slots=True)
class TooLong:
    """A message that was left out."""

    id: int | None
    """Of the question that it answers, if that can be seen."""


class Lines:
    def __init__(self) -> None:
        self._begun = bytearray()
        self._head = b""
        """The beginning of a line that is too long; the rest of it is forgotten as it comes."""
        self._second = 0.0
        self._count = 0

    def feed(self, data: bytes) -> Iterator[bytes | TooLong]:
        """Raises `Flooded`."""
        *ends, rest = data.split(b"\n")
        for end in ends:
            self._begun += end
            if (line := self._taken()) != b"":
                self._count_one()
                yield line
        self._begun += rest
        if len(self._begun) > MAX_MESSAGE:
            self._head = self._head or bytes(self._begun[:EDGE])
            del self._begun[:-EDGE]

    def _taken(self) -> bytes | TooLong:
        line, head = bytes(self._begun).strip(), self._head
        self._begun.clear()
        self._head = b""
        if not head and len(line) <= MAX_MESSAGE:
            return line
        found = _ID.search(head or line[:EDGE]) or _ID.search(line[-EDGE:])
        return TooLong(int(found[1]) if found else None)

    def _count_one(self) -> None:
        now = time.monotonic()
        if now - self._second > 1:
            self._second, self._count = now, 0
        self._count += 1
        if self._count > MAX_A_SECOND:
            raise Flooded
