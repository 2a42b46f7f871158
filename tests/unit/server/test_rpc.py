"""JSON-RPC's promises, kept to a client in the same process."""

import asyncio
import json
import logging
import os
import signal
import subprocess

import pytest
from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import lsp_method

from odin_lsp.errors import ModelError, RequestError
from odin_lsp.frames import MAX_FRAME
from odin_lsp.server.rpc import ClientError, OdinProtocol
from odin_lsp.server.serving import serve

PARSE, INVALID, NO_METHOD, PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
NOT_INITIALIZED, CANCELLED, FAILED = -32002, -32800, -32803


class Server(LanguageServer):
    def __init__(self) -> None:
        super().__init__("odin", "1", protocol_cls=OdinProtocol)
        self.log: list[str] = []
        self.closing = asyncio.Event()

    async def close(self) -> None:
        self.closing.set()

    async def rest(self) -> None:
        """Take for ever, and time to clean up."""
        self.log.append("started")
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            self.log.append("cleaned up")


@pytest.fixture
async def server():
    server = Server()

    @server.feature("odin/rest")
    async def rest(params):
        await server.rest()

    @server.command("rest")
    async def rest_command(*arguments):
        await server.rest()

    @server.feature("odin/echo")
    def echo(params):
        return params

    @server.feature("odin/raise")
    def raise_now(params):
        raise ERRORS[params["error"]]

    @server.feature("odin/raiseLater")
    async def raise_later(params):
        await asyncio.sleep(0)
        raise ERRORS[params["error"]]

    return server


@pytest.fixture
async def serving(server, channel, client):
    """The task that serves; its result is the exit code."""
    task = asyncio.create_task(serve(server, channel))
    yield task
    channel.hang_up()
    async with asyncio.timeout(5):
        await task


@pytest.fixture
async def session(serving, client):
    await client.initialize()
    return client


async def code_of(serving) -> int:
    async with asyncio.timeout(5):
        return await serving


async def pong(client) -> None:
    """The server is neither deaf nor behind: its very next answer is to this."""
    client.request("ping", "odin/ping")
    assert await client.error() == ("ping", NO_METHOD)


# What arrives


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"hello",
        b'{"a": "\xff"}',
        b'\xef\xbb\xbf{"jsonrpc": "2.0", "id": 1, "method": "odin/echo"}',
        '{"jsonrpc": "2.0", "id": 1, "method": "odin/echo"}'.encode("utf-16"),
        b'{"jsonrpc": "2.0", "id": 1, "method": "odin/echo", "params": {"x": NaN}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "odin/echo", "params": {"x": -Infinity}}',
        b'{"x": ' + b"9" * 5000 + b"}",
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ],
    ids=lambda body: repr(body[:20]),
)
async def test_what_is_not_json_is_a_parse_error(session, body):
    session.send(body)

    assert await session.error() == (None, PARSE)
    await pong(session)


async def test_a_message_that_is_too_long_is_a_parse_error(session):
    session.channel.feed(b"Content-Length: %d\r\n\r\n" % (MAX_FRAME + 1))

    assert await session.error() == (None, PARSE)


