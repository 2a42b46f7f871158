"""PROV-21: what answers sends without an end, or much more than it seems: it is read in small pieces and only so far,
and everything else goes on meanwhile."""

import asyncio
import json
import zlib

import pytest

from odin_lsp.agent.turn import UserMessage
from odin_lsp.config import Config
from odin_lsp.errors import AnswerTooLong, KeyRejected, ModelUnavailable
from odin_lsp.models import bodies, key_check, local_servers
from odin_lsp.models.local_servers import SERVERS, find
from odin_lsp.terminal.editor import TerminalEditor
from tests.support.project import core_of, take
from tests.support.wire import KEY, Answer

MIB = 2**20
PACKED = {"content-type": "text/event-stream", "content-encoding": "gzip"}


def packed(*parts, headers=PACKED, status=200, **more):
    packer = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
    pieces = [packer.compress(it) for it in parts]
    return Answer([*filter(None, pieces), packer.flush()], status, headers, **more)


def saying(dialect, kit, *texts):
    """An answer that says these, without its end."""
    match dialect.name:
        case "anthropic":
            deltas = kit.anthropic_text(0, *texts)[:-1]
            return kit.anthropic_sse(kit.anthropic_start(), *deltas)
        case "google":
            return kit.google_sse(*(kit.google_chunk({"text": it}) for it in texts))
        case "openai/responses":
            added = {"type": "response.output_item.added", "output_index": 0, "item": {"type": "message"}}
            delta = {"type": "response.output_text.delta", "output_index": 0}
            return kit.responses_sse(added, *({**delta, "delta": it} for it in texts))
        case _:
            return kit.sse(*(kit.openai_chunk({"content": it}) for it in texts))


@pytest.mark.parametrize(
    ("endless", "says"),
    [
        ([b"data: "] + [b"x" * MIB] * 17, "one event in it has more than 16 MiB"),
        ([b"x" * MIB] * 17, "one event in it has more than 16 MiB"),
        ([b"data: x\n" * 2**17] * 18, "one event in it has more than 250,000 values"),
        ([b"data: [" + b"[]," * 250_000], "one event in it has more than 250,000 values"),
        ([b"\n" * MIB] * 5, "it has more than 4,000,000 lines"),
        ([b": " + b"x" * (MIB - 3) + b"\n"] * 9, "it has more than 8 MiB"),
    ],
    ids=["event", "line", "data", "values", "lines", "answer"],
)
async def test_prov_21_what_is_more_than_any_answer_is_read_no_further(
    dialect, endless, says, monkeypatch, wire, connect, ask, kit
):
    if says == "it has more than 8 MiB":
        monkeypatch.setattr(bodies, "MOST_OF_AN_ANSWER", 8 * MIB)
    with pytest.raises(AnswerTooLong, match=rf"{says}.*check what answers at 127.0.0.1:{wire.port}, or choose"):
        await ask(connect(dialect.ref), packed(saying(dialect, kit, "Hi"), *endless, held=True))
    assert len(wire.sent) == 1


async def test_prov_21_an_answer_that_says_more_than_two_million_tokens_is_stopped(dialect, connect, ask, kit):
    text = "word " * 100_000
    with pytest.raises(AnswerTooLong, match="it says more than 8 million characters"):
        await ask(connect(dialect.ref), packed(saying(dialect, kit, *[text] * 18), held=True))


