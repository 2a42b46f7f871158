"""What strangers may write into any field of anything, and what no device may ever get of it."""

import dataclasses
import re
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

CLIPBOARD = "\x1b]52;c;b3du\x07"
ERASED = "\x1b[7A\x1b[7K"
"""Odin never moves by seven lines."""
TEXTS = (
    f"one{CLIPBOARD}two{ERASED}\x9d52;c;b3du\x9c\x9b7A\r\x08\x07\x00\x7f\x85end",
    "\u202etxt.exe\u2066a\u2069\u200b\u200f\u061c\u2028\u2029\ufeff\U000e0041 %s %d %n # [red]markup[/red] {0} \ud800",
    f"first\nsecond{ERASED}\n\tthird\r\nfourth [link](command:x) `code` &#x202e;&#27; <https://x.test/%1b%5d52;c;b3du%07>",
    "x" * 2000 + CLIPBOARD,
    "file:///ws/%1B%5D52%3Bc%3Bb3du%07%E2%80%AE.py",
    "",
)
"""Each has something of the kind; the last is nothing at all."""
FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
    r"|\x1b[^\[]|\x1b\Z|\x1b\[7|\x1b\[[0-9;]*[^0-9;?mAKlh]"
)
"""Controls but for line ends and tabs, whatever reorders, and sequences that Odin does not make."""


def assert_harmless(text: str, *, drawn: bool = False) -> None:
    """`drawn`: there may be sequences that Odin has made: colors, and those of lines that are drawn over."""
    text = text.replace("\r", "") if drawn else text
    found = FORBIDDEN.search(text) or (None if drawn else re.search("\x1b", text))
    assert found is None, ascii(text[max(0, found.start() - 30) : found.end() + 30])


def made(of: Any, choice: int) -> Any:
    """A value of a type: each string in it is hostile, and of what can be one of several, `choice` says which."""
    if of is str or of is Any or of is object:
        return TEXTS[choice % len(TEXTS)]
    if of in (int, float, bool, type(None), Path):
        return {int: 3, float: 1.5, bool: choice % 2 == 0, type(None): None, Path: Path("/ws", made(str, 0)[:99])}[of]
    origin, parts = get_origin(of), get_args(of)
    if origin is Literal:
        return parts[choice % len(parts)]
    if origin in (Union, types.UnionType):
        return made([*(it for it in parts if it is not type(None)), *parts][choice % len(parts)], choice)
    if origin is tuple:
        return (made(parts[0], choice), made(parts[0], choice + 1))
    if origin is list:
        return [made(parts[0], choice)]
    if origin in (dict, Mapping):
        keys = (made(str, choice), "file_path", "offset", "command")
        return {key: made(parts[1], choice) for key in keys}
    return made_object(of, choice)


def made_object(of: Any, choice: int, **fixed: Any) -> Any:
    hints = get_type_hints(of)
    given = {it.name: made(hints[it.name], choice + at) for at, it in enumerate(dataclasses.fields(of)) if it.init}
    return of(**{**given, **fixed})


def all_made(of: Any, choices: int = 6, **fixed: Any) -> Iterator[Any]:
    return (made_object(of, choice, **fixed) for choice in range(choices))


def members(union: Any) -> tuple[Any, ...]:
    return typing.get_args(union)
