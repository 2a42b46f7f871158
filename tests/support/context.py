"""A tool's surroundings, with nothing but files and a person."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from odin_lsp.commands.session import SessionCommands, judged_by
from odin_lsp.config import Config
from odin_lsp.permissions.approvals import Approvals
from odin_lsp.permissions.gate import Gate
from odin_lsp.permissions.outside import OutsideGate
from odin_lsp.permissions.protected import caution
from odin_lsp.review.desk import ReviewDesk
from odin_lsp.review.drafts import Draft
from odin_lsp.review.journal import ReviewJournal
from odin_lsp.review.saving import Saver
from odin_lsp.review.turn_review import TurnReview
from odin_lsp.review.undo_log import UndoLog
from odin_lsp.tools.base import ToolContext, ToolOutput
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.search import Search
from odin_lsp.workspace.shown import Shown
from tests.support.closing import at_the_end


def tool_context(
    files: Files,
    editor: Any,
    undo_folder: Path,
    *,
    mode: Any = "ask_mode",
    emit: Callable[[Any], None] = lambda event: None,
    config: Config | None = None,
) -> ToolContext:
    settings = config or Config()
    root = next(iter(files.roots), None)
    gate = Gate(editor, lambda: settings, lambda: root, Approvals(undo_folder / "approvals.json"))
    desk = ReviewDesk(
        files,
        editor,
        lambda: (settings.review, settings.timeouts),
        caution,
        UndoLog(lambda: undo_folder),
        ReviewJournal(lambda: undo_folder / "reviews"),
    )
    turn, shown = TurnReview("t", emit), Shown()
    commands = SessionCommands(lambda: settings, judged_by(gate.rules))
    at_the_end(desk.close)
    at_the_end(commands.close)
    return ToolContext(
        files=files,
        search=Search(files),
        editor=editor,
        mode=mode,
        session_id="s",
        emit=emit,
        shown=shown,
        gate=gate,
        outside=OutsideGate(editor),
        commands=commands,
        draft=Draft(desk, turn, shown),
        saver=Saver(files, editor, editor, desk.applier, turn, shown, settings.review.save),
    )


async def reviewed(call: Coroutine[Any, Any, ToolOutput], context: ToolContext) -> ToolOutput:
    """A call as the executor makes it: it proposes, then what was gathered is reviewed."""
    task = asyncio.create_task(call)
    await context.draft.gathered(task)
    if not context.draft.waits_for_end:
        await context.draft.review()
    return await task
