"""What a client is sent, made fit to be shown: all that Odin tells or asks goes through here. Clients draw it in
windows and in terminals, as they like.

What a client does something with stays as it is: ids, paths, the two sides of a diff, what a tool was called with."""

from collections.abc import Mapping
from typing import Any

from odin_lsp.display import shown, shown_after, shown_line
from odin_lsp.values import is_list, is_object

LINES = frozenset({"title", "name", "hint"})
"""Members that are drawn in one line."""
TEXTS = frozenset({"text", "message", "description", "content"})
EXACT = frozenset({"rawInput"})


class Outgoing:
    def __init__(self) -> None:
        self._last: dict[str, str] = {}
        """The last character that was streamed, by kind of update."""

    def fit_update(self, update: Mapping[str, Any]) -> Mapping[str, Any]:
        """What streams may be cut anywhere, also inside of an emoji."""
        match update:
            case {"sessionUpdate": str(kind), "content": {"type": "text", "text": str(text)}}:
                fit = shown_after(self._last.get(kind, ""), text)
                self._last[kind] = text[-1:] or self._last.get(kind, "")
                return {**update, "content": {"type": "text", "text": fit}}
            case _:
                return fit_object(update)


def fit_object(value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: it if key in EXACT else _fit(key, it) for key, it in value.items()}


def _fit(key: str, value: object) -> object:
    if isinstance(value, str):
        return shown_line(value) if key in LINES else shown(value) if key in TEXTS else value
    if is_object(value):
        return fit_object(value)
    return [_fit(key, it) for it in value] if is_list(value) else value
