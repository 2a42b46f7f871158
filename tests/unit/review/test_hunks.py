"""Hunks against plain text: whatever is applied, moved or left out, nothing else changes."""

from difflib import unified_diff

from hypothesis import example, given
from hypothesis import strategies as st

from odin_lsp.review.hunks import (
    Composed,
    Hunk,
    Typed,
    apply,
    compose,
    difference,
    hunks_between,
    hunks_seen,
    overlap,
    rebased,
    typed_between,
    with_whole_line_ends,
)

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "é😀\n", "\r", "  x\n", "y"]), max_size=12).map("".join)


@given(LINES, LINES)
def test_all_hunks_together_make_the_new_text(old, new):
    hunks = hunks_between(old, new)

    assert apply(old, hunks) == new
    assert not overlap(hunks)
    assert hunks == sorted(hunks, key=lambda it: it.start)
    assert all(old[it.start : it.end] == it.old != it.new for it in hunks)


@given(LINES, LINES, st.data())
def test_any_subset_changes_only_what_it_says(old, new, data):
    hunks = hunks_between(old, new)
    chosen = [hunk for hunk in hunks if data.draw(st.booleans())]

    result = apply(old, chosen)

    left = sum(len(it.new) - len(it.old) for it in chosen)
    assert len(result) == len(old) + left


@given(LINES, LINES, st.integers(0, 40), st.integers(0, 5), st.sampled_from(["", "z", "\n", "typed"]))
def test_typing_elsewhere_moves_a_hunk_and_typing_inside_ends_it(old, new, start, removed, inserted):
    start = min(start, len(old))
    typed = Typed(start, min(removed, len(old) - start), inserted)
    text = old[:start] + inserted + old[start + typed.removed :]

    for hunk in hunks_between(old, new):
        moved = rebased(hunk, typed)
        touches = typed.start < hunk.end and typed.start + typed.removed > hunk.start
        if moved is None:
            beside = not hunk.old and typed.removed and typed.start <= hunk.start <= typed.start + typed.removed
            assert touches or beside or hunk.start < typed.start < hunk.end
        else:
            assert text[moved.start : moved.end] == hunk.old


@given(LINES, LINES)
def test_what_was_typed_leads_from_one_text_to_the_other(old, new):
    typed = typed_between(old, new)

    if typed is None:
        assert old == new
    else:
        assert old[: typed.start] + typed.inserted + old[typed.start + typed.removed :] == new


def test_a_place_that_does_not_fit_what_was_typed_is_not_believed():
    assert typed_between("abc", "abXc", at=2, length=1) == Typed(2, 0, "X")
    assert typed_between("aab", "aaab", at=1, length=1) == Typed(1, 0, "a")
    for at, length in ((0, 1), (3, 0), (2, 0)):
        assert typed_between("abc", "abXc", at=at, length=length) == Typed(2, 0, "X")


def test_changed_lines_are_refined_and_new_ones_stay_whole():
    assert hunks_between("say hello there\n", "say goodbye there\n") == [Hunk(4, "hello", "goodbye")]
    assert hunks_between("a\nc\n", "a\nb\nc\n") == [Hunk(2, "", "b\n")]
    assert hunks_between("a\nb\nc\n", "a\nc\n") == [Hunk(2, "b\n", "")]


def test_a_carriage_return_and_its_line_feed_stay_together():
    [hunk] = hunks_between("a\r\nb\r\n", "a\nb\r\n")

    assert (hunk.old, hunk.new) == ("\r\n", "\n")


def test_far_changes_are_separate_hunks():
    old = "".join(f"line {number}\n" for number in range(100))

    hunks = hunks_between(old, old.replace("line 3\n", "LINE 3\n").replace("line 90\n", "LINE 90\n"))

    assert [(it.old, it.new) for it in hunks] == [("line", "LINE"), ("line", "LINE")]


def test_a_diff_counts_and_says_when_the_last_line_has_no_end():
    diff = difference("a\nb", "a\nc").unified("x.txt")

    assert (diff.added, diff.removed) == (1, 1)
    no_end = "\\ No newline at end of file\n"
    assert diff.text == f"--- a/x.txt\n+++ b/x.txt\n@@ -1,2 +1,2 @@\n a\n-b\n{no_end}+c\n{no_end}"


@given(st.lists(st.sampled_from(["keep", "change", "drop", "add"]), max_size=60))
@example(["add", *["keep"] * 10, "change", *["keep"] * 10, "drop"])
def test_a_diff_is_written_as_others_write_it(fates):
    old = [f"{number}\n" for number, fate in enumerate(fates) if fate != "add"]
    new = [f"{number}{'!' if fate == 'change' else ''}\n" for number, fate in enumerate(fates) if fate != "drop"]

    diff = difference("".join(old), "".join(new)).unified("x")

    assert diff.text == "".join(unified_diff(old, new, "a/x", "b/x"))


@given(LINES, LINES, LINES)
@example("a\nb\n", "a\nX\nb\n", "a\nb\n")
def test_two_steps_composed_are_one_step(old, between, new):
    first, second = hunks_between(old, between), hunks_between(between, new)

    composed = compose(old, first, second)

    assert apply(old, [it.hunk for it in composed]) == new
    assert not overlap([it.hunk for it in composed])
    assert all(it.hunk == first[it.first[0]] for it in composed if not it.second and len(it.first) == 1)


def test_two_steps_beside_each_other_stay_two_and_an_insertion_belongs_to_what_it_touches():
    beside = compose("ab", [Hunk(0, "a", "x")], [Hunk(1, "b", "y")])
    touching = compose("ab", [Hunk(0, "a", "x")], [Hunk(1, "", "y")])

    assert beside == [Composed(Hunk(0, "a", "x"), (0,), ()), Composed(Hunk(1, "b", "y"), (), (0,))]
    assert touching == [Composed(Hunk(0, "a", "xy"), (0,), (0,))]


CHARACTERS = st.lists(st.sampled_from("ab\r\n"), max_size=8).map("".join)


@given(st.lists(st.tuples(CHARACTERS, CHARACTERS), max_size=6), CHARACTERS)
@example([("a\r", "b"), ("", "c"), ("\n", "d")], "")
def test_no_change_begins_or_ends_within_a_line_end(pieces, rest):
    """Of each pair, the second takes the first's place; a pair of two that are alike stands between changes."""
    text = "".join(old for old, _ in pieces) + rest
    starts = [len("".join(old for old, _ in pieces[:index])) for index in range(len(pieces))]
    hunks = [Hunk(start, old, new) for start, (old, new) in zip(starts, pieces, strict=True) if old != new]

    wide = with_whole_line_ends(text, hunks)

    assert apply(text, wide) == apply(text, hunks)
    assert not overlap(wide)
    assert not any(text[at - 1 : at + 1] == "\r\n" for it in wide for at in (it.start, it.end) if at)
    if "\r\n" not in text:
        assert wide == sorted(hunks, key=lambda it: (it.start, it.end))


def test_what_only_looks_like_a_hunk_beside_others_is_not_seen():
    """The first line is gone, and the last one looks like the one that was proposed in front of it."""
    hunks = [Hunk(0, "", "a\n"), Hunk(3, "", "a")]

    assert hunks_seen("a\ra\n", hunks, "\ra\n") == set()


def test_what_was_done_is_seen_beside_what_others_did():
    base = "one\ntwo\nthree\nfour\n"
    hunks = [Hunk(0, "one", "ONE"), Hunk(8, "three", "THREE")]

    assert hunks_seen(base, hunks, "ONE\ntwo\nthree\nfour\ntyped\n") == {0}
