"""How costs grow: each with three sizes, ten times apart, and as a plot. The smallest of several turns counts, since a
busy machine only ever adds. `python -m tests.bench.growth` prints these alone."""

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from math import log10
from pathlib import Path
from statistics import median
from time import process_time

from odin_lsp.agent.stream import EventStream
from odin_lsp.events import ActivityChanged
from odin_lsp.messages import Message, Text, user
from odin_lsp.models.base import Request, ToolSpec
from odin_lsp.models.encoding import Head
from odin_lsp.sessions import listing
from odin_lsp.sessions.session import Session
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.search import Search
from odin_lsp.workspace.text import Change, Position
from tests.bench import guests, mapping, review, steps, workspace
from tests.bench.table import Row

LINEAR = 12
"""Times as much for ten times the size is still in proportion."""
WIDTH, HEIGHT, MARGIN, COLUMNS = 220, 130, 28, 4
Way = tuple[str, tuple[int, ...], Callable[[Path, int], Awaitable[float]]]
"""What grows, its sizes, and the seconds for one of them."""


@dataclass(frozen=True)
class Growth:
    what: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]

    @property
    def ratios(self) -> list[float]:
        return [after / before for before, after in zip(self.seconds, self.seconds[1:], strict=False)]

    def row(self) -> Row:
        each = " · ".join(f"{seconds * 1000:.3g} ms" for seconds in self.seconds)
        sizes = " · ".join(f"{size:,}" for size in self.sizes)
        ratios = " · ".join(f"{ratio:.2f}" for ratio in self.ratios)
        return Row(
            f"{self.what}: {sizes}", each, "–", ratios, f"≤ {LINEAR} × for ten times", max(self.ratios) <= LINEAR
        )


async def growths(folder: Path) -> list[Growth]:
    ways: Sequence[Way] = (
        ("files, listed", (100, 1_000, 10_000), _listing),
        ("lines of a document, a keystroke", (1_000, 10_000, 100_000), _keystroke),
        ("pending hunks, a keystroke", (10, 100, 1_000), _typing),
        ("messages, a step", (10, 100, 1_000), _step),
        ("sessions, listed", (10, 100, 1_000), _sessions),
        ("subscribers, an event", (10, 100, 1_000), _event),
        ("front ends, an event", (1, 10, 100), _front_ends),
        ("open documents, a keystroke", (10, 100, 1_000), _documents),
        ("tools of MCP servers, in the first request", (10, 100, 1_000), _tools),
    )
    return await grown(folder, ways)


async def grown(folder: Path, ways: Sequence[Way]) -> list[Growth]:
    return [
        Growth(what, sizes, tuple([await cost(folder / f"{number}-{size}", size) for size in sizes]))
        for number, (what, sizes, cost) in enumerate(ways)
    ]


async def _listing(folder: Path, files: int) -> float:
    mapping.make_tree(folder, files)
    search = Search(Files([folder], Buffers(), FileCache()))

    async def listed() -> None:
        await search.files(folder)

    return await _least(listed, 5)


async def _keystroke(_: Path, lines: int) -> float:
    return median(workspace.keystrokes(lines, 100).odin)


async def _typing(folder: Path, hunks: int) -> float:
    return median((await review.typing(folder, hunks, 30)).odin)


async def _step(_: Path, messages: int) -> float:
    return min((await steps.seconds(1, (messages,)))[messages])


async def _sessions(folder: Path, number: int) -> float:
    for _ in range(number):
        session = Session(folder)
        session.append(user("what is this?"))
        session.append(Message("assistant", (Text("a test"),)))
        session.close()

    async def listed() -> None:
        assert len(list(listing.summaries(folder))) == number

    return await _least(listed, 3)


async def _event(_: Path, subscribers: int) -> float:
    stream, heard = EventStream(), []
    for _number in range(subscribers):
        stream.subscribe(heard.append)
    emit = stream.emitter("turn", "session")

    async def told() -> None:
        emit(ActivityChanged("streaming"))

    return await _least(told, 50)


async def _front_ends(folder: Path, number: int) -> float:
    return (await guests.guests(folder, number)).work


async def _documents(_: Path, number: int) -> float:
    buffers, line = Buffers(), Position(50, 0)
    for document in range(number):
        buffers.open(f"untitled:{document}", 0, "a line\n" * 100)
    version = 0

    async def typed() -> None:
        nonlocal version
        version += 1
        buffers.change("untitled:0", version, [Change("x", line, line)])

    return await _least(typed, 50)


async def _tools(_: Path, number: int) -> float:
    schema = {"type": "object", "properties": {"query": {"type": "string", "description": "What it is called."}}}
    tools = tuple(ToolSpec(f"mcp__server__tool_{it}", "Finds something.", schema) for it in range(number))
    request = Request(("Be brief.",), (user("hello"),), tools)

    async def encoded() -> None:
        assert Head(lambda it: {"tools": [(spec.name, spec.schema) for spec in it.tools]}).of(request)

    return await _least(encoded, 20)


async def _least(work: Callable[[], Awaitable[None]], times: int) -> float:
    """Seconds of processor time."""
    taken: list[float] = []
    for _ in range(times):
        began = process_time()
        await work()
        taken.append(process_time() - began)
    return max(min(taken), 1e-6)


def plot(growths: Sequence[Growth]) -> str:
    """Small pictures side by side, both axes by powers of ten; the dashed line is what is in proportion to the size."""
    rows = -(-len(growths) // COLUMNS)
    parts = [_picture(it, number % COLUMNS * WIDTH, number // COLUMNS * HEIGHT) for number, it in enumerate(growths)]
    size = f'width="{COLUMNS * WIDTH}" height="{rows * HEIGHT}"'
    style = "<style>text{font:10px sans-serif;fill:#777}polyline{fill:none}</style>"
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{style}{"".join(parts)}</svg>\n'


def _picture(growth: Growth, left: int, top: int) -> str:
    lowest, highest = (log10(it) for it in (min(growth.seconds), max(*growth.seconds, growth.seconds[0] * 100)))
    across, up = (WIDTH - 2 * MARGIN) / (len(growth.sizes) - 1), (HEIGHT - 2 * MARGIN) / max(highest - lowest, 1)

    def line(seconds: Sequence[float], style: str) -> str:
        places = (
            f"{left + MARGIN + number * across:.0f},{top + HEIGHT - MARGIN - (log10(it) - lowest) * up:.0f}"
            for number, it in enumerate(seconds)
        )
        return f'<polyline points="{" ".join(places)}" {style}/>'

    in_proportion = [growth.seconds[0] * 10**number for number in range(len(growth.sizes))]
    bottom = top + HEIGHT - MARGIN / 2
    named = "".join(
        f'<text x="{left + MARGIN + number * across:.0f}" y="{bottom:.0f}" text-anchor="middle">{size:,}</text>'
        for number, size in enumerate(growth.sizes)
    )
    title = f'<text x="{left + MARGIN / 2:.0f}" y="{top + MARGIN / 2:.0f}">{growth.what}</text>'
    drawn = line(in_proportion, 'stroke="#bbb" stroke-dasharray="3"')
    return title + named + drawn + line(growth.seconds, 'stroke="#3a7" stroke-width="2"')


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        found = asyncio.run(growths(Path(name)))
    sys.stdout.write("\n".join(str(it.row()) for it in found) + f"\n{plot(found)}")
