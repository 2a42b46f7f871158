"""Proposals in front of editors that lie in every way that real ones do: the receipts are right every time."""

import asyncio
import errno

import pytest

from odin_lsp.config import ReviewSettings, Timeouts
from odin_lsp.errors import FileMissing, ToolError
from odin_lsp.events import Notice, ReviewChanged, ReviewClosed, ReviewOpened
from odin_lsp.ports import UNASKED, Decision, ReviewAnswer
from odin_lsp.review.applying import FAILED
from odin_lsp.review.desk import NOT_APPLIED, NOT_SHOWN, TYPED_SINCE, ReviewDesk
from odin_lsp.review.journal import ReviewJournal
from odin_lsp.review.proposals import OVERTAKEN, Proposal, Wish, edit_of, operation_of
from odin_lsp.review.turn_review import TurnReview
from odin_lsp.review.undo import take_back
from odin_lsp.review.undo_log import UndoLog
from odin_lsp.terminal.editor import TerminalEditor
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.text import Change, Position
from tests.support.closing import at_the_end
from tests.support.reviewing import restored_and_kept

OLD = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"
WISH = Wish("call", "because")
NEW = OLD.replace("two", "TWO").replace("five", "FIVE").replace("eight", "EIGHT")


class FakeEditor:
    """Shows reviews as told, applies edits to its own document, and tells the server of it as told."""

    def __init__(self, files, path) -> None:
        self.files = files
        self.path = path
        self.answers = lambda review: ReviewAnswer()
        self.lie = "honest"
        self.reviews = []
        self.closed = []
        self.applied = []
        self.version = 1
        self.may_go_on = asyncio.Event()

    def open(self, text=OLD):
        self.files.buffers.open(self.path.as_uri(), 1, text)

    def type(self, text, line, start=0, end=0):
        self.version += 1
        change = Change(text, Position(line, start), Position(line, end))
        self.files.buffers.change(self.path.as_uri(), self.version, [change])

    async def review(self, review):
        self.reviews.append(review)
        answer = self.answers(review)
        return await answer if asyncio.iscoroutine(answer) else answer

    async def close_review(self, proposal_id):
        self.closed.append(proposal_id)

    async def save(self, uris):
        pass

    async def apply(self, change):
        self.applied.append(change)
        edits = list(change.edits)
        match self.lie:
            case "says yes and does nothing":
                return None
            case "says no and does nothing":
                return "stale version"
            case "applies the first only":
                edits = edits[:1]
            case "says no but applies":
                self._apply(edits)
                return "I do not think so"
            case "tells later":
                asyncio.get_running_loop().call_later(0.05, self._apply, edits)
                return None
            case "garbles":
                self.type("??", 1)
                return None
            case "user types elsewhere meanwhile":
                self._apply(edits)
                self.type("typed ", 8)
                return None
            case "crashes":
                return "the connection is gone"
            case "fails":
                raise OSError("the pipe is broken")
            case "takes its time":
                await self.may_go_on.wait()
        self._apply(edits)
        return None

    def _apply(self, edits):
        self.version += 1
        changes = [
            Change(
                it.new_text,
                Position(it.range.start.line, it.range.start.character),
                Position(it.range.end.line, it.range.end.character),
            )
            for it in sorted(edits, key=lambda it: (it.range.start.line, it.range.start.character), reverse=True)
        ]
        self.files.buffers.change(self.path.as_uri(), self.version, changes)

    @property
    def text(self):
        return self.files.buffers.of_path(self.path).text


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(OLD)
    return path


@pytest.fixture
def settings():
    settings = {"policy": ReviewSettings(), "timeouts": Timeouts(client=0.3), "protection": ""}
    settings["caution"] = lambda: (settings["protection"], bool(settings["protection"]))
    return settings


@pytest.fixture
def editor(path, tmp_path):
    editor = FakeEditor(Files([tmp_path], Buffers(), FileCache()), path)
    editor.open()
    return editor


@pytest.fixture
def desk(editor, settings, undo_folder):
    desk = ReviewDesk(
        editor.files,
        editor,
        lambda: (settings["policy"], settings["timeouts"]),
        lambda *_: settings["caution"](),
        UndoLog(lambda: undo_folder, lambda: settings["policy"]),
        ReviewJournal(lambda: undo_folder / "reviews"),
    )
    at_the_end(desk.close)
    return desk


@pytest.fixture
def undo_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("undo")


@pytest.fixture
def events():
    return []


@pytest.fixture
def turn(events):
    return TurnReview("t", events.append)


@pytest.fixture
def submit(desk, turn, path):
    async def submit(new=NEW):
        proposal = Proposal("t", [edit_of(path, OLD, new, WISH)], "because")
        await desk.submit(proposal, turn)
        return [(it.state, it.text or it.reason) for it in proposal.hunks]

    return submit


