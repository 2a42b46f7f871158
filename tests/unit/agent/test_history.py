"""A history is always valid: each call has its one result."""

from hypothesis import given
from hypothesis import strategies as st

from odin_lsp.agent.history import repair
from odin_lsp.messages import Message, Text, ToolCall, ToolResult, user

CALLS = st.builds(ToolCall, st.sampled_from("abc"), st.just("Read"), st.just({}))
RESULTS = st.builds(ToolResult, st.sampled_from("abcd"), st.just("Read"), st.just("text"))
TEXTS = st.builds(Text, st.sampled_from(["", " ", "hello"]))
MESSAGES = st.one_of(
    st.builds(Message, st.just("user"), st.lists(RESULTS | TEXTS, max_size=3).map(tuple)),
    st.builds(Message, st.just("assistant"), st.lists(CALLS | TEXTS, max_size=3, unique_by=id).map(tuple)),
)


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
