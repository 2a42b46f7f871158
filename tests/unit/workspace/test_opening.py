"""Whether what was found is still what was there."""

import pytest

from odin_lsp.folders import Folder
from odin_lsp.workspace.opening import CLOCK_TICK_NS, exchanged


@pytest.fixture
def folder(tmp_path):
    with Folder(tmp_path) as folder:
        yield folder


def test_a_file_is_believed_if_it_was_changed_longer_ago_than_the_clock_may_err(tmp_path, folder):
    file = tmp_path / "a.txt"
    file.touch()
    changed = file.stat().st_ctime_ns

    assert exchanged([file], tmp_path, folder, changed + CLOCK_TICK_NS) == {file}
    assert exchanged([file], tmp_path, folder, changed + CLOCK_TICK_NS + 1) == set()
