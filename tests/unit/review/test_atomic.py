"""A change that makes sense as a whole only: whatever is decided on a part of it is decided on all of it."""

import asyncio

import pytest

from odin_lsp.permissions import protected
from odin_lsp.ports import Decision
from odin_lsp.review.journal import ReviewJournal
from odin_lsp.review.proposals import NOT_WHOLE, TYPED_INSIDE, Proposal, Wish, edit_of, operation_of
from tests.support.reviewing import Bench, accept, reject

OLD = "total = 1\nprint(1)\nprint(2)\nprint(total)\n"
NEW = OLD.replace("total", "sum")
WISH = Wish("call", "total → sum")


@pytest.fixture
def bench(tmp_path):
    bench = Bench(tmp_path)
    for name in ("a.py", "b.py"):
        bench.open(bench.write(name, OLD))
    return bench


def whole(bench, *more):
    files = [edit_of(bench.root / name, OLD, NEW, WISH) for name in ("a.py", "b.py")]
    return Proposal("t", [*files, *more], "rename", atomic=True)


def texts(bench):
    return [bench.text(bench.root / name) for name in ("a.py", "b.py")]


async def decided(bench, proposal):
    await bench.desk.submit(proposal, bench.context.draft.turn)
    return [(it.state, it.text or it.reason) for it in proposal.hunks]


@pytest.fixture
async def waiting(bench):
    """A whole that somebody looks at, and the turn that waits for it."""
    bench.editor.decide = lambda hunk: None
    proposal = whole(bench)
    task = asyncio.create_task(bench.desk.submit(proposal, bench.context.draft.turn))
    while not bench.editor.reviews:
        await asyncio.sleep(0)
    yield task, proposal
    task.cancel()
    await asyncio.wait([task])


async def test_who_accepts_one_hunk_accepts_all_and_the_client_is_told_so_before(bench, waiting):
    task, proposal = waiting
    assert bench.editor.reviews[0].atomic

    receipts = await bench.desk.decide([Decision(hunk_id=next(iter(proposal.hunks)).id, decision="accept")])

    await task
    assert [it.state for it in receipts] == ["accepted"] * 4
    assert texts(bench) == [NEW, NEW]


async def test_who_rejects_one_hunk_rejects_all_with_the_same_reason(bench, waiting):
    task, proposal = waiting

    await bench.desk.decide([Decision(hunk_id=proposal.files[1].hunks[1].id, decision="reject", reason="not now")])

    await task
    assert [(it.state, it.reason, it.cause) for it in proposal.hunks] == [("rejected", "not now", "person")] * 4
    assert texts(bench) == [OLD, OLD]


async def test_of_several_answers_a_no_is_the_last_word(bench):
    bench.editor.decide = lambda hunk: reject(hunk) if hunk.range.start.line == 3 else accept(hunk)

    assert await decided(bench, whole(bench)) == [("rejected", "no")] * 4
    assert texts(bench) == [OLD, OLD]


async def test_who_changes_one_hunk_accepts_the_others(bench, waiting):
    task, proposal = waiting
    first = next(iter(proposal.hunks))

    await bench.desk.decide([Decision(hunk_id=first.id, decision="modify", text="SUM")])

    await task
    assert [it.state for it in proposal.hunks] == ["modified", "accepted", "accepted", "accepted"]
    assert texts(bench) == [NEW.replace("sum = ", "SUM = "), NEW]


async def test_if_somebody_types_into_a_part_the_rest_is_not_made_either(bench, waiting):
    task, proposal = waiting

    bench.type(bench.root / "a.py", "x", 0, 2, 3)

    await task
    assert [it.reason for it in proposal.hunks] == [TYPED_INSIDE, *[NOT_WHOLE] * 3]
    assert texts(bench) == [OLD.replace("total =", "toxal ="), OLD]


async def test_what_is_taken_back_is_taken_back_as_a_whole(bench, waiting):
    _, proposal = waiting
    first = next(iter(proposal.hunks))
    bench.desk.begin([accept(first)])

    receipts = await bench.desk.reopen(bench.desk.proposals.select(hunk_ids=[first.id]))

    assert [it.state for it in receipts] == ["pending"] * 4
    assert [len(bench.editor.applied), *texts(bench)] == [4, OLD, OLD]


async def test_what_applies_without_asking_asks_if_one_part_has_to_be_asked_about(tmp_path):
    bench = Bench(tmp_path, policy="auto")
    files = [edit_of(bench.write(name, OLD), OLD, NEW, WISH) for name in ("a.py", "AGENTS.md")]
    assert protected.protection(files[1].path)
    bench.editor.decide = reject

    assert await decided(bench, Proposal("t", files, atomic=True)) == [("rejected", "no")] * 4
    assert len(bench.editor.reviews) == 1


async def test_a_whole_outlives_odin_as_one(bench, tmp_path):
    journal = ReviewJournal(lambda: tmp_path / "kept")
    await journal.begin(whole(bench), "s")
    journal.close()

    [kept] = ReviewJournal(lambda: tmp_path / "kept").waiting()

    assert kept.proposal().atomic


@pytest.mark.parametrize("policy", ["each", "end"])
async def test_it_is_reviewed_at_once_and_by_itself_whatever_was_drafted_before(tmp_path, policy):
    bench = Bench(tmp_path, policy=policy)
    drafted, path = bench.write("drafted.py", OLD), bench.write("a.py", OLD)
    draft, moved = bench.context.draft, bench.root / "b.py"
    before = asyncio.create_task(draft.propose(edit_of(drafted, OLD, NEW, Wish("before", "")), "before"))
    await draft.gathered(before)
    parts = [edit_of(path, OLD, NEW, WISH), operation_of(path, "rename", wish=WISH, new_path=moved)]

    told = await draft.propose_whole(parts)

    assert [it.state for file in told for it in file.receipts] == ["accepted"] * 3
    assert [(it.atomic, len(it.files)) for it in bench.editor.reviews] == [(False, 1), (True, 2)]
    assert (moved.read_text(), path.exists(), draft.is_empty) == (NEW, False, True)
    await before
