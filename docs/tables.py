"""Types and their fields, as tables of Markdown."""

import ast
import dataclasses
import inspect
from collections.abc import Iterable, Mapping
from itertools import pairwise
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic.alias_generators import to_camel

from odin_lsp import events

JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null", Any: "any"}


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def section(cls: type[Any]) -> str:
    told = f"{about(cls)}\n\n" if about(cls) else ""
    notes = _field_notes(cls)
    rows = ((name(it), type_of(hint), notes.get(it.name, "")) for it, hint in fields(cls))
    return f"### {cls.__name__}\n\n{told}{table(('field', 'type', ''), rows)}"


def fields(cls: type[Any]) -> list[tuple[dataclasses.Field[Any], Any]]:
    hints = get_type_hints(cls)
    return [(it, hints[it.name]) for it in dataclasses.fields(cls)]


def name(it: dataclasses.Field[Any]) -> str:
    return f"`{to_camel(it.name)}`{'?' if has_default(it) else ''}"


def has_default(it: dataclasses.Field[Any]) -> bool:
    return it.default is not dataclasses.MISSING or it.default_factory is not dataclasses.MISSING


def about(cls: type[Any]) -> str:
    """The class's own docstring; dataclasses without one get their signature, which is none."""
    text = inspect.cleandoc(cls.__doc__ or "")
    return "" if text.startswith(f"{cls.__name__}(") else text.rstrip(".") + "."


def _field_notes(cls: type[Any]) -> dict[str, str]:
    """The docstrings below the fields, which only the source has."""
    body: list[ast.stmt] = getattr(ast.parse(inspect.getsource(cls)).body[0], "body", [])
    notes: dict[str, str] = {}
    for field, note in pairwise(body):
        match field, note:
            case ast.AnnAssign(target=ast.Name(name)), ast.Expr(value=ast.Constant(value=str(text))):
                notes[name] = text
            case _:
                pass
    return notes


def type_of(hint: Any) -> str:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " · ".join(f"`{value}`" for value in inner)
    if hint == events.Event:
        return "[an event](#events)"
    if origin in (Union, UnionType):
        return " or ".join(type_of(it) for it in inner if it is not NoneType)
    if origin is Annotated:
        return type_of(inner[0])
    if origin is tuple:
        return f"list of {type_of(inner[0])}"
    if inspect.isclass(origin) and issubclass(origin, Mapping):
        return f"object of {type_of(inner[1])}" if inner[1] is not Any else "object"
    return JSON_TYPES.get(hint) or link(hint)


def link(cls: type[Any]) -> str:
    return f"[`{cls.__name__}`](#{cls.__name__.lower()})"
