"""Any user, any model, any editor: whatever they do in whatever order, reviews do to the text what was decided.

The reference is an editor whose documents are characters that each have an identity. It knows nothing of hunks that
move: a hunk is the characters that it was shown to replace, or the two that it was shown to stand between, and it may
be carried out on these and on no others.
"""

import asyncio
import itertools
import os
import selectors
import shutil
import tempfile
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from odin_lsp.config import ReviewSettings, Timeouts
from odin_lsp.events import ReviewChanged, ReviewClosed, ReviewOpened
from odin_lsp.ports import Decision, FileChange, Range, Receipt, Review, ReviewAnswer, ReviewHunk
from odin_lsp.review.desk import ReviewDesk
from odin_lsp.review.drafts import Draft
from odin_lsp.review.journal import ReviewJournal
from odin_lsp.review.proposals import FileProposal, Wish, edit_of
from odin_lsp.review.turn_review import TurnReview
from odin_lsp.review.undo import take_back
from odin_lsp.review.undo_log import UndoLog
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.shown import Shown
from odin_lsp.workspace.text import Change, Position

T = TypeVar("T")
EXAMPLES = max(1000, settings().max_examples)
NAMES = ("a.txt", "b.txt")
PIECES = ("a", "a", "b", "a\n", "\n", "\r\n", "\r", "😀")
"""Few and alike: most ways to go wrong need a text that could be another one."""
TEXTS = st.lists(st.sampled_from(PIECES), min_size=2, max_size=8).map("".join)
BITS = st.lists(st.sampled_from(PIECES), max_size=2).map("".join)
OPENED = st.sampled_from([(True, True), (True, False), (False, True), (False, False)])
POLICIES = st.tuples(*[st.sampled_from(["each", "each", "end", "auto"])] * 2)
"""Of two turns that run side by side."""
PLACES = st.integers(0, 10)
SPLICES = st.tuples(PLACES, st.integers(0, 2), BITS)
CALLS = st.lists(st.tuples(st.integers(0, 1), st.lists(SPLICES, min_size=1, max_size=3)), min_size=1, max_size=3)
"""Of a step: each changes one of the files in some places."""
LIES = (
    "says yes, does nothing",
    "says no, does nothing",
    "says no, does it",
    "does the first only",
    "does all but the first",
    "tells of it later",
    "tells of it too late",
    "is typed into first",
    "is typed into afterwards",
    "does something else",
)
STRANGE = Decision(hunk_id="unknown", decision="accept")
CLIENT_SECONDS = 0.5


# The editor


def starts_of(text: str) -> list[int]:
    """Where lines begin."""
    return [0, *(at for at in range(1, len(text) + 1) if is_line_end(text, at))]


def is_line_end(text: str, at: int) -> bool:
    return text[at - 1] == "\n" or (text[at - 1] == "\r" and text[at : at + 1] != "\n")


def position_of(text: str, offset: int) -> Position:
    starts = [start for start in starts_of(text) if start <= offset]
    return Position(len(starts) - 1, len(text[starts[-1] : offset].encode("utf-16-le")) // 2)


def offset_of(text: str, line: int, character: int) -> int:
    start = starts_of(text)[line]
    return start + len(text[start:].encode("utf-16-le")[: 2 * character].decode("utf-16-le"))


def span_of(text: str, place: Range) -> tuple[int, int]:
    return offset_of(text, place.start.line, place.start.character), offset_of(
        text, place.end.line, place.end.character
    )


def is_within_line_end(text: str, offset: int) -> bool:
    return text[offset - 1 : offset + 1] == "\r\n"


def path_of(uri: str) -> Path:
    return Path(uri.removeprefix("file://"))


def same_at_both_ends(old: str, new: str) -> tuple[int, int]:
    head = same_at_start(old, new)
    return head, same_at_start(old[head:][::-1], new[head:][::-1])


def same_at_start(one: str, two: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))


