"""Guests of one Odin, many of them, some of them bad: nobody notices another."""

import asyncio
import json
import os
import socket
import threading
from types import SimpleNamespace

import pytest

from odin_lsp import __version__
from odin_lsp.agent.core import Core
from odin_lsp.agent.parts import Parts
from odin_lsp.errors import OdinError
from odin_lsp.events import TextStreamed, TurnStarted
from odin_lsp.frames import framed
from odin_lsp.host import place, remote
from odin_lsp.ide.sight import Sight
from odin_lsp.library.disk_editor import DiskEditor
from odin_lsp.messages import Message, Text
from odin_lsp.models.base import Reply, TextDelta
from odin_lsp.project.project import Project, Told
from odin_lsp.server import guest as guests
from odin_lsp.server.front_ends import FrontEnds
from odin_lsp.server.handshake import info
from odin_lsp.server.listening import Listening
from odin_lsp.tasks import Tasks
from odin_lsp.workspace.buffers import Buffers

PATIENCE = 60


class Talkative:
    """A model that says what it was asked, letter by letter."""

    ref = "scripted/talkative"

    async def stream(self, request):
        said = f"You said: {request.messages[-1].text[-40:]}"
        for letter in said:
            await asyncio.sleep(0)
            yield TextDelta(letter)
        yield Reply(Message("assistant", (Text(said),), self.ref), "end")

    async def aclose(self):
        pass


class Mute:
    """At a terminal where nobody is asked anything."""

    can_ask = False
    is_for_own = True

    def notify(self, level, message):
        pass


