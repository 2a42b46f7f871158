import base64
import json

import pytest

from odin_lsp import locks
from odin_lsp.errors import SessionError
from odin_lsp.events import MAIN, TodosChanged
from odin_lsp.messages import Image, Message, Text, Thinking, ToolCall, ToolResult, user
from odin_lsp.ports import Receipt
from odin_lsp.records import ContextItem, Outcome, QueuedMessage, SubagentRecord, Todo, ToolRecord
from odin_lsp.sessions import attachments, listing
from odin_lsp.sessions.attachments import described
from odin_lsp.sessions.export import transcript
from odin_lsp.sessions.forking import fork
from odin_lsp.sessions.session import Session
from odin_lsp.sessions.store import SessionLog, sessions_folder
from odin_lsp.sessions.turn_record import ReviewedFile
from tests.support.pictures import png


def outcome(answer="done", **more):
    return Outcome(turn_id="t", session_id="s", mode="ask_mode", reason="end_turn", answer=answer, **more)


def test_a_session_comes_back_as_it_was(tmp_path):
    session = Session(tmp_path, title="On greeting")
    session.append(user("hello"))
    session.append(user("taken back"))
    session.remove_last()
    session.finish_turn("hello", 1.0, outcome(tools=(ToolRecord("EditTool", "edited a", ("a",), "success", 3, 1),)))

    again = Session.load(tmp_path, session.id)

    assert again.messages == session.messages
    assert again.turns == session.turns
    assert (again.turns[0].tool_history[0].added, again.turns[0].tool_history[0].removed) == (3, 1)
    assert again.title == "On greeting"


def test_a_turn_tells_what_became_of_its_proposals_in_each_file(tmp_path):
    states = {"file:///b": ("modified",), "file:///a": ("accepted", "rejected", "accepted", "superseded")}
    receipts = tuple(Receipt(hunk_id="h", uri=uri, state=it) for uri, each in states.items() for it in each)
    session = Session(tmp_path)
    session.finish_turn("change it", 1.0, outcome(receipts=receipts))

    [turn] = Session.load(tmp_path, session.id).turns

    assert turn.reviewed == (ReviewedFile("file:///b", 1, 0), ReviewedFile("file:///a", 2, 2))


def test_what_waits_for_an_answer_waits_in_its_own_session_and_not_in_a_copy_of_it(tmp_path):
    session = Session(tmp_path)
    session.note_begun(QueuedMessage("t", "hello", "ask_mode", 1.0))
    session.note_waiting(QueuedMessage("next", "and then?", "ask_mode", 2.0))
    copy = Session.resume(tmp_path, fork(tmp_path, session.id)[0])
    session.close()
    own = Session.resume(tmp_path, session.id)

    assert (copy.turns, copy.unbegun) == ([], [])
    assert [it.body for it in own.turns] == ["hello"]
    assert [it.body for it in own.unbegun] == ["and then?"]


def test_what_still_waits_after_a_kill_has_what_came_along(tmp_path):
    image = Image("image/png", base64.b64encode(png()).decode(), name="shot")
    note = ContextItem(kind="text", content="a note")
    waiting = QueuedMessage("next", "and then?", "ask_mode", 2.0, (note,), (described(image),))
    session = Session(tmp_path)
    session.append(user("hello"))
    session.note_waiting(waiting, [image])
    session.close()

    again = Session.resume(tmp_path, session.id)

    assert again.unbegun == [waiting]
    assert image.data not in session.log.path.read_text()
    assert attachments.read(again.log.path, again.unbegun[0].attached[0].digest) == png()


def test_c_123_todos_are_kept_when_they_change_and_not_when_the_turn_ends(tmp_path):
    first, second = Todo("1", "look", "completed"), Todo("2", "fix", "pending")
    session = Session(tmp_path)
    session.finish_turn("hello", 1.0, outcome(todos=(first,)))
    session.note_begun(QueuedMessage("next", "go on", "edit_mode", 2.0))
    session.note_event("next", MAIN, TodosChanged((first, second)))
    session.note_event("next", "ask-1", TodosChanged(()))
    session.close()

    assert Session.load(tmp_path, session.id).todos == [first, second]
    again = Session.resume(tmp_path, session.id)
    assert again.todos == list(again.turns[-1].todos) == [first, second]
    again.close()
    assert Session.load(tmp_path, session.id).todos == [first, second]


def test_each_record_is_one_line_that_only_the_user_can_read(tmp_path):
    session = Session(tmp_path / "new")
    session.append(user("a\nb"))

    path = session.log.path
    assert [json.loads(line)["type"] for line in path.read_text().splitlines()] == ["session", "message"]
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_torn_end_costs_only_itself(tmp_path):
    session = Session(tmp_path)
    for number in range(3):
        session.append(user(f"message {number}"))
    whole = session.log.path.read_bytes()

    session.log.path.write_bytes(whole[:-10])

    assert [message.text for message in Session.load(tmp_path, session.id).messages] == ["message 0", "message 1"]


