"""Odin behind acpx, a client of the Agent Client Protocol that others have written."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.e2e.steps import play_calls, results, says
from tests.editors.code_server import acp_client
from tests.editors.conftest import skipped_if_unavailable
from tests.editors.neovim import until
from tests.support.wire import Answer, Wire, anthropic_sse, anthropic_start

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATIENCE = 120.0
LINES = [f"line {number}\n" for number in range(1, 31)]
EDITS = [{"old_string": f"line {it}\n", "new_string": f"changed {it}\n"} for it in (3, 15, 27)]
POLICY = {"autoDeny": ["Change a.py, line 15 (2 of 3)"], "defaultAction": "approve"}

Acpx = Callable[..., Awaitable[list[dict[str, Any]]]]


@pytest_asyncio.fixture(loop_scope="module")
async def acpx(root: Path, env: dict[str, str], wire: Wire) -> AsyncIterator[Acpx]:
    """Run it, and get all messages that went both ways."""
    with skipped_if_unavailable():
        program = acp_client()
    wire.answers.clear()
    (root / "a.py").write_text("".join(LINES))

    async def run(*arguments: str) -> list[dict[str, Any]]:
        process = await asyncio.create_subprocess_exec(
            *(program, "--agent", "odin-lsp acp", "--cwd", root, "--format", "json", *arguments),
            cwd=root,
            env=env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(PATIENCE):
            out, _ = await process.communicate()
        return [json.loads(line) for line in out.splitlines() if line.startswith(b"{")]

    yield run
    await run("sessions", "close")


def said(messages: list[dict[str, Any]]) -> str:
    updates = [it["params"]["update"] for it in messages if it.get("method") == "session/update"]
    return "".join(it["content"]["text"] for it in updates if it["sessionUpdate"] == "agent_message_chunk")


def stop_reasons(messages: list[dict[str, Any]]) -> list[str]:
    found = [it["result"] for it in messages if isinstance(it.get("result"), dict)]
    return [it["stopReason"] for it in found if "stopReason" in it]


async def test_a_question_is_answered(acpx: Acpx, wire: Wire) -> None:
    wire.play(says("It has 30 lines."))

    messages = await acpx("exec", "how long is it?")

    assert said(messages) == "It has 30 lines."
    assert stop_reasons(messages) == ["end_turn"]


async def test_one_of_three_hunks_is_refused_and_the_model_is_told_which(
    acpx: Acpx, wire: Wire, root: Path, tmp_path: Path
) -> None:
    policy = tmp_path / "policy.json"
    policy.write_text(json.dumps(POLICY))
    play_calls(wire, ("Read", {"file_path": "a.py"}))
    play_calls(wire, ("MultiEditTool", {"file_path": "a.py", "edits": EDITS}))
    wire.play(says())

    messages = await acpx("--permission-policy", str(policy), "exec", "change them")

    changed = [line.replace("line", "changed") if line in ("line 3\n", "line 27\n") else line for line in LINES]
    assert (root / "a.py").read_text() == "".join(changed)
    assert sum(it.get("method") == "session/request_permission" for it in messages) == 3
    assert "rejected (line 15)" in results(wire)[0]


async def test_a_turn_is_cancelled_and_the_session_is_resumed_by_another_process(acpx: Acpx, wire: Wire) -> None:
    wire.play(says("One."))
    await acpx("sessions", "new")
    assert said(await acpx("prompt", "the first question")) == "One."
    before = len(wire.sent)
    wire.play(Answer([anthropic_sse(anthropic_start())], held=True))
    turn = asyncio.create_task(acpx("prompt", "the second question"))
    await until(lambda: _is(len(wire.sent) > before), "a request")
    await acpx("cancel")
    assert stop_reasons(await turn) == ["cancelled"]

    [status] = await acpx("status")
    os.kill(status["pid"], signal.SIGTERM)
    await until(lambda: _is(not Path(f"/proc/{status['pid']}").exists()), "the end of the process")
    wire.play(says("Three."))
    messages = await acpx("prompt", "the third question")

    assert said(messages).endswith("Three.")
    heard = json.dumps(wire.request["messages"])
    assert all(f"the {it} question" in heard for it in ("first", "second", "third"))


async def _is(fact: bool) -> bool:
    return fact
