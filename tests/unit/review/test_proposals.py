"""Proposals while somebody types."""

import pytest

from odin_lsp.review.hunks import Hunk
from odin_lsp.review.proposals import PendingHunk, edit_of


def test_a_hunk_at_the_end_of_a_text_without_a_line_end_moves_with_its_last_line(tmp_path):
    file = edit_of(tmp_path / "a", "one\ntwo", "one\ntwo!")
    [hunk] = file.hunks
    file.follow("one\nxtwo", 4, 1)

    assert hunk.hunk.start == len("one\nxtwo")
    assert hunk.moved


@pytest.mark.parametrize("state", ["pending", "accepted", "modified"])
def test_what_was_not_decided_against_is_superseded_by_what_comes_in_between(state):
    hunk = PendingHunk(Hunk(0, "a", "b"), state=state, text="c")

    hunk.supersede("somebody typed")

    assert (hunk.state, hunk.text, hunk.reason) == ("superseded", None, "somebody typed")


def test_what_was_decided_against_stays_so():
    hunk = PendingHunk(Hunk(0, "a", "b"), state="rejected", reason="no")

    hunk.supersede("somebody typed")

    assert (hunk.state, hunk.reason) == ("rejected", "no")