@pytest.mark.parametrize(
    ("message", "id"),
    [
        ([], None),
        ([{"jsonrpc": "2.0", "id": 1, "method": "odin/echo"}], None),
        (1, None),
        ("odin/echo", None),
        (None, None),
        ({}, None),
        ({"id": 1, "method": "odin/echo"}, 1),
        ({"jsonrpc": "1.0", "id": 1, "method": "odin/echo"}, 1),
        ({"jsonrpc": 2.0, "id": "a", "method": "odin/echo"}, "a"),
        ({"jsonrpc": "2.0", "id": None, "method": "odin/echo"}, None),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "odin/echo"}, None),
        ({"jsonrpc": "2.0", "id": True, "method": "odin/echo"}, None),
        ({"jsonrpc": "2.0", "id": {}, "method": "odin/echo"}, None),
        ({"jsonrpc": "2.0", "id": [1], "method": "odin/echo"}, None),
        ({"jsonrpc": "2.0", "id": 1, "method": 5}, 1),
        ({"jsonrpc": "2.0", "id": 1, "method": None}, 1),
        ({"jsonrpc": "2.0", "id": 1, "method": "odin/echo", "params": "x"}, 1),
        ({"jsonrpc": "2.0", "id": 1, "method": "odin/echo", "params": 0}, 1),
        ({"jsonrpc": "2.0", "method": "odin/echo", "params": False}, None),
        ({"jsonrpc": "2.0", "id": 1, "result": 1, "error": {"code": 1, "message": ""}}, 1),
        ({"jsonrpc": "2.0", "id": None, "result": 1}, None),
        ({"jsonrpc": "2.0", "result": 1}, None),
        ({"jsonrpc": "2.0"}, None),
    ],
    ids=str,
)
async def test_what_is_no_message_is_an_invalid_request(session, message, id):
    session.send(message)

    assert await session.error() == (id, INVALID)
    await pong(session)


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "id": "never asked", "result": 1},
        {"jsonrpc": "2.0", "id": 7, "error": {"code": 1, "message": "x"}},
        {"jsonrpc": "2.0", "id": 7},
        {"jsonrpc": "2.0", "id": None, "error": {"code": PARSE, "message": "x"}},
        {"jsonrpc": "2.0", "method": "odin/unheard"},
        {"jsonrpc": "2.0", "method": "$/unheard", "params": {}},
        {"jsonrpc": "2.0", "method": "initialize", "params": {"capabilities": {}}},
        {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": 5}},
        {"jsonrpc": "2.0", "method": "$/cancelRequest"},
        {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": []}},
    ],
    ids=str,
)
async def test_what_asks_for_no_answer_gets_none(session, message):
    session.send(message)

    await pong(session)


@pytest.mark.parametrize(
    ("method", "params", "complaint"),
    [
        ("workspace/executeCommand", None, "params.command is missing"),
        ("workspace/executeCommand", [], "params.command is not valid"),
        ("workspace/executeCommand", {"command": 5}, "params.command is not valid"),
        ("workspace/executeCommand", {"command": "x", "arguments": 5}, "params.arguments is not valid"),
        ("textDocument/hover", {"position": {}}, "params.textDocument is missing"),
        (
            "textDocument/hover",
            {"textDocument": {"uri": "x"}, "position": {"line": "x", "character": 0}},
            "params.position.line is not valid",
        ),
    ],
)
async def test_invalid_params_are_named(server, session, method, params, complaint):
    server.feature("textDocument/hover")(lambda params: None)
    session.request(1, method, params)

    answer = await session.receive()
    assert answer["error"] == {"code": PARAMS, "message": complaint}


@pytest.mark.parametrize("params", [{}, [], None, {"jsonrpc": "2.0", "id": 1, "method": "x"}, {"a": [{"jsonrpc": 1}]}])
async def test_what_is_nested_in_params_is_not_looked_at(session, params):
    session.request(1, "odin/echo", params)

    assert (await session.receive())["result"] == params


async def test_lone_surrogates_survive(session):
    session.request("\udc80", "odin/echo", {"\ud800": "\udfff"})

    answer = await session.receive()
    assert (answer["id"], answer["result"]) == ("\udc80", {"\ud800": "\udfff"})


async def test_of_duplicate_keys_the_last_counts(session):
    session.send(b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "odin/echo"}')

    assert (await session.receive())["id"] == 2


async def test_a_document_whose_text_is_null_is_not_opened(server, session):
    document = {"uri": "file:///a", "languageId": "x", "version": 1, "text": None}
    session.notify("textDocument/didOpen", {"textDocument": document})

    await pong(session)
    assert server.workspace.text_documents == {}


async def test_enumerations_stay_what_they_are(server, session):
    session.notify("$/setTrace", {"value": "verbose"})

    await pong(session)
    assert server.protocol.trace is types.TraceValue.Verbose


