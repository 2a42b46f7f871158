"""Everything that can go wrong between Odin and a provider, for all of them."""

import asyncio
import json
import time
from contextlib import aclosing
from email.utils import formatdate

import pytest

from odin_lsp.errors import ContextTooLong, KeyRejected, ModelError, ModelUnavailable
from odin_lsp.models.base import ArgumentsDelta, CallReady, Connection, Network, Reached, Received, Reply, TextDelta
from tests.support.ports import reserved_port
from tests.support.sampling import sampled

HTML = b"<!DOCTYPE html><html><body>Please log in to the hotel's network</body></html>"


@pytest.mark.thorough
@pytest.mark.parametrize("framing", ["chunked", "close"])
async def test_an_answer_that_is_cut_at_any_byte_never_counts(dialect, framing, wire, connect, ask, kit):
    model = connect(dialect.ref)
    body = dialect.called
    pieces = [body[:100], body[100:101], body[101:]]
    raw = kit.Answer(pieces, framing=framing).raw()
    complete = len(raw) if framing == "chunked" else raw.rindex(dialect.last) + 1

    for cut in sampled(range(complete)):
        with pytest.raises(ModelUnavailable):
            await ask(model, raw[:cut])

    *_, reply = await ask(model, raw)
    assert [call.name for call in reply.message.calls] == ["read", "ls"]


async def test_nothing_but_speculation_comes_out_of_an_answer_without_an_end(dialect, wire, connect, kit):
    wire.play(kit.Answer([dialect.called[:-60]], framing="close"))
    seen = []

    async def read():
        async for event in connect(dialect.ref).stream(kit.HELLO):
            seen.append(event)  # noqa: PERF401 - what was seen before the fault matters

    with pytest.raises(ModelUnavailable, match="cut off"):
        await read()
    assert seen
    assert all(isinstance(event, Reached | TextDelta | ArgumentsDelta | CallReady) for event in seen)


async def test_how_much_of_an_answer_has_come_is_counted_anew_for_each_request(dialect, wire, connect, kit):
    model = connect(dialect.ref)
    told = []
    for body in (dialect.called, dialect.hello, dialect.called):
        wire.play(kit.Answer([body]))
        *_, received, reply = [event async for event in model.stream(kit.HELLO)]
        assert isinstance(reply, Reply)
        assert isinstance(received, Received)
        told.append((received, len(body), body.count(b"data:")))

    assert told[0] == told[2]
    for received, size, events in told:
        assert 0.5 * size < received.size < size
        assert received.events == events


async def test_arguments_are_shown_before_their_call_is_complete(dialect, wire, connect, kit):
    """Google sends calls as a whole."""
    wire.play(kit.Answer([dialect.called]))

    events = [event async for event in connect(dialect.ref).stream(kit.HELLO)]

    shown: dict[str, str] = {}
    for event in events:
        match event:
            case ArgumentsDelta(call_id, _, text):
                shown[call_id] = shown.get(call_id, "") + text
            case CallReady(call) if dialect.provider != "google" and call.arguments:
                assert json.loads(shown[call.id]) == call.arguments
    assert bool(shown) is (dialect.provider != "google")


@pytest.mark.parametrize("framing", ["chunked", "close", "length"])
async def test_characters_survive_being_split_at_any_byte(dialect, framing, connect, ask, kit):
    pieces = [bytes([byte]) for byte in dialect.hello]
    *deltas, reply = await ask(connect(dialect.ref), kit.Answer(pieces, framing=framing))
    assert "".join(delta.text for delta in deltas) == "Grüße 👋"
    assert reply.message.text == "Grüße 👋"


async def test_an_overload_within_an_answer_is_unavailability(dialect, connect, ask, kit):
    with pytest.raises(ModelUnavailable, match="Overloaded") as caught:
        await ask(connect(dialect.ref), kit.Answer([dialect.spoken_error]))
    assert not caught.value.limited