def hunks(review):
    return [hunk for file in review.files for hunk in file.hunks]


def accept_all(review):
    return ReviewAnswer(decisions=tuple(Decision(hunk_id=it.id, decision="accept") for it in hunks(review)))


async def test_accepted_rejected_and_modified_hunks_are_what_they_say(editor, submit, turn):
    def decide(review):
        one, two, three = hunks(review)
        return ReviewAnswer(
            decisions=(
                Decision(hunk_id=one.id, decision="accept"),
                Decision(hunk_id=two.id, decision="reject", reason="leave it"),
                Decision(hunk_id=three.id, decision="modify", text="Eight"),
            )
        )

    editor.answers = decide

    assert await submit() == [("accepted", None), ("rejected", "leave it"), ("modified", "Eight")]
    assert [it.cause for it in turn.receipts] == [None, "person", "person"]
    assert editor.text == OLD.replace("two", "TWO").replace("eight", "Eight")
    assert len(editor.applied) == 1
    assert editor.applied[0].version == 1


NOT_SEEN = "the edit cannot be seen in the document"


@pytest.mark.parametrize(
    ("lie", "receipts"),
    [
        ("honest", [("accepted", None)] * 3),
        ("tells later", [("accepted", None)] * 3),
        ("says no but applies", [("accepted", None)] * 3),
        ("user types elsewhere meanwhile", [("accepted", None)] * 3),
        ("says yes and does nothing", [("superseded", NOT_SEEN)] * 3),
        ("says no and does nothing", [("superseded", f"{NOT_SEEN} (stale version)")] * 3),
        ("crashes", [("superseded", f"{NOT_SEEN} (the connection is gone)")] * 3),
        ("applies the first only", [("accepted", None), ("superseded", NOT_SEEN), ("superseded", NOT_SEEN)]),
        ("garbles", [("superseded", NOT_SEEN)] * 3),
    ],
)
async def test_what_an_editor_answers_is_not_believed(editor, submit, turn, lie, receipts):
    editor.answers, editor.lie = accept_all, lie

    assert await submit() == receipts
    assert [it.cause for it in turn.receipts] == [
        "not_applied" if state == "superseded" else None for state, _ in receipts
    ]


async def test_typing_while_it_is_pending_moves_hunks_and_ends_those_typed_into(editor, desk, submit, turn, events):
    shown = asyncio.Event()

    async def wait(review):
        shown.set()
        await asyncio.Event().wait()

    editor.answers = wait
    task = asyncio.create_task(submit())
    await shown.wait()
    editor.type("zero\n", 0)
    editor.type("x", 5, 1, 2)
    await desk.decide([Decision(hunk_id=it.id, decision="accept") for it in hunks(editor.reviews[0])])

    assert await task == [("accepted", None), ("superseded", "the user typed there meanwhile"), ("accepted", None)]
    assert [it.cause for it in turn.receipts] == [None, "typed", None]
    assert editor.text == "zero\n" + OLD.replace("two", "TWO").replace("five", "fxve").replace("eight", "EIGHT")
    moved = next(event for event in events if isinstance(event, ReviewChanged))
    assert moved.hunks[0].range.start.line == 2
    assert moved.versions == {editor.reviews[0].files[0].uri: 2}
    assert editor.closed == [editor.reviews[0].proposal_id]


@pytest.mark.parametrize("old", [OLD, OLD.replace("\n", "\r\n"), OLD.replace("\n", "\r"), "é😀 " + OLD])
async def test_who_hears_of_what_has_changed_knows_all_hunks_as_they_are(editor, desk, turn, events, path, old):
    editor.open(old)
    editor.answers = lambda review: None
    proposal = Proposal("t", [edit_of(path, old, old.replace("e", "EE").replace("six", "6"), WISH)])
    task = asyncio.create_task(desk.submit(proposal, turn))
    await until(lambda: editor.reviews)
    known = {it.id: it for it in hunks(editor.reviews[0])}
    typing = [("x", 3, 0, 0), ("\n", 0, 2, 2), ("", 2, 0, 1), ("\r", 4, 1, 1), ("\n", 5, 0, 0), ("one\ntwo", 1, 0, 2)]

    for typed in typing:
        editor.type(*typed)
        known |= {it.id: it for it in events[-1].hunks}
        assert list(known.values()) == hunks(desk.shown(proposal))

    await desk.decide([Decision(hunk_id=hunk_id, decision="reject") for hunk_id in known])
    known |= {it.id: it for it in events[-1].hunks}
    assert list(known.values()) == hunks(desk.shown(proposal))
    await task