# The life of a server


async def test_nothing_is_done_before_initialize(serving, client):
    client.notify("textDocument/didOpen", {})
    client.request(1, "odin/echo")
    client.request(2, "odin/unheard")
    client.request(3, "shutdown")

    assert [await client.error() for _ in range(3)] == [
        (1, NOT_INITIALIZED),
        (2, NOT_INITIALIZED),
        (3, NOT_INITIALIZED),
    ]


async def test_initialize_is_done_once(session):
    session.request(2, "initialize", {"capabilities": {}})

    assert await session.error() == (2, INVALID)


async def test_an_initialize_that_was_refused_may_be_sent_again(serving, client):
    client.request(1, "initialize", {"capabilities": {}, "processId": "x"})
    assert await client.error() == (1, PARAMS)

    await client.initialize()


async def test_a_second_initialize_does_not_overtake_the_first(server, serving, client):
    proceed = asyncio.Event()
    server.feature("initialize")(lambda params: proceed.wait())
    client.request(1, "initialize", {"capabilities": {}})
    client.request(2, "initialize", {"capabilities": {}})
    client.request(3, "odin/echo")

    assert [await client.error() for _ in range(2)] == [(2, INVALID), (3, NOT_INITIALIZED)]
    proceed.set()
    assert (await client.receive())["id"] == 1


async def test_a_client_may_send_everything_at_once(serving, client):
    client.request(1, "initialize", {"capabilities": {}})
    client.notify("initialized", {})
    client.request(2, "odin/echo", {"a": 1})

    assert [(await client.receive())["id"] for _ in range(2)] == [1, 2]


async def test_after_shutdown_nothing_is_done_but_exit(server, session, serving):
    session.request(1, "odin/rest")
    session.request(2, "shutdown")
    session.request(3, "odin/echo")
    session.request(4, "shutdown")
    session.notify("$/setTrace", {"value": "verbose"})

    assert (await session.receive())["result"] is None
    assert {await session.error() for _ in range(3)} == {(1, CANCELLED), (3, INVALID), (4, INVALID)}
    session.notify("exit")
    assert await code_of(serving) == 0
    assert server.protocol.trace is types.TraceValue.Off


async def test_exit_without_shutdown_is_a_failure(session, serving):
    session.notify("exit")

    assert await code_of(serving) == 1


async def test_exit_is_heard_before_initialize(serving, client):
    client.notify("exit")

    assert await code_of(serving) == 1


async def test_exit_counts_when_the_client_hangs_up_at_once(session, serving):
    session.request(1, "shutdown")
    session.notify("exit")
    session.channel.hang_up()

    assert await code_of(serving) == 0


async def test_end_of_input_is_a_failure(session, serving):
    session.channel.hang_up()

    assert await code_of(serving) == 1


async def test_a_broken_frame_has_a_code_of_its_own(session, serving):
    session.channel.feed(b"Content-Length: x\r\n\r\n{}")

    assert await code_of(serving) == 2


async def test_a_client_that_is_gone_is_a_failure(session, serving):
    session.channel.broken = True
    session.request(1, "odin/echo")

    assert await code_of(serving) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_server(session, serving, number):
    os.kill(os.getpid(), number)

    assert await code_of(serving) == 128 + number


async def test_the_death_of_the_client_ends_the_server(serving, client):
    process = subprocess.Popen(["sleep", "60"])  # noqa: ASYNC220 starting it takes no time
    client.request(1, "initialize", {"processId": process.pid, "capabilities": {}})
    await client.receive()
    process.kill()
    process.wait()

    assert await code_of(serving) == 1


async def test_every_ending_cancels_what_runs_and_closes_the_server(server, session, serving):
    session.request(1, "odin/rest")
    session.request(2, "workspace/executeCommand", {"command": "rest"})
    await pong(session)
    session.channel.hang_up()

    await code_of(serving)
    assert server.log == ["started", "started", "cleaned up", "cleaned up"]
    assert server.closing.is_set()
    assert {await session.error() for _ in range(2)} == {(1, CANCELLED), (2, CANCELLED)}


