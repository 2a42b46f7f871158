"""How much of a file must have been seen before it is edited, and when the small model is asked."""

import asyncio
import json
from dataclasses import replace

import pytest

from odin_lsp.errors import ModelUnavailable, ToolError
from odin_lsp.tools import seen_enough
from odin_lsp.tools.seen_enough import require_seen, require_shown

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
        await require_seen(path, TEXT, [(10, 10)], [("line 10", "LINE 10")], replace(context, small=small))

    return check


def test_a_file_that_was_never_shown_must_be_read(context, path):
    with pytest.raises(ToolError, match="Must read file first"):
        require_shown(path, context)


async def test_what_surrounds_the_place_was_seen_so_nobody_is_asked(check):
    small = Small("{}")
    await check(7, 13, small)

    assert small.asked == []


async def test_the_whole_file_was_seen_so_nobody_is_asked(check):
    small = Small("{}")
    await check(1, 30, small)

    assert small.asked == []


async def test_a_place_that_was_not_seen_is_refused_with_the_lines_to_read(check):
    small = Small('{"is_sufficient": true}')
    with pytest.raises(ToolError, match=r"Insufficient cache\. Please read lines 7-13 first"):
        await check(1, 9, small)

    assert small.asked == []


async def test_at_the_edge_of_what_was_seen_the_small_model_judges(check):
    small = Small(
        'Sure: {"is_sufficient": false, "explanation": "the function begins above", "suggested_line_ranges":'
        ' [{"start_line": 2, "end_line": 12, "reason": "its start"}]}'
    )
    with pytest.raises(ToolError, match=r"Please read lines 2-12 first: the function begins above"):
        await check(10, 20, small)

    [asked] = small.asked
    assert asked["OldString"] == "line 10"
    assert asked["NewString"] == "LINE 10"
    assert asked["IsPartial"] is True
    assert asked["SegmentKeys"] == ["10-20"]
    assert "    10\tline 10\n" in asked["CachedContent"]


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

    await check(10, 20, Small(answer))


async def test_without_a_small_model_what_was_shown_decides(check):
    await check(10, 20, None)


def test_the_instructions_hold_four_questions_and_five_guidelines():
    assert [f"\n{number}. " in seen_enough.INSTRUCTIONS for number in (1, 2, 3, 4)] == [True] * 4
    assert seen_enough.INSTRUCTIONS.count("\n- ") == 5
