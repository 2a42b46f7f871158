"""A session that is open here: opened, used, closed. What belongs to it goes with it."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Protocol

from odin_lsp.agent.asking import AskerInTurn
from odin_lsp.agent.compaction import Compaction
from odin_lsp.agent.hooks import HookEvent, Hooks
from odin_lsp.agent.instructions import Instructions
from odin_lsp.agent.naming import Namer
from odin_lsp.agent.planner import Planner
from odin_lsp.agent.plans import PlanRun, Plans
from odin_lsp.agent.scope import Briefing, Scope
from odin_lsp.agent.stream import EventStream
from odin_lsp.agent.subagents import Subagents
from odin_lsp.agent.surroundings import are_known, surroundings
from odin_lsp.agent.turn import Progress, Remark
from odin_lsp.agent.turn_queue import TurnQueue
from odin_lsp.events import (
    MAIN,
    Compacted,
    Emit,
    EventRecord,
    Notice,
    QuestionAsked,
    ToolFinished,
    TurnFinished,
)
from odin_lsp.mcp.offered import Offered
from odin_lsp.models.base import Model
from odin_lsp.ports import Editor
from odin_lsp.project.project import Project, Situation
from odin_lsp.session_events import SessionRestored
from odin_lsp.sessions.recording import Recorder
from odin_lsp.sessions.session import Session
from odin_lsp.sessions.titles import from_message
from odin_lsp.tasks import Tasks
from odin_lsp.workspace.files import Files


class PlanTurn(Protocol):
    async def __call__(self, live: "LiveSession", progress: Progress, emit: Emit) -> Planner: ...


class HooksNow(Protocol):
    async def __call__(self, live: "LiveSession", emit: Emit) -> Hooks: ...


END_SECONDS = 5.0
"""For hooks at the end of a session: whoever ends Odin does not wait for long."""


class LiveSession:
    def __init__(
        self,
        session: Session,
        project: Project,
        files: Files,
        editor: Editor,
        stream: EventStream,
        plan_turn: PlanTurn,
        hooks_now: HooksNow,
        plans: Plans,
        naming_model: Callable[[], Model | None],
    ) -> None:
        self.session = session
        self.turns = TurnQueue(session, stream, self._planner, plans.keep)
        self.helpers: Subagents | None = None
        """The latest turn's."""
        self.compaction: Compaction | None = None
        """The same."""
        self._project = project
        self._plan_turn = plan_turn
        self._hooks_now = hooks_now
        self._has_begun = False
        """A turn was taken here: the hooks know of it."""
        self._telling = Tasks()
        self._plans = plans
        self.model = ""
        """What a front end beside the editor has picked for this session alone; empty: as for all."""
        self.plan_run: PlanRun | None = None
        """Ticks what the latest turn does of the session's plan, if it was told to in words."""
        self._namer = Namer(session, naming_model, stream.emitter("", session.id))
        self._unsubscribe = [
            stream.subscribe(it)
            for it in (
                Recorder(session).follow,
                self._namer.follow,
                self._note_shown,
                self._tick,
                self._tell_of_question,
            )
        ]
        self._files = files
        """What is noted of what the model was shown, and since when."""
        self._is_recalled = False
        self._stream = stream
        self.scope = Scope.new(AskerInTurn(editor, self._emitter), project, partial(Briefing.of, project.now))
        self._told: Instructions | None = None
        """The project's, as its users know them."""
        self.listed: tuple[Offered, ...] | None = None
        """Tools of MCP servers that the conversation lists, from its first turn on: others would change what is cached.
        They are found and called by other tools."""
        self.surroundings = ""
        """What the model is told of where it works, unless the conversation has it."""

    @property
    def is_idle(self) -> bool:
        """Nothing would be lost if it were closed: no turn, no message, and no command in the background."""
        return self.turns.is_empty and all(it.ended for it in self.scope.commands.background)

    def brief(self, now: Situation) -> None:
        """Other folders are open, or what they say counts for more or less than before."""
        self.scope = self.scope.briefed(now)
        self._told = None
        self.listed = None

    def note(self, text: str) -> None:
        self.turns.note(text)
        self._emitter()(Notice("info", f"noted: {from_message(text)}"))

    def remove_last(self) -> bool:
        """Take back the last message, and tell everybody who shows the session; whether there was one."""
        removed = self.turns.remove_last_message()
        if removed is not None:
            what = from_message(removed.text) if removed.role == "assistant" and removed.text else "the last message"
            self._emitter()(Notice("info", f"removed from what the model reads: {what}"))
        return removed is not None

    def clear(self) -> None:
        """Begin anew, in the same session."""
        self.turns.clear()
        for path, _ in tuple(self.scope.shown):
            self.scope.shown.forget(path)
        self.scope.shown.changed()
        self.brief(self._project.now)
        self._telling.begin(self._end_for_hooks("clear"))
        self._emitter()(SessionRestored(self.session.id, self.session.title, 0, "new"))

    def cancel_helper(self, agent_id: str, turn_id: str | None) -> bool:
        helpers = self._helpers_of(turn_id)
        return helpers is not None and helpers.cancel(agent_id)

    def cancel_compaction(self, turn_id: str | None) -> bool:
        running = self.turns.running
        is_meant = running is not None and turn_id in (None, running.id)
        return is_meant and self.compaction is not None and self.compaction.cancel()

    def steer_helper(self, agent_id: str, remark: Remark, turn_id: str | None) -> bool:
        helpers = self._helpers_of(turn_id)
        return helpers is not None and helpers.steer(agent_id, remark)

    async def close(self) -> None:
        """End all that it does, and let others go on with it."""
        await self.turns.close()
        if self.plan_run is not None:
            await self.plan_run.written()
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        await self._end_for_hooks("other")
        await self._telling.close()
        await self._namer.close()
        await self.scope.commands.close()
        await self.scope.gate.close()
        self.session.close()

    def _emitter(self) -> Emit:
        """Of the turn that runs."""
        running = self.turns.running
        return self._stream.emitter(running.id if running else "", self.session.id)

    def _note_shown(self, record: EventRecord) -> None:
        """After each call, and when the history became shorter: who resumes the session need not read it all again."""
        settles = isinstance(record.event, ToolFinished | Compacted | TurnFinished)
        if not settles or record.session_id != self.session.id or record.agent_id != MAIN:
            return
        for path in self.scope.shown.changed():
            self.session.note_shown(str(path), self.scope.shown.stretches(path))

    def _tell_of_question(self, record: EventRecord) -> None:
        """The hooks of the user may have to call them; nobody waits for these."""
        event = record.event
        if isinstance(event, QuestionAsked) and record.session_id == self.session.id:
            kind = "permission_prompt" if event.question.kind == "permission" else "elicitation_dialog"
            about = {"message": event.question.title, "title": "Odin", "notification_type": kind}
            self._telling.begin(self._fire("Notification", about))

    async def _end_for_hooks(self, reason: str) -> None:
        has_begun, self._has_begun = self._has_begun, False
        if has_begun:
            with suppress(TimeoutError):
                async with asyncio.timeout(END_SECONDS):
                    await self._fire("SessionEnd", {"reason": reason})

    async def _fire(self, event: HookEvent, about: Mapping[str, str]) -> None:
        hooks = await self._hooks_now(self, self._emitter())
        await hooks.fire(event, about)

    async def _recall(self) -> None:
        """What the model was shown before Odin was started, as far as it is still so."""
        await self.scope.shown.recall(self._files, {Path(name): its for name, its in self.session.shown.items() if its})
        self.scope.shown.changed()
        self._is_recalled = True

    async def _planner(self, progress: Progress, emit: Emit) -> Planner:
        if not self._is_recalled:
            await self._recall()
        await asyncio.to_thread(self._project.read_ahead)
        self._project.look()
        await self._tell_of_instructions(emit)
        for notice in self._project.settle_picks():
            emit(Notice("info", notice))
        if progress.message.errand is None and not are_known(self.session.messages):
            may_run = not self._project.now.is_restricted
            self.surroundings = await surroundings(self._files, self.scope.commands, may_run=may_run)
        self.plan_run = self._run_of_plan(progress, emit)
        planner = await self._plan_turn(self, progress, emit)
        self._has_begun = True
        self.compaction = planner.compaction
        return planner

    def _run_of_plan(self, progress: Progress, emit: Emit) -> PlanRun | None:
        """Of what is open in the session's last plan, if the turn may do it and has no steps of another one to do."""
        message = progress.message
        plan = self._plans.latest(self.session.id) if message.mode == "edit_mode" and not message.todos else None
        steps = tuple(step for step in plan.steps if step.status == "open") if plan else ()
        return PlanRun(self._plans, plan, steps, message.turn_id, emit) if plan and steps else None

    def _tick(self, record: EventRecord) -> None:
        if self.plan_run is not None:
            self.plan_run.follow(record)

    async def _tell_of_instructions(self, emit: Emit) -> None:
        """Which they are, once; and each time that they are not what they were."""
        now = await asyncio.to_thread(Instructions.load, self._project.now.roots)
        used = (await asyncio.to_thread(self.scope.read_briefing)).instructions
        if self._told is None and used.files:
            emit(Notice("info", f"instructions: {used}"))
        if now not in (used, self._told):
            emit(Notice("info", "the instructions have changed; a new session will use them"))
        self._told = now

    def _helpers_of(self, turn_id: str | None) -> Subagents | None:
        """Of that turn, or of the latest one."""
        is_meant = self.helpers is not None and turn_id in (None, self.helpers.parent.message.turn_id)
        return self.helpers if is_meant else None
