"""The protocol as TypeScript types, for the extension of VS Code."""

import dataclasses
import inspect
from collections.abc import Iterable, Iterator, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic.alias_generators import to_camel

HEAD = "// Made by docs/generate.py from the server's code. Do not edit.\n"
PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", NoneType: "null", Any: "unknown"}


def module(
    types: Iterable[type[Any]], commands: Mapping[str, tuple[type[Any], type[Any] | None]], events: Iterable[type[Any]]
) -> str:
    """Every type of the protocol, what each command takes and answers, and the union of all events."""
    event_types = list(events)
    parts = [_interface(cls) for cls in (*types, *event_types)]
    parts.append("export type Event =" + "".join(f"\n  | {cls.__name__}" for cls in event_types) + ";\n")
    parts.append("export interface Commands {\n" + "".join(map(_command, commands.items())) + "}\n")
    return "\n".join([HEAD, *parts])


def _command(entry: tuple[str, tuple[type[Any], type[Any] | None]]) -> str:
    name, (argument, result) = entry
    answer = result.__name__ if result else "Record<string, unknown>"
    return f'  "{name}": {{ argument: {argument.__name__}; result: {answer} }};\n'


def _interface(cls: type[Any]) -> str:
    members = list(_members(cls))
    if not members:
        return f"export type {cls.__name__} = Record<string, never>;\n"
    return f"export interface {cls.__name__} {{\n" + "".join(f"  {it};\n" for it in members) + "}\n"


def _members(cls: type[Any]) -> Iterator[str]:
    hints = get_type_hints(cls)
    for it in dataclasses.fields(cls):
        if it.name == "kind" and isinstance(it.default, str):
            yield f'kind: "{it.default}"'
            continue
        optional = it.default is not dataclasses.MISSING or it.default_factory is not dataclasses.MISSING
        yield f"{to_camel(it.name)}{'?' if optional else ''}: {_type(hints[it.name])}"


def _type(hint: Any) -> str:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " | ".join(f'"{value}"' for value in inner)
    if origin in (Union, UnionType):
        if all(inspect.isclass(it) and it.__name__ != "NoneType" and "kind" in _names(it) for it in inner):
            return "Event"
        return " | ".join(_type(it) for it in inner if it is not NoneType)
    if origin is Annotated:
        return _type(inner[0])
    if origin is tuple:
        item = _type(inner[0])
        return f"({item})[]" if "|" in item else f"{item}[]"
    if inspect.isclass(origin) and issubclass(origin, Mapping):
        return f"Partial<Record<{_type(inner[0])}, {_type(inner[1])}>>"
    return PLAIN.get(hint) or hint.__name__


def _names(cls: type[Any]) -> set[str]:
    return {it.name for it in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else set()