async def test_nothing_that_hangs_delays_the_end(server, session, serving):
    """Neither a handler that ignores its cancellation, nor a close that does, nor a client that does not read."""
    released = asyncio.Event()

    async def stubborn(*_):
        while not released.is_set():
            try:
                await released.wait()
            except asyncio.CancelledError:
                continue

    server.feature("odin/stubborn")(stubborn)
    server.close = stubborn
    session.request(1, "odin/stubborn")
    await pong(session)
    session.channel.taking.clear()
    session.request(2, "odin/echo")
    session.notify("exit")

    async with asyncio.timeout(10):
        assert await serving == 1
    released.set()


# Failure


ERRORS = {
    "request": RequestError("say more"),
    "model": ModelError("no model"),
    "bug": ZeroDivisionError("a secret"),
    "recursion": RecursionError("a secret"),
    "memory": MemoryError("a secret"),
    "cancelled": asyncio.CancelledError("a secret"),
}


@pytest.mark.parametrize("method", ["odin/raise", "odin/raiseLater"])
@pytest.mark.parametrize(
    ("error", "answer"),
    [
        ("request", {"code": PARAMS, "message": "say more"}),
        ("model", {"code": FAILED, "message": "no model"}),
        ("bug", {"code": INTERNAL, "message": "internal error; see Odin's log"}),
        ("recursion", {"code": INTERNAL, "message": "internal error; see Odin's log"}),
        ("memory", {"code": INTERNAL, "message": "internal error; see Odin's log"}),
        ("cancelled", {"code": CANCELLED, "message": "cancelled"}),
    ],
)
async def test_a_failure_is_the_answer_to_its_own_request(session, method, error, answer):
    session.request(1, method, {"error": error})

    assert await session.receive() == {"jsonrpc": "2.0", "id": 1, "error": answer}
    await pong(session)


async def test_a_bug_is_told_to_the_log_only(session, caplog):
    session.notify("odin/raise", {"error": "bug"})
    session.notify("odin/raiseLater", {"error": "bug"})
    session.request(1, "odin/raiseLater", {"error": "bug"})

    assert "secret" not in json.dumps(await session.receive())
    await pong(session)
    assert caplog.text.count("ZeroDivisionError: a secret") == 3


async def test_a_result_that_cannot_be_sent_is_a_failure(server, session):
    server.feature("odin/nan")(lambda params: float("nan"))
    session.request(1, "odin/nan")

    assert await session.error() == (1, INTERNAL)


async def test_messages_are_not_logged(session, caplog):
    caplog.set_level(logging.DEBUG)
    session.request(1, "odin/echo", {"key": "sk-secret"})
    await session.receive()
    session.notify("odin/echo", {"key": "sk-secret"})
    session.notify("textDocument/didOpen", {"textDocument": "sk-secret"})
    await pong(session)

    assert "sk-secret" not in caplog.text


async def test_an_id_that_is_in_use_is_refused(session):
    session.request(1, "odin/rest")
    session.request(1, "odin/echo")
    session.request("1", "odin/echo")

    assert await session.error() == (1, INVALID)
    assert (await session.receive())["id"] == "1"
    session.notify("$/cancelRequest", {"id": 1})
    assert await session.error() == (1, CANCELLED)
    session.request(1, "odin/echo")
    assert (await session.receive())["id"] == 1


# Cancelling


@pytest.mark.parametrize(
    ("method", "params"), [("odin/rest", {}), ("workspace/executeCommand", {"command": "rest", "arguments": [1]})]
)
async def test_a_cancelled_request_is_answered_once_and_after_its_cleaning_up(server, session, method, params):
    session.request(1, method, params)
    for _ in range(3):
        session.notify("$/cancelRequest", {"id": 1})

    assert await session.error() == (1, CANCELLED)
    assert server.log == ["started", "cleaned up"]
    session.notify("$/cancelRequest", {"id": 1})
    await pong(session)


