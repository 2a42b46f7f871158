"""Bodies are looked at once, in small pieces, and only so far."""

import sys
from time import process_time

import pytest

from odin_lsp.loop_share import MOST_VALUES
from odin_lsp.models import bodies
from odin_lsp.models.base import parse_arguments
from odin_lsp.models.bodies import MOST_OF_AN_EVENT, PIECE, EventData, TooMuch

ANSWER = b'event: a\r\ndata: {"a": 1}\r\n\r\n: ping\n\ndata:one\ndata: two\n\ndata: \xc3\xa4\n\ndata: cut off'
SAID = ['{"a": 1}', "one\ntwo", "ä"]


def read(*pieces: bytes) -> list[str]:
    found = EventData()
    return [data for piece in pieces for data in found.of(piece)]


def cut(body: bytes, size: int) -> list[bytes]:
    return [body[start : start + size] for start in range(0, len(body), size)]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_events_are_the_same_in_pieces_of_any_size(size: int) -> None:
    assert read(*cut(ANSWER, size)) == SAID


def test_what_has_come_of_a_line_is_not_looked_at_again() -> None:
    """Sixteen times as much takes about sixteen times as long; if it were looked at again, 256 times."""

    def seconds(size: int) -> float:
        pieces, taken = cut(b"data: " + b"x" * size + b"\n\n", 4096), []
        for _ in range(5):
            began = process_time()
            assert len(read(*pieces)) == 1
            taken.append(process_time() - began)
        return min(taken)

    assert seconds(8 * 2**20) < 64 * seconds(2**19)


@pytest.mark.parametrize("body", [b"x", b"data: x", b"data: x\n", b"data:\n"])
def test_an_event_without_an_end_is_not_kept(body: bytes) -> None:
    piece = (body * PIECE)[:PIECE]
    with pytest.raises(TooMuch, match="one event in it has more than"):
        read(*[piece] * (MOST_OF_AN_EVENT // PIECE + 2))


def test_the_largest_event_that_is_read_is_read_whole() -> None:
    data = "x" * (MOST_OF_AN_EVENT - PIECE)
    assert read(*cut(f"data: {data}\n\n".encode(), PIECE), b"data: next\n\n") == [data, "next"]


def test_an_event_of_more_values_than_can_be_parsed_in_a_moment_is_not_read() -> None:
    with pytest.raises(TooMuch, match="more than 250,000 values"):
        read(*cut(b"data: [" + b"[]," * MOST_VALUES, PIECE))
    many = [b'data: {"a": [1, 2]}\n\n' * 10_000] * 10
    assert len(read(*many)) == 100_000, "of all events together there may be more"


def test_an_answer_of_nothing_but_line_ends_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "MOST_LINES", 10_000)
    with pytest.raises(TooMuch, match="more than 10,000 lines"):
        read(*[b"\n" * 1000] * 11)


def test_arguments_of_more_values_than_can_be_parsed_in_a_moment_are_no_call() -> None:
    assert parse_arguments(f'{{"a": [{"[]," * MOST_VALUES}1]}}') == (
        {},
        "the arguments have too many values; split the call",
    )


@pytest.mark.skipif(not hasattr(sys, "get_int_max_str_digits"), reason="this Python reads any number")
def test_a_number_that_python_does_not_read_is_no_json() -> None:
    assert bodies.parsed(b"1" * 5000) == "1" * 5000
