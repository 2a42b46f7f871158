"""Markdown with a head: YAML between two lines of `---`, as agents, skills and commands have it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from odin_lsp.errors import OdinError
from odin_lsp.extensions.head_values import MAX_VALUES, parse_head_values
from odin_lsp.foreign_data import ForeignDataError
from odin_lsp.values import is_list, is_object
from odin_lsp.web.untrusted import visible

_FRONT = re.compile(r"\A---[ \t]*\n(?P<head>.*?)^---[ \t]*(?:\n(?P<body>.*))?\Z", re.DOTALL | re.MULTILINE)
_PAIR = re.compile(r"(?P<key>[\w-]+):[ \t]+(?P<value>\[.*\]|[^\s\[{|>'\"&*!%@`].*)")
MAX_HEAD = 8_000
KEPT_HEADS = 512
"""Heads that are understood once, however often their files are read."""


class Misunderstood(OdinError):
    """A file that makes no sense; the message says why, with the line where it is known."""


@dataclass(frozen=True, slots=True)
class Note:
    head: Mapping[str, Any]
    body: str

    def text(self, key: str) -> str:
        """One line; a switch is what it looks like."""
        value = self.head.get(key)
        if value is None:
            return ""
        if isinstance(value, bool):
            return str(value).lower()
        if is_list(value) and all(isinstance(it, str) for it in value):
            return f"[{', '.join(value)}]"  # `argument-hint: [message]`
        if not isinstance(value, str):
            raise Misunderstood(f"`{key}` must be a text")
        return " ".join(value.split())

    def is_on(self, key: str) -> bool:
        return self.text(key) == "true"

    def words(self, key: str) -> tuple[str, ...]:
        """A list, or a text with commas or blanks between its parts; not within brackets: `Bash(git add:*)`."""
        value = self.head.get(key)
        if is_list(value):
            return tuple(it.strip() for it in value if isinstance(it, str) and it.strip())
        return tuple(re.findall(r"[^\s,(]+(?:\([^)]*+\))?", self.text(key)))


def parse(content: bytes) -> Note:
    """What people can see of it. Raises `Misunderstood`."""
    text = visible(content.decode("utf-8", "replace"))[0]
    found = _FRONT.match(text)
    if not found:
        return Note({}, text.strip())
    return Note(_head(found["head"]), (found["body"] or "").strip())


def _head(text: str) -> Mapping[str, Any]:
    if len(text) > MAX_HEAD:
        raise Misunderstood(f"its head has {len(text):,} characters; at most {MAX_HEAD:,} are read")
    understood = _understood(text)
    if isinstance(understood, str):
        raise Misunderstood(understood)
    return understood


@lru_cache(maxsize=KEPT_HEADS)
def _understood(text: str) -> Mapping[str, Any] | str:
    """What a head says, or why it says nothing."""
    try:
        head: object = parse_head_values(text)
    except ForeignDataError as error:
        where = f"line {error.line + 1}: " if error.line is not None else ""  # the first line is `---`
        return _lenient(text) or f"{where}{error}"
    if head is None:
        return {}
    return head if is_object(head) else "its head is no list of `key: value`"


def _lenient(text: str) -> Mapping[str, Any] | None:
    """Others take `description: Use it: always` and `argument-hint: [one] [two]` as they are meant, so heads like
    these are around."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    pairs = [found for line in lines if (found := _PAIR.fullmatch(line))]
    if len(pairs) < len(lines) or text.count(",") > MAX_VALUES:
        return None
    return {pair["key"]: _value(pair["value"]) for pair in pairs}


def _value(text: str) -> Any:
    """A list, if it is one; else the text."""
    if not text.startswith("["):
        return text
    try:
        return parse_head_values(text)
    except ForeignDataError:
        return text
