"""Proposals while somebody types."""

from odin_lsp.review.proposals import edit_of


def test_a_hunk_at_the_end_of_a_text_without_a_line_end_moves_with_its_last_line(tmp_path):
    file = edit_of(tmp_path / "a", "one\ntwo", "one\ntwo!")
    [hunk] = file.hunks
    file.follow("one\nxtwo", 4, 1)

    assert hunk.hunk.start == len("one\nxtwo")
    assert hunk.moved
