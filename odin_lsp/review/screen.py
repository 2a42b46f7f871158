"""A proposal as people see it."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from odin_lsp.ports import Answer, Question, Receipt, Review, ReviewFile, ReviewHunk
from odin_lsp.review.applying import Applier
from odin_lsp.review.proposals import FileProposal, PendingHunk, Proposal
from odin_lsp.review.undo_log import UndoLog
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.uris import printable

NO_WAY_BACK = "this cannot be undone"
CHANGED_SINCE = "the user has changed these lines since"
MANY_HUNKS = 500
LONG_TEXT = 1024 * 1024

Caution = Callable[[Sequence[Path], str, str, Sequence[Path]], tuple[str, bool]]
"""What a person should know before these files get another text, and whether they must be asked in any case; last, the
folders of the workspace."""


class Screen:
    def __init__(self, files: Files, applier: Applier, caution: Caution, undo_log: UndoLog) -> None:
        self._files = files
        self._applier = applier
        self._caution = caution
        self._undo_log = undo_log

    def review(self, proposal: Proposal, session_id: str) -> Review:
        files = tuple(self.file(file, proposal) for file in proposal.files)
        return Review(
            proposal.id, proposal.turn_id, proposal.reason, files, session_id, proposal.atomic, proposal.origin
        )

    def file(self, file: FileProposal, proposal: Proposal) -> ReviewFile:
        buffer = self._files.buffers.of_path(file.path)
        size = sum(len(it.hunk.new) + len(it.hunk.old) for it in file.hunks)
        notes = [f"proposed by {proposal.origin}"] if proposal.origin else []
        proposed = file.proposed if file.operation in ("edit", "create") else ""
        notes += [self.caution(file, proposed)[0]]
        notes += ["a folder, with everything in it"] if file.operation != "edit" and file.path.is_dir() else []
        notes += [f"a long review: {len(file.hunks)} hunks"] if len(file.hunks) > MANY_HUNKS else []
        notes += [f"a long review: {size:,} characters"] if size > LONG_TEXT else []
        before = self._applier.text(file.path) if file.operation == "delete" else file.base
        lost = self._undo_log.refusal(proposal.turn_id, file.path, file.operation, before)
        notes += [f"{NO_WAY_BACK}: {lost}"] if lost else []
        return ReviewFile(
            uri=buffer.uri if buffer else file.path.as_uri(),
            version=buffer.version if buffer else None,
            operation=file.operation,
            new_uri=file.new_path.as_uri() if file.new_path else None,
            base_hash=file.base_hash,
            proposed_text=proposed,
            hunks=tuple(self.hunk(file, it) for it in file.hunks),
            note="; ".join(filter(None, notes)),
        )

    def hunk(self, file: FileProposal, it: PendingHunk) -> ReviewHunk:
        place = self._applier.range(file, it.standing)
        return ReviewHunk(it.id, place, it.hunk.old, it.hunk.new, it.purpose, it.state, it.text)

    def caution(self, file: FileProposal, proposed: str) -> tuple[str, bool]:
        paths = [it for it in (file.path, file.new_path, *file.names) if it is not None]
        old, new = file.base, proposed
        if file.operation == "rename":
            new = self._applier.text(file.path) or ""
            old = new if file.new_path and file.path.suffix == file.new_path.suffix else ""
        return self._caution(paths, old, new, self._files.roots)

    def needs_a_look(self, file: FileProposal) -> bool:
        """Whether it may not be accepted unseen; what cannot be read now is not seen by Odin either."""
        try:
            return self.caution(file, file.proposed)[1]
        except OSError:
            return True


def receipts_of(proposal: Proposal) -> list[Receipt]:
    return [receipt_of(file, it) for file in proposal.files for it in file.hunks]


def receipt_of(file: FileProposal, it: PendingHunk) -> Receipt:
    """What has become of it so far."""
    receipt = Receipt(
        hunk_id=it.id, uri=file.path.as_uri(), state=it.state, text=it.text, reason=it.reason, cause=it.cause
    )
    if it.is_proposed:
        return replace(receipt, state="pending", text=None, reason=None, cause=None)
    if it.applied is None or it.is_as_left:
        return receipt
    if it.is_lost:
        return replace(receipt, reason=CHANGED_SINCE, cause="typed")
    return replace(receipt, state="modified", text=it.applied, reason=None, cause="typed")


def question_of(proposal: Proposal) -> Question:
    """That somebody has to decide, for those who only follow."""
    count = len(proposal.pending)
    names = ", ".join(printable(file.path.name) for file in proposal.files)
    return Question(
        question_id=proposal.id,
        kind="review",
        title=f"Accept {count} change{'' if count == 1 else 's'} in {names}?",
        detail=proposal.reason,
        paths=tuple(printable(str(file.path)) for file in proposal.files),
    )


def answer_of(proposal: Proposal) -> Answer | None:
    """How many hunks ended how; none if some wait, or nobody has decided in time."""
    if proposal.pending or any(it.cause == "late" for it in proposal.hunks):
        return None
    states = Counter(it.state for it in proposal.hunks)
    return Answer(text=", ".join(f"{count} {state}" for state, count in states.items()))
