"""What a model quotes, and what becomes of the text: literally, rung by rung of what is forgiven, and not at all."""

import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from odin_lsp.errors import ToolError
from odin_lsp.review.matching import Applied, Match, Replacement, apply_all, find, replaced
from odin_lsp.workspace.text import line_end, whole_lines

LINE_ENDS = "differences in line ends were ignored"
FINAL_END = "differences in the final line end were ignored"
TRAILING = "differences in trailing blanks were ignored"
INDENTATION = "differences in indentation were ignored"
PUNCTUATION = "differences in typographic punctuation were ignored"

PIECES = ["a", "b", "é", "😀", "\n", "\r\n", "\r", " ", "\t", "’", "…", "$1", "\\", "\u2028"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
ONE_LINE = st.text(st.sampled_from("xyé’ $\\1."), max_size=8)
LINES = st.lists(st.tuples(st.integers(0, 30).map("line {}".format), st.sampled_from(["\n", "\r\n", "\r"])), min_size=2)


def edited(text: str, old: str, new: str, *, replace_all: bool = False) -> tuple[str, str]:
    match = find(text, old, new, replace_all=replace_all)
    return replaced(text, match), match.how


def refusal(text: str, old: str, new: str = "new", *, replace_all: bool = False) -> str:
    with pytest.raises(ToolError) as error:
        find(text, old, new, replace_all=replace_all)
    return str(error.value)


def plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("’", "'").replace("…", "...")


# Exact


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        pytest.param("one two", "two", "three", "one three", id="a word"),
        pytest.param("one two", "one ", "", "two", id="a deletion"),
        pytest.param("a.c abc", "a.c", "x", "x abc", id="regex characters"),
        pytest.param("f(x)", "x", r"$1 \1 \g<0> {x} %s", r"f($1 \1 \g<0> {x} %s)", id="template characters"),
        pytest.param(r"C:\new\table", r"\new", r"\old", r"C:\old\table", id="backslashes"),
        pytest.param("\tx = 1", "\tx", "\ty", "\ty = 1", id="a tab"),
        pytest.param("naïve 😀 text", "😀 text", "é", "naïve é", id="beyond ASCII"),
        pytest.param("a\u2028b", "\u2028", "\n", "a\nb", id="a line separator is no line end"),
        pytest.param("aaa", "aaa", "aa", "aa", id="the whole text"),
        pytest.param("'a' ’a’", "'a'", "'b'", "'b' ’a’", id="exact before punctuation"),
        pytest.param("x = 1 \nx = 1", "x = 1 \n", "", "x = 1", id="exact before blanks"),
    ],
)
def test_an_exact_match_is_literal(text, old, new, expected):
    assert edited(text, old, new) == (expected, "")


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("a\nb", "b", "c", "a\nc"),
        ("a\nb", "a", "c", "c\nb"),
        ("a\nb", "b", "b\nc", "a\nb\nc"),
        ("a\nb", "b", "b\n", "a\nb\n"),
        ("a\nb\n", "b\n", "b", "a\nb"),
        ("a\nb\n", "b", "c", "a\nc\n"),
    ],
)
def test_a_final_line_end_comes_and_goes_only_if_the_model_says_so(text, old, new, expected):
    assert edited(text, old, new) == (expected, "")


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        pytest.param("a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n", id="an appended line"),
        pytest.param("a\rb\r", "b", "b\nc", "a\rb\rc\r", id="after a carriage return"),
        pytest.param("a\nb\nc\r\n", "c", "c\nd", "a\nb\nc\r\nd\r\n", id="the end of the line itself"),
        pytest.param("a\r\nb\r\nc", "c", "c\nd", "a\r\nb\r\nc\r\nd", id="the end that is usual in the text"),
        pytest.param("a\r\nb\r\nc\nd\n", "c\nd", "c\nx\nd", "a\r\nb\r\nc\nx\nd\n", id="the end that is usual there"),
        pytest.param("a\r\nb", "\nb", "", "a", id="a line end goes as a whole"),
        pytest.param("a\r\nb", "\nb", "\nc\nd", "a\r\nc\r\nd", id="a line end stays as a whole"),
        pytest.param("a\r\nb", "\r\nb", "\nb", "a\nb", id="unless carriage returns are spoken of"),
        pytest.param("a\nb", "a", "a\r\nx", "a\r\nx\nb", id="or asked for"),
    ],
)
def test_new_lines_get_the_line_end_of_their_place(text, old, new, expected):
    assert edited(text, old, new) == (expected, "")


