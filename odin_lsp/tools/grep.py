"""Search file contents."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from odin_lsp.errors import ToolError
from odin_lsp.permissions.rules import Effect
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolOutput, clipped
from odin_lsp.workspace.opening import is_file
from odin_lsp.workspace.search import MAX_COLUMNS, Hit, Query
from odin_lsp.workspace.uris import printable

Lines = Annotated[int, Field(ge=0, le=1000)]


class GrepParams(Params):
    pattern: str
    """Regular expression (ripgrep's dialect)."""
    path: str | None = None
    """Absolute path of a file or directory; the workspace if left out."""
    glob: str | None = None
    """Only files with such names, for example `*.ts`."""
    type: str | None = None
    """Only files of this type: py, js, rust, go …"""
    output_mode: Literal["content", "files_with_matches", "count"] = "files_with_matches"
    line_numbers: bool = Field(default=True, alias="-n")
    """Show line numbers (content)."""
    ignore_case: bool = Field(default=False, alias="-i")
    """Ignore case."""
    after: Lines | None = Field(default=None, alias="-A")
    """Lines to show after each match (content)."""
    before: Lines | None = Field(default=None, alias="-B")
    """Lines to show before each match (content)."""
    around: Lines | None = Field(default=None, alias="-C")
    """Lines to show around each match (content)."""
    head_limit: Annotated[int, Field(ge=1)] | None = None
    """Only the first so many lines or files."""
    multiline: bool = False
    """Let the pattern match across lines."""
    offset: Annotated[int, Field(ge=1)] | None = None
    """For one file: its first line to search. Else: the first entry to show."""
    limit: Annotated[int, Field(ge=1)] | None = None
    """For one file: how many of its lines to search. Else: how many entries to show."""


class Grep(Tool[GrepParams]):
    """Search file contents by regular expression; sees unsaved text. Several independent searches belong into one step.
    `files_with_matches` lists files, `content` shows lines, `count` counts."""

    name = "Grep"
    effect = Effect.READ_ONLY
    params = GrepParams

    def describe(self, params: GrepParams) -> str:
        return f"search for {params.pattern}"

    async def prepare(self, params: GrepParams, context: ToolContext) -> None:
        if "\0" in params.pattern or "\0" in (params.glob or "") + (params.type or ""):
            raise ToolError("a pattern cannot contain a NUL character")

    async def execute(self, params: GrepParams, context: ToolContext) -> ToolOutput:
        folders = await context.folders(params.path)
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
        hits: list[Hit] = []
        complete = True
        for folder in folders:
            found, whole = await context.search.grep(query, folder, context.draft.texts)
            hits, complete = hits + found, complete and whole
        if params.output_mode == "content" and params.path is not None and is_file(folders[0]):
            hits = _window(hits, params.offset, params.limit)
            entries = _entries(hits, params)
        else:
            entries = _entries(hits, params)[(params.offset or 1) - 1 :][: params.limit]
        left = max(0, len(entries) - (params.head_limit or len(entries)))
        entries = entries[: len(entries) - left]
        notes = [f"({left} more)"] if left else []
        notes += [] if complete else ["(there is more; narrow the path or the pattern)"]
        data = clipped([*(line for line, _ in entries), *notes], "lines")
        if params.output_mode == "content":
            _note_shown(entries, data.split("\n"), context)
        return ToolOutput(
            data=data or "No matches found",
            description=f"{_count(hits)} for {params.pattern}",
            files=tuple(dict.fromkeys(printable(str(hit.path)) for hit in hits))[:100],
        )


Entry = tuple[str, Hit | None]
"""A line of the answer, and the hit that it shows."""


def _note_shown(entries: Sequence[Entry], shown: Sequence[str], context: ToolContext) -> None:
    """A line that a search showed in full has been seen like one that was read."""
    for (line, hit), answer in zip(entries, shown, strict=False):
        if hit is not None and line == answer and len(hit.text.encode()) < MAX_COLUMNS:
            context.shown.note(hit.path, hit.line, [hit.text])


def _window(hits: list[Hit], offset: int | None, limit: int | None) -> list[Hit]:
    first = offset or 1
    return [hit for hit in hits if first <= hit.line and (limit is None or hit.line < first + limit)]


def _entries(hits: list[Hit], params: GrepParams) -> list[Entry]:
    match params.output_mode:
        case "files_with_matches":
            return [(printable(str(hit.path)), hit) for hit in hits]
        case "count":
            return [(f"{printable(str(hit.path))}:{hit.count}", hit) for hit in hits]
        case "content":
            return _content(hits, params)


def _content(hits: list[Hit], params: GrepParams) -> list[Entry]:
    """`path:12:text` for a match, `path-11-text` for its surroundings, `--` between groups that do not touch."""
    entries: list[Entry] = []
    groups = bool(params.before or params.after or params.around)
    for index, hit in enumerate(hits):
        last = hits[index - 1] if index else hit
        if groups and index and (last.path != hit.path or last.line + 1 < hit.line):
            entries.append(("--", None))
        mark = ":" if hit.is_match else "-"
        number = f"{hit.line}{mark}" if params.line_numbers else ""
        entries.append((f"{printable(str(hit.path))}{mark}{number}{hit.text}", hit))
    return entries


def _count(hits: list[Hit]) -> str:
    files = len({hit.path for hit in hits})
    return f"{files} file{'' if files == 1 else 's'} found"
