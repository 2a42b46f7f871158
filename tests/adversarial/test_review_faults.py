"""A fault at every write of one reviewed turn: afterwards text, receipts, undo and what the user was told agree.

The turn proposes edits of two files, a new file, a move and a delete; some are accepted, one is rejected, one modified,
one reopened; then the turn is undone. Desk, journal, undo log, session log and disk are the real ones.
"""

import asyncio
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from odin_lsp.config import ReviewSettings, Timeouts
from odin_lsp.events import Notice
from odin_lsp.messages import user
from odin_lsp.ports import Decision, Receipt
from odin_lsp.review.desk import ReviewDesk
from odin_lsp.review.journal import ReviewJournal
from odin_lsp.review.proposals import PendingHunk, Proposal, edit_of, operation_of
from odin_lsp.review.screen import NO_WAY_BACK
from odin_lsp.review.turn_review import TurnReview
from odin_lsp.review.undo import Undone, take_back
from odin_lsp.review.undo_log import UndoLog
from odin_lsp.sessions.session import Session
from odin_lsp.workspace import disk
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.text import Decoded
from tests.support.faults import FAULTS, KILLED, Writes
from tests.support.reviewing import ScriptedEditor
from tests.support.sampling import sampled

WORDS = ("two", "five", "eight")
OLD = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"
BEFORE = {"a.txt": OLD, "b.txt": OLD, "moved.txt": "moved\n", "old.txt": "old\n"}
HUNKS = ("two", "five", "eight", "b", "create", "rename", "delete")
PLAN: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("accept", ("two",)),
    ("reject", ("five",)),
    ("modify", ("eight",)),
    ("accept", ("b",)),
    ("reopen", ("b",)),
    ("accept", ("create", "rename")),
    ("accept", ("delete",)),
    ("accept", ("b",)),
)
SAID = ("change it", "done", "undone")
States = dict[str, str]
Say = Callable[[str, Any], None]


class Odin:
    """One process of it."""

    def __init__(self, folder: Path, say: Say = lambda kind, what: None) -> None:
        self.folder = folder
        self.root = folder / "ws"
        self.say = say
        files = Files([self.root], Buffers(), FileCache())
        self.editor = ScriptedEditor(files, decide=lambda hunk: None)
        self.undo_log = UndoLog(lambda: folder / "state" / "undo")
        self.journal = ReviewJournal(lambda: folder / "state" / "reviews")
        settings = ReviewSettings(), Timeouts(client=0.01)
        self.desk = ReviewDesk(
            files, self.editor, lambda: settings, lambda *_: ("", False), self.undo_log, self.journal
        )
        self.turn = TurnReview("t", self._hear, "s")
        self.left: dict[str, str] = {}
        """The world when all was decided."""

    def _hear(self, event: Any) -> None:
        if isinstance(event, Notice):
            self.say("notice", event.message)

    async def take_turn(self) -> None:
        session = Session(self.folder / "state" / "sessions", "s")
        self._append(session, SAID[0])
        proposal = self._proposal()
        hunks = dict(zip(HUNKS, proposal.hunks, strict=True))
        submitted = asyncio.create_task(self.desk.submit(proposal, self.turn))
        await until(lambda: self.editor.reviews or submitted.done())
        for kind, names in PLAN:
            self.told(hunks, await self.decide(kind, [hunks[it] for it in names]))
        await submitted
        self.say("closed", states_of(hunks, self.turn.receipts))
        self.left = visible(self)
        self._append(session, SAID[1])
        await self.undo(None)
        self._append(session, SAID[2])
        session.close()
        await self.desk.close()

    def _append(self, session: Session, text: str) -> None:
        session.append(user(text))
        if session.problem is None:
            self.say("session", text)

    def _proposal(self) -> Proposal:
        new = OLD
        for word in WORDS:
            new = new.replace(word, word.upper())
        files = [
            edit_of(self.root / "a.txt", OLD, new),
            edit_of(self.root / "b.txt", OLD, OLD.replace("two", "TWO")),
            operation_of(self.root / "new.txt", "create", "new\n"),
            operation_of(self.root / "moved.txt", "rename", new_path=self.root / "sub" / "moved.txt"),
            operation_of(self.root / "old.txt", "delete", "old\n"),
        ]
        return Proposal("t", files, "because")

    async def decide(self, kind: str, hunks: Iterable[PendingHunk]) -> list[Receipt]:
        if kind == "reopen":
            return await self.desk.reopen(hunks)
        text = "MINE" if kind == "modify" else None
        return await self.desk.decide([Decision(hunk_id=it.id, decision=kind, text=text) for it in hunks])

    def told(self, hunks: dict[str, PendingHunk], receipts: Iterable[Receipt]) -> None:
        self.say("receipts", states_of(hunks, receipts))

    async def undo(self, turn_id: str | None) -> Undone:
        undone = await take_back(self.undo_log, turn_id, self.desk.applier)
        self.say("undone", {str(it.path.name): it.reason for it in undone.kept})
        return undone

    def world(self) -> dict[str, str]:
        return {str(it.relative_to(self.root)): it.read_text() for it in self.root.rglob("*") if it.is_file()}

    def sweep(self) -> None:
        """The next change in each folder."""
        for folder in (self.root, self.root / "sub"):
            if folder.is_dir():
                disk.create_text(folder / "last", Decoded("", "utf-8"))
                (folder / "last").unlink()


