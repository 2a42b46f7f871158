"""Turns in which the planner's model is not asked: the user runs a command, or makes the conversation shorter; or an
agent of others has something done."""

import uuid
from dataclasses import replace

from odin_lsp.agent.planner import Ending, Planner
from odin_lsp.agent.quoting import quoted
from odin_lsp.agent.turn import AgentCall, Compact, RunCommand
from odin_lsp.messages import Message, Text, ToolCall, ToolResult, user
from odin_lsp.permissions.rules import COMMANDS
from odin_lsp.records import Problem

NO_COMMANDS = "Commands are disabled here, by the settings or because the workspace is not trusted."
NOT_SHORTER = "The conversation cannot be made shorter."


async def run(errand: RunCommand | Compact | AgentCall, planner: Planner) -> Ending:
    match errand:
        case RunCommand(command):
            return await _run_command(command, planner)
        case Compact(focus):
            planner.compaction.is_manual = True
            is_shorter = await planner.compact(focus)
            before, after = planner.progress.compacted
            told = f"The conversation takes {after:,} tokens now. Before, it took {before:,}."
            planner.progress.answer = told if is_shorter else NOT_SHORTER
            return Ending("end_turn")
        case AgentCall():
            return await _make_call(errand, planner)


async def _make_call(errand: AgentCall, planner: Planner) -> Ending:
    """Whoever goes on with the session learns what was changed; what was read the agent alone had to know."""
    executor, progress, call = planner.executor, planner.progress, errand.call
    results: dict[str, ToolResult] = {}
    try:
        await executor.run(Message("assistant", (call,)), results)
        told = await executor.save()
    finally:
        executor.drop_draft()
        errand.result = results.get(call.id)
        progress.diagnostics = await executor.introduced()
    errand.result = replace(results[call.id], content="\n".join(filter(None, (results[call.id].content, told))))
    if progress.review.receipts:
        about = {"kind": "agent", "agent": errand.agent, "tool": call.name}
        planner.session.append(user(quoted("context", about, errand.result.content)))
    progress.answer = progress.records[-1].description
    return Ending("end_turn")


async def _run_command(command: str, planner: Planner) -> Ending:
    result = await output_of_command(command, planner)
    if result is None:
        return Ending("failed", NO_COMMANDS, Problem(kind="request"))
    told = quoted("context", {"kind": "command", "command": command}, result.content)
    planner.session.append(Message("user", (Text(told), Text(planner.progress.message.text))))
    if result.failed:
        return Ending("failed", result.content, Problem(kind="request"))
    planner.progress.answer = result.content
    return Ending("end_turn")


async def output_of_command(command: str, planner: Planner) -> ToolResult | None:
    """As if the model had called it: hooks, rules and questions are the same. `None`: no command runs here."""
    if COMMANDS not in planner.executor.tools:
        return None
    call = ToolCall(f"user-{uuid.uuid4().hex}", COMMANDS, {"command": command})
    results: dict[str, ToolResult] = {}
    await planner.executor.run(Message("assistant", (call,)), results)
    return results[call.id]
