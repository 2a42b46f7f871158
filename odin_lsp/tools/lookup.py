"""Ask about code: what something is and where, who uses it, what is in a file, what is wrong with it."""

from collections.abc import Sequence
from typing import Literal

from odin_lsp.errors import ToolError
from odin_lsp.intelligence.asking import Sources
from odin_lsp.intelligence.questions import Answer, Asked, Found, What
from odin_lsp.permissions.rules import Effect
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolOutput
from odin_lsp.tools.known_problems import known_problems
from odin_lsp.tools.listing import clipped

MAX_FOUND = 200
MAX_LINE = 200
WITHOUT_SYMBOL = ("outline", "problems")


class LookupParams(Params):
    what: Literal[What, "problems"]
    symbol: str | None = None
    """A name, or `Class.method`; for `symbols` a part of one."""
    file_path: str | None = None
    """File with `symbol` in it, or folder to look in."""
    line: int | None = None
    """Line with `symbol` on it."""


class Lookup(Tool[LookupParams]):
    """Ask language servers about code, unsaved text included; the answer says what it is worth."""

    name = "Lookup"
    effect = Effect.READ_ONLY
    params = LookupParams

    def describe(self, params: LookupParams) -> str:
        return f"look up {params.what} of {params.symbol or params.file_path or 'the workspace'}"

    async def prepare(self, params: LookupParams, context: ToolContext) -> None:
        if params.what == "outline" and not params.file_path:
            raise ToolError("an outline is of a file: name it as file_path")
        if params.what not in WITHOUT_SYMBOL and not (params.symbol or "").strip(". "):
            raise ToolError(f"name what to look up as `symbol`; {params.what} of a whole file cannot be told")
        if params.line is not None and not params.file_path:
            raise ToolError("a line is of a file: name it as file_path")

    async def execute(self, params: LookupParams, context: ToolContext) -> ToolOutput:
        if params.what == "problems":
            return await known_problems(await context.reach(params.file_path) if params.file_path else None, context)
        asked = await _asked(params.what, params, context)
        answer = await Sources(context.files, context.search, context.servers).ask(asked)
        entries = [*_entries(answer.found[:MAX_FOUND], context), *((note, None) for note in _notes(answer, asked))]
        data = clipped((line for line, _ in entries), len(entries), "lines")
        for (line, it), told in zip(entries, data.split("\n"), strict=False):
            if it is not None and it.text is not None and line == told and len(it.text) <= MAX_LINE:
                context.shown.note(it.path, it.line, [it.text])
        files = [context.files.shown(path) for path in dict.fromkeys(it.path for it in answer.found)]
        said = f"{answer.text}\n{data}" if answer.text else data
        return ToolOutput(data=said, description=_summary(params, answer), files=tuple(files)[:100])


async def _asked(what: What, params: LookupParams, context: ToolContext) -> Asked:
    """A file is where the symbol is; a folder, or for a part of a name also a file, is where to look."""
    path = await context.reach(params.file_path) if params.file_path else None
    is_place = path is not None and what != "symbols" and not path.is_dir()
    return Asked(
        what=what,
        symbol=(params.symbol or "").strip(". "),
        path=path if is_place or what == "outline" else None,
        line=params.line if is_place else None,
        folder=None if is_place else path,
        drafts=dict(context.draft.texts),
    )


def _entries(found: Sequence[Found], context: ToolContext) -> list[tuple[str, Found | None]]:
    """Grouped by file: each line with its number, and what it is part of."""
    entries: list[tuple[str, Found | None]] = []
    for index, it in enumerate(found):
        if not index or found[index - 1].path != it.path:
            entries.append((context.files.shown(it.path), None))
        text = " (outside of the workspace)" if it.text is None else it.text
        text = text if len(text) <= MAX_LINE else f"{text[:MAX_LINE]}…"
        marks = f"{f'  [in {it.within}]' if it.within else ''}{'  [by name]' if it.is_by_name else ''}"
        entries.append((f"{it.line}:{text}{marks}", it))
    return entries


def _notes(answer: Answer, asked: Asked) -> list[str]:
    left = max(0, len(answer.found) - MAX_FOUND) + answer.more
    narrower = "ask again from a later `line` on" if asked.what == "outline" else "name a folder as file_path"
    notes = [f"({left} more; {narrower})"] if left > 0 else []
    if not answer.found and not answer.text:
        found = f"no {asked.what} of {asked.symbol or 'it'} found" if answer.is_complete else "nothing is known yet"
        notes.append(f"{found}; Grep searches all text")
    return [*notes, f"({'; '.join(filter(None, (answer.source, answer.caveat)))})"]


def _summary(params: LookupParams, answer: Answer) -> str:
    count = len(answer.found)
    told = f"{count} place{'' if count == 1 else 's'}" if count or not answer.text else "a text"
    return f"{told} for {params.what} of {params.symbol or params.file_path}"