def states_of(hunks: dict[str, PendingHunk], receipts: Iterable[Receipt]) -> States:
    names = {it.id: name for name, it in hunks.items()}
    return {names[it.hunk_id]: it.state for it in receipts}


def world_of(states: States) -> dict[str, str]:
    """What the files are if this has become of the hunks."""
    world = dict(BEFORE)
    done = {name for name, state in states.items() if state in ("accepted", "modified")}
    for word in WORDS:
        if word in done:
            world["a.txt"] = world["a.txt"].replace(word, "MINE" if states[word] == "modified" else word.upper())
    if "b" in done:
        world["b.txt"] = OLD.replace("two", "TWO")
    if "create" in done:
        world["new.txt"] = "new\n"
    if "rename" in done:
        world["sub/moved.txt"] = world.pop("moved.txt")
    if "delete" in done:
        del world["old.txt"]
    return world


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0)


def begun(folder: Path) -> Path:
    (folder / "ws").mkdir(parents=True)
    for name, text in BEFORE.items():
        (folder / "ws" / name).write_text(text)
    return folder


class Said:
    """What the user was told."""

    def __init__(self) -> None:
        self.all: list[tuple[str, Any]] = []

    def __call__(self, kind: str, what: Any) -> None:
        self.all.append((kind, what))

    def of(self, kind: str) -> list[Any]:
        return [what for it, what in self.all if it == kind]

    @property
    def states(self) -> States:
        return {name: state for told in [*self.of("receipts"), *self.of("closed")] for name, state in told.items()}

    @property
    def lost(self) -> set[str]:
        """Files of which it was said that they cannot be undone."""
        return {it.split(":")[0] for it in self.of("notice") if NO_WAY_BACK in it}


# Faults that Odin outlives


async def outlived(folder: Path, at: int, fault: str) -> None:
    said = Said()
    odin = Odin(begun(folder), said)
    with Writes(at, FAULTS[fault]):
        await odin.take_turn()
    assert odin.left == world_of(said.states), f"the text is not as was told: {odin.left} {said.all}"
    [kept] = said.of("undone")
    after = visible(odin)
    assert changed(after) <= touched(kept), f"not undone, and not told: {said.all}"
    again = await odin.undo(None)
    assert changed(visible(odin)) <= touched(said.lost), f"cannot be undone: {again} {said.all}"
    left = visible(odin)
    if again.undo_id is not None and left == BEFORE:
        await odin.undo(again.undo_id)
        assert visible(odin) == after, f"not made again: {said.all}"
        await odin.undo(None)
    odin.sweep()
    assert visible(odin) == odin.world()
    await restarted(folder, left)


async def restarted(folder: Path, left: dict[str, str]) -> None:
    odin = Odin(folder)
    await odin.undo(None)
    assert visible(odin) == left, "it was undone twice"


def visible(odin: Odin) -> dict[str, str]:
    return {name: text for name, text in odin.world().items() if ".odin-" not in name}