def test_replace_all_replaces_every_occurrence():
    match = find("x, x\nx", "x", "yy", replace_all=True)

    assert match == Match((Replacement(0, 1, "yy"), Replacement(3, 4, "yy"), Replacement(5, 6, "yy")), "")
    assert replaced("x, x\nx", match) == "yy, yy\nyy"


def test_replace_all_counts_overlaps_from_the_left():
    assert edited("aaaaa", "aa", "b", replace_all=True) == ("bba", "")


def test_replace_all_joins_lines_whatever_their_end():
    assert edited("a\r\nb\nc\r\n", "\n", ";", replace_all=True) == ("a;b;c;", "")


def test_replace_all_is_happy_with_one():
    assert edited("x", "x", "y", replace_all=True) == ("y", "")


# Line ends


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        pytest.param("a\r\nb\r\nc\r\n", "a\nb\n", "a\nx\n", "a\r\nx\r\nc\r\n", id="windows"),
        pytest.param("a\rb\rc\r", "a\nb", "x\ny\nz", "x\ry\rz\rc\r", id="old macs"),
        pytest.param("a\r\nb\nc\rd", "a\nb\nc\n", "a\nx\nc\n", "a\r\nx\nc\rd", id="mixed: each line its own"),
        pytest.param("a\r\nb\nc\rd", "a\nb\nc", "n\na\nb\nc", "n\na\r\nb\nc\rd", id="mixed: moved by a new line"),
        pytest.param("a\r\nb\nc\rd", "a\nb\nc\n", "a\nc\n", "a\r\nc\rd", id="mixed: moved by a deletion"),
        pytest.param("a\rb\nc\r\n", "a\nb\nc\n", "a\n\nc\n", "a\r\rc\r\n", id="mixed: no line feed joins a return"),
        pytest.param("a\rb\r\nc\n", "a\nb\nc\n", "a\n\nc\n", "a\r\r\nc\n", id="mixed: a pair needs no help"),
        pytest.param("foo\r\nbar", "oo\nba", "OO\nBA", "fOO\r\nBAr", id="within lines"),
        pytest.param("a\r\n\r\nb", "\n\nb", "\nb", "a\r\nb", id="a blank line"),
        pytest.param("a\r\nb\r\nc", "b\nc", "b\nc\nd", "a\r\nb\r\nc\r\nd", id="no final line end"),
        pytest.param("a\nb\n", "a\r\nb", "a\r\nc\r\nd", "a\nc\nd\n", id="the other way round"),
        pytest.param("a\r\nb", "a\nb", "", "", id="a deletion"),
        pytest.param("é😀\r\né", "😀\né", "é\n😀", "éé\r\n😀", id="beyond ASCII"),
    ],
)
def test_line_ends_are_those_of_the_text(text, old, new, expected):
    assert edited(text, old, new) == (expected, LINE_ENDS)


@pytest.mark.parametrize(
    ("new", "expected"), [("c\n", "a\r\nc"), ("b\nc\n", "a\r\nb\r\nc"), ("c", "a\r\nc"), ("", "a\r\n")]
)
def test_the_last_line_is_found_without_the_line_end_that_it_lacks(new, expected):
    assert edited("a\r\nb", "b\n", new) == (expected, FINAL_END)