async def test_only_hunks_that_are_elsewhere_or_decided_are_told_of_again(editor, desk, submit, events):
    editor.answers = lambda review: None
    task = asyncio.create_task(submit())
    await until(lambda: editor.reviews)
    one, two, three = hunks(editor.reviews[0])

    editor.type("x", 4, 0)
    assert [it.id for it in events[-1].hunks] == [two.id]
    editor.type("\n", 3, 0)
    assert [it.id for it in events[-1].hunks] == [two.id, three.id]
    await desk.decide([Decision(hunk_id=one.id, decision="accept")])
    assert [it.id for it in events[-1].hunks] == [one.id]

    await desk.decide([Decision(hunk_id=it.id, decision="reject") for it in (two, three)])
    await task


async def test_no_answer_is_decided_later_by_commands_and_each_hunk_once(editor, desk, submit):
    editor.answers = lambda review: None
    task = asyncio.create_task(submit())
    await until(lambda: editor.reviews)
    one, two, three = hunks(editor.reviews[0])

    assert [it.state for it in await desk.decide([Decision(hunk_id=one.id, decision="accept")])] == ["accepted"]
    late = [Decision(hunk_id=one.id, decision="reject"), Decision(hunk_id="unknown", decision="accept")]
    assert await desk.decide(late) == []
    await desk.decide([Decision(hunk_id=it.id, decision="reject") for it in (two, three)])

    assert [state for state, _ in await task] == ["accepted", "rejected", "rejected"]
    assert await desk.decide([Decision(hunk_id=two.id, decision="accept")]) == []
    assert editor.text == OLD.replace("two", "TWO")


async def test_what_cannot_be_shown_is_not_open_and_the_next_one_is(editor, desk, submit, settings, undo_folder):
    def broken():
        raise OSError(errno.EIO, "broken")

    works, settings["caution"] = settings["caution"], broken
    with pytest.raises(OSError, match="broken"):
        await submit()
    assert (list(desk.proposals), desk.is_waiting("t")) == ([], False)
    assert list((undo_folder / "reviews").iterdir()) == []

    settings["caution"], editor.answers = works, accept_all
    assert {state for state, _ in await submit()} == {"accepted"}


async def test_silence_is_a_no_when_there_is_a_limit(editor, submit, turn, settings):
    settings["timeouts"] = Timeouts(client=0.3, person=0.05)
    editor.answers = lambda review: asyncio.sleep(60)

    assert await submit() == [("rejected", "nobody decided in time")] * 3
    assert [it.cause for it in turn.receipts] == ["late"] * 3
    assert editor.text == OLD


@pytest.fixture
async def waiting(editor, submit):
    """A review that somebody looks at: the turn that waits for it, and its hunks."""
    editor.answers = lambda review: None
    task = asyncio.create_task(submit())
    await until(lambda: editor.reviews)
    yield task, hunks(editor.reviews[0])
    task.cancel()
    await asyncio.wait([task])


async def test_a_turn_is_known_to_wait_until_all_is_decided(desk, turn, waiting):
    task, hunks = waiting
    assert (turn.is_waiting, desk.is_waiting("t")) == (True, True)

    await desk.decide(accepted(*hunks))
    await task

    assert (turn.is_waiting, desk.is_waiting("t")) == (False, False)


def accepted(*those):
    return [Decision(hunk_id=it.id, decision="accept") for it in those]


def rejected(*those):
    return [Decision(hunk_id=it.id, decision="reject") for it in those]


def told(events):
    """The hunks as the client knows them."""
    known = {}
    for event in events:
        match event:
            case ReviewOpened(review):
                known |= {it.id: it for it in hunks(review)}
            case ReviewChanged(_, changed):
                known |= {it.id: it for it in changed}
    return list(known.values())


async def test_what_is_accepted_is_in_the_document_while_the_rest_still_waits(editor, desk, waiting, events):
    _, (one, two, three) = waiting

    receipts = await desk.decide(accepted(two))

    assert [it.state for it in receipts] == ["accepted"]
    assert editor.text == OLD.replace("five", "FIVE")
    assert [it.state for it in told(events)] == ["pending", "accepted", "pending"]
    await desk.decide(accepted(one))
    assert editor.text == OLD.replace("two", "TWO").replace("five", "FIVE")
    await desk.decide(rejected(three))


async def test_decisions_that_come_together_are_one_edit(editor, desk, waiting):
    _, (one, _, three) = waiting
    await desk.decide(accepted(one, three))
    assert [len(change.edits) for change in editor.applied] == [2]
    assert editor.text == OLD.replace("two", "TWO").replace("eight", "EIGHT")


async def test_the_others_move_along_with_what_was_accepted(editor, desk, turn, path, events):
    editor.answers = lambda review: None
    new = OLD.replace("two\n", "").replace("five", "5\n5").replace("eight", "EIGHT")
    task = asyncio.create_task(desk.submit(Proposal("t", [edit_of(path, OLD, new, WISH)]), turn))
    await until(lambda: editor.reviews)
    for it in hunks(editor.reviews[0]):
        await desk.decide(accepted(it))
    await task

    assert editor.text == new
    assert [it.range.start.line for it in told(events)] == [1, 3, 7]


