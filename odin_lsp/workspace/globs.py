"""Patterns as in a `.gitignore`, matched in linear time: a repository's own patterns must not be able to stall Odin."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

MAX_PATTERN_CHARS = 2000
MAX_BRACES = 64


def compiled(patterns: Iterable[str]) -> "GitIgnoreSpec":
    """All of them, or a ValueError for the first that is none."""
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(patterns, backend="re2")
    except (ValueError, re.error, UnicodeError) as error:
        raise ValueError(str(error)) from None


def compiled_leniently(lines: Iterable[str]) -> "GitIgnoreSpec | None":
    """Those that are patterns; `None` if none is. A line that is no pattern does not take the others with it."""
    good = [line for line in lines if len(line) <= MAX_PATTERN_CHARS and _is_pattern(line)]
    return compiled(good) if good else None


def braces(pattern: str) -> list[str]:
    """`a.{b,c}` as `a.b` and `a.c`."""
    done, todo = list[str](), [pattern]
    while todo and len(done) + len(todo) <= MAX_BRACES:
        head = todo.pop(0)
        start, end = head.find("{"), head.find("}")
        if 0 <= start < end:
            todo += [head[:start] + choice + head[end + 1 :] for choice in head[start + 1 : end].split(",")]
        else:
            done.append(head)
    return done + todo


class NamePattern:
    """A pattern for the names of many files, relative to a folder; a ValueError if it is none. Most names are turned
    down for want of a text that it has: to match one takes a hundred times as long."""

    def __init__(self, pattern: str) -> None:
        choices = [f"/{it.lstrip('/')}" for it in braces(pattern)]
        self._spec = compiled(choices)
        self._is_all = not {"/**", "/**/*"}.isdisjoint(choices)
        self._texts = {_plain_text(it) for it in choices}

    def among(self, names: Sequence[str]) -> Sequence[str]:
        """Those of the names that match."""
        if self._is_all:
            return names
        likely = dict.fromkeys(name for name in names if not name.isascii())
        for text in self._texts:
            likely |= dict.fromkeys([name for name in names if text in name])
        return [name for name in likely if self._spec.match_file(as_text(name))]


def _plain_text(choice: str) -> str:
    """The longest text that is in each name which matches, if one is sure to be."""
    plain = "" if "\\" in choice else choice.partition("[")[0]
    return max((it.strip("/").strip() for it in re.split(r"[*?]+", plain)), key=len)


def as_text(name: str) -> str:
    """A file name as text, also where its bytes are none: patterns only know text."""
    return name if name.isascii() else name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _is_pattern(line: str) -> bool:
    try:
        return len(compiled([line])) > 0
    except ValueError:
        return False