@pytest.fixture
async def host(tmp_path, monkeypatch):
    """An Odin that listens for a folder."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    (tmp_path / "run").mkdir(mode=0o700)
    root = tmp_path / "ws"
    root.mkdir()
    project, front_ends, tasks = Project(Told(roots=(root,))), FrontEnds(DiskEditor()), Tasks()
    core = Core(project, front_ends, parts=Parts(model=Talkative(), small_model=Talkative()))
    core.stream.subscribe(front_ends.follow)
    host = SimpleNamespace(
        project=project,
        sight=Sight(Buffers()),
        core=core,
        front_ends=front_ends,
        instructions=None,
        info=lambda: info(project),
        keep_trust=None,
        background=tasks.begin,
    )
    host.listening = Listening(host)
    host.root = root
    tasks.begin(host.listening.run())
    yield host
    await tasks.close()
    await host.listening.close()
    await core.close()


@pytest.fixture
async def attach(host):
    opened = []

    async def attach(answers=None, **settings):
        async with asyncio.timeout(PATIENCE):
            while (workspace := await remote.attached(host.root, settings, answers or Mute())) is None:
                await asyncio.sleep(0.01)
        opened.append(workspace)
        return workspace

    yield attach
    for it in opened:
        await it.__aexit__(None, None, None)


def raw(host):
    connection = place.connected(host.root)
    connection.setblocking(True)
    connection.settimeout(PATIENCE)
    return connection


def says(connection, *calls):
    for number, (method, given) in enumerate(calls, 1):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": given}
        connection.sendall(framed(json.dumps(message).encode()))


def execute(command, **argument):
    return "workspace/executeCommand", {"command": command, "arguments": [argument]}


def said(heard, text):
    return any(isinstance(it.event, TurnStarted) and it.event.text == text for it in heard)


async def until_closed(connection):
    """The host has hung up."""
    received = await asyncio.to_thread(lambda: b"".join(iter(lambda: connection.recv(65536), b"")))
    connection.close()
    return received


async def test_a_guest_works_in_a_session_of_its_own(host, attach):
    workspace = await attach()
    heard = []
    workspace.subscribe(heard.append)
    session = workspace.begin()
    outcome = await session.send("ask_mode", "hello").outcome()

    assert outcome.answer.endswith("hello")
    assert "".join(it.event.text for it in heard if isinstance(it.event, TextStreamed)) == outcome.answer
    assert host.core.sessions.current is None
    assert (session.id, session.is_busy) == (outcome.session_id, False)


async def test_fifty_guests_in_twenty_sessions_hear_their_own_and_nothing_of_the_bad_ones(host, attach, monkeypatch):
    monkeypatch.setattr(guests, "MAX_BACKLOG", 256 * 1024)
    first = await attach()
    garbage, slow, killed = raw(host), raw(host), raw(host)
    garbage.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    others = [await attach() for _ in range(49)]
    everybody = [first, *others]
    heard = {number: [] for number in range(50)}
    sessions = [it.begin() for it in everybody[:20]]
    for number, it in enumerate(everybody):
        it.subscribe(heard[number].append)
    named = [(await it.send("ask_mode", f"first of {n}").outcome()).session_id for n, it in enumerate(sessions)]
    joined = [await it.resume(named[n % 20]) for n, it in enumerate(everybody[20:], 20)]
    says(slow, ("initialize", params()), execute("odin.session.resume", sessionId=named[0]))
    says(killed, ("initialize", params()), execute("odin.ask", sessionId=named[1], text="from the killed one"))
    async with asyncio.timeout(PATIENCE):
        while sum(it.shows(named[0]) for it in host.listening.guests) < 4 or not said(heard[1], "from the killed one"):
            await asyncio.sleep(0.01)
    killed.sendall(b"Content-Length: 100\r\n\r\n{")
    killed.close()

    outcomes = await asyncio.gather(
        *(it.send("ask_mode", f"again from {n}").outcome() for n, it in enumerate([*sessions, *joined]))
    )

    assert [it.answer.split()[-1] for it in outcomes] == [str(number) for number in range(50)]
    for number in range(20):
        assert {it.session_id for it in heard[number] if isinstance(it.event, TurnStarted)} == {named[number]}
        assert all(said(heard[number], f"again from {it}") for it in range(number, 50, 20))
    assert b"jsonrpc" not in await until_closed(garbage)
    slow.close()


async def test_a_guest_that_does_not_read_is_left_and_the_others_are_not(host, attach, monkeypatch):
    monkeypatch.setattr(guests, "MAX_BACKLOG", 1024 * 1024)
    workspace = await attach()
    session = (await workspace.begin().send("ask_mode", "hello").outcome()).session_id
    deaf = raw(host)
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    says(deaf, ("initialize", params()), execute("odin.note", text="x", sessionId=session))
    live = host.core.sessions.find(session)
    async with asyncio.timeout(PATIENCE):
        while len(host.listening.guests) == 1:
            await asyncio.sleep(0.005)
        while len(host.listening.guests) == 2:
            live.note("x" * 10_000)
            host.core.stream.emitter("t", session)(TextStreamed("x" * 50_000))
            await asyncio.sleep(0.005)
    deaf.close()

    assert (await workspace.begin().send("ask_mode", "still there?").outcome()).reason == "end_turn"


async def test_messages_are_taken_in_the_order_in_which_they_came(host, attach, monkeypatch):
    """Though the first takes longer to be understood."""
    begun, has_begun, understood = [], threading.Event(), host.core.own.understood

    def follow(record):
        if isinstance(record.event, TurnStarted):
            begun.append(record.turn_id)
            has_begun.set()

    def late(text, mode):
        if text == "one":
            has_begun.wait(0.2)
        return understood(text, mode)

    host.core.stream.subscribe(follow)
    monkeypatch.setattr(host.core.own, "understood", late)
    session = (await attach()).begin()
    turns = [session.send("ask_mode", text) for text in ("one", "two")]
    await asyncio.gather(*(turn.outcome() for turn in turns))

    assert begun == [turn.id for turn in turns]
    assert len(host.core.sessions.find(session.id).session.turns) == 2


async def test_documents_are_the_editors(attach):
    workspace = await attach()

    with pytest.raises(OdinError, match="no method"):
        await workspace.ask("textDocument/hover", {})


async def test_nothing_is_done_before_both_agree(host, attach):
    await attach()
    hasty = raw(host)
    ask = {"command": "odin.state", "arguments": [{}]}
    hasty.sendall(
        framed(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "workspace/executeCommand", "params": ask}).encode())
    )
    hasty.shutdown(socket.SHUT_WR)

    assert b"send initialize first" in await until_closed(hasty)


async def test_another_folder_is_another_socket(host, attach, tmp_path):
    await attach()
    (tmp_path / "other").mkdir()
    host.project.tell(roots=(tmp_path / "other",))
    async with asyncio.timeout(PATIENCE):
        while (found := place.connected(tmp_path / "other")) is None:
            await asyncio.sleep(0.01)
    found.close()

    assert place.connected(host.root) is None


def params():
    terms = {"version": __version__, "environment": remote.own_terms(os.environ, {})["environment"]}
    return {
        "processId": None,
        "capabilities": {"experimental": {"odin": {"events": True}}},
        "initializationOptions": terms,
    }