@dataclass
class Page:
    """A document or a file: its characters, each with a number of its own."""

    numbers: Iterator[int]
    text: str = ""
    ids: list[int] = field(default_factory=list[int])
    version: int = 0
    """0: it is not open."""
    swaps: int = 0
    """How often all of the text was exchanged, which nobody can follow character by character."""
    loose: set[int] = field(default_factory=set[int])
    """Characters that came so."""

    def splice(self, start: int, end: int, new: str) -> None:
        head, tail = same_at_both_ends(self.text[start:end], new)
        first, last = start + head, end - tail
        fresh = [next(self.numbers) for _ in new[head : len(new) - tail]]
        self.ids[first:last] = fresh
        self.text = self.text[:start] + new + self.text[end:]

    def exchange(self, text: str) -> None:
        before = set(self.ids)
        self.splice(0, len(self.text), text)
        self.loose.update(set(self.ids) - before)
        self.swaps += 1


@dataclass
class ShownHunk:
    path: Path
    turn: str
    proposal: str
    shown: ReviewHunk
    swaps: int
    cells: tuple[int, ...]
    before: int | None
    after: int | None
    """The characters on either side of it."""
    decision: Decision | None = None
    carried_out: bool = False
    doubtful: bool = False
    """The editor did something else than it was told."""
    blurred: bool = False
    """Somebody else was there first: what is there now may look like it."""
    as_if_done: set[str] = field(default_factory=set[str])
    """Texts which cannot be told from those that it would have led to."""
    receipt: Receipt | None = None

    @property
    def wanted(self) -> str | None:
        """What the user wants there, if anything."""
        if self.decision is None or self.decision.decision == "reject":
            return None
        return self.decision.text if self.decision.decision == "modify" else self.shown.new_text

    def can_be_seen_in(self, text: str) -> bool:
        return self.carried_out or text in self.as_if_done or (self.blurred and (self.wanted or "") in text)


@dataclass
class TurnOnScreen:
    draft: Draft
    policy: Any
    step: "asyncio.Task[Any] | None" = None
    before: dict[Path, str] = field(default_factory=dict[Path, str])
    after: dict[Path, str] = field(default_factory=dict[Path, str])
    since: dict[Path, int] = field(default_factory=dict[Path, int])
    """What is typed later has higher numbers."""
    mixed: set[Path] = field(default_factory=set[Path])
    """Files that somebody else has changed between two edits of the turn."""
    doubtful: set[Path] = field(default_factory=set[Path])
    """Files in which the editor did not do as it was told."""


