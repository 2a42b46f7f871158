"""What a turn wants to change, gathered until it is reviewed as one set: the calls of a step, or those of a turn."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from odin_lsp.ports import Receipt
from odin_lsp.review.desk import ReviewDesk
from odin_lsp.review.proposals import TEXT, FileProposal, PendingHunk, Proposal
from odin_lsp.review.screen import receipt_of
from odin_lsp.review.turn_review import TurnReview
from odin_lsp.tasks import COMPARED, beside_loop
from odin_lsp.workspace.shown import Shown, ShownView, shown_or_written, still_shown


@dataclass(frozen=True, slots=True)
class FileReceipts:
    """What became of the edits of one file."""

    file: FileProposal
    receipts: tuple[Receipt, ...]


class BeforeReview(Protocol):
    async def __call__(self, proposed: Sequence[FileProposal], *, in_a_hurry: bool) -> None:
        """Nothing of what is proposed is made yet. `in_a_hurry`: somebody is about to see it on a screen."""
        ...


async def _go_on(proposed: Sequence[FileProposal], *, in_a_hurry: bool) -> None: ...


@dataclass(slots=True)
class Draft:
    """One turn's. With the policy `end` it is reviewed once, and until then is what the model reads of these files."""

    desk: ReviewDesk
    turn: TurnReview
    shown: Shown
    reason: str = ""
    """What the model said about the step."""
    before_review: BeforeReview = _go_on
    names: dict[Path, tuple[Path, ...]] = field(default_factory=dict[Path, tuple[Path, ...]])
    """What the model called files that it reached through links."""
    _proposal: Proposal | None = None
    _believed: dict[Path, str] = field(default_factory=dict[Path, str])
    """The texts as the model knows them."""
    _seen: dict[Path, tuple[ShownView]] = field(default_factory=dict[Path, tuple[ShownView]])
    """Files before the first edit, and what the model was shown of them."""
    _waiting: dict[str, "asyncio.Future[list[FileReceipts]]"] = field(
        default_factory=dict[str, "asyncio.Future[list[FileReceipts]]"]
    )
    _gathered: asyncio.Event = field(default_factory=asyncio.Event)
    _reviewed: Proposal | None = None
    """The last one that was, or is being, reviewed."""

    @property
    def waits_for_end(self) -> bool:
        return self.desk.policy_for(self.turn) == "end" and not self.turn.accept_rest

    @property
    def is_empty(self) -> bool:
        return self._proposal is None

    @property
    def texts(self) -> dict[Path, str]:
        """The files that would have another text, with that text."""
        files = self._proposal.files if self._proposal else ()
        return {it.path: it.proposed for it in files if it.operation in ("edit", "create")}

    async def propose(self, file: FileProposal, call_id: str) -> list[FileReceipts] | None:
        """Add one call's change. What became of it, once that is known; `None`: that is decided at the turn's end."""
        return await self.propose_all([file], call_id)

    async def propose_all(self, files: Sequence[FileProposal], call_id: str) -> list[FileReceipts] | None:
        """The same for several files, each of which is there once."""
        if any(self._is_in_the_way(it) for it in files):
            await self.review()
        await self._add_all(files)
        if self.waits_for_end:
            return None
        waiting = self._waiting.setdefault(call_id, asyncio.get_running_loop().create_future())
        self._gathered.set()
        return await waiting

    async def propose_whole(self, files: Sequence[FileProposal]) -> list[FileReceipts]:
        """Several files, changed as a whole or not at all: reviewed by themselves and at once, whatever the policy."""
        await self.review()
        await self._add_all(files)
        if self._proposal is not None:
            self._proposal.atomic = True
        return await self.review()

    async def gathered(self, call: "asyncio.Task[Any]") -> None:
        """Until the call has added its change, or has ended without one."""
        self._gathered.clear()
        added = asyncio.create_task(self._gathered.wait())
        try:
            await asyncio.wait([call, added], return_when=asyncio.FIRST_COMPLETED)
        finally:
            added.cancel()

    async def settle(self, path: Path) -> None:
        """Have what is open for this file decided before something else happens to it."""
        if self._proposal is not None and any(path in (it.path, it.new_path) for it in self._proposal.files):
            await self.review()

    async def review(self) -> list[FileReceipts]:
        """Have everything decided that was gathered so far."""
        proposal, self._proposal = self._proposal, None
        believed, self._believed = self._believed, {}
        seen, self._seen = self._seen, {}
        waiting, self._waiting = self._waiting, {}
        if proposal is None:
            return []
        proposal.reason = self.reason or proposal.reason
        self._reviewed = proposal
        try:
            try:
                in_a_hurry = self.desk.is_hurried and not self.turn.accept_rest
                await self.before_review(proposal.files, in_a_hurry=in_a_hurry)
            finally:
                self.desk.drafts.remove(proposal)
            await self.desk.submit(proposal, self.turn)
        except BaseException:
            for future in waiting.values():
                future.cancel()
            raise
        for path, text in believed.items():
            now, shown = await self.desk.applier.text_beside_loop(path), self.shown.of(path)
            if now is not None and shown is not None:
                views = (text, dict(shown.lines)), *seen.get(path, ())
                self.shown.renew(path, await beside_loop(COMPARED * len(now), still_shown, now, views))
        for call_id, future in waiting.items():
            future.set_result(told_of(proposal, call_id))
        return told_of(proposal)

    def so_far(self, call_id: str) -> list[FileReceipts]:
        """What the last review has made of the call's edits until now."""
        return told_of(self._reviewed, call_id) if self._reviewed else []

    def drop(self) -> None:
        """The turn is over: what was not reviewed is not made."""
        if self._proposal is not None:
            self.desk.drafts.remove(self._proposal)
        self._proposal = None

    def _is_in_the_way(self, file: FileProposal) -> bool:
        """What waits for the same file cannot become one change with it."""
        known = self._known(file.path)
        return known is not None and (known.operation not in TEXT or file.operation != "edit")

    def _known(self, path: Path) -> FileProposal | None:
        return next((it for it in self._proposal.files if it.path == path), None) if self._proposal else None

    async def _add_all(self, files: Sequence[FileProposal]) -> None:
        """All of them at once; then what the model has seen of each is what it has written there, too."""
        added = [(it, it.base, self._add(it)) for it in files]
        for file, old, new in added:
            if file.operation == "edit" and (shown := self.shown.of(file.path)) is not None:
                lines = dict(shown.lines)
                self._seen.setdefault(file.path, ((old, lines),))
                self.shown.renew(file.path, await beside_loop(COMPARED * len(old), shown_or_written, old, new, lines))

    def _add(self, file: FileProposal) -> str:
        """The text that is proposed now."""
        if self._proposal is None:
            self._proposal = Proposal(self.turn.turn_id, [], origin=self.turn.origin)
            self.desk.drafts.append(self._proposal)
        known = self._known(file.path) if file.operation == "edit" else None  # what is edited may also be moved then
        if known is not None:
            file.follow_content(known.proposed)  # somebody may have typed while the edit was made
        new = file.proposed
        file.names = self.names.get(file.path, ())
        if known is None:
            self._proposal.files.append(file)
        else:
            known.names = file.names
            known.extend(new, file.hunks[0].wishes[0])
        self._proposal.reason = "; ".join(dict.fromkeys(it.purpose for it in self._proposal.hunks))
        self._believed[file.path] = new
        return new


def told_of(proposal: Proposal, call_id: str | None = None) -> list[FileReceipts]:
    return [
        FileReceipts(file, tuple(receipt_of(file, it) for it in file.hunks if _concerns(it, call_id)))
        for file in proposal.files
        if any(_concerns(it, call_id) for it in file.hunks)
    ]


def _concerns(hunk: PendingHunk, call_id: str | None) -> bool:
    return call_id is None or any(wish.call_id == call_id for wish in hunk.wishes)