async def test_decisions_can_be_taken_back_while_the_review_is_open(editor, desk, waiting, events):
    _, (one, two, three) = waiting
    await desk.decide([*accepted(one), *rejected(two)])

    receipts = await desk.reopen(desk.proposals.select(hunk_ids=[one.id, two.id]))

    assert [it.state for it in receipts] == ["pending", "pending"]
    assert [it.state for it in told(events)] == ["pending"] * 3
    assert editor.text == OLD
    await desk.decide(accepted(one, two, three))
    assert editor.text == NEW


async def test_what_is_taken_back_while_somebody_types_comes_back_where_it_was(editor, desk, turn, path):
    old = "x\nd\nx\nx\n"
    editor.open(old)
    editor.answers = lambda review: None
    task = asyncio.create_task(desk.submit(Proposal("t", [edit_of(path, old, "x\nx\ny\n", WISH)]), turn))
    await until(lambda: editor.reviews)
    one, two = hunks(editor.reviews[0])
    await desk.decide(accepted(one))
    taking_back = asyncio.create_task(desk.reopen(desk.proposals.select(hunk_ids=[one.id])))
    await asyncio.sleep(0)
    editor.type("x\n", 0)

    assert [it.state for it in await taking_back] == ["pending"]
    assert editor.text == f"x\n{old}"
    await desk.decide(rejected(one, two))
    await task
    assert desk.drafts == []


async def test_a_review_stays_open_while_something_is_taken_back(editor, desk, waiting, events):
    task, (one, two, three) = waiting
    await desk.decide([*accepted(one), *rejected(two)])
    editor.lie = "takes its time"
    taking_back = asyncio.create_task(desk.reopen(desk.proposals.select(hunk_ids=[one.id])))
    await until(lambda: len(editor.applied) == 2)
    await desk.decide(rejected(three))
    await asyncio.sleep(0.01)
    assert not any(isinstance(event, ReviewClosed) for event in events)

    editor.may_go_on.set()
    assert [it.state for it in await taking_back] == ["pending"]
    assert editor.text == OLD
    await desk.decide(rejected(one))
    await task
    assert [it.state for it in events[-1].receipts] == ["rejected"] * 3


async def test_what_waits_again_while_the_editor_closes_the_review_is_still_to_be_decided(editor, desk, submit, events):
    closing = asyncio.Event()

    async def close_review(proposal_id):
        closing.set()
        await editor.may_go_on.wait()

    editor.close_review, editor.answers = close_review, lambda review: asyncio.Event().wait()
    task = asyncio.create_task(submit())
    await until(lambda: editor.reviews)
    one, two, three = hunks(editor.reviews[0])
    await desk.decide(accepted(one, two, three))
    await closing.wait()

    editor.type("two", 1, 0, 3)
    await desk.reopen(desk.proposals.select(hunk_ids=[two.id]))
    editor.may_go_on.set()
    await desk.decide(rejected(one))
    assert not any(isinstance(event, ReviewClosed) for event in events)
    await desk.decide(accepted(two))
    assert await task == [("rejected", None), ("accepted", None), ("accepted", None)]
    assert editor.text == NEW.replace("TWO", "two")


async def test_what_is_typed_into_right_after_it_was_taken_back_does_not_wait(editor, desk, waiting, events):
    _, (one, *_) = waiting
    await desk.decide(accepted(one))
    apply = editor.apply

    async def apply_and_type(change):
        await apply(change)
        editor.type("x", 1, 1, 2)

    editor.apply = apply_and_type
    [receipt] = await desk.reopen(desk.proposals.select(hunk_ids=[one.id]))

    assert (receipt.state, receipt.reason) == ("superseded", TYPED_SINCE)
    assert [it.state for it in told(events)] == ["superseded", "pending", "pending"]
    assert editor.text == OLD.replace("two", "txo")


async def test_who_wanted_there_what_was_there_can_take_that_back(editor, desk, waiting):
    _, (one, *_) = waiting
    await desk.decide([Decision(hunk_id=one.id, decision="modify", text="two")])

    [receipt] = await desk.reopen(desk.proposals.select(hunk_ids=[one.id]))

    assert receipt.state == "pending"
    await desk.decide(accepted(one))
    assert editor.text == OLD.replace("two", "TWO")


async def test_of_several_that_are_taken_back_the_editor_is_told_only_of_those_that_made_a_difference(
    editor, desk, waiting
):
    _, (one, two, _) = waiting
    await desk.decide([Decision(hunk_id=one.id, decision="modify", text="two"), *accepted(two)])

    receipts = await desk.reopen(desk.proposals.select(hunk_ids=[one.id, two.id]))

    assert [it.state for it in receipts] == ["pending", "pending"]
    assert [it.new_text for it in editor.applied[-1].edits] == ["five"]


