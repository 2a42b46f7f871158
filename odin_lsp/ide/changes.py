"""What an agent wants to change, reviewed like what Odin's own model wants. The agent writes the file itself, with the
text that was reviewed: until it has, only the screen shows what was accepted, and a new file is nowhere."""

import asyncio
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from odin_lsp.agent.core import Core
from odin_lsp.agent.live_session import LiveSession
from odin_lsp.agent.turn import OwnAct, Turn, UserMessage
from odin_lsp.errors import PermissionDenied, ToolError
from odin_lsp.ports import Editor, FileChange
from odin_lsp.review.proposals import CHOSEN, FileProposal, Proposal, Wish, edit_of, operation_of
from odin_lsp.tasks import Tasks
from odin_lsp.tools.editing import check_screen
from odin_lsp.workspace.buffers import Stamp, stamp_of
from odin_lsp.workspace.comparing import with_ends_of

EDITING = ("EditTool", "MultiEditTool", "WriteFile")
"""Odin's own tools that do the same: a rule that forbids these on a file forbids it to others."""
MARK = "\ufeff"
MOST = 50
"""Changes of one agent that wait at the same time."""
WRITE_SECONDS = 10.0
"""In which an agent has written what it was given."""
POLL_SECONDS = 0.05
TYPED = "{} wanted to change lines of {} in which you have typed. Nothing was changed. Save the file, and ask again."
OUTSIDE = "is outside of the workspace; Odin does not review it"


class Refused(ToolError):
    """It is not shown to anybody, and must not be made."""


@dataclass(slots=True, eq=False)
class Change:
    file: FileProposal
    turn: Turn
    is_marked: bool
    """The agent's text begins with a mark of the encoding, which the file's text is without."""
    has_plain_ends: bool
    """It writes plain line ends, whatever the file has."""
    is_closed: bool = False
    """By the agent itself."""
    answer: "asyncio.Future[str | None]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    async def reviewed(self) -> str | None:
        """The text for the agent to write; `None`: nothing of it was accepted."""
        return await asyncio.shield(self.answer)

    def tell(self, text: str | None) -> None:
        if not self.answer.done():
            self.answer.set_result(None if text is None else self.in_its_words(text))

    def in_its_words(self, text: str) -> str:
        plain = text.replace("\r\n", "\n") if self.has_plain_ends else text
        return f"{MARK}{plain}" if self.is_marked else plain


