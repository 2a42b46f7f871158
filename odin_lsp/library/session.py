"""A conversation and its turns, as a program uses them."""

import asyncio
import uuid
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from odin_lsp.agent import turn
from odin_lsp.agent.attaching import given
from odin_lsp.agent.context import gathered
from odin_lsp.agent.live_session import LiveSession
from odin_lsp.agent.open_sessions import OpenSessions
from odin_lsp.agent.own_commands import OwnCommands
from odin_lsp.agent.stream import EventStream
from odin_lsp.agent.turn import Compact, Remark, UserMessage
from odin_lsp.errors import RequestError, SessionError
from odin_lsp.events import PASSING, EventRecord, Notice, StreamRolledBack, TurnFinished
from odin_lsp.messages import Message
from odin_lsp.modes import Mode
from odin_lsp.records import ContextItem, Outcome, TurnOptions, Usage
from odin_lsp.sessions import replay
from odin_lsp.sessions.turn_record import TurnRecord
from odin_lsp.workspace.files import Files

Images = Iterable[Path | bytes]
USUAL = TurnOptions()
CLOSED = "session {!r} is closed, because another one was used since; resume it by its id"


class Turn:
    """One message, and all that follows until it is answered. It runs whether or not anybody looks.

    Iterate over it for its events, of which the last is `TurnFinished` with the outcome. To leave the loop early, by
    `break` or by an exception, cancels the turn."""

    def __init__(
        self,
        begin: Callable[[], turn.Turn],
        live: LiveSession,
        stream: EventStream,
        running: dict[str, "Turn"],
        *,
        partial: bool,
    ) -> None:
        early: list[EventRecord] = []
        stop = stream.subscribe(early.append)
        try:
            self._turn = begin()
        finally:
            stop()
        self.id = self._turn.id
        self.session_id = live.session.id
        self._live = live
        self._running = running
        self._partial = partial
        self._records: asyncio.Queue[EventRecord | None] = asyncio.Queue()
        self._failure: Exception | None = None
        self._unsubscribe = stream.subscribe(self._hear)
        for record in early:
            self._hear(record)
        running[self.id] = self
        self._turn.task.add_done_callback(lambda _: self._end())

    async def __aiter__(self) -> AsyncGenerator[EventRecord]:
        try:
            while (record := await self._records.get()) is not None:
                yield record
        finally:
            self.cancel()
        if self._failure is not None:
            raise self._failure

    async def outcome(self) -> Outcome:
        """How it has ended, once it has. To stop waiting for it does not cancel the turn."""
        outcome = await self._turn.outcome()
        if self._failure is not None:
            raise self._failure
        return outcome

    def cancel(self) -> bool:
        """End it early, and reject what waits for a review; false if it has ended already."""
        return self._live.turns.cancel(self.id, drop=True, then_next=True)

    def steer(self, text: str) -> bool:
        """Say something into it, which the model hears after its present step; false if it does not run."""
        return self._live.turns.steer(Remark(text), self.id)

    def fail(self, failure: Exception) -> None:
        """End it because of what has gone wrong in the program; whoever waits for the turn gets to hear of it."""
        self._failure = self._failure or failure
        self.cancel()

    def _hear(self, record: EventRecord) -> None:
        """What comes after the outcome is not part of the turn."""
        is_piece = record.event.kind in PASSING or isinstance(record.event, StreamRolledBack)
        if record.turn_id == self.id and (self._partial or not is_piece):
            self._records.put_nowait(record)
            if isinstance(record.event, TurnFinished):
                self._records.put_nowait(None)

    def _end(self) -> None:
        self._unsubscribe()
        del self._running[self.id]
        self._records.put_nowait(None)  # also of a turn without an outcome, which goes on another time


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation. A message that comes while a turn runs waits for the end of that turn."""

    _live: LiveSession
    _sessions: OpenSessions
    _stream: EventStream
    _running: dict[str, Turn]
    _own: OwnCommands
    _files: Files

    @property
    def id(self) -> str:
        return self._live.session.id

    @property
    def title(self) -> str:
        return self._live.session.title

    @property
    def history(self) -> tuple[Message, ...]:
        """What the model knows of the conversation, summaries included."""
        return tuple(self._live.session.messages)

    @property
    def usage(self) -> Usage:
        """All that it has used so far."""
        return self._live.session.usage

    @property
    def last_turn(self) -> TurnRecord | None:
        return self._live.session.turns[-1] if self._live.session.turns else None

    @property
    def is_busy(self) -> bool:
        return self._live.turns.running is not None

    async def events(self) -> AsyncGenerator[EventRecord]:
        """What has happened in it since it began, as those saw it who were there; not the pieces of texts."""
        session = self._live.session
        turns = replay.turns(self._sessions.folder, session.id) if session.log.path.exists() else iter(())
        while (records := await asyncio.to_thread(next, turns, None)) is not None:
            for record in records:
                yield record

    def ask(self, text: str, *, images: Images = (), options: TurnOptions = USUAL, partial: bool = False) -> Turn:
        """Ask about the code; nothing is changed. `images`: files, or the bytes of some, that go with the message.
        `options`: in what it differs from other turns. `partial`: with the pieces of texts and outputs as they come."""
        return self._take(_message("ask_mode", text, images, options), partial=partial)

    def plan(self, text: str, *, images: Images = (), options: TurnOptions = USUAL, partial: bool = False) -> Turn:
        """Plan a change; nothing is changed."""
        return self._take(_message("plan_mode", text, images, options), partial=partial)

    def edit(self, text: str, *, images: Images = (), options: TurnOptions = USUAL, partial: bool = False) -> Turn:
        """Change the code, as far as the editor's `review` accepts it."""
        return self._take(_message("edit_mode", text, images, options), partial=partial)

    def send(
        self,
        mode: Mode,
        text: str,
        *,
        images: Images = (),
        context: Sequence[ContextItem] = (),
        options: TurnOptions = USUAL,
        partial: bool = False,
    ) -> Turn:
        """Take what a person has typed: `!command` runs a command, by the same rules as the model's, and the model is
        told of it with the next message. `/name` does what Odin has this name for, without a model. `context`: texts
        and files that go with it; those that no model may read are left out."""
        typed = self._own.understood(text, mode)
        if typed.is_apart and typed.own:
            if typed.own.name == "continue":
                return self.go_on(partial=partial)
            raise RequestError(f"/{typed.own.name} changes the session itself, which a single message cannot do")
        message, with_it = _message(typed.mode, typed.text, images, options), gathered(context, self._files)
        message = replace(
            message,
            context=with_it.texts,
            sent=with_it.sent,
            attached=(*with_it.attached, *message.attached),
            errand=self._own.errand(self._live, typed),
        )
        turn = self._take(message, partial=partial)
        emit = self._stream.emitter(turn.id, self.id)
        for notice in with_it.left_out:
            emit(Notice("warning", notice))
        return turn

    def compact(self, focus: str = "", *, partial: bool = False) -> Turn:
        """Make the conversation shorter for the model, which keeps `focus` above all."""
        return self._take(Compact(focus).message(uuid.uuid4().hex, self._live.turns.mode), partial=partial)

    def go_on(self, *, partial: bool = False) -> Turn:
        """Take up the last turn where it was cut off; `RequestError` if it was not."""
        return self._begun(self._live.turns.go_on, partial=partial)

    def steer(self, text: str) -> bool:
        """Say something into the turn that runs; false if none does."""
        return self._live.turns.steer(Remark(text))

    def cancel(self) -> bool:
        """End the turn that runs; false if none does."""
        return self._live.turns.cancel(drop=True, then_next=True)

    def clear(self) -> None:
        """Forget what was said: the next message begins anew. `SessionBusy` while a turn runs."""
        self._live.clear()

    def store(self) -> None:
        """Also if nothing was said in it yet, so that it can be resumed by its id."""
        session = self._live.session
        if not session.log.path.exists():
            session.rename(session.title, session.titled_by)

    def _take(self, message: UserMessage, *, partial: bool) -> Turn:
        return self._begun(lambda: self._live.turns.start(message), partial=partial)

    def _begun(self, begin: Callable[[], turn.Turn], *, partial: bool) -> Turn:
        if self._sessions.find(self.id) is not self._live:
            raise SessionError(CLOSED.format(self.id))
        return Turn(begin, self._live, self._stream, self._running, partial=partial)


def _message(mode: Mode, text: str, images: Images, options: TurnOptions) -> UserMessage:
    attached = tuple(map(given, images))
    return UserMessage(turn_id=uuid.uuid4().hex, text=text, mode=mode, attached=attached, options=options)
