"""RPC-01 to RPC-11: whatever a client does, the next request is answered or the process ends with a code.

The rows are those of the threat model. `odin` is the real server; `crashing` is `rpc_server.py`, whose handlers
misbehave in ways that Odin's cannot be made to.
"""

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any

import pytest

from tests.support.forking import forked
from tests.support.sampling import fewer, sampled

PARSE, INVALID, NO_METHOD, PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
NOT_INITIALIZED, CANCELLED, FAILED = -32002, -32800, -32803

ODIN = [sys.executable, "-m", "odin_lsp"]
CRASHING = [sys.executable, str(Path(__file__).with_name("rpc_server.py"))]
PATIENCE = 20
"""Seconds to wait for what must come."""


class Process:
    """A server and its client, which answers nothing by itself but keeps what it is asked."""

    def __init__(self, command: list[str], folder: Path, stderr: int = subprocess.DEVNULL) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            cwd=folder,
        )
        self.answers: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self.reading = Event()
        self.reading.set()
        self._received: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._pings = 0
        Thread(target=self._read, daemon=True).start()

    def initialize(self, **params: Any) -> "Process":
        self.request("initialize", "initialize", {"processId": None, "capabilities": {}, **params})
        assert "result" in self.answer("initialize")
        self.notify("initialized", {})
        self.ping()  # `initialize` is answered before the server is there
        return self

    def send(self, message: Any) -> None:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.write(frame(body))

    def write(self, data: bytes) -> None:
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def notify(self, method: str, params: Any = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, id: Any, method: str, params: Any = None) -> None:
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})

    def answer(self, id: Any) -> dict[str, Any]:
        """The answer to `id`, whatever else comes before it."""
        while not (found := [answer for answer in self.answers if answer["id"] == id]):
            assert self.take(), "the server has ended"
        self.answers.remove(found[0])
        return found[0]

    def code(self, id: Any) -> int:
        return self.answer(id)["error"]["code"]

    def ask(self, id: Any, method: str, params: Any = None) -> dict[str, Any]:
        self.request(id, method, params)
        return self.answer(id)

    def ping(self) -> None:
        """The server hears and answers, and it has answered nothing that it was not asked."""
        self._pings += 1
        assert self.ask(f"ping {self._pings}", "odin/ping")["error"]["code"] == NO_METHOD
        assert self.answers == []

    def take(self, patience: float = PATIENCE) -> bool:
        """Sort the next message in; False at the end of the stream."""
        message = self._received.get(timeout=patience)
        if message is not None:
            (self.asked if "method" in message else self.answers).append(message)
        return message is not None

    def wait_for_question(self, method: str) -> dict[str, Any]:
        while not (found := [message for message in self.asked if message["method"] == method]):
            assert self.take(), "the server has ended"
        self.asked.remove(found[0])
        return found[0]

    def end(self) -> int:
        """The code with which the process ends, which it does by itself."""
        return self.process.wait(timeout=PATIENCE)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stderr):
            if pipe is not None:
                with suppress(BrokenPipeError):  # something may be left that it did not want to read
                    pipe.close()

    def peak_memory(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))

    def _read(self) -> None:
        with self.process.stdout as stdout:
            while self.reading.wait() and (header := stdout.readline()):
                name, _, length = header.partition(b": ")
                assert (name, stdout.readline()) == (b"Content-Length", b"\r\n")
                self._received.put(json.loads(stdout.read(int(length))))
        self._received.put(None)


def frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


@pytest.fixture
def start(tmp_path):
    """Where `command` counts, because of how it ends, it is what is started."""
    started = []

    def start(command: list[str] | None = None, **options: Any) -> Process:
        started.append(Process(command or forked(ODIN), tmp_path, **options))
        return started[-1]

    yield start
    for process in started:
        process.kill()


@pytest.fixture(scope="module")
def odin(tmp_path_factory):
    """One server for all tests that must leave it as it was."""
    process = Process(ODIN, tmp_path_factory.mktemp("odin")).initialize()
    yield process
    process.kill()


@pytest.fixture(scope="module")
def crashing(tmp_path_factory):
    process = Process(CRASHING, tmp_path_factory.mktemp("crashing")).initialize()
    yield process
    process.kill()


# RPC-01: frames

