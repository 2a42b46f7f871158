"""Values that travel: frozen dataclasses inside, camelCase JSON outside, stray and missing keys refused.

Pydantic is imported by what checks and writes them: a client that only reads does without it."""

import ast
import inspect
import itertools
import re
import sys
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeGuard, TypeVar, get_args

from odin_lsp.errors import RequestError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from pydantic import BaseModel, TypeAdapter

V = TypeVar("V")


def to_camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(it.title() for it in rest)


class Value:
    """Base of every dataclass that is sent or received."""

    __slots__ = ()
    __pydantic_config__: ClassVar[Any] = {"alias_generator": to_camel, "extra": "forbid"}


def to_wire(value: Value) -> dict[str, Any]:
    """`value` as JSON; what is `None` is left out."""
    return adapter(type(value)).dump_python(value, by_alias=True, mode="json", exclude_none=True)


def to_flat_wire(value: "DataclassInstance") -> dict[str, Any]:
    """The same for a value of plain fields. It needs nothing set up, and so does not delay the start."""
    return {to_camel(field.name): getattr(value, field.name) for field in fields(value)}


def from_wire(cls: type[V], data: object) -> V:
    """`data` as a `cls`, or a `RequestError` that names each key that is wrong."""
    from pydantic import ValidationError

    try:
        return adapter(cls).validate_python(data)
    except ValidationError as error:
        raise RequestError("; ".join(problem(item) for item in error.errors())) from None


def json_schema(model: "type[BaseModel]") -> dict[str, Any]:
    """The model's schema, with the docstrings below its fields as descriptions.

    Pydantic could do that too, but it would read the sources whenever Odin starts."""
    schema = model.model_json_schema(by_alias=True)
    models = _models(model)
    for name, part in {model.__name__: schema, **schema.get("$defs", {})}.items():
        if (described := models.get(name)) is None:
            continue
        for field, text in _field_docs(described).items():
            known = described.model_fields.get(field)
            if known is not None and (written := part["properties"].get(known.alias or field)) is not None:
                written.setdefault("description", text)
    return schema


def _models(hint: Any) -> "dict[str, type[BaseModel]]":
    """Those that a type names, and those that these name, by name."""
    if not hasattr(hint, "model_fields"):
        return {name: it for inner in get_args(hint) for name, it in _models(inner).items()}
    inner = (_models(field.annotation) for field in hint.model_fields.values())
    return {hint.__name__: hint, **{name: it for models in inner for name, it in models.items()}}


def _field_docs(model: "type[BaseModel]") -> dict[str, str]:
    """What stands as a string right below each field; nothing where the class has no source."""
    classes = [node for node in ast.walk(ast.parse(_source(model))) if isinstance(node, ast.ClassDef)]
    body = classes[0].body if classes else []
    return {
        field.target.id: inspect.cleandoc(below.value.value)
        for field, below in itertools.pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    }


def _source(model: "type[BaseModel]") -> str:
    """`inspect` would take the whole module apart to find the class in it; that is left to classes within others, or
    in functions. One may have been made on the spot, or typed in."""
    try:
        if model.__qualname__ != model.__name__:
            return f"if True:\n{inspect.getsource(model)}"
        module = inspect.getsource(sys.modules[model.__module__])
    except (OSError, TypeError, KeyError):
        return ""
    name = re.escape(model.__name__)
    written = re.search(rf"^class {name}\b.*?(?=^[^\s)]|\Z)", module, re.DOTALL | re.MULTILINE)
    return written[0] if written else ""


@cache
def adapter(cls: type[V]) -> "TypeAdapter[V]":
    from pydantic import TypeAdapter

    return TypeAdapter(cls)


def problem(item: Any) -> str:
    """One of pydantic's errors in a few words, by the name of the key."""
    where = ".".join(str(part) for part in item["loc"]) or "the argument"
    match item["type"]:
        case "missing" | "missing_argument":
            return f"`{where}` is missing"
        case "extra_forbidden" | "unexpected_keyword_argument":
            return f"`{where}` is not known here"
        case "list_type" | "tuple_type":
            return f"`{where}` must be a list"
        case _:
            return f"`{where}`: {item['msg'][0].lower()}{item['msg'][1:]}"


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)
