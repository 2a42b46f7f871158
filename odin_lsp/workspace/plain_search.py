"""Search in a text that is at hand, for patterns that every dialect understands alike and that take no longer than the
text is long. ripgrep is for all others.
"""

import re
from collections.abc import Sequence

_LITERAL = re.compile(r"(?:[^\x00-\x1f\\.+*?()|\[\]{}^$]|\\[\\.+*?()|\[\]{}^$])+")
"""Characters that stand for themselves; others with a backslash."""
_ESCAPED = re.compile(r"\\(.)")


def plain_pattern(pattern: str, lines: Sequence[str], *, ignore_case: bool) -> re.Pattern[str] | None:
    """The words that a pattern is made of, `one|other`; `None` if it is more than that. Which letters are alike beyond
    ASCII is not said alike everywhere."""
    words = re.split(r"(?<!\\)\|", pattern)
    if not all(_LITERAL.fullmatch(word) for word in words):
        return None
    if ignore_case and not (pattern.isascii() and all(map(str.isascii, lines))):
        return None
    literals = (re.escape(_ESCAPED.sub(r"\1", word)) for word in words)
    return re.compile("|".join(literals), re.IGNORECASE if ignore_case else re.NOFLAG)


def matching_lines(pattern: re.Pattern[str], lines: Sequence[str], before: int, after: int) -> dict[int, bool]:
    """The numbers of the lines to show, from 0, in order, and whether they match."""
    text, matching, number, end = "\n".join(lines), set[int](), 0, 0
    for match in pattern.finditer(text):
        number, end = number + text.count("\n", end, match.start()), match.start()
        matching.add(number)
    shown = {number for hit in matching for number in range(max(0, hit - before), min(len(lines), hit + after + 1))}
    return {number: number in matching for number in sorted(shown)}