PING = b'{"jsonrpc": "2.0", "id": "framed", "method": "odin/ping"}'


@pytest.mark.parametrize(
    "framed",
    [
        b"content-length: %d\r\n\r\n%b",
        b"Content-Length:%d\r\n\r\n%b",
        b"Content-Length : %d \r\n\r\n%b",
        b"Content-Length: %d\n\n%b",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\nX: y\r\n\r\n%b",
    ],
)
def test_rpc_01_unusual_headers_are_understood(odin, framed):
    odin.write(framed % (len(PING), PING))

    assert odin.code("framed") == NO_METHOD
    odin.ping()


def test_rpc_01_a_repeated_length_is_understood(odin):
    odin.write(b"Content-Length: %d\r\n" % len(PING) + frame(PING))

    assert odin.code("framed") == NO_METHOD


def test_rpc_01_an_empty_frame_is_answered(odin):
    odin.write(frame(b""))

    assert odin.code(None) == PARSE
    odin.ping()


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: -5\r\n\r\n",
        b"Content-Length: five\r\n\r\n",
        b"Content-Length: 1000000000000\r\n\r\n",
        b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"Content-Type: x\r\n\r\n",
        b"\r\n\r\n",
        b"Content-Length: %d\r\n\r\n" % (len(PING) + 5),
        b"Content-Length: %d\r\n\r\n" % (len(PING) - 5),
    ],
)
def test_rpc_01_where_frames_are_lost_the_process_ends(start, header):
    server = start().initialize()
    server.write(header + PING + frame(PING) + frame(PING))

    assert server.end() == 2


# RPC-02: JSON


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"null null",
        b'{"jsonrpc": "2.0", "id": 1, "method": "odin/ping"',
        b"{'jsonrpc': '2.0'}",
        b'{"jsonrpc": "2.0", "id": 1, "method": "odin/ping",}',
        b'{"a": "\xff\xfe"}',
        b'{"a": "\xed\xa0\x80"}',
        b"\xef\xbb\xbf" + PING,
        PING.decode().encode("utf-16"),
        PING.decode().encode("utf-32"),
        b'{"jsonrpc": "2.0", "id": 1, "method": "odin/ping", "params": {"x": NaN}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "odin/ping", "params": {"x": Infinity}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "odin/ping", "params": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"jsonrpc": "2.0", "id": 1, "method": "odin/ping", "params": ' + b'{"a":' * 100_000,
        b'{"jsonrpc": "2.0", "id": ' + b"1" * 5000 + b', "method": "odin/ping"}',
        b"\0",
        b'"\n"',
    ],
    ids=lambda body: repr(body[-20:]),
)
def test_rpc_02_what_is_not_json_is_a_parse_error(odin, body):
    odin.send(body)

    assert odin.code(None) == PARSE
    odin.ping()


def test_rpc_02_duplicate_keys_are_one_request(odin):
    odin.send(b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "odin/ping", "method": "odin/pong"}')

    assert odin.code(2) == NO_METHOD
    odin.ping()


def test_rpc_02_200_mib_are_skipped_and_not_kept(crashing):
    """By a server that imports nothing meanwhile."""
    before = crashing.peak_memory()
    chunk = b"x" * 2**20
    crashing.write(b"Content-Length: %d\r\n\r\n" % (200 * len(chunk)))
    for _ in range(200):
        crashing.write(chunk)

    assert crashing.code(None) == PARSE
    crashing.ping()
    assert crashing.peak_memory() - before < 16 * 2**20


# RPC-03: messages