def changed(world: dict[str, str]) -> set[str]:
    return {it for it in {*world, *BEFORE} if world.get(it) != BEFORE.get(it)}


def touched(names: Iterable[str]) -> set[str]:
    """A move concerns both names."""
    return {it for name in names for it in ([name, "sub/moved.txt", "moved.txt"] if "moved" in name else [name])}


# And one that it does not


def killed(folder: Path, at: int) -> Said:
    """In a process of its own."""
    begun(folder)
    reading, writing = os.pipe()
    write = os.write
    child = os.fork()
    if child == 0:
        try:
            odin = Odin(folder, lambda *told: write(writing, json.dumps(told).encode() + b"\n") and None)
            with Writes(at, FAULTS["killed"]):
                asyncio.run(odin.take_turn())
        finally:
            traceback.print_exc()
            os._exit(1)
    os.close(writing)
    said = Said()
    with os.fdopen(reading, "rb") as told:
        for line in told:
            said(*json.loads(line))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == KILLED
    return said


async def recovered(folder: Path, said: Said) -> None:
    told = Said()
    odin = Odin(folder, told)
    restored = [odin.desk.restore(it, odin.turn) for it in odin.journal.waiting()]
    states = said.states
    for proposal in restored:
        hunks = dict(zip(HUNKS, proposal.hunks, strict=True))
        await until(lambda proposal=proposal: not any(it.is_due for it in proposal.hunks))
        now = {name: it.state for name, it in hunks.items()}
        lost = {name for name, state in states.items() if state != "pending" and now[name] not in (state, "pending")}
        assert not lost, f"{lost} were decided otherwise: {now} {said.all}"
        gone = {it for it, state in states.items() if state in ("accepted", "modified") and now[it] != state}
        assert gone <= {"b"}, f"{gone} were accepted, and are not: {now} {said.all}"
        await odin.decide("reject", [it for it in hunks.values() if it.state == "pending"])
        await until(lambda: not list(odin.desk.proposals))
        states = {name: it.state for name, it in hunks.items()}
        assert visible(odin) == world_of(states), f"the text is not as decided: {states} {said.all}"
    if not restored and not said.of("receipts"):
        assert visible(odin) == BEFORE
    undone = await odin.undo(None)
    assert visible(odin) == BEFORE, f"not undone: {undone} {states} {said.all}"
    assert not undone.kept, f"{undone.kept} {said.all}"
    if undone.undo_id is not None:
        await odin.undo(undone.undo_id)
        assert changed(visible(odin)), "what was undone was not made again"
        await Odin(folder).undo("t")
        assert visible(odin) == BEFORE
    odin.sweep()
    assert visible(odin) == odin.world()
    await odin.desk.close()
    session = folder / "state" / "sessions" / "s.jsonl"
    if said.of("session"):
        resumed = Session.resume(session.parent, "s")
        texts = [part.text for it in resumed.messages for part in it.parts if hasattr(part, "text")]
        assert [it for it in texts if it in SAID][: len(said.of("session"))] == said.of("session")
        resumed.close()
    await restarted(folder, BEFORE)


@pytest.mark.thorough
@pytest.mark.parametrize("fault", FAULTS)
def test_whatever_fails_at_whichever_write_all_that_is_told_is_true(tmp_path, capsys, fault):
    begun(tmp_path / "counted")
    with Writes() as writes:
        asyncio.run(Odin(tmp_path / "counted", said := Said()).take_turn())
    assert said.states == {
        "two": "accepted",
        "five": "rejected",
        "eight": "modified",
        "b": "accepted",
        "create": "accepted",
        "rename": "accepted",
        "delete": "accepted",
    }
    problems: list[str] = []
    for at, name in sampled([*enumerate(writes.names, 1)]):
        folder = tmp_path / f"{at}"
        try:
            if fault == "killed":
                asyncio.run(recovered(folder, killed(folder, at)))
            else:
                asyncio.run(outlived(folder, at, fault))
        except (AssertionError, OSError) as error:
            problems.append(f"{fault} at write {at}, {name}: {type(error).__name__}: {error}")
    with capsys.disabled():
        sys.stdout.write(f" {len(writes.names)} writes × {fault} ")
    assert problems == []