async def test_garbage_within_an_answer_is_unavailability(dialect, connect, ask, kit):
    for garbage in (b"data: {not json\n\n", b"event: message_start\ndata: \xff\xfe\n\n"):
        with pytest.raises(ModelUnavailable, match="cut off"):
            await ask(connect(dialect.ref), kit.Answer([garbage]))


@pytest.mark.parametrize(
    ("status", "expected", "says"),
    [
        (400, ModelError, "refused the request .*bad thing"),
        (401, KeyRejected, "check {key}"),
        (403, KeyRejected, "check {key}"),
        (404, ModelError, "does not know {model}.*check `model`"),
        (408, ModelUnavailable, "try again"),
        (409, ModelUnavailable, "try again"),
        (413, ContextTooLong, "make it shorter"),
        (422, ModelError, "refused"),
        (429, ModelUnavailable, "limit for this key"),
        (500, ModelUnavailable, "try again"),
        (503, ModelUnavailable, "try again"),
        (529, ModelUnavailable, "try again"),
    ],
)
async def test_a_status_becomes_the_error_that_says_what_to_do(
    dialect, status, expected, says, wire, connect, ask, kit
):
    answer = kit.Answer(
        [dialect.error(status, "bad thing")], status, {"content-type": "application/json"}, framing="length"
    )
    text = says.format(key=dialect.key_variable, model=dialect.model)
    with pytest.raises(ModelError, match=text) as caught:
        await ask(connect(dialect.ref), answer)
    assert type(caught.value) is expected
    assert getattr(caught.value, "limited", False) == (status == 429)
    assert len(wire.sent) == 1, "nobody tries again here"


@pytest.mark.parametrize("status", [401, 500, 502])
async def test_an_error_that_is_a_page_is_read_by_its_status(dialect, status, connect, ask, kit):
    answer = kit.Answer([HTML * 100], status, {"content-type": "text/html"})
    with pytest.raises(KeyRejected if status == 401 else ModelUnavailable) as caught:
        await ask(connect(dialect.ref), answer)
    assert len(str(caught.value)) < 700


async def test_a_refusal_without_an_end_is_read_in_part(dialect, connect, ask, kit):
    endless = kit.Answer([b"x" * 10_000] * 21, 401, {"content-type": "text/plain"}, held=True)
    with pytest.raises(KeyRejected):
        await ask(connect(dialect.ref), endless)


@pytest.mark.parametrize(
    "address", ["localhost:1234", "ftp://localhost", "http://", "http://[", "http://localhost:port"]
)
async def test_an_address_that_is_none_is_told_and_nothing_is_sent(dialect, address, monkeypatch, wire, connect):
    monkeypatch.setenv(dialect.base_variable, address)
    with pytest.raises(ModelError, match=f"{dialect.base_variable} holds no address.*http://"):
        connect(dialect.ref)
    assert wire.sent == []


@pytest.mark.parametrize(
    "header", ["X-Ä: v", "X: ü", "two words: v", ": v", "a: b\x01", "Content-Length: 3", "Host: x"]
)
async def test_a_header_that_cannot_be_sent_is_told_before_anything_is(header, monkeypatch, wire, connect):
    for ref, variable in (
        ("anthropic/claude-sonnet-5-5", "ANTHROPIC_CUSTOM_HEADERS"),
        ("openai/gpt-6-sol", "OPENAI_CUSTOM_HEADERS"),
    ):
        monkeypatch.setenv(variable, f"X-Team: odin\n{header}")
        with pytest.raises(ModelError, match=f"{variable} has a header that cannot be sent"):
            connect(ref)
    assert wire.sent == []


