"""A hunk as people read it: with whole lines, and some around them."""

from collections.abc import Iterator

from odin_lsp.ports import ReviewFile, ReviewHunk
from odin_lsp.workspace.text import Lines, Position, ends_in

CONTEXT = 3
"""Lines around a hunk."""


def sides(file: ReviewFile) -> Iterator[tuple[ReviewHunk, str, str]]:
    """Each hunk, and its lines without it and with it."""
    added, proposed = 0, Lines(file.proposed_text)
    for hunk in file.hunks:
        is_edit = file.operation == "edit"
        yield hunk, *(_sides(proposed, hunk, added) if is_edit else (hunk.old_text, hunk.new_text))
        added += ends_in(hunk.new_text) - ends_in(hunk.old_text)


def _sides(proposed: Lines, hunk: ReviewHunk, added: int) -> tuple[str, str]:
    """From the proposed text: the hunk is there as many lines further down as those before it add. The hunk alone if it
    is not there."""
    line, character = hunk.range.start.line + added, hunk.range.start.character
    start = proposed.offset(Position(line, character), "utf-16")
    end = start + len(hunk.new_text)
    if proposed.text[start:end] != hunk.new_text:
        return hunk.old_text, hunk.new_text
    last, column = proposed.position(end, "utf-16")
    first = proposed.offset(Position(max(0, line - CONTEXT), 0), "utf-16")
    stop = proposed.offset(Position(last + CONTEXT + bool(column), 0), "utf-16")
    head, tail = proposed.text[first:start], proposed.text[end:stop]
    return f"{head}{hunk.old_text}{tail}", f"{head}{hunk.new_text}{tail}"
