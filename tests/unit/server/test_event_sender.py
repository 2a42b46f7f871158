from odin_lsp.events import ArgumentsStreamed, EventRecord, TextStreamed, ThinkingStreamed, TodosChanged
from odin_lsp.server.event_sender import CROWDED, EventSender


def record(event, turn="t"):
    return EventRecord(99, turn, "s", "main", event)


def test_while_the_client_keeps_up_everything_goes_out_as_it_is():
    sent = []
    sender = EventSender(sent.append, lambda: 0)

    for text in "abc":
        sender(record(TextStreamed(text)))

    assert [(it["seq"], it["event"]["text"]) for it in sent] == [(1, "a"), (2, "b"), (3, "c")]


def test_under_load_text_is_joined_and_nothing_is_lost_or_reordered():
    sent = []
    sender = EventSender(sent.append, lambda: CROWDED)

    for event in (TextStreamed("a"), TextStreamed("b"), ThinkingStreamed("x"), TextStreamed("c"), TodosChanged(())):
        sender(record(event))

    assert [(it["seq"], it["event"].get("text"), it["event"]["kind"]) for it in sent] == [
        (1, "ab", "textStreamed"),
        (2, "x", "thinkingStreamed"),
        (3, "c", "textStreamed"),
        (4, None, "todosChanged"),
    ]


def test_under_load_arguments_of_one_call_are_joined():
    sent = []
    sender = EventSender(sent.append, lambda: CROWDED)

    for call_id, text in (("1", "a"), ("1", "b"), ("2", "c")):
        sender(record(ArgumentsStreamed(call_id, "Read", text)))
    sender(record(TodosChanged(())))

    assert [(it["event"].get("callId"), it["event"].get("text")) for it in sent] == [
        ("1", "ab"),
        ("2", "c"),
        (None, None),
    ]


def test_texts_of_different_turns_are_not_mixed():
    sent = []
    sender = EventSender(sent.append, lambda: CROWDED)

    sender(record(TextStreamed("a"), "one"))
    sender(record(TextStreamed("b"), "two"))
    sender(record(TodosChanged(()), "two"))

    assert [(it["turnId"], it["event"].get("text")) for it in sent] == [("one", "a"), ("two", "b"), ("two", None)]
