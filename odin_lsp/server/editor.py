"""The editor's side of a turn over LSP, by what the client can do."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from lsprotocol import types

from odin_lsp.config import Timeouts
from odin_lsp.errors import RequestError
from odin_lsp.frames import with_whole_characters
from odin_lsp.ports import Answer, Decision, FileChange, Level, Question, Review, ReviewAnswer, ReviewFile
from odin_lsp.server import wire
from odin_lsp.server.client import Abilities
from odin_lsp.server.hints import Hints
from odin_lsp.server.open_notebooks import cell_edit
from odin_lsp.server.plain_questions import PlainQuestions
from odin_lsp.server.rpc import ClientError, OdinProtocol
from odin_lsp.server.surfaces import surface, whole_question
from odin_lsp.server.window import show_message
from odin_lsp.server.workspace_edits import annotated_edit, workspace_edit
from odin_lsp.values import from_wire, to_wire
from odin_lsp.workspace.buffers import Buffer, Buffers
from odin_lsp.workspace.uris import document_key

OPEN_SECONDS = 2.0
"""Between an editor's word that it shows a document and its `didOpen`."""


class LspEditor:
    def __init__(
        self, protocol: OdinProtocol, buffers: Buffers, abilities: Abilities, timeouts: Callable[[], Timeouts]
    ) -> None:
        self._protocol = protocol
        self._buffers = buffers
        self._one_at_a_time = asyncio.Lock()
        self.abilities = abilities
        self._timeouts = timeouts
        self.hints = Hints(protocol, buffers, abilities)
        self.questions = PlainQuestions(protocol, timeouts, self.notify)

    async def ask(self, question: Question) -> Answer | None:
        async with self._one_at_a_time:
            try:
                if self.abilities.question:
                    return await self._ask_odin(question)
                return await self.questions.ask(question, has_actions=self.abilities.code_actions)
            except (ClientError, TimeoutError, RequestError):
                return None

    async def review(self, review: Review) -> ReviewAnswer | None:
        """Odin's own clients show hunks; for the others see `surface`."""
        if not self.abilities.review:
            return await self._review_with_anyone(review)
        answer = await self._protocol.ask_client("odin/review", to_wire(review), self._timeouts().person)
        return None if answer is None else from_wire(ReviewAnswer, answer)

    def previews(self, file: ReviewFile) -> bool:
        return surface(self.abilities, file.operation, is_open=file.version is not None) == "preview"

    async def preview(self, file: ReviewFile) -> str | None:
        version = file.version
        if version is None and await self._show(file.uri):
            buffer = self._buffers.of_uri(file.uri)
            if buffer is None or buffer.lines.digest != file.base_hash:
                return "the editor shows another text than the file has"
            version = buffer.version
        params = types.ApplyWorkspaceEditParams(annotated_edit(file, version), label="Odin")
        try:
            result = await self._protocol.ask_client(types.WORKSPACE_APPLY_EDIT, params, self._timeouts().person)
        except ClientError as error:
            return str(error)
        except TimeoutError:
            return "the editor did not answer in time"
        return None if result.applied else result.failure_reason

    async def close_review(self, proposal_id: str) -> None:
        """Cancelling the request has taken it off the screen."""

    async def apply(self, change: FileChange) -> str | None:
        buffer = self._buffers.of_uri(change.uri)
        if buffer is not None and buffer.is_notebook:
            edit = cell_edit(buffer, change, self._buffers.encoding)
            if edit is None or not self.abilities.document_changes:
                return "the notebook is open, and only the text of its cells can be changed there"
        else:
            edit = workspace_edit(change, self.abilities)
        if edit is None:
            done = {"edit": "apply edits", "create": "create files", "rename": "rename files", "delete": "delete files"}
            return f"the editor cannot {done[change.operation]}"
        params = types.ApplyWorkspaceEditParams(edit, label="Odin")
        try:
            result = await self._protocol.ask_client(types.WORKSPACE_APPLY_EDIT, params, self._timeouts().client)
        except ClientError as error:
            return str(error)
        except TimeoutError:
            return "the editor did not answer in time"
        return None if result.applied else result.failure_reason or "the editor did not apply it"

    async def save(self, uris: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
        if not self.abilities.save:
            return ()
        try:
            answer = await self._protocol.ask_client("odin/save", {"uris": list(uris)}, self._timeouts().client)
            return tuple((it.uri, it.reason) for it in from_wire(wire.Saved, answer).failed)
        except (ClientError, TimeoutError, RequestError) as error:
            return tuple((uri, str(error) or "the editor did not answer in time") for uri in uris)

    async def reload(self, uris: tuple[str, ...]) -> None:
        if self.abilities.reload:
            with suppress(ClientError, TimeoutError):
                await self._protocol.ask_client("odin/reload", {"uris": list(uris)}, self._timeouts().client)

    def notify(self, level: Level, message: str) -> None:
        show_message(self._protocol, level, f"Odin: {message}")

    async def open_document(self, uri: str, line: int | None = None) -> bool:
        """Have the user look at a document, at that line; whether the editor shows it."""
        place = types.Position(line, 0) if line is not None else None
        selection = types.Range(place, place) if place else None
        params = types.ShowDocumentParams(uri, take_focus=True, selection=selection)
        try:
            return self.abilities.show_document and await self._shown(params)
        except (ClientError, TimeoutError):
            return False

    async def _shown(self, params: types.ShowDocumentParams) -> bool:
        shown = await self._protocol.ask_client(types.WINDOW_SHOW_DOCUMENT, params, self._timeouts().client)
        return bool(shown and shown.success)

    async def _review_with_anyone(self, review: Review) -> ReviewAnswer | None:
        """Hints are decided later, by commands; in the meantime the rest is asked."""
        hinted: list[ReviewFile] = []
        asked: list[ReviewFile] = []
        for file in review.files:
            if any(hunk.state == "pending" for hunk in file.hunks):
                (hinted if await self._takes_hints(file) else asked).append(file)
        if hinted:
            self.hints.show(review.proposal_id, hinted)
        parts = [asked] if review.atomic and asked else [[file] for file in asked]
        decisions = [decision for files in parts for decision in await self._ask_about(review, files)]
        return ReviewAnswer(decisions=tuple(decisions)) if asked else None

    async def _takes_hints(self, file: ReviewFile) -> bool:
        is_open = self._buffers.of_uri(file.uri) is not None
        wanted = surface(self.abilities, file.operation, is_open=is_open) == "hints"
        return wanted and (is_open or await self._show(file.uri))

    async def _ask_about(self, review: Review, files: list[ReviewFile]) -> list[Decision]:
        answer = await self.ask(whole_question(review, files, self._buffers.encoding))
        kind = "accept" if answer is not None and answer.option_ids == ("allow_once",) else "reject"
        return [Decision(hunk_id=hunk.id, decision=kind) for file in files for hunk in file.hunks]

    async def _show(self, uri: str) -> bool:
        """Have a document on the screen, without taking the focus; whether the editor has opened it."""
        if not self.abilities.show_document:
            return False
        opened = asyncio.Event()
        key = document_key(uri)

        def watch(buffer: Buffer) -> None:
            if document_key(buffer.uri) == key:
                opened.set()

        self._buffers.watchers.append(watch)
        try:
            shown = await self._shown(types.ShowDocumentParams(uri, take_focus=False))
            async with asyncio.timeout(min(OPEN_SECONDS, self._timeouts().client)):
                return shown and await opened.wait()
        except (ClientError, TimeoutError):
            return False
        finally:
            self._buffers.watchers.remove(watch)

    async def _ask_odin(self, question: Question) -> Answer | None:
        asked = with_whole_characters(to_wire(question))
        answer = await self._protocol.ask_client("odin/question", asked, self._timeouts().person)
        if answer is None:
            return None
        given = from_wire(Answer, answer)
        known = {option.id for option in question.options}
        return given if known.issuperset(given.option_ids) else None
