"""Edits of several calls, gathered and reviewed as one set."""

import asyncio

import pytest

from odin_lsp.config import ReviewSettings, Timeouts
from odin_lsp.ports import Decision, ReviewAnswer
from odin_lsp.review.desk import ReviewDesk
from odin_lsp.review.drafts import Draft
from odin_lsp.review.journal import ReviewJournal
from odin_lsp.review.proposals import Wish, edit_of, operation_of
from odin_lsp.review.turn_review import TurnReview
from odin_lsp.review.undo_log import UndoLog
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.shown import Shown
from odin_lsp.workspace.text import Change, Position

OLD = "one\ntwo\nthree\nfour\nfive\n"


class Editor:
    """Applies to documents that it has open, writes new files, and decides as told."""

    def __init__(self, files):
        self.files = files
        self.reviews = []
        self.decide = lambda hunk: Decision(hunk_id=hunk.id, decision="accept")

    async def review(self, review):
        self.reviews.append(review)
        return ReviewAnswer(decisions=tuple(self.decide(it) for file in review.files for it in file.hunks))

    async def close_review(self, proposal_id):
        pass

    async def apply(self, change):
        buffer = self.files.buffers.of_uri(change.uri)
        if buffer is None:
            path = self.files.roots[0] / change.uri.rpartition("/")[2]
            path.write_text("".join(it.new_text for it in change.edits))
            return
        places = sorted(change.edits, key=lambda it: (it.range.start.line, it.range.start.character), reverse=True)
        changes = [Change(it.new_text, _place(it.range.start), _place(it.range.end)) for it in places]
        self.files.buffers.change(change.uri, buffer.version + 1, changes)


def _place(it):
    return Position(it.line, it.character)


@pytest.fixture
def files(tmp_path):
    files = Files([tmp_path], Buffers(), FileCache())
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(OLD)
        files.buffers.open((tmp_path / name).as_uri(), 1, OLD)
    return files


@pytest.fixture
def a(files):
    return files.roots[0] / "a.txt"


@pytest.fixture
def b(files):
    return files.roots[0] / "b.txt"


@pytest.fixture
def editor(files):
    return Editor(files)


@pytest.fixture
def draft_with(files, editor, tmp_path_factory):
    def draft_with(policy="each"):
        settings = ReviewSettings(policy=policy), Timeouts(client=0.3)
        folder = tmp_path_factory.mktemp("state")
        undo, journal = UndoLog(lambda: folder / "undo"), ReviewJournal(lambda: folder / "reviews")
        desk = ReviewDesk(files, editor, lambda: settings, lambda *_: ("", False), undo, journal)
        return Draft(desk, TurnReview("t", lambda event: None), Shown())

    return draft_with


@pytest.fixture
def draft(draft_with):
    return draft_with()


def change(draft, files, path, call, old, new):
    text = draft.texts.get(path, files.read(path).text)
    return draft.propose(edit_of(path, text, text.replace(old, new), Wish(call, f"{old} to {new}")), call)


async def together(draft, *proposals):
    """As the executor does it: one after the other, then the review."""
    tasks = []
    for proposal in proposals:
        tasks.append(asyncio.create_task(proposal()))
        await draft.gathered(tasks[-1])
    await draft.review()
    return [[[it.state for it in told.receipts] for told in await task] for task in tasks]


async def test_calls_of_one_step_are_one_review_and_each_learns_of_its_own(draft, files, editor, a, b):
    def decide(hunk):
        return Decision(hunk_id=hunk.id, decision="reject" if hunk.new_text == "FOUR" else "accept")

    editor.decide = decide
    told = await together(
        draft,
        lambda: change(draft, files, a, "1", "two", "TWO"),
        lambda: change(draft, files, b, "2", "one", "ONE"),
        lambda: change(draft, files, a, "3", "four", "FOUR"),
    )

    assert told == [[["accepted"]], [["accepted"]], [["rejected"]]]
    [review] = editor.reviews
    assert [len(file.hunks) for file in review.files] == [2, 1]
    assert [hunk.reason for hunk in review.files[0].hunks] == ["two to TWO", "four to FOUR"]
    assert files.read(a).text == OLD.replace("two", "TWO")
    assert files.read(b).text == OLD.replace("one", "ONE")


async def test_a_second_edit_of_the_same_place_becomes_one_hunk_that_both_learn_of(draft, files, editor, a):
    told = await together(
        draft,
        lambda: change(draft, files, a, "1", "two", "TWO"),
        lambda: change(draft, files, a, "2", "TWO", "TWO TWO"),
    )

    assert told == [[["accepted"]], [["accepted"]]]
    [hunk] = editor.reviews[0].files[0].hunks
    assert (hunk.old_text, hunk.new_text, hunk.reason) == ("two", "TWO TWO", "two to TWO; TWO to TWO TWO")
    assert files.read(a).text == OLD.replace("two", "TWO TWO")


async def test_a_new_file_and_an_edit_of_it_are_one_creation(draft, files, editor, tmp_path):
    new = tmp_path / "new.txt"
    told = await together(
        draft,
        lambda: draft.propose(operation_of(new, "create", "hello\nyou\n", Wish("1", "new")), "1"),
        lambda: draft.propose(edit_of(new, "hello\nyou\n", "hello\nworld\n", Wish("2", "better")), "2"),
    )

    assert told == [[["accepted"]], [["accepted"]]]
    assert new.read_text() == "hello\nworld\n"


async def test_until_the_end_the_draft_is_what_the_model_reads_and_it_follows_typing(draft_with, files, editor, a):
    draft = draft_with("end")
    assert await change(draft, files, a, "1", "two", "TWO") is None
    files.buffers.change(a.as_uri(), 2, [Change("zero\n", Position(0, 0), Position(0, 0))])
    assert draft.texts == {a: "zero\n" + OLD.replace("two", "TWO")}
    assert await change(draft, files, a, "2", "five", "FIVE") is None
    assert files.read(a).text == "zero\n" + OLD
    assert editor.reviews == []

    [told] = await draft.review()

    assert [it.state for it in told.receipts] == ["accepted", "accepted"]
    assert files.read(a).text == "zero\n" + OLD.replace("two", "TWO").replace("five", "FIVE")
    assert draft.texts == {}


async def test_what_was_not_reviewed_is_not_made(draft_with, files, a):
    draft = draft_with("end")
    await change(draft, files, a, "1", "two", "TWO")
    draft.drop()

    assert draft.is_empty
    assert draft.desk.drafts == []
    assert files.read(a).text == OLD


async def test_other_things_wait_until_the_edits_of_a_file_are_decided(draft_with, files, editor, a, b):
    draft = draft_with("end")
    await change(draft, files, a, "1", "two", "TWO")

    await draft.settle(b)
    assert editor.reviews == []
    await draft.settle(a)
    assert len(editor.reviews) == 1
