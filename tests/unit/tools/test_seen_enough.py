"""How much of a file must have been seen before it is edited, and when the small model is asked."""

import asyncio
import json
from dataclasses import replace

import pytest

from odin_lsp.errors import ModelUnavailable, ToolError
from odin_lsp.tools import seen_enough
from odin_lsp.tools.seen_enough import require_seen, require_shown
from odin_lsp.workspace.text import Lines
from tests.support.reviewing import Bench

TEXT = "".join(f"line {number}\n" for number in range(1, 31))


class Small:
    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    async def __call__(self, instructions, text):
        self.asked.append(json.loads(text))
        if isinstance(self.answer, Exception):
            raise self.answer
        return await self.answer() if callable(self.answer) else self.answer


@pytest.fixture
def path(root):
    return root / "long.txt"


@pytest.fixture
def check(context, path):
    """Edit line 10, having seen these lines."""

    async def check(first, last, small=None, total=30):
        lines = TEXT.splitlines()
        context.shown.note(path, first, lines[first - 1 : last], total=total)
        await require_seen(path, Lines(TEXT), [(10, 10)], [("line 10", "LINE 10")], replace(context, small=small))

    return check


async def test_a_file_that_was_never_shown_must_be_read(context, path):
    path.write_text(TEXT)
    with pytest.raises(ToolError, match=r"^Must read file first: you have not seen long\.txt$"):
        await require_shown(path, context)


async def test_a_file_that_does_not_exist_is_called_so_with_one_that_may_be_meant(context, path):
    path.write_text(TEXT)
    with pytest.raises(ToolError, match=r"lang\.txt does not exist \(did you mean .*/long\.txt\?\); create"):
        await require_shown(path.with_name("lang.txt"), context)


async def test_all_lines_to_read_are_named_and_neighbours_together(context, path):
    context.shown.note(path, 30, ["line 30"], total=30)
    touched = [(5, 5), (8, 8), (20, 20)]
    with pytest.raises(ToolError, match=r"lines 2-11, 17-23 of long\.txt"):
        await require_seen(path, Lines(TEXT), touched, [("a", "b")] * 3, context)


@pytest.mark.parametrize(("first", "last"), [(7, 13), (10, 11), (9, 10)])
async def test_a_line_was_seen_with_its_neighbour_so_nobody_is_asked(check, first, last):
    small = Small("{}")
    await check(first, last, small)

    assert small.asked == []


@pytest.mark.parametrize(("first", "last"), [(9, 12), (12, 14), (9, 14)])
async def test_lines_at_the_edge_of_what_was_seen_are_enough_and_one_beyond_is_not(context, path, first, last):
    context.shown.note(path, 9, TEXT.splitlines()[8:14], total=30)
    small = Small('{"is_sufficient": false}')
    await require_seen(path, Lines(TEXT), [(first, last)], [("a", "b")], replace(context, small=small))
    with pytest.raises(ToolError, match="You have not seen lines"):
        await require_seen(path, Lines(TEXT), [(first, 15)], [("a", "b")], replace(context, small=small))

    assert small.asked == []


@pytest.mark.parametrize("is_everywhere", [True, False])
async def test_of_what_is_replaced_everywhere_the_lines_alone_are_enough(tmp_path, is_everywhere):
    bench, small = Bench(tmp_path), Small(json.dumps({"is_sufficient": True}))
    bench.executor.context = replace(bench.context, small=small)
    path = bench.write("long.txt", TEXT)
    await bench.use("Grep", pattern="line 20$", path=path)
    await bench.use("EditTool", file_path=path, old_string="line 20", new_string="LINE", replace_all=is_everywhere)

    assert bool(small.asked) is not is_everywhere


async def test_the_whole_file_was_seen_so_nobody_is_asked(check):
    small = Small("{}")
    await check(1, 30, small)

    assert small.asked == []


async def test_a_place_that_was_not_seen_is_refused_with_the_lines_to_read(check):
    small = Small('{"is_sufficient": true}')
    with pytest.raises(
        ToolError,
        match=r"^You have not seen lines 7-13 of long\.txt \(or they have changed",
    ):
        await check(1, 9, small)

    assert small.asked == []


async def test_of_a_line_that_was_seen_alone_the_small_model_judges_once(check):
    small = Small(
        'Sure: {"is_sufficient": false, "explanation": "the function begins above", "suggested_line_ranges":'
        ' [{"start_line": 2, "end_line": 12, "reason": "its start"}]}'
    )
    with pytest.raises(ToolError, match=r"lines 1-15 of long\.txt \(the function begins above\)"):
        await check(10, 10, small)

    [asked] = small.asked
    assert asked["OldString"] == "line 10"
    assert asked["NewString"] == "LINE 10"
    assert asked["IsPartial"] is True
    assert asked["SegmentKeys"] == ["10-10"]
    assert asked["CachedContent"] == "    10\tline 10"


async def never():
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    "answer",
    [
        '{"is_sufficient": true}',
        "I would say yes",
        '{"is_sufficient": "perhaps"}',
        "",
        ModelUnavailable("it is down"),
        never,
    ],
)
async def test_a_yes_or_an_answer_that_cannot_be_used_leaves_it_to_what_was_shown(check, answer, monkeypatch):
    monkeypatch.setattr(seen_enough, "SECONDS", 0.05)

    await check(10, 10, Small(answer))


async def test_without_a_small_model_what_was_shown_decides(check):
    await check(10, 10, None)


def test_the_instructions_hold_four_questions_and_five_guidelines():
    assert [f"\n{number}. " in seen_enough.INSTRUCTIONS for number in (1, 2, 3, 4)] == [True] * 4
    assert seen_enough.INSTRUCTIONS.count("\n- ") == 5


async def test_several_edits_of_a_long_file_need_only_their_own_lines_to_be_known(tmp_path):
    """Many blank lines, which a comparison of the two texts could take for the same ones."""
    bench = Bench(tmp_path)
    lines = [f"def f{number}():\n    return {number}\n\n\n" for number in range(300)]
    path = bench.write("long.py", "".join(lines))
    for first in (1, 401, 1001):
        await bench.use("Read", file_path=path, offset=first, limit=2)

    result = await bench.use(
        "MultiEditTool",
        file_path=path,
        edits=[
            {"old_string": f"def f{it}():\n    return {it}\n", "new_string": f"def g{it}():\n\n    return -{it}\n"}
            for it in (0, 100, 250)
        ],
    )

    assert not result.failed, result.content
    assert result.content.startswith("long.py: accepted (lines 1-")


async def test_between_edits_of_a_text_of_alike_lines_nothing_needs_to_be_known(tmp_path):
    """None of these lines tells where it is."""
    bench = Bench(tmp_path)
    lines = ["    pass\n", "\n"] * 300
    places = (0, 200, 400)
    for at in places:
        lines[at] = f"def f{at}():\n"
    path = bench.write("alike.py", "".join(lines))
    for at in places:
        await bench.use("Read", file_path=path, offset=at + 1, limit=2)

    edits = [{"old_string": f"def f{at}():", "new_string": f"def g{at}():"} for at in places]
    result = await bench.use("MultiEditTool", file_path=path, edits=edits)

    assert not result.failed, result.content
