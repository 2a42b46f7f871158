"""Helpers of a turn: each a planner with a conversation of its own, on the turn's account, with no more than its
rights."""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Protocol

from odin_lsp.agent.planner import Ending, Planner
from odin_lsp.agent.turn import Progress, Remark
from odin_lsp.config import SubagentSettings
from odin_lsp.errors import OdinError, ToolError
from odin_lsp.events import Emit, SubagentFinished, SubagentStarted, UsageChanged
from odin_lsp.messages import Message, ToolResult, user
from odin_lsp.records import CommandRun, SubagentRecord, Todo, ToolRecord
from odin_lsp.review.turn_review import TurnReview
from odin_lsp.sessions.history import History
from odin_lsp.tools.agent_tool import report
from odin_lsp.tools.base import AgentTask, Completion, CompletionStatus

MAX_SUMMARY = 20_000
"""Characters of what a helper has said that are kept in the session."""
MAX_PRINTED = 500
"""Characters of the end of what each of its commands printed."""


@dataclass(slots=True)
class HelperConversation:
    """A history that ends with its helper."""

    history: History = field(default_factory=History)
    todos: list[Todo] = field(default_factory=list[Todo])
    findings: list[str] = field(default_factory=list[str])

    def append(self, message: Message) -> None:
        self.history.append(message)

    def replace(self, messages: list[Message]) -> None:
        self.history.replace(messages)

    def note_finding(self, text: str) -> None:
        self.findings.append(text)

    def note_results(self, results: Iterable[ToolResult]) -> None:
        """A helper does not outlive Odin."""


class MakePlanner(Protocol):
    def __call__(
        self, task: AgentTask, conversation: HelperConversation, progress: Progress, emit: Emit
    ) -> Planner: ...


class HelperLog(Protocol):
    """What a session keeps of its helpers."""

    def new_agent_id(self, kind: str) -> str: ...

    def note_subagent(self, record: SubagentRecord) -> None: ...


@dataclass(slots=True)
class Helper:
    id: str
    task: AgentTask
    progress: Progress
    conversation: HelperConversation = field(default_factory=HelperConversation)
    model: str = ""
    started_at: float = 0.0
    running: "asyncio.Task[Ending] | None" = None

    @property
    def record(self) -> SubagentRecord:
        return SubagentRecord(
            agent_id=self.id,
            turn_id=self.progress.message.turn_id,
            call_id=self.task.call_id,
            description=self.task.description,
            prompt=self.task.prompt[:MAX_SUMMARY],
            agent=self.task.agent,
            mode=self.task.mode,
            model=self.model,
            write_scope=tuple(map(str, self.task.write_scope)),
            status="running",
            todos=tuple(self.conversation.todos),
            steps=self.progress.steps,
            usage=self.progress.usage,
            started_at=self.started_at,
        )


