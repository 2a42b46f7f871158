"""The sessions of a project: those that are open here, and what can be done with all of them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Protocol

from odin_lsp import locks
from odin_lsp.agent.live_session import LiveSession
from odin_lsp.agent.stream import EventStream
from odin_lsp.errors import SessionBusy, SessionError, SessionLocked
from odin_lsp.events import Event
from odin_lsp.ports import Level
from odin_lsp.session_events import SessionBegun, SessionRenamed, SessionRestored, SessionSwitchStarted, Switch
from odin_lsp.sessions import listing, search, store
from odin_lsp.sessions.forking import fork
from odin_lsp.sessions.listing import SessionSummary
from odin_lsp.sessions.session import Session
from odin_lsp.sessions.titles import NEW
from odin_lsp.tasks import Tasks

FORKED = "Session {old!r} is open in another Odin process. Odin continues in a fork, {new!r}."
NO_CURRENT = "there is no current session; name one by `sessionId`"
KEPT_OPEN = 15 * 60.0
"""Seconds after which a session that was left, and in which nothing goes on, is closed."""


async def _nothing_waits() -> None:
    pass


class OpenSessions:
    def __init__(
        self,
        folder: Callable[[], Path],
        make_live: Callable[[Session], LiveSession],
        stream: EventStream,
        notify: Callable[[Level, str], None],
        is_waiting: Callable[[str], bool] = lambda _: False,
        find_waiting: Callable[[], Awaitable[None]] = _nothing_waits,
        kept_open: float = KEPT_OPEN,
    ) -> None:
        self._folder = folder
        self._make_live = make_live
        self._stream = stream
        self._notify = notify
        self._is_waiting = is_waiting
        """Whether a turn waits for a review."""
        self._find_waiting = find_waiting
        """Has those found that have waited since before Odin was started."""
        self._kept_open = kept_open
        self._live: dict[str, LiveSession] = {}
        """By the id they are asked for by: a fork also answers for the session that another Odin has open."""
        self._leaving: dict[LiveSession, asyncio.TimerHandle] = {}
        self._closing = Tasks()
        self._one_at_a_time = asyncio.Lock()
        self._seats: list[Seat] = []
        self.current: LiveSession | None = None

    def __iter__(self) -> Iterator[LiveSession]:
        return iter(dict.fromkeys(self._live.values()))

    @property
    def folder(self) -> Path:
        return self._folder()

    def catch_up(self) -> None:
        """Write what the disk has refused of any of them, if it takes it now."""
        for live in self:
            live.session.log.catch_up()

    def find(self, session_id: str) -> LiveSession | None:
        """If it is open here."""
        return self._live.get(session_id)

    def begin(self, title: str | None = None) -> LiveSession:
        """A new session, which is the current one from now on."""
        live = self._adopt(Session(self.folder, title=title or NEW))
        self._switch(live)
        return live

    def tell_begun(self, live: LiveSession) -> None:
        """Those who have the current session in common; what is begun beside it is nobody else's."""
        if live is self.current:
            self._emit(live.session.id, SessionBegun(live.session.id, live.session.title))

    def begin_beside(self, title: str | None = None) -> LiveSession:
        """A new session; the current one stays what it is."""
        live = self._adopt(Session(self.folder, title=title or NEW))
        self._close_later(live)
        return live

    def seat(self) -> "Seat":
        """For a front end with a current session of its own; it is left by `leave`."""
        seat = Seat(self, self._seats.remove)
        self._seats.append(seat)
        return seat

    async def open(
        self,
        session_id: str | None = None,
        *,
        switch: bool = True,
        patience: float = locks.MOMENT,
        how: Switch = "resume",
    ) -> LiveSession:
        """Go on with that session, or with the last one; it is the current one then, unless that is not wanted. Who has
        patience waits for an Odin that is about to end."""
        live = await self._opened(session_id, patience, how if switch else None)
        if switch:
            self._switch(live)
        return live

    async def open_beside(self, beginning: str | None = None) -> LiveSession:
        """The same for a front end of its own: nobody else is told of it, and the beginning of the id is enough."""
        wanted = beginning
        if wanted and wanted not in self._live:
            wanted = await asyncio.to_thread(listing.named, self.folder, wanted)
        live = await self._opened(wanted, locks.MOMENT)
        if live is not self.current:
            self._close_later(live)
        return live

    async def _opened(self, session_id: str | None, patience: float, how: Switch | None = None) -> LiveSession:
        """`how`: what front ends are told; none: nobody is."""
        async with self._one_at_a_time:
            wanted = session_id or await asyncio.to_thread(self._last)
            if wanted not in self._live:
                await self._find_waiting()
                if how is not None:
                    self._emit(wanted, SessionSwitchStarted(wanted, how))
                await self._closing.settled()  # one that still closes would look like another Odin's
                opening = partial(_resume_or_fork, self.folder, wanted, self._is_waiting, patience)
                self._restore(wanted, await asyncio.to_thread(opening), how)
            elif how is not None and (live := self._live[wanted]) is not self.current:
                self._emit(live.session.id, SessionSwitchStarted(wanted, how))
                self._tell_restored(wanted, live.session, how)
            return self._live[wanted]

    async def take_up(self, session_id: str | None) -> LiveSession:
        """The session that a message is for: the one that is named, else the current one, else a new one."""
        return await self.open(session_id) if session_id else self.current or self.begin()

    async def existing(self, session_id: str | None) -> LiveSession:
        """The one that is named, else the current one."""
        if session_id is None and self.current is None:
            raise SessionError(NO_CURRENT)
        return await self.take_up(session_id)

    async def read(self, session_id: str | None) -> Session:
        """What is in that session, or in the current one, or in a new one. Nothing is opened by it."""
        live = self._live.get(session_id) if session_id else self.current
        if live is not None:
            return live.session
        return await asyncio.to_thread(Session.load, self.folder, session_id) if session_id else Session(self.folder)

    async def fork(self, session_id: str | None, at_message: int | None) -> tuple[LiveSession, str | None]:
        """A copy of the session, up to a message; and that message."""
        new_id, draft = await self.copied(session_id, at_message)
        return await self.open(new_id, how="fork"), draft

    async def copied(self, session_id: str | None, at_message: int | None) -> tuple[str, str | None]:
        """The same, without opening the copy: its id."""
        return await asyncio.to_thread(fork, self.folder, self.real_id(session_id), at_message)

    async def rename(self, session_id: str | None, title: str) -> SessionSummary:
        wanted = self.real_id(session_id)
        live = self.find(wanted)
        session = live.session if live else await asyncio.to_thread(Session.resume, self.folder, wanted)
        session.rename(title)
        if live is None:
            session.close()
        if session.problem:
            raise SessionError(session.problem)
        self._emit(session.id, SessionRenamed(session.title))
        return self.summary(session)

    async def delete(self, session_id: str) -> None:
        live = self.find(session_id)
        if live is not None:
            if live.turns.running:
                raise SessionBusy("the session is in a turn; wait for its end or cancel it")
            if live.session.id != session_id:
                raise SessionLocked(f"session {session_id!r} is open in another Odin")
            self._forget(live)
            await live.close()
        await asyncio.to_thread(store.delete_log, self.folder, session_id)

    async def listed(self, query: str | None, most: int) -> list[SessionSummary]:
        own = {live.session.id for live in self}
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

    def real_id(self, session_id: str | None) -> str:
        """Of that session, or of the current one; of its fork, if another Odin has it open."""
        live = self.find(session_id) if session_id else self.current
        if live is not None:
            return live.session.id
        if session_id is None:
            raise SessionError(NO_CURRENT)
        return session_id

    def leave(self) -> None:
        """Another folder is open: its sessions are others."""
        self._switch(None)
        for live in self:
            self._close_if_idle(live)

    async def close(self) -> None:
        for live in self:
            self._forget(live)
            await live.close()
        await self._closing.settled()

    def _last(self) -> str:
        for summary in listing.summaries(self.folder):
            return summary.session_id
        raise SessionError("there is no session in this workspace yet")

    def _restore(self, asked_for: str, session: Session, how: Switch | None) -> None:
        self._live[asked_for] = self._adopt(session)
        if how is not None:
            self._tell_restored(asked_for, session, how)
        for notice in session.take_notices():
            self._notify("warning", notice)

    def _tell_restored(self, asked_for: str, session: Session, how: Switch) -> None:
        messages = session.earlier_turns + len(session.turns)
        found = "fork" if session.id != asked_for else how
        self._emit(session.id, SessionRestored(session.id, session.title, messages, found))

    def _adopt(self, session: Session) -> LiveSession:
        live = self._live[session.id] = self._make_live(session)
        return live

    def _switch(self, live: LiveSession | None) -> None:
        left, self.current = self.current, live
        if left is not None and left is not live:
            self._close_later(left)
        if live is not None:
            self._stay(live)

    def _close_later(self, live: LiveSession) -> None:
        self._stay(live)
        loop = asyncio.get_running_loop()
        self._leaving[live] = loop.call_later(self._kept_open, self._close_if_idle, live)

    def _stay(self, live: LiveSession) -> None:
        if timer := self._leaving.pop(live, None):
            timer.cancel()

    def _close_if_idle(self, live: LiveSession) -> None:
        live.session.log.catch_up()
        if not live.is_idle or live.session.log.is_behind or any(seat.current is live for seat in self._seats):
            self._close_later(live)
            return
        self._forget(live)
        self._closing.begin(live.close())

    def _forget(self, live: LiveSession) -> None:
        """Whoever asks for it from now on opens it anew."""
        for name in [name for name, it in self._live.items() if it is live]:
            del self._live[name]
        self._stay(live)
        self.current = None if self.current is live else self.current

    def _emit(self, session_id: str, event: Event) -> None:
        self._stream.emitter("", session_id)(event)


