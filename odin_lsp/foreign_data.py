"""JSON and TOML that somebody else has written, read within bounds.

Whatever is in such a text, a reader of this module returns in time that grows with its length, or raises a
`ForeignDataError`. What it returns can be used without care: it is nested a few levels deep, its numbers are finite,
and each of its texts can be encoded and used in a path."""

import json
import math
import re
import tomllib
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from odin_lsp.errors import OdinError
from odin_lsp.values import is_list, is_object

MAX_DEPTH = 64
"""Levels of lists and objects: others that walk through the values do so by recursion."""
MAX_DIGITS = 20
"""Of a whole number: enough for 64 bits."""
MAX_KEY_PARTS = 12
"""Of a dotted key in TOML: the time for one grows with their square."""
_NO_STRUCTURE = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[^"\[\]{},]+', re.DOTALL)
"""Each alternative matches wherever it begins, so nothing is looked at twice."""
_STEPS: Mapping[str, int] = {"[": 1, "{": 1, "]": -1, "}": -1, ",": 0}
_UNFIT = re.compile("[\ud800-\udfff\0]")
"""Halves of characters, which cannot be encoded, and what no path may have."""
_MAY_BE_UNFIT = re.compile(r"[\ud800-\udfff]|\\u(?:0000|[dD][89a-fA-F])")
_KEY_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-])(?:{_KEY_PART}[ \t]*+\.[ \t]*+){{{MAX_KEY_PARTS}}}")


class ForeignDataError(OdinError):
    """A text of somebody else that is not what it should be, or more than is read; the message says why."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        """From 1 on, where it is known."""


def parse_foreign_json(text: str, *, max_values: int | None = None) -> Any:
    """Return the value that a JSON text stands for, with U+FFFD in place of characters that no text may have.

    Raises `ForeignDataError`, also for more than `max_values` members and items."""
    structure = _NO_STRUCTURE.sub("", text)
    if max(accumulate(map(_STEPS.__getitem__, structure)), default=0) > MAX_DEPTH:
        raise ForeignDataError(f"it is nested too deeply: at most {MAX_DEPTH} levels are read")
    if max_values is not None and len(structure) - structure.count("]") - structure.count("}") > max_values:
        raise ForeignDataError(f"it has too many entries: at most {max_values:,} are read")
    try:
        value = json.loads(text, parse_int=_whole_number, parse_float=_finite_number, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise ForeignDataError(f"not valid JSON: {error.msg}", error.lineno) from None
    except RecursionError:  # hardly anything was left of the stack
        raise ForeignDataError("it is nested too deeply") from None
    return _fit(value) if _MAY_BE_UNFIT.search(text) else value


def parse_foreign_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text. Raises `ForeignDataError`."""
    if _LONG_KEY.search(text):
        raise ForeignDataError(f"it has a key with more than {MAX_KEY_PARTS} parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ForeignDataError("it is nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError is one, and so is what `int` says of too many digits
        raise ForeignDataError(f"not valid TOML: {error}") from None


def fit_text(text: str) -> str:
    """Return the text with U+FFFD in place of what cannot be encoded or used in a path."""
    return _UNFIT.sub("\ufffd", text)


def _fit(value: Any) -> Any:
    if isinstance(value, str):
        return fit_text(value)
    if is_object(value):
        return {fit_text(key): _fit(it) for key, it in value.items()}
    return [_fit(it) for it in value] if is_list(value) else value


def _whole_number(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ForeignDataError(f"a number in it has more than {MAX_DIGITS} digits")
    return int(digits)


def _finite_number(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ForeignDataError("a number in it is too large")
    return number


def _refuse_constant(name: str) -> float:
    raise ForeignDataError(f"{name} is no number in JSON")
