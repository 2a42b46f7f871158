"""A proposal's way from a tool to the screen and back: shown, decided, applied, and looked at afterwards.

What an editor answers is not what happened: a hunk counts as accepted only if it can be seen in the document."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from odin_lsp.config import ReviewSettings, Timeouts
from odin_lsp.errors import ToolError
from odin_lsp.events import Emit, ReviewChanged, ReviewClosed, ReviewOpened
from odin_lsp.ports import (
    Decision,
    Editor,
    FileChange,
    Position,
    PreviewingEditor,
    Range,
    Receipt,
    Review,
    ReviewAnswer,
    ReviewFile,
    ReviewHunk,
    TextReplacement,
)
from odin_lsp.review.hunks import Hunk, apply, hunks_between
from odin_lsp.review.previews import Preview
from odin_lsp.review.proposals import FileProposal, PendingHunk, Proposal, Proposals, edit_of, operation_of
from odin_lsp.review.undo import Before, UndoLog
from odin_lsp.workspace.buffers import Buffer
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.text import position_at

NOT_SEEN = "the edit cannot be seen in the document"
CANCELLED = "the turn was cancelled before it was decided"
TOO_LATE = "nobody decided in time"
TYPED_MEANWHILE = "the user typed in the file while it was shown"
POLL_SECONDS = 0.05
QUIET_SECONDS = 0.75
"""After a preview: how long nothing must happen until nothing more is expected. Editors hold changes back a little."""
LONG_REVIEW = 500


@dataclass(slots=True)
class TurnReview:
    """What one turn's reviews have in common."""

    turn_id: str
    emit: Emit
    accept_rest: bool = False
    """The user said: accept the rest of this turn."""
    receipts: list[Receipt] = field(default_factory=list[Receipt])


