"""Who wrote a line: the turn, what it was asked for, by which model and at what cost, as its session tells."""

import asyncio
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from odin_lsp.agent.turn import FOREIGN
from odin_lsp.errors import SessionError
from odin_lsp.ports import Position, Range
from odin_lsp.review.provenance import Passage, Provenance
from odin_lsp.sessions import replay
from odin_lsp.sessions.store import log_path
from odin_lsp.sessions.telling import Reviewed, told
from odin_lsp.values import Value
from odin_lsp.workspace.buffers import Stamp, stamp_of

ODIN = "odin"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenRange(Value):
    """Whole lines that one change has written and nobody has rewritten."""

    range: Range
    turn_id: str
    session_id: str | None
    hunk_id: str
    """`odin.undoTurn` with this and `turnId` reverts it."""
    model: str | None
    """None if the session is gone; of an agent of others its name behind `agent/`."""
    origin: str
    """Who proposed it: `odin`, or the name of an agent of others."""
    at: float
    """When it was applied, in seconds since 1970."""
    state: Literal["accepted", "modified"]
    """Modified: you changed some of it, in the review or since."""


@dataclass(frozen=True, slots=True)
class TurnStory:
    """What its session tells of a turn."""

    said: str = ""
    model: str | None = None
    cost_usd: float | None = None
    """None before its end."""
    modified: frozenset[str] = frozenset()
    """Hunks that the user has changed in the review."""

    @property
    def origin(self) -> str:
        """The agent of others that has called for it, or Odin."""
        return self.model.removeprefix(FOREIGN) if self.model and self.model.startswith(FOREIGN) else ODIN


class Authorship:
    def __init__(
        self, provenance: Provenance, text: Callable[[Path], Awaitable[str | None]], folder: Callable[[], Path]
    ) -> None:
        self._provenance = provenance
        self._text = text
        """On the screen, or on disk if it is not open."""
        self._folder = folder
        """Of the sessions."""
        self._stories: dict[tuple[str, str], tuple[Stamp, TurnStory]] = {}

    async def of(self, path: Path) -> list[WrittenRange]:
        """All that is Odin's of a file."""
        passages = await self._passages(path)
        return [self._range(it, await self._story(it)) for it in passages]

    async def at(self, path: Path, line: int) -> tuple[WrittenRange, TurnStory] | None:
        """Who wrote that line, counted from 0; `None` if it is not Odin's."""
        passages = await self._passages(path)
        index = bisect_right(passages, line, key=lambda it: it.first) - 1
        if index < 0 or line >= passages[index].last:
            return None
        story = await self._story(passages[index])
        return self._range(passages[index], story), story

    async def renamed(self, renames: Sequence[tuple[Path, Path]]) -> None:
        """The user has given files or folders other names."""
        for path, new_path in renames:
            await asyncio.to_thread(self._provenance.renamed, path, new_path)

    async def _passages(self, path: Path) -> list[Passage]:
        text = await self._text(path)
        return await asyncio.to_thread(self._provenance.of, path, text) if text is not None else []

    def _range(self, passage: Passage, story: TurnStory) -> WrittenRange:
        author = passage.author
        is_modified = passage.is_changed or author.hunk_id in story.modified
        return WrittenRange(
            range=Range(Position(passage.first, 0), Position(passage.last, 0)),
            turn_id=author.turn_id,
            session_id=author.session_id,
            hunk_id=author.hunk_id,
            model=story.model,
            origin=story.origin,
            at=author.at,
            state="modified" if is_modified else "accepted",
        )

    async def _story(self, passage: Passage) -> TurnStory:
        author = passage.author
        if author.session_id is None:
            return TurnStory()
        return await asyncio.to_thread(self._read, author.session_id, author.turn_id)

    def _read(self, session_id: str, turn_id: str) -> TurnStory:
        try:
            stamp = stamp_of(log_path(self._folder(), session_id).stat())
            known = self._stories.get((session_id, turn_id))
            if known is not None and known[0] == stamp:
                return known[1]
            turn = told(replay.turn(self._folder(), session_id, turn_id))
        except (OSError, SessionError):
            return TurnStory()
        reviews = [it for _, it in turn.items.values() if isinstance(it, Reviewed)]
        story = TurnStory(
            turn.said,
            turn.model or None,
            turn.outcome.usage.cost_usd if turn.outcome else None,
            frozenset(hunk_id for it in reviews for hunk_id, (_, state) in it.hunks.items() if state == "modified"),
        )
        self._stories[session_id, turn_id] = stamp, story
        return story
