"""Proposals while somebody types."""

import pytest

from odin_lsp.review.hunks import Hunk
from odin_lsp.review.proposals import FileProposal, PendingHunk, Wish, edit_of
from odin_lsp.workspace.text import Lines


def test_a_hunk_at_the_end_of_a_text_without_a_line_end_moves_with_its_last_line(tmp_path):
    file = edit_of(tmp_path / "a", "one\ntwo", "one\ntwo!")
    [hunk] = file.hunks
    file.follow("one\nxtwo", 4, 1)

    assert hunk.hunk.start == len("one\nxtwo")
    assert hunk.moved


@pytest.mark.parametrize("state", ["pending", "accepted", "modified"])
def test_what_was_not_decided_against_is_superseded_by_what_comes_in_between(state):
    hunk = PendingHunk(Hunk(0, "a", "b"), state=state, text="c")

    hunk.supersede("somebody typed", "typed")

    assert (hunk.state, hunk.text, hunk.reason) == ("superseded", None, "somebody typed")


def test_what_was_decided_against_stays_so():
    hunk = PendingHunk(Hunk(0, "a", "b"), state="rejected", reason="no")

    hunk.supersede("somebody typed", "typed")

    assert (hunk.state, hunk.reason) == ("rejected", "no")


@pytest.mark.parametrize(("at", "typed"), [(4, "  two\n"), (6, "two\n  ")])
def test_what_was_taken_out_waits_again_once_it_is_back_wherever_the_editor_says_that_it_was_typed(tmp_path, at, typed):
    file = edit_of(tmp_path / "a", "one\n  two\n  three\n", "one\n  three\n")
    [hunk] = file.hunks
    file.recognise("one\n  three\n")
    assert hunk.state == "accepted"

    file.follow("one\n  two\n  three\n", at, len(typed))

    assert (hunk.state, hunk.hunk.start) == ("pending", 4)


def test_what_two_hunks_have_taken_out_waits_again_when_it_is_back_as_one_insertion(tmp_path):
    file = edit_of(tmp_path / "a", "b\na\na\n", "a\na\n")
    file.extend("a\n", Wish("1", "because"))
    file.recognise("a\n")
    assert [it.state for it in file.hunks] == ["accepted", "accepted"]

    file.follow("b\na\na\n", 0, 4)

    assert [it.state for it in file.hunks] == ["pending", "pending"]


def test_what_was_typed_over_has_an_empty_place_in_the_text(tmp_path):
    file = edit_of(tmp_path / "a", "one\ntwo\nthree\n", "one\ntwo!\nthree\n")
    [hunk] = file.hunks
    file.follow("one\n", 4, 0)
    file.follow("", 0, 0)

    assert (hunk.state, hunk.standing.start, hunk.standing.end, hunk.moved) == ("superseded", 0, 0, True)


def test_a_draft_can_go_on_from_what_the_user_has_typed_as_proposed(tmp_path):
    file = edit_of(tmp_path / "a", "one\n", "one\ntwo\n", Wish("1", "because"))
    file.follow("one\ntwo\n", 4, 4)
    file.extend("one\nTWO\n", Wish("2", "because"))

    assert [(it.state, it.is_lost) for it in file.hunks] == [("accepted", True), ("pending", False)]
    assert file.proposed == "one\nTWO\n"
    file.follow("one\ntwo\nthree\n", 8, 6)
    assert file.proposed == "one\nTWO\nthree\n"


def test_a_hunk_at_whose_end_a_line_end_has_come_together_is_elsewhere_on_the_screen(tmp_path):
    """In the middle of a line end there is no position."""
    first, second = PendingHunk(Hunk(3, "\r", "\n")), PendingHunk(Hunk(4, "x", ""))
    file = FileProposal(tmp_path / "a", "edit", Lines("one\rx\ntwo\n"), [first, second])

    file.exchange({second.id: ""})

    assert file.base == "one\r\ntwo\n"
    assert first.moved


def test_what_is_lost_within_a_hunk_stands_where_that_ends(tmp_path):
    lost, whole = PendingHunk(Hunk(2, "b", "x"), state="superseded", is_lost=True), PendingHunk(Hunk(0, "abc", ""))
    file = FileProposal(tmp_path / "a", "edit", Lines("abcd\n"), [whole, lost])

    file.exchange({whole.id: ""})

    assert (lost.standing.start, lost.standing.end) == (0, 0)


@pytest.mark.parametrize("is_told_where", [True, False])
def test_what_the_user_put_in_place_of_a_hunk_is_known_again_when_the_editor_does_it_again(tmp_path, is_told_where):
    file = edit_of(tmp_path / "a", "", "a")
    [hunk] = file.hunks
    hunk.state, hunk.text = "modified", "aa"
    file.exchange({hunk.id: "aa"})

    for text, state, applied in [("", "pending", None), ("aa", "modified", "aa"), ("", "pending", None)]:
        if is_told_where:
            file.follow(text, 0, len(text))
        else:
            file.follow_content(text)
        assert (hunk.state, hunk.text, hunk.applied) == (state, applied, applied)


@pytest.mark.parametrize(("old", "put", "rest"), [("", "aa", "a"), ("aa", "", "aaa")])
def test_what_the_user_put_there_is_known_again_where_the_editor_says_that_it_was_typed_beside(
    tmp_path, old, put, rest
):
    file = edit_of(tmp_path / "a", f"{old}{rest}", f"b{rest}")
    hunk = PendingHunk(Hunk(0, old, "b"), state="modified", text=put)
    file.hunks = [hunk]
    file.exchange({hunk.id: put})
    file.recognise(f"{old}{rest}")
    assert hunk.state == "pending"

    file.follow(f"{put}{rest}", len(rest), len(put))

    assert (hunk.state, hunk.text, hunk.applied) == ("modified", put, put)
