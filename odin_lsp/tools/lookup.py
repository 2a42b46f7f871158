"""Ask about code: where something is defined, who uses it, what is in a file."""

from collections.abc import Sequence
from typing import Literal

from odin_lsp.errors import ToolError
from odin_lsp.intelligence.by_name import ByName
from odin_lsp.intelligence.questions import Answer, Asked, Found
from odin_lsp.permissions.rules import Effect
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolOutput, clipped

MAX_FOUND = 200
MAX_LINE = 200


class LookupParams(Params):
    what: Literal["definition", "references", "callers", "outline", "symbols"]
    symbol: str | None = None
    """A name, or `Class.method`; for `symbols` a part of one."""
    file_path: str | None = None
    """Only here; for `outline` the file."""


class Lookup(Tool[LookupParams]):
    """Where a symbol is defined, all references to it (no comments, no strings), which functions use it, the outline of
    a file, symbols by a part of their name. Sees unsaved text."""

    name = "Lookup"
    effect = Effect.READ_ONLY
    params = LookupParams

    def describe(self, params: LookupParams) -> str:
        return f"look up {params.what} of {params.symbol or params.file_path}"

    async def prepare(self, params: LookupParams, context: ToolContext) -> None:
        if params.what == "outline" and not params.file_path:
            raise ToolError("an outline is of a file: name it as file_path")
        if params.what != "outline" and not (params.symbol or "").strip(". "):
            raise ToolError(f"name what to look up as `symbol`; {params.what} of a whole file cannot be told")

    async def execute(self, params: LookupParams, context: ToolContext) -> ToolOutput:
        path = await context.reach(params.file_path) if params.file_path else None
        asked = Asked(
            what=params.what, symbol=(params.symbol or "").strip(". "), path=path, drafts=dict(context.draft.texts)
        )
        answer = await ByName(context.files, context.search).ask(asked)
        entries = [*_entries(answer.found[:MAX_FOUND], context), *((note, None) for note in _notes(answer, asked))]
        data = clipped([line for line, _ in entries], "lines")
        for (line, it), told in zip(entries, data.split("\n"), strict=False):
            if it is not None and line == told and len(it.text) <= MAX_LINE:
                context.shown.note(it.path, it.line, [it.text])
        files = dict.fromkeys(context.files.shown(it.path) for it in answer.found)
        return ToolOutput(data=data, description=_summary(params, answer), files=tuple(files)[:100])


def _entries(found: Sequence[Found], context: ToolContext) -> list[tuple[str, Found | None]]:
    """Grouped by file: each line with its number, and what it is part of."""
    entries: list[tuple[str, Found | None]] = []
    for index, it in enumerate(found):
        if not index or found[index - 1].path != it.path:
            entries.append((context.files.shown(it.path), None))
        text = it.text if len(it.text) <= MAX_LINE else f"{it.text[:MAX_LINE]}…"
        entries.append((f"{it.line}:{text}" + (f"  [in {it.within}]" if it.within else ""), it))
    return entries


def _notes(answer: Answer, asked: Asked) -> list[str]:
    left = len(answer.found) - MAX_FOUND
    notes = [f"({left} more; name a folder or file as file_path)"] if left > 0 else []
    if not answer.found:
        notes.append(f"no {asked.what} of {asked.symbol or 'it'} found; Grep searches all text")
    return [*notes, f"({answer.source}{'; ' + answer.caveat if answer.caveat else ''})"]


def _summary(params: LookupParams, answer: Answer) -> str:
    count = len(answer.found)
    return f"{count} place{'' if count == 1 else 's'} for {params.what} of {params.symbol or params.file_path}"