async def test_what_was_typed_into_since_stays_as_it_is(editor, desk, waiting, turn):
    task, (one, two, three) = waiting
    await desk.decide([*accepted(one), *rejected(two)])
    editor.type("o!", 1, 2, 3)
    editor.type("x", 4, 1, 2)

    receipts = await desk.reopen(desk.proposals.select())

    assert [(it.state, it.text, it.reason) for it in receipts] == [
        ("modified", "TWo!", TYPED_SINCE),
        ("rejected", None, TYPED_SINCE),
    ]
    await desk.decide(rejected(three))
    await task
    assert [(it.state, it.text) for it in turn.receipts] == [
        ("modified", "TWo!"),
        ("rejected", None),
        ("rejected", None),
    ]
    assert editor.text == OLD.replace("two", "TWo!").replace("five", "fxve")


async def test_what_the_editor_undoes_waits_again_and_what_it_does_again_is_accepted(editor, desk, waiting, events):
    _, (one, two, _) = waiting
    await desk.decide(accepted(one, two))
    editor.type("five", 4, 0, 4)
    assert [it.state for it in told(events)] == ["accepted", "pending", "pending"]
    editor.type("two", 1, 0, 3)
    assert [it.state for it in told(events)] == ["pending"] * 3

    editor.type("TWO", 1, 0, 3)

    assert [it.state for it in told(events)] == ["accepted", "pending", "pending"]
    await desk.decide(accepted(two))
    assert editor.text == OLD.replace("two", "TWO").replace("five", "FIVE")


async def test_what_was_taken_out_waits_again_once_the_editor_has_undone_it(editor, desk, turn, path, events):
    editor.answers = lambda review: None
    new = OLD.replace("two\n", "").replace("five", "FIVE")
    task = asyncio.create_task(desk.submit(Proposal("t", [edit_of(path, OLD, new, WISH)]), turn))
    await until(lambda: editor.reviews)
    one, two = hunks(editor.reviews[0])
    await desk.decide(accepted(one))

    editor.type("two\n", 1)

    assert [(it.state, it.range.start.line) for it in told(events)] == [("pending", 1), ("pending", 4)]
    await desk.decide(accepted(one, two))
    await task
    assert editor.text == new


async def test_line_ends_that_a_change_has_joined_come_apart_again(editor, desk, turn, path):
    old, new = "one\rtwo\nthree\nfour\n", "one\r2\nthree\nFOUR\n"
    editor.open(old)
    editor.answers = lambda review: None
    task = asyncio.create_task(desk.submit(Proposal("t", [edit_of(path, old, new, WISH)]), turn))
    await until(lambda: editor.reviews)
    one, two = hunks(editor.reviews[0])
    await desk.decide([Decision(hunk_id=one.id, decision="modify", text="")])
    assert editor.text == "one\r\nthree\nfour\n"

    [receipt] = await desk.reopen(desk.proposals.select(hunk_ids=[one.id]))

    assert receipt.state == "pending"
    assert editor.text == old
    await desk.decide(accepted(one, two))
    await task
    assert editor.text == new


@pytest.mark.parametrize(("operation", "there"), [("create", False), ("delete", True), ("rename", True)])
async def test_files_that_were_made_moved_or_deleted_can_be_had_back(editor, desk, turn, tmp_path, operation, there):
    editor.files.buffers.close(editor.path.as_uri())
    editor.apply = TerminalEditor("yes").apply
    editor.answers = lambda review: None
    path, other = tmp_path / "b.txt", tmp_path / "c.txt"
    if there:
        path.write_text("b\n")
    file = operation_of(path, operation, "b\n", WISH, new_path=other if operation == "rename" else None)
    wanted = operation_of(tmp_path / "d.txt", "create", "d\n", WISH)
    task = asyncio.create_task(desk.submit(Proposal("t", [file, wanted]), turn))
    await until(lambda: editor.reviews)
    one, two = hunks(editor.reviews[0])

    await desk.decide(accepted(one))
    assert path.exists() != there
    [receipt] = await desk.reopen(desk.proposals.select(hunk_ids=[one.id]))

    assert receipt.state == "pending"
    assert path.exists() == there
    assert not there or path.read_text() == "b\n"
    assert not other.exists()
    await desk.decide([*accepted(one), *rejected(two)])
    await task
    assert path.exists() != there


async def test_a_cancelled_turn_decides_nothing(editor, desk, waiting, turn, events):
    task, (one, two, three) = waiting
    late = []
    turn.decided_late = late.append
    await desk.decide(accepted(one))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert editor.text == OLD.replace("two", "TWO")
    assert [it.state for it in turn.receipts] == ["accepted", "pending", "pending"]
    assert not any(isinstance(event, ReviewClosed) for event in events)
    await desk.decide([*accepted(two), *rejected(three)])
    await until(lambda: late)
    assert editor.text == OLD.replace("two", "TWO").replace("five", "FIVE")
    assert [it.state for it in late[0].hunks] == ["accepted", "accepted", "rejected"]
    assert isinstance(events[-1], ReviewClosed)
    assert list(desk.proposals) == []


