"""Read a file."""

from typing import Annotated

from pydantic import Field

from odin_lsp.permissions.rules import Effect
from odin_lsp.tools.base import MAX_RESULT_CHARS, Params, Tool, ToolContext, ToolOutput
from odin_lsp.workspace.text import split_lines

MAX_LINES = 2000
MAX_LINE_CHARS = 2000


class ReadParams(Params):
    file_path: str
    """Absolute path."""
    offset: Annotated[int, Field(ge=1)] = 1
    """First line to show."""
    limit: Annotated[int, Field(ge=1)] = MAX_LINES
    """How many lines to show."""


class Read(Tool[ReadParams]):
    """Read a file as the user sees it, unsaved changes included, with line numbers. Read several files in one step."""

    name = "Read"
    effect = Effect.READ_ONLY
    params = ReadParams

    def describe(self, params: ReadParams) -> str:
        return f"read {params.file_path}"

    async def execute(self, params: ReadParams, context: ToolContext) -> ToolOutput:
        file = context.files.read(context.files.resolve(params.file_path))
        lines = split_lines(file.text)
        first = params.offset
        shown = list[str]()
        size = 0
        for number, line in enumerate(lines[first - 1 : first - 1 + min(params.limit, MAX_LINES)], first):
            text = line if len(line) <= MAX_LINE_CHARS else f"{line[:MAX_LINE_CHARS]}… ({len(line):,} characters)"
            size += len(text) + 8
            if size > MAX_RESULT_CHARS and shown:
                break
            shown.append(f"{number:6}\t{text}")
        last = first + len(shown) - 1
        notes = ["(unsaved changes are shown)"] if file.unsaved else []
        if not lines:
            notes.append("(the file is empty)")
        elif first > len(lines):
            notes.append(f"(the file has only {len(lines)} lines)")
        elif last < len(lines):
            notes.append(f"(lines {first}-{last} of {len(lines)}; go on with offset {last + 1})")
        return ToolOutput(
            data="\n".join([*shown, *notes]),
            description=f"{context.files.shown(file.path)} {first}-{last}" if shown else context.files.shown(file.path),
            files=(str(file.path),),
        )
