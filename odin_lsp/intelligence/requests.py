"""Comments that ask Odin for something: they end in `odin!` or `AI!` (do it), or in `odin?` or `AI?` (answer)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Literal

from odin_lsp.intelligence.code import Code, Comment, code_of
from odin_lsp.workspace.text import split_lines, whole_lines

RequestKind = Literal["edit", "ask"]
MARK = r"\b(odin|ai)[!?]"
MAX_TEXT = 4000
"""Characters of a request."""
MAX_TEXTS = 128
"""Of which it is known what they ask for."""
_KINDS: dict[str, RequestKind] = {"!": "edit", "?": "ask"}
_MARK = re.compile(MARK, re.IGNORECASE)
_LEADER = re.compile(r"\s*(?:/{2,}!?|/\*+!?|\*+(?!/)|#+|--+(?:\[=*\[)?|=begin|<!--)?\s*")
_CLOSER = re.compile(r"\s*(?:\*+/|\]=*\]|\n=end|-->)?\s*\Z")
_ENDING = re.compile(rf"(?:{MARK})\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CommentRequest:
    """Lines are counted from 1, the last one included."""

    kind: RequestKind
    first: int
    last: int
    text: str
    """What the comment says, without its marks."""


@lru_cache(MAX_TEXTS)
def requests_in(path: Path, text: str) -> tuple[CommentRequest, ...]:
    """In the order of the text. None if Odin has no grammar for such files."""
    if not _MARK.search(text) or (code := code_of(path, text)) is None:
        return ()
    return tuple(_Commented(code, text).requests())


class _Commented:
    def __init__(self, code: Code, text: str) -> None:
        self._code = code
        self._text = text
        self._lines = split_lines(text)
        self._starts = [0, *accumulate(map(len, whole_lines(text)))]

    def requests(self) -> Iterator[CommentRequest]:
        done = 0
        for found in _MARK.finditer(self._text):
            comment = self._code.comment_at(self._text, found.start())
            if comment is None or comment.last <= done or (kind := _kind(comment)) is None:
                continue
            done = comment.last
            comments = [*self._above(comment), comment]
            said = "\n".join(filter(None, map(_said, comments))).strip()
            if said:
                yield CommentRequest(kind, comments[0].first, comment.last, said[:MAX_TEXT])

    def _above(self, comment: Comment) -> list[Comment]:
        """Comments of one line each, right above one another, are one; what asks for something itself ends it."""
        above: list[Comment] = []
        while comment.is_alone and comment.first == comment.last and comment.first > 1:
            line = self._lines[comment.first - 2]
            indentation = len(line) - len(line.lstrip())
            is_below = self._lines[comment.first - 1][:indentation] == line[:indentation]
            at = self._starts[comment.first - 2] + indentation
            next_one = self._code.comment_at(self._text, at) if is_below and line.strip() else None
            if next_one is None or not next_one.is_alone or next_one.first != next_one.last or _kind(next_one):
                break
            comment = next_one
            above.insert(0, comment)
        return above


def _kind(comment: Comment) -> RequestKind | None:
    """`None` if it does not ask for anything."""
    found = _ENDING.search(_CLOSER.sub("", comment.text))
    return _KINDS[found[0][-1]] if found else None


def _said(comment: Comment) -> str:
    bare = _ENDING.sub("", _CLOSER.sub("", comment.text))
    return "\n".join(_LEADER.sub("", line, count=1).rstrip() for line in split_lines(bare)).strip()