class FakeEditor:
    """Real texts on a real disk; tells the server what a language client tells."""

    def __init__(self, files: Files, pages: dict[Path, Page]) -> None:
        self.files = files
        self.pages = pages
        self.undoing = False
        self.applying: set[str] = set()
        """The hunks of the file that is being changed: two that are alike are told apart so."""
        self.lie: str | None = None
        self.typed: tuple[int, int, str] = (0, 0, "")
        self.answers = "later"
        self.asking: dict[str, asyncio.Future[ReviewAnswer | None]] = {}
        self.hunks: dict[str, ShownHunk] = {}
        self.users: set[int] = set()
        """Characters that the user typed."""
        self.turns: dict[str, TurnOnScreen] = {}
        self.open_reviews: dict[str, list[str]] = {}
        self.clock = itertools.count(1_000_000_000)

    # what the user does

    def write(self, path: Path, text: str) -> None:
        """To disk; the time stamp is another one even if two writes are close."""
        path.write_bytes(text.encode())
        os.utime(path, (now := next(self.clock), now))

    def open(self, path: Path) -> None:
        page = self.pages[path]
        disk = path.read_bytes().decode()
        if disk != page.text:
            page.exchange(disk)
        page.version = 1
        self.files.buffers.open(path.as_uri(), 1, page.text)

    def close(self, path: Path) -> None:
        page = self.pages[path]
        page.version = 0
        self.files.buffers.close(path.as_uri())
        if page.text != (disk := path.read_bytes().decode()):
            page.exchange(disk)

    def save(self, path: Path) -> None:
        self.write(path, self.pages[path].text)
        self.files.buffers.save(path.as_uri())

    def type(self, path: Path, splices: Sequence[tuple[int, int, str]]) -> None:
        """One message with several changes, each of the text that the one before has left."""
        page = self.pages[path]
        changes: list[Change] = []
        for place, length, new in splices:
            start = min(place, len(page.text))
            end = min(start + length, len(page.text))
            start -= is_within_line_end(page.text, start)
            end += is_within_line_end(page.text, end)
            changes.append(Change(new, position_of(page.text, start), position_of(page.text, end)))
            known = set(page.ids)
            page.splice(start, end, new)
            self.users.update(set(page.ids) - known)
        page.version += 1
        self.files.buffers.change(path.as_uri(), page.version, changes)

    # what Odin asks of it

    async def review(self, review: Review) -> ReviewAnswer | None:
        if self.answers == "later":
            return None
        answer = self.asking[review.proposal_id] = asyncio.get_running_loop().create_future()
        try:
            return await answer
        finally:
            del self.asking[review.proposal_id]

    async def close_review(self, proposal_id: str) -> None:
        pass

    async def apply(self, change: FileChange) -> str | None:
        path = path_of(change.uri)
        page = self.pages[path]
        if self.undoing and not self.applying & self.hunks.keys():
            self._do(path, [(*span_of(page.text, it.range), it.new_text) for it in change.edits])
            return None
        lie, self.lie = self.lie, None
        if lie == "is typed into first" and page.version:
            self._recognised(path, change)
            self._blur(path)
            self.type(path, [self.typed])
            return "the version is another one"
        if change.version != (page.version or None):
            self._blur(path)
            return "the version is another one"
        todo = self._recognised(path, change)
        if lie:
            for at, (hunk, *_) in enumerate(todo):
                hunk.doubtful = True
                self.turns[hunk.turn].doubtful.add(path)
                hunk.blurred = lie == "does something else"
                hunk.as_if_done.update(text for chosen, text in outcomes(page.text, todo) if at in chosen)
        match lie:
            case "says yes, does nothing":
                return None
            case "says no, does nothing":
                return "no"
            case "does something else" if page.version:
                self.type(path, [self.typed])
                return None
            case "does the first only":
                todo = todo[:1]
            case "does all but the first":
                todo = todo[1:]
            case "tells of it later":
                asyncio.get_running_loop().call_later(CLIENT_SECONDS / 2, self._carry_out, path, todo)
                return None
            case "tells of it too late":
                asyncio.get_running_loop().call_later(CLIENT_SECONDS * 2, self._carry_out, path, todo)
                return None
            case _:
                pass
        self._carry_out(path, todo)
        if lie == "is typed into afterwards":
            self.type(path, [self.typed])
        return "no" if lie == "says no, does it" else None

    def _blur(self, path: Path) -> None:
        for hunk in (self.hunks[it] for it in self.applying):
            hunk.blurred = True
            self.turns[hunk.turn].doubtful.add(path)

    def _recognised(self, path: Path, change: FileChange) -> list[tuple[ShownHunk, int, int, str]]:
        """Each edit must be a hunk that the user saw and wants, at the characters that it was shown for."""
        page = self.pages[path]
        todo: list[tuple[ShownHunk, int, int, str]] = []
        for edit in change.edits:
            start, end = span_of(page.text, edit.range)
            taken = [hunk for hunk, *_ in todo]
            others = [it for it in self.hunks.values() if all(it is not hunk for hunk in taken)]
            found = [it for it in others if self._is_it(it, path, page, start, end, edit.new_text)]
            assert found, f"{change} is not what anybody wanted in {page.text!r}"
            todo.append((found[0], start, end, edit.new_text))
        ordered = sorted(todo, key=lambda it: (it[1], it[2]))
        assert all(one[2] <= two[1] for one, two in itertools.pairwise(ordered))
        return todo

    def _is_it(self, hunk: ShownHunk, path: Path, page: Page, start: int, end: int, new: str) -> bool:
        if (hunk.path, hunk.wanted, hunk.receipt, hunk.carried_out) != (path, new, None, False):
            return False
        if hunk.shown.id not in self.applying or hunk.shown.state == "superseded":
            return False
        return self.stands(hunk, page, start, end)

    def stands(self, hunk: ShownHunk, page: Page, start: int, end: int) -> bool:
        """Whether these are the characters that the hunk is about."""
        if page.text[start:end] != hunk.shown.old_text:
            return False
        if page.swaps != hunk.swaps:
            return all(it in hunk.cells or it in page.loose for it in page.ids[start:end])
        if hunk.cells:
            return tuple(page.ids[start:end]) == hunk.cells
        return hunk.before == self._id(page, start - 1) or hunk.after == self._id(page, start)

    def _id(self, page: Page, at: int) -> int | None:
        return page.ids[at] if 0 <= at < len(page.ids) else None

    def _carry_out(self, path: Path, todo: Sequence[tuple[ShownHunk, int, int, str]]) -> None:
        page = self.pages[path]
        if not todo or any(not self.stands(hunk, page, start, end) for hunk, start, end, _ in todo):
            return
        turn = self.turns[todo[0][0].turn]
        turn.before.setdefault(path, page.text)
        turn.since.setdefault(path, next(page.numbers))
        if turn.after.get(path, page.text) != page.text:
            turn.mixed.add(path)
        for hunk, *_ in todo:
            hunk.carried_out = True
        self._do(path, [(start, end, new) for _, start, end, new in todo])
        turn.after[path] = page.text

    def _do(self, path: Path, edits: Sequence[tuple[int, int, str]]) -> None:
        """From the last to the first, as one message; a file that is not open is opened for it. Where a step on the way
        would begin or end between a carriage return and its line feed there is no position: then all of the text."""
        page = self.pages[path]
        if not page.version:
            self.open(path)
        text = page.text
        changes: list[Change] = []
        for start, end, new in sorted(edits, reverse=True):
            if is_within_line_end(text, start) or is_within_line_end(text, end):
                changes.clear()
                break
            changes.append(Change(new, position_of(text, start), position_of(text, end)))
            text = text[:start] + new + text[end:]
        for start, end, new in sorted(edits, reverse=True) if changes else ():
            page.splice(start, end, new)
        if not changes:
            page.exchange(replaced(page.text, edits))
            changes.append(Change(page.text))
        page.version += 1
        self.files.buffers.change(path.as_uri(), page.version, changes)

    # what it shows

    def show(self, event: Any) -> None:
        match event:
            case ReviewOpened(review):
                self.open_reviews[review.proposal_id] = []
                for file in review.files:
                    for hunk in file.hunks:
                        self._track(path_of(file.uri), review, hunk)
            case ReviewChanged(_, hunks):
                for hunk in hunks:
                    self.hunks[hunk.id].shown = hunk
            case ReviewClosed(proposal_id, receipts):
                del self.open_reviews[proposal_id]
                for receipt in receipts:
                    self.hunks[receipt.hunk_id].receipt = receipt
                    check(self.hunks[receipt.hunk_id], self.pages)
            case _:
                pass

    def _track(self, path: Path, review: Review, hunk: ReviewHunk) -> None:
        page = self.pages[path]
        start, end = span_of(page.text, hunk.range)
        assert hunk.state != "pending" or page.text[start:end] == hunk.old_text
        shown = ShownHunk(
            path,
            review.turn_id,
            review.proposal_id,
            hunk,
            page.swaps,
            tuple(page.ids[start:end]),
            self._id(page, start - 1),
            self._id(page, end),
        )
        if self.turns[review.turn_id].policy == "auto":
            shown.decision = Decision(hunk_id=hunk.id, decision="accept")
        self.hunks[hunk.id] = shown
        self.open_reviews[review.proposal_id].append(hunk.id)