# Trailing blanks


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        pytest.param("a  \nb\t\nc\n", "a\nb\n", "a\nx\n", "a  \nx\nc\n", id="of the text"),
        pytest.param("a\nb\nc\n", "a  \nb \n", "a  \nx\n", "a\nx\nc\n", id="of the quote"),
        pytest.param("a \r\nb\r\n", "a\nb", "a\nb\nc", "a \r\nb\r\nc\r\n", id="with other line ends"),
        pytest.param("a\n  \nb\n", "a\n\nb", "a\n\nc", "a\n  \nc\n", id="of a blank line"),
        pytest.param("z\na \nb  ", "a\nb", "a\nb\nc", "z\na \nb  \nc", id="without a final line end"),
        pytest.param("z\na \nb  ", "a\nb\n", "a\nb\nc\n", "z\na \nb  \nc", id="without the one that was quoted"),
    ],
)
def test_trailing_blanks_are_kept_on_lines_that_stay(text, old, new, expected):
    assert edited(text, old, new) == (expected, TRAILING)


def test_trailing_blanks_are_forgiven_at_whole_lines_only():
    assert "closest lines" in refusal("xa \nb\n", "a\nb\n")


def test_blanks_alone_match_no_blank_line():
    assert "does not occur" in refusal("a\n\nb", "   ")


# Indentation


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        pytest.param(
            "class A:\n    def f():\n        pass\n",
            "def f():\n    pass\n",
            "def f():\n    if x:\n        return\n\n    pass\n",
            "class A:\n    def f():\n        if x:\n            return\n\n        pass\n",
            id="more",
        ),
        pytest.param("if a:\n    b\n", "    if a:\n        b", "    if c:\n        b", "if c:\n    b\n", id="less"),
        pytest.param("\tif a:\n\t\tb\n", "if a:\n\tb", "if a:\n\tc\n\td", "\tif a:\n\t\tc\n\t\td\n", id="tabs"),
        pytest.param(
            "\t  if a:\n\t    b\n", "  if a:\n    b", "  if c:\n    d", "\t  if c:\n\t    d\n", id="tabs and spaces"
        ),
        pytest.param("  a\r\n\r\n  b", "a\n\nb", "a\n\nc\nd", "  a\r\n\r\n  c\r\n  d", id="with other line ends"),
        pytest.param("  a \n  b\n", "a\nb", "a\nc", "  a \n  c\n", id="with trailing blanks that stay"),
    ],
)
def test_new_lines_are_indented_like_the_text(text, old, new, expected):
    assert edited(text, old, new) == (expected, INDENTATION)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        pytest.param("  a\n   b\n", "a\nb", "c", id="lines that differ by different blanks"),
        pytest.param("\ta\n\tb\n", "    a\n    b", "    c", id="tabs for spaces"),
        pytest.param("a\nb\n", "    a\n    b", "    a\n  b", id="a new line that cannot go so far left"),
    ],
)
def test_other_differences_of_indentation_are_not_forgiven(text, old, new):
    assert "only in blanks" in refusal(text, old, new)


# Punctuation


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        pytest.param("it’s “fine” now", 'it\'s "fine" now', 'it\'s "good" now', "it’s “good” now", id="quotes"),
        pytest.param("‘a’ and ‘b’", "'a' and 'b'", "'x' and 'b', 'c'", "‘x’ and ‘b’, 'c'", id="two changes in a line"),
        pytest.param("1–2 — 3", "1-2 - 3", "1-2 - 4", "1–2 — 4", id="dashes"),
        pytest.param("10\u00a0km", "10 km", "12 km", "12\u00a0km", id="a blank that does not break"),
        pytest.param("wait… what", "wait... what", "wait... who", "wait… who", id="an ellipsis"),
        pytest.param("wait… what", "wait... what", "wait. what", "wait. what", id="an ellipsis that goes"),
        pytest.param("so.…", "so....", "so...", "so...", id="an ellipsis of which a part goes"),
        pytest.param('it\'s "a"', "it’s “a”", "it’s “b”", 'it\'s "b"', id="the other way round"),
        pytest.param("’a’\r\n’b’\r\n", "'a'\n'b'\n", "'a'\n'c'\n'd'\n", "’a’\r\n’c’\r\n'd'\r\n", id="over lines"),
        pytest.param("a’b", "a'b", "a\\1$1'b", "a\\1$1’b", id="template characters"),
    ],
)
def test_the_text_keeps_its_punctuation_where_nothing_changes(text, old, new, expected):
    assert edited(text, old, new) == (expected, PUNCTUATION)


