"""What a step costs by how long the conversation already is, with a model that answers at once."""

import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

from odin_lsp.config import Limits
from odin_lsp.events import Event
from odin_lsp.messages import Message, Text, ToolCall, ToolResult, user
from odin_lsp.models.base import Reply, Request, StreamEvent
from odin_lsp.records import Usage
from odin_lsp.sessions.session import Session
from tests.support.long_work import reading_planner

HISTORIES = (10, 100, 1_000, 3_000)
"""In messages."""
FIRST_STEPS = 5
"""Of a turn: they set up what the others use."""


@dataclass
class Reader:
    """Reads other lines in each step, until it has taken so many."""

    path: Path
    steps: int
    asked: list[float] = field(default_factory=list[float])
    """When."""
    calls: list[int] = field(default_factory=list[int])
    """Functions that had been called by then, if somebody counted them."""
    called: int = 0
    ref = "scripted/reader"

    async def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        self.asked.append(perf_counter())
        self.calls.append(self.called)
        number, usage = len(self.asked), Usage(context_tokens=1000)
        if number > self.steps:
            yield Reply(Message("assistant", (Text("done"),)), "end", usage)
        else:
            yield Reply(_reading(f"new-{number}", self.path, number), "tools", usage)

    async def aclose(self) -> None:
        """Nothing is open."""

    def count(self, _frame: Any, event: str, _argument: Any) -> None:
        self.called += event in ("call", "c_call")


async def seconds(times: int, histories: Sequence[int] = HISTORIES) -> dict[int, list[float]]:
    """Of each step, by the messages there were before; in turns, so that a busy machine slows all."""
    taken: dict[int, list[float]] = {messages: [] for messages in histories}
    for _ in range(times):
        for messages in histories:
            reader = await _turn(messages)
            taken[messages] += [later - earlier for earlier, later in pairwise(reader.asked)][FIRST_STEPS:]
    return taken


async def calls(messages: int) -> float:
    """Functions that a step calls, on average: what it does, whatever the machine does besides."""
    calls = (await _turn(messages, counted=True)).calls[FIRST_STEPS:]
    return (calls[-1] - calls[0]) / (len(calls) - 1)


async def _turn(messages: int, steps: int = 30, *, counted: bool = False) -> Reader:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "long.txt"
        path.write_text("".join(f"line {number}\n" for number in range(200)), encoding="utf-8")
        session = Session(folder / "sessions")
        for number in range(messages // 2):
            session.append(_reading(f"old-{number}", path, number))
            session.append(Message("user", (ToolResult(f"old-{number}", "Read", "a line\n" * 20),)))
        session.append(user("read on"))
        reader = Reader(path, steps)
        planner = reading_planner(folder, reader, session, Limits(), _ignore)
        sys.setprofile(reader.count if counted else None)
        try:
            await planner.run()
        finally:
            sys.setprofile(None)
            session.close()
    return reader


def _reading(call_id: str, path: Path, line: int) -> Message:
    arguments = {"file_path": str(path), "offset": line % 100 + 1, "limit": 20}
    return Message("assistant", (Text("I read on."), ToolCall(call_id, "Read", arguments)))


def _ignore(_event: Event) -> None:
    """Nobody watches."""
