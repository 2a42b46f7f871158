"""An edit of another agent, asked about by that agent's hook: reviewed, made by Odin, and answered.

Odin makes what was accepted itself, so that it lands in the text on the screen and can be undone, and the agent's own
tool is always told no, with what became of the edit."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from odin_lsp.agent_door.calls import AgentCalls, agent_calls
from odin_lsp.errors import OdinError, RequestError, ToolError
from odin_lsp.hook_door.edits import Call, calls_of
from odin_lsp.messages import ToolResult
from odin_lsp.values import is_object
from odin_lsp.workspace import disk

NAMES = {"claude": "claude-code", "codex": "codex", "gemini": "gemini-cli", "opencode": "opencode"}
"""As the agents call themselves."""
MADE = "Odin has made this edit as the user reviewed it. Do not make it again."
PARTLY = "Odin has made a part of this edit. Do not make that part again."
NOT_MADE = "Nothing was changed."
LATE = "nobody has reviewed it in time; ask the user, and then make the edit again"
_GO_ON = re.compile(r"go on with offset (\d+)\)$")


class Refused(OdinError):
    """The edit must not be made; the text says why, to the agent."""


async def answer(agent: str, said: bytes, patience: float) -> str:
    """In the format of the agent's hooks. Raises `Refused`."""
    tool, given, folder, conversation = _understood(said)
    try:
        async with (
            asyncio.timeout(patience),
            agent_calls(folder, agent=NAMES[agent], conversation=conversation) as odin,
        ):
            calls = await calls_of(tool, given, folder, partial(_text_on_disk, odin))
            results = [await _made(odin, call) for call in calls]
    except ToolError as error:  # of what it would be: nobody was asked yet
        raise Refused(f"{NOT_MADE} {error}") from None
    except TimeoutError:
        raise Refused(LATE) from None
    return _written(agent, _told(results))


def _understood(said: bytes) -> tuple[str, Mapping[str, Any], Path, str]:
    try:
        event = json.loads(said)
    except (ValueError, RecursionError):
        raise Refused("what the hook was given is no JSON") from None
    match event:
        case {"tool_name": str(tool), "tool_input": given} if is_object(given):
            folder = Path(cwd) if isinstance(cwd := event.get("cwd"), str) and Path(cwd).is_dir() else Path.cwd()
            return tool, given, folder, str(event.get("session_id") or "")
        case _:
            raise Refused("what the hook was given names no tool (`tool_name`, `tool_input`)")


async def _text_on_disk(odin: AgentCalls, path: Path) -> str:
    """Odin reads it first: only that knows the rules, and what is hidden."""
    read = await odin.call("Read", {"file_path": str(path), "limit": 1})
    if read.failed:
        raise ToolError(read.content)
    return disk.read_text(path.resolve()).text


async def _made(odin: AgentCalls, call: Call) -> ToolResult:
    """The agent has read the file its own way."""
    offset: int | None = 1 if call.needs_reading else None
    try:
        while offset is not None:
            read = await odin.call("Read", {"file_path": call.arguments["file_path"], "offset": offset})
            if read.failed:
                return read
            found = _GO_ON.search(read.content)
            offset = int(found[1]) if found else None
        return await odin.call(call.tool, call.arguments)
    except RequestError as error:
        return ToolResult("", call.tool, str(error), failed=True)


def _told(results: Sequence[ToolResult]) -> str:
    failed = sum(it.failed for it in results)
    head = MADE if not failed else NOT_MADE if failed == len(results) else PARTLY
    return "\n".join([head, *(it.content for it in results)])


def _written(agent: str, reason: str) -> str:
    match agent:
        case "opencode":
            return reason
        case "gemini":
            return json.dumps({"decision": "deny", "reason": reason})
        case _:
            decision = {"permissionDecision": "deny", "permissionDecisionReason": reason}
            return json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}})
