"""Runs the calls of one step: read-only ones side by side, and before the model has finished speaking; others in turn.

A call that was started early counts only when the stream ends well and asks for exactly it, and if it succeeds; until
then nobody hears of it. It can ask nobody and costs nothing, and a discarded one leaves no trace."""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from odin_lsp.agent.edit_checks import EditChecks
from odin_lsp.agent.hearing import Heard
from odin_lsp.agent.history import is_shortened
from odin_lsp.agent.hooks import Hooks
from odin_lsp.agent.tool_names import no_such_tool
from odin_lsp.errors import OdinError, PermissionDenied, ToolError
from odin_lsp.events import Emit, ToolFinished, ToolQueued, ToolStarted
from odin_lsp.loop_share import each_in_turn
from odin_lsp.messages import Message, ToolCall, ToolResult
from odin_lsp.permissions import sandbox
from odin_lsp.permissions.gate import Want
from odin_lsp.permissions.outside import OutsideGate
from odin_lsp.permissions.rules import Effect, forbidden
from odin_lsp.records import Diagnostic, ToolRecord, ToolStatus
from odin_lsp.review.drafts import FileReceipts, told_of
from odin_lsp.review.proposals import CHOSEN, Proposal
from odin_lsp.tools.base import Tool, ToolContext, ToolOutput, all_tools, output_of
from odin_lsp.tools.call_tool import meant
from odin_lsp.tools.editing import counted, report_receipts
from odin_lsp.workspace.shown import Shown
from odin_lsp.workspace.uris import printable

log = logging.getLogger("odin.agent")
SIDE_BY_SIDE = frozenset({Effect.NONE, Effect.READ_ONLY, Effect.NETWORK, Effect.DELEGATE})
ONE_REVIEW = frozenset({Effect.NONE, Effect.MUTATING})
"""Neighbours of these kinds are carried out in order, and their edits reviewed as one set."""
AT_ONCE = 4
BROKEN = "{} has a fault of its own and could not finish; Odin's log says more. Go on without it, or in another way"
CANCELLED = "canceled by the user"
ENDED = """<reminder>
The background command {id} has ended: {status}. CommandStatus shows what it printed. It was: {command}
</reminder>"""
MAX_COMMAND = 200
MAX_RESULT = 10_000
"""Characters of a call's result, for whoever watches."""


class _NobodyToAsk(OutsideGate):
    async def allow(self, path: Path, name: str, opened: Path | None = None) -> None:
        raise PermissionDenied(f"{path} is outside the workspace folders, and nobody is asked yet")


@dataclass(frozen=True, slots=True)
class _EarlyCall:
    task: asyncio.Task[ToolOutput]
    context: ToolContext
    """What the call has seen is kept apart here."""

    def hand_over(self, context: ToolContext) -> None:
        """The call is wanted: what it has seen was seen."""
        context.shown.adopt(self.context.shown)
        known = context.draft.names
        known.update({path: (*known.get(path, ()), *names) for path, names in self.context.draft.names.items()})


