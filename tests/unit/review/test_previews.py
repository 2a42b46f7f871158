"""What an editor applied by itself, told from what the user typed."""

from pathlib import Path

import pytest

from odin_lsp.review.hunks import apply, hunks_between, hunks_taken
from odin_lsp.review.previews import Preview
from odin_lsp.review.proposals import edit_of

OLD = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
NEW = OLD.replace("two", "TWO").replace("four\n", "").replace("six\n", "six\nsix\n")


@pytest.fixture
def preview():
    return Preview(edit_of(Path("/a"), OLD, NEW))


def states(preview):
    return [it.state for it in preview.file.hunks]


@pytest.mark.parametrize("chosen", [[], [0], [1], [2], [0, 2], [1, 2], [0, 1, 2]])
def test_every_choice_of_hunks_is_recognised(chosen):
    hunks = hunks_between(OLD, NEW)

    assert hunks_taken(OLD, hunks, apply(OLD, [hunks[index] for index in chosen])) == chosen


def test_anything_else_is_no_choice():
    assert hunks_taken(OLD, hunks_between(OLD, NEW), f"{OLD}!") is None


def test_applied_one_by_one_they_are_accepted_and_the_others_stay_where_they_belong(preview):
    preview.look(OLD.replace("two", "TWO"))
    preview.look(OLD.replace("two", "TWO").replace("six\n", "six\nsix\n"))

    assert states(preview) == ["accepted", "pending", "accepted"]
    assert preview.before == OLD
    assert preview.file.proposed == NEW


def test_the_others_move_by_what_was_taken_out_and_the_client_is_to_know(preview):
    places = [it.hunk.start for it in preview.file.hunks]

    preview.look(OLD.replace("four\n", ""))

    assert [it.hunk.start for it in preview.file.hunks] == [*places[:2], places[2] - len("four\n")]
    assert [it.moved for it in preview.file.hunks] == [False, True, True]
    preview.look(NEW)
    assert states(preview) == ["accepted"] * 3
    assert preview.before == OLD


def test_what_is_typed_moves_the_rest_and_stays_in_the_text_before(preview):
    preview.look(OLD.replace("two", "TWO"))
    preview.look("zero\n" + OLD.replace("two", "TWO"))

    assert preview.typed
    assert states(preview) == ["accepted", "pending", "pending"]
    assert preview.before == "zero\n" + OLD
    assert preview.file.proposed == "zero\n" + NEW


def test_what_the_user_takes_back_waits_again(preview):
    preview.look(OLD.replace("two", "TWO"))
    preview.look(OLD)

    assert states(preview) == ["pending", "pending", "pending"]
    assert preview.before is None


def test_what_was_applied_and_then_typed_over_is_the_users(preview):
    preview.look(OLD.replace("two", "TWO"))
    preview.look(OLD.replace("one\ntwo", "W"))

    assert states(preview) == ["accepted", "pending", "pending"]
    assert preview.before is None


def test_what_the_editor_could_not_apply_was_not_rejected_and_the_reason_is_told(preview):
    preview.look(OLD.replace("two", "TWO"))

    preview.give_up("stale version")

    assert states(preview) == ["accepted", "superseded", "superseded"]
    assert preview.file.hunks[1].reason == "the edit cannot be seen in the document (stale version)"


def test_what_is_not_applied_without_a_problem_stays_undecided(preview):
    preview.give_up(None)

    assert states(preview) == ["pending"] * 3