@pytest.mark.parametrize(
    ("message", "id", "code"),
    [
        ([{"jsonrpc": "2.0", "id": 1, "method": "odin/ping"}] * 2, None, INVALID),
        ([], None, INVALID),
        (5, None, INVALID),
        ("x", None, INVALID),
        (None, None, INVALID),
        ({}, None, INVALID),
        ({"id": 1, "method": "odin/ping"}, 1, INVALID),
        ({"jsonrpc": "1.0", "id": 1, "method": "odin/ping"}, 1, INVALID),
        ({"jsonrpc": "2.0", "id": None, "method": "odin/ping"}, None, INVALID),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "odin/ping"}, None, INVALID),
        ({"jsonrpc": "2.0", "id": {"a": 1}, "method": "odin/ping"}, None, INVALID),
        ({"jsonrpc": "2.0", "id": [], "method": "odin/ping"}, None, INVALID),
        ({"jsonrpc": "2.0", "id": False, "method": "odin/ping"}, None, INVALID),
        ({"jsonrpc": "2.0", "id": 1, "method": 1}, 1, INVALID),
        ({"jsonrpc": "2.0", "id": 1, "method": ["odin/ping"]}, 1, INVALID),
        ({"jsonrpc": "2.0", "id": 1, "result": 1, "error": {"code": 1, "message": "x"}}, 1, INVALID),
        ({"jsonrpc": "2.0", "id": 1, "method": "odin/ping", "params": 1}, 1, INVALID),
        ({"jsonrpc": "2.0", "id": 1, "method": "odin/ping", "params": "x"}, 1, INVALID),
        ({"jsonrpc": "2.0", "id": 1, "method": ""}, 1, NO_METHOD),
        ({"jsonrpc": "2.0", "id": 1, "method": "odin/unheard"}, 1, NO_METHOD),
        ({"jsonrpc": "2.0", "id": 1, "method": "$/unheard"}, 1, NO_METHOD),
        ({"jsonrpc": "2.0", "id": 1, "method": "window/showMessage"}, 1, NO_METHOD),
        ({"jsonrpc": "2.0", "id": 1, "method": "__init__"}, 1, NO_METHOD),
        ({"jsonrpc": "2.0", "id": 1, "method": "x" * 1_000_000}, 1, NO_METHOD),
        ({"jsonrpc": "2.0", "id": 1, "method": "workspace/executeCommand"}, 1, PARAMS),
        ({"jsonrpc": "2.0", "id": 1, "method": "workspace/executeCommand", "params": []}, 1, PARAMS),
        ({"jsonrpc": "2.0", "id": 1, "method": "workspace/executeCommand", "params": {"command": None}}, 1, PARAMS),
        ({"jsonrpc": "2.0", "id": 1, "method": "workspace/executeCommand", "params": {"command": "rm"}}, 1, PARAMS),
        (
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "workspace/executeCommand",
                "params": {"command": "odin.state", "arguments": [{"jsonrpc": "2.0", "id": 7, "method": "exit"}]},
            },
            1,
            PARAMS,
        ),
    ],
    ids=lambda value: str(value)[:60],
)
def test_rpc_03_each_request_is_answered_once_with_its_id(odin, message, id, code):
    odin.send(message)

    assert odin.code(id) == code
    odin.ping()


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "id": 1, "result": None},
        {"jsonrpc": "2.0", "id": "odin-1", "error": {"code": 1, "message": "x"}},
        {"jsonrpc": "2.0", "id": None, "error": {"code": PARSE, "message": "x"}},
        {"jsonrpc": "2.0", "method": "odin/unheard", "params": {}},
        {"jsonrpc": "2.0", "method": "$/unheard"},
        {"jsonrpc": "2.0", "method": "initialize", "params": {"capabilities": {}}},
        {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": 5}},
        {"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {"textDocument": {"uri": "file:///never"}}},
        {"jsonrpc": "2.0", "method": "textDocument/didClose", "params": {"textDocument": {"uri": "not a uri"}}},
        {"jsonrpc": "2.0", "method": "workspace/didChangeConfiguration", "params": {"settings": [1]}},
        {"jsonrpc": "2.0", "method": "workspace/didChangeWatchedFiles", "params": {"changes": None}},
        {"jsonrpc": "2.0", "method": "workspace/didChangeWorkspaceFolders", "params": {"event": {}}},
        {"jsonrpc": "2.0", "method": "window/workDoneProgress/cancel", "params": {"token": "x"}},
    ],
    ids=str,
)
def test_rpc_03_what_asks_for_no_answer_gets_none(odin, message):
    odin.send(message)

    odin.ping()


# RPC-04: life


def test_rpc_04_requests_before_initialize_are_refused(start):
    server = start(ODIN)
    server.notify("textDocument/didOpen", {})
    server.request(1, "workspace/executeCommand", {"command": "odin.state", "arguments": [{}]})
    server.request(2, "shutdown")

    assert (server.code(1), server.code(2)) == (NOT_INITIALIZED, NOT_INITIALIZED)
    server.initialize().ping()


