"""A proposal's way from a turn to the screen and back: shown, decided, applied, told."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from odin_lsp.config import ReviewSettings, Timeouts
from odin_lsp.events import Emit, Notice, ReviewChanged, ReviewClosed, ReviewOpened
from odin_lsp.ports import (
    Decision,
    Editor,
    HunkState,
    PreviewingEditor,
    Receipt,
    Review,
    ReviewAnswer,
    ReviewFile,
    ReviewHunk,
)
from odin_lsp.review.applying import NOT_SEEN, SEE_LOG, Applier
from odin_lsp.review.hunks import apply
from odin_lsp.review.previews import Preview
from odin_lsp.review.proposals import FileProposal, PendingHunk, Proposal, Proposals
from odin_lsp.review.undo_log import Step, UndoLog, new_step
from odin_lsp.workspace.buffers import Buffer
from odin_lsp.workspace.files import Files

log = logging.getLogger("odin.review")
CANCELLED = "the turn was cancelled before it was decided"
NOT_SHOWN = f"the editor could not show the review; {SEE_LOG}"
NOT_APPLIED = f"the change was not applied because of an internal error; {SEE_LOG}"
TOO_LATE = "nobody decided in time"
TYPED_MEANWHILE = "the user typed in the file while it was shown"
NO_WAY_BACK = "this cannot be undone"
QUIET_SECONDS = 0.75
"""After a preview: how long nothing must happen until nothing more is expected. Editors hold changes back a little."""
MANY_HUNKS = 500
LONG_TEXT = 1024 * 1024


Caution = Callable[[Sequence[Path], str, str, Sequence[Path]], tuple[str, bool]]
"""What a person should know before these files get another text, and whether they must be asked in any case; last, the
folders of the workspace."""


@dataclass(slots=True)
class TurnReview:
    """What one turn's reviews have in common."""

    turn_id: str
    emit: Emit
    accept_rest: bool = False
    """The user said: accept the rest of this turn."""
    receipts: list[Receipt] = field(default_factory=list[Receipt])
    touched: dict[Path, bool] = field(default_factory=dict[Path, bool])
    """Files that were changed; whether the editor had nothing unsaved of them before."""


@dataclass(frozen=True, slots=True)
class _OpenReview:
    turn: TurnReview
    told: dict[str, HunkState] = field(default_factory=dict[str, HunkState])
    """The hunks as the client knows them."""


