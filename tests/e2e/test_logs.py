"""What is logged, at which level and where; and what clients hear that take no events."""

import asyncio
import re

import pytest
from lsprotocol import types

from tests.e2e.conftest import PATIENCE
from tests.e2e.steps import says
from tests.support import wire as kit

FAILED = kit.Answer(
    [kit.anthropic_error(400, f"no good: {kit.KEY}")],
    status=400,
    headers={"content-type": "application/json", "request-id": "req_1"},
)
LINE = re.compile(r"(ERROR|WARNING|INFO|DEBUG) [\w.]+: ")


@pytest.mark.parametrize(
    ("arguments", "variables", "levels"),
    [
        ((), {}, set()),
        (("--log-level", "warning"), {}, {"WARNING"}),
        ((), {"ODIN_LOG": "warning"}, {"WARNING"}),
        (("--log-level", "debug"), {"ODIN_LOG": "error"}, {"WARNING", "DEBUG"}),
    ],
)
async def test_a_failed_request_is_logged_with_what_the_provider_finds_it_by(
    run, wire, anthropic, arguments, variables, levels
):
    wire.play(FAILED)

    code, _, err = await run("ask", "hi", *arguments, **anthropic, **variables, ODIN_TITLES="false")

    logged = [line for line in err.splitlines() if LINE.match(line)]
    assert (code, {LINE.match(line)[1] for line in logged}) == (1, levels)
    for line in (it for it in logged if it.startswith("WARNING")):
        assert re.match(
            r"WARNING odin\.models: request 1 to anthropic/\S+ failed \(status 400, request id req_1\): ", line
        )
    assert kit.KEY not in err
    assert ("DEBUG odin.events: turnStarted" in err) is ("DEBUG" in levels)


async def test_a_trace_is_sent_as_long_as_the_client_wants_one(start, wire, anthropic):
    client = await start(**anthropic, ODIN_TITLES="false")
    traced, has_ended = [], asyncio.Event()

    @client.lsp.feature(types.LOG_TRACE)
    def log_trace(params):
        traced.append(params.message)
        if "odin.events: turnFinished" in params.message:
            has_ended.set()

    async def turn():
        traced.clear()
        wire.play(says("done"))
        await client.command("ask", text="hi")

    await turn()
    assert traced == []

    client.lsp.set_trace(types.SetTraceParams(types.TraceValue.Verbose))
    await turn()
    async with asyncio.timeout(PATIENCE):
        await has_ended.wait()
    assert traced[0].startswith("DEBUG odin.events: turn")

    client.lsp.set_trace(types.SetTraceParams(types.TraceValue.Off))
    await turn()
    assert traced == []


async def test_a_client_that_takes_no_events_sees_warnings_and_logs_the_rest(start, script, root, tmp_path):
    (root / "ODIN.md").write_text("Be kind.\n")
    (tmp_path / "file").touch()
    nowhere = {"XDG_STATE_HOME": str(tmp_path / "file" / "state")}
    client = await start(odin={}, **script({"text": "done"}), **nowhere)

    await client.command("ask", text="hi")

    logged = [(it.type, it.message) for it in client.lsp.log_messages]
    assert [level for level, message in logged if "instructions: " in message] == [types.MessageType.Info]
    shown = {it.type for it in client.lsp.messages if "The session is not being saved" in it.message}
    assert shown == {types.MessageType.Warning}
