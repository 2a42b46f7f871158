import pytest

from odin_lsp.workspace.text import Position, decode, line_starts, offset_at, split_lines


def test_only_three_things_end_a_line():
    text = "a\nb\r\nc\rd\x0be\x0cf\x1cg\x85h\u2028i\u2029j"

    assert split_lines(text) == ["a", "b", "c", "d\x0be\x0cf\x1cg\x85h\u2028i\u2029j"]
    assert line_starts(text) == [0, 2, 5, 7]


@pytest.mark.parametrize(
    ("encoding", "character", "offset"),
    [
        ("utf-16", 1, 1),
        ("utf-16", 3, 2),
        ("utf-16", 2, 1),
        ("utf-8", 5, 2),
        ("utf-8", 3, 1),
        ("utf-32", 2, 2),
        ("utf-16", 99, 3),
    ],
)
def test_positions_count_units_of_the_encoding_and_stay_inside_the_line(encoding, character, offset):
    text = "a😀b\nnext"

    assert offset_at(text, line_starts(text), Position(0, character), encoding) == offset


def test_a_position_behind_the_end_is_the_end():
    assert offset_at("abc", [0], Position(7, 0), "utf-16") == 3
    assert offset_at("abc", [0], Position(0, 99), "utf-16") == 3


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain", "plain"),
        (b"\xef\xbb\xbfwith a mark", "with a mark"),
        ("mörk".encode("utf-16"), "mörk"),
        (b"bin\0ary", None),
        ("é".encode("latin-1"), None),
    ],
)
def test_what_is_no_text_is_not_taken_for_one(data, text):
    decoded = decode(data)

    assert (decoded.text if decoded else None) == text
