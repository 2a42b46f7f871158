"""The protocol as TypeScript types, for the extension of VS Code."""

from collections.abc import Iterable
from types import NoneType
from typing import Any

from languages import HEAD, Commands, Language

PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", NoneType: "null", Any: "unknown"}
TYPESCRIPT = Language(PLAIN, named=str, either=" | ", table="Partial<Record<{}, {}>>")


def module(types: Iterable[type[Any]], commands: Commands, events: Iterable[type[Any]]) -> str:
    """Every type of the protocol, what each command takes and answers, and the union of all events."""
    event_types = list(events)
    parts = [_interface(cls) for cls in (*types, *event_types)]
    parts.append("export type Event =" + "".join(f"\n  | {cls.__name__}" for cls in event_types) + ";\n")
    parts.append("export interface Commands {\n" + "".join(map(_command, commands.items())) + "}\n")
    return "\n".join([f"// {HEAD}\n", *parts])


def _command(entry: tuple[str, tuple[type[Any], type[Any] | None]]) -> str:
    name, (argument, result) = entry
    answer = result.__name__ if result else "Record<string, unknown>"
    return f'  "{name}": {{ argument: {argument.__name__}; result: {answer} }};\n'


def _interface(cls: type[Any]) -> str:
    members = list(TYPESCRIPT.members(cls))
    if not members:
        return f"export type {cls.__name__} = Record<string, never>;\n"
    return f"export interface {cls.__name__} {{\n" + "".join(f"  {name}: {it};\n" for name, it in members) + "}\n"
