"""Texts, compared line by line."""

from collections.abc import Sequence
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odin_lsp.workspace import comparing
from odin_lsp.workspace.comparing import FEW_LINES, LineStep, changed_lines, with_ends_of

ALIKE = st.lists(st.sampled_from("aaab"), max_size=30) | st.lists(st.sampled_from("abcdefghijkl"), max_size=30)
EDITS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 3), st.lists(st.sampled_from("abcxy"), max_size=3)))


def applied(old: Sequence[str], new: Sequence[str], steps: Sequence[LineStep]) -> list[str]:
    """The new text, made of the old one; with lines that stay between any two steps."""
    made: list[str] = []
    end = 0
    for number, (first, last, new_first, new_last) in enumerate(steps):
        assert first > end or number == 0
        made += [*old[end:first], *new[new_first:new_last]]
        assert len(made) == new_last
        end = last
    return [*made, *old[end:]]


def edited(old: Sequence[str], edits: Sequence[tuple[int, int, list[str]]]) -> list[str]:
    new = list(old)
    for at, removed, added in edits:
        new[at : at + removed] = added
    return new


def in_common(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines can stay at most, the slow way."""
    row = [0] * (len(new) + 1)
    for one in old:
        before, row = row, [0]
        for at, two in enumerate(new):
            row.append(before[at] + 1 if one == two else max(before[at + 1], row[at]))
    return row[-1]


def changed(steps: Sequence[LineStep]) -> int:
    return sum(last - first + new_last - new_first for first, last, new_first, new_last in steps)


@given(ALIKE, EDITS)
def test_a_long_text_is_compared_as_well_as_it_can_be(old, edits):
    new = edited(old, edits)
    with patch.object(comparing, "FEW_LINES", 0):
        steps = changed_lines(old, new)

    least = len(old) + len(new) - 2 * in_common(old, new)
    assert applied(old, new, steps) == new
    assert changed(steps) == least


@given(ALIKE, EDITS)
def test_where_the_shortest_way_is_too_long_to_be_found_the_steps_still_lead_there(old, edits):
    new = edited(old, edits)
    with patch.multiple(comparing, FEW_LINES=0, MOST_EDITS=2, MOST_PARTS=3):
        steps = changed_lines(old, new)

    assert applied(old, new, steps) == new


@pytest.mark.parametrize("kinds", [["x"], ["{", "}"], ["{", "  a,", "  b,", "},", ""]])
@pytest.mark.parametrize("count", [2, 40, 400])
@pytest.mark.parametrize("is_new", [True, False])
def test_changes_that_lie_apart_among_alike_lines_are_steps_of_their_own(kinds, count, is_new):
    old = [kinds[number * number % 7 % len(kinds)] for number in range(10 * count + FEW_LINES)]
    places = [10 * number + 5 for number in range(count)]
    inserted, replaced = list(old), list(old)
    for at in reversed(places):
        inserted.insert(at, f"new {at}" if is_new else "new")
        replaced[at] = f"new {at}" if is_new else "new"

    assert changed_lines(old, inserted) == [(at, at, at + number, at + number + 1) for number, at in enumerate(places)]
    assert changed_lines(old, replaced) == [(at, at + 1, at, at + 1) for at in places]


def test_lines_that_came_and_others_that_went_are_no_changes_of_all_lines_between_them():
    old = ["x"] * 100 + ["one"] + ["x"] * 300 + ["two"] + ["x"] * 100 + ["last"]
    new = ["first", *old[:-1]]

    assert changed_lines(old, new) == [(0, 0, 0, 1), (len(old) - 1, len(old), len(new), len(new))]


def test_a_line_that_changes_to_another_of_the_text_is_changed_in_its_place():
    old = ["on", "off", "off"] * 300
    new = ["off" if number in (300, 600) else line for number, line in enumerate(old)]

    assert changed_lines(old, new) == [(300, 301, 300, 301), (600, 601, 600, 601)]


def test_much_that_has_moved_is_two_steps():
    old = [f"row {number}" for number in range(2000)]

    assert changed_lines(old, old[500:] + old[:500]) == [(0, 500, 0, 0), (2000, 2000, 1500, 2000)]


def test_texts_that_have_little_in_common_are_compared_only_so_far():
    """All lines are alike, and hardly any is where it was."""
    compared = 0

    class Line(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

    def costs(count: int) -> int:
        nonlocal compared
        compared = 0
        old = [Line("abcde"[number * number % 97 % 5]) for number in range(count)]
        new = [Line("abcde"[number * number % 89 % 5]) for number in range(count + 1)]
        assert applied(old, new, changed_lines(old, new)) == new
        return compared

    assert costs(20_000) < 5 * costs(5_000)


def test_lines_that_changed_in_their_places_are_one_step_for_all_that_are_neighbours():
    old = [f"row {number}" for number in range(2 * FEW_LINES)]
    changed = {5, 6, 7, 100, 2 * FEW_LINES - 1}
    new = [f"{line}!" if number in changed else line for number, line in enumerate(old)]

    assert changed_lines(old, new) == [(at, end, at, end) for at, end in ((5, 8), (100, 101), (len(old) - 1, len(old)))]


def test_hundreds_of_changes_in_a_long_text_are_found_without_looking_through_it_for_each():
    looked_up = 0

    class Line(str):
        __slots__ = ()
        __eq__ = str.__eq__

        def __hash__(self) -> int:
            nonlocal looked_up
            looked_up += 1
            return super().__hash__()

    old = [Line(f"row {number}") for number in range(6000)]
    new = [Line("typed"), *(Line(f"new {it[4:]}") if number % 20 == 0 else it for number, it in enumerate(old))]
    assert len(changed_lines(old, new)) == 300
    assert looked_up < 20 * len(old)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("a\nb\n", "a\nc\n", "a\nc\n"),
        ("a\r\nb\r\n", "a\nc\nd\n", "a\r\nc\r\nd\r\n"),
        ("a\r\nb\nc\r\n", "a\nb\nx\nc\n", "a\r\nb\nx\r\nc\r\n"),
        ("a\rb\r", "a\nx\n", "a\rx\r"),
        ("a\r\nb", "a\nb", "a\r\nb"),
        ("a\r\nb", "a\nb\n", "a\r\nb\r\n"),
        ("a\r\nb\r\n", "a\r\nb\n", "a\r\nb\n"),
    ],
)
def test_lines_that_stay_keep_their_ends_though_plain_ones_were_written(old: str, new: str, expected: str) -> None:
    assert with_ends_of(old, new) == expected
