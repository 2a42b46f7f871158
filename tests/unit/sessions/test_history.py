"""A history is always valid: each call has its one result. What is kept of it is what all of it would tell."""

import tempfile
from itertools import count
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from odin_lsp.agent.history import shortened
from odin_lsp.messages import Image, Message, Text, Thinking, ToolCall, ToolResult, user
from odin_lsp.sessions.forking import fork
from odin_lsp.sessions.history import History, estimate, repair
from odin_lsp.sessions.session import Session

CALLS = st.builds(ToolCall, st.sampled_from("abc"), st.just("Read"), st.just({}))
RESULTS = st.builds(ToolResult, st.sampled_from("abcd"), st.just("Read"), st.just("text"))
TEXTS = st.builds(Text, st.sampled_from(["", " ", "hello"]))
MESSAGES = st.one_of(
    st.builds(Message, st.just("user"), st.lists(RESULTS | TEXTS, max_size=3).map(tuple)),
    st.builds(Message, st.just("assistant"), st.lists(CALLS | TEXTS, max_size=3, unique_by=id).map(tuple)),
)
PICTURES = st.just(Message("user", (Text("see"), Image("image/png", "AAAA"))))
THOUGHTS = st.just(Message("assistant", (Thinking("hm"), Text("so"))))
DEEDS = st.sampled_from(["ask", "take back", "compact", "resume", "fork"])


@given(st.lists(MESSAGES, max_size=8))
def test_after_a_repair_each_call_has_exactly_one_result_right_behind_it(messages):
    repaired = repair(messages)

    for index, message in enumerate(repaired):
        assert message.parts
        following = repaired[index + 1] if index + 1 < len(repaired) else Message("user", ())
        assert (
            sorted(call.id for call in message.calls) == sorted({result.call_id for result in following.results})
            or not message.calls
        )
        if message.calls:
            assert following.role == "user"
    ids = [call.id for message in repaired for call in message.calls]
    results = [result.call_id for message in repaired for result in message.results]
    assert sorted(ids) == sorted(results)
    assert repair(repaired) == repaired


def test_a_good_history_is_left_as_it_is():
    history = [
        user("hi"),
        Message("assistant", (Text("look"), ToolCall("1", "Read", {}))),
        Message("user", (ToolResult("1", "Read", "text"),)),
        Message("assistant", (Text("done"),)),
    ]

    assert repair(history) == history


@given(st.lists(MESSAGES | PICTURES | THOUGHTS | DEEDS, max_size=20))
def test_what_is_kept_of_a_history_is_what_all_of_it_tells_whatever_happens_to_it(deeds):
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Path(folder))
        session.append(user("begin"))
        for deed in deeds:
            session = done(session, deed)
        as_it_is = list(session.messages)
        history = session.history

        assert history.valid() == repair(as_it_is)
        assert history.messages == history.valid()
        for since in range(len(history.messages) + 1):
            assert history.tokens(since) == estimate(history.messages[since:])
        taken = {call.id for message in history.messages for call in message.calls}
        for name in "abcde":
            [call] = history.distinct(Message("assistant", (ToolCall(name, "Read", {}),))).calls
            assert (call.id == name) == (name not in taken)
        session.close()


def done(session, deed):
    match deed:
        case "ask":
            session.history.valid()
        case "take back":
            session.remove_last()
        case "compact":
            messages = session.history.valid()
            session.replace(repair([shortened(it) for it in messages[len(messages) // 2 :]]))
        case "resume" | "fork":
            session.close()
            folder = session.log.path.parent
            new_id = fork(folder, session.id)[0] if deed == "fork" else session.id
            return Session.resume(folder, new_id)
        case message:
            session.append(message)
    return session


def test_a_call_whose_result_was_taken_back_waits_again():
    history = History([user("go"), Message("assistant", (ToolCall("1", "Read", {}),))])
    history.append(Message("user", (ToolResult("1", "Read", "text"),)))
    history.valid()
    history.remove_last()

    history.append(user("again"))

    [result] = history.valid()[-1].results
    assert (result.call_id, result.failed) == ("1", True)


def test_nothing_is_kept_of_a_history_that_was_replaced():
    history = History([user("go"), Message("assistant", (ToolCall("1", "Read", {}),))])
    history.valid()

    history.replace([user("go on")])

    assert history.tokens() == estimate([user("go on")])
    assert history.distinct(Message("assistant", (ToolCall("1", "Read", {}),))).calls[0].id == "1"


def test_calls_of_one_message_with_one_id_are_told_apart():
    calls = History().distinct(Message("assistant", (ToolCall("1", "Read", {}), ToolCall("1", "Read", {})))).calls

    assert calls[0].id == "1" != calls[1].id


def test_only_what_is_new_is_looked_at():
    looks = count()

    class Watched(tuple):
        def __iter__(self):
            next(looks)
            return super().__iter__()

    history = History([Message("user", Watched((Text("old"),))) for _ in range(10)])
    history.valid()
    looked = next(looks)

    for number in range(10):
        history.append(user(f"new {number}"))
        history.valid()
        history.tokens()
        history.distinct(Message("assistant", (ToolCall(f"{number}", "Read", {}),)))

    assert next(looks) == looked + 1
