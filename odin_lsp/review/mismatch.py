"""Why an `old_string` does not occur in a text, and how to quote it: what models most often get wrong, else the lines
that are most like it."""

import html
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from heapq import nlargest
from itertools import accumulate, islice, product

from odin_lsp.workspace.text import occurrences, split_lines, whole_lines

MAX_LISTED = 10
"""Lines that are quoted."""
MAX_LOOKED_FOR = 50
"""Lines that are looked for one by one, each in all of the text."""
MAX_QUOTED_CHARS = 200
MAX_CANDIDATES = 20
MAX_WORDS = 50
MAX_VOTES = 200
"""Occurrences of a word that are looked at."""
LIKE = 0.6
"""How much two lines have in common that are worth showing for each other."""
VISIBLE = {"\t": "→", " ": "·"}
ESCAPES = {"\\n": "\n", "\\t": "\t", '\\"': '"', "\\'": "'", "\\\\": "\\"}
_NUMBER = re.compile(r"\s*\d+(?:\t|[:-] ?)|[^\s:]+:\d+:")
_ESCAPE = re.compile(r"\\[nt\"'\\]")
_ELISION = re.compile(r"(?:#|//|/\*|--|<!--|;)?\s*(?:\.\.\.|…)(?![\w.(\[]).*")
_WORD = re.compile(r"[^\W_]+")


def mismatch(text: str, old: str) -> str:
    """What follows on the words that `old_string` does not occur in the text."""
    return next(filter(None, (look(text, old) for look in _LOOKS)), "") or _closest(text, old)


def _numbered(text: str, old: str) -> str:
    lines = [line for line in split_lines(old) if line.strip()]
    bare = [_NUMBER.sub("", line, count=1) for line in lines[:MAX_LOOKED_FOR]]
    if not all(map(_NUMBER.match, lines)) or not all(line in text for line in bare):
        return ""
    return " with the line numbers in front; leave them out and quote only what stands behind them"


def _escaped(text: str, old: str) -> str:
    unescaped = _ESCAPE.sub(lambda found: ESCAPES[found[0]], old)
    if found := _ESCAPE.search(old):
        return f" with `{found[0]}` in it; write the character itself, not its escape" if unescaped in text else ""
    is_html = html.unescape(old) != old and html.unescape(old) in text
    return " with HTML entities in it; write the characters themselves, such as `<` and `&`" if is_html else ""


def _diffed(text: str, old: str) -> str:
    lines = [line for line in split_lines(old) if line.strip()]
    removed = [line[1:] for line in lines if not line.startswith(("+", "@@"))]
    is_diff = len({line[0] for line in lines} - set("+- @")) == 0 and any(line.startswith("-") for line in lines)
    if not is_diff or "\n".join(removed) not in "\n".join(split_lines(text)):
        return ""
    return "; it is a diff. Quote the lines as they are now in old_string, and as they should be in new_string"


def _elided(text: str, old: str) -> str:
    elision = next((line.strip() for line in split_lines(old) if _ELISION.fullmatch(line.strip())), "")
    if not elision or elision in text:
        return ""
    return f" with `{elision}` in place of lines; quote every line, or make an edit of each part"


def _blank(text: str, old: str) -> str:
    """Differences that nobody sees are shown."""
    lines, wanted = split_lines(text), list(map(_without_blanks, split_lines(old.strip("\r\n"))))
    bare = list(map(_without_blanks, lines))
    if not any(wanted):
        return ""
    fenced = _fenced(bare)
    if (at := fenced.find(_fenced(wanted))) < 0:
        return ""
    first = fenced.count("\n", 0, at)
    head = "; these lines differ from it only in blanks (→ is a tab, · a space)"
    quoted = _listed(lines[first : first + len(wanted)], first, _visible)
    return "\n".join([head, *quoted, "quote them with the blanks that they have"])


_LOOKS = (_numbered, _escaped, _diffed, _elided, _blank)


def _closest(text: str, old: str) -> str:
    """The lines that are most like `old`. Words that they share vote for a few candidates, rare ones for more."""
    lines, wanted = whole_lines(text), [line[:MAX_QUOTED_CHARS] for line in split_lines(old)[:MAX_LISTED]]
    starts = list(accumulate(map(len, lines), initial=0))
    size = min(len(wanted), len(lines))
    votes: defaultdict[int, float] = defaultdict(float)
    for word in nlargest(MAX_WORDS, set(_WORD.findall("\n".join(wanted))), key=len):
        found = list(islice(occurrences(text, word), MAX_VOTES))
        indexes = [index for index, line in enumerate(wanted) if word in line]
        for at, index in product(found, indexes):
            first = bisect_right(starts, at) - 1 - index
            votes[max(0, min(first, len(lines) - size))] += 1 / len(found)
    candidates = nlargest(MAX_CANDIDATES, votes, key=lambda at: votes[at])
    likeness = {at: _likeness(lines[at : at + size], wanted) for at in candidates}
    first = max(candidates, key=likeness.__getitem__, default=0)
    if not candidates or likeness[first] < LIKE * size:
        return ", nor anything like it; find the passage with Grep or Read, and quote it exactly"
    listed = _listed(lines[first : first + size], first, str)
    return "\n".join(["; the closest lines are", *listed, "quote the text exactly as it is there"])


def _likeness(lines: Iterable[str], wanted: Iterable[str]) -> float:
    return sum(_alike(_short(line), it) for line, it in zip(lines, wanted, strict=False))


def _alike(line: str, wanted: str) -> float:
    """How much they have in common, or how much of what is wanted stands in the line in one piece."""
    if line == wanted:
        return 1.0
    matcher = SequenceMatcher(None, line, wanted)
    return max(matcher.ratio(), matcher.find_longest_match().size / max(1, len(wanted)))


def _listed(lines: Sequence[str], first: int, as_shown: Callable[[str], str]) -> list[str]:
    return [f"{number:6}\t{as_shown(_short(line))}" for number, line in enumerate(lines[:MAX_LISTED], first + 1)]


def _short(line: str) -> str:
    line = line.rstrip("\r\n")
    return line if len(line) <= MAX_QUOTED_CHARS else f"{line[:MAX_QUOTED_CHARS]}…"


def _fenced(lines: Iterable[str]) -> str:
    """Lines as a text in which a row of them is found at whole lines only, in one pass."""
    return "".join(["\n", *(f"{line}\n" for line in lines)])


def _without_blanks(line: str) -> str:
    return "".join(line.split())


def _visible(line: str) -> str:
    return "".join(VISIBLE.get(it, it) for it in line)