async def test_what_waits_is_dropped_if_the_user_wants_it_so(editor, desk, waiting, turn):
    task, (one, *_) = waiting
    await desk.decide(accepted(one))
    turn.drops_rest = True
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    dropped = ("rejected", "the turn was canceled before it was decided")
    assert [(it.state, it.reason) for it in turn.receipts] == [("accepted", None), dropped, dropped]
    assert [it.cause for it in turn.receipts] == [None, "cancelled", "cancelled"]
    assert list(desk.proposals) == []


async def test_a_cancelled_turn_does_not_wait_for_an_editor_that_does_not_answer(
    editor, desk, waiting, turn, monkeypatch
):
    monkeypatch.setattr("odin_lsp.review.open_reviews.REST_SECONDS", 0.01)
    task, (one, two, three) = waiting
    late = []
    turn.decided_late = late.append
    editor.lie = "takes its time"
    deciding = asyncio.create_task(desk.decide([*accepted(one), *rejected(two, three)]))
    await until(lambda: editor.applied)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [it.state for it in turn.receipts] == ["pending", "rejected", "rejected"]

    editor.may_go_on.set()
    assert [it.state for it in await deciding] == ["accepted", "rejected", "rejected"]
    await until(lambda: late)
    assert [it.state for it in late[0].hunks] == ["accepted", "rejected", "rejected"]


async def test_what_waits_is_not_decided_by_the_end_of_odin(desk, waiting, events):
    await desk.close()
    assert [it.state for it in desk.proposals.select()] == ["pending"] * 3
    assert not any(isinstance(event, ReviewClosed) for event in events)


async def test_the_rest_of_the_turn_can_be_accepted_at_once(editor, submit):
    editor.answers = lambda review: ReviewAnswer(decisions=accept_all(review).decisions, rest_of_turn="accept")
    await submit(OLD.replace("two", "TWO"))

    proposal = await submit_again(submit, editor)

    assert proposal == [("accepted", None)]
    assert len(editor.reviews) == 1


async def test_what_is_left_to_the_rest_of_the_turn_is_not_asked_about_again_after_a_protected_file(
    editor, submit, settings
):
    editor.answers = lambda review: ReviewAnswer(decisions=accept_all(review).decisions, rest_of_turn="accept")
    await submit(OLD.replace("two", "TWO"))
    editor.answers = accept_all
    settings["protection"] = "changes Odin's own permissions"
    await submit_again(submit, editor)
    settings["protection"] = ""

    assert await submit_again(submit, editor) == [("accepted", None)]
    assert len(editor.reviews) == 2


async def test_an_answer_decides_on_what_was_asked_and_on_nothing_else(editor, desk, turn, path, tmp_path):
    other = tmp_path / "b.txt"
    other.write_text("one\n")
    waiting = Proposal("t", [edit_of(other, "one\n", "two\n", WISH)], "because")
    editor.answers = lambda review: None
    task = asyncio.create_task(desk.submit(waiting, turn))
    await until(lambda: editor.reviews)
    [foreign] = waiting.hunks
    editor.answers = lambda review: ReviewAnswer(
        decisions=(*accept_all(review).decisions, Decision(hunk_id=foreign.id, decision="accept"))
    )

    asked = Proposal("t", [edit_of(path, OLD, NEW, WISH)], "because")
    await desk.submit(asked, turn)

    assert [it.state for it in asked.hunks] == ["accepted"] * 3
    assert foreign.state == "pending"
    await desk.decide([Decision(hunk_id=foreign.id, decision="reject")])
    await task


async def test_a_review_that_the_editor_cannot_show_is_a_failure_and_no_ones_no(editor, submit, events, caplog):
    def fail(review):
        raise OSError("the pipe is broken")

    editor.answers = fail

    assert await submit() == [("superseded", NOT_SHOWN)] * 3
    assert editor.text == OLD
    assert [event for event in events if isinstance(event, Notice)] == [Notice("error", NOT_SHOWN)]
    assert [it.exc_info[0] for it in caplog.records] == [OSError]


async def test_an_editor_that_fails_after_all_was_decided_takes_nothing_back(editor, desk, submit, events):
    async def fail(review):
        await desk.decide(accept_all(review).decisions)
        raise OSError("the pipe is broken")

    editor.answers = fail

    assert await submit() == [("accepted", None)] * 3
    assert not any(isinstance(event, Notice) for event in events)


