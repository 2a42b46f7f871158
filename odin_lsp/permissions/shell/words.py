"""One word of a command: what bash makes of its quotes, or that only bash can know."""

import glob
import re
from dataclasses import dataclass
from pathlib import Path

_EXPANDS = re.compile(r"\$[A-Za-z0-9_{(\[*@#?$!'\"-]")
_BRACES = re.compile(r",|\.\.")
_ENDS_A_WORD = frozenset(" \t\n;|&<>()`")
_HOME = re.compile(r"\$HOME\b|\$\{HOME[^}]*\}")


@dataclass(frozen=True, slots=True)
class Word:
    raw: str
    value: str | None
    """What the program gets; none if that depends on more than the text."""
    pattern: str | None = None
    """For `glob`, where the word stands for file names."""

    @property
    def plain(self) -> bool:
        """Written as it is, without a quote."""
        return self.value == self.raw and self.pattern is None

    @property
    def guess(self) -> str:
        """What it most likely means, for recognising the forbidden; never good enough to allow anything."""
        if self.value is not None:
            return self.value
        text = _HOME.sub(str(Path.home()), re.sub(r"[\"'\\]", "", self.raw))
        return str(Path.home()) + text[1:] if text == "~" or text.startswith("~/") else text


def read_word(raw: str) -> Word:
    """It reads the quotes once more itself: where it and the parser disagree there is no value."""
    value: list[str] = []
    pattern: list[str] = []
    at, is_glob = 0, False
    unknown = Word(raw, None)
    if not raw or raw[0] == "~":
        return unknown
    while at < len(raw):
        character = raw[at]
        if character == "'":
            end = raw.find("'", at + 1)
            if end < 0:
                return unknown
            text, at = raw[at + 1 : end], end + 1
        elif character == '"':
            inner = _double_quoted(raw, at)
            if inner is None:
                return unknown
            text, at = inner
        elif character == "\\":
            if at + 1 == len(raw) or raw[at + 1] == "\n":
                return unknown
            text, at = raw[at + 1], at + 2
        elif character in _ENDS_A_WORD or _EXPANDS.match(raw, at) or (character == "{" and _BRACES.search(raw)):
            return unknown
        elif character in "*?[":
            is_glob = True
            value.append(character)
            pattern.append(character)
            at += 1
            continue
        else:
            text, at = character, at + 1
        value.append(text)
        pattern.append(glob.escape(text))
    return Word(raw, "".join(value), "".join(pattern) if is_glob else None)


def _double_quoted(raw: str, start: int) -> tuple[str, int] | None:
    text: list[str] = []
    at = start + 1
    while at < len(raw):
        character = raw[at]
        if character == '"':
            return "".join(text), at + 1
        if character == "`" or (_EXPANDS.match(raw, at) and raw[at + 1] not in "\"'"):
            return None
        if character == "\\":
            if at + 1 == len(raw) or raw[at + 1] == "\n":
                return None
            text.append(raw[at + 1] if raw[at + 1] in '$`"\\' else raw[at : at + 2])
            at += 2
            continue
        text.append(character)
        at += 1
    return None
