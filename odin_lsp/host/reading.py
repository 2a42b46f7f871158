"""Values from the wire, read by their own type hints: a client need not check what its own server says."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from odin_lsp.values import is_object, to_camel

V = TypeVar("V")
Read = Callable[[Any], Any]


def read(kind: type[V], data: Any) -> V:
    """`data` as a value of this type. What it does not have is left out, and what the type does not know is ignored."""
    return _reader(kind)(data)


@cache
def _reader(kind: Any) -> Read:
    arguments = get_args(kind)
    match get_origin(kind):
        case None if is_dataclass(kind):
            return _of_class(cast("type[Any]", kind))
        case origin if origin in (Union, UnionType):
            return _of_union([it for it in arguments if it is not type(None)])
        case origin if origin is tuple:
            item = _reader(arguments[0])
            return lambda data: tuple(map(item, data))
        case origin if isinstance(origin, type) and issubclass(origin, Mapping):
            value = _reader(arguments[1])
            return lambda data: {key: value(it) for key, it in data.items()}
        case _:
            return lambda data: data


def _of_class(kind: type[Any]) -> Read:
    hints = get_type_hints(kind)
    known = [(it.name, to_camel(it.name), _reader(hints[it.name])) for it in fields(kind)]
    return lambda data: kind(**{name: part(data[key]) for name, key, part in known if key in data})


def _of_union(kinds: list[Any]) -> Read:
    """Classes are told apart by their `kind`."""
    if len(kinds) == 1:
        only = _reader(kinds[0])
        return lambda data: None if data is None else only(data)
    by_kind = {it.default: kind for kind in kinds if is_dataclass(kind) for it in fields(kind) if it.name == "kind"}
    return lambda data: _reader(by_kind[data["kind"]])(data) if by_kind and is_object(data) else data
