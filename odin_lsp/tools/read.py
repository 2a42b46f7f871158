"""Read a file."""

from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import Field

from odin_lsp.errors import FileMissing
from odin_lsp.permissions.rules import Effect
from odin_lsp.tools.base import MAX_RESULT_CHARS, Params, Tool, ToolContext, ToolOutput
from odin_lsp.tools.missing import missing
from odin_lsp.workspace.files import Window
from odin_lsp.workspace.uris import printable

MAX_LINES = 2000
MAX_LINE_CHARS = 2000


class ReadParams(Params):
    file_path: str
    offset: Annotated[int, Field(ge=1)] = 1
    """First line to show."""
    limit: Annotated[int, Field(ge=1)] = MAX_LINES
    """How many lines to show."""


class Read(Tool[ReadParams]):
    """Read a file as the user sees it, unsaved changes included, with line numbers. A notebook is its JSON, also
    for edits; while it is open in a notebook editor it cannot be edited."""

    name = "Read"
    effect = Effect.READ_ONLY
    params = ReadParams

    def describe(self, params: ReadParams) -> str:
        return f"read {params.file_path}"

    async def execute(self, params: ReadParams, context: ToolContext) -> ToolOutput:
        path = await context.reach(params.file_path)
        try:
            window = context.window(path, params.offset, min(params.limit, MAX_LINES))
        except FileMissing:
            raise missing(path, context) from None
        shown, size = list[str](), 0
        for line in window.lines:
            size += min(len(line), MAX_LINE_CHARS) + 8
            if size > MAX_RESULT_CHARS and shown:
                break
            shown.append(line)
        context.shown.note(path, params.offset, shown, size=window.size, total=window.total, stamp=window.stamp)
        last = params.offset + len(shown) - 1
        return ToolOutput(
            data="\n".join([*_numbered(shown, params.offset, window.cut), *_notes(window, params.offset, last)]),
            description=f"{context.files.shown(path)} {params.offset}-{last}" if shown else context.files.shown(path),
            files=(printable(str(path)),),
        )


def _numbered(lines: list[str], first: int, cut: Mapping[int, int]) -> Iterator[str]:
    for index, line in enumerate(lines):
        length = f"{cut[index]:,} bytes" if index in cut else f"{len(line):,} characters"
        text = line if len(line) <= MAX_LINE_CHARS else f"{line[:MAX_LINE_CHARS]}… ({length})"
        yield f"{first + index:6}\t{text}"


def _notes(window: Window, first: int, last: int) -> Iterator[str]:
    if window.note:
        yield f"({window.note})"
    if window.path.suffix == ".ipynb":
        yield "(a notebook, as the JSON that it is stored in)"
    if window.total == 0:
        yield "(the file is empty)"
    elif window.total is not None and first > window.total:
        yield f"(the file has only {window.total} lines; set offset to one of them)"
    elif window.total is None:
        yield f"(lines {first}-{last} of a file of {window.size:,} bytes; go on with offset {last + 1})"
    elif last < window.total:
        yield f"(lines {first}-{last} of {window.total}; go on with offset {last + 1})"
