"""The proposals that people are deciding on."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from odin_lsp.ports import Cause, Decision, HunkState
from odin_lsp.review.proposals import FileProposal, PendingHunk, Proposal
from odin_lsp.review.turn_review import TurnReview

REST_SECONDS = 1.0
"""How long a turn that is cancelled waits for what the editor is doing."""


@dataclass(slots=True, eq=False)
class OpenReview:
    proposal: Proposal
    turn: TurnReview
    told: dict[str, tuple[HunkState, str | None]] = field(default_factory=dict[str, tuple[HunkState, str | None]])
    """The hunks as the client knows them."""
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    life: "asyncio.Task[None]" = field(init=False)
    work: "asyncio.Task[None] | None" = None
    """It carries out what is due."""
    reopening: int = 0
    """How many take decisions back right now: it stays open for them."""
    is_late: bool = False
    """The turn has ended without it."""

    async def rest(self) -> None:
        """Wait for what the editor is doing, however often the turn is cancelled, but not for long."""
        loop = asyncio.get_running_loop()
        end = loop.time() + REST_SECONDS
        while (work := self.work or (self.life if self.settled.is_set() else None)) and not work.done():
            if loop.time() >= end:
                return
            with suppress(asyncio.CancelledError):
                await asyncio.wait([work], timeout=end - loop.time())


class Proposals:
    """Those that wait for a decision. What is decided already, or unknown, is left as it is."""

    def __init__(self) -> None:
        self._open: dict[str, Proposal] = {}

    def __iter__(self) -> Iterator[Proposal]:
        return iter(tuple(self._open.values()))

    def open(self, proposal: Proposal) -> None:
        self._open[proposal.id] = proposal

    def close(self, proposal: Proposal) -> None:
        self._open.pop(proposal.id, None)

    def give_way(self, made: FileProposal, hunks: Sequence[PendingHunk]) -> None:
        """To what was carried out of one of these files. What is taken back makes way for what waits again."""
        files = [file for it in self for file in it.files]
        if any(file is made for file in files):
            for file in [it for it in files if it is not made and it.path == made.path and it.operation == "edit"]:
                file.give_way(hunks)

    def decide(self, decisions: Iterable[Decision], cause: Cause = "person") -> list[PendingHunk]:
        """Take the decisions; the hunks that they changed."""
        by_id = {it.id: it for proposal in self._open.values() for it in proposal.hunks}
        taken: list[PendingHunk] = []
        for decision in self._of_all_parts(list(decisions)):
            it = by_id.get(decision.hunk_id)
            if it is None or it.state != "pending":
                continue
            match decision.decision:
                case "accept":
                    it.state, it.reason = "accepted", decision.reason
                case "modify" if decision.text is not None:
                    it.state, it.text, it.cause = "modified", decision.text, cause
                case _:
                    it.state, it.reason, it.cause = "rejected", decision.reason, cause
            taken.append(it)
        return taken

    def whole(self, hunk_ids: Iterable[str]) -> set[str]:
        """These hunks, and all that are decided together with one of them."""
        wanted = set(hunk_ids)
        for proposal in self._open.values():
            ids = {it.id for it in proposal.hunks}
            if proposal.atomic and not wanted.isdisjoint(ids):
                wanted |= ids
        return wanted

    def _of_all_parts(self, decisions: Sequence[Decision]) -> list[Decision]:
        """What is decided on a part of a whole is decided on all of it; of several decisions on its parts, a no is
        the last word. On one hunk the first counts."""
        by_id: dict[str, Decision] = {}
        for it in decisions:
            by_id.setdefault(it.hunk_id, it)
        for proposal in self._open.values():
            said = [by_id[it.id] for it in proposal.pending if it.id in by_id] if proposal.atomic else []
            if said:
                against = next((it for it in said if it.decision == "reject"), None)
                first = against or Decision(hunk_id="", decision="accept", reason=said[0].reason)
                for it in proposal.pending:
                    if against or it.id not in by_id:
                        by_id[it.id] = replace(first, hunk_id=it.id)
        return list(by_id.values())

    def select(
        self, proposal_id: str | None = None, hunk_ids: Iterable[str] | None = None, path: Path | None = None
    ) -> list[PendingHunk]:
        """Those of the open reviews among these; all if none is named."""
        wanted = set(hunk_ids) if hunk_ids is not None else None
        return [
            it
            for proposal in self._open.values()
            if proposal_id in (None, proposal.id)
            for file in proposal.files
            if path in (None, file.path)
            for it in file.hunks
            if wanted is None or it.id in wanted
        ]
