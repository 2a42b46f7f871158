"""A turn of many steps on a small window, with a model that counts tokens as a provider that caches prefixes would."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odin_lsp.agent.compaction import Compaction
from odin_lsp.agent.executor import Executor
from odin_lsp.agent.hooks import Hooks
from odin_lsp.agent.instructions import Instructions
from odin_lsp.agent.planner import Ending, Planner
from odin_lsp.agent.prompt import Prompt
from odin_lsp.agent.turn import Progress, UserMessage
from odin_lsp.config import Limits
from odin_lsp.events import Compacted, Emit
from odin_lsp.messages import Message, Text, ToolCall, user
from odin_lsp.models.base import Model, Reply, Request, StreamEvent
from odin_lsp.records import Usage
from odin_lsp.sessions.session import Session
from odin_lsp.tools.base import all_tools
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from tests.support.context import tool_context

WINDOW = 32_000
CHARS_PER_TOKEN = 4
CACHE_READ, INPUT = 0.1, 1.0
"""What a token costs that the provider has in its cache, and one that it has not."""


@dataclass(frozen=True)
class Work:
    ending: Ending
    compactions: int
    sizes: list[float]
    """Tokens of each request."""
    last_request: str
    cached: float
    """The share of all input that was read from the cache."""
    earlier_cost: float
    later_cost: float
    """Of an average step in the second third of the turn, and in the last: the first has to fill the window."""


class LongWork:
    ref = "scripted/long"

    def __init__(self, path: Path, steps: int) -> None:
        self.path = path
        self.steps = steps
        self.requests: list[list[str]] = []
        self.costs: list[float] = []

    async def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        texts = [*request.system, *map(str, request.tools), *map(str, request.messages)]
        shared = 0
        for one, two in zip(texts, self.requests[-1] if self.requests else [], strict=False):
            if one != two:
                break
            shared += len(one)
        self.requests.append(texts)
        total = sum(map(len, texts))
        cached, fresh = shared // CHARS_PER_TOKEN, (total - shared) // CHARS_PER_TOKEN
        self.costs.append(cached * CACHE_READ + fresh * INPUT)
        usage = Usage(input_tokens=fresh, cache_read_tokens=cached, context_tokens=cached + fresh, context_limit=WINDOW)
        number = len(self.requests)
        if number > self.steps:
            yield Reply(Message("assistant", (Text("done"),)), "end", usage)
            return
        arguments = {"file_path": str(self.path), "offset": number, "limit": 20}
        calls = (Text(f"step {number}"), ToolCall(f"c{number}", "Read", arguments))
        yield Reply(Message("assistant", calls), "tools", usage)

    async def aclose(self) -> None:
        """Nothing is open."""


async def long_work(folder: Path, steps: int) -> Work:
    path = folder / "long.txt"
    path.write_text("".join(f"line {number} of a long file that says nothing\n" for number in range(steps + 100)))
    events: list[Any] = []
    session = Session(folder / "sessions")
    session.append(user("the very first request"))
    model = LongWork(path, steps)
    planner = reading_planner(folder, model, session, Limits(maxTurns=0, maxContext=WINDOW), events.append)
    ending = await planner.run()
    usage = planner.progress.usage
    third = len(model.costs) // 3
    return Work(
        ending,
        sum(isinstance(it, Compacted) and it.status == "succeeded" for it in events),
        [sum(map(len, texts)) / CHARS_PER_TOKEN for texts in model.requests],
        "".join(model.requests[-1]),
        usage.cache_read_tokens / (usage.cache_read_tokens + usage.input_tokens),
        sum(model.costs[third : 2 * third]) / max(1, third),
        sum(model.costs[-third:]) / max(1, third),
    )


def reading_planner(folder: Path, model: Model, session: Session, limits: Limits, emit: Emit) -> Planner:
    """It can read the files of a folder, and no more."""

    async def small(instructions: str, text: str) -> str:
        return "It reads on."

    context = tool_context(Files([folder], Buffers(), FileCache()), None, folder)
    return Planner(
        model=model,
        prompt=Prompt("ask_mode", [folder], Instructions(), context.shown),
        session=session,
        executor=Executor({"Read": all_tools()["Read"]}, Hooks(), context),
        asker=context.editor,
        compaction=Compaction(small),
        limits=limits,
        emit=emit,
        progress=Progress(UserMessage(turn_id="t", text="go", mode="ask_mode"), "s"),
    )
