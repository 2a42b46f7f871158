"""WriteFile: what may be written over, and what need not be there before."""

import pytest

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
