"""Where each key of a JSON text stands, so that what is wrong can be told with its line."""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator

Place = tuple[str | int, ...]
"""The way to a value: keys and indexes."""


def dotted(place: Place) -> str:
    return ".".join(str(part) for part in place)


def places(text: str) -> Iterator[tuple[Place, int]]:
    """Where each key of a valid JSON text stands: its path and its line."""
    decoder = json.JSONDecoder()
    ends = [found.start() for found in re.finditer("\n", text)]

    def skip(at: int) -> int:
        while at < len(text) and text[at] in " \t\r\n\ufeff":
            at += 1
        return at

    def value(at: int, place: Place) -> Iterator[tuple[Place, int]]:
        """Yields the places below; the end is kept in `end`."""
        nonlocal end
        at = skip(at)
        if text[at] not in "{[":
            end = decoder.raw_decode(text, at)[1]
            return
        closing, index, at = ("}" if text[at] == "{" else "]"), 0, skip(at + 1)
        while text[at] != closing:
            key: str | int = index
            if closing == "}":
                key, after = decoder.raw_decode(text, at)
                yield (*place, key), bisect_left(ends, at) + 1
                at = skip(after) + 1
            yield from value(at, (*place, key))
            at, index = skip(end), index + 1
            if text[at] == ",":
                at = skip(at + 1)
        end = at + 1

    end = 0
    yield from value(0, ())
