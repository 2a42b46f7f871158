"""A proposal's way from a turn to the screen and back: shown, decided, carried out at once, told."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from odin_lsp.config import ReviewSettings, Timeouts
from odin_lsp.events import Notice, QuestionAnswered, QuestionAsked, ReviewChanged, ReviewClosed, ReviewOpened
from odin_lsp.ports import (
    UNASKED,
    Cause,
    Decision,
    Editor,
    PreviewingEditor,
    Receipt,
    Review,
    ReviewAnswer,
    WaitingEditor,
)
from odin_lsp.review.applying import SEE_LOG, Applier
from odin_lsp.review.journal import ReviewJournal, StoredReview
from odin_lsp.review.making import Maker
from odin_lsp.review.open_reviews import OpenReview, Proposals
from odin_lsp.review.previewing import Previewer
from odin_lsp.review.proposals import OVERTAKEN, TYPED_INSIDE, FileProposal, PendingHunk, Proposal
from odin_lsp.review.screen import Caution, Screen, answer_of, question_of, receipt_of, receipts_of
from odin_lsp.review.turn_review import TurnReview
from odin_lsp.review.undo_log import UndoLog
from odin_lsp.workspace.buffers import Buffer
from odin_lsp.workspace.files import Files

log = logging.getLogger("odin.review")
CANCELLED = "the turn was canceled before it was decided"
NOT_SHOWN = f"the editor could not show the review; {SEE_LOG}"
NOT_APPLIED = f"the change was not applied because of an internal error; {SEE_LOG}"
NOT_KEPT = "if Odin ends before all of this is decided, the rest is lost"
TOO_LATE = "nobody decided in time"
TYPED_SINCE = "it stays as it is: somebody has typed there since"


class ReviewDesk:
    def __init__(
        self,
        files: Files,
        editor: Editor,
        settings: Callable[[], tuple[ReviewSettings, Timeouts]],
        caution: Caution,
        undo_log: UndoLog,
        journal: ReviewJournal,
    ) -> None:
        self.proposals = Proposals()
        self.drafts: list[Proposal] = []
        """Not shown yet, or taking something back; their hunks follow the user's typing all the same."""
        self.applier = Applier(files, editor, lambda: settings()[1], self.proposals.give_way)
        self._screen = Screen(files, self.applier, caution, undo_log)
        self._maker = Maker(files, self.applier, undo_log, self.drafts)
        self._files = files
        self._editor = editor
        self._settings = settings
        self._undo_log = undo_log
        self.journal = journal
        self._open: dict[str, OpenReview] = {}
        self._previewer = Previewer(files, self.applier, self._maker, self._screen, undo_log)
        files.buffers.watchers.append(self._watch)

    @property
    def policy(self) -> str:
        return self._settings()[0].policy

    def policy_for(self, turn: TurnReview) -> str:
        """What others propose is reviewed, whatever the policy for Odin's own edits is."""
        return "each" if turn.origin else self.policy

    @property
    def is_hurried(self) -> bool:
        """Whether somebody looks at a screen on which reviews are to be shown at once."""
        return self.policy != "auto" and not isinstance(self._editor, WaitingEditor)

    async def submit(self, proposal: Proposal, turn: TurnReview) -> None:
        """Have it decided and carried out; what became of each hunk stands in the proposal. If the turn is cancelled
        meanwhile, what was decided is made all the same, and what waits goes on waiting."""
        turn.before_waiting()
        large = [await self._files.warm(file.path) for file in proposal.files]
        if lost := await self.journal.begin(proposal, turn.session_id):
            turn.emit(Notice("warning", f"{NOT_KEPT}: {lost}"))
        review = self._show(proposal, turn)
        del large
        turn.is_waiting = True
        try:
            await asyncio.shield(review.life)
        except asyncio.CancelledError:
            if turn.drops_rest:
                self._reject_rest(review, CANCELLED, "cancelled")
            await review.rest()
            if not review.life.done():
                review.is_late = True
                turn.receipts += receipts_of(proposal)
            raise
        finally:
            turn.is_waiting = False

    def restore(self, kept: StoredReview, turn: TurnReview) -> Proposal:
        """Go on with a review of which Odin was ended: the same hunks, where they are in the text now. Nobody waits for
        it but the user."""
        proposal = kept.proposal()
        self._show(proposal, turn, is_new=False).is_late = True
        return proposal

    async def decide(self, decisions: Iterable[Decision]) -> list[Receipt]:
        """Take decisions, however they come, and carry them out. The receipts say what became of them."""
        taken = self._take(decisions)
        if works := {review.work for review, _, _ in taken if review.work is not None}:
            await asyncio.wait(works)
        return [receipt_of(file, it) for _, file, it in taken]

    def begin(self, decisions: Iterable[Decision]) -> tuple[Receipt, ...]:
        """The same, without waiting for what becomes of them."""
        return tuple(receipt_of(file, it) for _, file, it in self._take(decisions))

    async def reopen(self, hunks: Iterable[PendingHunk]) -> list[Receipt]:
        """Take decisions back: the text is as before, and they wait again. What was typed into since stays."""
        wanted = self.proposals.whole(it.id for it in hunks if it.state in ("accepted", "modified", "rejected"))
        found = [it for it in self._all() if it[2].id in wanted]
        reviews = dict.fromkeys(review for review, _, _ in found)
        for review in reviews:
            review.reopening += 1
            self._settle(review)
        try:
            for review in reviews:
                if review.work is not None:
                    await asyncio.wait([review.work])
                for file in review.proposal.files:
                    await self._reopen([it for it in file.hunks if it.id in wanted], file, review)
        finally:
            for review in reviews:
                review.reopening -= 1
                self._tell(review)
        receipts = [receipt_of(file, it) for _, file, it in found]
        return [it if it.state == "pending" else replace(it, reason=TYPED_SINCE, cause="typed") for it in receipts]

    def is_waiting(self, turn_id: str) -> bool:
        """Whether something that the turn proposed is not decided yet."""
        return any(review.turn.turn_id == turn_id for review in self._open.values())

    def touched(self, turn_id: str) -> dict[Path, bool]:
        """What a turn has changed so far, whoever was asked for it. It waits for the disk."""
        return self._undo_log.touched(turn_id)

    def shown(self, proposal: Proposal) -> Review:
        return self._screen.review(proposal, self._open[proposal.id].turn.session_id)

    async def close(self) -> None:
        """Odin ends: what waits is not decided by that."""
        reviews = tuple(self._open.values())
        for review in reviews:
            await review.rest()
            review.life.cancel()
        await asyncio.gather(*(review.life for review in reviews), return_exceptions=True)
        self.journal.close()

    # shown, and taken off the screen

    def _show(self, proposal: Proposal, turn: TurnReview, *, is_new: bool = True) -> OpenReview:
        for file in proposal.files:
            if file.operation == "edit":
                self.applier.catch_up(file)
        self.proposals.open(proposal)
        review = self._open[proposal.id] = OpenReview(proposal, turn)
        try:
            self._note_untold(review)
            turn.emit(ReviewOpened(self.shown(proposal)))
        except OSError:  # of the files that it is about
            self.proposals.close(proposal)
            del self._open[proposal.id]
            if is_new:
                self.journal.end(proposal.id)
            raise
        review.life = asyncio.create_task(self._live(review), name=f"review {proposal.id}")
        return review

    async def _live(self, review: OpenReview) -> None:
        turn = review.turn
        self._work_on(review)
        if turn.accept_rest or self.policy_for(turn) == "auto":
            free, reason = self._free(review.proposal), None if turn.accept_rest else UNASKED
            self._take([Decision(hunk_id=it.id, decision="accept", reason=reason) for it in free])
        if review.proposal.pending:
            await self._have_decided(review)
        self._settle(review)
        while not review.settled.is_set():  # until then, what was settled may wait again
            await review.settled.wait()
        self._close(review)

    def _free(self, proposal: Proposal) -> list[PendingHunk]:
        """What may be accepted without a look at it; of a whole, all or nothing."""
        free = [file for file in proposal.files if not self._screen.needs_a_look(file)]
        is_free = not proposal.atomic or len(free) == len(proposal.files)
        return [it for file in free for it in file.pending] if is_free else []

    async def _have_decided(self, review: OpenReview) -> None:
        asking = asyncio.create_task(self._ask(review))
        asking.add_done_callback(lambda task: self._take_answer(task, review))
        review.turn.emit(QuestionAsked(question_of(review.proposal)))
        try:
            async with asyncio.timeout(self._settings()[1].person):
                await review.settled.wait()
        except TimeoutError:
            self._reject_rest(review, TOO_LATE, "late")
        finally:
            review.turn.emit(QuestionAnswered(review.proposal.id, answer_of(review.proposal)))
            if not asking.done():
                await self._withdraw(asking, review.proposal)

    def _close(self, review: OpenReview) -> None:
        proposal, turn = review.proposal, review.turn
        self.proposals.close(proposal)
        del self._open[proposal.id]
        self.journal.end(proposal.id)
        receipts = receipts_of(proposal)
        if not review.is_late:
            turn.receipts += receipts
        turn.emit(ReviewClosed(proposal.id, tuple(receipts)))
        if review.is_late:
            turn.decided_late(proposal)

    async def _withdraw(self, asking: "asyncio.Task[ReviewAnswer | None]", proposal: Proposal) -> None:
        asking.cancel()
        await asyncio.wait([asking])
        try:
            await self._editor.close_review(proposal.id)
        except Exception:  # it stays on the screen, where it decides nothing any more
            log.exception("the editor could not close the review %s", proposal.id)

    async def _ask(self, review: OpenReview) -> ReviewAnswer | None:
        for file in review.proposal.files:
            if isinstance(self._editor, PreviewingEditor) and file.pending and not review.proposal.atomic:
                shown = self._screen.file(file, review.proposal)
                if self._editor.previews(shown):
                    await self._preview(self._editor, review, file)
        pending = review.proposal.pending
        return await self._editor.review(self.shown(review.proposal)) if pending else None

    def _take_answer(self, asking: "asyncio.Task[ReviewAnswer | None]", review: OpenReview) -> None:
        """An answer decides on what was asked, and on nothing else. What nobody could see, nobody has rejected."""
        if asking.cancelled():
            return
        match asking.exception():
            case None if (answer := asking.result()) is not None:
                asked = {it.id for it in review.proposal.hunks}
                review.turn.accept_rest = review.turn.accept_rest or answer.rest_of_turn == "accept"
                self._take([it for it in answer.decisions if it.hunk_id in asked])
            case TimeoutError():
                self._reject_rest(review, TOO_LATE, "late")
            case BaseException() as error if review.proposal.pending:
                log.error("the editor could not show the review %s", review.proposal.id, exc_info=error)
                review.turn.emit(Notice("error", NOT_SHOWN))
                for it in review.proposal.pending:
                    it.supersede(NOT_SHOWN, "not_shown")
                self._tell(review)
            case _:
                pass

    # decided, and carried out

    def _take(
        self, decisions: Iterable[Decision], cause: Cause = "person"
    ) -> list[tuple[OpenReview, FileProposal, PendingHunk]]:
        """What was decided is known before it is acted on."""
        ids = {it.id for it in self.proposals.decide(decisions, cause)}
        taken = [it for it in self._all() if it[2].id in ids]
        for review in dict.fromkeys(review for review, _, _ in taken):
            self._tell(review)
            self._work_on(review)
        return taken

    def _work_on(self, review: OpenReview) -> None:
        if review.work is None and any(it.is_due for it in review.proposal.hunks):
            review.work = asyncio.create_task(self._carry_out(review))

    async def _carry_out(self, review: OpenReview) -> None:
        try:
            while due := next((file for file in review.proposal.files if file.due), None):
                await self._maker.make(due, review.turn)
                for it in tuple(self._open.values()):
                    self._tell(it)
        except Exception:
            log.exception("what was decided in the review %s is not applied", review.proposal.id)
            review.turn.emit(Notice("error", NOT_APPLIED))
            for it in [it for it in review.proposal.hunks if it.is_due]:
                it.supersede(NOT_APPLIED, "not_applied")
        finally:
            review.work = None
            self._tell(review)

    async def _reopen(self, hunks: Sequence[PendingHunk], file: FileProposal, review: OpenReview) -> None:
        left = [it for it in hunks if it.is_as_left]
        applied = [it for it in left if it.applied is not None]
        for it in left:
            if it.applied is None:
                it.reopen()
        if applied:
            await self._maker.take_back(file, applied, review.turn)

    def _reject_rest(self, review: OpenReview, reason: str, cause: Cause) -> None:
        rest = [Decision(hunk_id=it.id, decision="reject", reason=reason) for it in review.proposal.pending]
        self._take(rest, cause)

    def _settle(self, review: OpenReview) -> None:
        if review.work is None and not review.reopening and review.proposal.is_settled:
            review.settled.set()
        else:
            review.settled.clear()

    def _all(self) -> Iterator[tuple[OpenReview, FileProposal, PendingHunk]]:
        for review in self._open.values():
            for file in review.proposal.files:
                yield from ((review, file, it) for it in file.hunks)

    async def _preview(self, editor: PreviewingEditor, review: OpenReview, file: FileProposal) -> None:
        """Hunks that cannot be seen afterwards were not wanted, or did not work."""
        await self._previewer.show(editor, review, file)
        self.proposals.decide([Decision(hunk_id=it.id, decision="reject") for it in file.pending])
        self._tell(review)

    # followed, and told

    def _watch(self, buffer: Buffer) -> None:
        if buffer.path is None or not buffer.synchronised:
            return
        proposals = [*self.drafts, *(it.proposal for it in self._open.values())]
        files = [file for it in proposals for file in it.files if file.path == buffer.path]
        reason = OVERTAKEN if any(it.under_way for it in files) else TYPED_INSIDE
        for proposal in self.drafts:
            for file in proposal.files:
                self._follow(file, buffer, reason)
        for review in tuple(self._open.values()):
            followed = [self._follow(file, buffer, reason) for file in review.proposal.files]
            if any(followed):
                self._tell(review, of_versions=True)
        if (shown := self._previewer.look(buffer.path, buffer)) is not None:
            self._tell(shown, of_versions=True)

    def _follow(self, file: FileProposal, buffer: Buffer, reason: str) -> bool:
        """Move its hunks along, unless the editor is changing it, or shows it in a preview right now. `reason`: why
        those are no longer proposed into which something came."""
        if file.path != buffer.path or file.under_way or self._previewer.shows(file):
            return False
        if self._files.buffers.of_path(file.path) is not buffer:  # it has been closed
            before = file.base, file.pending
            self.applier.catch_up(file)
            return (file.base, file.pending) != before
        if buffer.change is None or buffer.change.start is None:
            before = file.base
            file.follow_content(buffer.text, reason)
            return file.base != before
        at = file.lines.offset(buffer.change.start, self._files.buffers.encoding)
        return file.follow(buffer.text, at, len(buffer.change.text), reason)

    def _tell(self, review: OpenReview, *, of_versions: bool = False) -> None:
        hunks = tuple(self._screen.hunk(file, it) for file, it in self._note_untold(review))
        buffers = [self._files.buffers.of_path(file.path) for file in review.proposal.files]
        versions = {it.uri: it.version for it in buffers if it is not None}
        if hunks or of_versions:
            review.turn.emit(ReviewChanged(review.proposal.id, hunks, versions))
        self._settle(review)

    def _note_untold(self, review: OpenReview) -> list[tuple[FileProposal, PendingHunk]]:
        """The hunks that the client knows elsewhere, or otherwise. It is told of them now; on disk they are first."""
        told = review.told
        review.proposal.keep_whole()
        hunks = [(file, it) for file in review.proposal.files for it in file.hunks]
        others = [it for _, it in hunks if told.get(it.id) != (it.state, it.applied)]
        if lost := self.journal.note(review.proposal.id, others):
            review.turn.emit(Notice("warning", f"{NOT_KEPT}: {lost}"))
        untold = [(file, it) for file, it in hunks if it.moved or told.get(it.id) != (it.state, it.applied)]
        for _, it in untold:
            it.moved, told[it.id] = False, (it.state, it.applied)
        return untold
