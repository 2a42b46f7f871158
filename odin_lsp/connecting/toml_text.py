"""TOML with a part of Odin's own at its beginning and one at its end, each between two comments; the rest stays."""

import re
from typing import Any

from odin_lsp.connecting.json_text import Unsuitable
from odin_lsp.foreign_data import ForeignDataError, parse_foreign_toml

BEGIN, END = "# from odin-lsp connect", "# end of odin-lsp connect"
_OWN = re.compile(rf"(?:(?<=\n)\n)?^{BEGIN}\n.*?^{END}\n", re.DOTALL | re.MULTILINE)
_TABLE = re.compile(r"^\s*\[+\s*([^\]]+?)\s*\]+", re.MULTILINE)


def parse(text: str) -> dict[str, Any]:
    try:
        return parse_foreign_toml(text)
    except ForeignDataError as error:
        raise Unsuitable(str(error)) from None


def put(text: str, keys: str, tables: str) -> str:
    """`keys` come before the first table, `tables` behind the last one."""
    above = f"{BEGIN}\n{keys}{END}\n" if keys else ""
    gap = "\n" if text or above else ""
    missing = "" if not text or text.endswith("\n") else "\n"
    changed = f"{above}{text}{missing}{gap}{BEGIN}\n{tables}{END}\n"
    try:
        parse_foreign_toml(changed)
    except ForeignDataError as error:
        raise Unsuitable(f"what Odin would add does not go with what is there ({error})") from None
    return changed


def drop(text: str, ours: tuple[str, ...]) -> str:
    """Without what `put` has put there. `ours`: what the names of its tables begin with."""
    for own in _OWN.findall(text):
        for name in _TABLE.findall(own):
            if not name.startswith(ours):
                raise Unsuitable(f"`[{name}]` stands in Odin's part; move it behind `{END}`")
    return _OWN.sub("", text)


def is_put(text: str) -> bool:
    return bool(_OWN.search(text))
