"""The editor's side of a turn where there is no editor: files are changed on disk."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from odin_lsp.errors import ToolError
from odin_lsp.ports import (
    UNASKED,
    Answer,
    FileChange,
    Level,
    Question,
    Review,
    ReviewAnswer,
    TextReplacement,
    decide_all,
)
from odin_lsp.workspace import disk
from odin_lsp.workspace.ranges import span
from odin_lsp.workspace.text import Decoded, Lines
from odin_lsp.workspace.uris import path_of

log = logging.getLogger("odin.library")
LEVELS = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
NOBODY = "not reviewed: this program rejects all changes"
NO_REVIEWER = "Odin's changes are rejected, because `DiskEditor` rejects all. To accept some, override `review`."


class DiskEditor:
    """Writes to disk what was accepted. By itself it answers no question, which is a no, and rejects every change:
    override `ask` and `review` to decide."""

    async def ask(self, question: Question) -> Answer | None:
        """The answer; `None` when there is none, which is never a yes."""
        return None

    async def review(self, review: Review) -> ReviewAnswer | None:
        """What is to become of each hunk; those that are not decided on are rejected."""
        self.notify("warning", NO_REVIEWER)
        return decide_all(review, "reject", NOBODY)

    def notify(self, level: Level, message: str) -> None:
        """Hear of something that belongs to no turn."""
        log.log(LEVELS[level], message)

    async def close_review(self, proposal_id: str) -> None:
        """The review that is under way is not wanted any more."""

    async def apply(self, change: FileChange) -> str | None:
        try:
            await asyncio.to_thread(_carry_out, change)
        except ToolError as error:
            return str(error)
        return None

    async def save(self, uris: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
        return ()  # what is applied here is on disk

    async def reload(self, uris: tuple[str, ...]) -> None:
        """Nothing is open here."""


def accept_all(review: Review) -> ReviewAnswer:
    """For those who look at the changes elsewhere, such as in a pull request."""
    return decide_all(review, "accept", UNASKED)


def _carry_out(change: FileChange) -> None:
    path = _path(change.uri)
    match change.operation:
        case "edit":
            content = disk.read_text(path)
            before = content.text if change.before is None else change.before
            disk.write_text(path, replace(content, text=replaced(before, change.edits)), before)
        case "create":
            disk.create_text(path, Decoded("".join(edit.new_text for edit in change.edits), "utf-8"))
        case "delete":
            disk.delete(path, recursive=change.recursive)
        case "rename":
            disk.rename(path, _path(change.new_uri or ""))


def _path(uri: str) -> Path:
    if (path := path_of(uri)) is None:
        raise ToolError(f"{uri!r} names no file on this machine; name one")
    return path


def replaced(text: str, edits: Sequence[TextReplacement]) -> str:
    """All of them at once: each range is one of the text as it is now."""
    lines = Lines(text)
    pieces: list[str] = []
    at = 0
    for (start, end), new in sorted(((span(lines, it.range), it.new_text) for it in edits), key=lambda it: it[0]):
        if start < at:
            raise ToolError("the changes overlap; propose them one after the other")
        pieces += [text[at:start], new]
        at = end
    return "".join([*pieces, text[at:]])