def test_a_single_dot_is_no_part_of_an_ellipsis():
    assert "does not occur" in refusal("so…", "so.")


# Refusals


def test_an_empty_old_string_is_refused():
    assert refusal("text", "") == "old_string is empty; to create a file use WriteFile"


def test_equal_strings_are_refused():
    assert "the same" in refusal("text", "text", "text")


def test_what_the_text_already_has_is_refused():
    assert "already" in refusal("a  \nb", "a\nb", "a  \nb")


def test_several_occurrences_are_listed_by_line():
    message = refusal("x\r\ny\rx\nx x", "x")

    assert message.startswith("old_string occurs 4 times (lines 1, 3, 4, 4); quote more")
    assert message.endswith("or set replace_all")


def test_no_more_than_ten_lines_are_listed():
    assert "1000 times (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …)" in refusal("x\n" * 1000, "x")


def test_occurrences_do_not_overlap():
    assert edited("aaa", "aa", "b") == ("ba", "")
    assert "2 times" in refusal("aaaa", "aa")


@pytest.mark.parametrize("replace_all", [False, True])
@pytest.mark.parametrize(
    ("text", "old", "forgiven"),
    [
        ("a\r\nb\r\na\rb", "a\nb", "line ends"),
        ("a \nb\na\nb \n", "a\nb\n", "trailing blanks"),
        ("a \na \n", "a\t", "trailing blanks"),
        ("  a\n  b\n\ta\n\tb\n", "a\nb\n", "indentation"),
        ("it’s it‘s", "it's", "typographic punctuation"),
    ],
)
def test_nothing_is_forgiven_in_two_places(text, old, forgiven, replace_all):
    message = refusal(text, old, replace_all=replace_all)

    assert message.startswith("old_string occurs 2 times (lines 1, ")
    assert f"nowhere without differences in {forgiven}" in message


def test_the_closest_lines_are_quoted_with_their_numbers():
    text = "".join(f"def function_{number}(self):\n    return {number}\n" for number in range(100))

    message = refusal(text, "def function_42(self, other):\n    return 42\n")

    assert message == (
        "old_string does not occur in the text; the closest lines are\n"
        "    85\tdef function_42(self):\n"
        "    86\t    return 42\n"
        "quote the text exactly as it is there"
    )


def test_a_word_at_the_start_of_a_line_is_of_that_line():
    assert "are\n     2\tbeta\nquote" in refusal("alpha\nbeta\ngamma\n", "beta?")


def test_a_misspelt_name_is_found():
    assert "     2\tdef calculate_total(x):" in refusal("a\ndef calculate_total(x):\nb", "calcualte_total")


def test_a_text_without_anything_alike_is_not_quoted():
    assert refusal("alpha\n", "omega") == (
        "old_string does not occur in the text, nor anything like it; find the passage with Grep or Read, and quote it"
        " exactly"
    )
    assert "nor anything like it" in refusal("", "omega")


def test_lines_that_share_a_word_only_are_not_quoted():
    text = "import os\nfrom pathlib import Path\n\nreturn Path(name)\n"

    assert "nor anything like it" in refusal(
        text, "async def handle_request(self, path):\n    await self.import_all()\n"
    )


