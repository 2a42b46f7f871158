"""Read a file."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from odin_lsp.errors import FileMissing
from odin_lsp.permissions.rules import Effect
from odin_lsp.tools.base import MAX_RESULT_CHARS, Params, Tool, ToolContext, ToolOutput
from odin_lsp.tools.missing import missing
from odin_lsp.tools.showing import shown_otherwise
from odin_lsp.workspace.comparing import changed_lines
from odin_lsp.workspace.told import ToldText
from odin_lsp.workspace.uris import printable
from odin_lsp.workspace.views import Window

MAX_LINES = 2000
MAX_LINE_CHARS = 2000
UNCHANGED = "(nothing has changed since you read it; set offset to be shown lines again)"
CHANGES = "(only what has changed since you read it; all other lines are the same. Set offset to be shown any of them)"


class ReadParams(Params):
    file_path: str
    offset: Annotated[int, Field(ge=1)] = 1
    """First line to show."""
    limit: Annotated[int, Field(ge=1)] = MAX_LINES
    """Lines to show."""


class Read(Tool[ReadParams]):
    """Read a file as the user sees it, unsaved changes included, with line numbers. Images are shown; of PDFs
    `offset` and `limit` count pages, of notebooks cells."""

    name = "Read"
    effect = Effect.READ_ONLY
    params = ReadParams

    def describe(self, params: ReadParams) -> str:
        return f"read {params.file_path}"

    async def execute(self, params: ReadParams, context: ToolContext) -> ToolOutput:
        path = await context.reach(params.file_path)
        told = None if params.model_fields_set & {"offset", "limit"} else _known(path, context)
        count, asked = min(params.limit, MAX_LINES), params.limit if "limit" in params.model_fields_set else None
        try:
            if (other := await shown_otherwise(path, params.offset, asked, context)) is not None:
                return other
            window = await context.window(path, params.offset, count + len(told.lines) if told else count)
        except FileMissing:
            raise await missing(path, context) from None
        shown, size = list[str](), 0
        for line in window.lines[:count]:
            size += min(len(line), MAX_LINE_CHARS) + 8
            if size > MAX_RESULT_CHARS and shown:
                break
            shown.append(line)
        if told and (changes := _changes(told, window)) and sum(map(len, changes)) < size:
            return _since(told, changes, window, context)
        context.shown.note(path, params.offset, shown, size=window.size, total=window.total, stamp=window.stamp)
        context.shown.tell(path, _told(shown, params.offset, window, context.call_id))
        last = params.offset + len(shown) - 1
        return ToolOutput(
            data="\n".join([*_numbered(shown, params.offset, window.cut), *_notes(window, params.offset, last)]),
            description=f"{context.files.shown(path)} {params.offset}-{last}" if shown else context.files.shown(path),
            files=(printable(str(path)),),
        )


def _known(path: Path, context: ToolContext) -> ToldText | None:
    """The whole text as it was told, if it is all in the conversation."""
    told = context.shown.told(path)
    return told if told and told.is_whole and context.has_results(told.calls) else None


def _told(shown: Sequence[str], first: int, window: Window, call_id: str) -> ToldText:
    """Without lines that were told in part."""
    whole = {
        first + index: line
        for index, line in enumerate(shown)
        if index not in window.cut and len(line) <= MAX_LINE_CHARS
    }
    return ToldText(whole, window.total, window.stamp, frozenset({call_id}))


def _changes(told: ToldText, window: Window) -> list[str] | None:
    """What the model has to be told to know all of the text; `None` if only its lines can tell that."""
    is_whole = window.total == len(window.lines) and not window.cut
    if not is_whole or any(len(line) > MAX_LINE_CHARS for line in window.lines):
        return None
    entries: list[str] = []
    for first, last, new_first, new_last in changed_lines(told.text, window.lines):
        was = f"in place of what was {_span(first, last)}" if last > first else "new"
        if new_last > new_first:
            entries += [f"{_span(new_first, new_last)}, {was}:"]
            entries += _numbered(window.lines[new_first:new_last], new_first + 1, {})
        else:
            entries.append(f"after line {new_first}, without what was {_span(first, last)}")
    return [*entries, CHANGES if entries else UNCHANGED]


def _span(first: int, last: int) -> str:
    """Lines from the first to before the last number, counted from 0, as people count them."""
    return f"line {last}" if last == first + 1 else f"lines {first + 1}-{last}"


def _since(told: ToldText, changes: Sequence[str], window: Window, context: ToolContext) -> ToolOutput:
    context.shown.note(window.path, 1, window.lines, size=window.size, total=window.total, stamp=window.stamp)
    context.shown.tell(window.path, told.renewed(window.lines, window.stamp, context.call_id))
    is_changed = changes[-1] == CHANGES
    return ToolOutput(
        data="\n".join([*changes, *_notes(window, 1, len(window.lines))]),
        description=f"{context.files.shown(window.path)} ({'what has changed' if is_changed else 'unchanged'})",
        files=(printable(str(window.path)),),
    )


def _numbered(lines: Sequence[str], first: int, cut: Mapping[int, int]) -> Iterator[str]:
    for index, line in enumerate(lines):
        length = f"{cut[index]:,} bytes" if index in cut else f"{len(line):,} characters"
        text = line if len(line) <= MAX_LINE_CHARS else f"{line[:MAX_LINE_CHARS]}… ({length})"
        yield f"{first + index:6}\t{text}"


def _notes(window: Window, first: int, last: int) -> Iterator[str]:
    if window.note:
        yield f"({window.note})"
    if window.total == 0:
        yield "(the file is empty)"
    elif window.total is not None and first > window.total:
        yield f"(the file has only {window.total} lines; set offset to one of them)"
    elif window.total is None:
        yield f"(lines {first}-{last} of a file of {window.size:,} bytes; go on with offset {last + 1})"
    elif last < window.total:
        yield f"(lines {first}-{last} of {window.total}; go on with offset {last + 1})"
