"""Several replacements in one file, all or none."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

from pydantic import Field

from odin_lsp.permissions.rules import Effect
from odin_lsp.review import matching
from odin_lsp.review.proposals import Wish, edit_of
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolOutput
from odin_lsp.tools.editing import PlannedEdit, carry_out, number_of, planned
from odin_lsp.tools.seen_enough import require_seen, require_shown


class OneEdit(Params):
    old_string: str
    new_string: str
    replace_all: bool = False


class MultiEditParams(Params):
    file_path: str
    edits: Annotated[tuple[OneEdit, ...], Field(min_length=1)]
    """As for EditTool, each on the result of the one before."""


class MultiEditTool(Tool[MultiEditParams]):
    """Make several replacements in one file that you have read, in order. If one of them cannot be made, none is."""

    name = "MultiEditTool"
    effect = Effect.MUTATING
    params = MultiEditParams

    def describe(self, params: MultiEditParams) -> str:
        return f"edit {params.file_path} in {number_of(len(params.edits), 'place')}"

    async def execute(self, params: MultiEditParams, context: ToolContext) -> ToolOutput:
        path = await context.reach(params.file_path)
        await require_shown(path, context)
        edits = [(it.old_string, it.new_string, it.replace_all) for it in params.edits]
        wish = Wish(context.call_id, f"{number_of(len(edits), 'edit')} of {context.files.shown(path)}")
        edit = await planned(path, context, partial(_plan, path, edits, wish))
        doubtful = [(old, new) for old, new, is_everywhere in edits if not is_everywhere]
        await require_seen(path, edit.proposal.lines, edit.touched, doubtful, context)
        return await carry_out(edit.proposal, context, edit.notes)


def _plan(path: Path, edits: Sequence[tuple[str, str, bool]], wish: Wish, text: str, before: str) -> PlannedEdit:
    made = matching.apply_all(text, edits, before)
    proposal = edit_of(path, text, made.text, wish)
    touched = [proposal.lines.numbers(*it) for it in made.touched]
    return PlannedEdit(proposal, touched, [f"Note: {note}." for note in made.forgiven])
