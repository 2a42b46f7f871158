"""Some lines of a file that is too large to be held."""

import pytest

from odin_lsp.errors import ToolError
from odin_lsp.workspace import scanning
from odin_lsp.workspace.scanning import LONGEST_LINE, scan


@pytest.fixture
def read(tmp_path):
    def read(data, start, count):
        path = tmp_path / "large.txt"
        path.write_bytes(data)
        with path.open("rb") as file:
            return scan(path, file, start, count)

    return read


def test_no_more_is_read_than_it_takes_and_the_end_is_told_if_it_was_reached(read, monkeypatch):
    monkeypatch.setattr(scanning, "CHUNK", 8)

    assert read(b"one\ntwo\nthree\nfour\n", 2, 1) == (["two"], None, {})
    assert read(b"one\ntwo\nthree\nfour\n", 3, 9) == (["three", "four"], 4, {})


def test_a_line_that_is_too_far_away_is_not_looked_for_to_the_end(read, monkeypatch):
    monkeypatch.setattr(scanning, "CHUNK", 8)
    monkeypatch.setattr(scanning, "MAX_SCAN_BYTES", 16)

    assert read(b"line\n" * 20, 2, 1)[0] == ["line"]
    with pytest.raises(ToolError, match=r"line 10 of .* away; use Grep"):
        read(b"line\n" * 20, 10, 1)


@pytest.mark.parametrize("length", [LONGEST_LINE, LONGEST_LINE + 1, 2 * LONGEST_LINE, 5 * LONGEST_LINE])
def test_a_long_line_is_cut_and_its_length_told(read, monkeypatch, length):
    monkeypatch.setattr(scanning, "CHUNK", LONGEST_LINE // 2)

    lines, _, cut = read(b"x" * length + b"\nnext\n", 1, 2)

    assert (len(lines[0]), lines[1]) == (LONGEST_LINE, "next")
    assert cut == ({0: length} if length > LONGEST_LINE else {})
