"""JSON as people write it: with comments and commas too many, and mistakes that are told with their line."""

import json
import re
from typing import Any

from odin_lsp.extensions.front_matter import Misunderstood
from odin_lsp.extensions.places import Brought
from odin_lsp.values import is_object

_ASIDE = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/|,(?=\s*(?:(?://[^\n]*|/\*.*?\*/)\s*)*[}\]])', re.DOTALL)


def object_of(file: Brought) -> dict[str, Any]:
    """Raises `Misunderstood`."""
    if file.is_cut:
        raise Misunderstood("it is too long to be read")
    text = _ASIDE.sub(_kept, file.content.decode("utf-8-sig", "replace"))
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise Misunderstood(f"line {error.lineno}: it is no JSON: {error.msg}") from None
    except RecursionError:
        raise Misunderstood("it is nested too deep") from None
    if not is_object(value):
        raise Misunderstood("it must be a JSON object")
    return value


def _kept(found: re.Match[str]) -> str:
    """Strings stay; of the rest, the ends of lines, so that lines are counted as they are."""
    return found[0] if found[0].startswith('"') else re.sub(r"[^\n]", " ", found[0])
