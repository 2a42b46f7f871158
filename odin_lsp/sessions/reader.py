"""Reading a log that may have been torn, damaged, tampered with, or written by another version of Odin."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, BinaryIO, NamedTuple, TypeVar

from pydantic import ValidationError

from odin_lsp import system
from odin_lsp.errors import SessionError
from odin_lsp.messages import Image, Message, Part, Text
from odin_lsp.values import adapter, is_list, is_object

SCHEMA_VERSION = 1
LASTING = ("session", "title")
"""Kinds of lines that count although the session was cleared after them."""
MAX_RECORD = 16 * 1024 * 1024
"""Bytes. What is longer could be sent to no model, and is not read into memory."""
MAX_IMAGE = 7_000_000
"""Characters of base64: a larger image is accepted by no provider, and would make every later request fail."""
CHUNK = 1024 * 1024
V = TypeVar("V")
Record = dict[str, Any]

_START = re.compile(rb'\{"v":(\d{1,9}),"type":"(\w{1,40})"')
_UNSENDABLE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")


class Line(NamedTuple):
    offset: int
    size: int
    """With the line's end."""
    kind: str | None
    """`None`: not one of Odin's, or damaged at its start."""


@dataclass(slots=True)
class Index:
    """Where each line of a log is, and what is wrong with it as a whole."""

    lines: list[Line] = field(default_factory=list[Line])
    version: int = 0
    """The newest that wrote to it."""
    end: int = 0
    """Behind the last whole record."""
    size: int = 0
    lacks_newline: bool = False
    """The last record is whole but for its line's end."""

    @property
    def is_newer(self) -> bool:
        return self.version > SCHEMA_VERSION

    def of(self, *kinds: str) -> list[Line]:
        return [line for line in self.lines if line.kind in kinds]


def index(file: BinaryIO) -> Index:
    """Find the lines without reading what they say; however long they are, little is in memory at a time."""
    found = Index()
    while chunk := file.readline(CHUNK):
        size, last = len(chunk), chunk
        while not last.endswith(b"\n") and (last := file.readline(CHUNK)):
            size += len(last)
        match = _START.match(chunk)
        line = Line(found.size, size, match[2].decode() if match else None)
        found.size += size
        if not last:
            if size > MAX_RECORD or not records(_read(file, line)):
                return found
            found.lacks_newline = True
        if match:
            found.version = max(found.version, int(match[1]))
        if line.kind == "cleared":
            found.lines = found.of(*LASTING)
        found.lines.append(line)
        found.end = found.size
    return found


def read(file: BinaryIO, line: Line) -> list[Record]:
    """What the line says: one record, none if it is damaged or too long, several if the end of a line was lost."""
    return records(_read(file, line)) if line.size <= MAX_RECORD else []


def records(line: bytes) -> list[Record]:
    record = _record(line)
    if record is not None:
        return [record]
    edges = [*(it.start() for it in _START.finditer(line)), len(line)]
    return [record for start, end in pairwise(edges) if (record := _record(line[start:end])) is not None]


def every(file: BinaryIO, *kinds: str) -> Iterator[Record]:
    """All records of these kinds, one at a time."""
    for line in index(file).of(*kinds):
        yield from (it for it in read(file, line) if it.get("type") in kinds)


def message(data: object) -> Message:
    """The message as far as it is understood: parts of an unknown kind are left out, and so are unknown fields."""
    if not is_object(data) or data.get("role") not in ("user", "assistant") or not is_list(data.get("parts")):
        raise SessionError("a message has no role or no parts")
    parts = tuple(part for it in data["parts"] if (part := _part(it)) is not None)
    origin = data.get("origin")
    return Message(data["role"], parts, origin if isinstance(origin, str) else None)


def value(cls: type[V], data: object) -> V:
    """`data` as a `cls`, whatever else it holds."""
    try:
        return adapter(cls).validate_python(data, extra="ignore")
    except ValidationError as error:
        raise SessionError(f"a value cannot be read: {error.error_count()} problems") from None


def number(data: object, default: float) -> float:
    return float(data) if isinstance(data, int | float) and math.isfinite(data) else default


def _part(data: object) -> Part | None:
    kind: Any = Part
    try:
        part = value(kind, data)
    except SessionError:
        return None
    if isinstance(part, Image) and len(part.data) > MAX_IMAGE:
        return Text(f"(an image of {len(part.data) * 3 // 4:,} bytes was left out: it is too large for any model)")
    return part


def _read(file: BinaryIO, line: Line) -> bytes:
    return system.pread(file.fileno(), line.size, line.offset)


def _record(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
        if not is_object(record) or not isinstance(record.get("v"), int) or not isinstance(record.get("type"), str):
            return None
        return _sendable(record) if _UNSENDABLE.search(line) else record
    except (ValueError, RecursionError):
        return None


def _sendable(data: Any) -> Any:
    """Without what no request can carry: halves of characters, and NUL."""
    match data:
        case str():
            return data.replace("\0", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict():
            return {_sendable(key): _sendable(it) for key, it in data.items()}  # pyright: ignore[reportUnknownVariableType]
        case list():
            return [_sendable(it) for it in data]  # pyright: ignore[reportUnknownVariableType]
        case _:
            return data
