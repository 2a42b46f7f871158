"""JSON as people write it: with comments and commas too many, and mistakes that are told with their line."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from odin_lsp.extensions.front_matter import Misunderstood
from odin_lsp.extensions.places import Brought
from odin_lsp.foreign_data import ForeignDataError, parse_foreign_json
from odin_lsp.values import is_object

_ASIDE = re.compile(r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"?|//[^\n]*+|/\*(?:.*?\*/|.*)', re.DOTALL)
"""Each alternative matches wherever it begins: what is not closed ends at the end of its line, or of the text."""
_TOO_MANY = re.compile(r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"?|,(?=\s*+[}\]])', re.DOTALL)
KEPT_FILES = 16
"""That are understood once, however often they are read."""


def object_of(file: Brought) -> Mapping[str, Any]:
    """Raises `Misunderstood`."""
    if file.is_cut:
        raise Misunderstood("it is too long to be read")
    understood = _understood(file.content)
    if isinstance(understood, str):
        raise Misunderstood(understood)
    return understood


@lru_cache(maxsize=KEPT_FILES)
def _understood(content: bytes) -> Mapping[str, Any] | str:
    """What it says, or why it says nothing."""
    text = _TOO_MANY.sub(_kept, _ASIDE.sub(_kept, content.decode("utf-8-sig", "replace")))
    try:
        value = parse_foreign_json(text)
    except ForeignDataError as error:
        return f"line {error.line}: {error}" if error.line else str(error)
    return value if is_object(value) else "it must be a JSON object"


def _kept(found: re.Match[str]) -> str:
    """Strings stay; of the rest, the ends of lines, so that lines are counted as they are."""
    return found[0] if found[0].startswith('"') else re.sub(r"[^\n]", " ", found[0])
