"""Options of programs: only what is listed here is understood, everything else is not.

`tests/adversarial/test_options.py` asks the programs themselves whether an option takes the next word."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Operands = Literal["none", "text", "paths", "path", "pattern"]
"""What stands besides options: nothing, texts, files, one file at most and behind them, or a pattern and then files."""
ATTACHED = "="
"""The kind of an option whose value never is the next word."""
_NUMBER = re.compile(r"-\d+")
_OPENED = ("paths", "path", "pattern")


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


class NotUnderstood(Exception):
    """Says what it is that may be more than reading."""


@dataclass(slots=True)
class Reading:
    options: list[str] = field(default_factory=list[str])
    """Their names, in order: `-n`, `--all`."""
    operands: list[str] = field(default_factory=list[str])
    paths: list[str] = field(default_factory=list[str])
    """All that the program would open."""
    values: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    end: int = 0
    """Where more options could be put: the place of `--`, or the end."""

    def has(self, *names: str) -> bool:
        return any(name in self.options for name in names)


class Grammar:
    """`options` in one text: `-l` `--all` take nothing; `-n=` takes a text, `-f=path` a file, be it the next word;
    `--color=?` may have a text, and `--since==` has one, but never the next word."""

    def __init__(
        self, options: str = "", operands: Operands = "paths", *, digits: bool = False, clusters: bool = True
    ) -> None:
        self.options: Mapping[str, str | None] = dict(_option(item) for item in options.split())
        self._operands = operands
        self._digits = digits
        """`-5` is an option."""
        self._clusters = clusters
        """In `-ab5` letters end where one takes a value; otherwise such an option stands alone, its value behind it."""

    def read(self, words: Sequence[str]) -> Reading:
        """The words behind the program's name, or `NotUnderstood`."""
        reading = Reading(end=len(words))
        rest = iter(enumerate(words))
        for place, word in rest:
            if word == "--":
                reading.end = place
                reading.operands += [word for _, word in rest]
            elif self._operands == "path" and reading.operands and word.startswith("-"):
                raise NotUnderstood(f"`{word}` behind a file")
            elif word.startswith("--"):
                self._long(word, rest, reading)
            elif word.startswith("-") and word != "-":
                self._short(word, rest, reading)
            else:
                reading.operands.append(word)
        self._sort_operands(reading)
        return reading

    def _long(self, word: str, rest: Iterator[tuple[int, str]], reading: Reading) -> None:
        name, equals, value = word.partition("=")
        kind = self._kind(name)
        if (equals and kind is None) or (name not in self.options):
            raise NotUnderstood(f"the option `{word}`")
        if not equals and kind == ATTACHED:
            raise NotUnderstood(f"`{name}` without its value")
        if not equals and kind not in (None, "?"):
            value = self._next(rest, name, reading)
            equals = "="
        self._note(name, value if equals else None, kind, reading)

    def _short(self, word: str, rest: Iterator[tuple[int, str]], reading: Reading) -> None:
        if self._digits and word[1:].isdecimal():
            reading.options.append("-0")
            return
        for place, letter in enumerate(word[1:], 1):
            name = f"-{letter}"
            kind = self._kind(name)
            if kind is None:
                reading.options.append(name)
                continue
            value = word[place + 1 :]
            if not self._clusters and len(word) > 2:
                raise NotUnderstood(f"the options `{word}`")
            if not value and kind == ATTACHED:
                raise NotUnderstood(f"`{name}` without its value")
            if not value and kind != "?":
                value = self._next(rest, name, reading)
            self._note(name, value, kind, reading)
            return

    def _next(self, rest: Iterator[tuple[int, str]], name: str, reading: Reading) -> str:
        """The next word as a value. One that looks like an option is none, whatever the program makes of it; and
        behind an operand some systems take it for another operand."""
        for _, word in rest:
            if word.startswith("-") and not _NUMBER.fullmatch(word):
                raise NotUnderstood(f"`{word}` behind `{name}`")
            if reading.operands and self._operands in _OPENED:
                reading.paths.append(word)
            return word
        raise NotUnderstood(f"`{name}` without its value")

    def _kind(self, name: str) -> str | None:
        if name not in self.options:
            raise NotUnderstood(f"the option `{name}`")
        return self.options[name]

    def _note(self, name: str, value: str | None, kind: str | None, reading: Reading) -> None:
        reading.options.append(name)
        if value is not None:
            reading.values.append((name, value))
            if kind == "path":
                reading.paths.append(value)

    def _sort_operands(self, reading: Reading) -> None:
        operands = reading.operands
        if self._operands == "none" and operands:
            raise NotUnderstood(f"the word `{operands[0]}`")
        if self._operands == "path" and len(operands) > 1:
            raise NotUnderstood(f"the second file `{operands[1]}`")
        if self._operands in ("paths", "path"):
            reading.paths += [it for it in operands if it != "-"]
        if self._operands == "pattern":
            given = reading.has("-e", "-f", "--regexp", "--file", "--files")
            reading.paths += [it for it in operands[0 if given else 1 :] if it != "-"]


def _option(item: str) -> tuple[str, str | None]:
    name, equals, kind = item.partition("=")
    return name, (kind or "text") if equals else None