class ReviewDesk:
    def __init__(
        self,
        files: Files,
        editor: Editor,
        settings: Callable[[], tuple[ReviewSettings, Timeouts]],
        caution: Caution,
        undo_log: UndoLog,
    ) -> None:
        self.proposals = Proposals()
        self.drafts: list[Proposal] = []
        """Not shown yet; their hunks follow the user's typing all the same."""
        self.applier = Applier(files, editor, lambda: settings()[1])
        self._files = files
        self._editor = editor
        self._settings = settings
        self._caution = caution
        self._undo_log = undo_log
        self._open: dict[str, _OpenReview] = {}
        self._previews: dict[Path, tuple[Proposal, Preview]] = {}
        self._one_preview = asyncio.Lock()
        files.buffers.watchers.append(self._watch)

    @property
    def policy(self) -> str:
        return self._settings()[0].policy

    async def submit(self, proposal: Proposal, turn: TurnReview) -> None:
        """Have it decided, and carry out what was accepted. What became of each hunk stands in the proposal."""
        self._show(proposal, turn)
        try:
            await self._have_decided(proposal, turn)
            for file in proposal.files:
                await _finish(self._apply(file, turn))
        except asyncio.CancelledError:
            self._reject_rest(proposal, CANCELLED)
            self._supersede_unapplied(proposal, CANCELLED)
            raise
        except Exception:
            self._supersede_unapplied(proposal, NOT_APPLIED)
            raise
        finally:
            self._close(proposal, turn)

    def decide(self, decisions: Sequence[Decision]) -> list[Receipt]:
        """Take decisions, however they come. The receipts say what was decided; whether it holds is seen afterwards."""
        taken = {it.id for it in self.proposals.decide(decisions)}
        for proposal in self.proposals:
            if any(it.id in taken for it in proposal.hunks):
                self._moved(proposal)
        return [
            receipt_of(file, it)
            for proposal in self.proposals
            for file in proposal.files
            for it in file.hunks
            if it.id in taken
        ]

    def shown(self, proposal: Proposal) -> Review:
        files = tuple(self._shown_file(file, proposal.turn_id) for file in proposal.files)
        return Review(proposal.id, proposal.turn_id, proposal.reason, files)

    def _show(self, proposal: Proposal, turn: TurnReview) -> None:
        for file in proposal.files:
            if file.operation == "edit":
                self.applier.catch_up(file)
        self.proposals.open(proposal)
        self._open[proposal.id] = _OpenReview(turn)
        self._untold(proposal)
        turn.emit(ReviewOpened(self.shown(proposal)))

    def _close(self, proposal: Proposal, turn: TurnReview) -> None:
        self.proposals.close(proposal)
        del self._open[proposal.id]
        receipts = [receipt_of(file, it) for file in proposal.files for it in file.hunks]
        turn.receipts += receipts
        turn.emit(ReviewClosed(proposal.id, tuple(receipts)))

    async def _have_decided(self, proposal: Proposal, turn: TurnReview) -> None:
        _, timeouts = self._settings()
        if turn.accept_rest or self.policy == "auto":
            free = [it for file in proposal.files if not self._cautious(file)[1] for it in file.pending]
            self.proposals.decide([Decision(hunk_id=it.id, decision="accept") for it in free])
        if not proposal.is_pending:
            return
        asking = asyncio.create_task(self._ask(proposal))
        asking.add_done_callback(lambda task: self._take_answer(task, proposal, turn))
        try:
            async with asyncio.timeout(timeouts.person):
                await proposal.decided.wait()
        except TimeoutError:
            self._reject_rest(proposal, TOO_LATE)
        finally:
            if not asking.done():
                await _finish(self._withdraw(asking, proposal))

    async def _withdraw(self, asking: "asyncio.Task[ReviewAnswer | None]", proposal: Proposal) -> None:
        asking.cancel()
        await asyncio.wait([asking])
        try:
            await self._editor.close_review(proposal.id)
        except Exception:  # it stays on the screen, where it decides nothing any more
            log.exception("the editor could not close the review %s", proposal.id)

    async def _ask(self, proposal: Proposal) -> ReviewAnswer | None:
        for file in proposal.files:
            shown = self._shown_file(file, proposal.turn_id)
            if isinstance(self._editor, PreviewingEditor) and self._editor.previews(shown):
                await self._preview(self._editor, proposal, file)
        self.proposals.settle()
        return await self._editor.review(self.shown(proposal)) if proposal.is_pending else None

    async def _preview(self, editor: PreviewingEditor, proposal: Proposal, file: FileProposal) -> None:
        """Have the editor show and apply it. Hunks that cannot be seen afterwards were not wanted, or did not work."""
        async with self._one_preview:
            step = new_step(file.path, file.operation)
            self.applier.catch_up(file)
            turn = self._open[proposal.id].turn
            await self._intend(step, file, turn, file.base, file.proposed)
            self.applier.catch_up(file)  # the user may have typed meanwhile
            if not file.pending:
                await self._undo_log.drop(proposal.turn_id, step)
                return
            clean = self._is_clean(file.path)
            buffer = self._files.buffers.of_path(file.path)
            preview = Preview(file, buffer.version if buffer else None)
            self._previews[file.path] = proposal, preview
            try:
                problem = await editor.preview(self._shown_file(file, proposal.turn_id))
                await self._wait_for_quiet(file)
            finally:
                del self._previews[file.path]
                await self._note_preview(preview, step, turn, clean=clean)
        rest = file.pending
        if preview.typed or problem:
            for it in rest:
                it.state, it.reason = "superseded", TYPED_MEANWHILE if preview.typed else f"{NOT_SEEN} ({problem})"
        self.proposals.decide([Decision(hunk_id=it.id, decision="reject") for it in rest])
        self._moved(proposal)

    async def _wait_for_quiet(self, file: FileProposal) -> None:
        """Wait until all that was shown can be seen, or nothing happens any more."""
        stirred = self.applier.stirred
        with suppress(TimeoutError):
            async with asyncio.timeout(self._settings()[1].client):
                while file.pending:
                    stirred.clear()
                    async with asyncio.timeout(QUIET_SECONDS):
                        await stirred.wait()

    async def _note_preview(self, preview: Preview, step: Step, turn: TurnReview, *, clean: bool) -> None:
        file = preview.file
        text = self.applier.text(file.path)
        if text is not None:
            preview.look(text)
        if (before := preview.before) is not None:
            await self._note(step, file, before, turn, clean=clean)
        else:
            await self._undo_log.drop(turn.turn_id, step)

    def _take_answer(self, asking: "asyncio.Task[ReviewAnswer | None]", proposal: Proposal, turn: TurnReview) -> None:
        """An answer decides on what was asked, and on nothing else. What nobody could see, nobody has rejected."""
        if asking.cancelled():
            return
        match asking.exception():
            case None if (answer := asking.result()) is not None:
                asked = {it.id for it in proposal.hunks}
                turn.accept_rest = turn.accept_rest or answer.rest_of_turn == "accept"
                self.decide([it for it in answer.decisions if it.hunk_id in asked])
            case TimeoutError():
                self._reject_rest(proposal, TOO_LATE)
            case BaseException() as error if proposal.is_pending:
                log.error("the editor could not show the review %s", proposal.id, exc_info=error)
                turn.emit(Notice("error", NOT_SHOWN))
                for it in proposal.pending:
                    it.supersede(NOT_SHOWN)
                self._moved(proposal)
                self.proposals.settle()
            case _:
                pass

    def _is_done(self, file: FileProposal, it: PendingHunk) -> bool:
        """The editor has applied it in its preview."""
        return file.operation == "edit" and it.hunk.old == it.result.new

    def _reject_rest(self, proposal: Proposal, reason: str) -> None:
        self.proposals.decide([Decision(hunk_id=it.id, decision="reject", reason=reason) for it in proposal.pending])

    def _supersede_unapplied(self, proposal: Proposal, reason: str) -> None:
        """What the editor has not heard of is not made."""
        for file in proposal.files:
            for it in (*file.pending, *file.chosen):
                if not file.under_way and not self._is_done(file, it):
                    it.supersede(reason)

    async def _apply(self, file: FileProposal, turn: TurnReview) -> None:
        """A turn's changes are noted, so that they can be saved and taken back."""
        clean = self._is_clean(file.path)
        step = new_step(file.path, file.operation, file.new_path)
        if await self.applier.apply(file, lambda before, after: self._intend(step, file, turn, before, after)):
            await self._note(step, file, file.before, turn, clean=clean)
        else:
            await self._undo_log.drop(turn.turn_id, step)
        if file.problem and any(it.state == "superseded" for it in file.hunks):
            turn.emit(Notice("error", f"{self._files.shown(file.path)}: {NOT_SEEN} ({file.problem})"))

    async def _intend(
        self, step: Step, file: FileProposal, turn: TurnReview, before: str | None, after: str | None
    ) -> None:
        """Whatever happens to Odin meanwhile, it can be taken back; else that is said before it happens."""
        new = file.proposed if file.operation == "create" else after
        expected = () if new is None else (new, f"{new}\n") if file.operation == "create" else (new,)
        problem = await self._undo_log.intend(turn.turn_id, step, before, expected)
        if problem:
            turn.emit(Notice("warning", f"{self._files.shown(file.path)}: {NO_WAY_BACK}: {problem}"))

    async def _note(self, step: Step, file: FileProposal, before: str | None, turn: TurnReview, *, clean: bool) -> None:
        if file.operation in ("edit", "create"):
            turn.touched.setdefault(file.path, clean)
        after = self.applier.text(file.path)
        as_chosen = file.operation != "edit" or after == apply(file.base, [it.result for it in file.chosen])
        await self._undo_log.finish(turn.turn_id, step, before, after if as_chosen and not file.problem else None)

    def _cautious(self, file: FileProposal) -> tuple[str, bool]:
        paths = [it for it in (file.path, file.new_path, *file.names) if it is not None]
        old, new = file.base, file.proposed
        if file.operation == "rename":
            new = self.applier.text(file.path) or ""
            old = new if file.new_path and file.path.suffix == file.new_path.suffix else ""
        return self._caution(paths, old, new, self._files.roots)

    def _is_clean(self, path: Path) -> bool:
        buffer = self._files.buffers.of_path(path)
        return buffer is None or not buffer.unsaved

    def _shown_file(self, file: FileProposal, turn_id: str) -> ReviewFile:
        buffer = self._files.buffers.of_path(file.path)
        size = sum(len(it.hunk.new) + len(it.hunk.old) for it in file.hunks)
        notes = [self._cautious(file)[0]]
        notes += ["a folder, with everything in it"] if file.operation != "edit" and file.path.is_dir() else []
        notes += [f"a long review: {len(file.hunks)} hunks"] if len(file.hunks) > MANY_HUNKS else []
        notes += [f"a long review: {size:,} characters"] if size > LONG_TEXT else []
        before = self.applier.text(file.path) if file.operation == "delete" else file.base
        lost = self._undo_log.refusal(turn_id, file.path, file.operation, before)
        notes += [f"{NO_WAY_BACK}: {lost}"] if lost else []
        return ReviewFile(
            uri=buffer.uri if buffer else file.path.as_uri(),
            version=buffer.version if buffer else None,
            operation=file.operation,
            new_uri=file.new_path.as_uri() if file.new_path else None,
            base_hash=file.base_hash,
            proposed_text=file.proposed if file.operation in ("edit", "create") else "",
            hunks=tuple(self._shown_hunk(file, it) for it in file.hunks),
            note="; ".join(filter(None, notes)),
        )

    def _shown_hunk(self, file: FileProposal, it: PendingHunk) -> ReviewHunk:
        place = self.applier.range(file, it.hunk)
        return ReviewHunk(it.id, place, it.hunk.old, it.hunk.new, it.purpose, it.state)

    def _watch(self, buffer: Buffer) -> None:
        if buffer.path is None or not buffer.synchronised:
            return
        shown, preview = self._previews.get(buffer.path, (None, None))
        for proposal in (*self.drafts, *self.proposals):
            moved = [self._follow(file, buffer) for file in proposal.files if file.path == buffer.path]
            if any(moved) and proposal not in self.drafts:
                self._moved(proposal)
        if shown is not None and preview is not None and buffer.version != preview.version:
            preview.version = buffer.version
            preview.look(buffer.text)
            self._moved(shown)
        self.proposals.settle()

    def _follow(self, file: FileProposal, buffer: Buffer) -> bool:
        """Move its hunks along, if they still wait, and are not shown in a preview right now."""
        if file.under_way or any(preview.file is file for _, preview in self._previews.values()):
            return False
        if buffer.change is None or buffer.change.start is None:
            return file.follow(buffer.text)
        at = file.lines.offset(buffer.change.start, self._files.buffers.encoding)
        return file.follow(buffer.text, at, len(buffer.change.text))

    def _moved(self, proposal: Proposal) -> None:
        hunks = tuple(self._shown_hunk(file, it) for file, it in self._untold(proposal))
        buffers = [self._files.buffers.of_path(file.path) for file in proposal.files]
        versions = {it.uri: it.version for it in buffers if it is not None}
        self._open[proposal.id].turn.emit(ReviewChanged(proposal.id, hunks, versions))

    def _untold(self, proposal: Proposal) -> list[tuple[FileProposal, PendingHunk]]:
        """The hunks that the client knows elsewhere, or otherwise; it is told of them now."""
        told = self._open[proposal.id].told
        untold = [(file, it) for file in proposal.files for it in file.hunks if it.moved or told.get(it.id) != it.state]
        for _, it in untold:
            it.moved, told[it.id] = False, it.state
        return untold


async def _finish(work: Coroutine[Any, Any, None]) -> None:
    """What has been sent to the editor cannot be called back: however often the turn is cancelled, it waits for what
    became of it."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    task.result()
    if cancelled is not None:
        raise cancelled


def receipt_of(file: FileProposal, it: PendingHunk) -> Receipt:
    state = "rejected" if it.state == "pending" else it.state
    return Receipt(hunk_id=it.id, uri=file.path.as_uri(), state=state, text=it.text, reason=it.reason)
