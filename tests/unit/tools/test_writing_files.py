"""WriteFile: what may be written over, and what need not be there before."""

import pytest

from odin_lsp.events import ToolFinished
from odin_lsp.tools.editing import MAX_DIFF_CHARS
from tests.support.reviewing import Bench


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


async def test_folders_are_made_and_a_file_may_be_empty(bench):
    path = bench.root / "a" / "b" / "empty.txt"

    result = await bench.use("WriteFile", file_path=path, content="")

    assert not result.failed, result.content
    assert path.read_bytes() == b""


async def test_what_was_written_may_be_written_again_unless_somebody_else_was_there(bench):
    path = bench.root / "new.txt"
    for content in ("one\n", "two\n"):
        assert not (await bench.use("WriteFile", file_path=path, content=content)).failed
    path.write_text("somebody else's\n")

    result = await bench.use("WriteFile", file_path=path, content="three\n")

    assert result.failed
    assert "Must read file first" in result.content
    assert path.read_text() == "somebody else's\n"


def ended(bench):
    return next(it for it in reversed(bench.events) if isinstance(it, ToolFinished))


async def test_the_model_learns_how_many_lines_a_file_has(bench):
    path = bench.root / "new.txt"

    first = await bench.use("WriteFile", file_path=path, content="one\n")
    second = await bench.use("WriteFile", file_path=path, content="one\ntwo\n")

    assert first.content.endswith("It has 1 line now.")
    assert second.content.endswith("It has 2 lines now.")


async def test_a_result_counts_lines_and_says_whether_the_file_is_new(bench):
    path = bench.root / "new.txt"
    told = []

    for name, more in (
        ("WriteFile", {"content": "one\ntwo\n"}),
        ("WriteFile", {"content": "one\nTWO\nthree\n"}),
        ("EditTool", {"old_string": "one\n", "new_string": ""}),
        ("DeleteFile", {}),
    ):
        assert not (await bench.use(name, file_path=path, **more)).failed
        told.append((ended(bench).created, ended(bench).added, ended(bench).removed))

    assert told == [(True, 2, 0), (False, 2, 1), (False, 0, 1), (False, 0, 2)]
    assert [(it.created, it.added, it.removed) for it in bench.executor.records] == told


async def test_all_lines_are_counted_where_the_diff_is_cut(bench):
    lines = MAX_DIFF_CHARS // 10

    result = await bench.use("WriteFile", file_path=bench.root / "long.txt", content="0123456789\n" * lines)

    assert (ended(bench).added, len(ended(bench).diff)) == (lines, MAX_DIFF_CHARS)
    assert "0123456789" not in result.content
