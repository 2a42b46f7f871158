"""Editors that show a change and apply it by themselves: one file at a time, watched while it is shown."""

import asyncio
from dataclasses import replace
from pathlib import Path

from odin_lsp.ports import PreviewingEditor
from odin_lsp.review.applying import Applier
from odin_lsp.review.making import Maker, noted_of
from odin_lsp.review.open_reviews import OpenReview
from odin_lsp.review.previews import Preview
from odin_lsp.review.proposals import FileProposal
from odin_lsp.review.screen import Screen
from odin_lsp.review.undo_log import UndoLog
from odin_lsp.workspace.buffers import Buffer
from odin_lsp.workspace.files import Files


class Previewer:
    def __init__(self, files: Files, applier: Applier, maker: Maker, screen: Screen, undo_log: UndoLog) -> None:
        self._files = files
        self._applier = applier
        self._maker = maker
        self._screen = screen
        self._undo_log = undo_log
        self._shown: dict[Path, tuple[OpenReview, Preview]] = {}
        self._one_at_a_time = asyncio.Lock()

    def shows(self, file: FileProposal) -> bool:
        return any(preview.file is file for _, preview in self._shown.values())

    async def show(self, editor: PreviewingEditor, review: OpenReview, file: FileProposal) -> None:
        """Have the editor show and apply it. What still waits afterwards was not wanted."""
        turn = review.turn
        async with self._one_at_a_time:
            large = await self._files.warm(file.path)
            self._applier.catch_up(file)
            del large
            step = replace(self._maker.step(file, turn), hunks=noted_of(file.pending))
            await self._maker.intend(step, file, turn, file.base, file.proposed)
            self._applier.catch_up(file)  # the user may have typed meanwhile
            if not file.pending:
                await self._undo_log.drop(turn.turn_id, step)
                return
            buffer = self._files.buffers.of_path(file.path)
            preview = Preview(file, buffer.version if buffer else None)
            self._shown[file.path] = review, preview
            try:
                problem = await editor.preview(self._screen.file(file, review.proposal))
                await self._applier.wait_for_quiet(file)
            finally:
                del self._shown[file.path]
                await self._maker.note_preview(preview, step, turn)
        preview.give_up(problem)

    def look(self, path: Path, buffer: Buffer) -> OpenReview | None:
        """The review whose preview the document has changed under."""
        review, preview = self._shown.get(path, (None, None))
        if preview is None or buffer.version == preview.version:
            return None
        preview.version = buffer.version
        preview.look(buffer.text)
        return review
