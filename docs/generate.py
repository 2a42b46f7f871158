"""Write the reference pages from the code: `python docs/generate.py`, or `--check` that they are up to date.

A page is its hand-written `<page>.intro.md` with a table in place of each `{{mark}}`.
"""

import ast
import dataclasses
import inspect
import json
import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache, reduce
from itertools import pairwise
from pathlib import Path
from types import NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from odin_lsp import __version__, config, events, ports, records
from odin_lsp.agent import preview
from odin_lsp.agent.mode_tools import mode_tools
from odin_lsp.host import terms
from odin_lsp.language_servers.known import KNOWN
from odin_lsp.models import catalog, key_check
from odin_lsp.models.selection import OFFLINE
from odin_lsp.modes import MODES
from odin_lsp.server import (
    attachments,
    comment_requests,
    glance,
    handshake,
    plain_questions,
    provenance,
    upkeep,
    wire,
    wire_editor,
)
from odin_lsp.server.commands.base import all_commands
from odin_lsp.server.server import OdinServer
from odin_lsp.sessions import listing, replay
from odin_lsp.sessions.turn_record import TurnRecord
from odin_lsp.tools.base import Tool, all_tools
from odin_lsp.values import Value, json_schema

sys.path.insert(0, str(Path(__file__).parent))
import lua
import typescript

DOCS = Path(__file__).parent
OFFERS = (
    "notebookDocument",
    "textDocument.rename.prepareSupport",
    "textDocument.synchronization.willSave",
    "textDocument.synchronization.willSaveWaitUntil",
    *(f"workspace.fileOperations.{time}{act}" for time in ("will", "did") for act in ("Create", "Delete", "Rename")),
)
"""What of a client's capabilities changes the answer to `initialize`, as far as pygls looks at it."""
ANSWERS: Mapping[str, Any] = {"yes": True, "no": False}
RESULTS: Mapping[str, type[Value] | None] = {
    "odin.ask": records.Outcome,
    "odin.plan": records.Outcome,
    "odin.edit": records.Outcome,
    "odin.init": records.Outcome,
    "odin.executePlan": records.Outcome,
    "odin.plan.mark": wire.PlanSteps,
    "odin.plan.refuse": records.Outcome,
    "odin.prompt": records.Outcome,
    "odin.send": records.Outcome,
    "odin.begin": wire.Begun,
    "odin.answer": plain_questions.Answered,
    "odin.cancel": wire.Cancelled,
    "odin.continue": records.Outcome,
    "odin.note": upkeep.Noted,
    "odin.removeLast": upkeep.Removed,
    "odin.compact": upkeep.CompactResult,
    "odin.role": upkeep.RoleState,
    "odin.permissions": upkeep.Permissions,
    "odin.extensions": upkeep.ExtensionList,
    "odin.slashCommands": upkeep.SlashCommands,
    "odin.files": upkeep.FoundFiles,
    "odin.agent.call": wire.AgentCalled,
    "odin.clear": listing.SessionSummary,
    "odin.steer": wire.Steered,
    "odin.queue": wire.Queue,
    "odin.model": upkeep.ModelState,
    "odin.key.check": key_check.CheckedKey,
    "odin.trust": wire.Trusted,
    "odin.state": glance.State,
    "odin.review.accept": wire.Receipts,
    "odin.review.reject": wire.Receipts,
    "odin.review.reopen": wire.Receipts,
    "odin.review.list": wire.Proposals,
    "odin.undoTurn": wire.Undone,
    "odin.mention": wire_editor.Mentioned,
    "odin.session.new": listing.SessionSummary,
    "odin.session.list": wire.Sessions,
    "odin.session.resume": listing.SessionSummary,
    "odin.session.events": replay.EventPage,
    "odin.session.attachment": attachments.AttachmentData,
    "odin.session.fork": listing.SessionSummary,
    "odin.session.rename": listing.SessionSummary,
    "odin.session.export": wire.Exported,
    "odin.session.delete": wire.Deleted,
    "odin.context": preview.ContextPreview,
    "odin.commentRequests": comment_requests.FoundRequests,
    "odin.provenance": provenance.WrittenRanges,
    "odin.provenance.open": provenance.OpenedTurn,
}
"""What each command answers; `None` where the introduction says it in words."""
ENTRY_POINTS = (
    handshake.InitOptions,
    handshake.ServerInfo,
    terms.Terms,
    events.EventRecord,
    ports.Question,
    ports.Answer,
    ports.Review,
    ports.ReviewAnswer,
    wire_editor.EditorRequest,
    wire_editor.EditorAnswers,
    wire_editor.EditorDiagnosticsParams,
    wire_editor.EditorDiagnostics,
    TurnRecord,
    records.SubagentRecord,
)
VERSIONS = {"package.json": 1, "package-lock.json": 2}
"""Of the extension: the version is Odin's, in these files so many times, before all others."""
JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null", Any: "any"}