@pytest.mark.parametrize("endless", [b"x" * MIB, b"\n" * MIB, b"data: {}\n\n" * 2**16], ids=["line", "lines", "events"])
async def test_prov_21_others_have_their_turn_and_a_cancel_is_answered_in_mid_flood(
    dialect, endless, monkeypatch, wire, connect, kit
):
    """The flood has no end that this test could wait for."""
    for name in ("MOST_OF_AN_EVENT", "MOST_OF_AN_ANSWER", "MOST_LINES"):
        monkeypatch.setattr(bodies, name, 2**60)
    most = 0
    looked_at = bodies.EventData.of

    def counted(self, piece):
        nonlocal most
        most = max(most, len(piece))
        yield from looked_at(self, piece)

    monkeypatch.setattr(bodies.EventData, "of", counted)
    flood = packed(*[endless] * 64)
    wire.play(Answer(flood.pieces * 1000, headers=PACKED))
    begun, turns = asyncio.Event(), 0

    async def read():
        async for _ in connect(dialect.ref).stream(kit.HELLO):
            begun.set()

    async def beat():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    reading, beating = asyncio.create_task(read()), asyncio.create_task(beat())
    async with asyncio.timeout(60):
        await begun.wait()
        before = turns
        while most == 0 or turns < before + 100:
            await asyncio.sleep(0)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
    beating.cancel()
    assert most <= bodies.PIECE


async def test_prov_21_what_was_said_before_stays_and_nobody_asks_again(dialect, tmp_path, wire, kit):
    core = core_of(
        tmp_path,
        TerminalEditor("yes"),
        Config.model_validate({"model": dialect.ref, "smallModel": dialect.ref, "titles": False}),
    )
    wire.play(packed(saying(dialect, kit, "This much ", "is known."), b"x" * (17 * MIB), held=True))
    try:
        outcome = await take(core, UserMessage(turn_id="one", text="go", mode="ask_mode"))
        wire.play(kit.Answer([dialect.hello]))
        again = await take(core, UserMessage(turn_id="two", text="and?", mode="ask_mode"))
    finally:
        await core.close()
    assert (outcome.reason, again.reason) == ("failed", "end_turn")
    assert "check what answers" in outcome.detail
    assert len(wire.sent) == 2
    assert "This much is known." in json.dumps(wire.request)


@pytest.mark.parametrize("status", [401, 500])
async def test_prov_21_a_packed_refusal_is_read_in_part(dialect, status, connect, ask):
    endless = packed(*[b"x" * MIB] * 64, status=status, headers={**PACKED, "content-type": "text/plain"}, held=True)
    with pytest.raises(KeyRejected if status == 401 else ModelUnavailable) as caught:
        await ask(connect(dialect.ref), endless)
    assert len(str(caught.value)) < 700


async def test_prov_21_what_is_packed_twice_or_broken_is_an_answer_that_was_cut_off(dialect, connect, ask, kit):
    for coding, body in (("gzip, gzip", b"x"), ("gzip", b"no gzip")):
        with pytest.raises(ModelUnavailable, match="cut off"):
            await ask(connect(dialect.ref), kit.Answer([body], headers={**PACKED, "content-encoding": coding}))


async def test_prov_21_a_number_without_an_end_is_garbage(dialect, connect, ask, kit):
    with pytest.raises(ModelUnavailable, match="cut off"):
        await ask(connect(dialect.ref), kit.Answer([b'data: {"a": ' + b"1" * 5000 + b"}\n\n"]))


async def test_prov_21_a_list_of_models_without_an_end_is_none(wire, monkeypatch):
    monkeypatch.setattr(local_servers, "SERVERS", {"ollama": SERVERS["ollama"]})
    monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{wire.port}")
    wire.play(packed(*[b"[" * MIB] * 64, headers={**PACKED, "content-type": "application/json"}, held=True))
    async with asyncio.timeout(30):
        assert await find() == ()


@pytest.mark.parametrize(("status", "verdict"), [(200, "accepted"), (401, "refused"), (500, "unknown")])
async def test_prov_21_a_key_is_checked_without_reading_to_the_end(status, verdict, wire):
    endless = packed(*[b"x" * MIB] * 64, status=status, headers={**PACKED, "content-type": "text/plain"}, held=True)
    wire.play(endless)
    async with asyncio.timeout(30):
        assert (await key_check.check("openai", KEY, Config())).verdict == verdict
