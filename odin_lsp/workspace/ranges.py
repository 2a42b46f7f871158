"""Ranges, as LSP has them, in texts."""

from odin_lsp.ports import Range
from odin_lsp.workspace.text import Lines, Position


def span(lines: Lines, place: Range) -> tuple[int, int]:
    """The characters of the text that the range is, in the encoding of LSP."""
    start, end = (Position(it.line, it.character) for it in (place.start, place.end))
    return lines.offset(start, "utf-16"), lines.offset(end, "utf-16")
