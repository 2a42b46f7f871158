"""PROV-16, PROV-19, PROV-20 and C-095: whole turns, with real SDKs and tools, in front of a provider that fails."""

import asyncio
import json
import logging

import pytest

from odin_lsp.agent.turn import UserMessage
from odin_lsp.config import Config
from odin_lsp.events import Compacted, ModelStatusChanged
from odin_lsp.terminal.editor import TerminalEditor
from odin_lsp.values import to_wire
from tests.support.project import core_of
from tests.support.project import take as run_turn
from tests.support.wire import DIALECTS

TOO_LONG = {
    "anthropic": "prompt is too long: 250000 tokens > 200000 maximum",
    "google": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "openai": "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
}
AT_ONCE = {"content-type": "application/json", "retry-after": "0"}


@pytest.fixture
async def start(tmp_path):
    """A core for the model, and what happens in it."""
    started = []
    root = tmp_path / "workspace"
    root.mkdir()

    def start(dialect, **settings):
        config = {"model": dialect.ref, "smallModel": dialect.ref, "titles": False, **settings}
        core = core_of(root, TerminalEditor("yes"), Config.model_validate(config))
        core.stream.subscribe(lambda record: core.seen.append(record.event))
        core.seen = []
        started.append(core)
        return core

    yield start
    for core in started:
        await core.close()


async def take(core, text="go", mode="edit_mode"):
    async with asyncio.timeout(60):
        return await run_turn(core, UserMessage(turn_id=text, text=text, mode=mode))


def calling(dialect, kit, *calls):
    """An answer that calls these tools."""
    match dialect.name:
        case "anthropic":
            blocks = [
                block
                for index, (name, arguments) in enumerate(calls)
                for block in kit.anthropic_call(index, f"toolu_{index}", name, json.dumps(arguments))
            ]
            return kit.Answer([kit.anthropic_sse(kit.anthropic_start(), *blocks, *kit.anthropic_end("tool_use"))])
        case "google":
            parts = [kit.google_call(name, arguments) for name, arguments in calls]
            return kit.Answer([kit.google_sse(kit.google_chunk(*parts, reason="STOP"))])
        case "openai/responses":
            items = [
                event
                for index, (name, arguments) in enumerate(calls)
                for event in kit.responses_call(index, f"call_{index}", name, json.dumps(arguments))
            ]
            return kit.Answer([kit.responses_sse(*items, kit.responses_end())])
        case _:
            chunks = [
                chunk
                for index, (name, arguments) in enumerate(calls)
                for chunk in kit.openai_call(index, f"call_{index}", name, json.dumps(arguments))
            ]
            return kit.Answer([kit.openai_sse(*chunks, kit.openai_chunk({}, "tool_calls"))])


def refused(dialect, kit, status, message="no"):
    return kit.Answer([dialect.error(status, message)], status, AT_ONCE, framing="length")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_prov_16_what_the_provider_refuses_is_asked_for_once(dialect, status, start, wire, kit):
    wire.play(refused(dialect, kit, status))

    outcome = await take(start(dialect))

    assert (outcome.reason, len(wire.sent)) == ("failed", 1)
    assert "(no)" in outcome.detail


@pytest.mark.parametrize("status", [400, 413])
@pytest.mark.parametrize("fits", [True, False])
async def test_prov_16_what_is_too_long_is_made_shorter_and_asked_for_once_more(
    dialect, status, fits, start, wire, kit, tmp_path
):
    (tmp_path / "workspace" / "long.txt").write_text("word\n" * 4000)
    core = start(dialect)
    wire.play(
        calling(dialect, kit, ("Read", {"file_path": str(tmp_path / "workspace" / "long.txt")})),
        *[kit.Answer([dialect.hello])] * 3,
    )
    for text in ("read it", "more", "even more"):
        assert (await take(core, text)).reason == "end_turn"
    before = len(wire.sent)
    too_long = refused(dialect, kit, status, TOO_LONG[dialect.provider])
    wire.play(too_long, kit.Answer([dialect.hello]) if fits else too_long)

    outcome = await take(core, "and now?")

    assert outcome.reason == ("end_turn" if fits else "failed")
    assert len(wire.sent) == before + 2
    longer, shorter = (len(json.dumps(it.body)) for it in wire.sent[-2:])
    assert shorter < longer / 2
    assert [it.status for it in core.seen if isinstance(it, Compacted)] == ["started", "succeeded"]