class Seating(Protocol):
    """Where a front end takes its session: each has its own current one."""

    current: LiveSession | None

    def begin(self, title: str | None = None) -> LiveSession: ...

    async def open(self, session_id: str | None = None) -> LiveSession: ...

    async def take_up(self, session_id: str | None) -> LiveSession: ...

    async def existing(self, session_id: str | None) -> LiveSession: ...

    async def fork(self, session_id: str | None, at_message: int | None) -> tuple[LiveSession, str | None]: ...


class Seat:
    """Of a front end beside the one that the sessions belong to. Whatever is current here, there it stays."""

    def __init__(self, sessions: OpenSessions, leave: Callable[["Seat"], None]) -> None:
        self._sessions = sessions
        self._leave = leave
        self._known: set[str] = set()
        self.current: LiveSession | None = None

    def begin(self, title: str | None = None) -> LiveSession:
        return self._sit(self._sessions.begin_beside(title))

    async def open(self, session_id: str | None = None) -> LiveSession:
        return self._sit(await self._sessions.open_beside(session_id))

    async def take_up(self, session_id: str | None) -> LiveSession:
        """The one that is named, else the one before, else that of the other front end, else a new one for both."""
        if session_id:
            return await self.open(session_id)
        return self._sit(self.current or self._sessions.current or self._sessions.begin())

    async def existing(self, session_id: str | None) -> LiveSession:
        if session_id is None and self.current is None and self._sessions.current is None:
            raise SessionError(NO_CURRENT)
        return await self.take_up(session_id)

    async def fork(self, session_id: str | None, at_message: int | None) -> tuple[LiveSession, str | None]:
        wanted = session_id or (self.current.session.id if self.current else None)
        new_id, draft = await self._sessions.copied(wanted, at_message)
        return await self.open(new_id), draft

    def knows(self, session_id: str) -> bool:
        """Whether it was current here."""
        return session_id in self._known

    def leave(self) -> None:
        self._leave(self)

    def _sit(self, live: LiveSession) -> LiveSession:
        self._known.add(live.session.id)
        self.current = live
        return live


def _resume_or_fork(folder: Path, session_id: str, is_waiting: Callable[[str], bool], patience: float) -> Session:
    """The session, or a copy of it if somebody else is writing to it."""
    try:
        return Session.resume(folder, session_id, is_waiting, patience)
    except SessionLocked:
        new_id, _ = fork(folder, session_id)
    session = Session.resume(folder, new_id, is_waiting)
    session.notices.append(FORKED.format(old=session_id, new=new_id))
    return session
