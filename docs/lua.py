"""The protocol as types of LuaLS, for the plugin of Neovim, and the names in it, for its tests."""

from collections.abc import Iterable
from types import NoneType
from typing import Any

from languages import HEAD, Commands, Language, kind_of

PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "nil", Any: "any"}
LUA = Language(PLAIN, named="odin.{}".format, either="|", table="table<{}, {}>")


def module(types: Iterable[type[Any]], commands: Commands, events: Iterable[type[Any]]) -> str:
    """Every type of the protocol, and the names of all events and commands."""
    event_types = list(events)
    union = "---@alias odin.Event" + "".join(f"\n---| odin.{cls.__name__}" for cls in event_types) + "\n"
    names = [_list("events", filter(None, map(kind_of, event_types))), _list("commands", commands)]
    table = "return {\n" + "".join(names) + "}\n"
    return "\n".join([f"-- {HEAD}\n", *map(_class, (*types, *event_types)), union, table])


def _class(cls: type[Any]) -> str:
    fields = (f"---@field {name} {it}\n" for name, it in LUA.members(cls))
    return f"---@class odin.{cls.__name__}\n" + "".join(fields)


def _list(name: str, values: Iterable[str]) -> str:
    return f"  {name} = {{\n" + "".join(f'    "{value}",\n' for value in values) + "  },\n"
