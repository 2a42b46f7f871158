"""What a command prints is harmless before anybody sees it; long output keeps its beginning, its end, and a file."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odin_lsp.commands import output as module
from odin_lsp.commands.output import MAX_SHOWN_CHARS, Cleaner, Output
from odin_lsp.workspace.text import decode


def cleaned(*pieces):
    cleaner = Cleaner()
    return "".join([*(cleaner.feed(piece) for piece in pieces), cleaner.feed(b"", final=True)])


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        (b"plain\ttext\n", "plain\ttext\n"),
        (b"\x1b[1;31mred\x1b[0m", "red"),
        (b"\x1b]8;;https://evil.test\x07link\x1b]8;;\x07", "link"),
        (b"\x1b]52;c;cm0gLXJmIH4=\x1b\\pasted", "pasted"),
        (b"\x1bP1$r0m\x1b\\x", "x"),
        (b"\x1b(Bx\x1b7y\x1bcz", "xyz"),
        (b"a\0b", "a\\x00b"),
        (b"\0" * 5000, "\\x00 (5,000 times)"),
        (b"\x07\x08\x7f", "\\x07\\x08\\x7f"),
        (b"\xc2\x9b31m", "\\x9b31m"),
        (b"caf\xe9", "caf\ufffd"),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
        (b"1%\r50%\r100%\r\n", "1%\n50%\n100%\n"),
        (b"cut \x1b[3", "cut \\x1b[3"),
        ("grün 😀".encode(), "grün 😀"),
    ],
)
def test_it_is_harmless(printed, shown):
    assert cleaned(printed) == shown


def test_what_is_no_long_run_is_made_visible_without_looking_at_each(monkeypatch):
    looked_at = []
    monkeypatch.setattr("odin_lsp.commands.output._counted", lambda run: looked_at.append(run) or "")
    assert cleaned(b"\x01\x02\x02\x02" * 1000) == "\\x01\\x02\\x02\\x02" * 1000
    assert looked_at == []


@given(st.binary(max_size=60), st.integers(1, 7))
def test_pieces_make_no_difference_but_to_repetitions(data, size):
    data = data.replace(b"\0", b"\x1b")
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    text = cleaned(*pieces)
    text.encode()
    assert not any((ord(it) < 32 and it not in "\n\t") or 127 <= ord(it) < 160 for it in text)


def test_a_sequence_that_comes_in_pieces_is_one():
    for at in range(1, 12):
        data = b"a\x1b]52;c;eA==\x07b\x1b[0mc\r\nd"
        assert cleaned(data[:at], data[at:]) == "abc\nd"


def test_short_output_needs_no_file(tmp_path):
    seen = []
    output = Output(tmp_path / "out", seen.append)
    output.feed(b"hello\n")
    output.close()

    assert (output.shown, seen) == ("hello\n", ["hello\n"])
    assert not output.path.exists()


def test_long_output_is_shown_at_both_ends_and_whole_in_a_file(tmp_path):
    output = Output(tmp_path / "out", lambda text: None)
    text = "".join(f"line {number} 😀\n" for number in range(20_000))
    data = text.encode()
    for at in range(0, len(data), 65_536):
        output.feed(data[at : at + 65_536])
    output.close()

    head, note, tail = re.split(r"\n(… \([\d,]+ characters left out; .*\) …)\n", output.shown)
    assert text.startswith(f"{head}\n")
    assert text.endswith(f"\n{tail}")
    assert MAX_SHOWN_CHARS - 50 < len(head + tail) <= MAX_SHOWN_CHARS
    assert f"({len(text) - len(head + tail):,} characters left out" in note
    assert str(output.path) in output.shown
    assert output.path.read_text() == text
    assert output.path.stat().st_mode & 0o777 == 0o600


def test_what_cannot_be_read_as_text_can_be_once_it_is_in_the_file(tmp_path):
    output = Output(tmp_path / "out", lambda text: None)
    output.feed(bytes(range(256)) * 1000)
    output.close()

    assert decode(output.path.read_bytes()) is not None


def test_a_link_in_place_of_the_file_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").write_text("mine")
    (tmp_path / "out").symlink_to(tmp_path / "elsewhere")
    output = Output(tmp_path / "out", lambda text: None)
    output.feed(b"x" * (MAX_SHOWN_CHARS + 1))
    output.close()

    assert (tmp_path / "elsewhere").read_text() == "mine"
    assert "could not be kept" in output.shown


def test_it_is_too_long_by_what_it_prints_and_by_what_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_BYTES", 100_000)
    output = Output(tmp_path / "out", lambda text: None)
    output.feed(b"\x01\x02" * 20_000)
    assert output.too_long
    output.close()