async def test_prov_19_the_attempts_of_a_turn_and_its_helpers_are_bounded_together_and_logged(
    dialect, start, wire, kit, caplog
):
    caplog.set_level(logging.WARNING, "odin.models")
    helpers, most = 6, 10

    def reply(request):
        if len(wire.sent) == 1:
            tasks = [{"description": "part", "prompt": f"a part of it, {number}"} for number in range(helpers)]
            return calling(dialect, kit, *(("AgentTool", task) for task in tasks))
        return refused(dialect, kit, 503, "busy")

    wire.reply_to = reply
    core = start(dialect, limits={"maxRetries": most}, retries={"attempts": 6})

    outcome = await take(core)

    assert outcome.reason == "failed"
    assert f"and {most} requests of this turn were made again before" in outcome.detail
    failed = len(wire.sent) - 1
    assert most < failed <= most + helpers + 1
    assert len([it for it in caplog.records if "failed (status 5" in it.getMessage()]) == failed


@pytest.mark.parametrize("fault", ["busy", "limited", "cut off", "spoken"])
async def test_prov_20_what_ran_before_a_request_failed_does_not_run_again(dialect, fault, start, wire, kit, tmp_path):
    ran = tmp_path / "workspace" / "ran.txt"
    faults = {
        "busy": refused(dialect, kit, 503),
        "limited": refused(dialect, kit, 429),
        "cut off": kit.Answer([dialect.called]).raw()[:-80],
        "spoken": kit.Answer([dialect.spoken_error]),
    }
    command = {"command": "echo ran >> ran.txt", "description": "run"}
    written = {"file_path": str(tmp_path / "workspace" / "new.txt"), "content": "new\n"}
    calls = calling(dialect, kit, ("ExecuteCommand", command), ("WriteFile", written))
    wire.play(calls, faults[fault], faults[fault], kit.Answer([dialect.hello]))

    outcome = await take(start(dialect))

    assert (outcome.reason, [tool.status for tool in outcome.tools]) == ("end_turn", ["success", "success"])
    assert ran.read_text() == "ran\n"
    assert wire.sent[1].body == wire.sent[2].body == wire.sent[3].body
    assert len(wire.sent) == 4


LIMITS = {
    "anthropic": {
        "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-requests-remaining": "49",
        "anthropic-ratelimit-requests-reset": "2001-01-01T00:00:00Z",
        "anthropic-ratelimit-tokens-limit": "80000",
        "anthropic-ratelimit-tokens-remaining": "1000",
    },
    "openai": {
        "x-ratelimit-limit-requests": "50",
        "x-ratelimit-remaining-requests": "49",
        "x-ratelimit-reset-requests": "120ms",
        "x-ratelimit-limit-tokens": "80000",
        "x-ratelimit-remaining-tokens": "1000",
        "x-ratelimit-reset-tokens": "1m1.5s",
    },
}


@pytest.mark.parametrize("headers", [{}, {"anthropic-ratelimit-tokens-limit": "x", "x-ratelimit-limit-tokens": "-"}])
async def test_c_095_limits_that_a_provider_does_not_tell_are_not_made_up(dialect, headers, start, wire, kit):
    core = start(dialect)
    wire.play(kit.Answer([dialect.hello], headers={**kit.EVENTS, **headers}))

    await take(core)

    [status] = [it for it in map(to_wire, (model.status() for model in core.models)) if it["running"] == dialect.ref]
    assert "rateLimit" not in status
    assert not any(isinstance(it, ModelStatusChanged) for it in core.seen)


@pytest.mark.parametrize(
    "dialect", [it for it in DIALECTS if it.provider in LIMITS], ids=lambda it: it.name, indirect=True
)
async def test_c_095_what_is_left_to_a_key_is_told_and_part_of_the_state(dialect, start, wire, kit):
    core = start(dialect)
    wire.play(kit.Answer([dialect.hello], headers={**kit.EVENTS, **LIMITS[dialect.provider]}))

    await take(core)

    [status] = [it for it in map(to_wire, (model.status() for model in core.models)) if it["running"] == dialect.ref]
    resets = {"anthropic": 0.0, "openai": 61.5}[dialect.provider]
    assert status["rateLimit"] == {
        "requestsLimit": 50,
        "requestsLeft": 49,
        "tokensLimit": 80000,
        "tokensLeft": 1000,
        "resetsIn": resets,
    }
    [told] = [it.status for it in core.seen if isinstance(it, ModelStatusChanged)]
    assert told.rate_limit.tokens_left == 1000
