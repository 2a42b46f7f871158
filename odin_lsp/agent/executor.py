"""Runs the calls of one step: read-only ones side by side, and before the model has finished speaking; others in turn.

A call that was started early counts only when the stream ends well and asks for exactly it; until then nobody hears of
it, and a discarded one leaves no trace."""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from odin_lsp.agent.hooks import Hooks
from odin_lsp.errors import PermissionDenied, ToolError
from odin_lsp.events import ToolFinished, ToolRecord, ToolStarted, ToolStatus
from odin_lsp.messages import ToolCall, ToolResult
from odin_lsp.permissions.gate import Gate
from odin_lsp.permissions.rules import Effect, decide
from odin_lsp.tools.base import Tool, ToolContext, ToolOutput

SIDE_BY_SIDE = frozenset({Effect.NONE, Effect.READ_ONLY, Effect.NETWORK})
AT_ONCE = 4
CANCELLED = "cancelled by the user"


@dataclass(slots=True)
class Executor:
    tools: Mapping[str, Tool[Any]]
    gate: Gate
    hooks: Hooks
    context: ToolContext
    records: list[ToolRecord] = field(default_factory=list[ToolRecord])
    stopped: bool = False
    """A hook wants the turn to end."""
    _early: dict[str, asyncio.Task[ToolOutput]] = field(default_factory=dict[str, "asyncio.Task[ToolOutput]"])
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    def start_early(self, call: ToolCall) -> None:
        """Begin a call while the model still speaks, if it cannot be noticed."""
        tool = self.tools.get(call.name)
        if tool is None or call.problem or self.hooks or tool.effect is not Effect.READ_ONLY:
            return
        if decide(tool.name, tool.effect, self.context.mode).decision == "allow":
            self._early[_key(call)] = asyncio.create_task(self._use(tool, call.arguments, call.id))

    async def discard(self) -> None:
        """Forget what was begun early."""
        early, self._early = list(self._early.values()), {}
        for task in early:
            task.cancel()
        await asyncio.gather(*early, return_exceptions=True)

    async def run(self, calls: Sequence[ToolCall], results: dict[str, ToolResult]) -> None:
        """Carry out `calls`; `results` is filled as they end, and when this is cancelled, with what is known then."""
        try:
            for group in self._groups(calls):
                async with asyncio.TaskGroup() as tasks:
                    for call in group:
                        tasks.create_task(self._one(call, results))
        finally:
            await self.discard()
            for call in calls:
                results.setdefault(call.id, ToolResult(call.id, call.name, CANCELLED, failed=True))

    def _groups(self, calls: Sequence[ToolCall]) -> list[list[ToolCall]]:
        """Neighbours that may run side by side belong together; everything else stands alone."""
        groups: list[list[ToolCall]] = []
        together = False
        for call in calls:
            tool = self.tools.get(call.name)
            side_by_side = tool is None or tool.effect in SIDE_BY_SIDE
            if groups and together and side_by_side:
                groups[-1].append(call)
            else:
                groups.append([call])
            together = side_by_side
        return groups

    async def _one(self, call: ToolCall, results: dict[str, ToolResult]) -> None:
        began = time.monotonic()
        status: ToolStatus = "cancelled"
        output = ToolOutput(data=CANCELLED, description=CANCELLED)
        self.context.emit(ToolStarted(call.id, call.name, call.arguments, self._about(call)))
        try:
            output = await self._checked(call)
            status = "success"
        except ToolError as error:
            status = "error"
            output = ToolOutput(data=str(error), description=str(error).partition("\n")[0])
            await self._after("PostToolUseFailure", call, output)
        finally:
            results[call.id] = ToolResult(call.id, call.name, output.data, failed=status != "success")
            self.records.append(ToolRecord(call.name, output.description, output.files, status))
            self.context.emit(
                ToolFinished(
                    call_id=call.id,
                    name=call.name,
                    status=status,
                    description=output.description,
                    files=output.files,
                    added=output.added,
                    removed=output.removed,
                    diff=output.diff,
                    duration_ms=round((time.monotonic() - began) * 1000),
                )
            )

    def _about(self, call: ToolCall) -> str:
        tool = self.tools.get(call.name)
        try:
            return tool.describe(tool.parse(call.arguments)) if tool else call.name
        except ToolError:
            return call.name

    async def _checked(self, call: ToolCall) -> ToolOutput:
        """Known? Understood? Any objection? Allowed? Then run it."""
        tool = self.tools.get(call.name)
        if tool is None:
            raise ToolError(f"there is no tool {call.name!r} here; there are {', '.join(self.tools)}")
        if call.problem:
            raise ToolError(f"{call.problem}; call {call.name} again")
        early = self._early.pop(_key(call), None)
        if early is not None:
            return await early
        before = await self.hooks.fire("PreToolUse", _seen(call))
        self.stopped = self.stopped or not before.go_on
        if not before.allow:
            raise PermissionDenied(before.message or f"a hook did not allow {call.name}")
        arguments = before.arguments if before.arguments is not None else call.arguments
        tool.parse(arguments)
        arguments = await self.gate.allow(tool.name, tool.effect, arguments, self.context.mode)
        output = await self._use(tool, arguments, call.id)
        note = "\n".join(filter(None, (before.system_message, await self._after("PostToolUse", call, output))))
        return replace(output, data=f"{output.data}\n{note}") if note else output

    async def _use(self, tool: Tool[Any], arguments: Mapping[str, Any], call_id: str) -> ToolOutput:
        async with self._slots:
            return await tool.run(tool.parse(arguments), replace(self.context, call_id=call_id))

    async def _after(self, event: Any, call: ToolCall, output: ToolOutput) -> str:
        decision = await self.hooks.fire(event, {**_seen(call), "result": output.data})
        self.stopped = self.stopped or not decision.go_on
        return decision.system_message


def _key(call: ToolCall) -> str:
    return f"{call.id} {call.name} {json.dumps(call.arguments, sort_keys=True)}"


def _seen(call: ToolCall) -> dict[str, Any]:
    return {"callId": call.id, "tool": call.name, "arguments": call.arguments}
