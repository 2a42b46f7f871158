"""What waits for a decision outlives Odin, whenever it is ended: nothing that was decided is lost or made twice."""

import asyncio
import errno
import os
import random
import shutil
from pathlib import Path

import pytest

from odin_lsp import private_files
from odin_lsp.ports import Decision, Receipt
from odin_lsp.review import journal as journals
from odin_lsp.review import undo_log
from odin_lsp.review.journal import ReviewJournal
from odin_lsp.review.proposals import Proposal, Wish, edit_of, operation_of
from tests.support.reviewing import Bench
from tests.support.sampling import sampled

OLD = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"
NEW = OLD.replace("two", "TWO").replace("five", "FIVE").replace("eight", "EIGHT")
WISH = Wish("call", "because")


class Odin(Bench):
    """One that can be ended like a process, and another one that goes on after it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.folder = folder
        self.editor.decide = lambda hunk: None
        self.turn = self.context.draft.turn
        self.late: list[Proposal] = []
        self.turn.decided_late = self.late.append
        self.turn.session_id = "s"
        self.waiting: asyncio.Task[None] | None = None

    @property
    def journal(self) -> ReviewJournal:
        return self.desk.journal

    async def show(self, *files) -> Proposal:
        proposal = Proposal("t", list(files), "because")
        self.waiting = asyncio.create_task(self.desk.submit(proposal, self.turn))
        await self.until(lambda: self.editor.reviews)
        return proposal

    async def end(self) -> None:
        """Without a word to anybody."""
        self.journal.close()
        self.journal.note = lambda *_: None
        self.journal.end = lambda *_: None
        await self.desk.close()
        if self.waiting is not None:
            self.waiting.cancel()
            await asyncio.wait([self.waiting])

    async def restore(self) -> list[Proposal]:
        return [self.desk.restore(it, self.turn) for it in self.journal.waiting()]

    async def decide(self, kind, *hunks, **more) -> list[Receipt]:
        return await self.desk.decide([Decision(hunk_id=it.id, decision=kind, **more) for it in hunks])

    async def until(self, condition) -> None:
        async with asyncio.timeout(10):
            while not condition():
                await asyncio.sleep(0)


@pytest.fixture
async def odin(tmp_path):
    ended: list[Odin] = []

    async def odin() -> Odin:
        for before in ended:
            await before.end()
        ended[:] = [Odin(tmp_path)]
        return ended[0]

    yield odin
    for last in ended:
        await last.end()


async def test_what_waits_is_there_again_with_what_was_decided(odin):
    first = await odin()
    path = first.write("a.txt", OLD)
    one, two, three = (await first.show(edit_of(path, OLD, NEW, WISH))).hunks
    await first.decide("accept", one)
    await first.decide("reject", two, reason="no")

    second = await odin()
    [proposal] = await second.restore()

    assert [(it.id, it.state, it.reason) for it in proposal.hunks] == [
        (one.id, "accepted", None),
        (two.id, "rejected", "no"),
        (three.id, "pending", None),
    ]
    assert [it.wishes for it in proposal.hunks] == [(WISH,)] * 3
    assert (proposal.turn_id, proposal.reason) == ("t", "because")
    await second.decide("accept", three)
    await second.until(lambda: second.late)
    assert second.text(path) == OLD.replace("two", "TWO").replace("eight", "EIGHT")
    assert list((await odin()).journal.waiting()) == []


async def test_hunks_are_where_the_text_is_now(odin):
    first = await odin()
    path = first.write("a.txt", OLD)
    await first.show(edit_of(path, OLD, NEW, WISH))
    path.write_text("zero\n" + OLD.replace("five", "5").replace("nine\n", "nine\nten\n"))

    second = await odin()
    [proposal] = await second.restore()

    assert [it.state for it in proposal.hunks] == ["pending", "superseded", "pending"]
    await second.decide("accept", *proposal.hunks)
    assert path.read_text() == "zero\n" + NEW.replace("FIVE", "5").replace("nine\n", "nine\nten\n")


async def test_what_was_accepted_and_is_not_in_the_text_any_more_waits_again(odin):
    """The editor was closed without saving."""
    first = await odin()
    path = first.write("a.txt", OLD)
    first.open(path)
    one, *_ = (await first.show(edit_of(path, OLD, NEW, WISH))).hunks
    await first.decide("accept", one)

    second = await odin()
    [proposal] = await second.restore()
    assert [it.state for it in proposal.hunks] == ["pending"] * 3

    second.open(path, OLD.replace("two", "TWO"))  # or it was not: the editor has kept what was not saved
    assert [it.state for it in proposal.hunks] == ["accepted", "pending", "pending"]


async def test_files_to_be_made_moved_and_deleted_wait_too(odin):
    first = await odin()
    old, gone = first.write("old.txt", "old\n"), first.write("gone.txt", "gone\n")
    made, moved = first.root / "made.txt", first.root / "moved.txt"
    proposal = await first.show(
        operation_of(made, "create", "made\n", WISH),
        operation_of(old, "rename", "", WISH, new_path=moved),
        operation_of(gone, "delete", "gone\n", WISH),
    )
    await first.decide("accept", next(iter(proposal.hunks)))

    second = await odin()
    [proposal] = await second.restore()
    assert [it.state for it in proposal.hunks] == ["accepted", "pending", "pending"]
    await second.decide("accept", *proposal.hunks)

    assert made.read_text() == "made\n"
    assert moved.read_text() == "old\n"
    assert not old.exists()
    assert not gone.exists()


async def test_nobody_else_goes_on_with_a_review_that_is_open(odin, tmp_path):
    first = await odin()
    await first.show(edit_of(first.write("a.txt", OLD), OLD, NEW, WISH))
    assert list(ReviewJournal(lambda: tmp_path / "state" / "reviews").waiting()) == []


async def test_a_review_that_was_cut_short_before_anybody_saw_it_is_forgotten(odin, tmp_path):
    second = await odin()
    path = tmp_path / "state" / "reviews" / "x.jsonl"
    path.parent.mkdir(parents=True, mode=0o700)
    path.write_text('\n{"id": "x", "turnId"')
    assert await second.restore() == []
    assert not path.exists()


async def test_a_review_that_begins_while_another_odin_starts_is_kept(odin, tmp_path, monkeypatch):
    first = await odin()
    starting = ReviewJournal(lambda: tmp_path / "state" / "reviews")
    opened = private_files.open_file
    found = []

    def opened_amid_a_start(path, flags):
        descriptor = opened(path, flags)
        if flags & os.O_CREAT and not found:
            found.append(list(starting.waiting()))
        return descriptor

    with monkeypatch.context() as patched:
        patched.setattr(private_files, "open_file", opened_amid_a_start)
        proposal = await first.show(edit_of(first.write("a.txt", OLD), OLD, NEW, WISH))

    assert found == [[]]
    assert [it.id for it in (await odin()).journal.waiting()] == [proposal.id]


async def test_a_review_that_a_newer_odin_has_written_is_left_to_it(odin, tmp_path):
    first = await odin()
    proposal = await first.show(edit_of(first.write("a.txt", OLD), OLD, NEW, WISH))
    path = tmp_path / "state" / "reviews" / f"{proposal.id}.jsonl"
    await first.end()
    newer = path.read_bytes().replace(b'"turnId"', b'"urgency": 3, "turnId"', 1)
    path.write_bytes(newer)

    assert list((await odin()).journal.waiting()) == []
    assert path.read_bytes() == newer


async def test_an_empty_review_that_cannot_be_removed_keeps_nobody_from_the_others(odin, tmp_path, monkeypatch):
    first = await odin()
    proposal = await first.show(edit_of(first.write("a.txt", OLD), OLD, NEW, WISH))
    (tmp_path / "state" / "reviews" / "0.jsonl").touch(mode=0o600)

    def refuse(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system")

    second = await odin()
    with monkeypatch.context() as patched:
        patched.setattr(os, "unlink", refuse)
        assert [it.id for it in second.journal.waiting()] == [proposal.id]


async def test_a_review_that_the_disk_does_not_give_is_left_for_another_time(odin, monkeypatch):
    first = await odin()
    await first.show(edit_of(first.write("a.txt", OLD), OLD, NEW, WISH))

    def fail(path):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(journals, "_read", fail)
        assert list((await odin()).journal.waiting()) == []
    assert len(list((await odin()).journal.waiting())) == 1


async def test_a_review_that_cannot_be_kept_says_so(odin, tmp_path):
    first = await odin()
    (tmp_path / "state").mkdir(exist_ok=True)
    (tmp_path / "state" / "reviews").write_text("in the way")
    await first.show(edit_of(first.write("a.txt", OLD), OLD, NEW, WISH))
    [notice] = [it.message for it in first.events_of("notice")]
    assert notice.startswith("if Odin ends before all of this is decided, the rest is lost: ")


async def test_a_decision_that_cannot_be_kept_counts_and_the_user_is_told(odin, monkeypatch):
    first = await odin()
    path = first.write("a.txt", OLD)
    one, *_ = (await first.show(edit_of(path, OLD, NEW, WISH))).hunks
    monkeypatch.setattr(first.journal, "note", lambda *_: "No space left on device")

    [receipt] = await first.decide("accept", one)

    assert receipt.state == "accepted"
    assert path.read_text() == OLD.replace("two", "TWO")
    assert {it.message.rpartition(": ")[2] for it in first.events_of("notice")} == {"No space left on device"}


@pytest.mark.thorough
async def test_decisions_are_on_the_disk_itself_once_before_they_are_acted_on(odin, monkeypatch):
    first = await odin()
    path = first.write("a.txt", OLD)
    first.open(path)
    one, *rest = (await first.show(edit_of(path, OLD, NEW, WISH))).hunks
    happened = []
    apply = first.editor.apply
    monkeypatch.setattr(os, "fsync", lambda descriptor: happened.append("synced"))
    monkeypatch.setattr(first.editor, "apply", lambda change: happened.append("applied") or apply(change))

    await first.decide("accept", *rest)
    first.type(path, "typed\n", 0)
    assert happened == ["synced", "applied"]
    await first.decide("reject", one)
    assert happened == ["synced", "applied", "synced"]


async def test_a_review_that_is_decided_and_cannot_be_removed_is_not_shown_again(odin, monkeypatch):
    first = await odin()
    proposal = await first.show(edit_of(first.write("a.txt", OLD), OLD, NEW, WISH))

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "unlink", refuse)
    await first.decide("reject", *proposal.hunks)
    await first.waiting
    monkeypatch.undo()

    assert list((await odin()).journal.waiting()) == []


async def test_what_the_disk_refuses_is_written_and_removed_when_it_can_be(odin, monkeypatch):
    first = await odin()
    one, two = first.write("a.txt", OLD), first.write("b.txt", OLD)
    whole = await first.show(edit_of(one, OLD, NEW, WISH))

    def refuse(*_, **__):
        raise OSError(28, "No space left on device")

    for name in ("write", "unlink", "ftruncate"):
        monkeypatch.setattr(os, name, refuse)
    await first.decide("reject", *whole.hunks)
    await first.waiting
    monkeypatch.undo()
    part = await first.show(edit_of(two, OLD, NEW, WISH))
    await first.until(lambda: len(first.editor.reviews) > 1)
    assert [it.stem for it in first.journal._folder().glob("*.jsonl")] == [part.id]

    monkeypatch.setattr(os, "write", refuse)
    refused, *waiting = part.hunks
    await first.decide("reject", refused)
    monkeypatch.undo()
    first.journal.catch_up()
    first.journal.close()
    (kept,) = (await odin()).journal.waiting()
    assert [it.state for it in kept.files[0].hunks] == ["rejected", *("pending" for _ in waiting)]


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [1, 2])
async def test_whenever_odin_is_killed_what_was_decided_counts_once_and_the_rest_waits(tmp_path, monkeypatch, seed):
    """40 hunks in 8 files, decided one by one and in groups; at every write, and before and after every edit, what is
    on disk is kept, and another Odin goes on from there."""
    moments: list[tuple[Path, dict[str, str]]] = []
    decided: dict[str, str] = {}
    live, copies = tmp_path / "live", tmp_path / "copies"

    def keep() -> None:
        copy = copies / str(len(moments))
        shutil.copytree(live, copy, ignore=shutil.ignore_patterns("lock"))
        moments.append((copy, dict(decided)))

    def kept_after(work):
        def noted(*arguments, **more):
            result = work(*arguments, **more)
            keep()
            return result

        return noted

    monkeypatch.setattr(journals, "_append", kept_after(journals._append))
    monkeypatch.setattr(undo_log.UndoLog, "_append", kept_after(undo_log.UndoLog._append))
    first = Odin(live)
    apply = first.editor.apply

    async def watched(change):
        keep()
        result = await apply(change)
        keep()
        return result

    first.editor.apply = watched
    paths = [first.write(f"{name}.txt", "".join(f"{name} {row}\n" for row in range(60))) for name in "abcdefgh"]
    texts = {path: path.read_text() for path in paths}
    wanted = dict(texts)
    for path in paths:
        for row in (5, 17, 29, 41, 53):
            wanted[path] = wanted[path].replace(f" {row}\n", f" NEW {row}\n")
    proposal = await first.show(*(edit_of(path, texts[path], wanted[path], WISH) for path in paths))
    chance = random.Random(seed)
    rest = list(proposal.hunks)
    chance.shuffle(rest)
    while len(rest) > 2:
        count = chance.choice([1, 1, 1, 1, 1, 1, 2])
        group, rest = rest[:count], rest[count:]
        kind = chance.choice(["accept", "accept", "accept", "modify", "reject"])
        decided.update({it.id: kind for it in group})
        await first.decide(kind, *group, text="MINE" if kind == "modify" else None)
    await first.end()
    monkeypatch.undo()

    assert len(moments) >= 150
    for copy, known in sampled(moments):
        shutil.rmtree(live)
        shutil.copytree(copy, live)
        second = Odin(live)
        restored = await second.restore()
        if not restored:
            assert not known  # nobody had seen it yet
            continue
        [proposal] = restored
        hunks = list(proposal.hunks)
        assert len(hunks) == 40
        await second.until(lambda hunks=hunks: not any(it.is_due for it in hunks))
        states = {it.id: it.state for it in hunks}
        expected = {"accept": "accepted", "reject": "rejected", "modify": "modified"}
        unwritten = [it for it in known if states[it] != expected[known[it]]]
        assert all(states[it] == "pending" for it in unwritten), "what was not written was not acted on"
        assert len(unwritten) <= 2
        await second.decide("accept", *[it for it in hunks if it.state == "pending"])
        for file in proposal.files:
            assert second.text(file.path) == _as_decided(texts[file.path], file)
        await second.end()


def _as_decided(text: str, file) -> str:
    """By rows, which nobody has moved."""
    rows = text.splitlines(keepends=True)
    for row, it in zip((5, 17, 29, 41, 53), file.hunks, strict=True):
        name, number = rows[row].split()
        match it.state:
            case "accepted":
                rows[row] = f"{name} NEW {number}\n"
            case "modified":
                rows[row] = rows[row].replace(" ", f" {it.text}", 1)
    return "".join(rows)
