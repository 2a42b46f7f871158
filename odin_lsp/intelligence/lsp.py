"""Answers of language servers, read with care: they may be old, strange, or no answers at all."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard, cast

from odin_lsp.errors import OdinError
from odin_lsp.values import is_list, is_object
from odin_lsp.workspace.text import Position

VARIABLES = (13, 14)
"""Kinds of symbols that an outline has no room for within functions."""
FUNCTIONS = (6, 9, 12)


class Malformed(OdinError):
    """It is not what LSP says that it is."""


@dataclass(frozen=True, slots=True)
class Span:
    start: Position
    end: Position


@dataclass(frozen=True, slots=True)
class Location:
    uri: str
    span: Span


@dataclass(frozen=True, slots=True)
class Outlined:
    line: int
    """From 0, of its name."""
    depth: int


def each(value: object) -> Sequence[Any]:
    """A list, or a single one, or nothing."""
    if value is None:
        return ()
    return value if is_list(value) else tuple(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else (value,)


def position_of(value: object) -> Position:
    if is_object(value) and _is_count(line := value.get("line")) and _is_count(character := value.get("character")):
        return Position(line, character)
    raise Malformed("a position is none")


def span_of(value: object) -> Span:
    if not is_object(value):
        raise Malformed("a range is none")
    span = Span(position_of(value.get("start")), position_of(value.get("end")))
    if span.end < span.start:
        raise Malformed("a range ends before it begins")
    return span


def location_of(value: object) -> Location:
    """Of a `Location` or a `LocationLink`."""
    if is_object(value):
        uri = value.get("targetUri", value.get("uri"))
        if isinstance(uri, str):
            return Location(uri, span_of(value.get("targetSelectionRange", value.get("range"))))
    raise Malformed("a location is none")


def callable_of(item: Mapping[str, Any]) -> Location:
    """Of an item of a call hierarchy: where its name is."""
    return location_of({"uri": item.get("uri"), "range": item.get("selectionRange", item.get("range"))})


def outline_of(result: object) -> Iterator[Outlined]:
    """Of a tree of symbols, or of a plain list, without what is declared within functions."""
    for it in each(result):
        yield from _outlined(it, 0, in_function=False)


def _outlined(symbol: object, depth: int, *, in_function: bool) -> Iterator[Outlined]:
    if not is_object(symbol):
        raise Malformed("a symbol is none")
    kind = symbol.get("kind")
    if in_function and kind in VARIABLES:
        return
    if "location" in symbol:
        span = location_of(symbol["location"]).span
    else:
        span = span_of(symbol.get("selectionRange", symbol.get("range")))
    yield Outlined(span.start.line, depth)
    for child in each(symbol.get("children")):
        yield from _outlined(child, depth + 1, in_function=kind in FUNCTIONS)


def hover_of(result: object) -> str:
    """The text, whichever of its three forms it has."""
    contents = result.get("contents") if is_object(result) else None
    return "\n\n".join(filter(None, (_marked(it) for it in each(contents))))


def _marked(value: object) -> str:
    text = value.get("value") if is_object(value) else value
    return text.strip() if isinstance(text, str) else ""


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
