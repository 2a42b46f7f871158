"""Of a server's news the newest of each kind is told, and nothing else is lost, reordered or held up."""

import asyncio
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio import EndOfStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCResponse

from odin_lsp.mcp import passing
from odin_lsp.mcp.passing import MOST_KINDS, Passing, Unheard, kind_of, passed
from odin_lsp.mcp.program import _kind_of as kind_of_line


def news(method, **params):
    return SessionMessage(JSONRPCNotification(jsonrpc="2.0", method=method, params=params))


def progress(number, token="1"):
    return news("notifications/progress", progressToken=token, progress=number)


def answer(number=1):
    return SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=number, result={}))


def put(it, message):
    kind = kind_of(message.message.method, message.message.params)
    it.put_news(kind, lambda: message)


async def rest(it):
    it.end()
    return [message async for message in it]


async def test_the_newest_is_told_before_the_answer_and_the_answer_waits_for_nothing():
    it = Passing()
    for number in range(100_000):
        put(it, progress(number))
    it.put(answer())
    assert await rest(it) == [progress(99_999), answer()]


async def test_the_first_is_told_at_once_and_those_behind_it_at_a_pace(monkeypatch):
    monkeypatch.setattr(passing, "NEWS_SECONDS", 3600)
    it = Passing()
    put(it, progress(1))
    assert await it.receive() == progress(1)
    put(it, progress(2))
    put(it, progress(3))
    waiting = asyncio.create_task(it.receive())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not waiting.done()
    monkeypatch.setattr(passing, "NEWS_SECONDS", 0)
    put(it, progress(4))
    assert await waiting == progress(4)
    assert await rest(it) == []


async def test_what_comes_late_is_told_without_anything_behind_it(monkeypatch):
    monkeypatch.setattr(passing, "NEWS_SECONDS", 0.01)
    it = Passing()
    put(it, progress(1))
    put(it, progress(2))
    assert await it.receive() == progress(2)
    put(it, progress(3))
    async with asyncio.timeout(30):
        assert await it.receive() == progress(3)


async def test_each_kind_has_its_own():
    it = Passing()
    told = [progress(1), progress(1, "2"), news("notifications/resources/updated", uri="a")]
    told += [news("notifications/resources/updated", uri="b"), news("notifications/tools/list_changed")]
    for message in [*told, *told]:
        put(it, message)
    assert await rest(it) == told


@pytest.mark.parametrize("method", ["notifications/cancelled", "notifications/elicitation/complete", "x"])
def test_what_is_more_than_news_is_never_left_out(method):
    assert kind_of(method, {"progressToken": 1}) is None


@pytest.mark.parametrize(
    "line",
    [
        b'{"method": "notifications/progress", "id": 1}',
        b'{"result": "\\"notifications/progress\\""}',
        b'["notifications/progress"]',
        b'{"method": "notifications/progress"',
        b'{"method": "notifications/progress", "params": ' + b"[" * 5000,
        b'{"method": "notifications/progress", "x": "' + b"x" * 2**16 + b'"}',
        b'{"method": ["notifications/progress"]}',
    ],
)
def test_a_line_that_is_no_news_is_read_as_what_it_is(line):
    assert kind_of_line(line) is None


@pytest.mark.parametrize("params", [b"[1]", b"3", b'{"progressToken": {}}', b'{"progressToken": null}'])
def test_news_of_nothing_are_news(params):
    assert kind_of_line(b'{"method": "notifications/progress", "params": ' + params + b"}") is not None


async def test_what_waits_has_bounds(monkeypatch):
    it = Passing()
    for number in range(10 * MOST_KINDS):
        put(it, progress(1, f"{number}"))
    assert len(await rest(it)) == MOST_KINDS
    monkeypatch.setattr(passing, "MOST_UNHEARD", 10)
    it = Passing()
    for number in range(10):
        it.put(answer(number))
    with pytest.raises(Unheard):
        it.put(answer(10))


async def test_what_is_no_message_after_all_is_left_out():
    it = Passing()
    it.put_news("kind", lambda: None)
    it.put(answer())
    assert await rest(it) == [answer()]


async def test_others_have_their_turn_while_many_messages_are_read():
    it, turns = Passing(), 0
    for number in range(50_000):
        it.put(answer(number))
    it._share._began = 0

    async def other():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    await it.receive()
    assert turns > 0
    task.cancel()


async def test_a_transport_of_the_sdk_passes_all_and_is_closed_behind_it():
    send, read = anyio.create_memory_object_stream(0)

    @asynccontextmanager
    async def transport():
        yield read, "write"

    async with passed(transport()) as (stream, write):
        for number in range(100):
            await send.send(progress(number))
        await send.send(ValueError("broken"))
        await send.send(answer())
        assert write == "write"
        got = []
        while answer() not in got:
            got.append(await stream.receive())
        assert [str(it) for it in got if isinstance(it, Exception)] == ["broken"]
        assert progress(99) in got
        assert len(got) < 20
        await send.aclose()
        with pytest.raises(EndOfStream):
            await stream.receive()
    with pytest.raises((anyio.BrokenResourceError, anyio.ClosedResourceError)):
        send.send_nowait(answer())
