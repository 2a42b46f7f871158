"""Lines, positions and bytes. A line ends at `\\n`, `\\r\\n` or `\\r`, and nowhere else: that is what editors count."""

import codecs
import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal

PositionEncoding = Literal["utf-8", "utf-16", "utf-32"]
LineEnd = Literal["\n", "\r\n", "\r"]
Encoding = Literal["utf-8", "utf-16-le", "utf-16-be"]
MARKS: dict[Encoding, bytes] = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}
MANY_LINES = 400
PART = 2**20
"""Characters that are split at once."""
ASCII_BREAKS = "\v\f\x1c\x1d\x1e"
OTHER_BREAKS = f"{ASCII_BREAKS}\x85\u2028\u2029"
"""Where lines end for Python, and for no editor."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


@dataclass(frozen=True, slots=True, order=True)
class Position:
    line: int
    character: int
    """In units of the encoding that editor and server agreed on."""


@dataclass(frozen=True, slots=True)
class Change:
    """One step of a `didChange`; without a start it is the whole new text."""

    text: str
    start: Position | None = None
    end: Position | None = None


def typed_together(changes: Sequence[Change], encoding: PositionEncoding) -> list[Change]:
    """The same, with what was typed letter by letter as one change: whoever follows has as much work with each."""
    runs: list[list[Change]] = []
    behind: Position | None = None
    for it in changes:
        if behind is not None and it.start == it.end == behind:
            runs[-1].append(it)
        else:
            runs.append([it])
        behind = _behind(it, encoding)
    return [replace(run[0], text="".join(it.text for it in run)) for run in runs]


def _behind(typed: Change, encoding: PositionEncoding) -> Position | None:
    """Where the next letter goes, unless something was replaced, or a line broken."""
    if typed.start is None or typed.start != typed.end or "\n" in typed.text or "\r" in typed.text:
        return None
    return Position(typed.start.line, typed.start.character + _units(typed.text, encoding))


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Decoded:
    """The text of a file, and what it takes to write it back byte for byte."""

    text: str
    encoding: Encoding
    bom: bool = False

    def encode(self) -> bytes:
        return (MARKS[self.encoding] if self.bom else b"") + self.text.encode(self.encoding)


class Lines:
    """A text as its lines, each with its end. A change costs what it touches, whatever the length of the text; where
    the lines behind it begin is added up again when somebody asks."""

    def __init__(self, text: str) -> None:
        self._split: list[str] | None = None
        """Found when somebody asks; there is always this or the text."""
        self._text: str | None = text
        self._digest: str | None = None
        self._starts = [0]
        """Where lines begin, and at last where the text ends; as far as it is known."""

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def _lines(self) -> list[str]:
        if self._split is None:
            self._split = whole_lines(self.text)
        return self._split

    def take(self, text: str, lines: list[str]) -> None:
        """Somebody has found the lines, which need not be looked for again if this is still the text."""
        if self._split is None and self._text is text:
            self._split = lines

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = "".join(self._lines)
        return self._text

    @property
    def digest(self) -> str:
        """SHA-256 of the text in UTF-8, made once."""
        if self._digest is None:
            self._digest = hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()
        return self._digest

    def apply(self, change: Change, encoding: PositionEncoding) -> None:
        """Positions beyond a line's or the text's end are that end, as LSP has it."""
        if change.start is None or change.end is None:
            self._split, self._text, self._digest, self._starts = None, change.text, None, [0]
            return
        start = self._place(change.start, encoding)
        self._splice(start, max(start, self._place(change.end, encoding)), change.text)
        self._text = None

    def replace(self, start: int, end: int, new: str) -> int:
        """The same by characters of the text. Where the lines behind it begin now: they are as they were."""
        text = f"{self.text[:start]}{new}{self.text[end:]}"
        behind = self._splice(self._place_at(start), self._place_at(end), new)
        self._text = text
        return self._start(behind)

    def between(self, start: Position, end: Position, encoding: PositionEncoding) -> str:
        first, head = self._place(start, encoding)
        last, tail = self._place(end, encoding)
        if first >= len(self._lines) or (last, tail) <= (first, head):
            return ""
        if first == last:
            return self._lines[first][head:tail]
        return "".join(
            [
                self._lines[first][head:],
                *self._lines[first + 1 : last],
                *(it[:tail] for it in self._lines[last : last + 1]),
            ]
        )

    def part(self, first: int, count: int) -> list[str]:
        """So many lines, counted from 1, without their ends."""
        return [_content(line) for line in self._lines[first - 1 : first - 1 + count]]

    def offset(self, position: Position, encoding: PositionEncoding) -> int:
        """In characters of the text."""
        line, characters = self._place(position, encoding)
        return self._start(line) + characters

    def position(self, offset: int, encoding: PositionEncoding) -> tuple[int, int]:
        """The line and the units before a character. Within a line's end that is where it begins, and behind the text
        where that ends."""
        line, characters = self._place_at(offset)
        if line == len(self._lines):
            return line, 0
        return line, _units(_content(self._lines[line][:characters]), encoding)

    def width(self, line: int, encoding: PositionEncoding) -> int:
        """Of a line without its end."""
        return _units(_content(self._lines[line]), encoding) if line < len(self._lines) else 0

    def numbers(self, start: int, end: int) -> tuple[int, int]:
        """The lines, from 1, that these characters are in."""
        first = self._place_at(start)[0] + 1
        return first, max(first, self._place_at(end - 1)[0] + 1)

    def _place(self, position: Position, encoding: PositionEncoding) -> tuple[int, int]:
        """The line and the characters before the position in it."""
        if position.line >= len(self._lines):
            if self._lines and line_end(self._lines[-1]) is None:
                return len(self._lines) - 1, len(self._lines[-1])
            return len(self._lines), 0
        content = _content(self._lines[max(0, position.line)])
        return max(0, position.line), _characters(content, max(0, position.character), encoding)

    def _place_at(self, offset: int) -> tuple[int, int]:
        while self._starts[-1] <= offset and len(self._starts) <= len(self._lines):
            self._start(min(len(self._starts) + MANY_LINES, len(self._lines)))
        line = bisect_right(self._starts, offset) - 1
        if line == len(self._lines) and line and line_end(self._lines[-1]) is None:
            line -= 1
        return line, offset - self._starts[line]

    def _splice(self, start: tuple[int, int], end: tuple[int, int], new: str) -> int:
        """Which is the first line behind it then."""
        (first, head), (last, tail) = start, end
        self._digest = None
        before = self._lines[first][:head] if first < len(self._lines) else ""
        after = self._lines[last][tail:] if last < len(self._lines) else ""
        if first and self._lines[first - 1].endswith("\r"):
            # A line feed that now follows the carriage return belongs to it.
            first -= 1
            before = self._lines[first] + before
        lines = whole_lines(before + new + after)
        self._lines[first : last + 1] = lines
        del self._starts[first + 1 :]
        return first + len(lines)

    def _start(self, line: int) -> int:
        if (known := len(self._starts) - 1) < line:
            self._starts += accumulate(map(len, self._lines[known:line]), initial=self._starts.pop())
        return self._starts[line]


def _content(line: str) -> str:
    return line.rstrip("\r\n") if line.endswith(("\r", "\n")) else line


def _units(text: str, encoding: PositionEncoding) -> int:
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-16":
        return len(text.encode("utf-16-le", "surrogatepass")) // 2
    return len(text.encode("utf-8", "surrogatepass"))


def whole_lines(text: str) -> list[str]:
    """The lines with their ends; together they are the text."""
    return [it[0] for it in _LINE.finditer(text)] if _has_other_breaks(text) else text.splitlines(keepends=True)


def whole_lines_in_parts(text: str) -> list[str]:
    """The same in a thread: others have their turn in between, which they have not while Python splits a text."""
    lines: list[str] = []
    at = 0
    while at < len(text):
        end = text.find("\n", at + PART) + 1 or len(text)
        lines += whole_lines(text[at:end])
        at = end
    return lines


def split_lines(text: str) -> list[str]:
    """The lines without their ends."""
    return [_content(line) for line in whole_lines(text)] if _has_other_breaks(text) else text.splitlines()


def _has_other_breaks(text: str) -> bool:
    """Where there are none, Python's lines are ours, and many times as fast as looking for all ends."""
    return any(it in text for it in (ASCII_BREAKS if text.isascii() else OTHER_BREAKS))


