"""Have a language server change code: it knows what a name means, and nobody has to write the text."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from odin_lsp.errors import ToolError
from odin_lsp.intelligence.asking import Sources
from odin_lsp.intelligence.places import Place
from odin_lsp.intelligence.questions import Asked
from odin_lsp.intelligence.refactoring import Action, Change, Refactoring
from odin_lsp.permissions.rules import Effect
from odin_lsp.review.hunks import difference
from odin_lsp.review.proposals import FileProposal, Wish
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolOutput
from odin_lsp.tools.editing import LATER, is_made, number_of, report_files, report_receipts
from odin_lsp.tools.server_edits import proposals_of, versions
from odin_lsp.workspace.text import Lines, Position, split_lines

MAX_NAMED = 20
MAX_OFFERED = 40
MAX_TOLD = 60
"""Lines that have changed in a way that the model could not foresee, and are shown to it."""
_NAME = re.compile(r"[$#@]?[^\W\d][\w$]*[?!]?")
"""What is a name in one of many languages."""


class RefactorParams(Params):
    what: Literal["rename", "action", "format", "imports"]
    file_path: str
    line: int | None = None
    symbol: str | None = None
    """A name on the line."""
    new_name: str | None = None
    action: str | None = None
    """Title of a code action; without it, those for the line are listed."""


class Refactor(Tool[RefactorParams]):
    """Have a language server rename a symbol everywhere, make a code action, format a file or organize its imports.
    Files need not be read. Renames and actions are reviewed as a whole."""

    name = "Refactor"
    effect = Effect.MUTATING
    params = RefactorParams

    def describe(self, params: RefactorParams) -> str:
        match params.what:
            case "rename":
                return f"rename {params.symbol} to {params.new_name}"
            case "action":
                return f"{params.action or 'list the code actions'} in {params.file_path}"
            case "format":
                return f"format {params.file_path}"
            case "imports":
                return f"organize the imports of {params.file_path}"

    async def prepare(self, params: RefactorParams, context: ToolContext) -> None:
        if params.what == "rename":
            if not params.symbol or not params.new_name:
                raise ToolError("a rename needs `symbol` and `new_name`")
            if not _NAME.fullmatch(params.new_name):
                raise ToolError(f"{params.new_name} is no name; choose one that the language allows")
            if params.new_name == params.symbol.rpartition(".")[2]:
                raise ToolError("symbol and new_name are the same; nothing would change")
        if params.what == "action" and params.line is None:
            raise ToolError("code actions are offered for a line; name it as `line`")

    async def execute(self, params: RefactorParams, context: ToolContext) -> ToolOutput:
        path = await context.reach(params.file_path)
        if not context.draft.is_empty:
            await context.draft.review()  # language servers know what is on the screen, and nothing else
        asked_at = versions(context)
        refactoring = Refactoring(context.files, context.servers)
        match params.what:
            case "rename":
                place = await _place(path, params, context)
                change = await refactoring.rename(place, params.new_name or "")
            case "action":
                start, end = await _selected(path, params, context)
                offered = await refactoring.actions(path, start, end)
                if params.action is None:
                    return _listed(offered, context.files.shown(path))
                change = await refactoring.made(_chosen(offered, params.action))
            case "format":
                change = await refactoring.formatted(path)
            case "imports":
                change = await refactoring.imports(path)
        wish = Wish(context.call_id, self.describe(params))
        files = await proposals_of(change, asked_at, self.name, wish, context)
        if not files:
            return ToolOutput(data=_with(change, "Nothing to change."), description=f"{path.name}: no change")
        return await _carry_out(change, files, params, context)


async def _place(path: Path, params: RefactorParams, context: ToolContext) -> Place:
    asked = Asked(what="definition", symbol=(params.symbol or "").strip(". "), path=path, line=params.line)
    places = await Sources(context.files, context.search, context.servers).places.of(asked)
    if not places:
        raise ToolError(f"{params.symbol} is not in {context.files.shown(path)}")
    if len(places) > 1:
        lines = ", ".join(str(it.position("utf-32")["line"] + 1) for it in places)
        raise ToolError(f"{params.symbol} is defined on lines {lines} of {path.name}; say which is meant by `line`")
    return places[0]


async def _selected(path: Path, params: RefactorParams, context: ToolContext) -> tuple[int, int]:
    """The name if there is one, else what is on the line, in characters of the text."""
    if params.symbol:
        place = await _place(path, params, context)
        return place.start, place.start
    lines = Lines(context.files.read(path).text)
    line = (params.line or 1) - 1
    if not 0 <= line < max(1, len(lines)):
        raise ToolError(f"{context.files.shown(path)} has {len(lines)} lines")
    start = lines.offset(Position(line, 0), "utf-32")
    text = lines.between(Position(line, 0), Position(line, lines.width(line, "utf-32")), "utf-32")
    return start + len(text) - len(text.lstrip()), start + len(text.rstrip())


def _listed(offered: Sequence[Action], name: str) -> ToolOutput:
    lines = [f"- {it.title}{' (only runs a command, which Odin does not)' if it.only_runs else ''}" for it in offered]
    more = [f"({len(lines) - MAX_OFFERED} more)"] if len(lines) > MAX_OFFERED else []
    loading = {it.server.name for it in offered if not it.is_ready}
    if loading:
        more.append(f"({' and '.join(sorted(loading))} has not read the whole project yet; there may be more)")
    told = "\n".join([*lines[:MAX_OFFERED], *more]) or "No code actions are offered there."
    return ToolOutput(data=told, description=f"{number_of(len(offered), 'code action')} in {name}")


def _chosen(offered: Sequence[Action], title: str) -> Action:
    for it in offered:
        if it.title.casefold() == title.strip().casefold():
            return it
    titles = "; ".join(it.title for it in offered[:MAX_OFFERED]) or "none"
    raise ToolError(f"no code action is called {title} there; offered are: {titles}")


async def _carry_out(
    change: Change, files: Sequence[FileProposal], params: RefactorParams, context: ToolContext
) -> ToolOutput:
    before = {it.path: it.base for it in files}
    told_now = {it.path: it.proposed for it in files if it.operation in ("edit", "create")}
    what = _told(files, context)
    if params.what in ("rename", "action"):
        decided = await context.draft.propose_whole(files)
    else:
        decided = await context.draft.propose_all(files, context.call_id)
    if decided is None:
        lines = _lines_now(before, told_now, context)
        return report_files(before, told_now, [_with(change, what), LATER, *lines], context)
    others = [it for it in decided if any(receipt.state != "accepted" for receipt in it.receipts)]
    told = [report_receipts(others, context.files.shown)] if others else [f"Accepted: {_with(change, what)}"]
    if not any(is_made(it) for it in decided):
        raise ToolError("\n".join(told))
    _follow_files(files, context)
    made = [it.file.path for it in decided if is_made(it) and it.file.path in told_now]
    texts = {path: await context.draft.desk.applier.text_beside_loop(path) for path in made}
    now = {path: text for path, text in texts.items() if text is not None}
    if params.what != "rename":
        told += _lines_now(before, now, context)
    return report_files(before, now, told, context, partly=bool(others))


def _follow_files(files: Sequence[FileProposal], context: ToolContext) -> None:
    for it in files:
        if it.operation == "rename" and it.new_path is not None and not it.path.exists():
            context.shown.move(it.path, it.new_path)
        elif it.operation == "delete" and not it.path.exists():
            context.shown.forget(it.path)


def _told(files: Sequence[FileProposal], context: ToolContext) -> str:
    """What would be done, in a line."""
    edits = [it for it in files if it.operation == "edit"]
    named = [f"{context.files.shown(it.path)} {len(it.hunks)}" for it in edits[:MAX_NAMED]]
    named += [f"{number_of(len(edits) - MAX_NAMED, 'more file')}"] if len(edits) > MAX_NAMED else []
    count = number_of(sum(len(it.hunks) for it in edits), "change")
    told = [f"{count} in {number_of(len(edits), 'file')} ({', '.join(named)})"] if edits else []
    for it in files:
        if it.operation != "edit":
            to = f" to {context.files.shown(it.new_path)}" if it.new_path else ""
            verb = {"create": "created", "rename": "moved", "delete": "deleted"}[it.operation]
            told.append(f"{context.files.shown(it.path)} {verb}{to}")
    return f"{'; '.join(told)}."


def _with(change: Change, told: str) -> str:
    return f"{told} ({'; '.join(filter(None, (change.server, change.note)))})"


def _lines_now(before: dict[Path, str], now: dict[Path, str], context: ToolContext) -> list[str]:
    """The lines that are others now. What is not shown has to be read before it is edited."""
    told: list[str] = []
    for path, text in now.items():
        lines = split_lines(text)
        steps = difference(before[path], text).steps
        numbers = [at + 1 for _, _, first, last in steps for at in range(first, min(last, len(lines)))]
        if len(told) + len(numbers) > MAX_TOLD:
            context.shown.forget(path)
            told.append(f"{context.files.shown(path)}: {number_of(len(numbers), 'line')} changed; read it to edit it")
            continue
        told += [context.files.shown(path), *(f"{it}:{lines[it - 1]}" for it in numbers)]
        for it in numbers:
            context.shown.note(path, it, [lines[it - 1]])
    return told
