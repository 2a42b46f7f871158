"""The sessions of a workspace: those that are open here, and what can be done with all of them."""

import asyncio
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from odin_lsp.agent.agent import Agent
from odin_lsp.agent.stream import EventStream
from odin_lsp.errors import SessionBusy, SessionError, SessionLocked
from odin_lsp.events import Event, SessionRenamed, SessionRestored, SessionSwitchStarted
from odin_lsp.ports import Level
from odin_lsp.sessions import listing, search, store
from odin_lsp.sessions.forking import fork
from odin_lsp.sessions.listing import SessionSummary
from odin_lsp.sessions.session import Session
from odin_lsp.sessions.titles import NEW

FORKED = "session {old!r} is open in another Odin; what you say here goes into a copy of it, {new!r}"


class Conversations:
    def __init__(
        self,
        folder: Callable[[], Path],
        make_agent: Callable[[Session], Agent],
        stream: EventStream,
        notify: Callable[[Level, str], None],
    ) -> None:
        self._folder = folder
        self._make_agent = make_agent
        self._stream = stream
        self._notify = notify
        self._agents: dict[str, Agent] = {}
        """By the id they are asked for by: a fork also answers for the session that another Odin has open."""
        self._current: str | None = None
        self._one_at_a_time = asyncio.Lock()

    def __iter__(self) -> Iterator[Agent]:
        return iter(dict.fromkeys(self._agents.values()))

    @property
    def folder(self) -> Path:
        return self._folder()

    @property
    def current(self) -> Agent | None:
        return self._agents[self._current] if self._current else None

    def session(self, session_id: str) -> Session | None:
        """If it is open here."""
        return self._agents[session_id].session if session_id in self._agents else None

    def agent(self, session_id: str | None = None) -> Agent:
        """The agent of that session, or of the current one."""
        wanted = session_id or self._current
        if wanted is None:
            return self.new()
        if wanted not in self._agents:
            self._emit(wanted, SessionSwitchStarted(wanted))
            self._restore(wanted, _opened(self.folder, wanted))
        self._current = wanted
        return self._agents[wanted]

    def new(self, title: str | None = None) -> Agent:
        return self._adopt(Session(self.folder, title=title or NEW))

    async def resume(self, session_id: str | None = None) -> Agent:
        """The same as `agent`, for a session that may be long; without an id it is the last one."""
        async with self._one_at_a_time:
            wanted = session_id or await asyncio.to_thread(self._last)
            if wanted not in self._agents:
                self._emit(wanted, SessionSwitchStarted(wanted))
                self._restore(wanted, await asyncio.to_thread(_opened, self.folder, wanted))
            return self.agent(wanted)

    async def fork(self, session_id: str | None, at_message: int | None) -> tuple[Agent, str | None]:
        """A copy of the session, up to a message; and that message."""
        new_id, draft = await asyncio.to_thread(fork, self.folder, self.real_id(session_id), at_message)
        return await self.resume(new_id), draft

    async def rename(self, session_id: str | None, title: str) -> SessionSummary:
        wanted = self.real_id(session_id)
        session = self.session(wanted) or await asyncio.to_thread(Session.resume, self.folder, wanted)
        session.rename(title)
        if wanted not in self._agents:
            session.close()
        if session.problem:
            raise SessionError(session.problem)
        self._emit(session.id, SessionRenamed(session.title))
        return self.summary(session)

    async def delete(self, session_id: str) -> None:
        agent = self._agents.get(session_id)
        if agent is not None:
            if agent.running:
                raise SessionBusy("the session is in a turn; wait for its end or cancel it")
            if agent.session.id != session_id:
                raise SessionLocked(f"session {session_id!r} is open in another Odin")
            agent.session.close()
        await asyncio.to_thread(store.delete_log, self.folder, session_id)
        for name in [name for name, it in self._agents.items() if it is agent]:
            del self._agents[name]
            self._current = None if self._current == name else self._current

    async def listed(self, query: str | None, most: int) -> list[SessionSummary]:
        own = {agent.session.id for agent in self}
        found = search.search(self.folder, query, own) if query else listing.summaries(self.folder, own)
        return await asyncio.to_thread(lambda: list(islice(found, most)))

    def summary(self, session: Session) -> SessionSummary:
        """Of a session that is open here, saved or not."""
        return SessionSummary(
            session_id=session.id,
            title=session.title,
            created_at=session.created_at,
            updated_at=session.updated_at,
            messages=session.earlier_turns + len(session.turns),
            first_message=session.first_message[: listing.MAX_SHOWN],
            forked_from=session.forked_from,
            is_compacted=session.is_compacted,
            locked=False,
            uri=listing.transcript_path(session.log.path).as_uri(),
        )

    def close(self) -> None:
        for agent in self:
            agent.session.close()

    def real_id(self, session_id: str | None) -> str:
        """Of that session, or of the current one; of its fork, if another Odin has it open."""
        wanted = session_id or self._current
        if wanted is None:
            raise SessionError("there is no current session; name one by `sessionId`")
        return self._agents[wanted].session.id if wanted in self._agents else wanted

    def _last(self) -> str:
        for summary in listing.summaries(self.folder):
            return summary.session_id
        raise SessionError("there is no session in this workspace yet")

    def _restore(self, asked_for: str, session: Session) -> None:
        self._adopt(session)
        self._agents[asked_for] = self._agents[session.id]
        self._emit(session.id, SessionRestored(session.id, session.title, session.earlier_turns + len(session.turns)))
        for notice in session.take_notices():
            self._notify("warning", notice)

    def _adopt(self, session: Session) -> Agent:
        self._agents[session.id] = self._make_agent(session)
        self._current = session.id
        return self._agents[session.id]

    def _emit(self, session_id: str, event: Event) -> None:
        self._stream.emitter("", session_id)(event)


def _opened(folder: Path, session_id: str) -> Session:
    """The session, or a copy of it if somebody else is writing to it."""
    try:
        return Session.resume(folder, session_id)
    except SessionLocked:
        new_id, _ = fork(folder, session_id)
    session = Session.resume(folder, new_id)
    session.notices.append(FORKED.format(old=session_id, new=new_id))
    return session