def occurrences(text: str, part: str) -> Iterator[int]:
    """Where it stands in the text, each behind the one before."""
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + len(part))


def ends_in(text: str) -> int:
    """How many lines end in it."""
    return sum(line_end(line) is not None for line in whole_lines(text))


def line_end(line: str) -> LineEnd | None:
    if line.endswith("\r\n"):
        return "\r\n"
    return "\n" if line.endswith("\n") else "\r" if line.endswith("\r") else None


def usual_line_end(lines: Sequence[str]) -> LineEnd:
    """The end that most lines have; what a new line in this text should get."""
    ends = [end for line in lines if (end := line_end(line))]
    return max(("\n", "\r\n", "\r"), key=ends.count)


def utf8_size(text: str) -> int:
    """Bytes of the text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def decode(data: bytes) -> Decoded | None:
    """The text in `data`; `None` if it is none that could be written back as it was."""
    for encoding, mark in MARKS.items():
        if data.startswith(mark):
            return _decoded(data[len(mark) :], encoding, bom=True)
    return None if b"\0" in data else _decoded(data, "utf-8", bom=False)


def _decoded(data: bytes, encoding: Encoding, *, bom: bool) -> Decoded | None:
    try:
        return Decoded(data.decode(encoding), encoding, bom)
    except UnicodeDecodeError:
        return None


def _characters(line: str, units: int, encoding: PositionEncoding) -> int:
    """How many characters of `line` the first `units` code units are; half a character counts as none."""
    if encoding == "utf-32" or line.isascii():
        return min(units, len(line))
    for index, character in enumerate(line):
        width = (
            len(character.encode("utf-8", "surrogatepass")) if encoding == "utf-8" else 1 + (ord(character) > 0xFFFF)
        )
        units -= width
        if units < 0:
            return index
    return len(line)
