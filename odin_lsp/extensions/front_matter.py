"""Markdown with a head: YAML between two lines of `---`, as agents, skills and commands have it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from odin_lsp.errors import OdinError
from odin_lsp.values import is_list, is_object
from odin_lsp.web.untrusted import visible

_FRONT = re.compile(r"\A---[ \t]*\n(?P<head>.*?)^---[ \t]*(?:\n(?P<body>.*))?\Z", re.DOTALL | re.MULTILINE)
_PAIR = re.compile(r"^(?P<key>[\w-]+):[ \t]+(?P<value>\[.*\]|[^\s\[{|>'\"&*!%@`].*?)[ \t]*$")
MAX_HEAD = 8_000


class Misunderstood(OdinError):
    """A file that makes no sense; the message says why, with the line where it is known."""


@dataclass(frozen=True, slots=True)
class Note:
    head: Mapping[str, Any]
    body: str

    def text(self, key: str) -> str:
        """One line; a number or a switch is what it looks like."""
        value = self.head.get(key)
        if value is None:
            return ""
        if isinstance(value, bool):
            return str(value).lower()
        if is_list(value) and all(isinstance(it, str) for it in value):
            return f"[{', '.join(value)}]"  # `argument-hint: [message]`
        if not isinstance(value, str | int | float):
            raise Misunderstood(f"`{key}` must be a text")
        return " ".join(str(value).split())

    def is_on(self, key: str) -> bool:
        return self.text(key) == "true"

    def words(self, key: str) -> tuple[str, ...]:
        """A list, or a text with commas or blanks between its parts; not within brackets: `Bash(git add:*)`."""
        value = self.head.get(key)
        if is_list(value):
            return tuple(it.strip() for it in value if isinstance(it, str) and it.strip())
        return tuple(re.findall(r"[^\s,(]+(?:\([^)]*\))?", self.text(key)))


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
    import yaml

    try:
        head: object = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        return _lenient(text, error)
    if head is None:
        return {}
    if not is_object(head):
        raise Misunderstood("its head is no list of `key: value`")
    return head


def _lenient(text: str, error: Exception) -> Mapping[str, Any]:
    """Others take `description: Use it: always` and `argument-hint: [one] [two]` as they are meant, so heads like
    these are around."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    pairs = [_PAIR.match(line) for line in lines]
    if not all(pairs):
        mark: Any = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 2}: " if mark is not None else ""
        raise Misunderstood(f"{where}its head is not YAML")
    return {pair["key"]: _value(pair["value"]) for pair in pairs if pair}


def _value(text: str) -> Any:
    """A list, if it is one; else the text."""
    import yaml

    if not text.startswith("["):
        return text
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError):
        return text
