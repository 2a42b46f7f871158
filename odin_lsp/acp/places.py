"""Where the conversation of a session is: in the Odin that has its folder open, or in one of the session's own."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Protocol

from odin_lsp.acp.prompts import Said
from odin_lsp.events import EventRecord
from odin_lsp.library import Outcome, Session, Usage, Workspace
from odin_lsp.modes import Mode
from odin_lsp.records import Todo

Hear = Callable[[EventRecord], None]


class Turn(Protocol):
    async def outcome(self) -> Outcome: ...

    def cancel(self) -> bool: ...


class Command(Protocol):
    """What `/name` may stand for."""

    @property
    def name(self) -> str: ...

    @property
    def hint(self) -> str: ...

    @property
    def description(self) -> str: ...


class Place(Protocol):
    @property
    def root(self) -> Path:
        """What names of files are relative to."""
        ...

    @property
    def session_id(self) -> str: ...

    @property
    def usage(self) -> Usage: ...

    @property
    def model(self) -> str: ...

    @property
    def models(self) -> Sequence[str]: ...

    @property
    def is_open(self) -> bool: ...

    def efforts(self, model: str) -> Sequence[str]: ...

    async def select(self, model: str) -> None: ...

    async def begin(self, session_id: str | None, hear: Hear) -> None:
        """A conversation, or go on with one. `hear` is told of all that happens from then on."""
        ...

    def events(self) -> AsyncIterator[EventRecord]:
        """All that has happened in it."""
        ...

    def send(self, mode: Mode, text: str, said: Said) -> Turn: ...

    def steps(self, plan: Path) -> tuple[Todo, ...]: ...

    async def commands(self) -> Sequence[Command]: ...

    async def leave(self) -> str | None:
        """The id by which the conversation goes on elsewhere; `None` if there is nothing to go on with."""
        ...

    async def close(self) -> None: ...


class Own:
    """A workspace of this process."""

    def __init__(self, workspace: Workspace, root: Path) -> None:
        self.root = root
        self.is_open = False
        self._workspace = workspace
        self._session: Session
        self._opened = AsyncExitStack()

    @property
    def session_id(self) -> str:
        return self._session.id

    @property
    def usage(self) -> Usage:
        return self._session.usage

    @property
    def model(self) -> str:
        return self._workspace.model

    @property
    def models(self) -> Sequence[str]:
        return self._workspace.models

    def efforts(self, model: str) -> Sequence[str]:
        return self._workspace.efforts(model)

    async def select(self, model: str) -> None:
        self._workspace.select(model)

    async def begin(self, session_id: str | None, hear: Hear) -> None:
        await self._opened.enter_async_context(self._workspace)
        self.is_open = True
        try:
            self._session = await self._workspace.resume(session_id) if session_id else self._workspace.begin()
        except BaseException:
            await self.close()
            raise
        self._workspace.subscribe(hear)

    def events(self) -> AsyncIterator[EventRecord]:
        return self._session.events()

    def send(self, mode: Mode, text: str, said: Said) -> Turn:
        return self._session.send(mode, text, images=said.images, context=said.context)

    def steps(self, plan: Path) -> tuple[Todo, ...]:
        return self._workspace.steps(plan)

    async def commands(self) -> Sequence[Command]:
        return await self._workspace.slash_commands()

    async def leave(self) -> str | None:
        """Also one in which nothing was said yet: the client knows it by its id."""
        await asyncio.to_thread(self._session.store)
        await self.close()
        return self._session.id

    async def close(self) -> None:
        self.is_open = False
        await self._opened.aclose()
