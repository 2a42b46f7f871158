"""What floods cost: bodies of providers from 1 to 100 MiB, and news of an MCP server from 1,000 to 100,000. Each at its
size beside the smallest, in one run. `python -m tests.bench.floods` prints these alone."""

import asyncio
import resource
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2

from odin_lsp.config import McpSettings
from odin_lsp.mcp.connection import Around, Connection
from odin_lsp.models import bodies
from odin_lsp.models.bodies import TooMuch
from tests.bench import held
from tests.bench.table import Row
from tests.support.mcp_servers import Asked, scripted

MIB = 2**20
TIMES = 3
LINEAR, MOST_HELD, MORE_MEMORY = 1.5, 0.1, 64
EVENT = b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word "}}\n\n'


@dataclass(frozen=True)
class Flood:
    hold: held.Hold
    memory: float
    """MiB that the process grew by."""


async def rows() -> list[Row]:
    """In a process that was never large."""
    first = await _once(lambda: _refused(100))
    less, more = [_least([await _once(lambda: _refused(size)) for _ in range(TIMES)]).hold for size in (20, 100)]  # noqa: B023 - awaited at once
    ratio = more.seconds / less.seconds
    cells = f"{more.seconds * 1000:.3g} ms", f"{less.seconds * 1000:.3g} ms", f"{ratio:.2f}"
    grown = f"{first.memory:.0f} MiB more"
    found = [
        Row(
            "a body of 100 MiB without line breaks, until it is refused; one of 20", *cells, "≤ 1.5 ×", ratio <= LINEAR
        ),
        Row("… memory", grown, "–", "–", f"≤ {MORE_MEMORY} MiB", first.memory <= MORE_MEMORY),
        *held.rows(more, less, MOST_HELD),
    ]
    for what, part in (("without line breaks", b"x" * MIB), ("of events", (EVENT * (MIB // len(EVENT) + 1))[:MIB])):
        floods = {size: await _of_a_body(part, size) for size in (1, 10, 100)}
        found += _told(f"a body {what}, MiB", floods)
    floods = {number: await _of_a_server(number) for number in (1_000, 10_000, 100_000)}
    return [*found, *_told("a call of an MCP server that tells so often how far it has come", floods)]


def _told(what: str, floods: dict[int, Flood]) -> Iterator[Row]:
    first, *_, last = floods
    more, less = floods[last].hold, floods[first].hold
    ratio = more.seconds / last / (less.seconds / first)
    sizes = " · ".join(f"{it:,}" for it in floods)
    each = " · ".join(f"{it.hold.seconds * 1000:.3g} ms" for it in floods.values())
    per = f"{ratio:.2f} for each"
    yield Row(f"{what}: {sizes}", each, "–", per, f"≤ {LINEAR} × the first, each", ratio <= LINEAR)
    yield from held.rows(more, less, MOST_HELD)


async def _refused(size: int) -> None:
    with suppress(TooMuch):
        await _read(b"x" * MIB, size)
        raise AssertionError("it was not refused")


async def _of_a_body(part: bytes, size: int) -> Flood:
    return _least([await _once(lambda: _body(part, size)) for _ in range(TIMES)])


async def _body(part: bytes, size: int) -> None:
    with _one_event_may_be(2 * size * MIB):
        await _read(part, size)


async def _read(part: bytes, size: int) -> None:
    class Sent(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            for _ in range(size):
                for start in range(0, len(part), bodies.PIECE):
                    yield part[start : start + bodies.PIECE]

    async with aclosing(bodies.events(httpx2.Response(200, stream=Sent()))) as events:
        async for _ in events:
            pass


@contextmanager
def _one_event_may_be(size: int) -> Iterator[None]:
    """What is behind the bound is to be measured as well."""
    usual, bodies.MOST_OF_AN_EVENT = bodies.MOST_OF_AN_EVENT, size
    try:
        yield
    finally:
        bodies.MOST_OF_AN_EVENT = usual


async def _of_a_server(number: int) -> Flood:
    """Each time another one: who tells so much in a row is given up."""
    return _least([await _served(number) for _ in range(TIMES)])


async def _served(number: int) -> Flood:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asked = Asked(folder)
        server = scripted(folder, {"call:echo": [{"progresses": number}, {"text": "done"}]})
        around = Around((folder,), McpSettings(timeout=600))
        connection = Connection(server, around, asked.host, asked.listed, asked.reasons.append)
        await connection.start(60)
        try:
            return await _once(lambda: _called(connection))
        finally:
            await connection.end()


async def _called(connection: Connection) -> None:
    assert (await connection.call("echo", {}, lambda _: None)).text == "done"


def _least(floods: list[Flood]) -> Flood:
    """A busy machine only ever adds."""
    return min(floods, key=lambda it: it.hold.seconds)


async def _once(work: Callable[[], Awaitable[None]]) -> Flood:
    before = _peak()
    return Flood(await held.watched(work()), _peak() - before)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (MIB if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    sys.stdout.write("\n".join(map(str, asyncio.run(rows()))) + "\n")
