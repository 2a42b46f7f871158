import json

from odin_lsp.events import (
    ArgumentsStreamed,
    EventRecord,
    RequestProgress,
    ReviewOpened,
    TextStreamed,
    ThinkingFinished,
    ThinkingStreamed,
    TodosChanged,
)
from odin_lsp.ports import Review
from odin_lsp.server import event_sender
from odin_lsp.server.event_sender import CROWDED, EventSender, Written
from odin_lsp.values import to_wire


def sending(backlog, written=None):
    """What is sent, and who sends it."""
    sent = []

    def send(body):
        message = json.loads(body)
        assert (message["jsonrpc"], message["method"]) == ("2.0", "odin/event")
        sent.append(message["params"])

    return sent, EventSender(send, lambda: backlog, written or Written())


def record(event, turn="t"):
    return EventRecord(99, turn, "s", "main", event)


def test_while_the_client_keeps_up_everything_goes_out_as_it_is():
    sent, sender = sending(0)

    for text in "abc":
        sender(record(TextStreamed(text)))

    assert [(it["seq"], it["event"]["text"]) for it in sent] == [(1, "a"), (2, "b"), (3, "c")]


def test_under_load_text_is_joined_and_nothing_is_lost_or_reordered():
    sent, sender = sending(CROWDED)

    for event in (TextStreamed("a"), TextStreamed("b"), ThinkingStreamed("x"), TextStreamed("c"), TodosChanged(())):
        sender(record(event))

    assert [(it["seq"], it["event"].get("text"), it["event"]["kind"]) for it in sent] == [
        (1, "ab", "textStreamed"),
        (2, "x", "thinkingStreamed"),
        (3, "c", "textStreamed"),
        (4, None, "todosChanged"),
    ]


def test_under_load_counts_are_left_out_and_ends_are_not():
    told = RequestProgress(9, 1), TextStreamed("a"), RequestProgress(10, 2), TextStreamed("b"), ThinkingFinished(7)
    for backlog, kinds in (
        (0, [it.kind for it in told]),
        (CROWDED, ["textStreamed", "thinkingFinished"]),
    ):
        sent, sender = sending(backlog)
        for event in told:
            sender(record(event))

        assert [it["event"]["kind"] for it in sent] == kinds
        assert [it["seq"] for it in sent] == list(range(1, len(kinds) + 1))


def test_under_load_arguments_of_one_call_are_joined():
    sent, sender = sending(CROWDED)

    for call_id, text in (("1", "a"), ("1", "b"), ("2", "c")):
        sender(record(ArgumentsStreamed(call_id, "Read", text)))
    sender(record(TodosChanged(())))

    assert [(it["event"].get("callId"), it["event"].get("text")) for it in sent] == [
        ("1", "ab"),
        ("2", "c"),
        (None, None),
    ]


def test_texts_of_different_turns_are_not_mixed():
    sent, sender = sending(CROWDED)

    sender(record(TextStreamed("a"), "one"))
    sender(record(TextStreamed("b"), "two"))
    sender(record(TodosChanged(()), "two"))

    assert [(it["turnId"], it["event"].get("text")) for it in sent] == [("one", "a"), ("two", "b"), ("two", None)]


def test_clients_get_the_same_events_each_with_a_number_of_its_own(monkeypatch):
    encoded = []
    monkeypatch.setattr(event_sender, "to_wire", lambda it: encoded.append(it) or to_wire(it))
    written = Written()
    (one, first), (other, second) = sending(0, written), sending(0, written)
    events = [record(it) for it in (TodosChanged(()), TextStreamed("ä"), TextStreamed("b"))]

    first(events[0])
    for it in events[1:]:
        first(it)
        second(it)

    assert [it["seq"] for it in one] == [1, 2, 3]
    assert [it["seq"] for it in other] == [1, 2]
    assert other == [{**it, "seq": it["seq"] - 1} for it in one[1:]]
    assert one[1] == {**to_wire(events[1]), "seq": 2}
    assert len(encoded) == 3


def test_half_a_character_costs_no_client_the_event():
    """Neovim, for one, drops a message with one. What is proposed stays as it is."""
    sent, sender = sending(0)

    for text in ("a\ud800b", "\\ud800 😀", "\\\udcff"):
        sender(record(TextStreamed(text)))
    sender(record(ReviewOpened(Review("p", "t", "\ud800", ()))))

    assert [it["event"].get("text") for it in sent[:3]] == ["a\ufffdb", "\\ud800 😀", "\\\ufffd"]
    assert sent[3]["event"]["proposal"]["reason"] == "\ud800"
