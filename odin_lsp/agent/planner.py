"""The loop: ask the model, run what it calls, until it only talks or a limit is reached."""

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import cast

from odin_lsp.agent.compaction import Compaction
from odin_lsp.agent.executor import Executor
from odin_lsp.agent.history import Conversation
from odin_lsp.agent.loop_guard import LoopGuard, Repetition
from odin_lsp.agent.mode_tools import tool_specs
from odin_lsp.agent.nested_instructions import told_as
from odin_lsp.agent.prompt import Prompt
from odin_lsp.agent.room import CUT_SHORT, Room
from odin_lsp.agent.speech import Speech, StepRequests, trying_again
from odin_lsp.agent.turn import Helpers, Progress
from odin_lsp.config import Limits
from odin_lsp.errors import AnswerTooLong, ContextTooLong, ModelError
from odin_lsp.events import (
    ActivityChanged,
    Emit,
    ModelChanged,
    Notice,
    StreamRolledBack,
    UsageChanged,
    UserSpoke,
)
from odin_lsp.messages import Message, Text, ToolResult, user
from odin_lsp.models.base import (
    Attempt,
    CallReady,
    Model,
    Reply,
    Request,
    StreamEvent,
    ToolSpec,
)
from odin_lsp.ports import Asker, Option, Question
from odin_lsp.records import ExitReason, Problem, Usage
from odin_lsp.review.drafts import told_of
from odin_lsp.sessions.history import CHARS_PER_TOKEN

MAX_MALFORMED = 3
MAX_PAUSES = 10
CUT_OFF = "You were cut off here. The user wants you to go on from there, without repeating what you have said."
NO_ANSWER = "The model gave no answer."
ANSWERED = frozenset[ExitReason]({"end_turn", "max_turns", "max_budget", "max_tokens", "loop"})
LAST_STEP = "Stop here: {why}. Call no more tools. Say what you found and did so far, and what is still open."


@dataclass(frozen=True, slots=True)
class Ending:
    reason: ExitReason
    detail: str | None = None
    problem: Problem | None = None