def test_a_damaged_line_costs_only_itself(tmp_path):
    session = Session(tmp_path)
    session.append(user("one"))
    with session.log.path.open("ab") as file:
        file.write(b'\0\0garbage\n{"v":1,"type":"message","message":{"role":"moon"}}\n')
    session.close()

    again = Session.resume(tmp_path, session.id)
    again.append(user("two"))
    again.close()

    assert again.notices == [f"2 damaged lines of {session.log.path} were left out"]
    last = Session.resume(tmp_path, session.id)
    assert [message.text for message in last.messages] == ["one", "two"]
    assert last.notices == []


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "a/b", "a b", "x" * 200])
def test_an_id_is_no_path(tmp_path, name):
    with pytest.raises(SessionError, match="not a session id"):
        SessionLog(tmp_path, name)


def test_a_session_that_is_not_there_says_so(tmp_path):
    with pytest.raises(SessionError, match="there is no session"):
        Session.load(tmp_path, "nothing")


def test_somebody_who_looks_at_a_session_while_it_begins_costs_nothing(tmp_path, monkeypatch):
    log = SessionLog(tmp_path / "sessions", "s")

    def held(_, path, **__):
        raise locks.Held(path, "another Odin")

    with monkeypatch.context() as patched:
        patched.setattr(locks, "hold", held)
        with pytest.raises(SessionError, match="open in another Odin"):
            log.append({"type": "first"})
    log.append({"type": "second"})
    log.close()

    assert [json.loads(line)["type"] for line in log.path.read_bytes().splitlines()] == ["first", "second"]


def test_a_disk_that_fails_costs_the_log_and_not_the_conversation(tmp_path):
    (tmp_path / "file").write_text("")
    session = Session(tmp_path / "file")

    session.append(user("hello"))

    assert session.messages == [user("hello")]
    assert "cannot be written" in session.problem


def test_d_012_a_session_knows_when_it_was_made_and_changed(tmp_path):
    session = Session(tmp_path)
    made = session.updated_at
    session.append(user("hello"))

    assert session.created_at == made < session.updated_at
    again = Session.load(tmp_path, session.id)
    assert (again.created_at, again.updated_at) == (session.created_at, session.updated_at)


def test_c_112_it_is_listed_whether_a_session_was_made_shorter(tmp_path):
    session = Session(tmp_path)
    for is_shorter in (False, True):
        if is_shorter:
            session.replace([user("in short")])
        session.finish_turn("hello", 1.0, outcome())
        assert listing.summary(tmp_path, session.id).is_compacted is is_shorter
        assert Session.load(tmp_path, session.id).is_compacted is is_shorter


def test_sessions_of_different_workspaces_are_apart_and_outside(tmp_path):
    one, two = sessions_folder(tmp_path / "a" / "x"), sessions_folder(tmp_path / "b" / "x")

    assert one != two
    assert not one.is_relative_to(tmp_path / "a")


KEY = "sk-live-canary-0123456789"
SIGNATURE = "eyJhbGciOiJIUzI1NiJ90123456789"
"""It looks like a key, and is none."""


def test_a_key_is_in_the_conversation_and_nowhere_else(tmp_path):
    """Wherever it may have been said: by the user, while waiting, by the model, in a title or by a helper."""
    call = ToolCall("c", "ExecuteCommand", {"command": f"curl -u {KEY}", "data": [{"id": KEY}]}, signature=SIGNATURE)
    said = Message("assistant", (Thinking(KEY, {"data": KEY}), Text(KEY, signature=SIGNATURE), call))
    session = Session(tmp_path, title=f"on {KEY}")
    session.note_waiting(QueuedMessage("t", KEY, "ask_mode", 1.0))
    session.note_begun(QueuedMessage("t", KEY, "ask_mode", 1.0))
    session.append(user(f"my key is {KEY}"))
    session.append(said)
    session.append(Message("user", (ToolResult("c", "ExecuteCommand", f"{KEY}\n"), Image("image/png", SIGNATURE))))
    before = list(session.messages)
    session.note_subagent(
        SubagentRecord(
            agent_id="ask-1", turn_id="t", call_id="c", description=KEY, mode="ask_mode", model="x", status="completed",
            summary=KEY, started_at=1.0,
        )
    )  # fmt: skip
    session.finish_turn(f"my key is {KEY}", 1.0, outcome(f"it is {KEY}", tools=(record(KEY),)))
    session.rename(f"The key {KEY}")

    assert session.messages == before
    assert KEY in session.messages[0].text
    told = [session.log.path.read_text(), transcript(session), session.title, session.first_message]
    session.replace([user(f"my key was {KEY}")])
    told.append(session.log.path.read_text())
    assert [it for it in told if KEY in it] == []
    again = Session.load(tmp_path, session.id)
    assert again.messages == [user("my key was [hidden]")]
    assert again.turns == session.turns
    assert again.turns[0].body == "my key is [hidden]"


def test_what_providers_want_back_is_kept_as_it_is(tmp_path):
    session = Session(tmp_path)
    said = Message("assistant", (Text("x", signature=SIGNATURE), ToolCall(SIGNATURE, "x", {}, signature=SIGNATURE)))
    session.append(said)
    session.append(Message("user", (ToolResult(SIGNATURE, "x", "x"), Image("image/png", SIGNATURE))))

    assert Session.load(tmp_path, session.id).messages == session.messages


def record(text):
    return ToolRecord("ExecuteCommand", f"ran {text}", (), "success", 0, 0)