async def test_an_editor_that_fails_to_apply_is_a_failure(editor, submit, events, caplog):
    editor.answers, editor.lie = accept_all, "fails"
    why = f"{NOT_SEEN} ({FAILED})"

    assert await submit() == [("superseded", why)] * 3
    assert [event for event in events if isinstance(event, Notice)] == [Notice("error", f"a.txt: {why}")]
    assert [it.exc_info[0] for it in caplog.records] == [OSError]


async def test_what_an_internal_error_has_kept_from_the_editor_is_not_accepted(
    editor, submit, desk, events, monkeypatch
):
    def fail(file):
        raise ZeroDivisionError

    editor.answers = accept_all
    monkeypatch.setattr(desk.applier, "_plan", fail)

    assert await submit() == [("superseded", NOT_APPLIED)] * 3
    assert Notice("error", NOT_APPLIED) in events
    assert editor.text == OLD


@pytest.mark.parametrize("times", [1, 2, 3])
async def test_however_often_it_is_cancelled_a_receipt_says_what_the_document_has(editor, submit, turn, times):
    editor.answers, editor.lie = accept_all, "takes its time"
    task = asyncio.create_task(submit())
    await until(lambda: editor.applied)
    for _ in range(times):
        task.cancel()
        await asyncio.wait([task], timeout=0.01)
    editor.may_go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert [it.state for it in turn.receipts] == ["accepted"] * 3
    assert editor.text == NEW


async def test_what_the_person_ticks_in_a_preview_counts_after_a_cancel_too(editor, submit, turn):
    previewed, late = asyncio.Event(), []
    turn.decided_late = late.append

    async def preview(file):
        previewed.set()
        await editor.may_go_on.wait()
        editor.type("TWO", 1, 0, 3)

    editor.previews, editor.preview = lambda file: True, preview
    task = asyncio.create_task(submit(OLD.replace("two", "TWO")))
    await previewed.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [it.state for it in turn.receipts] == ["pending"]

    editor.may_go_on.set()
    await until(lambda: late)
    assert [it.state for it in late[0].hunks] == ["accepted"]


async def test_a_question_that_was_called_back_is_no_answer(editor, submit, settings):
    problems = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, problem: problems.append(problem))
    settings["timeouts"] = Timeouts(client=0.3, person=0.05)
    editor.answers = lambda review: asyncio.Event().wait()

    assert await submit() == [("rejected", "nobody decided in time")] * 3
    assert len(editor.closed) == 1
    assert problems == []


async def submit_again(submit, editor):
    editor.open(OLD)
    return await submit(OLD.replace("five", "FIVE"))


@pytest.mark.parametrize(("protection", "asked"), [("", 0), ("changes Odin's own permissions", 1)])
async def test_what_is_accepted_automatically_is_asked_all_the_same_for_protected_files(
    editor, submit, settings, protection, asked
):
    settings["policy"] = ReviewSettings(policy="auto")
    settings["protection"] = protection
    editor.answers = accept_all

    assert await submit() == [("accepted", None if asked else UNASKED)] * 3
    assert len(editor.reviews) == asked
    if asked:
        assert editor.reviews[0].files[0].note == protection


@pytest.mark.parametrize("lie", ["", "tells later"])
@pytest.mark.parametrize("proposed", [("TWO", "2"), ("a two", "b two"), ("a two", "2"), ("two a", "TWO")])
async def test_of_two_changes_of_the_same_word_that_are_decided_together_the_first_is_made(
    editor, desk, submit, events, lie, proposed
):
    editor.answers, editor.lie = lambda review: None, lie
    tasks = [asyncio.create_task(submit(OLD.replace("two", new))) for new in proposed]
    await until(lambda: len(editor.reviews) == 2)
    ids = [hunk.id for review in editor.reviews for hunk in hunks(review)]

    first, second = await desk.decide([Decision(hunk_id=it, decision="accept") for it in ids])
    assert editor.text == OLD.replace("two", proposed[0])
    assert (first.state, second.state) == ("accepted", "superseded")
    assert second.reason == OVERTAKEN
    assert [await it for it in tasks] == [[("accepted", None)], [("superseded", second.reason)]]
    told = [it for event in events if isinstance(event, ReviewChanged) for it in event.hunks]
    assert "superseded" in {it.state for it in told}


async def test_what_cannot_be_read_is_not_accepted_automatically(editor, submit, settings):
    settings["policy"] = ReviewSettings(policy="auto")
    answers, works = iter([None, OSError(errno.EIO, "broken")]), settings["caution"]

    def fails_once():
        if error := next(answers, None):
            raise error
        return works()

    settings["caution"], editor.answers = fails_once, accept_all

    assert await submit() == [("accepted", None)] * 3
    assert len(editor.reviews) == 1


