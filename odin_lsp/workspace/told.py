"""Texts that a conversation has word for word: of these only what has changed since has to be told again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from odin_lsp.workspace.buffers import Stamp


@dataclass(frozen=True, slots=True)
class ToldText:
    """As far as it was told, in one go or page by page."""

    lines: Mapping[int, str] = field(default_factory=dict[int, str])
    total: int | None = None
    """Lines in the file."""
    stamp: Stamp | None = None
    calls: frozenset[str] = frozenset()
    """Whose results are needed to know it."""

    @property
    def is_whole(self) -> bool:
        return self.total is not None and len(self.lines) == self.total

    @property
    def text(self) -> list[str]:
        return [self.lines[number] for number in sorted(self.lines)]

    def joined_by(self, page: "ToldText") -> "ToldText":
        """Pages of one text are one; of another text, only the new page is known."""
        if page.is_whole or page.stamp is None or (page.stamp, page.total) != (self.stamp, self.total):
            return page
        return replace(self, lines={**self.lines, **page.lines}, calls=self.calls | page.calls)

    def renewed(self, lines: Sequence[str], stamp: Stamp | None, call_id: str) -> "ToldText":
        """What has changed was told as well."""
        return ToldText(dict(enumerate(lines, 1)), len(lines), stamp, self.calls | {call_id})
