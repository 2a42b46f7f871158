"""A new text as replacements."""

from hypothesis import given
from hypothesis import strategies as st

from odin_lsp.hook_door.replacing import Replacement, replacements
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
