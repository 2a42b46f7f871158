"""Rename a file or a folder."""

from odin_lsp.errors import ToolError
from odin_lsp.permissions.rules import Effect
from odin_lsp.review.proposals import Wish, operation_of
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolOutput
from odin_lsp.tools.editing import carry_out


class MoveFileParams(Params):
    file_path: str
    """Absolute path of what to move."""
    new_path: str
    """Absolute path of where to; nothing may be there."""


class MoveFile(Tool[MoveFileParams]):
    """Rename or move a file or folder; the user reviews it. Nothing is overwritten."""

    name = "MoveFile"
    effect = Effect.MUTATING
    params = MoveFileParams

    def describe(self, params: MoveFileParams) -> str:
        return f"move {params.file_path} to {params.new_path}"

    async def execute(self, params: MoveFileParams, context: ToolContext) -> ToolOutput:
        path, new_path = await context.reach(params.file_path), await context.reach(params.new_path)
        await context.draft.settle(path)
        if not path.exists():
            raise ToolError(f"{path} does not exist")
        if new_path.exists():
            raise ToolError(f"{new_path} exists already; choose another name or delete it first")
        wish = Wish(context.call_id, f"move {context.files.shown(path)}")
        output = await carry_out(operation_of(path, "rename", wish=wish, new_path=new_path), context)
        context.shown.move(path, new_path)
        return output
