"""Some lines of a file that is too large to be held: no more is read than it takes to get to them."""

import codecs
import re
from pathlib import Path
from typing import BinaryIO

from odin_lsp.errors import ToolError
from odin_lsp.workspace.uris import printable

MAX_SCAN_BYTES = 512 * 1024 * 1024
CHUNK = 1 << 20
LONGEST_LINE = 64 * 1024
_LINE = re.compile(rb"[^\r\n]*+(?:\r\n|\n|\r|\Z)")
"""Always matches: a line that has no end yet must not make it look again from every byte."""


def scan(path: Path, file: BinaryIO, start: int, count: int) -> tuple[list[str], int | None, dict[int, int]]:
    """The lines, how many the file has if its end was reached, and how long those are that were cut."""
    lines: list[str] = []
    cut: dict[int, int] = {}
    number, scanned, rest, dropped = 0, 0, b"", 0
    while scanned < MAX_SCAN_BYTES and len(lines) < count:
        chunk = read_bytes(path, file, CHUNK)
        if b"\0" in chunk:
            raise ToolError(f"{printable(str(path))} is not text")
        scanned += len(chunk)
        pieces = _pieces(rest + chunk, final=not chunk)
        rest = b"" if not chunk else pieces.pop()
        for piece in pieces:
            number += 1
            piece = piece.removeprefix(codecs.BOM_UTF8) if number == 1 else piece
            if start <= number < start + count:
                line = piece.rstrip(b"\r\n")
                if len(line) > LONGEST_LINE:
                    cut[len(lines)] = len(line) + dropped
                lines.append(_line(path, line))
            dropped = 0
        if len(rest) > 2 * LONGEST_LINE:
            dropped += len(rest) - 2 * LONGEST_LINE
            rest = rest[: 2 * LONGEST_LINE - 1] + rest[-1:]
        if not chunk:
            return lines, number, cut
    if len(lines) < count and scanned >= MAX_SCAN_BYTES:
        raise ToolError(
            f"line {start} of {printable(str(path))} is more than {MAX_SCAN_BYTES >> 20} MiB away; use Grep"
        )
    return lines, None, cut


def _pieces(data: bytes, *, final: bool) -> list[bytes]:
    """The lines with their ends; unless it is the end of the file the last piece is what may still go on."""
    if not final and b"\n" not in data and b"\r" not in data:
        return [data]
    pieces = [match[0] for match in _LINE.finditer(data)]
    if final:
        return [piece for piece in pieces if piece]
    if len(pieces) > 1 and not pieces[-2].endswith(b"\n"):
        pieces.pop()  # nothing; the piece before it has no end yet, or one that a line feed may follow
    return pieces


def read_bytes(path: Path, file: BinaryIO, size: int) -> bytes:
    try:
        return file.read(size)
    except OSError as error:
        raise ToolError(f"{printable(str(path))} cannot be read: {error.strerror}") from None


def _line(path: Path, data: bytes) -> str:
    """A line of a file that is not decoded as a whole; a very long one is cut, at a character."""
    try:
        return codecs.utf_8_decode(data[:LONGEST_LINE], "strict", len(data) <= LONGEST_LINE)[0]
    except UnicodeDecodeError:
        raise ToolError(f"{printable(str(path))} is not text") from None
