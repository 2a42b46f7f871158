"""Decided hunks, made: noted in the turn's log before and after, so that they can be saved and taken back."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from odin_lsp.events import Notice
from odin_lsp.review.applying import NOT_SEEN, Applier
from odin_lsp.review.hunks import Hunk, apply
from odin_lsp.review.previews import Preview
from odin_lsp.review.proposals import FileProposal, PendingHunk, Proposal, operation_of
from odin_lsp.review.screen import NO_WAY_BACK
from odin_lsp.review.turn_review import TurnReview
from odin_lsp.review.undo_log import UndoLog
from odin_lsp.review.undo_places import hunks_of
from odin_lsp.review.undo_steps import Step, StepHunk, new_step
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.text import Lines


class Maker:
    def __init__(self, files: Files, applier: Applier, undo_log: UndoLog, followed: list[Proposal]) -> None:
        self._files = files
        self._applier = applier
        self._undo_log = undo_log
        self._followed = followed
        """Their hunks follow the user's typing."""

    async def make(self, file: FileProposal, turn: TurnReview, *, is_reopened: bool = False) -> None:
        """Carry out what is due of the file."""
        step = replace(self.step(file, turn), is_reopened=is_reopened)

        async def intend(before: str | None, after: str | None) -> None:
            nonlocal step
            step = replace(step, hunks=noted_of(file.due))
            await self.intend(step, file, turn, before, after)

        if await self._applier.apply(file, intend):
            await self.note(_done(step, file), file, file.before, file.after, turn)
        else:
            await self._undo_log.drop(turn.turn_id, step)
        if file.problem and any(it.state == "superseded" for it in file.hunks):
            turn.emit(Notice("error", f"{self._files.shown(file.path)}: {NOT_SEEN} ({file.problem})"))

    async def take_back(self, file: FileProposal, hunks: Sequence[PendingHunk], turn: TurnReview) -> None:
        """Have the text as it was before these were carried out. Who watches the file sees that, and has them wait."""
        if file.operation == "edit":
            for it in [it for it in hunks if it.applied == it.hunk.old]:  # it has made no difference
                it.reopen()
            hunks = [it for it in hunks if it.applied is not None]
        inverse = _inverse(file, hunks)
        if inverse is None:
            return
        waiting = Proposal(turn.turn_id, [inverse])
        self._followed.append(waiting)
        try:
            await self.make(inverse, turn, is_reopened=True)
        finally:
            self._followed.remove(waiting)
        if file.operation == "edit":
            self._applier.catch_up(file)
        elif inverse.hunks[0].applied is not None:
            file.hunks[0].reopen()

    async def intend(
        self, step: Step, file: FileProposal, turn: TurnReview, before: str | None, after: str | None
    ) -> None:
        """Whatever happens to Odin meanwhile, it can be taken back; else that is said before it happens."""
        new = file.proposed if file.operation == "create" else after
        expected = () if new is None else (new, f"{new}\n") if file.operation == "create" else (new,)
        problem = await self._undo_log.intend(turn.turn_id, step, before, expected)
        if problem:
            turn.emit(Notice("warning", f"{self._files.shown(file.path)}: {NO_WAY_BACK}: {problem}"))

    async def note(
        self, step: Step, file: FileProposal, before: str | None, after: str | None, turn: TurnReview
    ) -> None:
        """It has happened."""
        if file.operation in ("edit", "create"):
            turn.touched.setdefault(file.path, step.was_clean)
        if file.operation == "edit" and before is not None:
            after = apply(before, hunks_of(before, step.hunks or ()))  # whatever somebody else has done meanwhile
        await self._undo_log.finish(turn.turn_id, step, before, after)

    async def note_preview(self, preview: Preview, step: Step, turn: TurnReview) -> None:
        text = await self._applier.text_beside_loop(preview.file.path)
        if text is not None:
            preview.look(text)
        if (before := preview.before) is not None:
            self._files.note_change(preview.file.path)
            step = replace(step, hunks=preview.noted)
            await self.note(step, preview.file, before, text, turn)
        else:
            await self._undo_log.drop(turn.turn_id, step)

    def step(self, file: FileProposal, turn: TurnReview) -> Step:
        """What is about to happen to the file."""
        step = new_step(file.path, file.operation, file.new_path)
        return replace(step, was_clean=self._is_clean(file.path), session_id=turn.session_id or None)

    def _is_clean(self, path: Path) -> bool:
        buffer = self._files.buffers.of_path(path)
        return buffer is None or not buffer.unsaved


def noted_of(hunks: Iterable[PendingHunk]) -> tuple[StepHunk, ...]:
    """What is about to be done, in the text as it is."""
    return tuple(StepHunk(it.id, it.result.start, len(it.result.old), it.result.new) for it in hunks)


def _done(step: Step, file: FileProposal) -> Step:
    """With what can be seen of it. A new file has what the editor has made of it."""
    done = {it.id: it for it in file.hunks if it.applied is not None}
    hunks = tuple(it for it in step.hunks or () if it.id in done)
    if file.operation == "create" and file.after is not None:
        hunks = tuple(replace(it, new=file.after) for it in hunks)
    return replace(step, hunks=hunks)


def _inverse(file: FileProposal, hunks: Sequence[PendingHunk]) -> FileProposal | None:
    match file.operation:
        case "edit":
            back = [PendingHunk(Hunk(it.hunk.start, it.applied or "", it.hunk.old), it.wishes) for it in hunks]
            inverse = FileProposal(file.path, "edit", Lines(file.base), back)
        case "create":
            inverse = operation_of(file.path, "delete", hunks[0].result.new)
        case "delete" if file.before is not None:
            inverse = operation_of(file.path, "create", file.before)
        case "rename" if file.new_path is not None:
            inverse = operation_of(file.new_path, "rename", new_path=file.path)
        case _:
            return None
    for it in inverse.hunks:
        it.state = "accepted"
    return inverse