async def test_a_second_cancel_does_not_disturb_the_cleaning_up(server, session):
    cleaning, cleaned = asyncio.Event(), asyncio.Event()

    @server.feature("odin/clean")
    async def clean(params):
        try:
            await asyncio.Event().wait()
        finally:
            cleaning.set()
            await cleaned.wait()
            server.log.append("cleaned up")

    session.request(1, "odin/clean")
    session.notify("$/cancelRequest", {"id": 1})
    await cleaning.wait()
    session.notify("$/cancelRequest", {"id": 1})
    await pong(session)
    cleaned.set()

    assert await session.error() == (1, CANCELLED)
    assert server.log == ["cleaned up"]


async def test_a_handler_may_answer_although_it_was_cancelled(server, session):
    @server.feature("odin/stop")
    async def stop(params):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "interrupted"

    session.request("a", "odin/stop")
    session.notify("$/cancelRequest", {"id": "a"})

    assert (await session.receive())["result"] == "interrupted"


@pytest.mark.parametrize("id", [True, 1.0, "1", 2, None])
async def test_only_the_request_that_was_named_is_cancelled(session, id):
    session.request(1, "odin/rest")
    session.notify("$/cancelRequest", {"id": id})
    await pong(session)

    session.notify("$/cancelRequest", {"id": 1})
    assert await session.error() == (1, CANCELLED)


# pygls


async def test_messages_are_handled_in_order(server, session):
    def document(**more):
        return {"textDocument": {"uri": "file:///a", "version": 1, **more}}

    @server.feature("odin/text")
    def text(params):
        return server.workspace.get_text_document("file:///a").source

    session.notify("textDocument/didOpen", document(languageId="x", text=""))
    for number in range(500):
        start = {"line": 0, "character": 0}
        change = {"range": {"start": start, "end": start}, "text": f"{number},"}
        session.notify("textDocument/didChange", {**document(), "contentChanges": [change]})
    session.request(1, "odin/text")

    assert (await session.receive())["result"] == "".join(f"{number}," for number in reversed(range(500)))


async def test_built_ins_await_what_they_call(channel, client):
    class Extended(OdinProtocol):
        @lsp_method(types.INITIALIZE)
        def lsp_initialize(self, params):
            result = yield from super().lsp_initialize(params)
            result.capabilities.experimental = {"odin": {}}
            return result

    server = LanguageServer("odin", "1", protocol_cls=Extended)
    called = []

    @server.feature("initialized")
    async def initialized(params):
        await asyncio.sleep(0)
        called.append(server.protocol.msg_id)

    @server.command("add")
    async def add(first: int, second: int):
        await asyncio.sleep(0)
        return server.protocol.msg_id, first + second

    serving = asyncio.create_task(serve(server, channel))
    client.request(1, "initialize", {"capabilities": {}})
    client.notify("initialized", {})
    client.request(2, "workspace/executeCommand", {"command": "add", "arguments": [1, 2]})
    client.request(3, "workspace/executeCommand", {"command": "subtract"})

    answers = {answer["id"]: answer for answer in [await client.receive() for _ in range(3)]}
    assert answers[1]["result"]["capabilities"]["experimental"] == {"odin": {}}
    assert answers[2]["result"] == [2, 3]
    assert answers[3]["error"]["code"] == PARAMS
    assert called == [None]
    channel.hang_up()
    assert await serving == 1


# Asking the client


async def ask(server, client, method="odin/question", params=None, timeout=None):
    task = asyncio.create_task(server.protocol.ask_client(method, params, timeout))
    asked = await client.receive()
    assert asked["method"] == method
    return task, asked["id"]


def unanswered(server) -> int:
    return len(server.protocol._request_futures) + len(server.protocol._result_types)


