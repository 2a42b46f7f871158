"""Pending proposals: what the model wants to change, what became of each hunk, and why."""

import asyncio
import hashlib
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from odin_lsp.ports import Decision, FileOperation, HunkState
from odin_lsp.review.hunks import Hunk, apply, compose, hunks_between, joined_line_ends, rebased, typed_between
from odin_lsp.workspace.text import Lines

TEXT: tuple[FileOperation, ...] = ("edit", "create")
"""What leaves a text that can be edited further."""
TYPED_INSIDE = "the user typed there meanwhile"


@dataclass(frozen=True, slots=True)
class Wish:
    """One call's reason to change something."""

    call_id: str
    purpose: str


@dataclass(slots=True)
class PendingHunk:
    hunk: Hunk
    """In the text as it is now."""
    wishes: tuple[Wish, ...] = ()
    """What it is for; edits of one place by several calls are one hunk."""
    state: HunkState = "pending"
    text: str | None = None
    """What the user put in place of the hunk's text."""
    reason: str | None = None
    """Why it was rejected, or what came in between."""
    moved: bool = False
    """Its lines, or its place in them, may be others than those that the client was told."""
    id: str = field(default_factory=lambda: uuid.uuid4().hex[:12])

    @property
    def result(self) -> Hunk:
        """What would be applied."""
        return self.hunk if self.text is None else replace(self.hunk, new=self.text)

    def supersede(self, reason: str) -> None:
        """Something came in between; what was decided against stays so."""
        if self.state in ("pending", "accepted", "modified"):
            self.state, self.text, self.reason = "superseded", None, reason

    @property
    def purpose(self) -> str:
        return "; ".join(dict.fromkeys([it.purpose for it in self.wishes]))


@dataclass(slots=True)
class FileProposal:
    path: Path
    operation: FileOperation
    lines: Lines
    """Of the text that the hunks stand in; it follows the user's typing."""
    hunks: list[PendingHunk]
    new_path: Path | None = None
    recursive: bool = False
    names: tuple[Path, ...] = ()
    """What the model called it, where that is a link to it."""
    under_way: bool = False
    """It is being carried out, or has been: what happens to the text from now on is looked at, not followed."""
    before: str | None = None
    """The text right before that."""
    problem: str | None = None
    """Why the editor says that it has not done it; if it can be seen all the same, perhaps the user did it."""

    @property
    def base(self) -> str:
        return self.lines.text

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

    def extend(self, text: str, wish: Wish) -> None:
        """One more edit, of what is proposed so far."""
        pending = self.pending
        steps = hunks_between(self.proposed, text)
        composed: list[PendingHunk] = []
        for it in compose(self.base, [old.hunk for old in pending], steps):
            known = [pending[index] for index in it.first]
            if not it.second:
                composed += known
                continue
            wishes = (*(wish for old in known for wish in old.wishes), wish)
            composed.append(PendingHunk(it.hunk, tuple(dict.fromkeys(wishes))))
        self.hunks = [*(it for it in self.hunks if it.state != "pending"), *composed]
        self.hunks.sort(key=lambda it: (it.hunk.start, it.hunk.end))

    def follow(self, text: str, at: int = 0, length: int | None = None) -> bool:
        """The user typed, `length` characters at a place if that is known: move the hunks along. What was typed into is
        no longer what was shown."""
        typed = typed_between(self.base, text, at, length)
        if typed is None or self.operation != "edit":
            return False
        count = len(self.lines)
        behind = self.lines.replace(typed.start, typed.start + typed.removed, typed.inserted)
        joined = joined_line_ends(text, typed)
        for it in self.hunks:
            if it.hunk.end < typed.start:
                continue
            moved = rebased(it.hunk, typed)
            if moved is None or moved.start in joined or moved.end in joined:
                it.supersede(TYPED_INSIDE)
                continue
            it.hunk = moved
            it.moved = it.moved or moved.start <= behind or len(self.lines) != count
        return True


@dataclass(slots=True)
class Proposal:
    """Several files as one set to decide on."""

    turn_id: str
    files: list[FileProposal]
    reason: str = ""
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    decided: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when nothing is pending any more."""

    @property
    def hunks(self) -> Iterable[PendingHunk]:
        return (it for file in self.files for it in file.hunks)

    @property
    def pending(self) -> list[PendingHunk]:
        return [it for file in self.files for it in file.pending]

    @property
    def is_pending(self) -> bool:
        return any(it.state == "pending" for it in self.hunks)


def edit_of(path: Path, old: str, new: str, wish: Wish | None = None) -> FileProposal:
    wishes = (wish,) if wish else ()
    return FileProposal(path, "edit", Lines(old), [PendingHunk(hunk, wishes) for hunk in hunks_between(old, new)])


def operation_of(
    path: Path,
    operation: FileOperation,
    text: str = "",
    wish: Wish | None = None,
    *,
    new_path: Path | None = None,
    recursive: bool = False,
) -> FileProposal:
    """A create, delete or rename: decided as one."""
    hunk = (
        Hunk(0, "", text) if operation == "create" else Hunk(0, text, "") if operation == "delete" else Hunk(0, "", "")
    )
    hunks = [PendingHunk(hunk, (wish,) if wish else ())]
    return FileProposal(path, operation, Lines(hunk.old), hunks, new_path, recursive)


class Proposals:
    """Those that wait for a decision. Each hunk is decided once: what comes later, or for an unknown id, is ignored."""

    def __init__(self) -> None:
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
        self.settle()
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

    def settle(self) -> None:
        """Let those go on that wait for nothing any more."""
        for proposal in self._open.values():
            if not proposal.decided.is_set() and not proposal.is_pending:
                proposal.decided.set()