async def test_a_name_of_ones_organization_that_cannot_be_sent_is_told(monkeypatch, connect):
    monkeypatch.setenv("OPENAI_ORG_ID", "größer")
    with pytest.raises(ModelError, match="OPENAI_ORG_ID has characters that cannot be sent"):
        connect("openai/gpt-6-sol")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "3600"}, 3600.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({}, None),
    ],
)
async def test_the_time_to_wait_is_passed_on(dialect, headers, seconds, connect, ask, kit):
    answer = kit.Answer([dialect.error(429, "slow down")], 429, headers)
    with pytest.raises(ModelUnavailable) as caught:
        await ask(connect(dialect.ref), answer)
    assert caught.value.retry_after == seconds


async def test_the_time_to_wait_may_be_a_date(dialect, connect, ask, kit):
    headers = {"retry-after": formatdate(time.time() + 60, usegmt=True)}
    with pytest.raises(ModelUnavailable) as caught:
        await ask(connect(dialect.ref), kit.Answer([dialect.error(503, "busy")], 503, headers))
    assert caught.value.retry_after == pytest.approx(60, abs=5)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ({"content-type": "text/html"}, HTML),
        ({"content-type": "application/json"}, b'{"ok": true}'),
        ({"content-type": "application/json"}, b'[{"candidates": []}]'),
        ({}, HTML),
    ],
)
async def test_an_answer_that_is_no_event_stream_is_told_apart(dialect, wire, kind, body, connect, ask, kit):
    answer = kit.Answer([body], headers=kind)
    says = rf"answers at 127.0.0.1:{wire.port} does not speak .*no event stream.*check {dialect.base_variable}"
    with pytest.raises(ModelError, match=says) as caught:
        await ask(connect(dialect.ref), answer)
    assert type(caught.value) is ModelError


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (403, "a proxy or firewall in front of 127.0.0.1:{port}"),
        (404, "what answers at 127.0.0.1:{port} does not speak"),
        (405, "what answers at 127.0.0.1:{port} does not speak"),
    ],
)
async def test_a_page_that_refuses_is_no_word_about_the_key_or_the_model(
    dialect, wire, status, says, connect, ask, kit
):
    answer = kit.Answer([HTML], status, {"content-type": "text/html; charset=utf-8"})
    with pytest.raises(ModelError, match=says.format(port=wire.port)) as caught:
        await ask(connect(dialect.ref), answer)
    assert type(caught.value) is ModelError
    assert dialect.base_variable in str(caught.value)
    assert dialect.key_variable not in str(caught.value)


