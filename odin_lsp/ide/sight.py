"""What the person has before them, as far as an agent may know of it: hidden files are not there."""

import asyncio
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from odin_lsp.workspace.buffers import Buffer, Buffers
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.text import Position

PAUSE = 0.1
"""Seconds for which changes are gathered before agents are told."""


@dataclass(frozen=True, slots=True)
class Selected:
    path: Path
    start: Position
    """In UTF-16, whatever the editor counts in."""
    end: Position
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    path: Path
    is_unsaved: bool
    is_active: bool
    seen_at: float
    """When something last happened in it."""


class Agent(Protocol):
    """One that is connected."""

    def look(self) -> None:
        """Something else is open or selected."""
        ...

    def mention(self, path: Path, first: int, last: int) -> bool:
        """The person wants to talk about these lines, counted from 0; whether the agent can be told so."""
        ...


class Sight:
    def __init__(self, buffers: Buffers, watch: Callable[[bool], None] = lambda _: None) -> None:
        """`watch`: called when the first agent wants to know, and when the last one is gone."""
        self._buffers = buffers
        self._watch = watch
        self._place: tuple[str, Position, Position] | None = None
        self._seen: dict[Path, float] = {}
        self._agents: list[Agent] = []
        self._soon: asyncio.TimerHandle | None = None
        buffers.watchers.append(self._note)

    def look(self, uri: str, start: Position, end: Position) -> None:
        """The cursor is there, or this is selected."""
        if self._place != (uri, start, end):
            self._place = uri, start, end
            if buffer := self._buffers.of_uri(uri):
                self._note(buffer)

    @contextmanager
    def shared_with(self, agent: Agent) -> Generator[None]:
        """Tell it of changes, each a moment later."""
        self._agents.append(agent)
        if len(self._agents) == 1:
            self._watch(True)
        try:
            yield
        finally:
            self._agents.remove(agent)
            if not self._agents:
                self._watch(False)

    def mention(self, path: Path, first: int, last: int) -> int:
        """How many agents were told."""
        return sum([it.mention(path, first, last) for it in self._agents])

    @property
    def is_shared(self) -> bool:
        return bool(self._agents)

    def selected(self, files: Files) -> Selected | None:
        """What is selected, or where the cursor is, if that is known and may be."""
        buffer = self._active
        if self._place is None or buffer is None or buffer.path is None or not _is_for_agents(buffer, files):
            return None
        _, start, end = self._place
        encoding, lines = self._buffers.encoding, buffer.lines
        first, last = (lines.position(lines.offset(it, encoding), "utf-16") for it in (start, end))
        return Selected(buffer.path, Position(*first), Position(*last), lines.between(start, end, encoding))

    def documents(self, files: Files) -> list[Document]:
        """Those that are open, the latest first."""
        active = self._active
        found = [
            Document(it.path, it.unsaved, it is active, self._seen.get(it.path, 0.0))
            for it in self._buffers
            if it.path is not None and _is_for_agents(it, files)
        ]
        return sorted(found, key=lambda it: (it.is_active, it.seen_at), reverse=True)

    @property
    def _active(self) -> Buffer | None:
        return self._buffers.of_uri(self._place[0]) if self._place else None

    def _note(self, buffer: Buffer) -> None:
        if buffer.path is not None:
            self._seen[buffer.path] = time.time()
        if self._agents and self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(PAUSE, self._tell)

    def _tell(self) -> None:
        self._soon = None
        for agent in tuple(self._agents):
            agent.look()


def _is_for_agents(buffer: Buffer, files: Files) -> bool:
    path = buffer.path
    return path is not None and buffer.synchronised and files.contains(path) and not files.ignore.hides(path)
