"""Replace a passage of a file."""

from functools import partial
from pathlib import Path

from odin_lsp.permissions.rules import Effect
from odin_lsp.review import matching
from odin_lsp.review.proposals import Wish, edit_of
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolOutput
from odin_lsp.tools.editing import PlannedEdit, carry_out, planned
from odin_lsp.tools.seen_enough import require_seen, require_shown


class EditParams(Params):
    file_path: str
    old_string: str
    """The passage to replace, exactly as Read shows it without the line numbers. It must occur once."""
    new_string: str
    replace_all: bool = False
    """Replace every occurrence."""


class EditTool(Tool[EditParams]):
    """Replace one exact passage of a file that you have read. The user reviews the edit; the result says what they
    decided. For several edits of one file use MultiEditTool; for a new file WriteFile."""

    name = "EditTool"
    effect = Effect.MUTATING
    params = EditParams

    def describe(self, params: EditParams) -> str:
        return f"edit {params.file_path}"

    async def execute(self, params: EditParams, context: ToolContext) -> ToolOutput:
        path = await context.reach(params.file_path)
        await require_shown(path, context)
        wish = Wish(context.call_id, f"edit of {context.files.shown(path)}")
        edit = await planned(path, context, partial(_plan, path, params, wish))
        doubtful = [] if params.replace_all else [(params.old_string, params.new_string)]
        await require_seen(path, edit.proposal.lines, edit.touched, doubtful, context)
        return await carry_out(edit.proposal, context, edit.notes)


def _plan(path: Path, params: EditParams, wish: Wish, text: str, before: str) -> PlannedEdit:
    match = matching.find(text, params.old_string, params.new_string, replace_all=params.replace_all, before=before)
    proposal = edit_of(path, text, matching.replaced(text, match), wish)
    touched = [proposal.lines.numbers(it.start, it.end) for it in match.replacements]
    return PlannedEdit(proposal, touched, [f"Note: {match.how}."] if match.how else [])