def main() -> int:
    pages = {name: text for name, text in _pages() if _stored(name) != text}
    if "--check" in sys.argv[1:]:
        for name in pages:
            sys.stderr.write(f"docs/{name} is not what the code says; run `nox -s docs -- --write`\n")
        return int(bool(pages))
    for name, text in pages.items():
        (DOCS / name).write_text(text, encoding="utf-8")
    return 0


def _pages() -> Iterable[tuple[str, str]]:
    yield "protocol.md", _filled("protocol", commands=_commands(), events=_events(), types=_types())
    yield "settings.md", _filled("settings", settings=_settings())
    yield "tools.md", _filled("tools", tools="\n\n".join(_tool(tool) for tool in all_tools().values()))
    yield "models.md", _filled("models", **_models())
    yield "language-servers.md", _filled("language-servers", known=_known_servers())
    for name, language in {"vscode/src/protocol.ts": typescript, "neovim/lua/odin/protocol.lua": lua}.items():
        yield f"../editors/{name}", language.module(_reachable(), _answered(), get_args(events.Event))
    for name, times in VERSIONS.items():
        name = f"../editors/vscode/{name}"
        yield name, re.sub(r'"version": "[^"]+"', f'"version": "{__version__}"', _stored(name), count=times)
    yield "../odin_lsp/server/capabilities.json", json.dumps(_capabilities(), indent=2) + "\n"
    yield "config.schema.json", json.dumps(_settings_schema(), indent=2, ensure_ascii=False) + "\n"


def _capabilities() -> dict[str, Any]:
    """What the server answers to `initialize`: to every client, and besides to one that says yes or no to something."""
    always = _offered({})
    said: dict[str, dict[str, Any]] = {"yes": {}, "no": {}}
    for path in OFFERS:
        for word, value in ({"yes": {"synchronization": {}}} if path == "notebookDocument" else ANSWERS).items():
            client = reduce(lambda value, name: {name: value}, reversed(path.split(".")), value)
            if more := _difference(_offered(client), always):
                said[word][path] = more
    return {"always": always, **said}


def _offered(client: dict[str, Any]) -> dict[str, Any]:
    server, answers = OdinServer(), []
    server.rpc.connect(SimpleNamespace(send=answers.append))
    call = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": client}}
    server.rpc.receive(json.dumps(call).encode())
    capabilities = json.loads(answers[0])["result"]["capabilities"]
    return {name: value for name, value in capabilities.items() if name not in ("positionEncoding", "experimental")}