def check(hunk: ShownHunk, pages: dict[Path, Page]) -> None:
    """A receipt says what happened."""
    receipt = hunk.receipt
    assert receipt is not None
    decision = hunk.decision.decision if hunk.decision else None
    match receipt.state:
        case "accepted":
            assert decision == "accept"
            assert hunk.can_be_seen_in(pages[hunk.path].text)
        case "modified":
            assert (decision, receipt.text) == ("modify", hunk.wanted)
            idle = hunk.wanted == hunk.shown.old_text
            assert idle or hunk.can_be_seen_in(pages[hunk.path].text)
        case "rejected":
            assert decision in ("reject", None)
            assert not hunk.carried_out
        case "superseded":
            assert receipt.text is None
            assert receipt.reason
            assert not hunk.carried_out or hunk.doubtful
        case "pending":
            raise AssertionError("nobody decided, and nobody was told so")


def outcomes(text: str, todo: Sequence[tuple[ShownHunk, int, int, str]]) -> Iterator[tuple[set[int], str]]:
    """What each choice of these edits makes of the text."""
    for size in range(1, len(todo) + 1):
        for chosen in itertools.combinations(range(len(todo)), size):
            yield set(chosen), replaced(text, [todo[at][1:] for at in chosen])


def replaced(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


# Time


class Clock(selectors.SelectSelector):
    """Nobody waits: when nothing is left to do it is at once as late as the next thing needs."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            raise AssertionError("everybody waits for everybody")
        self.now += max(0.0, timeout)
        return super().select(0)


def timeless_loop() -> asyncio.AbstractEventLoop:
    clock = Clock()
    loop = asyncio.SelectorEventLoop(clock)

    def at_once(_: object, work: Callable[..., T], *arguments: Any) -> asyncio.Future[T]:
        """No threads, which would take time of their own."""
        future = loop.create_future()
        future.set_result(work(*arguments))
        return future

    loop.time = lambda: clock.now
    loop.run_in_executor = at_once
    return loop


class Reviews(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner(loop_factory=timeless_loop)
        self.folder = Path(tempfile.mkdtemp(prefix="odin-reviews-")).resolve()
        self.calls = itertools.count(1)
        self.errors: list[BaseException] = []

    def run(self, work: Callable[[], T | Coroutine[Any, Any, T]]) -> T:
        """Do it in the loop, and let everything happen that follows from it."""

        async def run() -> T:
            result = work()
            value: Any = await result if asyncio.iscoroutine(result) else result
            await asyncio.sleep(CLIENT_SECONDS * 3)
            return value

        value = self.runner.run(run())
        for error in self.errors:
            raise error
        return value

    @initialize(texts=st.tuples(TEXTS, TEXTS), opened=OPENED, policies=POLICIES)
    def begin(self, texts: tuple[str, str], opened: tuple[bool, bool], policies: tuple[Any, Any]) -> None:
        numbers = itertools.count(1)
        self.paths = [self.folder / name for name in NAMES]
        pages = {path: Page(numbers) for path in self.paths}
        files = Files([self.folder], Buffers(), FileCache())
        self.editor = FakeEditor(files, pages)
        self.review_settings = ReviewSettings()
        self.undo_log = UndoLog(lambda: self.folder / "undo")

        def start() -> None:
            self.desk = ReviewDesk(
                files,
                self.editor,
                lambda: (self.review_settings, Timeouts(client=CLIENT_SECONDS)),
                lambda *_: ("", False),
                self.undo_log,
                ReviewJournal(lambda: self.folder / "reviews"),
            )
            self.desk.applier._change = self._noted(self.desk.applier._change)
            for path, text, is_open in zip(self.paths, texts, opened, strict=True):
                self.editor.write(path, text)
                pages[path].exchange(text)
                if is_open:
                    self.editor.open(path)
            for index, policy in enumerate(policies):
                draft = Draft(self.desk, TurnReview(f"t{index}", self.editor.show), Shown())
                self.editor.turns[f"t{index}"] = TurnOnScreen(draft, policy)

        self.run(start)

    def _noted(self, change: Callable[[FileProposal], FileChange]) -> Callable[[FileProposal], FileChange]:
        def noted(file: FileProposal) -> FileChange:
            self.editor.applying = {it.id for it in file.hunks}
            return change(file)

        return noted

    # the user

    @precondition(lambda self: self.is_open)
    @rule(which=st.integers(0, 1), splices=st.lists(SPLICES, min_size=1, max_size=3))
    def type_over(self, which: int, splices: list[tuple[int, int, str]]) -> None:
        self.type(which, splices)

    @property
    def is_open(self) -> bool:
        return any(page.version for page in self.editor.pages.values())

    def type(self, which: int, splices: list[tuple[int, int, str]]) -> None:
        """In that document, or in the one that is open."""
        path = self.paths[which] if self.editor.pages[self.paths[which]].version else self.paths[1 - which]
        self.run(lambda: self.editor.type(path, splices))

    @precondition(lambda self: self.is_open)
    @rule(which=st.integers(0, 1), place=PLACES, text=st.sampled_from(PIECES))
    def insert(self, which: int, place: int, text: str) -> None:
        """What people do most."""
        self.type(which, [(place, 0, text)])

    @rule(which=st.integers(0, 1))
    def open_or_close(self, which: int) -> None:
        path = self.paths[which]
        self.run(lambda: self.editor.close(path) if self.editor.pages[path].version else self.editor.open(path))

    @rule(which=st.integers(0, 1))
    def save(self, which: int) -> None:
        if self.editor.pages[self.paths[which]].version:
            self.run(lambda: self.editor.save(self.paths[which]))

    @precondition(lambda self: not all(page.version for page in self.editor.pages.values()))
    @rule(which=st.integers(0, 1), splice=SPLICES)
    def another_program_writes(self, which: int, splice: tuple[int, int, str]) -> None:
        page, path = self.editor.pages[self.paths[which]], self.paths[which]
        if not page.version:
            start, length, new = splice
            page.exchange(page.text[:start] + new + page.text[start + length :])
            self.run(lambda: self.editor.write(path, page.text))

    @precondition(lambda self: self.editor.hunks)
    @rule(
        index=st.integers(0, 6),
        kind=st.sampled_from(["accept", "accept", "reject", "modify"]),
        text=BITS,
        times=st.integers(1, 2),
        as_answer=st.booleans(),
    )
    def decide(self, index: int, kind: Any, text: str, times: int, *, as_answer: bool) -> None:
        """On any hunk that was ever shown, also for the second time or when it is too late."""
        hunk_id = list(self.editor.hunks)[-1 - index % len(self.editor.hunks)]
        decision = Decision(hunk_id=hunk_id, decision=kind, text=text if kind == "modify" else None, reason="so")
        self._take([decision] * times, as_answer=as_answer)

    @precondition(lambda self: self.editor.open_reviews)
    @rule(kind=st.sampled_from(["accept", "accept", "reject"]), which=st.integers(0, 2), as_answer=st.booleans())
    def decide_file_or_all(self, kind: Any, which: int, *, as_answer: bool) -> None:
        wanted = [it for it in self.editor.hunks.values() if which == 2 or it.path == self.paths[which]]
        self._take([Decision(hunk_id=it.shown.id, decision=kind) for it in wanted], as_answer=as_answer)

    def _take(self, decisions: Sequence[Decision], *, as_answer: bool) -> None:
        """What is pending is decided by the first word on it; an answer only says what becomes of what was asked."""
        answering = next(iter(self.editor.asking), None) if as_answer else None
        firsts: dict[str, Decision] = {}
        for decision in decisions:
            hunk = self.editor.hunks[decision.hunk_id]
            is_asked = answering in (None, hunk.proposal)
            if hunk.receipt is None and hunk.shown.state == "pending" and hunk.decision is None and is_asked:
                firsts.setdefault(decision.hunk_id, decision)

        def take() -> None:
            for hunk_id, decision in firsts.items():
                self.editor.hunks[hunk_id].decision = decision
            if answering is not None:
                self.editor.asking[answering].set_result(ReviewAnswer(decisions=tuple(decisions)))
                return
            assert {it.hunk_id for it in self.desk.decide([*decisions, STRANGE])} == set(firsts)

        self.run(take)

    # the model

    @precondition(lambda self: any(turn.step is None for turn in self.editor.turns.values()))
    @rule(
        which=st.integers(0, 1),
        calls=CALLS,
        lie=st.sampled_from([None] * 8 + [*LIES]),
        typed=SPLICES,
        answers=st.sampled_from(["later", "hangs"]),
    )
    def propose(self, which: int, calls: Any, lie: str | None, typed: tuple[int, int, str], answers: str) -> None:
        first, second = self.editor.turns[f"t{which}"], self.editor.turns[f"t{1 - which}"]
        turn = first if first.step is None else second
        self.editor.lie, self.editor.typed, self.editor.answers = lie, typed, answers
        self._go_on(turn, self._step(turn, calls))

    @precondition(lambda self: self.is_open and self.editor.turns["t0"].step is None)
    @rule(calls=CALLS, typed=st.lists(st.tuples(st.integers(0, 1), SPLICES), min_size=1, max_size=3), rejects=PLACES)
    def propose_while_the_user_types(self, calls: Any, typed: Any, rejects: int) -> None:
        """The story that all the others are variations of, so that it is told in most examples."""
        self.propose(0, calls, None, (0, 0, ""), "later")
        for which, splice in typed:
            self.type(which, [splice])
        shown = [it for it in self.editor.hunks if self.editor.hunks[it].receipt is None]
        kinds: list[Any] = ["reject" if at == rejects else "accept" for at in range(len(shown))]
        pairs = zip(shown, kinds, strict=True)
        self._take([Decision(hunk_id=it, decision=kind) for it, kind in pairs], as_answer=False)

    async def _step(self, turn: TurnOnScreen, calls: Any) -> None:
        """As the executor does it."""
        async with asyncio.TaskGroup() as tasks:
            for which, splices in calls:
                await turn.draft.gathered(tasks.create_task(self._call(turn, self.paths[which], splices)))
            if not turn.draft.waits_for_end:
                await turn.draft.review()

    async def _call(self, turn: TurnOnScreen, path: Path, splices: Sequence[tuple[int, int, str]]) -> None:
        drafted = turn.draft.texts.get(path)
        old = new = self.desk.applier.text(path) or "" if drafted is None else drafted
        for start, length, text in splices:
            new = new[:start] + text + new[start + length :]
        if old != new:
            call_id = str(next(self.calls))
            await turn.draft.propose(edit_of(path, old, new, Wish(call_id, "because")), call_id)

    @precondition(lambda self: any(not turn.draft.is_empty for turn in self.editor.turns.values()))
    @rule(which=st.integers(0, 1))
    def end_turn(self, which: int) -> None:
        """With the policy `end`, what was gathered is reviewed now."""
        turn = self.editor.turns[f"t{which}"]
        if turn.step is None and not turn.draft.is_empty:
            self._go_on(turn, turn.draft.review())

    def _go_on(self, turn: TurnOnScreen, work: Coroutine[Any, Any, Any]) -> None:
        def start() -> None:
            self.review_settings = ReviewSettings(policy=turn.policy)
            turn.step = asyncio.ensure_future(work)
            turn.step.add_done_callback(lambda step: self._ended(turn, step))

        self.run(start)

    def _ended(self, turn: TurnOnScreen, step: "asyncio.Task[Any]") -> None:
        turn.step = None
        if not step.cancelled() and (error := step.exception()) is not None:
            self.errors.append(error)

    @precondition(lambda self: any(turn.step is not None for turn in self.editor.turns.values()))
    @rule(which=st.integers(0, 1))
    def cancel_turn(self, which: int) -> None:
        self.run(lambda: self._cancel(self.editor.turns[f"t{which}"]))

    async def _cancel(self, turn: TurnOnScreen) -> None:
        if turn.step is not None:
            turn.step.cancel()
            await asyncio.wait([turn.step])
        turn.draft.drop()

    @precondition(lambda self: any(turn.before and turn.step is None for turn in self.editor.turns.values()))
    @rule(which=st.integers(0, 1))
    def undo_turn(self, which: int) -> None:
        turn_id = f"t{which}"
        turn = self.editor.turns[turn_id]
        if turn.step is not None or not turn.before:
            return
        before = {path: page.text for path, page in self.editor.pages.items()}
        theirs = {
            path: [it for it in self.editor.pages[path].ids if it > since and it in self.editor.users]
            for path, since in turn.since.items()
        }
        carried_out = [it for it in self.editor.hunks.values() if it.carried_out]
        self.editor.undoing = True
        restored, kept = self.run(lambda: take_back(self.undo_log, turn_id, self.desk.applier))
        self.editor.undoing = False
        touched = {*restored, *(path for path, _ in kept)}
        assert set(turn.before) - turn.doubtful <= touched <= set(turn.before) | turn.doubtful
        for path, ids in theirs.items():
            assert [it for it in self.editor.pages[path].ids if it in ids] == ids
        if carried_out != [it for it in self.editor.hunks.values() if it.carried_out]:
            turn.doubtful.update(restored, before)  # it has set free what waited for a hunk that is gone now
        for path in set(restored) - turn.doubtful:
            assert path not in turn.mixed
            assert before[path] == turn.after[path]
            assert self.editor.pages[path].text == turn.before[path]
        for path, reason in kept:
            assert reason
            assert path in turn.doubtful or self.editor.pages[path].text == before[path]
            assert path in turn.mixed | turn.doubtful or before[path] != turn.after[path]
        for path in restored if kept else list(turn.before):
            for noted in (turn.before, turn.after, turn.since):
                noted.pop(path, None)
            turn.mixed.discard(path)
        if not kept:
            turn.doubtful.clear()

    # always

    @invariant()
    def server_and_editor_hold_the_same_text(self) -> None:
        for path, page in self.editor.pages.items():
            buffer = self.editor.files.buffers.of_path(path)
            assert (buffer.text if buffer else None) == (page.text if page.version else None)

    @invariant()
    def what_is_pending_is_shown_where_it_is(self) -> None:
        for hunk in self.editor.hunks.values():
            page = self.editor.pages[hunk.path]
            if hunk.receipt is None and hunk.shown.state == "pending" and page.version:
                assert self.editor.stands(hunk, page, *span_of(page.text, hunk.shown.range))

    def teardown(self) -> None:
        try:
            if hasattr(self, "editor"):
                for turn in self.editor.turns.values():
                    self.run(lambda turn=turn: self._cancel(turn))
                assert list(self.desk.proposals) == []
                assert self.desk.drafts == []
                assert self.editor.open_reviews == {}
                assert self.run(lambda: len(asyncio.all_tasks())) == 1
        finally:
            self.runner.close()
            shutil.rmtree(self.folder)


TestReviews = Reviews.TestCase
TestReviews.pytestmark = [pytest.mark.thorough]
TestReviews.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
