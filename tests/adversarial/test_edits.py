"""EDIT-01 to EDIT-18, EDIT-21 and EDIT-22: no edit goes astray, whatever happens to the text meanwhile.

EDIT-01, -02, -03, -10, -11 and -13 are also shown on the wire, in `tests/e2e/test_edits.py`; EDIT-19 and EDIT-20 in
`test_text_fidelity.py`.
"""

import asyncio

import pytest
from lsprotocol import types

from odin_lsp.messages import Message, ToolCall
from odin_lsp.ports import Decision, FileChange, Position, Range, TextReplacement
from odin_lsp.review.drafts import Draft
from odin_lsp.review.proposals import Wish, edit_of
from odin_lsp.review.turn_review import TurnReview
from odin_lsp.review.undo import take_back
from odin_lsp.server.client import Abilities
from odin_lsp.server.workspace_edits import workspace_edit
from odin_lsp.terminal.editor import TerminalEditor
from odin_lsp.workspace import text
from odin_lsp.workspace.shown import Shown
from tests.support.reviewing import Bench, accept, reject, restored_and_kept

OLD = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


@pytest.fixture
def a(bench):
    return bench.write("a.txt", OLD)


async def until(condition):
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0)


# Versions


async def test_edit_01_what_was_typed_at_the_last_moment_is_not_overwritten_and_nothing_is_tried_again(bench, a):
    bench.open(a)
    await bench.read(a)
    bench.editor.at_last = lambda: bench.type(a, "2", 1, 0, 3)

    result = await bench.edit(a, "two", "TWO")

    assert result.failed
    assert "superseded (line 2): the edit cannot be seen in the document (the version is another one)" in result.content
    assert [change.version for change in bench.editor.applied] == [1]
    assert bench.text(a) == OLD.replace("two", "2")
    assert (await bench.edit(a, "2", "TWO")).content.startswith("You have not seen lines")
    assert len(bench.editor.applied) == 1


async def test_edit_02_an_edit_of_another_text_than_expected_is_told_as_it_is(bench, a):
    bench.open(a)
    await bench.read(a)

    async def apply(change):
        """Applies to what it has now, whatever version was meant."""
        bench.type(a, "zero\n", 0)
        bench.type(a, "TWO", 1, 0, 3)

    bench.editor.apply = apply
    result = await bench.edit(a, "two", "TWO")

    assert result.failed
    assert "the edit cannot be seen in the document" in result.content
    assert bench.text(a) == "zero\nTWO\n" + OLD.removeprefix("one\n")


async def test_edit_03_an_open_document_is_never_edited_without_its_version(bench, a):
    closed = bench.write("b.txt", OLD)
    bench.open(a)
    await bench.read(a, closed)
    await bench.edit(a, "two", "TWO")
    bench.type(a, "typed ", 5)
    await bench.edit(a, "four", "FOUR")
    await bench.edit(closed, "two", "TWO")

    assert [change.version for change in bench.editor.applied] == [1, 3, None]
    edit = workspace_edit(bench.editor.applied[1], Abilities(apply_edit=True, document_changes=True))
    assert edit.document_changes[0].text_document.version == 3


# What the model has seen, and what is there


async def test_edit_04_the_text_on_the_screen_is_read_searched_and_edited_and_the_disk_is_left_alone(bench, a):
    bench.open(a, OLD.replace("four", "unsaved four"))

    read = await bench.use("Read", file_path=a)
    found = await bench.use("Grep", pattern="unsaved", output_mode="content")
    edited = await bench.edit(a, "unsaved four", "FOUR")

    assert "unsaved four" in read.content
    assert "unsaved" in read.content.replace("unsaved four", "")
    assert "unsaved four" in found.content
    assert not edited.failed
    assert bench.text(a) == OLD.replace("four", "FOUR")
    assert a.read_text() == OLD


@pytest.mark.parametrize(
    "change", [("2", 1, 0, 3), ("zero\n", 0, 0, 0)], ids=["the line was changed", "the line is another one now"]
)
async def test_edit_05_what_was_typed_after_the_file_was_read_is_read_first(bench, a, change):
    await bench.read(a)
    bench.open(a)
    bench.type(a, *change)
    before = bench.text(a)

    result = await bench.edit(a, "three", "THREE") if "zero" in change[0] else await bench.edit(a, "2", "TWO")

    assert result.failed
    assert "You have not seen lines" in result.content
    assert (await bench.use("WriteFile", file_path=a, content="all new\n")).content.startswith("Must read file first")
    assert bench.text(a) == before
    assert bench.editor.reviews == []