APPLY = "workspace/applyEdit", types.ApplyWorkspaceEditParams(types.WorkspaceEdit())


async def test_the_clients_answer_is_plain_json(server, session):
    task, asked = await ask(server, session, params={"title": "?"})
    session.send({"jsonrpc": "2.0", "id": asked, "result": {"optionIds": ["deny"]}})

    assert await task == {"optionIds": ["deny"]}


async def test_an_answer_that_lsp_defines_is_typed(server, session):
    task, asked = await ask(server, session, *APPLY)
    session.send({"jsonrpc": "2.0", "id": asked, "result": {"applied": True, "failedChange": 3}})

    assert await task == types.ApplyWorkspaceEditResult(applied=True, failed_change=3)


async def test_what_pygls_asks_is_answered_too(server, session):
    task = asyncio.create_task(server.window_show_document_async(types.ShowDocumentParams(uri="file:///a")))
    asked = await session.receive()
    session.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"success": True}})

    assert (await task).success


@pytest.mark.parametrize(
    ("answer", "complaint", "code"),
    [
        ({"error": {"code": -5, "message": "no"}}, "no", -5),
        ({"error": {"code": -5, "message": "no"}, "result": None}, "no", -5),
        ({"error": "no"}, "unreadable", INVALID),
        ({"result": {"applied": None, "failureReason": 5}}, "answer.result", INVALID),
        ({"result": 5}, "answer.result", INVALID),
    ],
)
async def test_an_error_of_the_client_is_raised(server, session, answer, complaint, code):
    task, asked = await ask(server, session, *APPLY)
    session.send({"jsonrpc": "2.0", "id": asked, **answer})

    with pytest.raises(ClientError, match=complaint) as raised:
        await task
    assert (raised.value.code, unanswered(server)) == (code, 0)


async def test_an_answer_that_is_result_and_error_is_an_error_and_told_so(server, session):
    task, asked = await ask(server, session)
    session.send({"jsonrpc": "2.0", "id": asked, "result": 1, "error": {"code": -5, "message": "no"}})

    assert await session.error() == (asked, INVALID)
    with pytest.raises(ClientError, match="no"):
        await task


async def test_a_client_that_answers_late_was_told_and_is_ignored(server, session):
    task, asked = await ask(server, session, timeout=0.01)
    with pytest.raises(TimeoutError):
        await task

    assert await session.receive() == {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": asked}}
    session.send({"jsonrpc": "2.0", "id": asked, "result": 1})
    await pong(session)


async def test_a_question_that_is_cancelled_is_taken_back(server, session):
    task, asked = await ask(server, session)
    task.cancel()

    assert (await session.receive())["params"] == {"id": asked}
    assert unanswered(server) == 0


async def test_a_thousand_unanswered_questions_leave_nothing_behind(server, session):
    everything = types.ConfigurationParams(items=[])
    for timeout in (0, 0.01):
        rounds = [server.protocol.ask_client("workspace/configuration", everything, timeout) for _ in range(500)]
        outcomes = await asyncio.gather(*rounds, return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {TimeoutError}

    assert unanswered(server) == 0


async def test_a_cancelled_request_takes_its_question_back(server, session):
    @server.feature("odin/ask")
    async def ask(params):
        return await server.protocol.ask_client("odin/question", {}, None)

    session.request(1, "odin/ask")
    asked = await session.receive()
    session.notify("$/cancelRequest", {"id": 1})

    assert (await session.receive())["params"] == {"id": asked["id"]}
    assert await session.error() == (1, CANCELLED)
    assert unanswered(server) == 0


async def test_the_backlog_is_what_the_client_has_not_taken(server, session):
    session.channel.taking.clear()
    server.protocol.notify("odin/event", {"text": "x" * 1000})
    assert server.protocol.backlog > 1000

    session.channel.taking.set()
    await session.receive()


async def test_without_a_client_nobody_is_told():
    server = Server()

    server.protocol.notify("odin/event", {})
    assert server.protocol.backlog == 0
