"""Lines and positions against a client that works on plain text."""

import codecs
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odin_lsp.workspace.text import (
    Change,
    Decoded,
    Lines,
    Position,
    decode,
    split_lines,
    usual_line_end,
    whole_lines,
    whole_lines_in_parts,
)
from tests.support.sampling import fewer

ENCODINGS = ("utf-8", "utf-16", "utf-32")
PIECES = [
    "a",
    "é",
    "😀",
    "\u200d",
    "e\u0301",
    "\n",
    "\r\n",
    "\r",
    "\x0b",
    "\x0c",
    "\x1c",
    "\x1e",
    "\x85",
    "\u2028",
    "\u2029",
    " ",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
POSITIONS = st.builds(Position, st.integers(0, 12), st.integers(0, 12))


class PlainClient:
    """An editor that keeps one string and counts code units by encoding: slow, simple, and independent."""

    def __init__(self, text: str, encoding: str) -> None:
        self.text = text
        self.encoding = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}[encoding]
        self.unit = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]

    def offset(self, position: Position) -> int:
        start = 0
        for _ in range(position.line):
            end = self.line_end(start)
            if end == len(self.text):
                return end
            start = end + (2 if self.text[end : end + 2] == "\r\n" else 1)
        content = self.text[start : self.line_end(start)]
        units, offset = 0, start
        for character in content:
            units += len(character.encode(self.encoding)) // self.unit
            if units > position.character:
                break
            offset += 1
        return offset

    def line_end(self, start: int) -> int:
        ends = [found for mark in "\r\n" if (found := self.text.find(mark, start)) >= 0]
        return min(ends, default=len(self.text))

    def position(self, offset: int) -> Position:
        """The last one that is not behind the character."""
        start, line = 0, 0
        while (end := self.line_end(start)) < len(self.text):
            following = end + (2 if self.text[end : end + 2] == "\r\n" else 1)
            if offset < following:
                break
            start, line = following, line + 1
        return Position(line, len(self.text[start : min(offset, end)].encode(self.encoding)) // self.unit)

    def apply(self, change: Change) -> None:
        start, end = self.offset(change.start), self.offset(change.end)
        self.text = self.text[:start] + change.text + self.text[max(start, end) :]


@pytest.mark.thorough
@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(max_examples=max(fewer(2000), settings().max_examples))
@given(text=TEXTS, edits=st.lists(st.tuples(POSITIONS, POSITIONS, TEXTS), max_size=8))
def test_after_any_edits_server_and_editor_hold_the_same_bytes(encoding, text, edits):
    lines, client = Lines(text), PlainClient(text, encoding)

    for one, two, new in edits:
        change = Change(new, min(one, two), max(one, two))
        lines.apply(change, encoding)
        client.apply(change)
        assert lines.text == client.text
        assert lines._lines == whole_lines(client.text)
        assert (
            lines.between(change.start, change.end, encoding)
            == client.text[client.offset(change.start) : client.offset(change.end)]
        )


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(max_examples=max(500, settings().max_examples))
@given(text=TEXTS, edits=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), TEXTS), max_size=8))
def test_after_any_edits_every_character_is_where_a_client_would_count_it(encoding, text, edits):
    lines, client = Lines(text), PlainClient(text, encoding)

    for one, two, new in [(0, 0, ""), *edits]:
        start, end = sorted(min(at, len(client.text)) for at in (one, two))
        behind = lines.replace(start, end, new)
        client.text = client.text[:start] + new + client.text[end:]
        assert lines.text == client.text
        assert behind >= start + len(new)
        assert client.position(behind) == Position(client.position(behind).line, 0) or behind == len(client.text)
        positions = [client.position(at) for at in range(len(client.text) + 3)]
        assert [Position(*lines.position(at, encoding)) for at in range(len(client.text) + 3)] == positions
        assert [lines.offset(it, encoding) for it in positions] == [client.offset(it) for it in positions]
        assert [lines.width(at, encoding) for at in range(len(lines))] == [
            client.position(client.line_end(client.offset(Position(at, 0)))).character for at in range(len(lines))
        ]


@settings(max_examples=max(500, settings().max_examples))
@given(text=TEXTS, edits=st.lists(st.tuples(st.booleans(), POSITIONS, POSITIONS, TEXTS), max_size=8))
def test_what_is_known_of_a_text_after_edits_is_what_is_known_of_it_anew(text, edits):
    lines = Lines(text)

    for is_asked, one, two, new in edits:
        lines.apply(Change(new, min(one, two), max(one, two)), "utf-16")
        if is_asked:
            assert lines.position(len(lines.text), "utf-16") == Lines(lines.text).position(len(lines.text), "utf-16")

    fresh = Lines(lines.text)
    assert lines._lines == fresh._lines
    assert [lines._start(at) for at in range(len(lines) + 1)] == [fresh._start(at) for at in range(len(fresh) + 1)]