async def test_events_tell_when_a_review_opens_and_closes(editor, submit, events):
    editor.answers = accept_all
    await submit()

    assert isinstance(events[0], ReviewOpened)
    assert isinstance(events[-1], ReviewClosed)
    assert [it.state for it in events[-1].receipts] == ["accepted"] * 3
    assert events[0].proposal.files[0].proposed_text == NEW


async def test_a_create_that_cannot_be_seen_is_not_accepted(editor, desk, turn, tmp_path):
    editor.answers = accept_all
    editor.lie = "says yes and does nothing"
    await desk.submit(Proposal("t", [operation_of(tmp_path / "new.txt", "create", "hi\n")]), turn)
    [receipt] = turn.receipts

    assert (receipt.state, receipt.reason) == ("superseded", NOT_SEEN)


async def test_a_turn_is_taken_back_as_a_whole_also_by_the_next_process(editor, submit, desk, undo_folder, path):
    editor.answers = accept_all
    await submit(OLD.replace("two", "TWO"))
    editor.files.buffers.close(path.as_uri())
    editor.open(editor_text := OLD.replace("two", "TWO"))

    assert editor.text == editor_text
    assert restored_and_kept(await take_back(UndoLog(lambda: undo_folder), None, desk.applier)) == ([path], [])
    assert editor.text == OLD
    assert restored_and_kept(await take_back(UndoLog(lambda: undo_folder), None, desk.applier)) == ([], [])


async def test_what_the_user_has_edited_since_is_not_taken_back(editor, submit, desk, path, undo_folder):
    editor.answers = accept_all
    await submit(OLD.replace("two", "TWO"))
    editor.type("more ", 4)

    assert restored_and_kept(await take_back(UndoLog(lambda: undo_folder), "t", desk.applier)) == ([path], [])
    assert "more " in editor.text
    assert "TWO" not in editor.text


async def test_several_edits_of_one_turn_are_one_step_back(editor, desk, turn, path, undo_folder):
    editor.answers = accept_all
    for old, new in (("two", "TWO"), ("five", "FIVE")):
        await desk.submit(Proposal("t", [edit_of(path, editor.text, editor.text.replace(old, new))]), turn)

    assert restored_and_kept(await take_back(UndoLog(lambda: undo_folder), "t", desk.applier)) == ([path], [])
    assert editor.text == OLD


async def test_what_was_undone_in_the_editor_and_accepted_again_is_taken_back_and_made_once(
    editor, desk, submit, path, undo_folder
):
    editor.answers = lambda review: None
    task = asyncio.create_task(submit(OLD.replace("two", "two!").replace("five", "five!").replace("nine", "nine!")))
    await until(lambda: editor.reviews)
    two, five, nine = hunks(editor.reviews[0])
    await desk.decide(accepted(two, five))
    editor.type("", 4, 4, 5)
    await desk.decide([*accepted(five), *rejected(nine)])
    await task
    editor.type("?", 4, 4, 4)
    log = UndoLog(lambda: undo_folder)

    undone = await take_back(log, "t", desk.applier)
    assert (restored_and_kept(undone), editor.text) == (([path], []), OLD.replace("five", "five?"))
    again = await take_back(log, undone.undo_id, desk.applier)
    assert restored_and_kept(again) == ([path], [])
    assert editor.text == OLD.replace("two", "two!").replace("five", "five?!")


async def test_a_review_says_what_could_not_be_taken_back(editor, submit, settings, undo_folder, desk, events):
    editor.answers = accept_all
    settings["policy"] = ReviewSettings(undoBytes=len(OLD) - 1)
    settings["protection"] = "careful"

    await submit()

    reason = "what it was is more than `review.undoBytes` allows"
    assert [it.note for it in editor.reviews[0].files] == [f"careful; this cannot be undone: {reason}"]
    assert Notice("warning", f"a.txt: this cannot be undone: {reason}") in events
    assert restored_and_kept(await take_back(UndoLog(lambda: undo_folder), None, desk.applier)) == (
        [],
        [(editor.path, reason)],
    )


@pytest.mark.parametrize(
    ("lie", "problem", "state"),
    [
        ("honest", ToolError("it cannot be read: Input/output error"), "accepted"),
        ("honest", FileMissing("it does not exist"), "superseded"),
        ("says no and does nothing", ToolError("it cannot be read: Input/output error"), "superseded"),
    ],
)
async def test_where_nobody_can_read_what_was_made_of_it_the_editor_is_believed(
    editor, submit, monkeypatch, lie, problem, state
):
    def unreadable(*_, **__):
        raise problem

    def accept_and_break(review):
        apply = editor.apply

        async def apply_and_break(change):
            said = await apply(change)
            monkeypatch.setattr(editor.files, "read", unreadable)
            return said

        monkeypatch.setattr(editor, "apply", apply_and_break)
        return accept_all(review)

    editor.lie = lie
    editor.answers = accept_and_break

    assert [it for it, _ in await submit()] == [state] * 3


async def until(condition) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0)
