"""Delete a file or a folder."""

from odin_lsp.errors import ToolError
from odin_lsp.permissions.rules import Effect
from odin_lsp.review.proposals import Wish, operation_of
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolOutput
from odin_lsp.tools.editing import carry_out, readable
from odin_lsp.tools.missing import missing


class DeleteFileParams(Params):
    file_path: str
    recursive: bool = False
    """Also a folder that is not empty."""


class DeleteFile(Tool[DeleteFileParams]):
    """Delete a file or a folder."""

    name = "DeleteFile"
    effect = Effect.MUTATING
    params = DeleteFileParams
    deletes_files = True

    def describe(self, params: DeleteFileParams) -> str:
        return f"delete {params.file_path}"

    async def execute(self, params: DeleteFileParams, context: ToolContext) -> ToolOutput:
        path = await context.reach(params.file_path)
        await context.draft.settle(path)
        if not path.exists():
            raise await missing(path, context)
        if path.is_dir() and any(path.iterdir()) and not params.recursive:
            raise ToolError(f"{path} is a folder that is not empty; set recursive to delete all of it")
        text = "" if path.is_dir() else (await readable(path, context)).text
        wish = Wish(context.call_id, f"delete {context.files.shown(path)}")
        output = await carry_out(operation_of(path, "delete", text, wish, recursive=params.recursive), context)
        context.shown.forget(path)
        return output