async def test_edit_05_what_was_typed_during_a_review_is_read_first(bench, a):
    bench.open(a)
    await bench.read(a)
    bench.editor.meanwhile = lambda: bench.type(a, "the user's own line\n", 8)
    bench.editor.decide = reject
    assert (await bench.edit(a, "one", "ONE")).failed
    bench.editor.decide = accept

    result = await bench.edit(a, "the user's own line\n", "")

    assert result.failed
    assert "You have not seen lines" in result.content
    assert "the user's own line" in bench.text(a)


async def test_edit_06_a_file_that_has_changed_on_disk_is_read_first(bench, a):
    await bench.read(a)
    a.write_text(OLD.replace("two", "2 by git"))

    result = await bench.edit(a, "2 by git", "TWO")

    assert result.failed
    assert "You have not seen lines 1-5 of a.txt (or they have changed since)" in result.content
    assert a.read_text() == OLD.replace("two", "2 by git")
    assert bench.editor.reviews == []


async def test_edit_06_a_file_that_changes_on_disk_during_the_review_keeps_that(bench, a):
    await bench.read(a)
    bench.editor.meanwhile = lambda: a.write_text(OLD.replace("two", "2 by git").replace("nine", "9"))

    result = await bench.edit(a, "two", "TWO")

    assert bench.states == ["superseded"]
    assert result.failed
    assert a.read_text() == OLD.replace("two", "2 by git").replace("nine", "9")


async def test_edit_06_a_document_whose_file_has_changed_under_it_is_not_edited(bench, a):
    bench.open(a)
    await bench.read(a)
    a.write_text("something else\n")

    result = await bench.edit(a, "two", "TWO")

    assert "has changed on disk under the editor" in result.content
    assert bench.text(a) == OLD


