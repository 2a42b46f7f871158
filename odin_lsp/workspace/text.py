"""Lines, positions and bytes. A line ends at `\\n`, `\\r\\n` or `\\r`, and nowhere else: that is what editors count."""

import codecs
import re
from dataclasses import dataclass
from typing import Literal

PositionEncoding = Literal["utf-8", "utf-16", "utf-32"]
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Position:
    line: int
    character: int
    """In units of the encoding that editor and server agreed on."""


@dataclass(frozen=True, slots=True)
class Decoded:
    text: str
    encoding: Literal["utf-8", "utf-8-sig", "utf-16"]


def split_lines(text: str) -> list[str]:
    """The lines without their ends; the text after the last line end is a line only if it is not empty."""
    lines = _LINE_END.split(text)
    if lines[-1] == "":
        lines.pop()
    return lines


def line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in _LINE_END.finditer(text))]


def offset_at(text: str, starts: list[int], position: Position, encoding: PositionEncoding) -> int:
    """Where in `text` the position is; beyond the line's or the text's end it is that end."""
    if position.line >= len(starts):
        return len(text)
    start = starts[position.line]
    stop = starts[position.line + 1] if position.line + 1 < len(starts) else len(text)
    line = _LINE_END.sub("", text[start:stop])
    return start + _characters(line, position.character, encoding)


def decode(data: bytes) -> Decoded | None:
    """The text in `data`; `None` if it is none that can be read and written back as it was."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif b"\0" in data:
        return None
    else:
        encoding = "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"
    try:
        return Decoded(data.decode(encoding), encoding)
    except UnicodeDecodeError:
        return None


def _characters(line: str, units: int, encoding: PositionEncoding) -> int:
    """How many characters of `line` the first `units` code units are; half a character counts as none."""
    if encoding == "utf-32" or (encoding == "utf-16" and line.isascii()):
        return min(units, len(line))
    for index, character in enumerate(line):
        units -= (
            len(character.encode("utf-8", "surrogatepass")) if encoding == "utf-8" else 1 + (ord(character) > 0xFFFF)
        )
        if units < 0:
            return index
    return len(line)
