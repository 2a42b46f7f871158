"""Write the reference pages from the code: `python docs/generate.py`, or `--check` that they are up to date.

A page is its hand-written `<page>.intro.md` with a table in place of each `{{mark}}`.
"""

import dataclasses
import json
import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_args

from pydantic.alias_generators import to_camel

from odin_lsp import __version__, events, ports, records
from odin_lsp.agent import preview
from odin_lsp.host import terms
from odin_lsp.models import key_check
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
from odin_lsp.sessions import listing, replay
from odin_lsp.sessions.turn_record import TurnRecord
from odin_lsp.values import Value

sys.path.insert(0, str(Path(__file__).parent))
import capabilities
import lua
import reference
import tables
import typescript

DOCS = Path(__file__).parent
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
    "odin.notices": upkeep.Notices,
    "odin.brought": upkeep.Brought,
    "odin.trust": upkeep.Trusted,
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
    yield "settings.md", _filled("settings", settings=reference.settings())
    yield "tools.md", _filled("tools", tools=reference.tools())
    yield "models.md", _filled("models", **reference.models())
    yield "language-servers.md", _filled("language-servers", known=reference.known_servers())
    for name, language in {"vscode/src/protocol.ts": typescript, "neovim/lua/odin/protocol.lua": lua}.items():
        yield f"../editors/{name}", language.module(_reachable(), _answered(), get_args(events.Event))
    for name, times in VERSIONS.items():
        name = f"../editors/vscode/{name}"
        yield name, re.sub(r'"version": "[^"]+"', f'"version": "{__version__}"', _stored(name), count=times)
    yield "../odin_lsp/server/capabilities.json", json.dumps(capabilities.capabilities(), indent=2) + "\n"
    yield "config.schema.json", json.dumps(reference.settings_schema(), indent=2, ensure_ascii=False) + "\n"


def _stored(name: str) -> str:
    path = DOCS / name
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _filled(page: str, **parts: str) -> str:
    text = _stored(f"{page}.intro.md")
    for name, part in parts.items():
        text = text.replace("{{" + name + "}}", part)
    return f"<!-- Made by docs/generate.py from {page}.intro.md and the code. Do not edit. -->\n\n{text}"


@cache
def _arguments() -> Mapping[str, type[Value]]:
    commands = all_commands()
    if commands.keys() != RESULTS.keys():
        raise SystemExit(f"docs/generate.py: RESULTS and the commands differ by {commands.keys() ^ RESULTS.keys()}")
    return {name: commands[name].params for name in RESULTS}


def _commands() -> str:
    return tables.table(
        ("command", "argument", "result"),
        (
            (f"`{name}`", _signature(params), tables.link(RESULTS[name]) if RESULTS[name] else "[`State`](#state)")
            for name, params in _arguments().items()
        ),
    )


def _answered() -> Mapping[str, tuple[type[Value], type[Value] | None]]:
    return {name: (params, RESULTS[name]) for name, params in _arguments().items()}


def _signature(cls: type[Any]) -> str:
    names = [f"{to_camel(it.name)}{'?' if tables.has_default(it) else ''}" for it in dataclasses.fields(cls)]
    return f"[`{{{', '.join(names)}}}`](#{cls.__name__.lower()})" if names else "`{}`"


def _events() -> str:
    rows = []
    for cls in get_args(events.Event):
        kind = next(it.default for it in dataclasses.fields(cls) if it.name == "kind")
        shown = [f"{tables.name(it)}: {tables.type_of(hint)}" for it, hint in tables.fields(cls) if it.name != "kind"]
        rows.append((f"`{kind}`", ", ".join(shown) or "–", tables.about(cls)))
    return tables.table(("kind", "fields", ""), rows)


def _types() -> str:
    return "\n\n".join(tables.section(cls) for cls in _reachable() if dataclasses.fields(cls))


def _reachable() -> list[type[Any]]:
    """The types that the commands and messages name, and those that these name, in order of their names."""
    found: dict[str, type[Any]] = {}
    results = [cls for cls in RESULTS.values() if cls]
    waiting: list[Any] = [*_arguments().values(), *results, *ENTRY_POINTS, *get_args(events.Event)]
    while waiting:
        hint = waiting.pop()
        if dataclasses.is_dataclass(hint) and isinstance(hint, type) and hint.__name__ not in found:
            found[hint.__name__] = hint
            waiting += [inner for _, inner in tables.fields(hint)]
        waiting += [inner for inner in get_args(hint) if not isinstance(inner, str)]
    in_the_table = {cls.__name__ for cls in get_args(events.Event)}
    return [found[name] for name in sorted(found.keys() - in_the_table)]


if __name__ == "__main__":
    sys.exit(main())
