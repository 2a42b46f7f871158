"""A new text as replacements."""

import time

from hypothesis import given
from hypothesis import strategies as st

from odin_lsp.hook_door.replacing import MOST, Replacement, replacements
from odin_lsp.review import matching

LINES = [f"line {number}\n" for number in range(10)]
texts = st.lists(st.sampled_from(["a\n", "b\n", "b \n", "\n", "c"]), max_size=12).map("".join)


def test_only_what_differs_is_replaced():
    new = [*LINES]
    new[2], new[7] = "two\n", "seven\n"

    made = replacements("".join(LINES), "".join(new))

    assert made == [Replacement("line 2\n", "two\n"), Replacement("line 7\n", "seven\n")]


def test_what_is_there_several_times_is_quoted_with_its_surroundings():
    old = "a\nx\nb\nx\nc\n"

    assert replacements(old, "a\nx\nb\ny\nc\n") == [Replacement("b\nx\nc\n", "b\ny\nc\n")]


def test_what_is_unsaved_elsewhere_does_not_matter():
    made = replacements("".join(LINES), "".join(LINES).replace("line 7", "seven"))

    on_screen = "".join(LINES).replace("line 2", "typed")
    assert matching.apply_all(on_screen, [(it.old, it.new, False) for it in made]).text == on_screen.replace(
        "line 7", "seven"
    )


@given(texts.filter(bool), texts)
def test_the_replacements_make_the_new_text(old, new):
    text = old
    for it in replacements(old, new):
        assert text.count(it.old) == 1
        text = text.replace(it.old, it.new)
    assert text == new


def test_places_that_are_many_are_taken_together():
    lines = [f"{number}\n" for number in range(10 * MOST)]
    new = [f"new {line}" if number % 3 == 0 else line for number, line in enumerate(lines)]

    made = replacements("".join(lines), "".join(new))

    assert len(made) == MOST
    assert matching.apply_all("".join(lines), [(it.old, it.new, False) for it in made]).text == "".join(new)


def test_what_is_hard_to_tell_apart_is_quoted_with_what_it_takes_and_no_more():
    lines = [*(f"{number}\n" for number in range(50)), *(["a\n"] * 9), *(f"{number}\n" for number in range(50, 99))]
    new = [*lines]
    new[52] = new[55] = "b\n"

    made = replacements("".join(lines), "".join(new))

    assert sum(len(it.old.splitlines()) for it in made) < 20


def seconds(count):
    """For a text whose places are as hard to tell apart as can be."""
    old = "".join(f"{'a' * 30} {number % 7}\n" for number in range(count))
    new = old.replace(" 3\n", " b\n")
    begun = time.process_time()
    replacements(old, new)
    return time.process_time() - begun


def test_ten_times_as_many_lines_take_not_much_more_than_ten_times_as_long():
    assert min(seconds(10_000) for _ in range(3)) < 40 * min(seconds(1_000) for _ in range(3))
