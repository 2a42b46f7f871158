"""A turn that is taken back: what it did goes, and what others have done since stays."""

import pytest

from odin_lsp.review.undo import CHANGED_SINCE, take_back
from tests.support.reviewing import Bench


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path, policy="auto")


@pytest.fixture
def undo(bench):
    return lambda: take_back(bench.desk._undo_log, "t", bench.desk.applier)


async def test_what_was_deleted_is_there_again(bench, undo):
    path = bench.write("a.txt", "old\n")
    await bench.use("DeleteFile", file_path=path)
    assert not path.exists()

    assert await undo() == ([path], [])
    assert path.read_text() == "old\n"


@pytest.mark.parametrize("text", ["another\n", ""])
async def test_what_stands_where_a_file_was_deleted_stays(bench, undo, text):
    path = bench.write("a.txt", "old\n")
    await bench.use("DeleteFile", file_path=path)
    path.write_text(text)

    assert await undo() == ([], [(path, CHANGED_SINCE)])
    assert path.read_text() == text
