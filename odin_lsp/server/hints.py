"""Pending hunks in the editor's own terms: hints that stand where the change would be, and move with the text."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import PurePath

from lsprotocol import types

from odin_lsp.display import shown
from odin_lsp.events import EventRecord, ReviewChanged, ReviewClosed, ReviewOpened
from odin_lsp.ports import Review, ReviewFile, ReviewHunk
from odin_lsp.server.client import Abilities
from odin_lsp.server.diagnostics import SOURCE
from odin_lsp.server.rpc import ClientError, OdinProtocol
from odin_lsp.server.surfaces import cut, marked, name_of, whole_lines_of
from odin_lsp.server.window import show_message
from odin_lsp.server.workspace_edits import lsp_range
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.text import Position
from odin_lsp.workspace.uris import document_key

MAX_LINES = 8
REFRESH_SECONDS = 10.0


class Hints:
    def __init__(self, protocol: OdinProtocol, buffers: Buffers, abilities: Abilities) -> None:
        self._protocol = protocol
        self._buffers = buffers
        self._abilities = abilities
        self._reviews: dict[str, Review] = {}
        self._shown: set[tuple[str, str]] = set()
        """Proposal and document."""
        self._stale: dict[str, str] = {}
        """Documents to be published again, by key."""
        self._refreshing: set[asyncio.Task[None]] = set()

    def follow(self, record: EventRecord) -> None:
        """Know where the hunks of all reviews are, and bring up to date those that are shown."""
        match record.event:
            case ReviewOpened(review):
                self._reviews[review.proposal_id] = review
            case ReviewChanged(proposal_id, hunks) if review := self._reviews.get(proposal_id):
                self._reviews[proposal_id] = _updated(review, hunks)
                self._touch(proposal_id, review.files)
            case ReviewClosed(proposal_id) if review := self._reviews.pop(proposal_id, None):
                self._touch(proposal_id, review.files)
                self._shown = {it for it in self._shown if it[0] != proposal_id}
            case _:
                pass

    def show(self, proposal_id: str, files: Sequence[ReviewFile]) -> None:
        """Until they are decided; and say where to look."""
        self._shown |= {(proposal_id, document_key(file.uri)) for file in files}
        self._touch(proposal_id, files)
        show_message(self._protocol, "info", _message(files))

    def opened(self, uri: str) -> None:
        """Some editors forget a document's diagnostics when they close it."""
        if any(key == document_key(uri) for _, key in self._shown):
            self._publish_soon(uri)

    def pending(self, uri: str) -> Iterator[tuple[ReviewFile, ReviewHunk]]:
        """What is shown in this document, and not decided yet."""
        key = document_key(uri)
        for review in self._reviews.values():
            for file in review.files:
                if document_key(file.uri) == key and (review.proposal_id, key) in self._shown:
                    yield from ((file, hunk) for hunk in file.hunks if hunk.state == "pending")

    def at(self, uri: str, wanted: types.Range) -> Iterator[types.Diagnostic]:
        """The hints on these lines."""
        for file, hunk in self.pending(uri):
            hint = self._diagnostic(file, hunk)
            if hint.range.start.line <= wanted.end.line and wanted.start.line <= _last_line(hint.range):
                yield hint

    def place(self, file: ReviewFile, hunk: ReviewHunk) -> types.Range:
        """Where the hunk is now. What only adds gets the line that it is at: a mark of no width is hard to find."""
        found = lsp_range(hunk.range)
        if file.operation == "edit" and hunk.range.start != hunk.range.end:
            return found
        line = found.start.line if file.operation == "edit" else 0
        buffer = self._buffers.of_uri(file.uri)
        width = buffer.lines.width(line, self._buffers.encoding) if buffer else 0
        return types.Range(types.Position(line, 0), types.Position(line, width))

    def _touch(self, proposal_id: str, files: Iterable[ReviewFile]) -> None:
        for file in files:
            if (proposal_id, document_key(file.uri)) in self._shown:
                self._publish_soon(file.uri)

    def _publish_soon(self, uri: str) -> None:
        """Once per message from the editor, however many steps it has."""
        if not self._stale:
            asyncio.get_running_loop().call_soon(self._publish)
        self._stale[document_key(uri)] = uri

    def _publish(self) -> None:
        stale, self._stale = self._stale, {}
        for uri in stale.values():
            buffer = self._buffers.of_uri(uri)
            self._protocol.notify(
                types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS,
                types.PublishDiagnosticsParams(
                    buffer.uri if buffer else uri,
                    [self._diagnostic(file, hunk) for file, hunk in self.pending(uri)],
                    buffer.version if buffer else None,
                ),
            )
        if self._abilities.code_lens_refresh:
            task = asyncio.create_task(self._refresh())
            self._refreshing.add(task)
            task.add_done_callback(self._refreshing.discard)

    async def _refresh(self) -> None:
        with suppress(ClientError, TimeoutError):
            await self._protocol.ask_client(types.WORKSPACE_CODE_LENS_REFRESH, None, REFRESH_SECONDS)

    def _diagnostic(self, file: ReviewFile, hunk: ReviewHunk) -> types.Diagnostic:
        return types.Diagnostic(
            self.place(file, hunk),
            shown("\n".join(filter(None, (hunk.reason, file.note, *self._change(file, hunk))))),
            severity=types.DiagnosticSeverity.Hint,
            code=hunk.id,
            source=SOURCE,
        )

    def _change(self, file: ReviewFile, hunk: ReviewHunk) -> list[str]:
        match file.operation:
            case "delete":
                return ["delete this file"]
            case "rename":
                return [f"rename this file to {name_of(file.new_uri or '')}"]
            case _:
                buffer = self._buffers.of_uri(file.uri)
                old, new = hunk.old_text, hunk.new_text
                if buffer is not None:
                    start = Position(hunk.range.start.line, hunk.range.start.character)
                    old, new = whole_lines_of(buffer.lines, start, old, new, self._buffers.encoding)
                return cut([*marked("-", old), *marked("+", new)], MAX_LINES)


def _message(files: Sequence[ReviewFile]) -> str:
    count = sum(hunk.state == "pending" for file in files for hunk in file.hunks)
    names = ", ".join(PurePath(name_of(file.uri)).name for file in files)
    changes = "1 change" if count == 1 else f"{count} changes"
    return f"Odin proposes {changes} in {names}: use the quick fixes to accept or reject"


def _updated(review: Review, hunks: tuple[ReviewHunk, ...]) -> Review:
    by_id = {hunk.id: hunk for hunk in hunks}
    files = tuple(replace(file, hunks=tuple(by_id.get(it.id, it) for it in file.hunks)) for file in review.files)
    return replace(review, files=files)


def _last_line(place: types.Range) -> int:
    ends_before = place.end.character == 0 and place.end.line > place.start.line
    return place.end.line - 1 if ends_before else place.end.line
