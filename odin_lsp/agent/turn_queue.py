"""One session's turns, one after the other. The only place where a cancelled turn comes to rest."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from odin_lsp.agent import errands, slash
from odin_lsp.agent.attaching import prepared
from odin_lsp.agent.mentions import Mentions
from odin_lsp.agent.planner import Ending, Planner
from odin_lsp.agent.problems import problem_of
from odin_lsp.agent.prompt import Prompt
from odin_lsp.agent.stream import EventStream
from odin_lsp.agent.turn import FOREIGN, Changes, OwnAct, Progress, Remark, Turn, UserMessage, clean_prompt
from odin_lsp.errors import ModelError, OdinError, RequestError, SessionBusy, SessionError
from odin_lsp.events import ActivityChanged, Emit, Event, Notice, TodosChanged, ToolFinished, TurnFinished, TurnQueued
from odin_lsp.messages import Message, Text, ToolResult, user
from odin_lsp.modes import Mode
from odin_lsp.records import Outcome, Problem, QueuedMessage
from odin_lsp.review.drafts import told_of
from odin_lsp.review.proposals import Proposal
from odin_lsp.review.turn_review import TurnReview
from odin_lsp.session_events import TurnEdited
from odin_lsp.sessions.session import Session
from odin_lsp.tools.editing import report_receipts

log = logging.getLogger("odin.agent")
MAX_KNOWN = 1000
"""Ids of turns that are remembered, so that none is taken twice."""
DECIDED_LATE = "Edits of an earlier turn were still in review when it ended. The user has decided on them since."
NOT_DECIDED = "not decided yet: the user has said something else first, and you will be told what becomes of it"
UNHEARD = "The turn ended before your message reached the model. Send it again if you still need it: {}"
INTERNAL_ERROR = "an internal error ended the turn; Odin's log says more"

MakePlanner = Callable[[Progress, Emit], Awaitable[Planner]]
KeepPlan = Callable[[str, str], Path | None]
"""A session's id and an answer → the document that the answer has become, if it is a plan."""


