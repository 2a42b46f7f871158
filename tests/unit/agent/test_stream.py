from odin_lsp.agent.stream import EventStream, Pacer
from odin_lsp.events import TextStreamed


def test_every_subscriber_gets_every_event_with_ids_and_rising_numbers():
    stream = EventStream()
    one, two = [], []
    stream.subscribe(one.append)
    stop = stream.subscribe(two.append)
    emit = stream.emitter("turn", "session")

    emit(TextStreamed("a"))
    stop()
    emit(TextStreamed("b"))

    assert [(record.seq, record.turn_id, record.session_id, record.event.text) for record in one] == [
        (1, "turn", "session", "a"),
        (2, "turn", "session", "b"),
    ]
    assert len(two) == 1


def test_small_pieces_go_out_at_a_pace_and_none_is_lost():
    now, sent = [0.0], []
    pacer = Pacer(sent.append, lambda: now[0])

    for piece in "abcdef":
        pacer.add(piece)
        now[0] += 0.06
    pacer.flush()
    pacer.flush()

    assert sent == ["a", "bcd", "ef"]
