"""Codex's patches."""

import time

import pytest

from odin_lsp.errors import ToolError
from odin_lsp.hook_door import patches
from odin_lsp.hook_door.patches import ADD, DELETE, UPDATE

TEXT = "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 1\n"


def update(*lines, text=TEXT):
    [patch] = patches.parse("\n".join(["*** Begin Patch", f"{UPDATE}a.py", *lines, "*** End Patch"]))
    return patches.patched(text, patch)


def test_a_patch_names_what_becomes_of_each_file():
    lines = [f"{ADD}new.py", "+one", "+", f"{DELETE}old.py", f"{UPDATE}a.py", f"{patches.MOVE}b.py", "@@", "-x"]
    text = "\n".join(["apply_patch <<'EOF'", patches.BEGIN, *lines, patches.END, "EOF"])

    added, deleted, moved = patches.parse(text)

    assert (added.head, added.path, added.content) == (ADD, "new.py", ["one", ""])
    assert (deleted.head, deleted.path) == (DELETE, "old.py")
    assert (moved.path, moved.new_path, moved.chunks[0].old) == ("a.py", "b.py", ["x"])


def test_lines_are_found_behind_what_is_named_before_them():
    assert update("@@ def g(self):", "-        return 1", "+        return 2") == TEXT[:-2] + "2\n"
    assert update("@@ class A:", "@@ def g(self):", "-        return 1") == TEXT.removesuffix("        return 1\n")
    assert update("-        return 1", "+        return 2", "*** End of File") == TEXT[:-2] + "2\n"


def test_several_places_are_changed_in_turn():
    changed = update(
        "@@", "-        return 1", "+        return 2", "@@", " ", "     def g(self):", "-        return 1"
    )

    assert changed == TEXT.replace("return 1", "return 2", 1).removesuffix("        return 1\n")


def test_lines_that_stay_keep_the_spaces_that_the_patch_forgot():
    assert update(" a", "-b", "+c", text="a  \nb \nz") == "a  \nc\nz"


def test_what_has_no_place_goes_to_the_end():
    assert update("+last", text="first\n") == "first\nlast\n"
    assert update("+last", text="") == "last\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("nothing", "this is no patch"),
        (f"{patches.BEGIN}\n{patches.END}", "the patch is empty"),
        (f"{patches.BEGIN}\n+a\n{patches.END}", "belongs to no file"),
        (f"{patches.BEGIN}\n{UPDATE}a\n?a\n{patches.END}", "not understood"),
        (f"{patches.BEGIN}\n{ADD}a\n-a\n{patches.END}", "not understood"),
    ],
)
def test_what_is_no_patch_is_said_to_be_none(text, why):
    with pytest.raises(ToolError, match=why):
        patches.parse(text)


def test_a_patch_that_does_not_fit_is_not_applied():
    with pytest.raises(ToolError, match=r"does not fit a\.py"):
        update("-return 3")


def seconds(count):
    """For a patch with a hunk at every fifth line, whose lines are found only without their blanks."""
    lines = [f"line {number} " for number in range(count)]
    hunks = [part for at in range(0, count, 5) for part in ("@@", f"-line {at}", f"+changed {at}")]
    begun = time.process_time()
    changed = update(*hunks, text="\n".join(lines))
    took = time.process_time() - begun
    assert changed.count("changed") == count // 5
    return took


def test_ten_times_as_many_places_take_not_much_more_than_ten_times_as_long():
    assert min(seconds(10_000) for _ in range(3)) < 50 * min(seconds(1_000) for _ in range(3))
