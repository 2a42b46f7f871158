"""From a literal edit and the lines of a file to the one call that makes it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from odin_lsp.models.offline.answers import code
from odin_lsp.models.offline.terms import whole


@dataclass(frozen=True, slots=True)
class Replace:
    old: str
    new: str
    file: str | None
    """None: every file in which `old` occurs."""
    words: bool
    """Only where `old` is no part of a longer word."""

    def __str__(self) -> str:
        return f"replace {code(self.old)} with {code(self.new)}"


@dataclass(frozen=True, slots=True)
class Insert:
    text: str
    before: bool
    anchor: str | int
    """A text that stands on one line only, or the line's number."""
    file: str

    def __str__(self) -> str:
        anchor = f"line {self.anchor}" if isinstance(self.anchor, int) else code(self.anchor)
        return f"insert {code(self.text)} {'before' if self.before else 'after'} {anchor}"


Edit = Replace | Insert


@dataclass(frozen=True, slots=True)
class Hunk:
    line: int
    removed: tuple[str, ...]
    added: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    path: str
    old: str
    new: str
    everywhere: bool
    """Every occurrence of `old` becomes `new`; otherwise `old` occurs once."""
    hunks: tuple[Hunk, ...]


def draft(edit: Edit, path: str, lines: Sequence[str]) -> Change | str:
    """The change to the file, or why there is none."""
    match edit:
        case Replace():
            return _replaced(edit, path, lines)
        case Insert():
            return _inserted(edit, path, lines)


def _replaced(edit: Replace, path: str, lines: Sequence[str]) -> Change | str:
    pattern = whole(edit.old) if edit.words else re.compile(re.escape(edit.old))
    text = "\n".join(lines)
    starts = [match.start() for match in pattern.finditer(text)]
    if not starts:
        return f"{code(edit.old)} does not occur in it{' as a whole word' if edit.words else ''}."

    def put(where: str) -> str:
        return pattern.sub(lambda _: edit.new, where)

    hunks = tuple(
        Hunk(first + 1, removed, tuple(put("\n".join(removed)).split("\n")))
        for first, last in _rows(text, starts, edit.old.count("\n"))
        if (removed := tuple(lines[first : last + 1]))
    )
    if len(starts) == text.count(edit.old):
        return Change(path, edit.old, edit.new, len(starts) > 1, hunks)
    span = _joined(lines, *_unique_rows(lines, hunks[0].line - 1, hunks[-1].line - 1))
    return Change(path, span, put(span), False, hunks)


def _rows(text: str, starts: Sequence[int], height: int) -> Iterator[tuple[int, int]]:
    """First and last row of each stretch that holds matches; matches on a common row share one."""
    row, at = 0, 0
    pending: tuple[int, int] | None = None
    for start in starts:
        row += text.count("\n", at, start)
        at = start
        if pending and row <= pending[1]:
            pending = pending[0], row + height
        else:
            if pending:
                yield pending
            pending = row, row + height
    if pending:
        yield pending


def _inserted(edit: Insert, path: str, lines: Sequence[str]) -> Change | str:
    if isinstance(edit.anchor, int):
        rows = [edit.anchor - 1] if 0 < edit.anchor <= len(lines) else []
        missing = f"it has {len(lines)} lines."
    else:
        rows = [row for row, line in enumerate(lines) if edit.anchor in line]
        missing = f"{code(edit.anchor)} does not occur in it."
    match rows:
        case []:
            return missing
        case [row]:
            pass
        case _:
            numbers = ", ".join(str(row + 1) for row in rows[:10])
            return f"{code(str(edit.anchor))} stands on lines {numbers}. Name the line."
    at = row if edit.before else row + 1
    added = tuple(edit.text.split("\n"))
    first, last = _unique_rows(lines, row, row)
    new = (*lines[first:at], *added, *lines[at : last + 1])
    return Change(path, _joined(lines, first, last), "\n".join(new), False, (Hunk(at + 1, (), added),))


def _unique_rows(lines: Sequence[str], first: int, last: int) -> tuple[int, int]:
    """The rows, and as many around them as it takes to stand in the file only once."""
    text = "\n".join(lines)
    reach = 1
    while text.find(block := _joined(lines, first, last)) != text.rfind(block):
        first, last = max(0, first - reach), min(len(lines) - 1, last + reach)
        reach *= 2
    return first, last


def _joined(lines: Sequence[str], first: int, last: int) -> str:
    return "\n".join(lines[first : last + 1])
