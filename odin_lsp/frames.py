"""Messages in a stream of bytes: frames as LSP has them, with a header that says how long the body is, and lines."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MAX_FRAME = 64 * 2**20
"""Bytes of the longest body that is kept."""

MAX_SKIPPED = 2**30
"""Bytes of the longest body that is skipped. Whoever announces more has lost count."""

MAX_HEADER = 8 * 2**10


@dataclass(frozen=True)
class Oversized:
    """Stands for a body that was too long to keep."""

    length: int


Frame = bytes | Oversized


class FrameError(Exception):
    """Nobody knows any more where the next frame begins."""


_HALF_OR_WHOLE = re.compile(rb"\\\\|\\ud[89ab]..\\ud[c-f]..|(\\ud[89a-f]..)")
"""In JSON: a backslash, a character beyond the first 65,536, or half of one."""


def without_halves(body: bytes) -> bytes:
    """JSON without halves of characters, as names of files and models can have them: many readers, Neovim's among
    them, would drop all of the message, a question too."""
    return _HALF_OR_WHOLE.sub(lambda it: rb"\ufffd" if it[1] else it[0], body) if b"\\ud" in body else body


def with_whole_characters(value: Any) -> Any:
    """The same for what will be JSON."""
    return json.loads(without_halves(json.dumps(value).encode()))


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def as_line(body: bytes) -> bytes:
    """JSON has no line ends of its own."""
    return body + b"\n"


class Lines:
    """Cuts a stream of bytes into its lines; empty ones are left out."""

    def __init__(self) -> None:
        self._begun = bytearray()
        self._dropped = 0
        """Bytes of a line that is too long; the rest of it is dropped as it comes."""

    def feed(self, data: bytes) -> Iterator[Frame]:
        *ends, rest = data.split(b"\n")
        for end in ends:
            self._begun += end
            if line := self._taken():
                yield line
        self._begun += rest
        if len(self._begun) > MAX_FRAME:
            self._dropped += len(self._begun)
            self._begun.clear()

    def _taken(self) -> Frame:
        line, dropped = bytes(self._begun).strip(), self._dropped
        self._begun.clear()
        self._dropped = 0
        return Oversized(dropped + len(line)) if dropped or len(line) > MAX_FRAME else line


class Frames:
    """Cuts a stream of bytes into the bodies that it carries."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._length: int | None = None
        self._to_skip = 0

    @property
    def rest(self) -> bytes:
        """What has come of the next one."""
        return bytes(self._buffer)

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield the bodies that are complete now; raise `FrameError` at a header that makes no sense.

        A body that is too long is reported as soon as it is announced.
        """
        self._buffer += data
        while (frame := self._next()) is not None:
            yield frame

    def _next(self) -> Frame | None:
        self._to_skip -= len(self._take(min(self._to_skip, len(self._buffer))))
        if self._length is None:
            self._length = self._read_header()
        length = self._length
        if length is None or (length <= MAX_FRAME and length > len(self._buffer)):
            return None
        self._length = None
        if length <= MAX_FRAME:
            return self._take(length)
        self._to_skip = length
        return Oversized(length)

    def _read_header(self) -> int | None:
        end = _HEADER_END.search(self._buffer, 0, MAX_HEADER)
        if end:
            return _content_length(self._take(end.end()).rstrip())
        if len(self._buffer) >= MAX_HEADER:
            raise FrameError("the header does not end")
        return None

    def _take(self, size: int) -> bytes:
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken


_HEADER_END = re.compile(rb"\r?\n\r?\n")
_LINE_END = re.compile(rb"\r?\n")
_NAME = re.compile(rb"[A-Za-z0-9-]+")
_LENGTH = re.compile(rb"[0-9]{1,20}")


def _content_length(header: bytes) -> int:
    lengths = {value for name, value in _header_lines(header) if name == b"content-length"}
    if len(lengths) != 1:
        raise FrameError(f"{len(lengths)} different values of Content-Length")
    (value,) = lengths
    if not _LENGTH.fullmatch(value):
        raise FrameError("Content-Length is not a number")
    length = int(value)
    if length > MAX_SKIPPED:
        raise FrameError(f"Content-Length is {length}")
    return length


def _header_lines(header: bytes) -> Iterator[tuple[bytes, bytes]]:
    for line in _LINE_END.split(header):
        name, colon, value = line.partition(b":")
        name = name.rstrip(b" \t")
        if not colon or not _NAME.fullmatch(name):
            raise FrameError("something else than a header stands where one must begin")
        yield name.lower(), value.strip(b" \t")