GONE = {
    "deleted": lambda path: path.unlink(),
    "renamed": lambda path: path.rename(path.with_name("moved.txt")),
    "replaced by a folder": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("happens", GONE.values(), ids=GONE)
@pytest.mark.parametrize("when", ["before the call", "during the review"])
@pytest.mark.parametrize("tool", ["EditTool", "MultiEditTool"])
async def test_edit_07_a_file_that_is_gone_is_not_made_again(bench, a, happens, when, tool):
    await bench.read(a)
    if when == "before the call":
        happens(a)
    else:
        bench.editor.meanwhile = lambda: happens(a)
    edits = [{"old_string": "two", "new_string": "TWO"}]

    result = await bench.use(tool, file_path=a, **(edits[0] if tool == "EditTool" else {"edits": edits}))

    assert result.failed
    assert ("the file is gone" in result.content) is (when == "during the review")
    assert not a.is_file()
    assert {path.read_text() for path in bench.root.iterdir() if path.is_file()} <= {OLD}


# New files


async def test_edit_08_a_file_that_came_into_being_meanwhile_is_not_overwritten(bench):
    new = bench.root / "new.txt"
    bench.editor.meanwhile = lambda: new.write_text("somebody else's\n")

    result = await bench.use("WriteFile", file_path=new, content="mine\n")

    assert result.failed
    assert "exists already" in result.content
    assert new.read_text() == "somebody else's\n"
    assert bench.states == ["superseded"]


async def test_edit_08_a_file_that_exists_is_read_before_it_is_replaced(bench, a):
    assert "Must read file first" in (await bench.use("WriteFile", file_path=a, content="mine\n")).content
    assert a.read_text() == OLD


def test_edit_08_clients_are_told_to_overwrite_nothing():
    abilities = Abilities(apply_edit=True, document_changes=True, resource_operations=frozenset({"create", "rename"}))
    create = workspace_edit(FileChange(uri="file:///new", version=None, operation="create"), abilities)
    rename = workspace_edit(
        FileChange(uri="file:///a", version=None, operation="rename", new_uri="file:///b"), abilities
    )

    for operation in (create.document_changes[0], rename.document_changes[0]):
        assert (operation.options.overwrite, operation.options.ignore_if_exists) == (False, False)


# All or nothing


async def test_edit_09_of_five_edits_one_that_fails_stops_them_all(bench, a):
    await bench.read(a)
    words = ["one", "two", "missing", "four", "five"]

    result = await bench.use(
        "MultiEditTool",
        file_path=a,
        edits=[{"old_string": word, "new_string": word.upper()} for word in words],
    )

    assert result.content.startswith("edit 3 of 5 failed, and nothing was changed")
    assert a.read_text() == OLD
    assert bench.editor.reviews == []


async def test_edit_10_a_step_that_ends_halfway_says_which_files_it_changed_and_can_be_taken_back(bench, a):
    b, c = bench.write("b.txt", OLD), bench.write("c.txt", OLD)
    await bench.read(a, b, c)
    bench.editor.at_last = lambda: b.unlink(missing_ok=True)

    results = await bench.step(
        *(("EditTool", {"file_path": str(it), "old_string": "two", "new_string": "TWO"}) for it in (a, b, c))
    )

    assert bench.states == ["accepted", "superseded", "accepted"]
    assert [result.failed for result in results] == [False, True, False]
    assert "the file is gone" in results[1].content
    assert [a.read_text(), c.read_text()] == [OLD.replace("two", "TWO")] * 2
    restored, kept = restored_and_kept(await take_back(bench.desk._undo_log, "t", bench.desk.applier))
    assert (sorted(restored), kept) == ([a, c], [])
    assert [a.read_text(), c.read_text()] == [OLD] * 2


AT_START = TextReplacement(Range(Position(0, 0), Position(0, 0)), "x")
CHANGES = [
    FileChange(
        uri="file:///a",
        version=None,
        operation="create",
        edits=(AT_START,),
    ),
    FileChange(uri="file:///a", version=None, operation="rename", new_uri="file:///b"),
    FileChange(uri="file:///a", version=None, operation="delete"),
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda it: it.operation)
@pytest.mark.parametrize(
    "abilities",
    [
        Abilities(),
        Abilities(apply_edit=True),
        Abilities(apply_edit=True, document_changes=True),
        Abilities(apply_edit=True, resource_operations=frozenset({"create", "rename", "delete"})),
    ],
)
def test_edit_11_what_a_client_cannot_do_is_not_asked_of_it(change, abilities):
    assert workspace_edit(change, abilities) is None


def test_edit_11_an_edit_needs_no_more_than_the_client_has():
    change = FileChange(
        uri="file:///a",
        version=4,
        operation="edit",
        edits=(TextReplacement(Range(Position(0, 0), Position(0, 1)), "x"),),
    )

    plain = workspace_edit(change, Abilities(apply_edit=True))
    assert list(plain.changes) == ["file:///a"]
    assert plain.document_changes is None
    versioned = workspace_edit(change, Abilities(apply_edit=True, document_changes=True))
    assert versioned.document_changes[0].text_document == types.OptionalVersionedTextDocumentIdentifier("file:///a", 4)
    assert workspace_edit(change, Abilities()) is None


# Decisions


async def test_edit_12_a_rejected_edit_leaves_nothing_behind(bench, a):
    await bench.read(a)
    bench.editor.decide = reject

    result = await bench.edit(a, "two", "TWO")

    assert result.failed
    assert "rejected (line 2): no" in result.content
    assert a.read_text() == OLD
    assert bench.editor.applied == []
    assert await bench.is_settled()


@pytest.mark.parametrize("how", ["the review stays open", "the editor goes away"])
async def test_edit_12_a_turn_that_ends_while_it_is_pending_decides_nothing(bench, a, how):
    await bench.read(a)
    bench.editor.decide = lambda hunk: None
    if how == "the editor goes away":
        bench.editor.review = lambda review: bench.editor.reviews.append(review) or asyncio.Event().wait()
    turn = asyncio.create_task(bench.edit(a, "two", "TWO"))
    await until(lambda: bench.editor.reviews)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn

    assert bench.states == ["pending"]
    assert a.read_text() == OLD
    await bench.desk.decide([accept(it) for it in bench.editor.reviews[0].files[0].hunks])
    assert a.read_text() == OLD.replace("two", "TWO")
    await until(lambda: not list(bench.desk.proposals))
    assert await bench.is_settled()


async def test_edit_12_what_could_not_be_called_back_is_told_however_often_the_turn_is_cancelled(bench, a):
    await bench.read(a)
    applying, may_go_on, apply = asyncio.Event(), asyncio.Event(), bench.editor.apply

    async def slowly(change):
        applying.set()
        await may_go_on.wait()
        return await apply(change)

    bench.editor.apply = slowly
    edit = ToolCall("1", "EditTool", {"file_path": str(a), "old_string": "two", "new_string": "TWO"})
    results = {}
    turn = asyncio.create_task(bench.executor.run(Message("assistant", (edit,)), results))
    await applying.wait()
    for _ in range(3):
        turn.cancel()
        await asyncio.wait([turn], timeout=0.01)
    may_go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await turn

    assert bench.states == ["accepted"]
    assert a.read_text() == OLD.replace("two", "TWO")
    assert results["1"].content.startswith("canceled by the user")
    assert "a.txt: accepted (line 2)." in results["1"].content
    assert await bench.is_settled()


async def test_edit_13_a_late_a_double_and_a_strange_answer_decide_nothing(bench, a):
    await bench.read(a)
    bench.editor.decide = lambda hunk: None
    first = asyncio.create_task(bench.edit(a, "two", "TWO"))
    await until(lambda: bench.editor.reviews)
    [old] = bench.editor.reviews[0].files[0].hunks
    assert await bench.desk.decide([Decision(hunk_id="unknown", decision="accept")]) == []
    assert len(await bench.desk.decide([reject(old), accept(old)])) == 1
    await first
    second = asyncio.create_task(bench.edit(a, "two", "2"))
    await until(lambda: len(bench.editor.reviews) == 2)
    [new] = bench.editor.reviews[1].files[0].hunks

    assert await bench.desk.decide([accept(old)]) == []
    assert new.id != old.id
    assert a.read_text() == OLD
    await bench.desk.decide([reject(new)])
    await second
    assert bench.states == ["rejected", "rejected"]


async def test_edit_13_an_answer_to_one_review_decides_nothing_in_another(bench, a):
    """A tab that was left open says yes to what it does not show."""
    b = bench.write("b.txt", OLD)
    answers: list[asyncio.Future] = []

    async def review(shown):
        bench.editor.reviews.append(shown)
        answers.append(asyncio.get_running_loop().create_future())
        return await answers[-1]

    bench.editor.review = review
    drafts = [Draft(bench.desk, TurnReview(name, lambda event: None), Shown()) for name in ("one", "two")]
    turns = []
    for draft, path in zip(drafts, (a, b), strict=True):
        draft._add(edit_of(path, OLD, OLD.replace("two", "TWO"), Wish("call", "because")))
        turns.append(asyncio.create_task(draft.review()))
        await until(lambda: len(answers) == len(turns))
    [mine], [other] = (review.files[0].hunks for review in bench.editor.reviews)

    answers[0].set_result(type("Answer", (), {"decisions": (reject(mine), accept(other)), "rest_of_turn": None}))
    await turns[0]

    assert [it.state for it in bench.desk.proposals.select()] == ["pending"]
    assert b.read_text() == OLD
    answers[1].set_result(type("Answer", (), {"decisions": (reject(other),), "rest_of_turn": None}))
    await turns[1]


async def test_edit_14_the_model_is_told_what_the_user_made_of_it(bench, a):
    await bench.read(a)
    bench.editor.decide = lambda hunk: Decision(hunk_id=hunk.id, decision="modify", text="zwei")

    result = await bench.edit(a, "two", "TWO")

    assert "modified (line 2): the user changed it to:\nzwei" in result.content
    assert "TWO" not in result.content
    assert a.read_text() == OLD.replace("two", "zwei")
    assert not (await bench.edit(a, "zwei", "2")).failed


# Edits that meet


@pytest.mark.parametrize(
    ("edits", "text"),
    [
        ([("two\nthree", "A\nX"), ("X\nfour", "B")], None),
        ([("two", "TWO"), ("two", "TWO")], None),
        ([("two", "TWO"), ("TWO", "2")], OLD.replace("two", "2")),
        ([("nine", "NINE"), ("one", "ONE")], OLD.replace("nine", "NINE").replace("one", "ONE")),
    ],
    ids=["overlapping", "twice", "one on the other", "out of order"],
)
async def test_edit_15_edits_that_meet_are_refused_or_made_in_order_and_never_twice(bench, a, edits, text):
    await bench.read(a)

    result = await bench.use(
        "MultiEditTool", file_path=a, edits=[{"old_string": old, "new_string": new} for old, new in edits]
    )

    assert result.failed is (text is None)
    assert a.read_text() == (text or OLD)


async def test_edit_15_two_calls_at_one_place_are_one_hunk(bench, a):
    await bench.read(a)

    await bench.step(
        ("EditTool", {"file_path": str(a), "old_string": "two\n", "new_string": "two\nA\n"}),
        ("EditTool", {"file_path": str(a), "old_string": "two\n", "new_string": "two\nB\n"}),
    )

    assert a.read_text() == OLD.replace("two\n", "two\nB\nA\n")
    assert [len(file.hunks) for file in bench.editor.reviews[0].files] == [1]


async def test_edit_15_a_terminal_refuses_ranges_that_overlap(bench, a):
    def span(start, end):
        return TextReplacement(Range(Position(0, start), Position(0, end)), "x")

    change = FileChange(uri=a.as_uri(), version=None, operation="edit", edits=(span(0, 2), span(1, 3)))

    assert "overlap" in await TerminalEditor("yes").apply(change)
    assert a.read_text() == OLD


async def test_edit_16_of_two_agents_in_one_file_the_second_stands_back(bench, a):
    """The same line in two conversations; what is elsewhere in the file is not disturbed by it."""
    bench.open(a)
    bench.editor.decide = lambda hunk: None
    drafts = [Draft(bench.desk, TurnReview(name, lambda event: None), Shown()) for name in ("one", "two")]
    drafts[0]._add(edit_of(a, OLD, OLD.replace("two", "TWO and a half"), Wish("1", "first")))
    drafts[1]._add(edit_of(a, OLD, OLD.replace("two", "2").replace("eight", "8"), Wish("2", "second")))
    turns = [asyncio.create_task(draft.review()) for draft in drafts]
    await until(lambda: len(bench.editor.reviews) == 2)
    hunks = [[hunk for file in review.files for hunk in file.hunks] for review in bench.editor.reviews]

    await bench.desk.decide([accept(hunk) for hunk in hunks[0]])
    await turns[0]
    await bench.desk.decide([accept(hunk) for hunk in hunks[1]])
    [told] = await turns[1]

    assert [it.state for it in told.receipts] == ["superseded", "accepted"]
    assert bench.text(a) == OLD.replace("two", "TWO and a half").replace("eight", "8")


async def test_edit_17_after_an_undo_in_the_editor_the_text_is_read_again(bench, a):
    bench.open(a)
    await bench.read(a)
    await bench.edit(a, "two", "a\nb")
    bench.files.buffers.change(a.as_uri(), 3, [text.Change("two\n", text.Position(1, 0), text.Position(3, 0))])
    assert bench.text(a) == OLD

    result = await bench.edit(a, "two", "TWO")

    assert result.failed
    assert "You have not seen lines" in result.content
    await bench.read(a)
    assert not (await bench.edit(a, "two", "TWO")).failed


async def test_edit_17_what_was_typed_while_an_edit_landed_is_not_taken_back_with_it(bench, a):
    bench.open(a)
    await bench.read(a)
    carry_out = bench.editor.apply

    async def apply(change):
        await carry_out(change)
        bench.type(a, "typed ", 7)

    bench.editor.apply = apply
    assert not (await bench.edit(a, "two", "TWO")).failed
    bench.editor.apply = carry_out

    assert restored_and_kept(await take_back(bench.desk._undo_log, "t", bench.desk.applier)) == ([a], [])

    assert bench.text(a) == OLD.replace("eight", "typed eight")


# Files and folders


async def test_edit_18_a_folder_that_is_not_empty_goes_only_if_that_is_said_and_shown(bench):
    bench.write("folder/inner.txt", "x\n")
    folder = bench.root / "folder"

    assert "not empty; set recursive" in (await bench.use("DeleteFile", file_path=folder)).content
    assert bench.editor.reviews == []
    bench.editor.decide = reject
    await bench.use("DeleteFile", file_path=folder, recursive=True)
    assert "a folder, with everything in it" in bench.notes[0]
    assert bench.editor.reviews[0].files[0].operation == "delete"
    assert (folder / "inner.txt").exists()
    bench.editor.decide = accept
    assert not (await bench.use("DeleteFile", file_path=folder, recursive=True)).failed
    assert not folder.exists()


@pytest.mark.parametrize("target", ["b.txt", "folder", "folder/inner.txt"])
async def test_edit_18_nothing_is_moved_over_what_exists(bench, a, target):
    bench.write("b.txt", "b\n")
    bench.write("folder/inner.txt", "x\n")

    result = await bench.use("MoveFile", file_path=a, new_path=bench.root / target)

    assert "exists already" in result.content
    assert bench.editor.reviews == []
    assert a.read_text() == OLD


async def test_edit_18_nothing_is_moved_over_what_comes_into_being(bench, a):
    bench.editor.meanwhile = lambda: bench.write("b.txt", "b\n")

    assert (await bench.use("MoveFile", file_path=a, new_path=bench.root / "b.txt")).failed
    assert a.read_text() == OLD
    assert (bench.root / "b.txt").read_text() == "b\n"


async def test_edit_18_each_operation_is_asked_about(bench, a):
    bench.editor.decide = reject
    folder = bench.root / "folder"
    folder.mkdir()
    for tool, arguments in (
        ("MoveFile", {"file_path": a, "new_path": bench.root / "b.txt"}),
        ("MoveFile", {"file_path": folder, "new_path": bench.root / "other"}),
        ("DeleteFile", {"file_path": a}),
        ("DeleteFile", {"file_path": folder}),
        ("WriteFile", {"file_path": bench.root / "new" / "file.txt", "content": "x"}),
    ):
        assert (await bench.use(tool, **arguments)).failed

    assert [review.files[0].operation for review in bench.editor.reviews] == [
        "rename",
        "rename",
        "delete",
        "delete",
        "create",
    ]
    assert sorted(it.name for it in bench.root.iterdir()) == ["a.txt", "folder"]


async def test_edit_18_what_follows_on_a_deletion_is_not_mistaken_for_it(bench, a):
    """An edit of a file whose deletion is proposed in the same step is a second thing to decide on."""
    await bench.read(a)

    deleted, edited = await bench.step(
        ("DeleteFile", {"file_path": str(a)}),
        ("EditTool", {"file_path": str(a), "old_string": "two", "new_string": "TWO"}),
    )

    assert not deleted.failed
    assert edited.failed
    assert [review.files[0].operation for review in bench.editor.reviews] == ["delete"]
    assert not a.exists()


@pytest.mark.parametrize("moved", [False, True])
async def test_edit_18_a_turn_with_operations_is_taken_back_step_by_step(bench, a, moved):
    await bench.read(a)
    await bench.edit(a, "two", "TWO")
    if moved:
        await bench.use("MoveFile", file_path=a, new_path=bench.root / "b.txt")
    else:
        await bench.use("DeleteFile", file_path=a)
    assert not a.exists()

    _, kept = restored_and_kept(await take_back(bench.desk._undo_log, "t", bench.desk.applier))

    assert kept == []
    assert {path.name: path.read_text() for path in bench.root.iterdir()} == {"a.txt": OLD}


# Nothing, and too much


@pytest.mark.parametrize("policy", ["each", "end", "auto"])
async def test_edit_21_an_edit_that_changes_nothing_is_shown_to_nobody(tmp_path, policy):
    bench = Bench(tmp_path, policy=policy)
    a = bench.write("a.txt", OLD)
    await bench.read(a)

    same = await bench.use("WriteFile", file_path=a, content=OLD)
    equal = await bench.edit(a, "two", "two")
    back = await bench.use(
        "MultiEditTool",
        file_path=a,
        edits=[{"old_string": "two", "new_string": "2"}, {"old_string": "2", "new_string": "two"}],
    )

    assert "Nothing to change" in same.content
    assert "nothing would change" in equal.content
    assert "Nothing to change" in back.content
    assert bench.editor.reviews == []
    assert bench.events_of("reviewOpened") == []
    assert await bench.is_settled()


async def test_edit_22_a_review_of_very_many_hunks_says_so_and_is_complete(bench):
    path = bench.write("many.txt", "".join(f"line {number}\nsame\n" for number in range(600)))
    await bench.read(path)

    await bench.edit(path, "line", "LINE", replace_all=True)

    assert "a long review: 600 hunks" in bench.notes[0]
    assert len(bench.editor.reviews[0].files[0].hunks) == 600
    assert path.read_text() == "".join(f"LINE {number}\nsame\n" for number in range(600))


async def test_edit_22_a_review_of_very_much_text_says_so_and_is_complete(bench):
    text = "x" * 1023 + "\n"
    path = bench.root / "long.txt"

    await bench.use("WriteFile", file_path=path, content=text * 1100)

    assert "a long review: 1,126,400 characters" in bench.notes[0]
    assert bench.editor.reviews[0].files[0].hunks[0].new_text == text * 1100
    assert path.read_text() == text * 1100
