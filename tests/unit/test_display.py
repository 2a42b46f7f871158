"""What may be shown of a text, whoever wrote it."""

import sys
import unicodedata

import pytest

from odin_lsp.display import MOST_OF_LABEL, shown, shown_after, shown_exactly, shown_line

VISIBLE_MARKS = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
"""Signs of Arabic, Syriac and Kaithi, which Unicode calls format characters although people see them."""


def test_nothing_passes_that_a_terminal_obeys_or_that_nobody_sees():
    hidden = [
        it
        for it in map(chr, range(sys.maxunicode + 1))
        if unicodedata.category(it) in ("Cc", "Cf", "Cs", "Zl", "Zp") and it not in f"\n\t{VISIBLE_MARKS}"
    ]

    assert [ascii(it) for it in hidden if shown(f"a{it}b").isprintable() is False or it in shown(f"a{it}b")] == []


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("\x1b]52;c;aGk=\x07", r"\x1b]52;c;aGk=\x07"),
        ("\x9b2J", r"\x9b2J"),
        ("\u202egpj.exe", r"\u202egpj.exe"),
        ("a\u200bb\u200db", r"a\u200bb\u200db"),
        ("\u200d", r"\u200d"),
        ("\udc80\U000e0041", r"\udc80\U000e0041"),
        ("❤\ufe0f\ufe0f\ufe0f", "❤\ufe0f\\ufe0f\\ufe0f"),
        ("one\r\ntwo\rthree\u2028", "one\ntwo\\rthree\\u2028"),
    ],
)
def test_what_is_hidden_is_written_out(text, seen):
    assert shown(text) == seen
    assert shown(seen) == seen


@pytest.mark.parametrize(
    "text",
    [
        "👨‍👩‍👧 ❤️‍🔥 1️⃣ ©️ 🏳️‍🌈",
        "می‌خواهم",
        "שלום, עולם",
        "क्‍ष",
        "naïve 漢字　仮名\u00a0!",
        "def f():\n\treturn 1\n",
        "⠁⠀⠂",
        "%s [b] #",
    ],
)
def test_what_people_write_stays_as_it_is(text):
    assert shown(text) == text


@pytest.mark.parametrize("text", ["👨‍👩‍👧 ❤️‍🔥 1️⃣ می‌خواهم", "a\u202eb\u200bc\x1b[2K\ufe0f\ufe0f"])
def test_a_text_that_comes_in_pieces_is_shown_as_a_whole_would_be(text):
    seen, before = "", ""
    for piece in text:
        seen += shown_after(before, piece)
        before = piece

    assert seen == shown(text)


def test_a_line_is_one_line_and_says_what_is_missing():
    assert shown_line("ls\nrm -rf /\r\n\ttwo\n") == "ls ⏎ rm -rf / ⏎  two"
    assert shown_line("x" * (MOST_OF_LABEL + 12_345)) == "x" * MOST_OF_LABEL + "… (12,345 characters more)"
    assert shown_line("x" * 5000, None) == "x" * 5000


def test_what_is_decided_on_is_shown_exactly():
    assert shown_exactly("a\u00a0b\u200dc\x1b\td\u3164\ufe0f") == "a\\xa0b\\u200dc\\x1b\td\\u3164\\ufe0f"