def test_rpc_04_a_second_initialize_is_refused(odin):
    assert odin.ask(1, "initialize", {"capabilities": {}})["error"]["code"] == INVALID
    odin.ping()


def test_rpc_04_shutdown_and_exit_end_with_0(start):
    server = start(ODIN).initialize()
    assert server.ask(1, "shutdown")["result"] is None
    assert server.ask(2, "odin/ping")["error"]["code"] == INVALID
    server.notify("exit")

    assert server.end() == 0


def test_rpc_04_exit_without_shutdown_ends_with_1(start):
    server = start(ODIN).initialize()
    server.notify("exit")

    assert server.end() == 1


def test_rpc_04_the_end_of_stdin_ends_with_1(start):
    server = start(ODIN).initialize()
    server.process.stdin.close()

    assert server.end() == 1


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_rpc_04_a_signal_ends_the_process(start, number, code):
    server = start(ODIN).initialize()
    server.process.send_signal(number)

    assert server.end() == code


def test_rpc_04_the_death_of_the_client_ends_the_process(start):
    client = subprocess.Popen(["sleep", "60"])
    server = start(ODIN).initialize(processId=client.pid)
    client.kill()
    client.wait()

    assert server.end() == 1


def ends(pid: int) -> bool:
    """Whether the process goes, or is a zombie that nobody has collected yet. By itself it would stay for minutes."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


def hang_up(server: Process) -> None:
    server.process.stdin.close()


def terminate(server: Process) -> None:
    server.process.terminate()


def shut_down(server: Process) -> None:
    server.request("bye", "shutdown")


def break_the_frames(server: Process) -> None:
    server.write(b"\r\n\r\n")


@pytest.mark.parametrize("ending", [hang_up, terminate, shut_down, break_the_frames])
def test_rpc_04_children_do_not_outlive_the_server(start, ending):
    server = start(CRASHING).initialize()
    server.request(1, "test/child")
    pid = server.wait_for_question("test/started")["params"]["pid"]
    ending(server)

    assert ends(pid)


# RPC-05: cancelling


def test_rpc_05_a_cancel_without_a_request_is_ignored(odin):
    for unknown in ("never sent", 1, 1.5, None, True, [], {}):
        odin.notify("$/cancelRequest", {"id": unknown})

    odin.ping()


def test_rpc_05_a_cancel_after_the_answer_is_ignored(odin):
    odin.ask("done", "odin/pong")
    odin.notify("$/cancelRequest", {"id": "done"})

    odin.ping()


def test_rpc_05_a_request_is_cancelled_once(crashing):
    crashing.request(1, "test/rest")
    crashing.notify("$/cancelRequest", {"id": 1})
    crashing.notify("$/cancelRequest", {"id": 1})

    assert crashing.code(1) == CANCELLED
    crashing.notify("$/cancelRequest", {"id": 1})
    crashing.ping()


def test_rpc_05_a_cancelled_request_frees_what_it_holds(crashing):
    crashing.request(1, "test/child")
    pid = crashing.wait_for_question("test/started")["params"]["pid"]
    crashing.notify("$/cancelRequest", {"id": 1})

    assert crashing.code(1) == CANCELLED
    assert ends(pid)


def test_rpc_05_a_thousand_requests_are_cancelled_each_once(crashing):
    for number in range(1000):
        crashing.request(number, "test/rest")
        crashing.notify("$/cancelRequest", {"id": number})

    assert {crashing.code(number) for number in range(1000)} == {CANCELLED}
    crashing.ping()


# RPC-06: floods


def test_rpc_06_10_000_changes_do_not_delay_a_request(start):
    """The client never waits: it writes as fast as the server reads, with a request after every hundredth change. A
    request that had to wait for all that was sent with it would wait about as long as the whole flood lasts."""
    server = start().initialize()
    text = {"uri": "file:///flood.py", "languageId": "python", "version": 0, "text": "x = 1\n" * 200}
    server.notify("textDocument/didOpen", {"textDocument": text})
    server.ping()
    sent: dict[int, float] = {}
    flood = Thread(target=change_a_lot, args=(server, sent))
    began = time.perf_counter()
    flood.start()
    delays = []
    while len(delays) < 100:
        assert server.take(), "the server has ended"
        delays += [time.perf_counter() - sent[answer["id"]] for answer in server.answers]
        server.answers.clear()
    flood.join()

    assert sorted(delays)[90] < (time.perf_counter() - began) / 4


def change_a_lot(server: Process, sent: dict[int, float]) -> None:
    for version in range(1, 10_001):
        spot = {"line": version % 200, "character": 0}
        change = {"range": {"start": spot, "end": spot}, "text": "y"}
        document = {"uri": "file:///flood.py", "version": version}
        server.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
        if version % 100 == 0:
            sent[version] = time.perf_counter()
            server.request(version, "odin/ping")


def test_rpc_06_1_000_requests_at_once_are_all_answered(start):
    server = start().initialize()
    for number in range(1000):
        server.request(number, "workspace/executeCommand", {"command": "odin.state", "arguments": [{"stray": number}]})

    assert {server.code(number) for number in range(1000)} == {PARAMS}
    server.ping()


def test_rpc_06_huge_diagnostics_are_taken(start):
    server = start().initialize()
    spot = {"line": 0, "character": 0}
    span = {"start": spot, "end": spot}
    diagnostics = [{"range": span, "message": "m" * 200, "source": "s", "code": number} for number in range(5_000)]
    document = {"uri": "file:///a.py"}
    server.request(
        1, "textDocument/codeAction", {"textDocument": document, "range": span, "context": {"diagnostics": diagnostics}}
    )

    server.answer(1)
    server.ping()


def test_rpc_06_a_client_that_does_not_read_is_not_read_any_more(start):
    """Of 200 MB of answers only a bounded part is kept; when the client reads again it gets them all."""
    server = start(CRASHING).initialize()
    before = server.peak_memory()
    server.reading.clear()
    sender = Thread(target=lambda: [server.request(n, "test/echo", {"x": "x" * 10**6}) for n in range(200)])
    sender.start()
    sender.join(timeout=3)

    assert sender.is_alive()
    assert server.peak_memory() - before < 250 * 2**20
    server.reading.set()
    assert all("result" in server.answer(number) for number in range(200))
    sender.join()


# RPC-07: stdout


def test_rpc_07_whatever_is_printed_goes_to_stderr(start):
    server = start(CRASHING, stderr=subprocess.PIPE).initialize()
    assert server.ask(1, "test/print")["result"] is None
    server.ping()
    server.notify("exit")

    assert server.end() == 1
    printed = server.process.stderr.read()
    for stray in (b"stray print", b"stray write", b"stray C", b"stray warning", b"stray child"):
        assert stray in printed


# RPC-08: stderr, and a stdout that is closed


def test_rpc_08_a_client_that_does_not_read_stderr_is_served(start):
    server = start(CRASHING, stderr=subprocess.PIPE).initialize()
    for number in range(5):
        assert server.ask(number, "test/shout")["result"] is None
    server.ping()
    server.ask("bye", "shutdown")
    server.notify("exit")

    assert server.end() == 0


def test_rpc_08_a_client_that_closes_stdout_ends_the_process(tmp_path):
    server = subprocess.Popen(ODIN, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path)
    server.stdout.close()
    with server.stdin as stdin:
        stdin.write(frame(PING))
        stdin.flush()
        assert server.wait(timeout=PATIENCE) == 1


# RPC-09: crashes

TOLD = "internal error; see Odin's log"


@pytest.mark.parametrize(
    ("method", "params", "error"),
    [
        ("test/raise", {"error": "bug"}, {"code": INTERNAL, "message": TOLD}),
        ("test/raise", {"error": "memory"}, {"code": INTERNAL, "message": TOLD}),
        ("test/raise", {"error": "odin"}, {"code": FAILED, "message": "sk-secret"}),
        ("test/raise", {"error": "no such error"}, {"code": INTERNAL, "message": TOLD}),
        ("test/raiseLater", {"error": "bug"}, {"code": INTERNAL, "message": TOLD}),
        ("test/raiseLater", {"error": "memory"}, {"code": INTERNAL, "message": TOLD}),
        ("test/recurse", None, {"code": INTERNAL, "message": TOLD}),
        ("test/unsendable", None, {"code": INTERNAL, "message": TOLD}),
    ],
)
def test_rpc_09_a_crash_is_the_answer_to_its_own_request(crashing, method, params, error):
    crashing.request("slow", "test/rest")

    assert crashing.ask(1, method, params)["error"] == error
    crashing.ping()
    crashing.notify("$/cancelRequest", {"id": "slow"})
    assert crashing.code("slow") == CANCELLED


def test_rpc_09_a_crash_outside_of_a_request_is_survived(crashing):
    crashing.notify("test/raise", {"error": "bug"})
    crashing.notify("test/recurse", {})

    assert crashing.ask(1, "test/failElsewhere")["result"] is None
    crashing.ping()


# RPC-10: a client that does not answer


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("test/question", {}),
        ("odin/review", {"files": []}),
    ],
)
def test_rpc_10_a_thousand_unanswered_questions_leave_nothing_behind(crashing, method, params):
    asking = {"method": method, "params": params, "rounds": 1000, "timeout": 0.05}

    outcome = crashing.ask(1, "test/ask", asking)["result"]
    assert outcome == {"answered": 0, "refused": 0, "timedOut": 1000, "left": 0}
    asked, cancelled = questions(crashing, method)
    assert len(asked) == 1000
    assert asked == cancelled

    for late in asked:
        crashing.send({"jsonrpc": "2.0", "id": late, "result": None})
    crashing.ping()


def test_rpc_10_answers_and_errors_arrive_where_they_were_asked_for(crashing):
    crashing.request(1, "test/ask", {"rounds": 3, "timeout": 5})
    first, second, third = (crashing.wait_for_question("test/question")["id"] for _ in range(3))
    crashing.send({"jsonrpc": "2.0", "id": third, "error": {"code": 1, "message": "no"}})
    crashing.send({"jsonrpc": "2.0", "id": first, "result": {"jsonrpc": "2.0"}})
    crashing.send({"jsonrpc": "2.0", "id": first, "result": "again"})

    assert crashing.answer(1)["result"] == {"answered": 1, "refused": 1, "timedOut": 1, "left": 0}
    assert crashing.wait_for_question("$/cancelRequest")["params"]["id"] == second


def questions(server: Process, method: str) -> tuple[set[str], set[str]]:
    """The ids that were asked and those that were taken back since the last time."""
    asked = {message["id"] for message in server.asked if message["method"] == method}
    cancelled = {message["params"]["id"] for message in server.asked if message["method"] == "$/cancelRequest"}
    server.asked.clear()
    return asked, cancelled


# RPC-11: chance


@pytest.mark.thorough
@pytest.mark.parametrize("seed", sampled(range(5)))
def test_rpc_11_20_000_random_frames_are_answered_as_they_must(start, seed):
    server = start().initialize()
    chance = Chance(seed)
    for _ in range(fewer(40)):
        batch = [chance.body() for _ in range(500)]
        expected = Counter(answered for body in batch for answered in answers_to(body))
        server.write(b"".join(map(frame, batch)))
        answers = received_answers(server, sum(expected.values()))
        assert Counter(answer["id"] for answer in answers) == expected
        assert not [answer for answer in answers if answer.get("error", {}).get("code") == INTERNAL]
        server.ping()


@pytest.mark.parametrize("seed", range(10))
def test_rpc_11_random_damage_to_frames_never_leaves_a_deaf_process(start, seed):
    server = start().initialize()
    chance = Chance(seed)
    with suppress(BrokenPipeError):
        for _ in range(20):
            server.write(chance.damaged(frame(PING)))
        for _ in range(10):
            server.request("last", "odin/ping")

    while server.take():
        if any(answer["id"] == "last" for answer in server.answers):
            return
    assert server.end() == 2


def received_answers(server: Process, number: int) -> list[dict[str, Any]]:
    """The next answers. What the server asks meanwhile is refused, and what waits behind a turn that was cancelled is
    begun when nothing else comes."""
    silences = 0
    while len(server.answers) < number:
        try:
            assert server.take(patience=1), "the server has ended"
        except Empty:
            silences += 1
            assert silences < PATIENCE, "the server does not answer"
            begin_what_waits(server)
        for asked in server.asked:
            if "id" in asked:
                server.send({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": NO_METHOD, "message": "no"}})
        server.asked.clear()
    answers, server.answers = server.answers, []
    return answers


def begin_what_waits(server: Process) -> None:
    """In every session: frames by chance switch between them."""

    def command(name: str, **argument: Any) -> dict[str, Any]:
        params = {"command": f"odin.{name}", "arguments": [argument]}
        return server.ask(f"of the test: {name}", "workspace/executeCommand", params)["result"]

    for session in command("session.list")["sessions"]:
        for message in command("state", sessionId=session["sessionId"])["queue"]:
            command("queue", action="resume", turnId=message["turnId"])


def answers_to(body: bytes) -> Iterator[Any]:
    """The ids of the answers that JSON-RPC wants for this body: one or none."""
    try:
        message = json.loads(body.decode(), parse_constant=refuse)
    except (ValueError, RecursionError):
        yield None
        return
    members = message if isinstance(message, dict) else {}
    given = members.get("id")
    usable = given if isinstance(given, str | int) and not isinstance(given, bool) else None
    if members.get("jsonrpc") != "2.0":
        yield usable
    elif "method" in members:
        sound = isinstance(members["method"], str) and isinstance(members.get("params"), dict | list | None)
        if "id" in members or not sound:
            yield usable
    elif usable is None and not (given is None and "id" in members and "error" in members):
        yield None
    elif members.get("result") is not None and members.get("error") is not None:
        yield usable


def refuse(constant: str) -> None:
    raise ValueError(constant)


class Chance:
    """Bodies that start as good messages and are then spoilt a little."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._next_id = 0

    def body(self) -> bytes:
        message = self._message()
        match self._random.random():
            case x if x < 0.5:
                return self._encoded(message)
            case x if x < 0.75:
                return self._encoded(self._spoilt(message))
            case x if x < 0.95:
                return self._flipped(self._encoded(message))
            case x if x < 0.99:
                return self._encoded(self._value(3))
            case _:
                return b'{"a":[' * self._random.choice([10, 400, 5000])

    def damaged(self, data: bytes) -> bytes:
        """Cut, doubled, flipped or left alone."""
        cut = self._random.randrange(len(data))
        damages = [data[:cut], data[cut:], data + data[:cut], self._flipped(data), data, data, data, data]
        return self._random.choice(damages)

    def _message(self) -> dict[str, Any]:
        message: dict[str, Any] = {"jsonrpc": "2.0"}
        match self._random.random():
            case x if x < 0.1:
                return message | {"id": f"unknown {self._new_id()}", "result": self._value(2)}
            case x if x < 0.15:
                return message | {"id": self._new_id(), "error": self._value(2)}
            case x if x < 0.25:
                earlier = f"q{self._random.randint(0, self._next_id)}"
                named = self._random.choice([earlier, earlier, "never sent", 1, None])
                return message | {"method": "$/cancelRequest", "params": {"id": named}}
            case x if x < 0.45:
                method, params = self._random.choice(NOTIFICATIONS)
                return message | {"method": method, "params": params}
            case _:
                return message | {"id": f"q{self._new_id()}"} | self._request()

    def _request(self) -> dict[str, Any]:
        match self._random.random():
            case x if x < 0.4:
                arguments = self._random.choice(
                    [[self._value(2)], [{"text": self._value(1)}], self._value(1), None, []]
                )
                command = self._random.choice(COMMANDS)
                return {"method": "workspace/executeCommand", "params": {"command": command, "arguments": arguments}}
            case x if x < 0.7:
                method, params = self._random.choice(REQUESTS)
                return {"method": method, "params": params}
            case _:
                return {"method": self._random.choice(METHODS), "params": self._random.choice([{}, [], self._value(2)])}

    def _spoilt(self, message: dict[str, Any]) -> Any:
        """With one member removed or replaced, at any depth, most often within the params."""
        target: Any = message
        if self._random.random() < 0.8 and isinstance(message.get("params"), dict):
            message["params"] = target = message["params"].copy()
        while True:
            keys = list(target) if isinstance(target, dict) else list(range(len(target)))
            if not keys:
                return message
            key = self._random.choice(keys)
            if isinstance(target[key], dict | list) and self._random.random() < 0.7:
                target[key] = target[key].copy()
                target = target[key]
            elif self._random.random() < 0.3:
                del target[key]
                return message
            else:
                target[key] = self._value(2)
                return message

    def _flipped(self, data: bytes) -> bytes:
        spoilt = bytearray(data)
        for _ in range(self._random.choice([1, 1, 1, 3, 10])):
            spoilt[self._random.randrange(len(spoilt))] ^= 1 << self._random.randrange(8)
        return bytes(spoilt)

    def _value(self, depth: int) -> Any:
        match self._random.randrange(10 if depth else 7):
            case 0:
                return None
            case 1:
                return self._random.choice([True, False])
            case 2:
                return self._random.choice([0, -1, 2**31, 2**64, 10**100, self._random.randrange(1000)])
            case 3:
                return self._random.choice([0.5, -1e308, 1e-320])
            case 4 | 5:
                return self._random.choice(STRINGS)
            case 6:
                return self._random.choice(METHODS)
            case 7:
                return [self._value(depth - 1) for _ in range(self._random.randrange(4))]
            case _:
                return {self._random.choice(STRINGS): self._value(depth - 1) for _ in range(self._random.randrange(4))}

    def _encoded(self, message: Any) -> bytes:
        text = json.dumps(message, ensure_ascii=self._random.random() < 0.5)
        return text.encode("utf-8", "surrogatepass")

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id


