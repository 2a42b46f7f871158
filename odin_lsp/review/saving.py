"""Edits land in the editor's documents. This has them saved, and tells what a formatter made of them."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from odin_lsp.events import Notice
from odin_lsp.ports import Asker, Editor, Option, Question
from odin_lsp.review.applying import Applier
from odin_lsp.review.hunks import hunks_between
from odin_lsp.review.turn_review import TurnReview
from odin_lsp.tasks import COMPARED, beside_loop
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.shown import Shown, shown_or_written
from odin_lsp.workspace.text import Lines, split_lines

MAX_LINES = 40


@dataclass(frozen=True, slots=True)
class Saver:
    """One turn's."""

    files: Files
    editor: Editor
    asker: Asker
    applier: Applier
    turn: TurnReview
    shown: Shown
    policy: Literal["touched", "ask", "never"]

    async def save(self, *, at_end: bool = False) -> str:
        """Save what the turn has touched; what the model should know of it. At the end of a turn, documents in which
        the user had unsaved changes of their own are left to the user, as notebooks always are."""
        ours = {path for path, was_clean in self.turn.touched.items() if was_clean or not at_end}
        buffers = [it for it in self.files.buffers if it.path in ours and it.unsaved and not it.is_notebook]
        uris = {it.path: it.uri for it in buffers if it.path is not None}
        if not uris or not await self._may_save(uris):
            return ""
        before = {path: await self.applier.text_beside_loop(path) for path in uris}
        failed = dict(await self.editor.save(tuple(uris.values())))
        saved = [self.files.shown(path) for path, uri in uris.items() if uri not in failed and self._is_saved(path)]
        if saved:
            self.turn.emit(Notice("info", f"saved {', '.join(saved)}"))
        problems = [f"{uri} could not be saved: {reason}" for uri, reason in failed.items()]
        for problem in problems:
            self.turn.emit(Notice("error", problem))
        formatted = [await self._follow_formatter(path, text) for path, text in before.items()]
        return "\n".join([*problems, *filter(None, formatted)])

    def _is_saved(self, path: Path) -> bool:
        buffer = self.files.buffers.of_path(path)
        return buffer is None or not buffer.unsaved

    async def _follow_formatter(self, path: Path, before: str | None) -> str:
        """What it has changed while the file was saved, which the model has seen then; empty if nothing."""
        now = await self.applier.text_beside_loop(path)
        if before is None or now is None or now == before:
            return ""
        if (shown := self.shown.of(path)) is not None:
            lines = dict(shown.lines)
            self.shown.renew(path, await beside_loop(COMPARED * len(now), shown_or_written, before, now, lines))
        changed = await beside_loop(COMPARED * len(now), _changed, before, now)
        return f"When {path} was saved, the editor's formatter changed it:\n{changed}"

    async def _may_save(self, paths: Iterable[Path]) -> bool:
        if self.policy != "ask":
            return self.policy == "touched"
        question = Question(
            question_id=uuid.uuid4().hex,
            kind="question",
            title=f"Save {', '.join(self.files.shown(path) for path in paths)}?",
            detail="Odin has changed these files in the editor.",
            options=(Option("save", "Save"), Option("leave", "Leave unsaved")),
        )
        answer = await self.asker.ask(question)
        return answer is not None and answer.option_ids == ("save",)


def _changed(old: str, new: str) -> str:
    """The lines that are new, numbered."""
    lines, places = split_lines(new), Lines(new)
    numbers: set[int] = set()
    for hunk in hunks_between(new, old):
        first, last = places.numbers(hunk.start, hunk.end)
        numbers.update(range(first, last + 1))
    chosen = [number for number in sorted(numbers) if number <= len(lines)]
    shown = [f"{number:6}\t{lines[number - 1]}" for number in chosen[:MAX_LINES]]
    return "\n".join([*shown, *([f"(and {len(chosen) - MAX_LINES} more lines)"] if len(chosen) > MAX_LINES else [])])
