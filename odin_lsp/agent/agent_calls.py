"""Calls of agents of others: each is a turn, with the rules, the review and the notes for undo of any other."""

import asyncio
import re
import uuid
from collections.abc import Mapping
from typing import Any

from odin_lsp.agent.live_session import LiveSession
from odin_lsp.agent.turn import AgentCall, UserMessage
from odin_lsp.errors import RequestError
from odin_lsp.messages import ToolCall, ToolResult

READING = ("Read", "Grep", "Glob", "LS", "Lookup")
EDITING = ("EditTool", "MultiEditTool", "WriteFile", "MoveFile", "DeleteFile", "ReplaceInFiles", "Refactor")
NOT_MADE = "Odin could not make the call"
ENDED = "Odin has ended. What the user has not decided on still waits for them. Read the file before you go on."
ANY_AGENT = "agent"
MAX_NAME = 60
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")


def name_of(agent: str) -> str:
    """As people read it beside what the agent proposes."""
    return _NO_NAME.sub("-", agent)[:MAX_NAME].strip("-") or ANY_AGENT


def message_of(agent: str, tool: str, arguments: Mapping[str, Any], turn_id: str | None = None) -> UserMessage:
    if tool not in (*READING, *EDITING):
        raise RequestError(f"there is no such tool; there are {', '.join((*READING, *EDITING))}")
    return UserMessage(
        turn_id=turn_id or uuid.uuid4().hex,
        text=f"{agent}: {tool}",
        mode="ask_mode" if tool in READING else "edit_mode",
        errand=AgentCall(agent, ToolCall(uuid.uuid4().hex, tool, dict(arguments))),
    )


async def result_of(live: LiveSession, message: UserMessage) -> ToolResult:
    """What the agent is told. If it gives up the call, what waits for a review is not wanted any more."""
    errand = message.errand
    if not isinstance(errand, AgentCall):
        raise TypeError(errand)
    turn = live.turns.start(message)
    try:
        outcome = await turn.outcome()
    except asyncio.CancelledError:
        live.turns.cancel(turn.id, drop=True, then_next=True)
        await turn.outcome()
        raise
    if errand.result is not None and outcome.reason != "aborted":
        return errand.result
    why = ENDED if outcome.reason == "aborted" else outcome.detail or NOT_MADE
    return ToolResult(errand.call.id, errand.call.name, why, failed=True)
