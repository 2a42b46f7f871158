"""Changes of code that language servers can make. One that is still loading knows too little to be let near a text."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odin_lsp.errors import OdinError, ToolError
from odin_lsp.intelligence.lsp import Malformed, Span, each, location_of, span_of
from odin_lsp.intelligence.places import Place
from odin_lsp.intelligence.servers import Problem, Server, Servers, Told, Unavailable
from odin_lsp.intelligence.workspace_edit import Edited, Moved, Step, edits_of, steps_of
from odin_lsp.values import is_object
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.text import Lines, Position, PositionEncoding, split_lines
from odin_lsp.workspace.uris import path_of

RENAME, REFERENCES = "textDocument/rename", "textDocument/references"
ACTION, RESOLVE, DIAGNOSTIC = "textDocument/codeAction", "codeAction/resolve", "textDocument/diagnostic"
FORMAT = "textDocument/formatting"
IMPORTS = "source.organizeImports"
SEVERITIES = {"error": 1, "warning": 2, "information": 3, "hint": 4}
PATIENCE = 2.0
"""Seconds for the problems of a file, which quick fixes are for."""
MAX_NAMED = 5


@dataclass(frozen=True, slots=True)
class Change:
    """What a server would do."""

    server: str
    encoding: PositionEncoding
    steps: tuple[Step, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Action:
    """What a server offers at a place."""

    server: Server
    title: str
    given: Mapping[str, Any]
    is_ready: bool

    @property
    def command(self) -> str:
        """What it would have the server run, which Odin does not."""
        command = self.given.get("command")
        return str(command.get("command", "")) if is_object(command) else str(command or "")

    @property
    def is_disabled(self) -> bool:
        return self.given.get("disabled") is not None

    @property
    def only_runs(self) -> bool:
        """Whether there is no edit to be had of it."""
        has_more = "data" in self.given and self.server.offers(RESOLVE)
        return self.given.get("edit") is None and not has_more


class Refactoring:
    def __init__(self, files: Files, servers: Servers) -> None:
        self._files = files
        self._servers = servers

    async def rename(self, place: Place, new_name: str) -> Change:
        """Of all that the name stands for, or of nothing."""
        problems: list[str] = []
        for server in await self._offering(place.path, RENAME, "rename symbols"):
            try:
                told = await server.ask(RENAME, {**_at(place, server), "newName": new_name})
                steps = steps_of(told.result)
                _require_ready(server, told)
                if any(not isinstance(it, Edited) or it.edits for it in steps):
                    self._check_lines(place, steps)
                    await self._check_files(server, place, steps)
                    return Change(server.name, server.encoding, tuple(steps))
                problems.append(f"{server.name} finds nothing there that it could rename")
            except (Unavailable, Malformed) as error:
                problems.append(_failed(server, error))
        raise ToolError("; ".join(problems))

    async def formatted(self, path: Path) -> Change:
        options = _indentation(self._files.read(path).text)
        server, *_ = await self._offering(path, FORMAT, "format")
        params = {"textDocument": {"uri": self._uri(path)}, "options": options}
        try:
            edits = edits_of((await server.ask(FORMAT, params)).result)
        except (Unavailable, Malformed) as error:
            raise ToolError(_failed(server, error)) from error
        return Change(server.name, server.encoding, (Edited(self._uri(path), edits),))

    async def imports(self, path: Path) -> Change:
        text = Lines(self._files.read(path).text)
        for it in await self.actions(path, 0, len(text.text), only=IMPORTS):
            if not it.only_runs:
                return await self.made(it)
        raise ToolError(f"no language server organizes the imports of {path.name}")

    async def actions(self, path: Path, start: int, end: int, only: str | None = None) -> list[Action]:
        """What is offered for these characters of the text, by all servers."""
        lines = Lines(self._files.read(path).text)
        found: list[Action] = []
        problems: list[str] = []
        for server in await self._offering(path, ACTION, "offer code actions"):
            span = Span(*(Position(*lines.position(at, server.encoding)) for at in (start, end)))
            about = {"diagnostics": [] if only else await self._diagnostics(server, path, span, lines)}
            params = {
                "textDocument": {"uri": self._uri(path)},
                "range": _written(span),
                "context": {**about, **({"only": [only]} if only else {})},
            }
            try:
                told = await server.ask(ACTION, params)
            except Unavailable as error:
                problems.append(_failed(server, error))
                continue
            offered = [it for it in each(told.result) if is_object(it) and isinstance(it.get("title"), str)]
            found += [Action(server, it["title"], it, told.is_ready) for it in offered]
        if not found and problems:
            raise ToolError("; ".join(problems))
        return [it for it in found if not it.is_disabled]

    async def made(self, action: Action) -> Change:
        """What the action would do to files."""
        server, given = action.server, action.given
        _require_ready(server, Told(None, action.is_ready))
        ran = f"its command {action.command} was not run" if action.command else ""
        if action.only_runs:
            raise ToolError(f"{action.title} only has {server.name} run {action.command or 'something'}; Odin does not")
        try:
            if given.get("edit") is None:
                resolved = (await server.ask(RESOLVE, given)).result
                given = resolved if is_object(resolved) else {}
            steps = steps_of(given.get("edit"))
        except (Unavailable, Malformed) as error:
            raise ToolError(_failed(server, error)) from error
        return Change(server.name, server.encoding, tuple(steps), ran)

    async def _offering(self, path: Path, method: str, what: str) -> Sequence[Server]:
        try:
            servers = await self._servers.of(path)
        except Unavailable as error:
            raise ToolError(str(error)) from error
        if not (offering := [it for it in servers if it.offers(method)]):
            raise ToolError(f"no language server is there for {path.name} that can {what}; use the edit tools instead")
        return offering

    def _check_lines(self, place: Place, steps: Sequence[Step]) -> None:
        """Each line that would change has the old name: else the server knows another text."""
        name = re.compile(rf"(?<!\w){re.escape(place.name)}(?!\w)")
        for it in steps:
            lines = self._lines_of(it.uri) if isinstance(it, Edited) else []
            for edit in it.edits if isinstance(it, Edited) else ():
                first, last = edit.span.start.line, edit.span.end.line
                if lines and not any(name.search(line) for line in lines[first : last + 1]):
                    raise Malformed(f"it would change line {first + 1} of {it.uri}, where {place.name} is not")

    async def _check_files(self, server: Server, place: Place, steps: Sequence[Step]) -> None:
        """A rename of fewer files than there are references in is none."""
        if not server.offers(REFERENCES):
            return
        about = {"context": {"includeDeclaration": True}}
        told = await server.ask(REFERENCES, {**_at(place, server), **about})
        _require_ready(server, told)
        changed = {path_of(it.uri) for it in steps} | {path_of(it.new_uri) for it in steps if isinstance(it, Moved)}
        missing: dict[str, None] = {}
        for it in map(location_of, each(told.result)):
            path = path_of(it.uri)
            if path not in changed and place.name in self._named_at(it.uri, it.span, server.encoding):
                missing[path.name if path else it.uri] = None
        if missing:
            named = ", ".join(list(missing)[:MAX_NAMED])
            raise ToolError(
                f"{server.name} would rename {place.name} in {len(changed)} files, but {len(missing)} more use it"
                f" ({named}), so nothing was changed; try again, or use ReplaceInFiles"
            )

    def _named_at(self, uri: str, span: Span, encoding: PositionEncoding) -> str:
        """What stands there; by another name it need not be changed."""
        path = path_of(uri)
        try:
            return Lines(self._files.read(path).text).between(span.start, span.end, encoding) if path else ""
        except OdinError:
            return ""

    def _lines_of(self, uri: str) -> list[str]:
        path = path_of(uri)
        try:
            return split_lines(self._files.read(path).text) if path else []
        except OdinError:
            return []

    async def _diagnostics(self, server: Server, path: Path, span: Span, lines: Lines) -> list[Any]:
        """The problems there, in the server's own words if it can be asked for them: some know their fixes by these."""
        found: Sequence[Any] = ()
        with suppress(Unavailable):
            if server.offers(DIAGNOSTIC):
                told = await server.ask(DIAGNOSTIC, {"textDocument": {"uri": self._uri(path)}})
                found = each(told.result.get("items") if is_object(told.result) else None)
        if not found and (known := (await self._servers.problems([path], PATIENCE)).get(path)):
            found = [_diagnostic(it, lines, server.encoding) for it in known.found]
        return [it for it in found if is_object(it) and _meets(it.get("range"), span)]

    def _uri(self, path: Path) -> str:
        buffer = self._files.buffers.of_path(path)
        return buffer.uri if buffer else path.as_uri()


