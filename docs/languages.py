"""The protocol's types, as other languages write them."""

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic.alias_generators import to_camel

HEAD = "Made by docs/generate.py from the server's code. Do not edit."

Commands = Mapping[str, tuple[type[Any], type[Any] | None]]
"""What each command takes and answers."""


@dataclasses.dataclass(frozen=True)
class Language:
    plain: Mapping[Any, str]
    named: Callable[[str], str]
    either: str
    """Between the types that something may be of."""
    table: str

    def written(self, hint: Any) -> str:
        origin, inner = get_origin(hint), get_args(hint)
        if origin is Literal:
            return self.either.join(f'"{value}"' for value in inner)
        if origin in (Union, UnionType):
            if all(inspect.isclass(it) and it.__name__ != "NoneType" and "kind" in _names(it) for it in inner):
                return self.named("Event")
            return self.either.join(self.written(it) for it in inner if it is not NoneType)
        if origin is Annotated:
            return self.written(inner[0])
        if origin is tuple:
            item = self.written(inner[0])
            return f"({item})[]" if "|" in item else f"{item}[]"
        if inspect.isclass(origin) and issubclass(origin, Mapping):
            return self.table.format(self.written(inner[0]), self.written(inner[1]))
        return self.plain.get(hint) or self.named(hint.__name__)

    def members(self, cls: type[Any]) -> Iterator[tuple[str, str]]:
        """Each member's name, with a mark if it may be left out, and its type."""
        hints = get_type_hints(cls)
        for it in dataclasses.fields(cls):
            if kind := kind_of(cls) if it.name == "kind" else None:
                yield "kind", f'"{kind}"'
                continue
            optional = it.default is not dataclasses.MISSING or it.default_factory is not dataclasses.MISSING
            yield f"{to_camel(it.name)}{'?' if optional else ''}", self.written(hints[it.name])


def kind_of(cls: type[Any]) -> str | None:
    """By which events are told apart."""
    kinds = [it.default for it in dataclasses.fields(cls) if it.name == "kind"]
    return kinds[0] if kinds and isinstance(kinds[0], str) else None


def _names(cls: type[Any]) -> set[str]:
    return {it.name for it in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else set()
