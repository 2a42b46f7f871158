"""Patterns as in a `.gitignore`, matched in linear time: a repository's own patterns must not be able to stall Odin."""

import re
from collections.abc import Iterable
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


def as_text(name: str) -> str:
    """A file name as text, also where its bytes are none: patterns only know text."""
    return name if name.isascii() else name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _is_pattern(line: str) -> bool:
    try:
        return len(compiled([line])) > 0
    except ValueError:
        return False
