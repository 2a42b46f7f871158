"""Turns that editors asked for: from the command to its outcome, with progress and cancel."""

import asyncio
import logging
import uuid
from weakref import WeakValueDictionary

from lsprotocol import types

from odin_lsp.agent.context import gathered, looked_up
from odin_lsp.agent.live_session import LiveSession
from odin_lsp.agent.own_commands import Typed
from odin_lsp.agent.turn import Compact, Turn, UserMessage
from odin_lsp.display import cut_label
from odin_lsp.errors import RequestError, SessionError
from odin_lsp.modes import Mode
from odin_lsp.records import Outcome, Todo
from odin_lsp.server.attachments import attached
from odin_lsp.server.host import Work
from odin_lsp.server.progress import TurnProgress
from odin_lsp.server.transcript import write_transcript
from odin_lsp.server.wire import MessageParams
from odin_lsp.workspace.uris import path_of

log = logging.getLogger("odin.turns")
MAX_SHOWN = 2000


class Turns:
    def __init__(self, server: Work) -> None:
        self._server = server
        self._by_token: dict[types.ProgressToken, str] = {}
        self._in_order = WeakValueDictionary[str | None, asyncio.Lock]()
        """By session: its messages are taken in the order in which they came, whatever is read for each of them."""

    async def take(
        self,
        mode: Mode,
        params: MessageParams,
        token: types.ProgressToken | None,
        *,
        meaning: tuple[str, ...] = (),
        todos: tuple[Todo, ...] = (),
    ) -> Outcome:
        """`meaning`: what the model is told beside the user's words."""
        begun = None
        async with self._in_order.setdefault(params.session_id, asyncio.Lock()):
            await asyncio.to_thread(self._server.project.read_ahead)
            typed = await asyncio.to_thread(self._server.core.own.understood, params.text, mode)
            if not typed.is_apart:
                begun = await self._begin(typed, params, meaning, todos)
        return await (self._see_through(*begun, token) if begun else self._apart(typed, params, token))

    async def _begin(
        self, typed: Typed, params: MessageParams, meaning: tuple[str, ...], todos: tuple[Todo, ...]
    ) -> tuple[LiveSession, Turn]:
        core = self._server.core
        self.check(typed.mode)
        live = await self._server.seat.take_up(params.session_id)
        context = gathered(await looked_up(params.context, core.servers, core.search), core.files)
        images = await asyncio.to_thread(attached, params.images, core.files, live.session.log.path)
        turn = live.turns.start(
            UserMessage(
                turn_id=params.turn_id or uuid.uuid4().hex,
                text=typed.text,
                mode=typed.mode,
                is_typed=params.typed,
                context=context.texts,
                sent=context.sent,
                items=params.context,
                attached=(*context.attached, *images),
                meaning=meaning,
                todos=todos,
                errand=core.own.errand(live, typed, decides_for_all=not self._server.is_guest),
                temperature=params.temperature,
                max_tokens=params.max_tokens,
                options=params.options,
            )
        )
        for notice in context.left_out:
            self._server.editor.notify("warning", notice)
        return live, turn

    async def _apart(self, typed: Typed, params: MessageParams, token: types.ProgressToken | None) -> Outcome:
        """What changes the session itself is no turn of it, but is answered like one."""
        if typed.own is not None and typed.own.name == "continue":
            return await self.go_on(params.session_id, token)
        live, told = await self._server.core.own.apart(typed, params.session_id, self._server.seat)
        if not self._server.abilities.events:
            self._server.editor.notify("info", told)
        return Outcome(
            turn_id=params.turn_id or uuid.uuid4().hex,
            session_id=live.session.id,
            mode=typed.mode,
            reason="end_turn",
            answer=told,
        )

    async def go_on(self, session_id: str | None, token: types.ProgressToken | None) -> Outcome:
        """Take up the last turn of the session."""
        live = await self._server.seat.existing(session_id)
        if live.session.turns:
            self.check(live.session.turns[-1].mode)
        return await self._see_through(live, live.turns.go_on(), token)

    async def compact(
        self, session_id: str | None, focus: str, turn_id: str | None, token: types.ProgressToken | None
    ) -> tuple[int, int]:
        """Tokens of the conversation before and after it."""
        live = await self._server.seat.existing(session_id)
        turn = live.turns.start(Compact(focus).message(turn_id or uuid.uuid4().hex, live.turns.mode))
        outcome = await self._see_through(live, turn, token)
        if outcome.reason == "failed":
            raise RequestError(outcome.detail or outcome.reason)
        return turn.progress.compacted

    async def _see_through(self, live: LiveSession, turn: Turn, token: types.ProgressToken | None) -> Outcome:
        showing = asyncio.create_task(self._show_progress(turn, token))
        try:
            outcome = await turn.outcome()
        except asyncio.CancelledError:
            # The client gave up the request: the turn ends, and its outcome is the answer all the same.
            turn.cancel()
            outcome = await turn.task
        finally:
            showing.cancel()
        if not turn.progress.message.options.shows_answer:
            return outcome
        if outcome.plan:
            await self._show_plan(outcome.plan)
        elif not self._server.abilities.events and outcome.reason != "aborted":
            await self._show_answer(live, outcome)
        return outcome

    def check(self, mode: Mode) -> None:
        if self._server.project.now.is_restricted and mode != "ask_mode":
            raise RequestError(
                "only Ask works in Restricted Mode; to use Plan or Edit, trust the workspace in your editor"
            )

    def cancel_by_token(self, token: types.ProgressToken) -> None:
        if turn_id := self._by_token.get(token):
            self._server.core.cancel(turn_id)

    async def _show_progress(self, turn: Turn, token: types.ProgressToken | None) -> None:
        server = self._server
        progress = TurnProgress(
            server.rpc,
            f"odin/{turn.id}" if token is None else token,
            turn.id,
            f"Odin: {turn.progress.message.mode[:-5]}",
        )
        if token is None and not (server.abilities.progress and await progress.create(server.client_timeout)):
            return
        key = f"odin/{turn.id}" if token is None else token
        self._by_token[key] = turn.id
        unsubscribe = server.core.stream.subscribe(progress.follow)
        progress.begin()
        try:
            await turn.outcome()
        finally:
            unsubscribe()
            del self._by_token[key]
            progress.end()

    async def _show_plan(self, uri: str) -> None:
        """It is the answer, and something to work with."""
        if not await self._server.editor.open_document(uri):
            self._server.editor.notify(
                "info", f"the plan is in {path_of(uri)}: edit it, and have its steps carried out"
            )

    async def _show_answer(self, live: LiveSession, outcome: Outcome) -> None:
        """A client that knows nothing of Odin sees the transcript, or at least a message."""
        try:
            path = write_transcript(live.session)
        except (OSError, SessionError) as error:
            log.warning("the transcript cannot be written: %s", error)
            path = None
        if path and await self._server.editor.open_document(path.as_uri()):
            return
        text = outcome.answer or outcome.detail or outcome.reason
        where = f"\n(the whole conversation: {path})" if path else ""
        self._server.editor.notify(
            "error" if outcome.reason == "failed" else "info", cut_label(text, MAX_SHOWN) + where
        )