class ReviewDesk:
    def __init__(
        self,
        files: Files,
        editor: Editor,
        settings: Callable[[], tuple[ReviewSettings, Timeouts]],
        protection: Callable[[Path], str],
        undo_log: UndoLog,
    ) -> None:
        self.proposals = Proposals(self._moved)
        self._files = files
        self._editor = editor
        self._settings = settings
        self._protection = protection
        self._undo_log = undo_log
        self._turns: dict[str, TurnReview] = {}
        self._applying: set[Path] = set()
        self._previews: dict[Path, tuple[Proposal, Preview]] = {}
        self._one_preview = asyncio.Lock()
        self._stirred = asyncio.Event()
        files.buffers.watchers.append(self._watch)

    async def submit(self, proposal: Proposal, turn: TurnReview) -> list[Receipt]:
        """Have it decided, carry out what was accepted, and say what became of each hunk."""
        self._turns[proposal.id] = turn
        self.proposals.open(proposal)
        turn.emit(ReviewOpened(self.shown(proposal)))
        try:
            await self._decided(proposal, turn)
            for file in proposal.files:
                await self._apply(file, turn.turn_id)
        except asyncio.CancelledError:
            self._reject_rest(proposal, CANCELLED)
            raise
        finally:
            self.proposals.close(proposal)
            del self._turns[proposal.id]
            receipts = [_receipt(file, it) for file in proposal.files for it in file.hunks]
            turn.receipts += receipts
            turn.emit(ReviewClosed(proposal.id, tuple(receipts)))
        return receipts

    def decide(self, decisions: Sequence[Decision]) -> list[Receipt]:
        """Take decisions, however they come. The receipts say what was decided; whether it holds is seen afterwards."""
        taken = {it.id for it in self.proposals.decide(decisions)}
        for proposal in self.proposals:
            if any(it.id in taken for it in proposal.hunks):
                self._moved(proposal)
        return [
            _receipt(file, it)
            for proposal in self.proposals
            for file in proposal.files
            for it in file.hunks
            if it.id in taken
        ]

    def shown(self, proposal: Proposal) -> Review:
        files = tuple(self._shown_file(proposal, file) for file in proposal.files)
        return Review(proposal.id, proposal.turn_id, proposal.reason, files)

    async def _decided(self, proposal: Proposal, turn: TurnReview) -> None:
        policy, timeouts = self._settings()
        free = not any(self._protection(file.path) for file in proposal.files)
        if free and (turn.accept_rest or policy.policy == "auto"):
            self.proposals.decide([Decision(hunk_id=it.id, decision="accept") for it in proposal.hunks])
            return
        asking = asyncio.create_task(self._ask(proposal))
        asking.add_done_callback(lambda task: self._answered(task, turn))
        try:
            async with asyncio.timeout(timeouts.person):
                await proposal.decided.wait()
        except TimeoutError:
            self._reject_rest(proposal, TOO_LATE)
        finally:
            if not asking.done():
                asking.cancel()
                await asyncio.wait([asking])
                await self._editor.close_review(proposal.id)

    async def _ask(self, proposal: Proposal) -> ReviewAnswer | None:
        for file in proposal.files:
            if isinstance(self._editor, PreviewingEditor) and self._editor.previews(self._shown_file(proposal, file)):
                await self._preview(self._editor, proposal, file)
        return await self._editor.review(self.shown(proposal)) if proposal.is_pending else None

    async def _preview(self, editor: PreviewingEditor, proposal: Proposal, file: FileProposal) -> None:
        """Have the editor show and apply it. Hunks that cannot be seen afterwards were not wanted, or did not work."""
        async with self._one_preview:
            self._catch_up(file)
            if not file.pending:
                return
            buffer = self._files.buffers.of_path(file.path)
            preview = Preview(file, buffer.version if buffer else None)
            self._previews[file.path] = proposal, preview
            try:
                problem = await editor.preview(self._shown_file(proposal, file))
                await self._quiet(file)
            finally:
                del self._previews[file.path]
                self._finish(preview, proposal.turn_id)
        rest = file.pending
        if preview.typed or problem:
            for it in rest:
                it.state, it.reason = "superseded", TYPED_MEANWHILE if preview.typed else f"{NOT_SEEN} ({problem})"
        self.proposals.decide([Decision(hunk_id=it.id, decision="reject") for it in rest])
        self._moved(proposal)

    async def _quiet(self, file: FileProposal) -> None:
        """Wait until all that was shown can be seen, or nothing happens any more."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._settings()[1].client):
                while file.pending:
                    self._stirred.clear()
                    async with asyncio.timeout(QUIET_SECONDS):
                        await self._stirred.wait()

    def _finish(self, preview: Preview, turn_id: str) -> None:
        file = preview.file
        text = self._text(file.path)
        if text is not None:
            preview.look(text)
        if (before := preview.before) is not None:
            self._undo_log.note(turn_id, self._image(file, before))

    def _answered(self, asking: "asyncio.Task[ReviewAnswer | None]", turn: TurnReview) -> None:
        answer = None if asking.cancelled() else asking.result()
        if answer is not None:
            turn.accept_rest = turn.accept_rest or answer.rest_of_turn == "accept"
            self.decide(answer.decisions)

    def _reject_rest(self, proposal: Proposal, reason: str) -> None:
        rest = [it for it in proposal.hunks if it.state == "pending"]
        self.proposals.decide([Decision(hunk_id=it.id, decision="reject", reason=reason) for it in rest])

    async def undo(self, turn_id: str | None) -> tuple[list[Path], list[tuple[Path, str]]]:
        """Take back what a turn did; the files that are as before, and those that were kept, with the reason."""
        wanted = turn_id or self._undo_log.last()
        restored: list[Path] = []
        kept: list[tuple[Path, str]] = []
        for image in reversed(self._undo_log.images(wanted) if wanted else ()):
            path = Path(image.path)
            reason = await self._take_back(image)
            if reason:
                kept.append((path, reason))
            else:
                restored.append(path)
        if wanted and not kept:
            self._undo_log.forget(wanted)
        return restored, kept

    async def _take_back(self, image: Before) -> str | None:
        """Why not, if not."""
        path, now = Path(image.path), self._text(Path(image.path))
        match image.operation:
            case "edit" if now == image.after and now is not None:
                file = edit_of(path, now, image.before or "")
            case "create" if now == image.after and now is not None:
                file = operation_of(path, "delete", now)
            case "delete" if not path.exists() and image.before is not None:
                file = operation_of(path, "create", image.before)
            case "rename" if image.new_path and Path(image.new_path).exists() and not path.exists():
                file = operation_of(Path(image.new_path), "rename", new_path=path)
            case _:
                return "it has been changed since"
        for it in file.hunks:
            it.state = "accepted"
        await self._apply(file, None)
        return None if len(file.chosen) == len(file.hunks) else file.hunks[0].reason or NOT_SEEN

    async def _apply(self, file: FileProposal, turn_id: str | None) -> None:
        """Have the editor carry out what was chosen. A turn's changes are noted, so that they can be taken back."""
        if file.operation == "edit":
            self._catch_up(file)
        if not file.chosen:
            return
        expected = apply(file.base, [it.result for it in file.chosen]) if file.operation == "edit" else None
        before = self._text(file.path)
        if expected is not None and expected == before:
            return  # the editor has done it, in its preview
        self._applying.add(file.path)
        try:
            problem = await self._editor.apply(self._change(file))
            await self._settled(file, expected, patient=problem is None)
        finally:
            self._applying.discard(file.path)
        self._check(file, expected, problem)
        if turn_id is not None and file.chosen:
            self._undo_log.note(turn_id, self._image(file, before))

    def _image(self, file: FileProposal, before: str | None) -> Before:
        return Before(
            path=str(file.path),
            operation=file.operation,
            before=before,
            after=self._text(file.path),
            new_path=str(file.new_path) if file.new_path else None,
        )

    def _catch_up(self, file: FileProposal) -> None:
        """The file may have changed where nobody tells of it: on disk, in another program."""
        text = self._text(file.path)
        if text is not None:
            file.follow(text)
            return
        for it in file.chosen:
            it.state, it.text, it.reason = "superseded", None, "the file is gone"

    async def _settled(self, file: FileProposal, expected: str | None, *, patient: bool) -> None:
        """Wait until the change can be seen: some editors answer before they tell of it."""
        limit = self._settings()[1].client if patient else min(0.5, self._settings()[1].client)
        try:
            async with asyncio.timeout(limit):
                while not self._is_done(file, expected):
                    self._stirred.clear()
                    try:
                        async with asyncio.timeout(POLL_SECONDS):
                            await self._stirred.wait()
                    except TimeoutError:
                        continue
        except TimeoutError:
            return

    def _is_done(self, file: FileProposal, expected: str | None) -> bool:
        match file.operation:
            case "edit":
                return self._text(file.path) == expected
            case "create":
                return self._text(file.path) == file.chosen[0].result.new
            case "delete":
                return not file.path.exists()
            case "rename":
                return not file.path.exists() and file.new_path is not None and file.new_path.exists()

    def _check(self, file: FileProposal, expected: str | None, problem: str | None) -> None:
        """What is in the document now decides, hunk by hunk."""
        if self._is_done(file, expected):
            return
        reason = f"{NOT_SEEN} ({problem})" if problem else NOT_SEEN
        seen = _seen(file, expected, self._text(file.path)) if expected is not None else set[str]()
        for it in file.chosen:
            if it.id not in seen:
                it.state, it.text, it.reason = "superseded", None, reason

    def _change(self, file: FileProposal) -> FileChange:
        buffer = self._files.buffers.of_path(file.path)
        edits = tuple(
            TextReplacement(self._range(file.base, it.hunk.start, it.hunk.end), it.result.new)
            for it in file.chosen
            if file.operation in ("edit", "create")
        )
        return FileChange(
            uri=buffer.uri if buffer else file.path.as_uri(),
            version=buffer.version if buffer else None,
            operation=file.operation,
            edits=edits,
            new_uri=file.new_path.as_uri() if file.new_path else None,
            recursive=file.recursive,
        )

    def _shown_file(self, proposal: Proposal, file: FileProposal) -> ReviewFile:
        buffer = self._files.buffers.of_path(file.path)
        notes = [self._protection(file.path)]
        notes += [f"{len(file.hunks)} hunks"] if len(file.hunks) > LONG_REVIEW else []
        return ReviewFile(
            uri=buffer.uri if buffer else file.path.as_uri(),
            version=buffer.version if buffer else None,
            operation=file.operation,
            new_uri=file.new_path.as_uri() if file.new_path else None,
            base_hash=file.base_hash,
            proposed_text=file.proposed if file.operation in ("edit", "create") else "",
            hunks=self._shown_hunks(proposal, file),
            note="; ".join(filter(None, notes)),
        )

    def _shown_hunks(self, proposal: Proposal, file: FileProposal) -> tuple[ReviewHunk, ...]:
        return tuple(
            ReviewHunk(
                it.id,
                self._range(file.base, it.hunk.start, it.hunk.end),
                it.hunk.old,
                it.hunk.new,
                proposal.reason,
                it.state,
            )
            for it in file.hunks
        )

    def _range(self, text: str, start: int, end: int) -> Range:
        first, last = (position_at(text, at, self._files.buffers.encoding) for at in (start, end))
        return Range(Position(first.line, first.character), Position(last.line, last.character))

    def _text(self, path: Path) -> str | None:
        try:
            return self._files.read(path).text
        except ToolError:
            return None

    def _watch(self, buffer: Buffer) -> None:
        self._stirred.set()
        if buffer.path is None or not buffer.synchronised or buffer.path in self._applying:
            return
        proposal, preview = self._previews.get(buffer.path, (None, None))
        if proposal is None or preview is None:
            self.proposals.follow(buffer.path, buffer.text)
        elif buffer.version != preview.version:
            preview.version = buffer.version
            preview.look(buffer.text)
            self._moved(proposal)

    def _moved(self, proposal: Proposal) -> None:
        hunks = tuple(it for file in proposal.files for it in self._shown_hunks(proposal, file))
        self._turns[proposal.id].emit(ReviewChanged(proposal.id, hunks))


def _receipt(file: FileProposal, it: PendingHunk) -> Receipt:
    state = "rejected" if it.state == "pending" else it.state
    return Receipt(hunk_id=it.id, uri=file.path.as_uri(), state=state, text=it.text, reason=it.reason)


def _seen(file: FileProposal, expected: str, text: str | None) -> set[str]:
    """Which of the chosen hunks stand in the text: those that nothing has kept from being as expected."""
    if text is None:
        return set()
    differences = hunks_between(expected, text)
    found: set[str] = set()
    shift = 0
    for it in sorted(file.chosen, key=lambda it: it.hunk.start):
        start = it.hunk.start + shift
        end = start + len(it.result.new)
        shift += len(it.result.new) - len(it.hunk.old)
        if not any(_disturbs(difference, start, end) for difference in differences):
            found.add(it.id)
    return found


def _disturbs(difference: Hunk, start: int, end: int) -> bool:
    if start == end:
        return difference.start <= start <= difference.end
    return difference.start < end and difference.end > start
