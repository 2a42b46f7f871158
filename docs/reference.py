"""Settings, tools, models and language servers, as tables of Markdown and as a JSON Schema."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.alias_generators import to_camel
from tables import table, type_of

from odin_lsp import config
from odin_lsp.agent.mode_tools import mode_tools
from odin_lsp.language_servers.known import KNOWN
from odin_lsp.models import catalog
from odin_lsp.models.selection import OFFLINE
from odin_lsp.modes import MODES
from odin_lsp.tools.base import Tool, all_tools
from odin_lsp.values import json_schema


def settings() -> str:
    """A table for those that stand alone, and one for each group."""
    groups: dict[str, list[tuple[str, ...]]] = {}
    for row in _setting_rows(config.Config, ""):
        groups.setdefault(re.split(r"[.[]", row[0].strip("`"))[0], []).append(row)
    alone = [row for rows in groups.values() if len(rows) == 1 for row in rows]
    parts = {"On their own": alone, **{name: rows for name, rows in groups.items() if len(rows) > 1}}
    head = ("setting", "type", "default", "what it does")
    return "\n\n".join(f"### {name}\n\n{table(head, rows)}" for name, rows in parts.items())


def _setting_rows(section: type[BaseModel], above: str) -> Iterable[tuple[str, ...]]:
    properties = json_schema(section)["properties"]
    for name, field in section.model_fields.items():
        key = f"{above}{to_camel(name)}"
        default = None if field.is_required() else field.get_default(call_default_factory=True)
        note = properties[to_camel(name)].get("description", "")
        inner = get_args(field.annotation)
        listed = next((it for it in inner if isinstance(it, type) and issubclass(it, BaseModel)), None)
        if isinstance(default, BaseModel):
            yield from _setting_rows(type(default), f"{key}.")
        elif listed is not None:
            is_named = inner[0] is str
            yield f"`{key}`", f"{'object' if is_named else 'list'} of objects", f"`{json.dumps(default)}`", note
            yield from _setting_rows(listed, f"{key}.*." if is_named else f"{key}[].")
        else:
            shown = json.dumps(default) if default is not None else ""
            yield f"`{key}`", type_of(field.annotation), f"`{shown}`" if shown else "–", note


def known_servers() -> str:
    rows = (
        (f"`{it.name}`", " ".join(f"`{suffix}`" for suffix in it.languages), "yes" if it.runs_project else "no")
        for it in KNOWN
    )
    return table(("server", "files", "needs a trusted workspace"), rows)


def tools() -> str:
    return "\n\n".join(_tool(it) for it in all_tools().values())


def _tool(tool: Tool[Any]) -> str:
    modes = ", ".join(mode.removesuffix("_mode").title() for mode in MODES.values() if tool.name in mode_tools(mode))
    effect = str(tool.effect).replace("_", " ")
    required = tool.schema.get("required", ())
    rows = (
        (f"`{name}`{'' if name in required else '?'}", _schema_type(schema), _schema_note(schema))
        for name, schema in tool.schema["properties"].items()
    )
    head = f"## {tool.name}\n\nEffect: {effect}. Modes: {modes}.\n\n```text\n{tool.description}\n```"
    return f"{head}\n\n{table(('parameter', 'type', ''), rows)}"


def settings_schema() -> dict[str, Any]:
    """With the models that are known, as suggestions."""
    schema = config.schema()
    known = [*(it.ref for it in catalog.ENTRIES), OFFLINE]
    for name in ("model", "smallModel", "subagentModel"):
        schema["properties"][name]["examples"] = known
    return schema


def _schema_type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " · ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_schema_type(schema['items'])}"
    if "properties" in schema:
        return "`{" + ", ".join(schema["properties"]) + "}`"
    return str(schema.get("type", "any"))


def _schema_note(schema: Mapping[str, Any]) -> str:
    default = schema.get("default")
    note = schema.get("description", "")
    return note if default in (None, [], False) else f"{note} Default: {json.dumps(default)}."


def models() -> dict[str, str]:
    defaults = ((f"`{provider}`", f"`{model}`", f"`{small}`") for provider, (model, small) in catalog.DEFAULTS.items())
    prices = ((f"`{it.ref}`", f"{it.context:,}", *(f"{price:g}" for price in _prices(it))) for it in catalog.ENTRIES)
    dearer = (
        f"- `{it.ref}`, above {it.long_from:,} tokens: {it.long_input:g} × for the prompt,"
        f" {it.long_output:g} × for the answer"
        for it in catalog.ENTRIES
        if it.long_from
    )
    return {
        "without_efforts": "\n".join(f"- `{it.ref}`" for it in catalog.ENTRIES if not it.efforts),
        "defaults": table(("provider", "model", "small model"), defaults),
        "unknown_context": f"{catalog.find('').context:,}",
        "catalog": table(("model", "context", "input", "output", "cache read", "cache write"), prices),
        "long_prompts": "\n".join(dearer),
    }


def _prices(entry: catalog.Entry) -> tuple[float, ...]:
    return entry.input, entry.output, entry.cache_read, entry.cache_write