SPOT = {"line": 0, "character": 0}
SPAN = {"start": SPOT, "end": {"line": 1, "character": 2}}
DOCUMENT = {"uri": "file:///chance.py", "version": 1}
STRINGS = [
    *("", "id", "jsonrpc", "2.0", "method", "params", "uri", "text", "turnId", "sessionId", "file:///chance.py"),
    *("\0", "\ud800", "\U0001f600", "\u2028", "\u202e", "e\u0301", "../../etc/passwd", "%ff", "x" * 5000, "[" * 500),
]
COMMANDS = [
    *("odin.ask", "odin.plan", "odin.edit", "odin.executePlan", "odin.init", "odin.queue", "odin.steer"),
    *("odin.continue", "odin.note", "odin.removeLast", "odin.compact", "odin.clear", "odin.permissions"),
    *("odin.review.accept", "odin.review.reject", "odin.review.list", "odin.undoTurn", "odin.session.new"),
    *("odin.session.list", "odin.session.resume", "odin.session.fork", "odin.session.rename", "odin.session.export"),
    *("odin.session.delete", "odin.model", "odin.role", "odin.state", "odin.trust", "odin.unheard", "", "exit"),
]
"""But for `odin.cancel`: what waits behind a cancelled turn is answered when the user goes on, and not before."""
NOTIFICATIONS: list[tuple[str, Any]] = [
    ("textDocument/didOpen", {"textDocument": {**DOCUMENT, "languageId": "python", "text": "a\nb\r\nc"}}),
    ("textDocument/didChange", {"textDocument": DOCUMENT, "contentChanges": [{"range": SPAN, "text": "\u2028é"}]}),
    ("textDocument/didChange", {"textDocument": DOCUMENT, "contentChanges": [{"text": "all"}]}),
    ("textDocument/didSave", {"textDocument": DOCUMENT}),
    ("textDocument/didClose", {"textDocument": DOCUMENT}),
    ("workspace/didChangeConfiguration", {"settings": {"odin": {"review": {"policy": "each"}}}}),
    ("workspace/didChangeWatchedFiles", {"changes": [{"uri": "file:///chance.py", "type": 2}]}),
    ("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": []}}),
    ("window/workDoneProgress/cancel", {"token": "t"}),
    ("$/setTrace", {"value": "off"}),
    ("$/progress", {"token": 1, "value": {}}),
    ("initialized", {}),
    ("odin/unheard", {}),
]
REQUESTS: list[tuple[str, Any]] = [
    ("textDocument/codeAction", {"textDocument": DOCUMENT, "range": SPAN, "context": {"diagnostics": []}}),
    ("textDocument/hover", {"textDocument": DOCUMENT, "position": SPOT}),
    ("textDocument/completion", {"textDocument": DOCUMENT, "position": SPOT}),
    ("textDocument/codeLens", {"textDocument": DOCUMENT}),
    ("textDocument/diagnostic", {"textDocument": DOCUMENT}),
    ("workspace/textDocumentContent", {"uri": "odin:/transcript"}),
    ("codeAction/resolve", {"title": "x"}),
    ("odin/unheard", {"jsonrpc": "2.0", "id": 1}),
]
METHODS = [method for method, _ in NOTIFICATIONS + REQUESTS] + ["", "odin/ping", "__class__", "\0", "x" * 300]
