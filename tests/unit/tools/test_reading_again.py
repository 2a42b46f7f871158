"""A file that the model has read whole and reads again: it is told what has changed, and can work out the rest."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odin_lsp.agent.history import has_results, short
from odin_lsp.messages import Message, ToolResult
from odin_lsp.tools.read import CHANGES, UNCHANGED
from tests.support.reviewing import Bench

LINES = [f"def function_{number}(): return {number}" for number in range(1, 2001)]


@pytest.fixture
def bench(tmp_path):
    return remembering(tmp_path)


def remembering(folder):
    """All that was said is in the conversation."""
    bench = Bench(folder)
    bench.executor.context = replace(bench.context, has_results=lambda calls: True)
    return bench


def text(lines):
    return "".join(f"{line}\n" for line in lines)


async def read_whole(bench, path):
    """Page by page, as its notes say; what was told."""
    told, at = [], 1
    while at:
        page = await bench.use("Read", file_path=path, offset=at)
        told.append(page.content)
        at = int(found[1]) if (found := re.search(r"go on with offset (\d+)\)$", page.content)) else 0
    return told


async def again(bench, path):
    result = await bench.use("Read", file_path=path)
    assert not result.failed
    return result.content


async def test_of_2000_lines_of_which_one_has_changed_only_that_one_is_told(bench):
    path = bench.write("long.py", text(LINES))
    pages = await read_whole(bench, path)
    path.write_text(text([*LINES[:999], "def changed(): ...", *LINES[1000:]]))

    told = await again(bench, path)

    assert len(pages) > 1
    assert told == f"line 1000, in place of what was line 1000:\n  1000\tdef changed(): ...\n{CHANGES}"
    assert await again(bench, path) == UNCHANGED


async def test_what_is_not_saved_counts(bench):
    path = bench.write("a.py", text(LINES[:50]))
    bench.open(path)
    await bench.read(path)
    bench.type(path, "# typed\n", 9)

    told = await again(bench, path)

    assert told == f"line 10, new:\n    10\t# typed\n{CHANGES}\n(unsaved changes are shown)"


async def test_lines_are_shown_again_to_who_asks_for_some(bench):
    path = bench.write("a.py", text(LINES[:50]))
    await bench.read(path)

    assert (await bench.use("Read", file_path=path, offset=1)).content.count("\n") == 49
    assert (await bench.use("Read", file_path=path, limit=2)).content.startswith("     1\tdef function_1()")


async def test_what_was_told_as_changed_or_moved_may_be_edited(bench):
    path = bench.write("a.py", text(LINES[:50]))
    await bench.read(path)
    path.write_text(text(["# new", *LINES[:20], *LINES[25:49], "changed = 50"]))
    await again(bench, path)

    for old in ("# new", LINES[40], "changed = 50"):
        assert not (await bench.edit(path, old, "x = 1")).failed


async def test_edits_of_the_models_own_are_among_the_changes(bench):
    """It knows what it wrote, but not what became of it: a formatter or the user may have had a hand in it."""
    path = bench.write("a.py", text(LINES[:50]))
    await bench.read(path)
    await bench.edit(path, LINES[3], "x = 1")

    assert (await again(bench, path)).startswith("line 4, in place of what was line 4:\n     4\tx = 1\n")


async def test_what_is_no_longer_in_the_conversation_is_told_whole(bench):
    path = bench.write("a.py", text(LINES[:50]))
    await bench.read(path)
    bench.executor.context = replace(bench.context, has_results=lambda calls: False)

    assert (await again(bench, path)).count("\n") == 49
    bench.executor.context = replace(bench.context, has_results=lambda calls: calls == {"call 0"})
    assert await again(bench, path) == UNCHANGED


def test_a_result_that_was_shortened_or_has_failed_is_not_in_the_conversation():
    long = ToolResult("a", "Read", "x" * 1000)
    messages = [Message("user", (long, ToolResult("b", "Read", "y"), ToolResult("c", "Read", "no", failed=True)))]

    assert has_results(messages, {"a", "b"})
    assert not has_results(messages, {"b", "c"})
    assert not has_results([Message("user", (short(long),))], {"a"})


@pytest.mark.parametrize(
    "new",
    ["x = 1\n" * 50, text([*LINES[:49], "y" * 3000]), "", text(LINES[:1])],
    ids=["all other", "a line too long to be told", "empty", "shorter than the changes"],
)
async def test_a_text_that_changes_cannot_tell_is_told_whole(bench, new):
    path = bench.write("a.py", text(LINES[:50]))
    await bench.read(path)
    path.write_text(new)

    told = await again(bench, path)

    assert CHANGES not in told
    assert UNCHANGED not in told


async def test_a_file_of_which_only_a_part_was_read_is_told_whole(bench):
    path = bench.write("a.py", text(LINES[:50]))
    await bench.use("Read", file_path=path, limit=49)

    assert (await again(bench, path)).count("\n") == 49


async def test_pages_of_different_texts_are_no_whole(bench):
    path = bench.write("a.py", text(LINES[:50]))
    await bench.use("Read", file_path=path, limit=25)
    path.write_text(text(["changed", *LINES[1:50]]))
    await bench.use("Read", file_path=path, offset=26)

    assert (await again(bench, path)).startswith("     1\tchanged\n")


async def test_a_file_that_was_put_in_the_place_of_one_is_told_whole(bench):
    path, other = bench.write("a.py", text(LINES[:50])), bench.write("b.py", "b = 1\n")
    await bench.read(path, other)
    await bench.use("DeleteFile", file_path=path)
    await bench.use("MoveFile", file_path=other, new_path=path)

    assert (await again(bench, path)).startswith("     1\tb = 1")


SOME = st.lists(st.sampled_from(["a" * 30, "b" * 30, "c" * 30, ""]), min_size=1, max_size=60)


@settings(deadline=None)
@given(old=SOME, new=SOME)
async def test_from_the_old_text_and_what_is_told_follows_the_new_one(tmp_path_factory, old, new):
    bench = remembering(tmp_path_factory.mktemp("again"))
    path = bench.write("a.txt", text(old))
    await bench.read(path)
    path.write_text(text(new))

    assert followed(old, await again(bench, path)) == new


def followed(old, told):
    """As a model would work it out."""
    numbered = dict(re.findall(r"^ *(\d+)\t(.*)$", told, re.MULTILINE))
    new = {int(number): line for number, line in numbered.items()}
    if CHANGES not in told and UNCHANGED not in told:
        return [new[number] for number in sorted(new)]
    gone = [
        number
        for first, last in re.findall(r"what was lines? (\d+)(?:-(\d+))?", told)
        for number in range(int(first), int(last or first) + 1)
    ]
    left = iter([line for number, line in enumerate(old, 1) if number not in gone])
    total = len(old) - len(gone) + len(new)
    return [new[number] if number in new else next(left) for number in range(1, total + 1)]
