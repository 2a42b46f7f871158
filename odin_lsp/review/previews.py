"""Hunks that an editor shows and applies by itself: what it did is recognised in the text, whatever it answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from odin_lsp.review.hunks import Hunk, apply
from odin_lsp.review.proposals import FileProposal
from odin_lsp.workspace.text import Lines


@dataclass(slots=True)
class Preview:
    """A hunk that is seen in the text counts as accepted, and from then on stands for itself: `new` for `new`."""

    file: FileProposal
    version: int | None = None
    """Of the document when it was last looked at: a message's changes are looked at together."""
    typed: bool = False
    """The user typed meanwhile; most editors then apply nothing any more."""
    _replaced: dict[str, str] = field(default_factory=dict[str, str])

    def look(self, text: str) -> None:
        """Tell what the editor applied from what the user typed."""
        waiting = [it for it in self.file.hunks if it.id not in self._replaced and it.state != "superseded"]
        taken = hunks_taken(self.file.base, [it.hunk for it in waiting], text)
        if taken is None:
            self.typed = self.file.follow(text) or self.typed
            return
        seen = {waiting[index].id for index in taken}
        shift = 0
        for it in sorted(self.file.hunks, key=lambda it: (it.hunk.start, it.hunk.end)):
            hunk = replace(it.hunk, start=it.hunk.start + shift)
            if it.id in seen:
                shift += len(hunk.new) - len(hunk.old)
                self._replaced[it.id] = hunk.old
                hunk = replace(hunk, old=hunk.new)
                it.state, it.text, it.reason = "accepted", None, None
            it.hunk, it.moved = hunk, True
        self.file.lines = Lines(text)

    @property
    def before(self) -> str | None:
        """The text without what was applied, but with what the user typed; `None` if nothing was applied."""
        undone = [
            replace(it.hunk, new=self._replaced[it.id])
            for it in self.file.hunks
            if it.id in self._replaced and it.state == "accepted"
        ]
        return apply(self.file.base, undone) if undone else None


def hunks_taken(base: str, hunks: Sequence[Hunk], text: str) -> list[int] | None:
    """Which of the hunks, applied to `base`, give exactly this text; `None` if no choice of them does.

    Of several choices, one with few hunks: more than can be told is not claimed."""
    ways: dict[int, tuple[int, ...]] = {0: ()}
    at = 0
    for index in sorted(range(len(hunks)), key=lambda it: (hunks[it].start, hunks[it].end)):
        hunk = hunks[index]
        if hunk.start < at:
            return None
        gap = base[at : hunk.start]
        reached: dict[int, tuple[int, ...]] = {}
        for place, way in ways.items():
            if not text.startswith(gap, place):
                continue
            here = place + len(gap)
            for piece, longer in ((hunk.old, way), (hunk.new, (*way, index))):
                if text.startswith(piece, here):
                    reached.setdefault(here + len(piece), longer)
        ways, at = reached, hunk.end
    tail = base[at:]
    ends = (way for place, way in ways.items() if text[place:] == tail)
    return next((list(way) for way in ends), None)
