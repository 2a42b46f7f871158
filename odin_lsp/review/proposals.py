"""Pending proposals: what the model wants to change, what became of each hunk, and why."""

import asyncio
import hashlib
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from odin_lsp.ports import Decision, FileOperation, HunkState
from odin_lsp.review.hunks import Hunk, apply, hunks_between, rebased, typed_between

TYPED_INSIDE = "the user typed there meanwhile"


@dataclass(slots=True)
class PendingHunk:
    id: str
    hunk: Hunk
    """In the text as it is now."""
    state: HunkState = "pending"
    text: str | None = None
    """What the user put in place of the hunk's text."""
    reason: str | None = None
    """Why it was rejected, or what came in between."""

    @property
    def result(self) -> Hunk:
        """What would be applied."""
        return self.hunk if self.text is None else replace(self.hunk, new=self.text)


@dataclass(slots=True)
class FileProposal:
    path: Path
    operation: FileOperation
    base: str
    """The text that the hunks stand in; it follows the user's typing."""
    hunks: list[PendingHunk]
    new_path: Path | None = None
    recursive: bool = False

    @property
    def base_hash(self) -> str:
        return hashlib.sha256(self.base.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def proposed(self) -> str:
        """The text if everything that is pending or accepted were applied."""
        return apply(self.base, [it.result for it in self.hunks if it.state in ("pending", "accepted", "modified")])

    @property
    def pending(self) -> list[PendingHunk]:
        return [it for it in self.hunks if it.state == "pending"]

    @property
    def chosen(self) -> list[PendingHunk]:
        return [it for it in self.hunks if it.state in ("accepted", "modified")]

    def follow(self, text: str) -> bool:
        """The user typed: move the hunks along. What was typed into is no longer what was shown."""
        typed = typed_between(self.base, text)
        if typed is None or self.operation != "edit":
            return False
        for it in self.hunks:
            moved = rebased(it.hunk, typed)
            if moved is not None:
                it.hunk = moved
            elif it.state in ("pending", "accepted", "modified"):
                it.state, it.text, it.reason = "superseded", None, TYPED_INSIDE
        self.base = text
        return True


@dataclass(slots=True)
class Proposal:
    id: str
    turn_id: str
    reason: str
    files: list[FileProposal]
    decided: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when nothing is pending any more."""

    @property
    def hunks(self) -> Iterable[PendingHunk]:
        return (it for file in self.files for it in file.hunks)

    @property
    def is_pending(self) -> bool:
        return any(it.state == "pending" for it in self.hunks)


def propose(turn_id: str, reason: str, files: list[FileProposal]) -> Proposal:
    return Proposal(uuid.uuid4().hex, turn_id, reason, files)


def edit_of(path: Path, old: str, new: str) -> FileProposal:
    return FileProposal(path, "edit", old, [_pending(hunk) for hunk in hunks_between(old, new)])


def operation_of(
    path: Path, operation: FileOperation, text: str = "", *, new_path: Path | None = None, recursive: bool = False
) -> FileProposal:
    """A create, delete or rename: decided as one."""
    hunk = (
        Hunk(0, "", text) if operation == "create" else Hunk(0, text, "") if operation == "delete" else Hunk(0, "", "")
    )
    return FileProposal(path, operation, hunk.old, [_pending(hunk)], new_path, recursive)


def _pending(hunk: Hunk) -> PendingHunk:
    return PendingHunk(uuid.uuid4().hex[:12], hunk)


class Proposals:
    """Those that wait for a decision. Each hunk is decided once: what comes later, or for an unknown id, is ignored."""

    def __init__(self, changed: Callable[[Proposal], None]) -> None:
        self._changed = changed
        self._open: dict[str, Proposal] = {}

    def __iter__(self) -> Iterator[Proposal]:
        return iter(tuple(self._open.values()))

    def open(self, proposal: Proposal) -> None:
        self._open[proposal.id] = proposal

    def close(self, proposal: Proposal) -> None:
        self._open.pop(proposal.id, None)

    def decide(self, decisions: Iterable[Decision]) -> list[PendingHunk]:
        """Take the decisions; the hunks that they changed."""
        by_id = {it.id: (proposal, it) for proposal in self._open.values() for it in proposal.hunks}
        taken: list[PendingHunk] = []
        for decision in decisions:
            proposal, it = by_id.get(decision.hunk_id, (None, None))
            if proposal is None or it is None or it.state != "pending":
                continue
            match decision.decision:
                case "accept":
                    it.state = "accepted"
                case "modify" if decision.text is not None:
                    it.state, it.text = "modified", decision.text
                case _:
                    it.state, it.reason = "rejected", decision.reason
            taken.append(it)
        self._settle()
        return taken

    def select(
        self, proposal_id: str | None = None, hunk_ids: Iterable[str] | None = None, path: Path | None = None
    ) -> list[PendingHunk]:
        """What is pending among these; everything if none is named."""
        wanted = set(hunk_ids) if hunk_ids is not None else None
        return [
            it
            for proposal in self._open.values()
            if proposal_id in (None, proposal.id)
            for file in proposal.files
            if path in (None, file.path)
            for it in file.pending
            if wanted is None or it.id in wanted
        ]

    def follow(self, path: Path, text: str) -> None:
        """A document has changed under the pending hunks."""
        for proposal in tuple(self._open.values()):
            moved = [file.follow(text) for file in proposal.files if file.path == path]
            if any(moved):
                self._changed(proposal)
        self._settle()

    def texts(self) -> Mapping[Path, str]:
        """The files as they would be if everything pending were accepted."""
        return {file.path: file.proposed for proposal in self._open.values() for file in proposal.files}

    def _settle(self) -> None:
        for proposal in self._open.values():
            if not proposal.is_pending:
                proposal.decided.set()
