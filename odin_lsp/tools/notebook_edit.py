"""Change a cell of a notebook."""

from typing import Literal

from odin_lsp.errors import ToolError
from odin_lsp.formats.notebooks import CellKind, Notebook
from odin_lsp.permissions.rules import Effect
from odin_lsp.review.proposals import Wish, edit_of
from odin_lsp.tasks import COMPARED, beside_loop
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolOutput
from odin_lsp.tools.editing import carry_out, readable
from odin_lsp.tools.seen_enough import require_seen, require_shown


class NotebookEditParams(Params):
    file_path: str
    action: Literal["replace", "insert", "delete"] = "replace"
    cell_id: str | None = None
    """Of the cell; for insert: of the one before, left out: at the beginning."""
    source: str = ""
    """Of the cell, from now on."""
    cell_type: CellKind = "code"
    """Of a new cell."""


class NotebookEdit(Tool[NotebookEditParams]):
    """Replace the source of a notebook's cell, insert a cell, or delete one. Read shows the cells with their ids. The
    user reviews the edit."""

    name = "NotebookEdit"
    effect = Effect.MUTATING
    params = NotebookEditParams

    def describe(self, params: NotebookEditParams) -> str:
        return f"{params.action} {params.cell_id or 'the first cell'} of {params.file_path}"

    async def execute(self, params: NotebookEditParams, context: ToolContext) -> ToolOutput:
        path = await context.reach(params.file_path)
        await require_shown(path, context)
        file = await readable(path, context, in_cell=params.action == "replace")
        notebook = await beside_loop(len(file.text), Notebook.of, file.text)
        name = context.files.shown(path)
        if notebook is None:
            raise ToolError(f"{name} is not a notebook that can be read; edit it as text")
        if params.cell_id is None and params.action != "insert":
            raise ToolError(f"cell_id is missing; {params.action} needs it")
        cell = notebook.find(params.cell_id) if params.cell_id else None
        notes: list[str] = []
        if cell is None or params.action == "insert":
            text, cell_id = notebook.inserted(cell, params.cell_type, params.source)
            notes = [f"The new cell is {cell_id}."]
        else:
            text = notebook.deleted(cell) if params.action == "delete" else notebook.replaced(cell, params.source)
        wish = Wish(context.call_id, f"{params.action} a cell of {name}")
        proposed = await beside_loop(COMPARED * len(text), edit_of, path, file.text, text, wish)
        if cell is not None and params.action != "insert":
            touched = [proposed.lines.numbers(cell.source_place.start, cell.source_place.end)]
            await require_seen(path, proposed.lines, touched, [], context)
        return await carry_out(proposed, context, notes)