class TurnQueue:
    def __init__(self, session: Session, stream: EventStream, make_planner: MakePlanner, keep_plan: KeepPlan) -> None:
        self.session = session
        self.mode: Mode = "ask_mode"
        self._stream = stream
        self._make_planner = make_planner
        self._keep_plan = keep_plan
        self._turns: list[Turn] = []
        """The running turn first, if there is one, then the queue."""
        self._is_held = False
        """A turn was cancelled: what is queued waits until the user says more."""
        self._taken: deque[str] = deque(maxlen=MAX_KNOWN)
        self._closing = False
        self._problem: str | None = None
        self._late: list[str] = []
        """What became of edits whose turn had ended, and the user's notes, until the model can be told."""
        self._reviewed: list[Proposal] = []
        """Some of what the turn waits for that is suspended."""

    @property
    def running(self) -> Turn | None:
        return next((it for it in self._turns[:1] if it.may_begin.is_set()), None)

    @property
    def is_empty(self) -> bool:
        """Nothing runs, and nothing waits."""
        return not self._turns

    def start(self, message: UserMessage) -> Turn:
        """Run the message now, or after those that came before it. Those that are held come after it."""
        if self._closing:
            raise RequestError("Odin is shutting down and takes no more messages")
        message = replace(message, text=clean_prompt(message.text))
        if message.turn_id in self._taken:
            raise RequestError(f"there is already a turn {message.turn_id!r}; give each turn an id of its own")
        self._taken.append(message.turn_id)
        self._give_up_waiting()
        return self._enqueue(Progress(message, self.session.id))

    def go_on(self) -> Turn:
        """Take up the last turn where it was cut off. What was said and found stays, and is not asked for again."""
        self._only_when_idle()
        if self.session.suspended is not None:
            raise RequestError("changes wait for a decision; the turn goes on when all of them are decided")
        last = self.session.turns[-1] if self.session.turns else None
        is_answered = not self.session.messages or self.session.messages[-1].role == "assistant"
        if last is None or (last.reason == "end_turn" and is_answered):
            raise RequestError("there is nothing to go on with: the last turn has come to its end")
        message = UserMessage(  # who has typed it is not kept: what is mentioned is asked about
            turn_id=last.turn_id, text=last.body, mode=last.mode, is_typed=False, timestamp=last.timestamp
        )
        return self._enqueue(Progress(message, self.session.id, answer=last.answer_summary, is_taken_up=True))

    def reviewed(self, proposal: Proposal, touched: Mapping[Path, bool], *, is_last: bool) -> None:
        """What had waited since before Odin was started is decided. If it is the last of it the turn goes on."""
        waited = self.session.suspended
        is_waited_for = waited is not None and waited.turn_id == proposal.turn_id
        if is_waited_for and proposal.origin:  # the agent's call has ended with the Odin that it was made to
            self._give_up_waiting()
        if waited is None or not is_waited_for or proposal.origin:
            self._decided_late(proposal)
            return
        self._reviewed.append(proposal)
        if is_last:
            self.session.suspended = None
            message = UserMessage.that_waited(waited)
            spent = self.session.spent_on(waited.turn_id)
            turn = self._enqueue(Progress(message, self.session.id, usage=spent, decided=self._take_reviewed()))
            turn.progress.review.touched.update(touched)
            turn.progress.review.receipts += [
                receipt for it in turn.progress.decided for told in told_of(it) for receipt in told.receipts
            ]

    def _take_reviewed(self) -> list[Proposal]:
        reviewed, self._reviewed = self._reviewed, []
        return reviewed

    def _give_up_waiting(self) -> None:
        """The user says something else: the calls that waited for a review are told so, and the turn has ended."""
        waited, self.session.suspended = self.session.suspended, None
        if waited is None:
            return
        known = {it.call_id: it for it in self.session.open_results or ()}
        calls = self.session.messages[-1].calls if self.session.messages else ()
        if calls:
            not_decided = {it.id: ToolResult(it.id, it.name, NOT_DECIDED, failed=True) for it in calls}
            self.session.append(Message("user", tuple({**not_decided, **known}[it.id] for it in calls)))
        outcome = self.session.end_cut_off(waited)
        self._stream.emitter(waited.turn_id, self.session.id)(TurnFinished(outcome))
        for proposal in self._take_reviewed():
            self._decided_late(proposal)

    def _enqueue(self, progress: Progress) -> Turn:
        turn = Turn(progress, self._watched(progress))
        progress.review = TurnReview(
            turn.id, turn.emit, self.session.id, self._decided_late, origin=progress.message.origin
        )
        turn.task = asyncio.create_task(self._take(turn), name=f"turn {turn.id}")
        if self.running is None:
            self._turns.insert(0, turn)
            turn.may_begin.set()
        else:
            self._turns.append(turn)
            self._note_waiting(turn)
            turn.emit(TurnQueued(len(self._turns) - 1))
        return turn

    def cancel(self, turn_id: str | None = None, *, drop: bool = False, then_next: bool = False) -> bool:
        """End a turn early, the running one if none is named; what is queued behind it waits, or goes on."""
        turn = self.running if turn_id is None else next((it for it in self._turns if it.id == turn_id), None)
        if turn is None:
            if then_next and turn_id is None:
                self.resume_queue()
            return False
        turn.progress.review.drops_rest = drop
        turn.then_next = then_next
        return turn.cancel()

    def has(self, turn_id: str) -> bool:
        """Whether it runs or waits here."""
        return any(it.id == turn_id for it in self._turns)

    def steer(self, remark: Remark, turn_id: str | None = None) -> bool:
        """Say something into the running turn; false if that one does not run."""
        running = self.running
        if running is None or turn_id not in (None, running.id):
            return False
        running.progress.unheard.append(remark)
        return True

    def abort(self) -> None:
        """Odin is shutting down: end everything, take nothing more."""
        self._closing = True
        for turn in self._turns:
            review = turn.progress.review
            turn.progress.is_suspended = review.is_waiting and not review.origin
            turn.cancel()

    async def close(self) -> None:
        self.abort()
        await asyncio.gather(*(turn.task for turn in self._turns), return_exceptions=True)

    def queue(self) -> list[QueuedMessage]:
        return [turn.progress.message.queued for turn in self._queue]

    def resume_queue(self) -> None:
        """Go on with what is held, or would be."""
        if self.running is not None:
            self.running.then_next = True
        self._is_held = False
        self._begin_next()

    def edit_queued(self, turn_id: str, **changes: Unpack[Changes]) -> None:
        turn = self._waiting(turn_id)
        if "text" in changes:
            changes["text"] = clean_prompt(changes["text"])
        message = turn.progress.message = replace(turn.progress.message, **changes)
        self._note_waiting(turn)
        turn.emit(TurnEdited(message.mode, message.text, message.queued.attached, message.sent))

    def remove_queued(self, turn_id: str) -> None:
        self._drop(self._waiting(turn_id))

    def clear_queue(self) -> list[QueuedMessage]:
        """What was queued is not taken; its sender may say it again."""
        cleared = self.queue()
        for turn in self._queue:
            self._drop(turn)
        return cleared

    def note(self, text: str) -> None:
        """Something the model shall know with the next message, without asking it now."""
        self._late.append(clean_prompt(text))
        if self.running is None:
            self._tell_late()

    def remove_last_message(self) -> Message | None:
        self._only_when_idle()
        self._give_up_waiting()
        return self.session.remove_last()

    def clear(self) -> None:
        """Forget all that was said, but for what is still queued."""
        self._only_when_idle()
        self._give_up_waiting()
        self.session.clear()
        for turn in self._queue:
            self._note_waiting(turn)

    @property
    def _queue(self) -> list[Turn]:
        return [it for it in self._turns if it is not self.running]

    def _note_waiting(self, turn: Turn) -> None:
        self.session.note_waiting(turn.progress.message.queued, turn.progress.message.attached)

    def _waiting(self, turn_id: str) -> Turn:
        for turn in self._queue:
            if turn.id == turn_id:
                return turn
        raise RequestError(f"no message {turn_id!r} is waiting; it may have started already")

    def _drop(self, turn: Turn) -> None:
        turn.cancel()
        self._turns.remove(turn)

    def _only_when_idle(self) -> None:
        if self.running is not None:
            raise SessionBusy("the session is in a turn; wait for its end or cancel it")

    async def _take(self, turn: Turn) -> Outcome:
        ending = Ending("interrupted")
        try:
            await turn.may_run()
            ending = await self._run(turn)
        except asyncio.CancelledError:
            ending = Ending("aborted" if self._closing else "interrupted")
        except OdinError as error:
            ending = Ending("failed", str(error), problem_of(error, turn.model))
        except Exception:  # a bug in one turn ends that turn, not the server
            log.exception("turn %s failed", turn.id)
            ending = Ending("failed", INTERNAL_ERROR, Problem(kind="internal"))
        return self._finish(turn, ending)

    async def _run(self, turn: Turn) -> Ending:
        message = turn.progress.message
        self.mode = message.mode
        if not turn.progress.decided:
            self.session.note_begun(turn.progress.message.queued)
        errand = message.errand
        if isinstance(errand, OwnAct):  # it may be what a planner could not be made without
            turn.start(f"agent/{errand.agent}" if errand.agent else "")
            turn.progress.answer = await errand.act()
            return Ending("end_turn")
        planner = await self._make_planner(turn.progress, turn.emit)
        is_heard = bool(turn.progress.decided) or (turn.progress.is_taken_up and self._is_heard(message))
        context = planner.executor.context
        mentions = Mentions(context.files, context.search, context.servers)
        if not is_heard and not errand:
            about = (context.files, planner.model.ref, context.outside, mentions.left_out)
            message = await mentions.added_to(await prepared(message, *about))
            turn.progress.message = message
        turn.start(f"{FOREIGN}{message.origin}" if message.origin else planner.model.ref)
        for notice in mentions.left_out:
            turn.emit(Notice("warning", notice))
        if turn.progress.decided:
            return await planner.go_on(self.session.open_results or ())
        if errand:
            return await errands.run(errand, planner)
        if is_heard:
            ending = await planner.take_up()
        else:
            meaning = await slash.meaning(message.text, planner.prompt.at_hand, planner)
            told = await planner.executor.hooks.before_prompt(message.text, is_first=not self.session.messages)
            await self._say(message, (*told, *message.meaning, *meaning), planner.prompt, turn.emit)
            ending = await planner.run()
        if message.mode == "plan_mode" and ending.reason == "end_turn":
            self._keep(turn)
        return ending

    async def _say(self, message: UserMessage, meaning: tuple[str, ...], prompt: Prompt, emit: Emit) -> None:
        opening = await prompt.opening(self.session)
        if message.todos:
            self.session.todos[:] = message.todos
            emit(TodosChanged(message.todos))
        texts = (opening, *message.context, prompt.about_mode, *meaning, message.text)  # what comes last counts most
        self.session.append(Message("user", (*message.attached, *map(Text, texts))))

    def _is_heard(self, message: UserMessage) -> bool:
        """Whether the model has it, word for word or in a summary: a turn may have failed before."""
        said = (part for it in self.session.messages if it.role == "user" for part in it.parts)
        return self.session.is_compacted or Text(message.text) in said

    def _keep(self, turn: Turn) -> None:
        """Plan mode ends in a document."""
        try:
            path = self._keep_plan(self.session.id, turn.progress.answer)
            turn.progress.plan = path.as_uri() if path else None
        except (OSError, SessionError) as error:
            turn.emit(Notice("warning", f"the plan is not kept as a document: {error}"))

    def _finish(self, turn: Turn, ending: Ending) -> Outcome:
        problem = ending.problem or (problem_of(ModelError(), turn.model) if ending.reason == "failed" else None)
        outcome = turn.progress.outcome(ending.reason, tuple(self.session.todos), ending.detail, problem)
        turn.progress.updates.clear()
        for remark in turn.progress.unheard:
            turn.emit(Notice("warning", UNHEARD.format(remark.text)))
        try:
            self._note_end(turn, outcome)
        except Exception:  # the next turn does not wait for ever for this one
            log.exception("the end of turn %s is not kept", turn.id)
        if not turn.progress.is_suspended:
            turn.start()
            turn.emit(TurnFinished(outcome))
        has_run = turn is self.running
        if turn in self._turns:
            self._turns.remove(turn)
        if has_run:
            self._tell_late()
            self._is_held = turn.is_cancelled and not turn.then_next
            self._begin_next()
            if self._is_held or not self._turns:
                turn.emit(ActivityChanged("idle"))
        return outcome

    def _begin_next(self) -> None:
        if self._turns and not self._is_held and not self._closing:
            self._turns[0].may_begin.set()

    def _decided_late(self, proposal: Proposal) -> None:
        decided = report_receipts(told_of(proposal), str)
        self._late.append(f"<reminder>\n{DECIDED_LATE}\n{decided}\n</reminder>")
        if self.running is None:
            self._tell_late()

    def _tell_late(self) -> None:
        """Between two turns: the model learns of it with the next message."""
        late, self._late = self._late, []
        for what in late:
            self.session.append(user(what))

    def _note_end(self, turn: Turn, outcome: Outcome) -> None:
        if turn.progress.is_suspended:
            return
        if turn.may_begin.is_set():
            self.session.finish_turn(turn.progress.message.text, turn.progress.message.timestamp, outcome)
            self._tell_of_session(turn)
        elif not self._closing:
            self.session.note_dropped(turn.id)

    def _tell_of_session(self, turn: Turn) -> None:
        """Once, when the conversation is not saved any more, and once when it is again."""
        for notice in self.session.take_notices():
            turn.emit(Notice("warning", notice))
        problem, self._problem = self._problem, self.session.problem
        if self._problem and not problem:
            turn.emit(Notice("warning", f"The session is not being saved: {self._problem}"))
        elif problem and not self._problem:
            turn.emit(Notice("info", "The session is being saved again. Nothing was lost."))

    def _watched(self, progress: Progress) -> Emit:
        """Events go out, and what a person would call progress is kept for `odin.state`."""
        emit = self._stream.emitter(progress.message.turn_id, self.session.id)

        def watched(event: Event) -> None:
            if isinstance(event, ToolFinished):
                progress.updates.append(event.description)
            elif isinstance(event, ActivityChanged) and event.detail:
                progress.updates.append(event.detail)
            emit(event)

        return watched