def test_a_passage_of_a_long_line_is_found_by_what_it_has_of_it():
    assert "     1\tx = " in refusal(
        f"x = compute_value(one, two) + {'other + ' * 20}rest\n", "compute_value(one, too)"
    )


def test_blanks_that_differ_are_made_visible():
    assert refusal("if a:\n\treturn 1\n", "if a:\n    return 1\n") == (
        "old_string does not occur in the text; these lines differ from it only in blanks (→ is a tab, · a space)\n"
        "     1\tif·a:\n"
        "     2\t→return·1\n"
        "quote them with the blanks that they have"
    )


def test_what_is_quoted_is_bounded():
    message = refusal("\n".join(f"word {'x' * 1000}{number}" for number in range(100)), "word\n" * 100)

    assert len(message) < 2500


def grows_with_the_text(work):
    """Ten times as much of it takes ten times as long, roughly; a hundred times would be too much."""

    def spent(size):
        start = time.process_time()
        work(size)
        return time.process_time() - start

    return min(spent(20_000) for _ in range(3)) < 40 * min(spent(2_000) for _ in range(3))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_large_text_is_searched_in_time(end):
    def search(lines):
        text = "".join(f"    self.value_{number} = compute(other, {number}){end}" for number in range(lines))
        old = "".join(f"    self.value_{number} = compute(another, {number})\n" for number in range(900, 950))
        assert "   901\t    self.value_900 = " in refusal(text, old)

    assert grows_with_the_text(search)


def test_many_occurrences_in_a_large_text_are_replaced_in_time():
    def replace(lines):
        text = ("x" * 100 + "needle\r\n") * lines
        result, _ = edited(text, "needle", "a\nb", replace_all=True)
        assert result == ("x" * 100 + "a\r\nb\r\n") * lines

    assert grows_with_the_text(replace)


# Several edits


def test_each_edit_sees_what_the_one_before_has_left():
    made = apply_all("a\n", [("a", "b c", False), ("b", "d", False), ("d c", "e", False)])
    assert made == Applied("e\n", [], [(0, 1)])


def test_edits_say_what_was_forgiven_by_number():
    made = apply_all("a\r\nb\r\nc \nd", [("b", "x", False), ("c\nd", "e", False)])

    assert made.text == "a\r\nx\r\ne"
    assert made.forgiven == [f"edit 2: {TRAILING}"]


def test_a_failing_edit_is_named_and_undoes_all():
    with pytest.raises(ToolError) as error:
        apply_all("a b", [("a", "x", False), ("b", "y", False), ("c", "z", False)])

    assert str(error.value).startswith("edit 3 of 3 failed, and nothing was changed: old_string does not occur")


def test_an_edit_may_replace_all_that_another_wrote_into():
    made = apply_all("foo(foo)", [("foo", "bar", True), ("bar(bar)", "baz", False)])
    assert made == Applied("baz", [], [(0, 8)])


def test_edits_next_to_each_other_do_not_overlap():
    edits = [("b\n", "", False), ("a\n", "x\n", False), ("c\nd\n", "c\ny\n", False)]

    made = apply_all("a\nb\nc \nd\n", edits)
    assert (made.text, made.forgiven) == ("x\nc \ny\n", [f"edit 3: {TRAILING}"])


def test_it_is_known_what_stood_where_several_edits_have_written():
    text = "one two three four five"
    steps = (("three", "3"), ("one ", ""), ("four", "x"), ("3 ", "III "), ("five", "5"))

    made = apply_all(text, [(old, new, False) for old, new in steps])

    assert made.text == "two III x 5"
    assert [text[first:last] for first, last in made.touched] == ["one ", "three ", "four", "five"]