@given(TEXTS, st.integers(0, 40), st.integers(0, 40))
def test_the_lines_that_characters_are_in(text, one, two):
    client = PlainClient(text, "utf-32")
    start, end = sorted(min(at, len(text)) for at in (one, two))

    touched = {client.position(at).line + 1 for at in range(start, end)} or {client.position(start).line + 1}

    assert Lines(text).numbers(start, end) == (min(touched), max(touched))


@given(TEXTS)
def test_lines_are_the_same_if_they_are_split_in_parts(text):
    with patch("odin_lsp.workspace.text.PART", 3):
        assert whole_lines_in_parts(text) == whole_lines(text)


def test_only_three_things_end_a_line():
    text = "a\nb\r\nc\rd\x0be\x0cf\x1cg\x85h\u2028i\u2029j"

    assert split_lines(text) == ["a", "b", "c", "d\x0be\x0cf\x1cg\x85h\u2028i\u2029j"]
    assert "".join(whole_lines(text)) == text


def test_a_line_feed_typed_behind_a_carriage_return_joins_it():
    lines = Lines("a\rb")

    lines.apply(Change("\n", Position(1, 0), Position(1, 0)), "utf-16")

    assert lines._lines == ["a\r\n", "b"]


@pytest.mark.parametrize(
    ("text", "position", "result"),
    [
        ("abc", Position(0, 99), "abcX"),
        ("abc", Position(7, 3), "abcX"),
        ("abc\n", Position(1, 5), "abc\nX"),
        ("a😀b", Position(0, 2), "aX😀b"),
        ("", Position(3, 3), "X"),
        ("abc", Position(-1, -5), "Xabc"),
    ],
)
def test_positions_that_are_nowhere_are_the_nearest_place(text, position, result):
    lines = Lines(text)

    lines.apply(Change("X", position, position), "utf-16")

    assert lines.text == result


@pytest.mark.parametrize(
    "data",
    [
        b"plain\r\nwith\rmixed\nends",
        codecs.BOM_UTF8 + "mit Märchen\n".encode(),
        codecs.BOM_UTF16_LE + "mörk\r\n".encode("utf-16-le"),
        codecs.BOM_UTF16_BE + "mörk".encode("utf-16-be"),
        b"",
        codecs.BOM_UTF8,
    ],
)
def test_what_is_decoded_can_be_written_back_byte_for_byte(data):
    assert decode(data).encode() == data


@pytest.mark.parametrize(
    "data",
    [
        b"bin\0ary",
        b"text" * 3000 + b"\0",
        "é".encode("latin-1"),
        "日本".encode("shift-jis"),
        b"x" * (1 << 20) + b"\xff",
        "hi".encode("utf-16-le"),
        codecs.BOM_UTF16_LE + b"\x00\xd8",
        b"\x89PNG\r\n\x1a\n\0",
    ],
)
def test_what_could_not_be_written_back_is_no_text(data):
    assert decode(data) is None


def test_the_usual_line_end_is_the_most_frequent():
    assert usual_line_end(whole_lines("a\r\nb\r\nc\n")) == "\r\n"
    assert usual_line_end(["no end"]) == "\n"
    assert isinstance(decode(b"x"), Decoded)


@pytest.mark.parametrize(
    ("start", "end", "between"),
    [
        (Position(0, 1), Position(3, 2), "ne\ntwo\nthree\nfo"),
        (Position(0, 1), Position(1, 2), "ne\ntw"),
        (Position(1, 0), Position(9, 9), "two\nthree\nfour"),
        (Position(2, 1), Position(2, 3), "hr"),
        (Position(2, 3), Position(2, 1), ""),
        (Position(9, 0), Position(9, 9), ""),
    ],
)
def test_what_is_between_two_positions(start, end, between):
    assert Lines("one\ntwo\nthree\nfour").between(start, end, "utf-16") == between


@pytest.mark.parametrize(("encoding", "units"), [("utf-8", 5), ("utf-16", 2), ("utf-32", 2)])
def test_half_a_surrogate_pair_is_a_character_too(encoding, units):
    assert Lines("é\ud800x").offset(Position(0, units), encoding) == 2
    assert Lines("é\ud800x").position(2, encoding) == (0, units)
