"""Change one setting in the text of `odinconfig.json`; all other bytes stay."""

import json
import re
from typing import Any

from odin_lsp.foreign_data import ForeignDataError, parse_foreign_json
from odin_lsp.values import is_object

BYTE_ORDER_MARK = "\ufeff"
_SPACE = re.compile(r"[ \t\r\n]*")


def with_setting(text: str, key: str, value: Any) -> str:
    """The text with the value under that key, at the top; a `ValueError` says why it is no settings file."""
    said = json.dumps(value, ensure_ascii=False)
    if text.startswith(BYTE_ORDER_MARK):
        return BYTE_ORDER_MARK + with_setting(text[1:], key, value)
    if not text.strip():
        return f'{{\n  "{key}": {said}\n}}\n'
    try:
        values = parse_foreign_json(text)
    except ForeignDataError as error:
        raise ValueError(f"line {error.line}: {error}" if error.line else str(error)) from None
    if not is_object(values):
        raise ValueError("it is not an object")
    start = text.index("{") + 1
    if key in values:
        first, last = _span(text, start, key)
        return text[:first] + said + text[last:]
    if not values:
        return f'{text[:start]}\n  "{key}": {said}\n{text[start:].lstrip()}'
    indent = text[start : _skip(text, start)]
    return f'{text[:start]}{indent}"{key}": {said},{text[start:]}'


def _span(text: str, at: int, key: str) -> tuple[int, int]:
    """Where the value of the last key of that name stands: it is the one that counts."""
    decoder, found = json.JSONDecoder(), (0, 0)
    at = _skip(text, at)
    while text[at] != "}":
        name, at = decoder.raw_decode(text, at)
        first = _skip(text, _skip(text, at) + 1)
        _, last = decoder.raw_decode(text, first)
        if name == key:
            found = first, last
        at = _skip(text, last)
        at = _skip(text, at + 1) if text[at] == "," else at
    return found


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