@dataclass(slots=True)
class Subagents:
    """One turn's."""

    log: HelperLog
    parent: Progress
    emit: Emit
    emitter: Callable[[str], Emit]
    """The way of a helper's events, by its id."""
    make_planner: MakePlanner
    settings: SubagentSettings
    helpers: dict[str, Helper] = field(default_factory=dict[str, Helper])
    """Those at work."""
    _started: int = 0
    _background: "dict[str, asyncio.Task[Completion]]" = field(default_factory=dict[str, "asyncio.Task[Completion]"])
    """Those whose reports the turn has not had, by id."""
    _slots: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self._slots = asyncio.Semaphore(self.settings.at_once)

    async def run(self, task: AgentTask) -> Completion:
        """Have it done. Cancelling this ends the helper."""
        return await self._work(self._new(task))

    def begin(self, task: AgentTask) -> str:
        """Have it done while the turn goes on; the helper's id."""
        helper = self._new(task)
        self._background[helper.id] = asyncio.create_task(self._work_alone(helper), name=f"background {helper.id}")
        return helper.id

    async def reports(self, *, of_all: bool) -> list[str]:
        """Of helpers that nobody has waited for; `of_all`: wait now."""
        if of_all and self._background:
            await asyncio.wait(self._background.values())
        ended = [agent_id for agent_id, task in self._background.items() if task.done()]
        return [report(self._background.pop(agent_id).result()) for agent_id in ended]

    async def close(self) -> None:
        """The turn ends, and with it all that still works for it."""
        at_work, self._background = list(self._background.values()), {}
        for task in at_work:
            task.cancel()
        await asyncio.gather(*at_work, return_exceptions=True)

    def _new(self, task: AgentTask) -> Helper:
        if self._started >= self.settings.per_turn:
            raise ToolError(f"{self.settings.per_turn} subagents in one turn are enough; do the rest yourself")
        self._started += 1
        helper = self._helper(self.log.new_agent_id(task.agent or task.mode.removesuffix("_mode")), task)
        self.helpers[helper.id] = helper
        return helper

    async def _work_alone(self, helper: Helper) -> Completion:
        """Nobody is there who could be told by an exception."""
        try:
            return await self._work(helper)
        except OdinError as error:
            return _completion(helper, "failed", (str(error),))

    async def _work(self, helper: Helper) -> Completion:
        completion: Completion | None = None
        try:
            async with self._slots:
                completion = await self._complete(helper)
            return completion
        except asyncio.CancelledError:
            completion = _completion(helper, "cancelled", ())
            raise
        finally:
            del self.helpers[helper.id]
            self._note_end(helper, completion or _completion(helper, "failed", ()))
            self._hand_over(helper)

    def cancel(self, agent_id: str) -> bool:
        """End one helper; the turn goes on and hears of it."""
        helper = self.helpers.get(agent_id)
        return helper is not None and helper.running is not None and helper.running.cancel()

    def steer(self, agent_id: str, remark: Remark) -> bool:
        """Tell one helper something; what it does not hear any more, the turn does."""
        helper = self.helpers.get(agent_id)
        if helper is not None:
            helper.progress.unheard.append(remark)
        return helper is not None

    def _helper(self, agent_id: str, task: AgentTask) -> Helper:
        message = replace(
            self.parent.message,
            text=task.prompt,
            mode=task.mode,
            context=(),
            sent=(),
            items=(),
            attached=(),
            meaning=(),
        )
        progress = Progress(message, self.parent.session_id, self.parent)
        turn = self.parent.review
        progress.review = TurnReview(
            turn.turn_id, self.emitter(agent_id), turn.session_id, turn.decided_late, accept_rest=turn.accept_rest
        )
        return Helper(agent_id, task, progress)

    async def _complete(self, helper: Helper) -> Completion:
        conversation = helper.conversation
        planner = self.make_planner(helper.task, conversation, helper.progress, self.emitter(helper.id))
        hooks = planner.executor.hooks.of_helper(helper.id, helper.task.agent or helper.task.mode)
        planner.executor.hooks, planner.executor.context.gate.consult = hooks, hooks.consult
        helper.model, helper.started_at = planner.model.ref, time.time()
        self.log.note_subagent(helper.record)
        self.emit(SubagentStarted(helper.id, helper.task.description, helper.task.mode))
        prompt = planner.prompt
        told = await hooks.before_helper()
        opening = await prompt.opening(conversation)
        conversation.append(user(opening, prompt.about_mode, *told, helper.task.prompt))
        helper.running = asyncio.create_task(planner.run(), name=f"helper {helper.id}")
        try:
            ending = await helper.running
        except asyncio.CancelledError:
            if (task := asyncio.current_task()) is not None and task.cancelling():
                helper.progress.review.drops_rest = self.parent.review.drops_rest
                helper.running.cancel()
                await asyncio.gather(helper.running, return_exceptions=True)
                raise
            return _completion(helper, "cancelled", ("the user ended it",))
        except OdinError as error:
            return _completion(helper, "failed", (str(error),))
        finally:
            await planner.executor.close()
        limits = () if ending.reason == "end_turn" else (ending.detail or ending.reason,)
        return _completion(helper, "completed" if ending.reason == "end_turn" else "stopped", limits)

    def _hand_over(self, helper: Helper) -> None:
        """What it did is the turn's, and so is what it was told too late. It comes last: what the turn has cost by then
        has the helper in it."""
        self.parent.unheard += helper.progress.unheard
        self.parent.review.receipts += helper.progress.review.receipts
        for path, was_clean in helper.progress.review.touched.items():
            self.parent.review.touched.setdefault(path, was_clean)
        self.emit(UsageChanged(self.parent.usage))

    def _note_end(self, helper: Helper, completion: Completion) -> None:
        if not helper.started_at:
            return
        self.log.note_subagent(
            replace(
                helper.record,
                status=completion.status,
                summary=completion.summary[:MAX_SUMMARY],
                files_changed=completion.files_changed,
                verification_run=completion.verification_run,
                remaining_limitations=completion.remaining_limitations,
                known_risks=completion.known_risks,
                follow_up_recommended=completion.follow_up_recommended,
                artifacts=completion.artifacts,
                ended_at=time.time(),
            )
        )
        self.emit(SubagentFinished(helper.id, completion.status, completion.summary.partition("\n")[0][:200]))


def _completion(helper: Helper, status: CompletionStatus, limitations: Sequence[str]) -> Completion:
    """From what it did, not from what it says it did; only what it warns of and advises is in its own words."""
    progress = helper.progress
    commands = [it for it in progress.records if it.ran]
    refused = [it for it in progress.review.receipts if it.state not in ("accepted", "modified")]
    changed = tuple(str(path) for path in progress.review.touched)
    open_todos = (it.content for it in helper.conversation.todos if it.status != "completed")
    return Completion(
        helper.id,
        status,
        progress.answer,
        files_changed=changed,
        verification_run=tuple(_told(it, it.ran) for it in commands if it.ran),
        remaining_limitations=(*limitations, *open_todos),
        known_risks=(
            *(f"an edit of {it.uri} was {it.state}: {it.reason or 'no reason given'}" for it in refused),
            *(f"introduced and left: {it.uri}:{it.words}" for it in progress.diagnostics),
            *_listed_below("Risks:", progress.answer),
        ),
        follow_up_recommended=_listed_below("To do next:", progress.answer),
        artifacts=tuple(dict.fromkeys(path for it in commands for path in it.affected_files if path not in changed)),
    )


def _told(record: ToolRecord, ran: CommandRun) -> str:
    printed = ran.output[-MAX_PRINTED:].strip("\n")
    told = f"`{ran.command}`: {record.description}"
    return "\n".join([told, *(f"  {line}" for line in printed.splitlines())])


def _listed_below(heading: str, text: str) -> tuple[str, ...]:
    """The items of the list that follows this line."""
    lines = iter(text.splitlines())
    found = any(line.strip("*# ") == heading for line in lines)
    items = takewhile(lambda line: line.startswith("- "), filter(str.strip, lines)) if found else ()
    return tuple(item.removeprefix("- ").strip() for item in items)
