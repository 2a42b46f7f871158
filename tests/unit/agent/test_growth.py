"""What one session keeps in memory is bounded, however many messages it has: all of it is on disk."""

import gc
import sys

import pytest

from odin_lsp.agent import turn_queue as agents
from odin_lsp.agent.turn import UserMessage
from odin_lsp.config import Config
from odin_lsp.messages import Image, Message, Text, ToolCall, user
from odin_lsp.models.base import Reply, TextDelta
from odin_lsp.records import Outcome, Usage
from odin_lsp.sessions import loading
from odin_lsp.sessions import session as sessions
from odin_lsp.sessions.export import transcript
from odin_lsp.sessions.session import Session
from odin_lsp.terminal.editor import TerminalEditor
from tests.support.project import core_of, take
from tests.support.session_killer import accepted

MESSAGES = 300
SETTLED = 140
"""After so many messages every cache is full, and the history has been made shorter many times."""
FEW = 20
"""Turns, helpers and ids that are kept here, so that it takes few messages to have more."""
FILES = 10
"""All of them are read, and forgotten again, several times in each half of the looks."""


class Worker:
    """Makes one call for each message of the user, of every kind in turn, and then talks."""

    ref = "scripted/worker"

    def __init__(self, root):
        self.root = root
        self.count = 0

    async def stream(self, request):
        usage = Usage(input_tokens=len(str(request.messages)) // 4, context_tokens=len(str(request.messages)) // 4)
        last = request.messages[-1]
        if last.results or not request.tools:
            yield TextDelta("It is done.")
            yield Reply(Message("assistant", (Text("It is done."),)), "end", usage)
            return
        self.count += 1
        name, arguments = self.calls()[self.count % len(self.calls())]
        call = ToolCall(f"call-{self.count}", name, arguments)
        if name not in {tool.name for tool in request.tools}:  # a helper has fewer
            call = ToolCall(f"call-{self.count}", "LS", {"path": str(self.root)})
        yield Reply(Message("assistant", (call,)), "tools", usage)

    def calls(self):
        path = str(self.root / "notes.txt")
        todos = [{"id": "1", "content": f"step {self.count}", "status": "pending"}]
        return [
            ("Read", {"file_path": path}),
            ("Grep", {"pattern": f"line {self.count % 7}"}),
            ("WriteFile", {"file_path": path, "content": f"line {self.count}\n" * 20}),
            ("Read", {"file_path": str(self.root / f"file-{self.count % FILES}.txt")}),
            ("TodoWrite", {"todos": todos}),
            ("AgentTool", {"description": "look", "prompt": f"look around, {self.count}"}),
        ]

    async def aclose(self):
        pass


@pytest.fixture
async def core(tmp_path, monkeypatch):
    for module, name in ((sessions, "MAX_TURNS"), (agents, "MAX_KNOWN")):
        monkeypatch.setattr(module, name, FEW)
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "notes.txt").write_text("line 1\n")
    for number in range(FILES):
        (root / f"file-{number}.txt").write_text(f"line {number}\n" * 40)
    config = Config.model_validate({"limits": {"maxContext": 8000, "maxTokens": 1000}})
    core = core_of(root, TerminalEditor("yes"), config)
    worker = Worker(root)
    core.models.get = lambda ref: worker
    yield core
    await core.close()


@pytest.mark.thorough
async def test_the_memory_of_a_session_does_not_grow_with_its_messages(core):
    looks = []
    for number in range(MESSAGES):
        message = UserMessage(turn_id=f"turn-{number}", text=f"wish {number}{' please' * 50}", mode="edit_mode")
        outcome = await take(core, message)
        assert outcome.reason == "end_turn", outcome.detail
        if number >= SETTLED and number % 10 == 0:
            gc.collect()
            sys._clear_type_cache()  # CPython 3.11 puts another string into it for a class that is matched
            looks.append(sys.getallocatedblocks())

    earlier, later = (min(half) for half in (looks[: len(looks) // 2], looks[len(looks) // 2 :]))
    assert later - earlier < MESSAGES - SETTLED, f"two objects stay for each message: {looks}"
    session = core.sessions.current.session
    assert (len(session.turns), session.earlier_turns) == (FEW, MESSAGES - FEW)
    assert len(session.subagents) == FEW
    stored = session.log.path.read_text()
    assert stored.count('"type":"turn"') == MESSAGES
    assert stored.count('"status":"completed","summary"') > 2 * FEW


def turn(session, number, *parts):
    session.append(Message("user", (Text(f"wish {number}"), *parts)))
    session.append(Message("assistant", (Text("done"),)))
    outcome = Outcome(
        turn_id=f"t{number}",
        session_id=session.id,
        mode="ask_mode",
        reason="end_turn",
        answer="done",
        usage=Usage(1, 1, cost_usd=0.5, context_tokens=number),
    )
    session.finish_turn(f"wish {number}", 1.0, outcome)


def test_d_011_the_101st_turn_drops_the_oldest_from_memory_and_not_from_disk(tmp_path):
    session = Session(tmp_path)
    for number in range(130):
        turn(session, number)

    for it in (session, Session.load(tmp_path, session.id)):
        assert [turn.body for turn in it.turns] == [f"wish {number}" for number in range(30, 130)]
        assert (it.earlier_turns, it.first_message) == (30, "wish 0")
        assert (it.usage.cost_usd, it.usage.context_tokens) == (65.0, 129)
        assert "30 earlier turns are left out here; an export has them" in transcript(it)
        assert len(it.messages) == 260


def test_d_011_a_history_that_nobody_made_shorter_is_cut_between_turns(tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "MAX_LINES", 100)
    session = Session(tmp_path)
    longest = 0
    for number in range(300):
        turn(session, number)
        longest = max(longest, len(session.messages))

    assert longest == 100
    assert session.messages[0].text.startswith("wish 0<reminder>")
    assert session.messages[0].text.count("are not part of this request") == 1
    assert session.messages[1].text.startswith("wish ")
    assert session.messages[-2:] == [user("wish 299"), Message("assistant", (Text("done"),))]
    assert accepted(session.messages) == []
    assert session.take_notices()
    assert session.log.path.read_text().count('"type":"message"') == 600


def test_d_011_images_do_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "MAX_LOADED", 100_000)
    session = Session(tmp_path)
    for number in range(30):
        turn(session, number, Image("image/png", "A" * 10_000))

    assert sum(isinstance(part, Image) for message in session.messages for part in message.parts) <= 10
    assert session.messages[0].parts[0] == Text("wish 0")
    assert accepted(session.messages) == []


async def test_the_user_is_told_when_a_history_was_cut(core, monkeypatch):
    told = []
    core.stream.subscribe(lambda record: told.append(record.event))
    monkeypatch.setattr(loading, "MAX_LINES", 3)

    for number in range(2):
        await take(core, UserMessage(turn_id=f"{number}", text="go", mode="ask_mode"))

    notices = [it.message for it in told if it.kind == "notice"]
    assert any("not sent to the model any more" in it for it in notices)