def _at(place: Place, server: Server) -> dict[str, Any]:
    return {"textDocument": {"uri": place.uri}, "position": place.position(server.encoding)}


def _require_ready(server: Server, told: Told) -> None:
    if not told.is_ready:
        raise ToolError(
            f"{server.name} has not read the whole project yet and could miss places; try again, or use the edit tools"
        )


def _failed(server: Server, error: OdinError) -> str:
    if isinstance(error, Malformed):
        return f"the edit of {server.name} cannot be made: {error}"
    return f"{server.name} is not available: {error}"


def _written(span: Span) -> dict[str, Any]:
    return {
        "start": {"line": span.start.line, "character": span.start.character},
        "end": {"line": span.end.line, "character": span.end.character},
    }


def _meets(value: object, span: Span) -> bool:
    try:
        other = span_of(value)
    except Malformed:
        return False
    return other.start.line <= span.end.line and span.start.line <= other.end.line


def _diagnostic(problem: Problem, lines: Lines, encoding: PositionEncoding) -> dict[str, Any]:
    ends = (Position(problem.line, problem.character), Position(problem.end_line, problem.end_character))
    span = Span(*(Position(*lines.position(lines.offset(it, "utf-32"), encoding)) for it in ends))
    named = {key: value for key, value in (("code", problem.code), ("source", problem.source)) if value}
    about = {"severity": SEVERITIES[problem.severity], "message": problem.message}
    return {"range": _written(span), **about, **named}


def _indentation(text: str) -> dict[str, Any]:
    """As the text has it."""
    indents = re.findall(r"^([ \t]+)\S", text, re.MULTILINE)
    has_tabs = any("\t" in it for it in indents)
    width = min((len(it) for it in indents if len(it) > 1), default=4)
    return {"tabSize": 4 if has_tabs else width, "insertSpaces": not has_tabs}