@dataclass(slots=True)
class Planner:
    model: Model
    prompt: Prompt
    session: Conversation
    executor: Executor
    asker: Asker
    compaction: Compaction
    limits: Limits
    emit: Emit
    progress: Progress
    temperature: float | None = None
    shared_tools: int = 0
    """So many of the executor's, the first ones, are listed in every mode."""
    helpers: Helpers | None = None
    _guard: LoopGuard = field(default_factory=LoopGuard)
    _malformed: int = 0
    _was_held_back: bool = False
    """A hook has wanted the turn to go on."""
    _pauses: int = 0
    _room: Room = field(init=False)

    async def run(self) -> Ending:
        """Take the turn whose prompt is the last message of the session."""
        self._begin()
        try:
            return await self._settled(await self._until_done())
        finally:
            await self._end()

    async def compact(self, focus: str) -> bool:
        """Make the conversation shorter because the user wants it; false if it cannot be."""
        self._begin()
        before = self._room.tokens
        try:
            return await self._room.shrink(focus)
        finally:
            self.progress.compacted = before, self._room.tokens
            await self._end()

    async def take_up(self) -> Ending:
        """Go on with a turn that was cut off. The model knows all that it has said and found."""
        last = self.session.history.valid()[-1]
        if last.role == "assistant":
            self._tell(CUT_OFF)
        return await self.run()

    def _begin(self) -> None:
        tools = sum(len(f"{it.name}{it.description}{it.schema}") for it in self._tools())
        self._room = Room(
            self.session,
            self.compaction,
            self.emit,
            self.model.ref,
            self.limits.max_context,
            self.progress.message.max_tokens or self.limits.max_tokens,
            round((sum(map(len, self.prompt.system)) + tools) / CHARS_PER_TOKEN),
            self._forget_unseen,
            self.progress.message.options.may_compact,
        )

    async def _end(self) -> None:
        if self.helpers is not None:
            await self.helpers.close()
        self.executor.drop_draft()
        self.progress.diagnostics = await self.executor.introduced()
        self.compaction.stop()

    async def go_on(self, known: Iterable[ToolResult]) -> Ending:
        """Take up the turn that has waited for a review: its calls get what became of their edits, and those that come
        behind them are made. Of the others the results are known."""
        self._begin()
        try:
            ending = await self._with_decided(known)
            return await self._settled(ending or await self._until_done())
        finally:
            await self._end()

    async def _settled(self, ending: Ending) -> Ending:
        """Whoever was answered gets an answer, and what was changed is saved."""
        if not self.progress.answer and ending.reason in ANSWERED:
            self.progress.answer = self.progress.message.options.default_answer or NO_ANSWER
        self._tell(await self.executor.save())
        return ending

    async def _with_decided(self, known: Iterable[ToolResult]) -> Ending | None:
        told = [it for proposal in self.progress.decided for it in told_of(proposal)]
        last = self.session.history.messages[-1]
        if last.calls:
            results = {it.call_id: it for it in known}
            return await self._run_calls(last, results | self.executor.decided(last.calls, self.progress.decided))
        self._tell(self.executor.report(told))
        self.progress.answer = last.text
        as_wanted = all(it.state == "accepted" for file in told for it in file.receipts)
        return Ending("end_turn") if as_wanted and last.role == "assistant" else None

    async def _until_done(self) -> Ending:
        while (why := self._limit()) is None:
            reply = await self._step()
            ending = await self._follow(reply)
            is_over = ending == Ending("end_turn")
            reports = await self.helpers.reports(of_all=is_over) if self.helpers else []
            self._tell("\n\n".join(reports))
            if ending is not None and not (is_over and (self.progress.unheard or reports)):
                return ending
            self._hear()
        return await self._last_step(*why)

    def _limit(self) -> tuple[ExitReason, str] | None:
        if self.limits.max_turns and self.progress.steps >= self.limits.max_turns:
            return "max_turns", f"the limit of steps is reached ({self.limits.max_turns})"
        if self._is_spent:
            return "max_budget", f"the budget of ${self.limits.max_budget_usd:g} is spent"
        return None

    @property
    def _is_spent(self) -> bool:
        return bool(self.limits.max_budget_usd) and self.progress.cost_usd >= self.limits.max_budget_usd

    async def _follow(self, reply: Reply) -> Ending | None:
        """What the model's reply means: an ending, or `None` to go on."""
        calls = reply.message.calls
        match reply.stop:
            case "tools" if calls:
                self._keep(reply.message)
                return await self._run_calls(reply.message)
            case "end" | "tools":
                return await self._take_answer(reply.message)
            case "paused" if self._pauses < MAX_PAUSES:
                self._pauses += 1
                self._keep(reply.message)
                return None
            case "max_tokens" if not reply.message.text.strip():  # half a thought could not be sent back
                return Ending("max_tokens", CUT_SHORT.format(self._room.max_tokens))
            case "max_tokens":
                self._keep(reply.message)
                return Ending("max_tokens", f"the answer is longer than {self._room.max_tokens} tokens")
            case "refused":
                self._keep(reply.message)
                return Ending("refused", reply.detail or "the model refused to answer")
            case "malformed":
                return self._ask_for_the_call_again(reply.detail or "the call could not be read")
            case _:
                self._keep(reply.message)
                return Ending("failed", f"the model stopped for an unknown reason: {reply.detail or reply.stop}")

    async def _take_answer(self, message: Message) -> Ending | None:
        if message.text.strip():
            self._keep(message)
            as_wanted, told = await self.executor.review()
            self._tell(told)
            left = [self.prompt.left_open(self.session), await self.executor.left_broken()] if as_wanted else []
            if as_wanted and not any(left):
                left = [await self.executor.hooks.before_end(was_held_back=self._was_held_back)]
                self._was_held_back = any(left)
            self._tell("\n\n".join(filter(None, left)))
            return Ending("end_turn") if as_wanted and not any(left) else None
        if self._pauses < MAX_PAUSES:
            self._pauses = MAX_PAUSES
            self._keep(message)
            self._tell("Your last message was empty. Answer the user, or go on with the work.")
            return None
        return Ending("end_turn")

    def _ask_for_the_call_again(self, why: str) -> Ending | None:
        self._malformed += 1
        if self._malformed >= MAX_MALFORMED:
            return Ending("failed", f"the model made {self._malformed} calls in a row that could not be read: {why}")
        self._tell(f"Your last tool call could not be read: {why}. Make it again.")
        return None

    async def _run_calls(
        self, message: Message, known: Mapping[str, ToolResult] = MappingProxyType({})
    ) -> Ending | None:
        """Run those calls of which no result is known. Whatever happens, each of them has its result in the history
        afterwards, unless the turn goes on another time."""
        calls = message.calls
        self.emit(ActivityChanged("executing", f"{len(calls)} tool{'' if len(calls) == 1 else 's'}"))
        results = dict(known)
        self.executor.context.draft.turn.before_waiting = lambda: self.session.note_results(results.values())
        noticed: list[str] = []
        try:
            await self.executor.run(message, results)
            noticed = await self._noticed()
        finally:
            repetition = self._guard.note(calls, results)
            remarks = filter(None, (repetition.warning, *noticed, *self.executor.learned_meanwhile()))
            if not self.progress.is_suspended:
                self.session.append(Message("user", (*(results[it.id] for it in calls), *map(Text, remarks))))
        self._malformed = self._malformed + 1 if all(map(self.executor.is_malformed, calls)) else 0
        if self._malformed >= MAX_MALFORMED:
            return Ending("failed", f"the model made {self._malformed} calls in a row that could not be read")
        if repetition.needs_the_user and not await self._may_repeat(repetition):
            return await self._last_step(
                "loop", f"{repetition.tool} was called {repetition.count} times with the same result"
            )
        return Ending("end_turn", "a hook ended the turn") if self.executor.stopped else None

    async def _noticed(self) -> list[str]:
        """What others have changed, and instructions that hold where the work has just got to."""
        changed, reached = await self.prompt.reminder(), (path for path, _ in self.prompt.shown)
        found = await self.prompt.nested.due(reached, self.session.history.messages)
        if found:
            self.emit(Notice("info", f"instructions further down: {', '.join(map(str, found))}"))
        return [changed, *map(told_as, found)]

    async def _may_repeat(self, repetition: Repetition) -> bool:
        question = Question(
            question_id=uuid.uuid4().hex,
            kind="question",
            title=f"Odin called {repetition.tool} {repetition.count} times with the same result. Continue?",
            options=(Option("continue", "Continue"), Option("stop", "Stop")),
        )
        answer = await self.asker.ask(question)
        return answer is not None and answer.option_ids == ("continue",)

    async def _last_step(self, reason: ExitReason, why: str) -> Ending:
        """The answer so far: one more reply, without tools."""
        _, told = await self.executor.review()
        self._tell("\n".join(filter(None, (told, LAST_STEP.format(why=why)))))
        try:
            reply = await self._step(may_call=False)
        except ModelError as error:
            return Ending(reason, f"{why}; {error}")
        if reply.message.text.strip():
            said = (part for part in reply.message.parts if part not in reply.message.calls)
            self._keep(replace(reply.message, parts=tuple(said)))
        return Ending(reason, why)

    def _hear(self) -> None:
        """What the user said meanwhile, where the model can take it in: after an answer, or after all results."""
        said, self.progress.unheard = self.progress.unheard, []
        for remark in said:
            self.session.append(user(remark.text, *remark.context))
            self.emit(UserSpoke(remark.text))

    def _tell(self, what: str) -> None:
        """What happened besides the conversation; these are not the user's words."""
        if what:
            self.session.append(user(f"<reminder>\n{what}\n</reminder>"))

    def _keep(self, message: Message) -> None:
        if message.parts:
            self.session.append(message)
        if message.text.strip():
            self.progress.answer = message.text

    async def _step(self, *, may_call: bool = True) -> Reply:
        """One reply of the model; if it has no room, or the history does not fit, it is asked for again."""
        self.progress.steps += 1
        reply, may_shrink, requests = None, True, StepRequests(self.emit, self.progress.steps)
        while reply is None:
            try:
                reply = await self._ask(requests, may_call=may_call)
            except ContextTooLong:
                if not (may_shrink and await self._room.shrink()):
                    raise
                may_shrink = False
        return reply

    def _forget_unseen(self) -> None:
        self.executor.forget_unseen(self.session.history.messages)
        self.prompt.nested.look_again()

    async def _ask(self, requests: StepRequests, *, may_call: bool) -> Reply | None:
        """`None`: there is more room for the reply now."""
        await self._room.fit()
        began = time.monotonic()
        speech = Speech(self.emit, requests)
        stream = cast("AsyncGenerator[StreamEvent]", self.model.stream(self._request(may_call=may_call)))
        try:
            async with aclosing(stream) as events:
                async for event in events:
                    speech.hear(event)
                    match event:
                        case CallReady(call) if may_call:
                            self.executor.start_early(call)
                        case Attempt():
                            await self._again(event)
                        case Reply():
                            return await self._finish(event, speech)
                        case _:
                            pass
            raise ModelError("the model's stream ended without a reply")
        except ContextTooLong:
            speech.take_back()
            await self.executor.discard()
            raise
        except BaseException as error:  # cancelled or failed: what was begun early must not go on
            speech.cut_off()
            if isinstance(error, asyncio.CancelledError | AnswerTooLong) and speech.text:
                self._keep(Message("assistant", (Text(speech.text),)))
            await self.executor.discard()
            raise
        finally:
            self.progress.model_seconds += time.monotonic() - began

    def _request(self, *, may_call: bool) -> Request:
        messages, tools, length = tuple(self.session.history.valid()), self._tools(), self._room.max_tokens
        return Request(self.prompt.system, messages, tools, length, self.temperature, may_call, self.shared_tools)

    def _tools(self) -> tuple[ToolSpec, ...]:
        return tool_specs(tuple(self.executor.tools.values()))

    async def _again(self, attempt: Attempt) -> None:
        """The stream failed and starts anew: take back what it showed, forget what it began."""
        await self.executor.discard()
        self.emit(StreamRolledBack())
        self.progress.try_again(self.limits.max_retries, attempt.reason)
        if attempt.running != self._room.model:
            self._room.model = attempt.running
            self.emit(ModelChanged(self.model.ref, attempt.running))
        self.emit(trying_again(attempt))

    def _within_limit(self, usage: Usage) -> Usage:
        """The window is as large as the user allows, whatever the model could take."""
        limits = [it for it in (usage.context_limit, self.limits.max_context) if it]
        return replace(usage, context_limit=min(limits, default=0))

    async def _finish(self, reply: Reply, speech: Speech) -> Reply | None:
        if reply.stop != "tools":
            await self.executor.discard()
        self.progress.spend(self._within_limit(reply.usage))
        self._room.count(reply.usage.context_tokens)
        is_wanted_again = not self._is_spent and await self._room.is_made_for(reply)
        if is_wanted_again or reply.stop in ("malformed", "context_full"):
            speech.take_back()
        else:
            speech.finished(reply.message.text, len(reply.message.calls))
        self.emit(UsageChanged(self.progress.usage))
        if reply.stop == "context_full":
            raise ContextTooLong("the conversation no longer fits into the model's window")
        return None if is_wanted_again else replace(reply, message=self.session.history.distinct(reply.message))
