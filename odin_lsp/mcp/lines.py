"""What a server prints, line by line: each a message, none too long, and not too many of them."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

from odin_lsp.loop_share import MOST_VALUES, has_more_values

MAX_MESSAGE = 16 * 2**20
"""Bytes: what is larger would stop all else while it is read, and nobody wants to see it."""
MAX_IN_A_ROW = 120_000
"""Messages: whoever sends more is not saying anything."""
FORGOTTEN_A_SECOND = 2000
"""Of those in a row."""
EDGE = 4096
_ID = re.compile(rb'"id"\s*:\s*(\d{1,18})')


class Flooded(Exception):
    pass


@dataclass(frozen=True, slots=True)
class TooLong:
    """A message that was left out."""

    id: int | None
    """Of the question that it answers, if that can be seen."""
    than: str = f"{MAX_MESSAGE // 2**20} MiB"


class Lines:
    def __init__(self) -> None:
        self._begun = bytearray()
        self._head = b""
        """The beginning of a line that is too long; the rest of it is forgotten as it comes."""
        self._counted_at = 0.0
        self._count = 0.0

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
            return TooLong(_id_of(line, line), f"{MOST_VALUES:,} values") if has_more_values(line) else line
        return TooLong(_id_of(head or line, line))

    def _count_one(self) -> None:
        now = time.monotonic()
        self._count = max(0.0, self._count - (now - self._counted_at) * FORGOTTEN_A_SECOND) + 1
        self._counted_at = now
        if self._count > MAX_IN_A_ROW:
            raise Flooded


def _id_of(head: bytes, end: bytes) -> int | None:
    found = _ID.search(head[:EDGE]) or _ID.search(end[-EDGE:])
    return int(found[1]) if found else None
