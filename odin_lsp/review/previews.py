"""Hunks that an editor shows and applies by itself: what it did is recognised in the text, whatever it answers."""

from dataclasses import dataclass, field, replace

from odin_lsp.review.applying import NOT_SEEN
from odin_lsp.review.hunks import apply
from odin_lsp.review.proposals import FileProposal, PendingHunk
from odin_lsp.review.undo_steps import StepHunk

TYPED_MEANWHILE = "the user typed in the file while it was shown"


@dataclass(slots=True)
class Preview:
    file: FileProposal
    version: int | None = None
    """Of the document when it was last looked at: a message's changes are looked at together."""
    typed: bool = False
    """The user typed meanwhile; most editors then apply nothing any more."""
    _known: frozenset[str] = field(init=False)
    """The hunks that were in the text before it was shown."""

    def __post_init__(self) -> None:
        self._known = frozenset(it.id for it in self.file.hunks if it.applied is not None)

    def look(self, text: str) -> None:
        """Tell what the editor applied from what the user typed."""
        if text != self.file.base and not self.file.recognise(text):
            self.typed = self.file.follow(text) or self.typed

    def give_up(self, problem: str | None) -> None:
        """What cannot be seen now was not wanted, unless something came in between."""
        for it in self.file.pending:
            if self.typed:
                it.supersede(TYPED_MEANWHILE, "typed")
            elif problem:
                it.supersede(f"{NOT_SEEN} ({problem})", "not_applied")

    @property
    def applied(self) -> list[PendingHunk]:
        return [it for it in self.file.hunks if it.applied is not None and not it.is_lost and it.id not in self._known]

    @property
    def before(self) -> str | None:
        """The text without what was applied, but with what the user typed; `None` if nothing was applied."""
        undone = [replace(it.standing, new=it.hunk.old) for it in self.applied]
        return apply(self.file.base, undone) if undone else None

    @property
    def noted(self) -> tuple[StepHunk, ...]:
        """What was applied, in that text."""
        noted: list[StepHunk] = []
        shift = 0
        for it in sorted(self.applied, key=lambda it: (it.standing.start, it.standing.end)):
            here = it.standing
            noted.append(StepHunk(it.id, here.start - shift, len(it.hunk.old), here.old))
            shift += len(here.old) - len(it.hunk.old)
        return tuple(noted)
