"""The YAML of heads: plain texts, switches, lists and maps, and nothing that refers, names a type or runs.

It is read from the events of the parser. What makes values of them (tags, dates, anchors, merge keys) is never used:
a few lines of it can stand for more than fits into memory."""

from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from odin_lsp.foreign_data import ForeignDataError, fit_text

if TYPE_CHECKING:
    import yaml

MAX_VALUES = 400
"""Keys, texts, lists and maps of one head: each costs some 20 µs."""
MAX_DEPTH = 12
MAX_BRACKETS = 32
"""That are open at once, wherever they stand: the scanner's time grows with their square."""
NOT_READ = "its head has an anchor, an alias, a tag or a merge key; write the value out"
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}
_SWITCHES = {
    **dict.fromkeys(("true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
}


def parse_head_values(text: str) -> Any:
    """Return texts, switches, `None`, lists and dicts with texts as keys. Raises `ForeignDataError`.

    Numbers and dates are texts as they are written."""
    if max(accumulate(_STEPS.get(it, 0) for it in text), default=0) > MAX_BRACKETS:
        raise ForeignDataError("its head is nested too deeply")
    import yaml

    try:
        untyped: Any = yaml
        return _HeadReader(untyped.parse(text, Loader=yaml.BaseLoader)).read()
    except yaml.YAMLError as error:
        mark: Any = getattr(error, "problem_mark", None)
        raise ForeignDataError("its head is not YAML", mark.line + 1 if mark is not None else None) from None
    except (ValueError, OverflowError, RecursionError):  # a character by a number that none has
        raise ForeignDataError("its head is not YAML") from None


class _HeadReader:
    def __init__(self, events: Iterator[Any]) -> None:
        self._events = events
        self._values = 0

    def read(self) -> Any:
        import yaml

        value: Any = None
        documents = 0
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise ForeignDataError("its head is not YAML", event.start_mark.line + 1)
            elif isinstance(event, yaml.NodeEvent):
                value = self._value(event, MAX_DEPTH)
        return value

    def _value(self, event: "yaml.NodeEvent", depth: int) -> Any:
        import yaml

        self._values += 1
        line = event.start_mark.line + 1
        if event.anchor is not None or getattr(event, "tag", None) is not None:
            raise ForeignDataError(NOT_READ, line)
        if not depth:
            raise ForeignDataError("its head is nested too deeply", line)
        if self._values > MAX_VALUES:
            raise ForeignDataError(f"its head has more than {MAX_VALUES} values", line)
        if isinstance(event, yaml.ScalarEvent):
            is_plain = event.implicit[0]
            return _SWITCHES.get(event.value, fit_text(event.value)) if is_plain else fit_text(event.value)
        if isinstance(event, yaml.SequenceStartEvent):
            return [self._value(it, depth - 1) for it in self._until(yaml.SequenceEndEvent)]
        return dict(self._members(depth))

    def _members(self, depth: int) -> Iterator[tuple[str, Any]]:
        import yaml

        for key in self._until(yaml.MappingEndEvent):
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarEvent):
                self._value(key, depth - 1)
                raise ForeignDataError("its head has a key that is no text", line)
            if key.value == "<<":
                raise ForeignDataError(NOT_READ, line)
            self._value(key, depth - 1)
            yield fit_text(key.value), self._value(next(self._events), depth - 1)

    def _until(self, end: "type[yaml.Event]") -> Iterator[Any]:
        for event in self._events:
            if isinstance(event, end):
                return
            yield event