class Changes:
    """One agent's, by the names that it gives them."""

    def __init__(self, core: Core, editor: Editor, agent: str) -> None:
        self._core = core
        self._editor = editor
        self._agent = agent
        self._seat = core.sessions.seat()
        self._open: dict[str, Change] = {}
        self._is_gone = False
        self._tasks = Tasks()

    def begin(self, key: str, name: str, new: str) -> Change | None:
        """Show it; `None` if it changes nothing. What has the same name is closed. `ToolError` says why it cannot be
        shown."""
        if self._is_gone or len(self._open) >= MOST:
            raise ToolError(f"{MOST} changes of this agent wait for a review; no more are shown")
        self.close(key)
        path = self._path(name)
        is_marked, said = new.startswith(MARK), new.removeprefix(MARK)
        old = self._old(path)
        wish = Wish(uuid.uuid4().hex, f"from {self._agent}")
        if old is None:
            file = operation_of(path, "create", said, wish)
        else:
            file = edit_of(path, old, with_ends_of(old, said), wish)
        if not file.hunks:
            return None
        turn = self._start(file)
        has_plain_ends = old is not None and "\r\n" in old and "\r" not in said
        change = self._open[key] = Change(file, turn, is_marked, has_plain_ends)
        if old is None:
            file.carry_out = partial(self._have_made, key, change)
        self._tasks.begin(self._follow(key, change))
        return change

    def close(self, key: str) -> str | None:
        """Take it off the screen. What was accepted stays; the text with what was not rejected."""
        change = self._open.pop(key, None)
        if change is None:
            return None
        change.is_closed = True
        text = change.in_its_words(change.file.proposed)
        change.tell(None)
        live = self._seat.current
        if live is not None:
            live.turns.cancel(change.turn.id, drop=True, then_next=True)
        return text

    def close_all(self) -> int:
        keys = tuple(self._open)
        for key in keys:
            self.close(key)
        return len(keys)

    async def leave(self) -> None:
        """The agent is gone: what it has proposed is not made by anybody, but for what was accepted."""
        self._is_gone = True
        self.close_all()
        await self._tasks.settled()
        self._seat.leave()

    def _path(self, name: str) -> Path:
        """`Refused`: the user does not want it to be changed, or it would be lost."""
        try:
            place = self._core.files.resolve(name)
        except PermissionDenied as error:
            raise Refused(str(error)) from None
        if not place.inside:
            raise ToolError(f"{name} {OUTSIDE}")
        rules = self._live.scope.gate.rules("edit_mode")
        said = (rules.on(tool, "edit_mode", path=place.path) for tool in EDITING)
        if denied := next((it for it in said if it is not None and it.decision == "deny"), None):
            raise Refused(f"{self._core.files.shown(place.path)}: {denied.reason}")
        try:
            check_screen(place.path, self._core.files)
        except ToolError as error:
            raise Refused(str(error)) from None
        return place.path

    def _old(self, path: Path) -> str | None:
        """What the agent has seen: the disk. The hunks are then moved to where they belong on the screen."""
        if not path.exists():
            if self._core.files.buffers.of_path(path) is not None:
                raise Refused(f"{path} is open in the editor and was never saved; the user has to save it first")
            return None
        return self._core.files.on_disk(path)

    @property
    def _live(self) -> LiveSession:
        return self._seat.current or self._seat.begin(self._agent)

    def _start(self, file: FileProposal) -> Turn:
        """A turn like any other, so that it can be undone and is known as the agent's."""
        turn_id, name = uuid.uuid4().hex, self._core.files.shown(file.path)
        proposal = Proposal(turn_id, [file], f"{self._agent} wants to change {name}", origin=self._agent)

        async def review() -> str:
            await self._core.desk.submit(proposal, turn.progress.review)
            states = [it.state for it in file.hunks]
            return f"{name}: " + ", ".join(f"{states.count(it)} {it}" for it in dict.fromkeys(states))

        errand = OwnAct(review, self._agent)
        turn = self._live.turns.start(
            UserMessage(turn_id=turn_id, text=proposal.reason, mode="edit_mode", errand=errand)
        )
        return turn

    async def _follow(self, key: str, change: Change) -> None:
        await change.turn.outcome()
        if self._open.get(key) is change:
            del self._open[key]
        file = change.file
        if change.answer.done():
            return
        text = await self._core.desk.applier.text_beside_loop(file.path)
        if text is None or not any(it.state in CHOSEN for it in file.hunks):
            change.tell(None)
            if any(it.cause == "typed" for it in file.hunks):
                self._editor.notify("warning", TYPED.format(self._agent, self._core.files.shown(file.path)))
            return
        change.tell(text)
        await self._save_with_agent(file.path, text)

    async def _save_with_agent(self, path: Path, text: str) -> None:
        """Once the disk has what is on the screen, the document is as good as saved, and the editor shall know."""
        if not await self._is_written(path, text) or self._core.project.now.config.review.save == "never":
            return
        buffer = self._core.files.buffers.of_path(path)
        if buffer is not None and buffer.unsaved and buffer.text == text:
            await self._editor.save((buffer.uri,))

    async def _is_written(self, path: Path, text: str) -> bool:
        """Nobody tells of it."""
        known: Stamp | None = None
        with suppress(TimeoutError):
            async with asyncio.timeout(WRITE_SECONDS):
                while not self._is_gone:
                    with suppress(ToolError, OSError):
                        before, known = known, stamp_of(path.stat())
                        if known != before and self._core.files.on_disk(path) == text:
                            return True
                    await asyncio.sleep(POLL_SECONDS)
        with suppress(ToolError):  # Claude Code's Write forgets the last line end of what was changed in review
            return not self._is_gone and self._core.files.on_disk(path) == text.removesuffix("\n")
        return False

    async def _have_made(self, key: str, change: Change, wanted: FileChange) -> str | None:
        """A new file is made by the agent: if it were there already, the agent would not write it."""
        text = "".join(it.new_text for it in wanted.edits)
        change.tell(text)
        self._open.pop(key, None)
        is_made = await self._is_written(change.file.path, text)
        return None if is_made else await self._editor.apply(wanted)
