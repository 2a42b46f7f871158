"""The loop's fourteen cases, by the names they were asked for."""

import asyncio

from odin_lsp.agent.hooks import HookDecision, Hooks
from odin_lsp.events import (
    MessageFinished,
    TextStreamed,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    UsageChanged,
)


async def test_SimpleTextResponse(odin):
    odin.script({"text": "Hello."})

    outcome = await odin.take("hi")

    assert (outcome.reason, outcome.answer, outcome.steps) == ("end_turn", "Hello.", 1)
    assert outcome.duration_ms > 0


async def test_SingleToolCall(odin, call):
    odin.script({"calls": [call("Read", file_path=str(odin.root / "greet.py"))]}, {"text": "It greets."})

    outcome = await odin.take()

    assert (outcome.answer, outcome.steps) == ("It greets.", 2)
    roles = [message.role for message in odin.session.messages]
    assert roles == ["user", "assistant", "user", "assistant"]
    assert "def greet(name)" in odin.session.messages[2].results[0].content
    assert [tool.name for tool in outcome.tools] == ["Read"]


async def test_MultipleToolCalls(odin, call):
    odin.script(
        {
            "calls": [
                call("Read", file_path=str(odin.root / "greet.py")),
                call("Glob", pattern="*"),
                call("LS", path=str(odin.root)),
            ]
        },
        {"text": "Done."},
    )

    await odin.take()

    message = odin.session.messages[2]
    assert [result.call_id for result in message.results] == ["call_1", "call_2", "call_3"]
    assert not any(result.failed for result in message.results)


async def test_ToolError(odin, call):
    odin.script({"calls": [call("Read", file_path=str(odin.root / "none.py"))]}, {"text": "It is not there."})

    outcome = await odin.take()

    assert outcome.reason == "end_turn"
    assert odin.of(ToolFinished)[0].status == "error"
    assert "does not exist" in odin.session.messages[2].results[0].content


async def test_MaxTurns(odin, call):
    odin.settings["limits"] = {"maxTurns": 2}
    odin.script(
        {"calls": [call("Glob", pattern="*.py")]},
        {"calls": [call("Glob", pattern="*.md")]},
        {"text": "Found greet.py so far."},
    )

    outcome = await odin.take()

    assert (outcome.reason, outcome.answer) == ("max_turns", "Found greet.py so far.")
    assert "limit of steps is reached (2)" in outcome.detail


async def test_MaxBudget(odin, call):
    odin.settings |= {"limits": {"maxBudgetUsd": 0.001}, "model": "anthropic/claude-opus-5-5"}
    core = odin.start()
    core.models.get = lambda ref: Costly(call)  # the scripted model is free of charge

    outcome = await odin.take()

    assert outcome.reason == "max_budget"
    assert outcome.usage.cost_usd >= 0.001
    assert outcome.answer == "Enough."


async def test_Interrupt(odin):
    odin.script({"text": "too late", "delayMs": 60_000}, {"text": "next"})
    agent = odin.turns
    turn = agent.start(odin.message("slow"))
    await started(odin)

    assert agent.cancel()
    outcome = await turn.outcome()

    assert outcome.reason == "interrupted"
    assert not agent.cancel()
    assert agent.running is None


async def test_ContextCancel(odin):
    odin.script({"text": "too late", "delayMs": 60_000})
    agent = odin.turns
    turn = agent.start(odin.message("slow"))
    await started(odin)

    await agent.close()

    assert (await turn.outcome()).reason == "aborted"


async def test_ToolPermissionDenied(odin, call):
    async def deny(event, seen):
        return HookDecision(event != "PreToolUse", message="not on Sundays")

    odin.script({"calls": [call("Glob", pattern="*")]}, {"text": "I may not."})
    odin.start(hooks=Hooks([deny]))

    outcome = await odin.take()

    result = odin.session.messages[2].results[0]
    assert (result.failed, result.content) == (True, "not on Sundays")
    assert outcome.answer == "I may not."


async def test_StreamEvents(odin):
    odin.script({"text": ["He", "llo"]})

    await odin.take()

    assert [event.text for event in odin.of(TextStreamed)] == ["He", "llo"]
    assert odin.of(MessageFinished)[0].text == "Hello"


async def test_EmptyToolUse(odin):
    odin.script({"text": "Nothing to call.", "stop": "tools"})

    outcome = await odin.take()

    assert (outcome.reason, outcome.steps) == ("end_turn", 1)


async def test_UnknownTool(odin, call):
    odin.script({"calls": [call("Teleport", to="Mars")]}, {"text": "No such thing."})

    outcome = await odin.take()

    assert outcome.reason == "end_turn"
    assert "there is no tool 'Teleport'" in odin.session.messages[2].results[0].content


async def test_MessageOrdering(odin, call):
    odin.script({"text": "Looking.", "calls": [call("Glob", pattern="*")]}, {"text": "Done."})

    await odin.take()

    assert odin.kinds("activityChanged") == [
        "turnStarted",
        "requestStarted",
        "textStreamed",
        "messageFinished",
        "usageChanged",
        "toolStarted",
        "toolFinished",
        "requestStarted",
        "textStreamed",
        "messageFinished",
        "usageChanged",
        "turnFinished",
    ]
    assert isinstance(odin.events[0], TurnStarted)
    assert odin.events[0].text
    assert odin.of(ToolStarted)[0].call_id == odin.of(ToolFinished)[0].call_id
    assert isinstance(odin.events[-2], TurnFinished)
    assert odin.events[-1].activity == "idle"


async def test_CostTracking(odin, call):
    odin.script(
        {"calls": [call("Glob", pattern="*")], "usage": {"inputTokens": 100, "outputTokens": 20, "cacheReadTokens": 7}},
        {"text": "Done.", "usage": {"inputTokens": 50, "outputTokens": 5, "cacheWriteTokens": 3}},
    )

    outcome = await odin.take()

    usage = outcome.usage
    assert (usage.input_tokens, usage.output_tokens) == (150, 25)
    assert (usage.cache_read_tokens, usage.cache_write_tokens) == (7, 3)
    assert [event.usage.input_tokens for event in odin.of(UsageChanged)] == [100, 150]


async def started(odin) -> None:
    async with asyncio.timeout(10):
        while not odin.of(TurnStarted):
            await asyncio.sleep(0)


class Costly:
    """A model that costs money and always wants to go on."""

    ref = "anthropic/claude-opus-5-5"

    def __init__(self, call) -> None:
        self._replies = 0

    async def stream(self, request):
        from odin_lsp.messages import Message, Text, ToolCall
        from odin_lsp.models.base import Reply
        from odin_lsp.records import Usage

        self._replies += 1
        usage = Usage(input_tokens=1000, cost_usd=0.004)
        if request.may_call:
            part = ToolCall(f"call_{self._replies}", "Glob", {"pattern": "*"})
            yield Reply(Message("assistant", (part,)), "tools", usage)
        else:
            yield Reply(Message("assistant", (Text("Enough."),)), "end", usage)
