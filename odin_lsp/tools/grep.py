"""Search file contents."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AliasChoices, Field

from odin_lsp.errors import ToolError
from odin_lsp.permissions.rules import Effect
from odin_lsp.tools.base import MAX_RESULT_CHARS, Params, Tool, ToolContext, ToolOutput
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.hits import Hit
from odin_lsp.workspace.search import MAX_COLUMNS, Query
from odin_lsp.workspace.uris import printable

PAGE = 100
"""Lines or files that are shown unless more are asked for."""
MAX_PAGE_CHARS = 12_000
MAX_COUNTED = 10
"""Files that are named with what is left of them."""
MAX_TOLD_FILES = 100
"""Files that people are told of."""
Lines = Annotated[int, Field(ge=0, le=1000)]


class GrepParams(Params):
    pattern: str
    """Regular expression (ripgrep's dialect)."""
    path: str | None = None
    """File or folder; default: the workspace."""
    glob: str | None = None
    """Only files with such names: `*.ts`."""
    type: str | None = None
    """Only files of this type: py, js, rust …"""
    output_mode: Literal["content", "files_with_matches", "count"] = "content"
    line_numbers: bool = Field(default=True, alias="-n")
    ignore_case: bool = Field(default=False, alias="-i")
    after: Lines | None = Field(default=None, alias="-A")
    before: Lines | None = Field(default=None, alias="-B")
    around: Lines | None = Field(default=None, alias="-C")
    multiline: bool = False
    """The pattern may span lines."""
    offset: Annotated[int, Field(ge=1)] = 1
    """First line or file to show."""
    limit: Annotated[int, Field(ge=1)] | None = Field(
        default=None, validation_alias=AliasChoices("limit", "head_limit")
    )
    """Default: 100."""


class Grep(Tool[GrepParams]):
    """Search file contents by regular expression; sees unsaved text. `content` shows `line:text` below each file, and
    these lines may be edited; `files_with_matches` lists files, `count` counts."""

    name = "Grep"
    effect = Effect.READ_ONLY
    params = GrepParams

    def describe(self, params: GrepParams) -> str:
        return f"search for {params.pattern}"

    async def prepare(self, params: GrepParams, context: ToolContext) -> None:
        if "\0" in params.pattern or "\0" in (params.glob or "") + (params.type or ""):
            raise ToolError("a pattern cannot contain a NUL character")

    async def execute(self, params: GrepParams, context: ToolContext) -> ToolOutput:
        query = Query(
            pattern=params.pattern,
            output_mode=params.output_mode,
            glob=params.glob,
            type=params.type,
            ignore_case=params.ignore_case,
            multiline=params.multiline,
            before=params.before if params.before is not None else params.around or 0,
            after=params.after if params.after is not None else params.around or 0,
        )
        began = time.time_ns()
        hits: list[Hit] = []
        complete = True
        for folder in await context.folders(params.path):
            found, whole = await context.search.grep(query, folder, context.draft.texts)
            hits, complete = hits + found, complete and whole
        first = params.offset - 1
        wanted = hits[first : first + (params.limit or PAGE)]
        shown = _that_fit(wanted, MAX_RESULT_CHARS if params.limit else MAX_PAGE_CHARS)
        if params.output_mode == "content":
            await _note_shown(shown, context, began)
        notes = [] if complete else ["(there is more; narrow the path or the pattern)"]
        notes += [f"(the result has only {len(hits)} lines or files)"] if hits and not shown else []
        around = await asyncio.to_thread(_around, hits, first + len(shown), params, context.files)
        between = "\n\n" if params.output_mode == "content" else "\n"
        return ToolOutput(
            data=between.join([*_blocks(shown, params, context), *notes, *around.left]) or "No matches found",
            description=f"{around.count} file{'' if around.count == 1 else 's'} found for {params.pattern}",
            files=around.files,
        )


@dataclass(frozen=True, slots=True)
class _Around:
    """What is told of all hits, of which a page is shown."""

    count: int
    """How many files have one."""
    files: tuple[str, ...]
    """Some of these."""
    left: list[str]
    """What comes behind the page, and where it is."""


def _around(hits: Sequence[Hit], shown_to: int, params: GrepParams, files: Files) -> _Around:
    found = dict.fromkeys(hit.path for hit in hits)
    names = dict.fromkeys(printable(str(path)) for path in islice(found, MAX_TOLD_FILES))
    return _Around(len(found), tuple(names), _left(hits[shown_to:], shown_to + 1, params, files))


def _that_fit(hits: Sequence[Hit], most: int) -> Sequence[Hit]:
    """Whole lines, at least one."""
    size = 0
    for index, hit in enumerate(hits):
        is_first = index == 0 or hits[index - 1].path != hit.path
        size += len(hit.text) + 8 + (len(str(hit.path)) if is_first else 0)
        if size > most and index:
            return hits[:index]
    return hits


async def _note_shown(hits: Sequence[Hit], context: ToolContext, began: int) -> None:
    """A line that a search showed in full has been seen like one that was read, and is kept like it."""
    found: dict[Path, dict[int, str]] = {}
    for hit in hits:
        if len(hit.text.encode()) < MAX_COLUMNS:
            found.setdefault(hit.path, {})[hit.line] = hit.text
    for path, lines in found.items():
        stamp = None if path in context.draft.texts else await context.files.hold(path, lines, began)
        for number, line in lines.items():
            context.shown.note(path, number, [line], stamp=stamp)


def _blocks(hits: Sequence[Hit], params: GrepParams, context: ToolContext) -> list[str]:
    """One for each file."""
    name = context.files.shown
    match params.output_mode:
        case "files_with_matches":
            return [name(hit.path) for hit in hits]
        case "count":
            return [f"{name(hit.path)}:{hit.count}" for hit in hits]
        case "content":
            grouped = groupby(hits, key=lambda hit: hit.path)
            return ["\n".join([name(path), *_content(list(found), params)]) for path, found in grouped]


def _content(hits: Sequence[Hit], params: GrepParams) -> list[str]:
    """`12:text` for a match, `11-text` for its surroundings, `--` between groups that do not touch. No line looks like
    the name of a file."""
    rows: list[str] = []
    groups = bool(params.before or params.after or params.around)
    for index, hit in enumerate(hits):
        if groups and index and hits[index - 1].line + 1 < hit.line:
            rows.append("--")
        mark = ":" if hit.is_match else "-"
        rows.append(f"{hit.line if params.line_numbers else ''}{mark}{hit.text}")
    return rows


def _left(hits: Sequence[Hit], offset: int, params: GrepParams, files: Files) -> list[str]:
    if not hits:
        return []
    go_on = f"offset {offset} goes on"
    if params.output_mode != "content":
        return [f"({len(hits)} more files; {go_on})"]
    counts = Counter(hit.path for hit in hits).most_common()
    named = [f"{files.shown(path)} {count}" for path, count in counts[:MAX_COUNTED]]
    others = counts[MAX_COUNTED:]
    named += [f"{len(others)} other files {sum(count for _, count in others)}"] if others else []
    return [f"({len(hits)} more lines: {', '.join(named)}; {go_on})"]
