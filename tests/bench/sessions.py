"""What sessions cost a server that lists them, or that takes up a long one."""

import asyncio
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from odin_lsp.messages import Message, Text, user
from odin_lsp.sessions.session import Session
from odin_lsp.sessions.store import sessions_folder
from tests.bench.client import started
from tests.bench.measure import ODIN, Series

LISTED = 100
MESSAGES = 10_000
SAID = "What does this do, and who calls it? " * 8


async def listed(workspace: Path, times: int) -> Series:
    """MiB of a server that has listed `LISTED` sessions; before that."""
    await asyncio.to_thread(_make, workspace, LISTED, 2)
    answers, series = await _grown(workspace, times, "odin.session.list", {})
    assert {len(it["sessions"]) for it in answers} == {LISTED}
    return series


async def resumed(workspace: Path, times: int) -> Series:
    """MiB of a server that has taken up a session of `MESSAGES` messages; before that."""
    [session_id] = await asyncio.to_thread(_make, workspace, 1, MESSAGES)
    answers, series = await _grown(workspace, times, "odin.session.resume", {"sessionId": session_id})
    assert {it["sessionId"] for it in answers} == {session_id}
    return series


async def _grown(workspace: Path, times: int, command: str, argument: Mapping[str, Any]) -> tuple[list[Any], Series]:
    answers, series = list[Any](), Series()
    for _ in range(times):
        async with started(*ODIN, workspace=workspace) as client:
            await client.initialize(workspace)
            await client.at_rest()
            series.bare.append(client.memory)
            answers.append(await client.command(command, argument))
            await client.at_rest()
            series.odin.append(client.memory)
    return answers, series


def _make(workspace: Path, sessions: int, messages: int) -> list[str]:
    """Where a server of that workspace finds them: in the home that it is given."""
    (home := Path(f"{workspace}-home")).mkdir(exist_ok=True)
    command = [sys.executable, "-m", "tests.bench.sessions", str(workspace), str(sessions), str(messages)]
    return subprocess.run(command, check=True, text=True, stdout=-1, env={"HOME": str(home)}).stdout.split()


def _write(workspace: Path, messages: int) -> str:
    session = Session(sessions_folder(workspace))
    for number in range(messages // 2):
        session.append(user(f"{number}. {SAID}"))
        session.append(Message("assistant", (Text(f"{number}. {SAID}"),)))
    session.close()
    return session.id


if __name__ == "__main__":
    for _ in range(int(sys.argv[2])):
        sys.stdout.write(f"{_write(Path(sys.argv[1]), int(sys.argv[3]))}\n")
