"""Hunks as clients see them: each a tool call of its own, with its diff and its place."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from odin_lsp.library.sides import sides
from odin_lsp.ports import HunkState, Receipt, Review, ReviewFile, ReviewHunk
from odin_lsp.workspace.uris import path_of, printable

VERBS = {"edit": "Change", "create": "Create", "delete": "Delete", "rename": "Move"}
KINDS = {"edit": "edit", "create": "edit", "delete": "delete", "rename": "move"}
STATUS: dict[HunkState, str] = {
    "pending": "pending",
    "accepted": "completed",
    "modified": "completed",
    "rejected": "failed",
    "superseded": "failed",
}


@dataclass(frozen=True, slots=True)
class ShownHunk:
    """One hunk of a file, or all that is done to it."""

    file: ReviewFile
    hunk: ReviewHunk
    sides: tuple[str, str]
    """The lines around it without it and with it."""
    place: str = ""
    """Which of several it is."""

    @property
    def call_id(self) -> str:
        return f"hunk-{self.hunk.id}"

    @property
    def call(self) -> dict[str, Any]:
        """All that a client needs to show it and to ask about it."""
        return {
            "toolCallId": self.call_id,
            "title": self._title,
            "kind": KINDS[self.file.operation],
            "status": STATUS[self.hunk.state],
            "content": self._content(self.hunk.reason),
            "locations": [{"path": _path(self.file.uri), "line": self.hunk.range.start.line + 1}],
        }

    def decided(self, receipt: Receipt) -> dict[str, Any]:
        """What has become of it."""
        said = ": ".join(filter(None, (receipt.state, receipt.reason)))
        return {"toolCallId": self.call_id, "status": STATUS[receipt.state], "content": self._content(said)}

    @property
    def _title(self) -> str:
        file = self.file
        where = f", line {self.hunk.range.start.line + 1}" if file.operation == "edit" else ""
        to = f" to {_name(file.new_uri)}" if file.new_uri else ""
        return f"{VERBS[file.operation]} {_name(file.uri)}{to}{where}{self.place}"

    def _content(self, words: str) -> list[dict[str, Any]]:
        said = "\n".join(filter(None, (words, self.file.note)))
        text = [{"type": "content", "content": {"type": "text", "text": said}}] if said else []
        return text if self.file.operation == "rename" else [self._diff, *text]

    @property
    def _diff(self) -> dict[str, Any]:
        old, new = self.sides
        before = None if self.file.operation == "create" else old
        return {"type": "diff", "path": _path(self.file.uri), "oldText": before, "newText": new}


def shown(review: Review) -> Iterator[ShownHunk]:
    for file in review.files:
        count = len(file.hunks)
        for number, (hunk, old, new) in enumerate(sides(file), 1):
            yield ShownHunk(file, hunk, (old, new), f" ({number} of {count})" if count > 1 else "")


def _path(uri: str) -> str:
    return str(path_of(uri) or uri)


def _name(uri: str) -> str:
    path = path_of(uri)
    return printable(path.name if path else uri)