async def test_a_redirect_is_not_followed_and_the_key_stays_here(dialect, wire, connect, ask, kit):
    elsewhere = kit.Wire()
    server = await asyncio.start_server(elsewhere.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    answer = kit.Answer(status=307, headers={"location": f"http://localhost:{port}/"}, framing="length")
    with pytest.raises(ModelError, match=dialect.base_variable):
        await ask(connect(dialect.ref), answer)
    server.close()
    assert elsewhere.sent == []


async def test_the_key_and_the_address_come_from_the_environment(dialect, wire, connect, ask, kit):
    await ask(connect(dialect.ref), kit.Answer([dialect.hello]))
    name, value = dialect.key_header
    assert wire.sent[0].headers[name] == value


@pytest.mark.parametrize("key", [" given ", "Bearer given", "given\n"])
async def test_a_key_that_is_given_goes_before_and_is_cleaned(dialect, key, wire, connect, ask, kit):
    await ask(connect(dialect.ref, Connection(key)), kit.Answer([dialect.hello]))
    assert wire.sent[0].headers[dialect.key_header[0]].removeprefix("Bearer ") == "given"


@pytest.mark.parametrize("key", ["two words", "two\nlines", "schlüssel", "a\x00b", "  "])
async def test_a_key_that_cannot_be_one_is_never_sent(dialect, key, wire, connect):
    with pytest.raises(KeyRejected, match=dialect.key_variable):
        connect(dialect.ref, Connection(key))
    assert wire.sent == []


async def test_a_key_of_the_editor_that_is_refused_is_to_be_changed_there(dialect, connect, ask, kit):
    connection = Connection("given", key_place="the key in the editor")
    headers = {"content-type": "application/json"}
    with pytest.raises(KeyRejected, match="check the key in the editor") as caught:
        await ask(connect(dialect.ref, connection), kit.Answer([dialect.error(401, "bad thing")], 401, headers))
    assert dialect.key_variable not in str(caught.value)
    with pytest.raises(KeyRejected, match="whole and alone, into the editor"):
        connect(dialect.ref, Connection("two words", key_place="the key in the editor"))


async def test_a_missing_key_says_which_variable_to_set(dialect, monkeypatch, connect):
    monkeypatch.delenv(dialect.key_variable)
    monkeypatch.delenv(dialect.base_variable)
    with pytest.raises(KeyRejected, match=f"set {dialect.key_variable}"):
        connect(dialect.ref)


async def test_the_key_is_never_repeated_in_an_error(dialect, connect, ask, kit):
    answer = kit.Answer([dialect.error(401, f"the key {kit.KEY} is wrong")], 401)
    with pytest.raises(KeyRejected) as caught:
        await ask(connect(dialect.ref), answer)
    assert kit.KEY not in str(caught.value)
    assert "the key [key] is wrong" in str(caught.value)


async def test_a_server_that_is_not_there_is_unavailability(dialect, monkeypatch, connect, kit):
    with reserved_port() as port:
        monkeypatch.setenv(dialect.base_variable, f"http://127.0.0.1:{port}{dialect.path}")
        with pytest.raises(ModelUnavailable, match=f"cannot be reached .*check .*{dialect.base_variable}"):
            await anext(connect(dialect.ref).stream(kit.HELLO))


async def test_a_server_that_is_too_slow_is_unavailability(dialect, wire, connect, kit):
    wire.play(kit.Answer([dialect.hello[:20]], held=True))
    model = connect(dialect.ref, Connection(network=Network(timeout=0.05)))
    with pytest.raises(ModelUnavailable):
        _ = [event async for event in model.stream(kit.HELLO)]


async def test_the_proxy_is_used(dialect, monkeypatch, wire, connect, ask, kit):
    monkeypatch.setenv(dialect.base_variable, f"http://provider.invalid{dialect.path}")
    model = connect(dialect.ref, Connection(network=Network(proxy=wire.url)))
    *_, reply = await ask(model, kit.Answer([dialect.hello]))
    assert wire.sent[0].target.startswith("http://provider.invalid/")
    assert reply.stop == "end"


@pytest.mark.parametrize("network", [Network(ca_bundle="/no/such/file.pem"), Network(proxy="gopher://x")])
async def test_a_network_setting_that_cannot_work_is_told(dialect, network, connect):
    with pytest.raises(ModelError, match=r"cannot be used .*check its"):
        connect(dialect.ref, Connection(network=network))


async def test_closing_the_stream_closes_the_connection(dialect, wire, connect, kit):
    wire.play(kit.Answer([dialect.called[:-60]], held=True))
    async with asyncio.timeout(5), aclosing(connect(dialect.ref).stream(kit.HELLO)) as stream:
        await anext(stream)
    async with asyncio.timeout(1):
        await wire.hung_up.wait()


async def test_cancelling_the_reader_closes_the_connection(dialect, wire, connect, kit):
    wire.play(kit.Answer([dialect.called[:-60]], held=True))
    started = asyncio.Event()

    async def read():
        async for _ in connect(dialect.ref).stream(kit.HELLO):
            started.set()

    task = asyncio.create_task(read())
    async with asyncio.timeout(5):
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await wire.hung_up.wait()


async def test_a_model_answers_many_at_once_and_again(dialect, connect, wire, kit):
    model = connect(dialect.ref)
    wire.play(*[kit.Answer([dialect.hello])] * 21)

    async def read():
        return [event async for event in model.stream(kit.HELLO)]

    for events in await asyncio.gather(*(read() for _ in range(20))):
        assert events[0] == Reached("waiting_token")
        assert isinstance(events[-1], Reply)
    assert (await read())[-1].message.text == "Grüße 👋"
