"""What the model is told of its subagents, also if Odin was ended before it could be told."""

from collections.abc import Iterator, Sequence

from odin_lsp.messages import Message, ToolCall, ToolResult, user
from odin_lsp.records import SubagentRecord

STARTED = "The subagent {} has started."
STARTED_EARLIER = "The helper {} has started."
"""How sessions of earlier versions have it."""
ENDED = "The subagent {} has {}."


def handed_over(messages: Sequence[Message], helpers: Sequence[SubagentRecord]) -> Iterator[Message]:
    """What helpers of a turn that was cut off had found: the results of calls that waited for it, and a word about
    those that nobody waited for and that have not reported."""
    waiting = {call.id: call for message in messages[-1:] for call in message.calls}
    results = [_result(waiting[it.call_id], it) for it in helpers if it.call_id in waiting and it.status != "running"]
    if results:
        yield Message("user", tuple(results))
    answered = {result.call_id: result.content for message in messages for result in message.results}
    alone = [
        it
        for it in helpers
        if answered.get(it.call_id, "").startswith((STARTED.format(it.agent_id), STARTED_EARLIER.format(it.agent_id)))
    ]
    said = "\n".join(message.text for message in messages) if alone else ""
    untold = [_told(it) for it in alone if ENDED.format(it.agent_id, it.status) not in said]
    if untold:
        yield user("\n".join(["<reminder>", "\n\n".join(untold), "</reminder>"]))


def _result(call: ToolCall, helper: SubagentRecord) -> ToolResult:
    return ToolResult(call.id, call.name, _told(helper), failed=helper.status != "completed")


def _told(helper: SubagentRecord) -> str:
    if helper.status == "running":
        return f"The subagent {helper.agent_id} was ended with Odin, before it could report."
    return f"The subagent {helper.agent_id} had {helper.status} before Odin was ended.\n\n{helper.summary}".strip()
