"""What a turn did to a text is told from what others did to it since."""

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odin_lsp.review.hunks import apply, hunks_between
from odin_lsp.review.undo_places import flipped, ids_of, places_of, text_with
from odin_lsp.review.undo_steps import StepHunk

NUMBERS = st.sets(st.integers(0, 11), max_size=4)
OLD = [f"line {number}\n" for number in range(12)]
NOTHING: frozenset[str] = frozenset()


def layer(old, new, ids):
    return [StepHunk(next(ids), it.start, len(it.old), it.new) for it in hunks_between(old, new)]


def flip(before, places, out, wanted, now):
    """The text with what can be flipped flipped, and what stays."""
    plan = flipped(before, places, out, wanted, now)
    return apply(now, [hunk for _, hunk in plan.todo]), [*plan.typed_into]


@given(first=NUMBERS, second=NUMBERS, removed=NUMBERS, typed=NUMBERS, added=NUMBERS, only=NUMBERS)
def test_lines_of_the_turn_go_and_come_back_around_those_of_others(first, second, removed, typed, added, only):
    """Each line is somebody's: two steps of a turn change and remove some, then the user changes and adds others."""
    turns = first | second | removed
    one = ["turn " * (at in first) + line for at, line in enumerate(OLD)]
    two = [("" if at in removed else "again " * (at in second) + line) for at, line in enumerate(one)]
    theirs, beside = typed - turns, {at for at in added if not turns & {at, at + 1}}
    now = _typed(two, theirs, beside)
    ids = map(str, count())
    layers = [layer("".join(OLD), "".join(one), ids), layer("".join(one), "".join(two), ids)]
    before = "".join(OLD)
    places = places_of(before, layers)
    assert text_with(before, places, NOTHING) == "".join(two)

    undone, stays = flip(before, places, NOTHING, places, now)
    assert undone == _typed([two[at] if at in _lines_of(stays) else it for at, it in enumerate(OLD)], theirs, beside)
    assert not stays or turns & {at + step for at in theirs | beside for step in (-1, 0, 1, 2)}
    out = frozenset(ids_of(it for it in places if it not in stays))
    again, left = flip(before, places, out, [it for it in places if it not in stays], undone)
    assert again == now or left
    some = [it for at, it in enumerate(places) if at in only and it not in stays]
    partly, _ = flip(before, places, NOTHING, some, now)
    rest = [it for it in places if it not in some]
    assert flip(before, places, frozenset(ids_of(some)), rest, partly) == (undone, stays)


def _typed(lines, changed, added):
    return "".join("mine " * (at in changed) + it + f"added {at}\n" * (at in added) for at, it in enumerate(lines))


def _lines_of(places):
    text = "".join(OLD)
    return {at for it in places for at in range(text[: it.hunk.start].count("\n"), text[: it.hunk.end].count("\n") + 1)}


@pytest.mark.parametrize(
    ("left", "now"),
    [
        ("x\nsame\nsame\n", "x\nsame\ntyped\n"),
        ("a = foo(foo)\n", "a = foo\n"),
        ("x\nTWO\n", "x\nTWOO\n"),
        ("x\nTWO\n", "x\nTW\n"),
    ],
)
def test_what_may_be_somebody_elses_stays(left, now):
    """The turn has put in the last word of the line, or the last line."""
    before = {"x\nsame\nsame\n": "x\nsame\n", "a = foo(foo)\n": "a = foo()\n"}.get(left, "x\ntwo\n")
    places = places_of(before, [layer(before, left, map(str, count()))])

    assert flip(before, places, NOTHING, places, now)[0] == now


@pytest.mark.parametrize(
    ("before", "left", "now"),
    [
        ("n = m1190\n", "n = m1195\n", "n = m1205\n"),
        ("the old_name\n", "the new_name\n", "the new_names\n"),
        ("count items\n", "recount items\n", "recounted items\n"),
        ("a = b\n", "a = c\n", "a = xc\n"),
    ],
)
def test_a_word_that_others_have_changed_stays_as_a_whole(before, left, now):
    """Else it would be one that nobody ever wrote, such as `m1200`."""
    places = places_of(before, [layer(before, left, map(str, count()))])

    assert flip(before, places, NOTHING, places, now) == (now, places)
    assert flip(before, places, NOTHING, places, left.replace("\n", " (mine)\n")) == (
        before.replace("\n", " (mine)\n"),
        [],
    )


def test_lines_that_the_turn_removed_stay_so_where_all_that_was_around_them_is_gone():
    before, left = "one\ntwo\nthree\nfour\n", "one\ntwo\nfour\n"
    places = places_of(before, [layer(before, left, map(str, count()))])

    assert flip(before, places, NOTHING, places, "one\n") == ("one\n", places)


def test_where_nobody_has_typed_nothing_has_been_flipped_before_whatever_was_typed_around_it():
    before = "aaaa\naaaa\naa"
    places = places_of(before, [[StepHunk("1", 0, 0, "baaaa\n"), StepHunk("2", 5, 7, "a")]])
    [_, last] = places

    again = flipped(before, places, frozenset(["2"]), [last], "aaaaaaaaa\naaaaa\naa")
    assert (again.already, again.typed_into) == ([], [last])


def test_edits_of_one_place_are_one_and_what_makes_no_difference_is_none():
    one, two, three = "a\nb\n", "a\nB\n", "a\nbeta\n"
    layers = [[StepHunk("1", 2, 1, "B")], [StepHunk("2", 2, 1, "beta")]]

    [place] = places_of(one, layers)
    assert (place.ids, text_with(one, [place], NOTHING)) == (("1", "2"), three)
    assert places_of(two, [[StepHunk("1", 2, 1, "b")], [StepHunk("2", 2, 1, "B")]]) == []


def test_what_others_have_taken_back_exactly_is_not_taken_back_again_whatever_looks_untouched():
    before, left = "aaaaa\n\n\r\r\n", "aaaa\n\n\r\n\r"
    places = places_of(before, [layer(before, left, map(str, count()))])

    plan = flipped(before, places, NOTHING, places, before)

    assert (plan.todo, plan.already) == ([], places)
    [first, *rest] = places
    partly = apply(before, [it.hunk for it in rest])
    plan = flipped(before, places, NOTHING, places, partly)
    assert plan.already == [first]
    assert apply(partly, [hunk for _, hunk in plan.todo]) == before


def test_lines_that_were_removed_come_back_before_the_line_that_goes_on_there_whatever_was_typed_into_it():
    before, after = "one\ntwo\nthree\n", "one\nthree\n"
    places = places_of(before, [layer(before, after, map(str, count()))])

    assert flip(before, places, NOTHING, places, "one\nmine three\n") == ("one\ntwo\nmine three\n", [])
