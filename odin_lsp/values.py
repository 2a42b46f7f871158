"""Values that travel: frozen dataclasses inside, camelCase JSON outside, stray and missing keys refused."""

from functools import cache
from typing import Any, TypeGuard, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from odin_lsp.errors import RequestError

V = TypeVar("V")


class Value:
    """Base of every dataclass that is sent or received."""

    __slots__ = ()
    __pydantic_config__ = ConfigDict(alias_generator=to_camel, extra="forbid")


def to_wire(value: Value) -> dict[str, Any]:
    """`value` as JSON; what is `None` is left out."""
    return adapter(type(value)).dump_python(value, by_alias=True, mode="json", exclude_none=True)


def from_wire(cls: type[V], data: object) -> V:
    """`data` as a `cls`, or a `RequestError` that names each key that is wrong."""
    try:
        return adapter(cls).validate_python(data)
    except ValidationError as error:
        raise RequestError("; ".join(problem(item) for item in error.errors())) from None


@cache
def adapter(cls: type[V]) -> TypeAdapter[V]:
    return TypeAdapter(cls)


def problem(item: Any) -> str:
    """One of pydantic's errors in a few words, by the name of the key."""
    where = ".".join(str(part) for part in item["loc"]) or "the argument"
    match item["type"]:
        case "missing" | "missing_argument":
            return f"`{where}` is missing"
        case "extra_forbidden" | "unexpected_keyword_argument":
            return f"`{where}` is not known here"
        case _:
            return f"`{where}`: {item['msg'][0].lower()}{item['msg'][1:]}"


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)
