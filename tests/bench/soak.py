"""`python -m tests.bench.soak messages|sessions N`: work without a pause, and see that nothing of it stays in the
server. All of it is one session, or each message has one that is deleted after it.

Every turn reads, searches, plans or has a helper do so, documents are opened and typed into, some turns are cancelled,
and a history that grew long is refused, so that it is compacted. Afterwards the server must be as large as it was at
the first look."""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count, cycle
from pathlib import Path
from typing import Any

from tests.bench import measure
from tests.bench.client import Client
from tests.bench.endpoint import Endpoint, calling
from tests.support import held_loop

LOOKS = 10
"""The first is taken when a tenth of the work is done: until then caches fill and the allocator finds its size."""
MOST_GROWTH = 0.1
LONGEST_REQUEST = 100_000
CANCELLED = 10
"""One turn in so many."""
CALLS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("Read", {"file_path": "module_1.py"}),
    ("Grep", {"pattern": "value_1"}),
    ("Glob", {"pattern": "**/*.py"}),
    ("LS", {"path": "."}),
    ("ExecuteCommand", {"command": "pwd", "description": "see where this is"}),
    ("Read", {"file_path": "missing.py"}),
    ("TodoWrite", {"todos": [{"id": "1", "content": "look around", "status": "in_progress"}]}),
    ("AgentTool", {"description": "look around", "prompt": "look around"}),
)
TOO_LONG = b'{"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long"}}'
REFUSAL = b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (
    len(TOO_LONG),
    TOO_LONG,
)


class Model(Endpoint):
    """Calls a tool in answer to the user, talks in answer to a result, and refuses what is too long."""

    def __init__(self) -> None:
        super().__init__([])
        self._calls = cycle(CALLS)
        self.refused = 0

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = self.requests.pop()
        self.arrivals.clear()
        self.spoken.clear()
        last = request["messages"][-1]["content"]
        if len(json.dumps(request)) > LONGEST_REQUEST:
            self.refused += 1
            writer.write(REFUSAL)
        elif self.held or any(block["type"] == "tool_result" for block in last):
            await self._talk(reader, writer)
        else:
            name, arguments = next(self._calls)
            writer.write(calling(f"toolu_{time.monotonic_ns()}", name, arguments))
        await writer.drain()


@dataclass(frozen=True)
class Look:
    """What the process holds at one moment."""

    seconds: float
    turns: int
    memory: float
    descriptors: int
    processes: int
    """Of its own, those that have ended and that nobody has asked about among them."""
    zombies: int

    def __str__(self) -> str:
        return (
            f"{self.seconds:6.0f} s  {self.turns:6} turns  {self.memory:6.1f} MiB"
            f"  {self.descriptors:3} descriptors  {self.processes} processes  {self.zombies} zombies"
        )


def main() -> int:
    held_loop.ask()
    with tempfile.TemporaryDirectory() as workspace:
        kind, number = sys.argv[1:]
        work = {"messages": _work, "sessions": _work_in_sessions}[kind]
        looks = asyncio.run(_looks(Path(workspace), int(number), work))
    first, last = looks[0], looks[-1]
    growth = last.memory / first.memory - 1
    halves = looks[: LOOKS // 2], looks[LOOKS // 2 :]
    descriptors, processes = (
        later - earlier
        for earlier, later in (
            [min(getattr(it, name) for it in half) for half in halves] for name in ("descriptors", "processes")
        )
    )
    held = f"{descriptors:+} descriptors, {processes:+} processes, {last.zombies} zombies"
    held_up = held_loop.taken()
    sys.stdout.write(f"grew by {growth:.1%}, {held}\n{held_up}")
    return int(growth > MOST_GROWTH or descriptors > 0 or processes > 0 or last.zombies > 0 or bool(held_up))


Work = Callable[[Client, Model, Path, int], Awaitable[None]]


async def _looks(workspace: Path, wanted: int, work: Work) -> list[Look]:
    measure.make_files(workspace)
    looks: list[Look] = []
    async with Model().listening() as model, measure.running(workspace, model) as client:
        began = time.monotonic()
        for turns in count(1):
            await work(client, model, workspace / "module_0.py", turns)
            passed = time.monotonic() - began
            if LOOKS * turns >= wanted * (len(looks) + 1):
                looks.append(_look(client, passed, turns))
                sys.stdout.write(f"{looks[-1]}\n")
                sys.stdout.flush()
            if len(looks) == LOOKS:
                sys.stdout.write(f"{model.refused} requests were refused as too long\n")
                break
    return looks


async def _work_in_sessions(client: Client, model: Model, path: Path, number: int) -> None:
    session = await client.command("odin.session.new", {})
    await _work(client, model, path, number)
    await client.command("odin.session.delete", {"sessionId": session["sessionId"], "confirm": True})


async def _work(client: Client, model: Model, path: Path, number: int) -> None:
    uri = path.as_uri()
    document = {"uri": uri, "languageId": "python", "version": 1, "text": path.read_text(encoding="utf-8")}
    client.notify("textDocument/didOpen", {"textDocument": document})
    for version in range(2, 12):
        change = {"range": _range(version), "text": f"# {number}"}
        versioned = {"uri": uri, "version": version}
        client.notify("textDocument/didChange", {"textDocument": versioned, "contentChanges": [change]})
    if number % CANCELLED:
        await _turn(client, "end_turn")
    else:
        await _cancelled_turn(client, model)
        await client.command("odin.state", {})
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


async def _turn(client: Client, reason: str) -> None:
    outcome = await client.command("odin.ask", {"text": "look around"})
    if outcome["reason"] != reason:
        raise RuntimeError(f"the turn ended with {outcome['reason']}: {outcome.get('detail')}")


async def _cancelled_turn(client: Client, model: Model) -> None:
    model.held, model.talking, model.hung_up = True, asyncio.Event(), asyncio.Future()
    turn = asyncio.create_task(_turn(client, "interrupted"))
    await model.talking.wait()
    await client.command("odin.cancel", {})
    await model.hung_up
    await turn
    model.held = False


def _range(line: int) -> dict[str, Any]:
    return {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 5}}


def _look(client: Client, seconds: float, turns: int) -> Look:
    process = client.process.pid
    descriptors = len(list(Path(f"/proc/{process}/fd").iterdir()))
    children = list(_children(process))
    return Look(seconds, turns, client.memory, descriptors, len(children), children.count("Z"))


def _children(parent: int) -> Iterator[str]:
    """The state of each: `Z` has ended, and nobody has asked about it."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, above = stat.read_text(encoding="utf-8", errors="replace").rpartition(") ")[2].split()[:2]
        except OSError:
            continue
        if int(above) == parent:
            yield state


if __name__ == "__main__":
    sys.exit(main())