@pytest.mark.parametrize(
    ("text", "edits", "pair"),
    [
        pytest.param("a b c d", [("b c", "x y", False), ("y d", "z", False)], "1 and 2", id="across the end"),
        pytest.param("a b c d", [("b c", "x y", False), ("a x", "z", False)], "1 and 2", id="across the beginning"),
        pytest.param(
            "a b c d", [("d", "long end", False), ("b", "x y", False), ("y c", "z", False)], "2 and 3", id="moved along"
        ),
        pytest.param("a\nb\n", [("b", "c \nd", False), ("c\nd", "e", False)], "1 and 2", id="within, not exactly"),
        pytest.param("a\nb \n", [("a", "c", False), ("c\nb\n", "e", False)], "1 and 2", id="around, not exactly"),
    ],
)
def test_edits_that_cut_into_each_other_are_refused(text, edits, pair):
    with pytest.raises(ToolError, match=f"nothing was changed: edits {pair} overlap"):
        apply_all(text, edits)


# Properties


@given(TEXTS, st.data())
def test_an_exact_match_replaces_like_a_string(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    old, new = text[start:end], data.draw(ONE_LINE)
    assume(old and old != new and text.count(old) == 1)
    at = text.index(old)
    assume(not (old[0] == "\n" and text[at - 1 : at] == "\r"))

    match = find(text, old, new)

    assert replaced(text, match) == text.replace(old, new, 1)
    assert match == Match((Replacement(at, at + len(old), new),), "")


@given(TEXTS, TEXTS, TEXTS, st.booleans())
def test_nothing_outside_the_replacements_is_touched(text, old, new, replace_all):
    try:
        match = find(text, old, new, replace_all=replace_all)
    except ToolError:
        return
    result = replaced(text, match)

    at = shift = 0
    for it in match.replacements:
        assert at <= it.start < it.end <= len(text)
        assert result[at + shift : it.start + shift] == text[at : it.start]
        assert result[it.start + shift :].startswith(it.new)
        at, shift = it.end, shift + len(it.new) - (it.end - it.start)
    assert result[at + shift :] == text[at:]


@given(TEXTS, TEXTS, st.data())
def test_only_line_ends_and_punctuation_of_the_new_string_are_adapted(text, new, data):
    start = data.draw(st.integers(0, len(text)))
    old = plain(text[start : data.draw(st.integers(start, len(text)))])
    try:
        match = find(text, old, new, replace_all=True)
    except ToolError:
        return

    if match.how in ("", LINE_ENDS, PUNCTUATION):
        assert {plain(it.new) for it in match.replacements} == {plain(new)}


@given(LINES, st.data())
def test_untouched_lines_keep_their_ends(pairs, data):
    lines = [f"<{number}> {content}{end}" for number, (content, end) in enumerate(pairs)]
    first = data.draw(st.integers(0, len(lines) - 1))
    last = data.draw(st.integers(first + 1, len(lines)))
    changed = data.draw(st.integers(first, last - 1))
    quoted = [line.rstrip("\r\n") + "\n" for line in lines[first:last]]
    rewritten = [*quoted[: changed - first], "new\n", *quoted[changed - first + 1 :]]

    result, how = edited("".join(lines), "".join(quoted), "".join(rewritten))

    assert whole_lines(result) == [*lines[:changed], f"new{line_end(lines[changed])}", *lines[changed + 1 :]]
    assert how in ("", LINE_ENDS)


@given(LINES, st.data())
def test_inserted_lines_leave_the_ends_of_all_others(pairs, data):
    lines = [f"<{number}> {content}{end}" for number, (content, end) in enumerate(pairs)]
    at = data.draw(st.integers(0, len(lines)))
    quoted = [line.rstrip("\r\n") + "\n" for line in lines]

    result, _ = edited("".join(lines), "".join(quoted), "".join([*quoted[:at], "new\n", *quoted[at:]]))

    found = whole_lines(result)
    assert found[at].rstrip("\r\n") == "new"
    assert [*found[:at], *found[at + 1 :]] == lines