@dataclass(slots=True)
class Executor:
    tools: Mapping[str, Tool[Any]]
    hooks: Hooks
    context: ToolContext
    records: list[ToolRecord] = field(default_factory=list[ToolRecord])
    """The turn's; each call is added when it has ended."""
    is_suspended: Callable[[], bool] = lambda: False
    """Odin ends, and the turn goes on another time: a call that waits for a review has not ended."""
    checks: EditChecks | None = None
    """What edits do to the problems of the workspace; none: nobody looks."""
    unlisted: Callable[[str], Tool[Any] | None] = lambda _: None
    """Tools that the model has to find before it can call them."""
    known: Mapping[str, Tool[Any]] = field(default_factory=all_tools)
    """In any mode."""
    stopped: bool = False
    """A hook wants the turn to end."""
    _late: str = ""
    """What is known only now of what earlier edits did."""
    _early: dict[str, _EarlyCall] = field(default_factory=dict[str, _EarlyCall])
    _may_start_early: bool = True
    """All calls of the step so far could."""
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    def start_early(self, call: ToolCall) -> None:
        """Begin a call while the model still speaks, if that cannot be noticed. Behind one that has to wait, all wait:
        they were meant to see what it does."""
        if (tool := self._tool(call)) is not None and tool.runs_commands:
            self.context.commands.prepare()
        self._may_start_early = self._may_start_early and self._only_reads(call)
        if self._may_start_early:
            context = replace(
                self.context,
                call_id=call.id,
                shown=Shown(self.context.shown),
                draft=replace(self.context.draft, names={}),
                outside=_NobodyToAsk(self.context.editor),
                small=None,
            )
            task = asyncio.create_task(self._use(self.tools[call.name], call.arguments, context))
            self._early[_key(call)] = _EarlyCall(task, context)

    def _only_reads(self, call: ToolCall) -> bool:
        """Without a question to anybody, as far as that is known before."""
        tool = self._tool(call)
        if tool is None or call.problem or self.hooks or tool.effect is not Effect.READ_ONLY:
            return False
        try:
            return tool.wants(tool.parse(call.arguments), self.context) is None
        except ToolError:
            return False

    async def discard(self) -> None:
        """Forget what was begun early."""
        early, self._early, self._may_start_early = [it.task for it in self._early.values()], {}, True
        for task in early:
            task.cancel()
        await asyncio.gather(*early, return_exceptions=True)

    async def run(self, message: Message, results: dict[str, ToolResult]) -> None:
        """Carry out the calls; `results` is filled as they end, and when this is cancelled, with what is known then."""
        calls = [meant(it) for it in message.calls if it.id not in results]
        self.context.draft.reason = message.text.strip().partition("\n")[0]
        queued = calls if len(calls) > 1 else ()
        try:
            await each_in_turn(queued, lambda it: self.context.emit(ToolQueued(it.id, it.name, self._about(it))))
            if any(tool.runs_commands for tool in map(self._tool, calls) if tool):
                await asyncio.to_thread(sandbox.mechanisms)  # to judge them asks for it: then it is known
            await self._ask_together(calls)
            for group in self._groups(calls):
                if any(self._effect(call) is Effect.MUTATING for call in group):
                    await self._edit_together(group, results)
                    continue
                async with asyncio.TaskGroup() as tasks:
                    await each_in_turn(group, lambda it: tasks.create_task(self._run_one(it, results)))
            await self._check(calls, results)
        finally:
            self.context.gate.forget_step()
            for call in calls:
                results.setdefault(call.id, ToolResult(call.id, call.name, CANCELLED, failed=True))
            for call in message.calls:
                results[call.id] = replace(results[call.id], name=call.name)
            await self.discard()

    async def _ask_together(self, calls: Sequence[ToolCall]) -> None:
        """Several questions of one step are one. What a hook may still change is not asked about before."""
        if self.hooks or len(calls) < 2:
            return
        wants = [want for call in calls if (want := await self._wanted(call))]
        if len(wants) > 1:
            await self.context.gate.ask_together(wants)

    async def _wanted(self, call: ToolCall) -> Want | None:
        await asyncio.sleep(0)  # a reply may have hundreds
        tool = self._tool(call)
        try:
            return await tool.wanted(tool.parse(call.arguments), self.context) if tool and not call.problem else None
        except ToolError:
            return None  # its turn will come, and it will be refused then

    async def _edit_together(self, calls: Sequence[ToolCall], results: dict[str, ToolResult]) -> None:
        """Each call proposes on what those before it proposed; then all of it is reviewed."""
        draft = self.context.draft
        try:
            async with asyncio.TaskGroup() as tasks:
                for call in calls:
                    await draft.gathered(tasks.create_task(self._run_one(call, results)))
                if not draft.waits_for_end:
                    await draft.review()
        except asyncio.CancelledError:
            for call in calls:
                if decided := draft.so_far(call.id):
                    told = f"{CANCELLED}\n{report_receipts(decided, self.context.files.shown)}"
                    results[call.id] = ToolResult(call.id, call.name, told, failed=True)
            raise

    async def _check(self, calls: Sequence[ToolCall], results: dict[str, ToolResult]) -> None:
        """What the step's edits did to the problems of the workspace, at the end of the last of their receipts: only
        the model waits for it."""
        told = await self.checks.after() if self.checks else ""
        edits = [call for call in calls if self._effect(call) is Effect.MUTATING]
        if told and edits:
            last = results[edits[-1].id]
            results[last.call_id] = replace(last, content=f"{last.content}\n{told}")
        elif told:
            self._late = f"<reminder>\n{told}\n</reminder>"

    async def review(self) -> tuple[bool, str]:
        """Have the user decide on what the turn has proposed and not shown yet: whether all was accepted as it is, and
        what the model should know of it."""
        decided = await self.context.draft.review()
        as_wanted = all(it.state == "accepted" for told in decided for it in told.receipts)
        found = await self.checks.after() if self.checks else ""
        return as_wanted, "\n".join(filter(None, (self.report(decided), found)))

    async def left_broken(self) -> str:
        """What the model is told before the turn ends with errors that it has introduced."""
        return await self.checks.left() if self.checks else ""

    async def introduced(self) -> tuple[Diagnostic, ...]:
        """What the turn leaves that was not wrong before."""
        return await self.checks.introduced() if self.checks else ()

    def decided(self, calls: Iterable[ToolCall], proposals: Sequence[Proposal]) -> dict[str, ToolResult]:
        """What became of the edits of these calls, by call, in reviews that are over."""
        found: dict[str, ToolResult] = {}
        for call in calls:
            told = [it for proposal in proposals for it in told_of(proposal, call.id)]
            if told:
                made = any(it.state in CHOSEN for file in told for it in file.receipts)
                found[call.id] = ToolResult(call.id, call.name, self.report(told), failed=not made)
                files = tuple(printable(str(it.file.new_path or it.file.path)) for it in told)
                added, removed = counted(told)
                names = (self.context.files.shown(it.file.new_path or it.file.path) for it in told)
                about = f"{', '.join(names)}, decided later"
                created = any(it.file.operation == "create" for it in told)
                output = ToolOutput(
                    data="", description=about, files=files, added=added, removed=removed, created=created
                )
                self._tell_of_end(call, "success" if made else "error", output, "", time.monotonic())
        return found

    def report(self, told: Sequence[FileReceipts]) -> str:
        return report_receipts(told, self.context.files.shown) if told else ""

    async def save(self) -> str:
        """Have the editor save what the turn has changed; what the model should know of it."""
        return await self.context.saver.save(at_end=True)

    def learned_meanwhile(self) -> list[str]:
        """Commands in the background whose end the model does not know of, and what is known late of its edits."""
        late, self._late = self._late, ""
        ended = [it for it in self.context.commands.background if it.ended is not None and not it.end_is_known]
        for it in ended:
            it.end_is_known = True
        told = (ENDED.format(id=it.id, command=it.command[:MAX_COMMAND], status=it.status) for it in ended)
        return [*told, *filter(None, [late])]

    def forget_unseen(self, messages: Sequence[Message]) -> None:
        """What was shown and is no longer in the conversation has to be read again before it is edited."""
        known = {it.call_id for message in messages for it in message.results if not is_shortened(it)}
        calls = (call for message in messages for call in message.calls if call.id in known)
        named = {str(value) for call in calls for value in call.arguments.values()}
        for path, _ in self.context.shown:
            if named.isdisjoint((str(path), self.context.files.shown(path))):
                self.context.shown.forget(path)
        self.context.shown.forget_told()

    async def close(self) -> None:
        """End what goes on in the background, and what was allowed."""
        await self.context.commands.close()
        await self.context.gate.close()

    def drop_draft(self) -> None:
        """The turn has ended: what nobody has reviewed is not made."""
        self.context.draft.drop()

    def _groups(self, calls: Sequence[ToolCall]) -> list[list[ToolCall]]:
        """Neighbours that may run side by side, or be reviewed together, are a group; everything else stands alone."""
        groups: list[list[ToolCall]] = []
        for call in calls:
            effects = {self._effect(it) for it in (*groups[-1], call)} if groups else set[Effect]()
            if groups and (effects <= SIDE_BY_SIDE or effects <= ONE_REVIEW):
                groups[-1].append(call)
            else:
                groups.append([call])
        return groups

    def is_malformed(self, call: ToolCall) -> bool:
        """It could not be read, or has nothing of what its tool needs."""
        tool = self._tool(call)
        return bool(call.problem or (tool and tool.schema.get("required") and not call.arguments))

    def _tool(self, call: ToolCall) -> Tool[Any] | None:
        return self.tools.get(call.name) or self.unlisted(call.name)

    def _effect(self, call: ToolCall) -> Effect:
        tool = self._tool(call)
        return tool.effect if tool else Effect.NONE

    async def _run_one(self, call: ToolCall, results: dict[str, ToolResult]) -> None:
        began = time.monotonic()
        status: ToolStatus = "cancelled"
        output = ToolOutput(data=CANCELLED, description=CANCELLED)
        heard = Heard(self.context.emit)
        self.context.emit(ToolStarted(call.id, call.name, call.arguments, self._about(call)))
        try:
            output = await self._check_and_use(call, heard)
            status = "success"
        except ToolError as error:
            status = "error"
            output = output_of(error)
            await self._after("PostToolUseFailure", call, output)
        except OdinError:
            raise
        except Exception:  # a bug in one tool is one call that has failed, not the end of the turn
            log.exception("the tool %s failed", call.name)
            status, output = "error", output_of(ToolError(BROKEN.format(call.name)))
            await self._after("PostToolUseFailure", call, output)
        finally:
            failed = status != "success"
            results[call.id] = ToolResult(call.id, call.name, output.data, failed=failed, attached=output.attached)
            if status != "cancelled" or not self.is_suspended():
                self._tell_of_end(call, status, output, heard.output, began)
            heard.end()

    def _tell_of_end(self, call: ToolCall, status: ToolStatus, output: ToolOutput, told: str, began: float) -> None:
        self.records.append(
            ToolRecord(
                name=call.name,
                description=_line(output.description),
                affected_files=output.files,
                status=status,
                added=output.added,
                removed=output.removed,
                created=output.created,
                ran=output.ran,
            )
        )
        self.context.emit(
            ToolFinished(
                call_id=call.id,
                name=call.name,
                status=status,
                description=_line(output.description),
                files=output.files,
                added=output.added,
                removed=output.removed,
                created=output.created,
                diff=output.diff,
                output=told,
                duration_ms=round((time.monotonic() - began) * 1000),
                ran=output.ran,
                result=output.data[:MAX_RESULT],
                audit=output.audit,
            )
        )

    def _about(self, call: ToolCall) -> str:
        tool = self._tool(call)
        try:
            return _line(tool.describe(tool.parse(call.arguments))) if tool else call.name
        except ToolError:
            return call.name

    async def _check_and_use(self, call: ToolCall, emit: Emit) -> ToolOutput:
        """Known? In this mode? Understood? Any objection? Allowed? Then run it."""
        tool = self._tool(call)
        if tool is None:
            raise ToolError(no_such_tool(call.name, self.tools, self.known, self.context))
        if why := forbidden(tool.name, tool.effect, self.context.mode):
            raise PermissionDenied(why)
        if call.problem:
            raise ToolError(f"{call.problem}; call {call.name} again")
        if (early := self._early.pop(_key(call), None)) is not None:
            with suppress(ToolError):  # it may do better now, with somebody to ask
                output = await early.task
                early.hand_over(self.context)
                return output
        before = await self.hooks.fire("PreToolUse", _seen(call))
        self.stopped = self.stopped or not before.go_on
        if not before.allow:
            raise PermissionDenied(before.message or f"a hook did not allow {call.name}")
        arguments = before.arguments if before.arguments is not None else call.arguments
        output = await self._use(tool, arguments, replace(self.context, call_id=call.id, emit=emit))
        note = "\n".join(filter(None, (before.system_message, await self._after("PostToolUse", call, output))))
        audit = output.audit if before.arguments is None or output.audit == "edited" else "hook"
        return replace(output, data=f"{output.data}\n{note}" if note else output.data, audit=audit)

    async def _use(self, tool: Tool[Any], arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        waits_for_others = tool.effect in (Effect.MUTATING, Effect.DELEGATE)  # together with its neighbours
        async with nullcontext() if waits_for_others else self._slots:
            return await tool.run(tool.parse(arguments), context)

    async def _after(self, event: Any, call: ToolCall, output: ToolOutput) -> str:
        decision = await self.hooks.fire(event, {**_seen(call), "result": output.data})
        self.stopped = self.stopped or not decision.go_on
        return decision.system_message


def _line(description: str) -> str:
    return " ".join(description.split())


def _key(call: ToolCall) -> str:
    return f"{call.id} {call.name} {json.dumps(call.arguments, sort_keys=True)}"


def _seen(call: ToolCall) -> dict[str, Any]:
    return {"callId": call.id, "tool": call.name, "arguments": call.arguments}
