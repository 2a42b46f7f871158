"""Create a file, or give one a new text."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from odin_lsp.errors import ToolError
from odin_lsp.permissions.rules import Effect
from odin_lsp.review.proposals import FileProposal, Wish, edit_of, operation_of
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolOutput
from odin_lsp.tools.editing import carry_out, length, planned
from odin_lsp.workspace.comparing import with_ends_of
from odin_lsp.workspace.text import split_lines


class WriteFileParams(Params):
    file_path: str
    """Missing folders are created."""
    content: str
    """The whole text."""


class WriteFile(Tool[WriteFileParams]):
    """Create a file, or replace all of its text. A file that exists must have been read in full. To change parts of it
    use EditTool."""

    name = "WriteFile"
    effect = Effect.MUTATING
    params = WriteFileParams

    def describe(self, params: WriteFileParams) -> str:
        return f"write {params.file_path}"

    async def execute(self, params: WriteFileParams, context: ToolContext) -> ToolOutput:
        path = await context.reach(params.file_path)
        output = await _written(path, params, context)
        return replace(output, data=f"{output.data}\n{await length(path, context)}")


async def _written(path: Path, params: WriteFileParams, context: ToolContext) -> ToolOutput:
    name = context.files.shown(path)
    count = len(split_lines(params.content))
    if not path.exists() and context.files.buffers.of_path(path) is None and path not in context.draft.texts:
        wish = Wish(context.call_id, f"new file {name}")
        output = await carry_out(operation_of(path, "create", params.content, wish), context)
        context.shown.note(path, 1, split_lines(params.content), size=len(params.content), total=count)
        return output
    wish = Wish(context.call_id, f"new text of {name}")
    proposed = await planned(path, context, partial(_new_text, path, params.content, wish))
    seen, text = context.shown.of(path), proposed.lines
    if seen is None or not seen.is_whole or not context.shown.covers(path, 1, text.part(1, len(text))):
        raise ToolError(
            f"Must read file first: {name} exists, and you have not seen all of it as it is now; read it, or change"
            " parts of it with EditTool"
        )
    return await carry_out(proposed, context)


def _new_text(path: Path, content: str, wish: Wish, text: str, _: str) -> FileProposal:
    return edit_of(path, text, with_ends_of(text, content), wish)
