"""A tool's surroundings, with nothing but files and a person."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from odin_lsp.config import ReviewSettings, Timeouts
from odin_lsp.permissions.outside import OutsideGate
from odin_lsp.permissions.protected import caution
from odin_lsp.review.desk import ReviewDesk, TurnReview
from odin_lsp.review.drafts import Draft
from odin_lsp.review.saving import Saver
from odin_lsp.review.undo import UndoLog
from odin_lsp.tools.base import ToolContext, ToolOutput
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.search import Search
from odin_lsp.workspace.shown import Shown


def tool_context(
    files: Files,
    editor: Any,
    undo_folder: Path,
    *,
    mode: Any = "ask_mode",
    emit: Callable[[Any], None] = lambda event: None,
    review: ReviewSettings | None = None,
    timeouts: Timeouts | None = None,
) -> ToolContext:
    settings = review or ReviewSettings()
    desk = ReviewDesk(files, editor, lambda: (settings, timeouts or Timeouts()), caution, UndoLog(lambda: undo_folder))
    turn, shown = TurnReview("t", emit), Shown()
    return ToolContext(
        files=files,
        search=Search(files),
        editor=editor,
        mode=mode,
        session_id="s",
        emit=emit,
        shown=shown,
        outside=OutsideGate(editor),
        draft=Draft(desk, turn, shown),
        saver=Saver(files, editor, desk.applier, turn, shown, settings.save),
    )


async def reviewed(call: Coroutine[Any, Any, ToolOutput], context: ToolContext) -> ToolOutput:
    """A call as the executor makes it: it proposes, then what was gathered is reviewed."""
    task = asyncio.create_task(call)
    await context.draft.gathered(task)
    if not context.draft.waits_for_end:
        await context.draft.review()
    return await task
