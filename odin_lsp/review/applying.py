"""Accepted hunks, carried out by the editor and looked at afterwards.

What an editor answers is not what happened: a hunk counts as accepted only if it can be seen in the document.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

from odin_lsp.config import Timeouts
from odin_lsp.errors import FileMissing, ToolError
from odin_lsp.ports import Editor, FileChange, Position, Range, TextReplacement
from odin_lsp.review.hunks import Hunk, apply, hunks_seen, with_whole_line_ends
from odin_lsp.review.proposals import FileProposal, PendingHunk
from odin_lsp.workspace.buffers import Buffer
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.views import FileText

log = logging.getLogger("odin.review")
NOT_SEEN = "the edit cannot be seen in the document"
SEE_LOG = "Odin's log says more"
FAILED = f"the editor failed; {SEE_LOG}"
POLL_SECONDS = 0.05
QUIET_SECONDS = 0.75
"""How long nothing must happen until nothing more is expected. Editors hold changes back a little."""

Plan = tuple[str | None, str | None]
"""The text as it is, and what an edit shall make of it."""
Intend = Callable[[str | None, str | None], Awaitable[None]]
"""Told of the plan before anything is done."""
OnMade = Callable[[FileProposal, Sequence[PendingHunk]], None]
"""Told of what has been done."""


class Applier:
    def __init__(
        self,
        files: Files,
        editor: Editor,
        timeouts: Callable[[], Timeouts],
        on_made: OnMade | None = None,
    ) -> None:
        self._files = files
        self._editor = editor
        self._timeouts = timeouts
        self._on_made = on_made
        self._one_at_a_time = asyncio.Lock()
        self._at_work: FileText | None = None
        """A large text, kept as long as it is worked with."""
        self.stirred = asyncio.Event()
        """Set when a document changes."""
        files.buffers.watchers.append(self._stir)

    async def apply(self, file: FileProposal, intend: Intend | None = None) -> bool:
        """Have the editor carry out what is due; whether anything was done. One after the other: what two edits at once
        have done to a file could not be told apart."""
        async with self._one_at_a_time:
            try:
                return await self._apply(file, intend)
            finally:
                self._at_work = None

    async def _apply(self, file: FileProposal, intend: Intend | None) -> bool:
        plan = await self._agree(file, intend)
        if plan is None:
            return False
        file.before, expected = plan
        due = file.due
        file.under_way = True
        try:
            file.problem = await self._have_applied(file)
            await self._wait_until_done(file, expected, patient=file.problem is None)
        finally:
            file.under_way = False
            self._check(file, due, expected)
        made = [it for it in due if it.applied is not None]
        if self._on_made is not None:
            self._on_made(file, made)
        return bool(made)

    async def _agree(self, file: FileProposal, intend: Intend | None) -> Plan | None:
        """What is to be done, once that is what was told."""
        self._at_work = await self._files.warm(file.path)
        plan = self._plan(file)
        told = None
        while plan is not None and intend is not None and plan != told:
            await intend(*plan)
            self._at_work = await self._files.warm(file.path)
            told, plan = plan, self._plan(file)  # the user may have typed meanwhile
        return plan

    async def _have_applied(self, file: FileProposal) -> str | None:
        """Why not, if the editor says so, or says nothing that can be understood."""
        try:
            return await (file.carry_out or self._editor.apply)(self._change(file))
        except Exception:
            log.exception("the editor failed to apply a change of %s", file.path)
            return FAILED

    def _plan(self, file: FileProposal) -> Plan | None:
        """`None` if nothing is to be done."""
        if file.operation == "edit":
            self.catch_up(file)
        if not file.due:
            return None
        before = self.text(file.path)
        if file.operation != "edit":
            if self._is_done(file, None):  # Odin was ended right after it, or somebody else was faster
                file.exchange({it.id: it.result.new for it in file.due})
                return None
            return before, None
        expected = apply(file.base, [it.result for it in file.due])
        if expected == before:  # the user wants there what is there
            file.exchange({it.id: it.result.new for it in file.due})
            return None
        return before, expected

    def catch_up(self, file: FileProposal) -> None:
        """The file may have changed where nobody tells of it: on disk, in another program."""
        text = self.text(file.path)
        if text is not None:
            file.follow_content(text)
            return
        for it in file.hunks:
            it.supersede("the file is gone", "gone")

    def text(self, path: Path) -> str | None:
        """What is on the screen, or on disk if it is not open."""
        try:
            return self._files.read(path, to_edit=True).text
        except ToolError:
            return None

    async def text_beside_loop(self, path: Path) -> str | None:
        """The same, for which nobody has to wait."""
        large = await self._files.warm(path)
        return self.text(path) if large is None else large.text

    def _is_unreadable(self, path: Path) -> bool:
        try:
            self._files.read(path, to_edit=True)
        except FileMissing:
            return False
        except ToolError:
            return True
        return False

    async def wait_for_quiet(self, file: FileProposal) -> None:
        """After a preview: until all that was shown can be seen, or nothing happens any more."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._timeouts().client):
                while file.pending:
                    self.stirred.clear()
                    async with asyncio.timeout(QUIET_SECONDS):
                        await self.stirred.wait()

    def range(self, file: FileProposal, hunk: Hunk) -> Range:
        encoding = self._files.buffers.encoding
        start, end = file.lines.position(hunk.start, encoding), file.lines.position(hunk.end, encoding)
        return Range(Position(*start), Position(*end))

    async def _wait_until_done(self, file: FileProposal, expected: str | None, *, patient: bool) -> None:
        """Wait until the change can be seen: some editors answer before they tell of it."""
        client = self._timeouts().client
        try:
            async with asyncio.timeout(client if patient else min(0.5, client)):
                self._at_work = await self._files.warm(file.path)
                while not self._is_done(file, expected):
                    self.stirred.clear()
                    with suppress(TimeoutError):
                        async with asyncio.timeout(POLL_SECONDS):
                            await self.stirred.wait()
                    self._at_work = await self._files.warm(file.path)
        except TimeoutError:
            return

    def _is_done(self, file: FileProposal, expected: str | None) -> bool:
        match file.operation:
            case "edit":
                return self.text(file.path) == expected
            case "create":
                new = file.hunks[0].result.new
                return self.text(file.path) in (new, f"{new}\n")  # Neovim ends the last line of what it opens
            case "delete":
                return not file.path.exists()
            case "rename":
                return not file.path.exists() and file.new_path is not None and file.new_path.exists()

    def _check(self, file: FileProposal, due: Sequence[PendingHunk], expected: str | None) -> None:
        """What is in the document now decides, hunk by hunk; what the editor says, where nobody can read that."""
        text = self.text(file.path)
        is_done = self._is_done(file, expected) or (file.problem is None and self._is_unreadable(file.path))
        seen = {it.id for it in due} if is_done else set[str]()
        if not is_done and expected is not None and text is not None:
            seen = {due[index].id for index in hunks_seen(file.base, [it.result for it in due], text)}
        file.after = text if is_done and not file.problem else None
        file.exchange({it.id: it.result.new for it in due if it.id in seen})
        reason = f"{NOT_SEEN} ({file.problem})" if file.problem else NOT_SEEN
        for it in due:
            it.supersede(reason, "not_applied")
        if text is not None:
            file.follow_content(text)
        if made := [it.standing for it in due if it.applied is not None]:
            places = [self.range(file, it) for it in made] if file.operation == "edit" else []
            edited = [
                (it.start.line + 1, max(it.start.line, it.end.line - (not it.end.character)) + 1) for it in places
            ]
            self._files.note_change(file.path, file.new_path, edited)

    def _change(self, file: FileProposal) -> FileChange:
        buffer = self._files.buffers.of_path(file.path)
        hunks = [it.result for it in file.due] if file.operation in ("edit", "create") else []
        edits = tuple(TextReplacement(self.range(file, it), it.new) for it in with_whole_line_ends(file.base, hunks))
        return FileChange(
            uri=buffer.uri if buffer else file.path.as_uri(),
            version=buffer.version if buffer else None,
            operation=file.operation,
            edits=edits,
            before=file.base if file.operation == "edit" else None,
            new_uri=file.new_path.as_uri() if file.new_path else None,
            recursive=file.recursive,
        )

    def _stir(self, _: Buffer) -> None:
        self.stirred.set()