def _difference(new: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
    changed = {name: value for name, value in new.items() if value != old.get(name)}
    both = {name: old[name] for name, value in changed.items() if isinstance(value, dict) and name in old}
    return {name: _difference(value, both[name]) if name in both else value for name, value in changed.items()}


def _stored(name: str) -> str:
    path = DOCS / name
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _filled(page: str, **parts: str) -> str:
    text = _stored(f"{page}.intro.md")
    for name, part in parts.items():
        text = text.replace("{{" + name + "}}", part)
    return f"<!-- Made by docs/generate.py from {page}.intro.md and the code. Do not edit. -->\n\n{text}"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


# --- the protocol


@cache
def _arguments() -> Mapping[str, type[Value]]:
    commands = all_commands()
    if commands.keys() != RESULTS.keys():
        raise SystemExit(f"docs/generate.py: RESULTS and the commands differ by {commands.keys() ^ RESULTS.keys()}")
    return {name: commands[name].params for name in RESULTS}


def _commands() -> str:
    return _table(
        ("command", "argument", "result"),
        (
            (f"`{name}`", _signature(params), _link(RESULTS[name]) if RESULTS[name] else "[`State`](#state)")
            for name, params in _arguments().items()
        ),
    )


def _answered() -> Mapping[str, tuple[type[Value], type[Value] | None]]:
    return {name: (params, RESULTS[name]) for name, params in _arguments().items()}


def _signature(cls: type[Any]) -> str:
    names = [f"{to_camel(it.name)}{'?' if _has_default(it) else ''}" for it in dataclasses.fields(cls)]
    return f"[`{{{', '.join(names)}}}`](#{cls.__name__.lower()})" if names else "`{}`"


def _events() -> str:
    rows = []
    for cls in get_args(events.Event):
        kind = next(it.default for it in dataclasses.fields(cls) if it.name == "kind")
        shown = [f"{_name(it)}: {_type(hint)}" for it, hint in _fields(cls) if it.name != "kind"]
        rows.append((f"`{kind}`", ", ".join(shown) or "–", _about(cls)))
    return _table(("kind", "fields", ""), rows)


def _types() -> str:
    return "\n\n".join(_section(cls) for cls in _reachable() if dataclasses.fields(cls))


def _reachable() -> list[type[Any]]:
    """The types that the commands and messages name, and those that these name, in order of their names."""
    found: dict[str, type[Any]] = {}
    results = [cls for cls in RESULTS.values() if cls]
    waiting: list[Any] = [*_arguments().values(), *results, *ENTRY_POINTS, *get_args(events.Event)]
    while waiting:
        hint = waiting.pop()
        if dataclasses.is_dataclass(hint) and isinstance(hint, type) and hint.__name__ not in found:
            found[hint.__name__] = hint
            waiting += [inner for _, inner in _fields(hint)]
        waiting += [inner for inner in get_args(hint) if not isinstance(inner, str)]
    in_the_table = {cls.__name__ for cls in get_args(events.Event)}
    return [found[name] for name in sorted(found.keys() - in_the_table)]


def _section(cls: type[Any]) -> str:
    about = f"{_about(cls)}\n\n" if _about(cls) else ""
    notes = _field_notes(cls)
    rows = ((_name(it), _type(hint), notes.get(it.name, "")) for it, hint in _fields(cls))
    return f"### {cls.__name__}\n\n{about}{_table(('field', 'type', ''), rows)}"


def _fields(cls: type[Any]) -> list[tuple[dataclasses.Field[Any], Any]]:
    hints = get_type_hints(cls)
    return [(it, hints[it.name]) for it in dataclasses.fields(cls)]


def _name(it: dataclasses.Field[Any]) -> str:
    return f"`{to_camel(it.name)}`{'?' if _has_default(it) else ''}"


def _has_default(it: dataclasses.Field[Any]) -> bool:
    return it.default is not dataclasses.MISSING or it.default_factory is not dataclasses.MISSING


def _about(cls: type[Any]) -> str:
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


def _type(hint: Any) -> str:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " · ".join(f"`{value}`" for value in inner)
    if hint == events.Event:
        return "[an event](#events)"
    if origin in (Union, UnionType):
        return " or ".join(_type(it) for it in inner if it is not NoneType)
    if origin is Annotated:
        return _type(inner[0])
    if origin is tuple:
        return f"list of {_type(inner[0])}"
    if inspect.isclass(origin) and issubclass(origin, Mapping):
        return f"object of {_type(inner[1])}" if inner[1] is not Any else "object"
    return JSON_TYPES.get(hint) or _link(hint)


def _link(cls: type[Any]) -> str:
    return f"[`{cls.__name__}`](#{cls.__name__.lower()})"


# --- settings, tools, models


def _settings() -> str:
    return _table(("setting", "type", "default", ""), _setting_rows(config.Config, ""))


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
            yield f"`{key}`", _type(field.annotation), f"`{shown}`" if shown else "–", note


def _known_servers() -> str:
    rows = (
        (f"`{it.name}`", " ".join(f"`{suffix}`" for suffix in it.languages), "yes" if it.runs_project else "no")
        for it in KNOWN
    )
    return _table(("server", "files", "needs a trusted workspace"), rows)


def _tool(tool: Tool[Any]) -> str:
    modes = ", ".join(mode.removesuffix("_mode").title() for mode in MODES.values() if tool.name in mode_tools(mode))
    effect = str(tool.effect).replace("_", " ")
    required = tool.schema.get("required", ())
    rows = (
        (f"`{name}`{'' if name in required else '?'}", _schema_type(schema), _schema_note(schema))
        for name, schema in tool.schema["properties"].items()
    )
    table = _table(("parameter", "type", ""), rows)
    return f"## {tool.name}\n\nEffect: {effect}. Modes: {modes}.\n\n```text\n{tool.description}\n```\n\n{table}"


def _settings_schema() -> dict[str, Any]:
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


def _models() -> dict[str, str]:
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
        "defaults": _table(("provider", "model", "small model"), defaults),
        "unknown_context": f"{catalog.find('').context:,}",
        "catalog": _table(("model", "context", "input", "output", "cache read", "cache write"), prices),
        "long_prompts": "\n".join(dearer),
    }


def _prices(entry: catalog.Entry) -> tuple[float, ...]:
    return entry.input, entry.output, entry.cache_read, entry.cache_write


if __name__ == "__main__":
    sys.exit(main())
