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
from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from odin_lsp.config import ReviewSettings, Timeouts
from odin_lsp.events import ReviewChanged, ReviewClosed, ReviewOpened
from odin_lsp.ports import Decision, FileChange, Range, Receipt, Review, ReviewAnswer, ReviewHunk
from odin_lsp.review.desk import CANCELLED, ReviewDesk
from odin_lsp.review.drafts import Draft
from odin_lsp.review.journal import ReviewJournal
from odin_lsp.review.proposals import FileProposal, Proposal, Wish, edit_of
from odin_lsp.review.screen import CHANGED_SINCE
from odin_lsp.review.turn_review import TurnReview
from odin_lsp.review.undo import Undone, take_back
from odin_lsp.review.undo_log import UndoLog
from odin_lsp.workspace.buffers import Buffer, Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.shown import Shown
from odin_lsp.workspace.text import Change, Position
from tests.support.sampling import IS_FUZZED, fewer

T = TypeVar("T")
CHOSEN = ("accepted", "modified")
EXAMPLES = max(fewer(1000), settings().max_examples)
IS_SAME = not IS_FUZZED
"""Each time the same examples; `nox -s fuzz` looks for others."""
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
MEANWHILE = "is typed into meanwhile"
HOW = st.sampled_from(["in steps", "in steps", "as one", "as a whole"])
"""An editor tells of what it undoes."""
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


def spans_of(text: str, place: Range) -> list[tuple[int, int]]:
    """What may be meant: within a line's end nothing can be shown, but where that begins. Nothing if the file has
    changed where nobody tells of it."""
    try:
        start, end = span_of(text, place)
    except (IndexError, UnicodeDecodeError):
        return []
    firsts, lasts = ([at, at + 1] if is_within_line_end(text, at + 1) else [at] for at in (start, end))
    return [(first, last) for first in firsts for last in lasts if first <= last]


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

    def splice(self, start: int, end: int, new: str, ids: Sequence[int] | None = None) -> None:
        """With `ids`, the characters are those that an editor has kept; unless it has left them elsewhere, since they
        look like others."""
        head, tail = (0, 0) if ids else same_at_both_ends(self.text[start:end], new)
        left = {*self.ids[:start], *self.ids[end:]}
        kept = [None if it in left else it for it in ids] if ids else [None for _ in new[head : len(new) - tail]]
        fresh = [next(self.numbers) if it is None else it for it in kept]
        self.ids[start + head : end - tail] = fresh
        self.text = self.text[:start] + new + self.text[end:]

    def exchange(self, text: str, ids: Sequence[int] | None = None) -> None:
        """Of characters that are alike nobody can tell which ones they were, unless that is known."""
        before = set(self.ids) if ids is not None else set[int]()
        self.splice(0, len(self.text), text, ids)
        self.loose.update(set(self.ids) - before)
        self.swaps += 1

    def loosen(self) -> None:
        """Somebody typed where nobody could tell of it: only the texts are known."""
        self.loose.update(self.ids)
        self.swaps += 1

    def id(self, at: int) -> int | None:
        return self.ids[at] if 0 <= at < len(self.ids) else None


@dataclass(frozen=True)
class Anchor:
    """Characters, or what an empty place stands between."""

    cells: tuple[int, ...]
    before: frozenset[int | None]
    after: frozenset[int | None]
    swaps: int

    @classmethod
    def at(cls, page: Page, start: int, end: int) -> "Anchor":
        before, after = frozenset([page.id(start - 1)]), frozenset([page.id(end)])
        return cls(tuple(page.ids[start:end]), before, after, page.swaps)

    def holds(self, page: Page, start: int, end: int) -> bool:
        """Whether these are the characters, as far as that can be told."""
        if self.is_blurred:
            return True
        if page.swaps != self.swaps:
            return all(it in self.cells or it in page.loose for it in page.ids[start:end])
        if self.cells:
            return tuple(page.ids[start:end]) == self.cells
        return page.id(start - 1) in self.before or page.id(start) in self.after

    @property
    def is_blurred(self) -> bool:
        return self.swaps < 0

    def is_empty_in(self, page: Page) -> bool:
        return page.swaps == self.swaps and not self.cells

    def blurred(self) -> "Anchor":
        """Somebody has typed over its edge, or a line end has come together there: whose that is cannot be told."""
        return replace(self, swaps=-1)

    def span(self, page: Page) -> tuple[int, int] | None:
        """Where it is for sure, which nobody has come near to."""
        if page.swaps != self.swaps:
            return None
        if self.cells:
            start = page.ids.index(self.cells[0]) if self.cells[0] in page.ids else 0
            end = start + len(self.cells)
            return (start, end) if tuple(page.ids[start:end]) == self.cells else None
        places = self.places(page)
        sure = [at for at in places if page.id(at - 1) in self.before and page.id(at) in self.after]
        return (sure[0], sure[0]) if len(sure) == 1 else None

    def places(self, page: Page) -> list[int]:
        """Where an empty place may be: somebody may have typed there."""
        return [at for at in range(len(page.ids) + 1) if self.is_empty_in(page) and self.holds(page, at, at)]

    def kept(self, page: Page, places: Sequence[int], step: "Splice") -> "Anchor":
        """The same place, which was one of these before the step, between others."""
        now = [at + (step.growth if step.end <= at else 0) for at in places if step.end <= at or step.start >= at]
        before = self.before.union(page.id(at - 1) for at in now)
        return replace(self, before=before, after=self.after.union(page.id(at) for at in now))


@dataclass
class ShownHunk:
    path: Path
    turn: str
    proposal: str
    shown: ReviewHunk
    anchor: Anchor
    """The characters that it would replace, or those that were put there."""
    decision: Decision | None = None
    carried_out: bool = False
    was_on_disk: bool = False
    """It looked so in a file of which nobody tells when it changes."""
    recognised: bool = False
    """It was in the text before anybody had decided."""
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
        if self.recognised:
            return self.shown.new_text if self.shown.text is None else self.shown.text
        if self.decision is None or self.decision.decision == "reject":
            return None
        return self.decision.text if self.decision.decision == "modify" else self.shown.new_text

    @property
    def is_idle(self) -> bool:
        """The user wants there what is there: nothing was done that an editor could undo."""
        return self.wanted == self.shown.old_text

    @property
    def is_decided(self) -> bool:
        return self.shown.state in ("accepted", "modified", "rejected")

    @property
    def may_be_there(self) -> bool:
        return self.carried_out or self.doubtful or self.was_on_disk

    def can_be_seen_in(self, text: str) -> bool:
        is_said_so = self.carried_out or self.was_on_disk or text in self.as_if_done
        return is_said_so or (self.blurred and (self.wanted or "") in text)

    def wait_again(self) -> None:
        self.carried_out = self.was_on_disk = self.recognised = self.blurred = False
        self.decision = None


@dataclass
class TurnOnScreen:
    draft: Draft
    policy: Any
    step: "asyncio.Task[Any] | None" = None
    is_over: bool = False
    late: list[str] = field(default_factory=list[str])
    """The proposals of which it was told after its end."""
    before: dict[Path, str] = field(default_factory=dict[Path, str])
    after: dict[Path, str] = field(default_factory=dict[Path, str])
    since: dict[Path, int] = field(default_factory=dict[Path, int])
    """What is typed later has higher numbers."""
    put: dict[Path, dict[int, str]] = field(default_factory=lambda: defaultdict(dict))
    """The characters that it has put there."""
    mixed: set[Path] = field(default_factory=set[Path])
    """Files that somebody else has changed between two edits of the turn."""
    doubtful: set[Path] = field(default_factory=set[Path])
    """Files in which the editor did not do as it was told."""


@dataclass(frozen=True)
class Splice:
    start: int
    end: int
    new: str
    ids: tuple[int, ...] | None = None

    @property
    def growth(self) -> int:
        return len(self.new) - (self.end - self.start)

    @property
    def removes(self) -> bool:
        return self.start < self.end

    def trimmed(self, text: str) -> "Splice":
        """What it changes: who types over a character with the same one has done nothing to it."""
        head, tail = same_at_both_ends(text[self.start : self.end], self.new)
        return Splice(self.start + head, self.end - tail, self.new[head : len(self.new) - tail])


@dataclass(frozen=True)
class Whole:
    """All of the text at once."""

    new: str
    ids: tuple[int, ...] | None = None


Step = Splice | Whole


@dataclass
class Undoable:
    """The last thing that Odin did to a document, as the editor can take it back and do it again."""

    path: Path
    hunks: list[ShownHunk]
    edits: list[Splice]
    """In the text before it, in order."""
    texts: tuple[str, str]
    ids: tuple[tuple[int, ...], tuple[int, ...]]
    """Before, and after."""
    is_accept: bool
    is_undone: bool = False

    def steps(self, page: Page, how: str) -> list[Step]:
        """What leads to the other text, as an editor would tell of it."""
        to = 0 if not self.is_undone else 1
        old, text, ids = self.texts[1 - to], self.texts[to], self.ids[to]
        head, tail = same_at_both_ends(old, text)
        one = Splice(head, len(old) - tail, text[head : len(text) - tail], ids[head : len(ids) - tail])
        every = self.edits if self.is_undone else inverse(self.texts[0], self.edits)
        shift = 0
        each: list[Splice] = []
        for it in every:
            start = it.start + shift
            each.append(replace(it, ids=ids[start : start + len(it.new)]))
            shift += it.growth
        steps = [one] if how == "as one" else each[::-1]
        return [Whole(text, ids)] if how == "as a whole" or not can_be_told(page.text, steps) else list(steps)


def inverse(text: str, edits: Sequence[Splice]) -> list[Splice]:
    shift = 0
    undone: list[Splice] = []
    for it in edits:
        start = it.start + shift
        undone.append(Splice(start, start + len(it.new), text[it.start : it.end]))
        shift += it.growth
    return undone


def typed_in_a_row(steps: Sequence[Step]) -> list[Step]:
    """As the server follows them: what is typed behind what was typed before is one change with it, within a line."""
    followed: list[Step] = []
    behind: int | None = None
    for it in steps:
        last = followed[-1] if followed else None
        is_typed = isinstance(it, Splice) and not it.removes
        if isinstance(it, Splice) and isinstance(last, Splice) and is_typed and it.start == behind:
            ids = None if it.ids is None or last.ids is None else (*last.ids, *it.ids)
            followed[-1] = replace(last, new=last.new + it.new, ids=ids)
        else:
            followed.append(it)
        breaks_a_line = "\n" in it.new or "\r" in it.new
        behind = it.start + len(it.new) if isinstance(it, Splice) and is_typed and not breaks_a_line else None
    return followed


def can_be_told(text: str, steps: Sequence[Splice]) -> bool:
    """No step begins or ends between a carriage return and its line feed: there is no position."""
    for it in steps:
        if is_within_line_end(text, it.start) or is_within_line_end(text, it.end):
            return False
        text = replaced(text, [it])
    return True


def narrowed(text: str, splice: Splice) -> list[Splice]:
    """Without the halves of line ends that an editor needs to have a position."""
    start, end, new = splice.start, splice.end, splice.new
    heads = [0, 1] if text[start : start + 2] == "\r\n" and new.startswith("\r") else [0]
    tails = [0, 1] if text[end - 2 : end] == "\r\n" and new.endswith("\n") else [0]
    fitting = [(head, tail) for head in heads for tail in tails if head + tail <= min(len(new), end - start)]
    return [Splice(start + head, end - tail, new[head : len(new) - tail]) for head, tail in fitting if head or tail]


class FakeEditor:
    """Real texts on a real disk; tells the server what a language client tells."""

    def __init__(self, files: Files, pages: dict[Path, Page]) -> None:
        self.files = files
        self.pages = pages
        self.undoing = False
        self.applying: set[str] = set()
        """The hunks of the file that is being changed: two that are alike are told apart so."""
        self.reopening: set[str] = set()
        self.lie: str | None = None
        self.typed: tuple[int, int, str] = (0, 0, "")
        self.answers = "later"
        self.asking: dict[str, asyncio.Future[ReviewAnswer | None]] = {}
        self.hunks: dict[str, ShownHunk] = {}
        self.users: set[int] = set()
        """Characters that the user typed."""
        self.turns: dict[str, TurnOnScreen] = {}
        self.open_reviews: dict[str, list[str]] = {}
        self.last: Undoable | None = None
        self.clock = itertools.count(1_000_000_000)
        self._coming: list[Step] = []
        """What the server is being told of, step by step."""
        self._own: str | None = None
        """The review that it is for."""
        self._undone: Sequence[ShownHunk] = ()
        """The hunks that the editor undoes or does again."""
        self._without: dict[tuple[str, Path], str] = {}
        """During a step: the texts before it without any of a review's hunks."""
        self.errors: list[BaseException] = []
        files.buffers.watchers.append(self._keep_up)

    @contextmanager
    def noted(self) -> Iterator[None]:
        """What is wrong is known, whoever catches it."""
        try:
            yield
        except BaseException as error:
            self.errors.append(error)
            raise

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
        if page.text != (disk := path.read_bytes().decode()):
            page.exchange(disk)
        self.files.buffers.close(path.as_uri())
        self.last = None

    def save(self, path: Path) -> None:
        self.write(path, self.pages[path].text)
        self.files.buffers.save(path.as_uri())

    def type(self, path: Path, splices: Sequence[tuple[int, int, str]]) -> None:
        """One message with several changes, each of the text that the one before has left."""
        page = self.pages[path]
        text = page.text
        steps: list[Step] = []
        for place, length, new in splices:
            start = min(place, len(text))
            end = min(start + length, len(text))
            start -= is_within_line_end(text, start)
            end += is_within_line_end(text, end)
            steps.append(Splice(start, end, new))
            text = text[:start] + new + text[end:]
        known = set(page.ids)
        self._tell(path, steps)
        self.users.update(set(page.ids) - known)

    def undo_or_redo(self, how: str) -> None:
        """What Odin did last, if nothing was typed since."""
        it = self.last
        assert it is not None
        page = self.pages[it.path]
        steps = it.steps(page, how)
        it.is_undone = not it.is_undone
        self._tell(it.path, steps, it.hunks[0].proposal, it.hunks)

    @property
    def can_undo(self) -> bool:
        it = self.last
        return it is not None and self.pages[it.path].ids == list(it.ids[0 if it.is_undone else 1])

    def _tell(
        self, path: Path, steps: Sequence[Step], own: str | None = None, undone: Sequence[ShownHunk] = ()
    ) -> None:
        page = self.pages[path]
        text = page.text
        changes: list[Change] = []
        for it in steps:
            if isinstance(it, Whole):
                text = it.new
                changes.append(Change(text))
                continue
            changes.append(Change(it.new, position_of(text, it.start), position_of(text, it.end)))
            text = replaced(text, [it])
        page.version += 1
        self._coming, self._own, self._undone = typed_in_a_row(steps), own, undone
        self.files.buffers.change(path.as_uri(), page.version, changes)
        self._own = None
        self._without = {}

    def _keep_up(self, buffer: Buffer) -> None:
        """The page is as the server knows it, at each step."""
        if buffer.change is None:
            return
        assert buffer.path is not None
        page, step = self.pages[buffer.path], self._coming.pop(0)
        self._without = {
            (proposal, buffer.path): text
            for proposal in self.open_reviews
            if (isinstance(step, Splice) or proposal == self._own)  # else what others did may look like its hunks
            and (text := self._text_without(proposal, buffer.path)) is not None
        }
        if isinstance(step, Whole):
            page.exchange(step.new, step.ids)
            for hunk in self._waiting(buffer.path):
                if hunk.proposal != self._own:  # only the texts are known to those who did not do it
                    hunk.anchor = hunk.anchor.blurred()
        else:
            waiting = self._waiting(buffer.path)
            spans, places = [it.anchor.span(page) for it in waiting], [it.anchor.places(page) for it in waiting]
            typed = step.trimmed(page.text)
            page.splice(step.start, step.end, step.new, step.ids)
            for hunk, span, possible in zip(waiting, spans, places, strict=True):
                if span is not None:
                    hunk.anchor = self._moved(hunk, page, span, typed)
                elif hunk.is_decided and hunk.anchor.is_empty_in(page):
                    hunk.anchor = hunk.anchor.blurred()
                elif hunk.proposal == self._own:
                    hunk.anchor = hunk.anchor.kept(page, possible, typed)

    def _waiting(self, path: Path) -> list[ShownHunk]:
        return [it for it in self.hunks.values() if it.path == path and it.receipt is None]

    def is_alone(self, hunk: ShownHunk) -> bool:
        """No other of its review waits in its file."""
        return [it for it in self._waiting(hunk.path) if it.proposal == hunk.proposal] == [hunk]

    def _moved(self, hunk: ShownHunk, page: Page, span: tuple[int, int], step: Splice) -> Anchor:
        """What is typed into what was put there belongs to it. An empty place stays where it is while other hunks of
        its review come and go. If others take away some of it, or what it stood beside, it is lost, also if that comes
        back."""
        start, end = span
        is_inside = start <= step.start and step.end <= end and (step.end > step.start or start < step.start < end)
        if hunk.carried_out and start < end and is_inside:
            return Anchor.at(page, start, end + step.growth)
        now = hunk.anchor.span(page)
        is_own = hunk.proposal == self._own and not self._is_done_unwanted(hunk)
        if not is_own and now and any(is_within_line_end(page.text, at) for at in now):
            return hunk.anchor.blurred()
        if hunk.is_decided and start < end and now is None:
            return hunk.anchor.blurred()
        reach = 1 if start == end else 0
        if hunk.is_decided and not is_own and start < step.end + reach and step.start < end + reach and step.removes:
            return hunk.anchor.blurred()
        return hunk.anchor.kept(page, [start], step) if start == end and is_own else hunk.anchor

    def _is_done_unwanted(self, hunk: ShownHunk) -> bool:
        """It was decided against after the editor had undone it: to do it again is like typing."""
        return (hunk.is_idle or hunk.shown.state == "rejected") and any(it is hunk for it in self._undone)

    def _text_without(self, proposal: str, path: Path) -> str | None:
        """The text if nothing of the review had been carried out; `None` if that cannot be told for sure."""
        page = self.pages[path]
        ours = [it for it in self._waiting(path) if it.proposal == proposal and it.may_be_there]
        spans = [it.anchor.span(page) for it in ours]
        if any(it.doubtful or it.was_on_disk for it in ours):
            return None
        sure = [(*span, it.shown.old_text) for span, it in zip(spans, ours, strict=True) if span is not None]
        return replaced(page.text, [Splice(*it) for it in sure]) if len(sure) == len(ours) else None

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
        with self.noted():
            return self._apply(change)

    def _apply(self, change: FileChange) -> str | None:
        path = path_of(change.uri)
        page = self.pages[path]
        if self.undoing and not self.applying & self.hunks.keys():
            self._do(path, [Splice(*span_of(page.text, it.range), it.new_text) for it in change.edits])
            return None
        lie, self.lie = self.lie, None
        if lie == "is typed into first" and page.version:
            self._recognised(path, change)
            self._blur(path)
            self.type(path, [self.typed])
            page.loosen()
            return "the version is another one"
        if change.version != (page.version or None):
            self._blur(path)
            return "the version is another one"
        todo = self._recognised(path, change)
        if lie:
            for at, (hunk, _) in enumerate(todo):
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
                page.loosen()
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
        if lie == "is typed into afterwards" and page.version:
            self.type(path, [self.typed])
            page.loosen()
        return "no" if lie == "says no, does it" else None

    def _blur(self, path: Path) -> None:
        for hunk in (self.hunks[it] for it in self.applying & self.hunks.keys()):
            hunk.blurred = hunk.blurred or hunk.shown.state != "pending"
            self.turns[hunk.turn].doubtful.add(path)

    def _recognised(self, path: Path, change: FileChange) -> list[tuple[ShownHunk, Splice]]:
        """Each edit must be a hunk that the user saw and wants, at the characters that it was shown for; or one that
        the user does not want any more, at the characters that were put there."""
        page = self.pages[path]
        todo: list[tuple[ShownHunk, Splice]] = []
        for edit in change.edits:
            splice = Splice(*span_of(page.text, edit.range), edit.new_text)
            assert can_be_told(page.text, [splice])
            taken = [hunk for hunk, _ in todo]
            others = [it for it in self.hunks.values() if all(it is not hunk for hunk in taken)]
            splices = [splice, *narrowed(page.text, splice)]
            found = [(it, one) for one in splices for it in others if self._is_it(it, path, page, one)]
            assert found, f"{change} is not what anybody wanted in {page.text!r}"
            todo.append(found[0])
            hunk, _ = found[0]
            hunk.carried_out = hunk.carried_out or hunk.shown.id not in self.applying  # the editor has done just that
        ordered = sorted(todo, key=lambda it: (it[1].start, it[1].end))
        assert all(one.end <= two.start for (_, one), (_, two) in itertools.pairwise(ordered))
        return ordered

    def _is_it(self, hunk: ShownHunk, path: Path, page: Page, splice: Splice) -> bool:
        if hunk.path != path or hunk.receipt is not None or hunk.shown.state not in CHOSEN:
            return False
        if hunk.shown.id in self.applying:
            is_wanted = (hunk.wanted, hunk.carried_out) == (splice.new, False)
            return is_wanted and self.stands(hunk, page, splice.start, splice.end)
        is_seen = hunk.can_be_seen_in(page.text)
        is_back = hunk.shown.id in self.reopening and is_seen and hunk.shown.old_text == splice.new
        is_there = hunk.doubtful or page.text[splice.start : splice.end] == hunk.wanted
        return is_back and is_there and hunk.anchor.holds(page, splice.start, splice.end)

    def stands(self, hunk: ShownHunk, page: Page, start: int, end: int) -> bool:
        """Whether these are the characters that the hunk is about."""
        return page.text[start:end] == hunk.shown.old_text and hunk.anchor.holds(page, start, end)

    def _carry_out(self, path: Path, todo: Sequence[tuple[ShownHunk, Splice]]) -> None:
        page = self.pages[path]
        if not todo or any(not hunk.anchor.holds(page, it.start, it.end) for hunk, it in todo):
            return
        turn = self.turns[todo[0][0].turn]
        turn.before.setdefault(path, page.text)
        turn.since.setdefault(path, next(page.numbers))
        if turn.after.get(path, page.text) != page.text:
            turn.mixed.add(path)
        hunks, edits = [hunk for hunk, _ in todo], [it for _, it in todo]
        text, ids = page.text, tuple(page.ids)
        is_accept = not hunks[0].carried_out
        own = hunks[0].proposal
        self._do(path, edits, own)
        turn.put[path].update((it, page.text[at]) for at, it in enumerate(page.ids) if it not in ids)
        for hunk, it in zip(hunks, inverse(text, edits), strict=True):
            hunk.carried_out = is_accept
            hunk.anchor = Anchor.at(page, it.start, it.end)
        turn.after[path] = page.text
        self.last = Undoable(path, hunks, edits, (text, page.text), (ids, tuple(page.ids)), is_accept)

    def _do(self, path: Path, edits: Sequence[Splice], own: str | None = None) -> None:
        """From the last to the first, as one message; a file that is not open is opened for it."""
        page = self.pages[path]
        if not page.version:
            self.open(path)
        steps = sorted(edits, key=lambda it: (it.start, it.end), reverse=True)
        self._tell(path, steps if can_be_told(page.text, steps) else [Whole(replaced(page.text, edits))], own)

    # what it shows

    def show(self, event: Any) -> None:
        with self.noted():
            self._show(event)

    def _show(self, event: Any) -> None:
        match event:
            case ReviewOpened(review):
                self.open_reviews[review.proposal_id] = []
                for file in review.files:
                    for hunk in file.hunks:
                        self._track(path_of(file.uri), review, hunk)
            case ReviewChanged(proposal_id, hunks):
                flipped = [it for it in hunks if self._change(self.hunks[it.id], it)]
                for path in {self.hunks[it.id].path for it in flipped}:
                    self._anchor_anew(proposal_id, path)
            case ReviewClosed(proposal_id, receipts):
                assert {it.hunk_id for it in receipts} == set(self.open_reviews.pop(proposal_id))
                for receipt in receipts:
                    assert receipt.state != "pending"
                    check(self.hunks[receipt.hunk_id], receipt, self.pages)
                    self.hunks[receipt.hunk_id].receipt = receipt
            case _:
                pass

    def _track(self, path: Path, review: Review, hunk: ReviewHunk) -> None:
        page = self.pages[path]
        start, end = span_of(page.text, hunk.range)
        assert hunk.state != "pending" or page.text[start:end] == hunk.old_text
        shown = ShownHunk(path, review.turn_id, review.proposal_id, hunk, Anchor.at(page, start, end))
        if hunk.state == "accepted":  # somebody has typed the same while it was a draft, and perhaps more
            shown.carried_out = shown.recognised = shown.blurred = True
        elif self.turns[review.turn_id].policy == "auto":
            shown.decision = Decision(hunk_id=hunk.id, decision="accept")
        self.hunks[hunk.id] = shown
        self.open_reviews[review.proposal_id].append(hunk.id)

    def _change(self, hunk: ShownHunk, now: ReviewHunk) -> bool:
        """Whether the text has decided, and nobody else."""
        before, hunk.shown = hunk.shown.state, now
        if now.state == "pending" and before in CHOSEN:
            assert self.has(hunk, now.old_text)
            hunk.wait_again()
            return True
        if now.state == "pending" and before == "rejected":
            assert now.id in self.reopening
            hunk.wait_again()
        if now.state in CHOSEN and hunk.decision is None and not hunk.recognised:
            hunk.recognised = hunk.carried_out = True
            assert self.has(hunk, hunk.wanted or "")
            return True
        if now.state in CHOSEN and not (hunk.carried_out or hunk.doubtful or hunk.blurred):
            wanted, is_open = hunk.wanted, self.pages[hunk.path].version > 0
            is_old, is_new = self.has(hunk, now.old_text), wanted is not None and self.has(hunk, wanted)
            is_there = is_new and not is_old
            hunk.blurred = is_new and is_old and not hunk.is_idle  # in a line end there is no position
            hunk.carried_out = is_open and is_there
            hunk.was_on_disk = hunk.was_on_disk or (not is_open and is_there)
            return hunk.carried_out
        return False

    def has(self, hunk: ShownHunk, text: str) -> bool:
        page = self.pages[hunk.path]
        return any(page.text[start:end] == text for start, end in spans_of(page.text, hunk.shown.range))

    def _anchor_anew(self, proposal: str, path: Path) -> None:
        """All that is in the text, and not in what it was before, is the review's: so its hunks are where they say."""
        page = self.pages[path]
        if not page.version:
            return
        ours = [it for it in self._waiting(path) if it.proposal == proposal and it.shown.state != "superseded"]
        every = list(itertools.product(*(self._spans(it, page) for it in ours)))
        before = self._without.get((proposal, path))
        if before is not None:
            every = [spans for spans in every if text_without(page.text, ours, spans) == before]
        assert every
        for it, *spans in zip(ours, *every, strict=True):
            if not it.is_decided or not it.anchor.is_blurred:
                anchor, is_there = Anchor.at(page, *spans[0]), page.text[slice(*spans[0])] == self._text_of(it)
                it.anchor = anchor if is_there and len(set(spans)) == 1 else anchor.blurred()

    def _spans(self, hunk: ShownHunk, page: Page) -> list[tuple[int, int]]:
        """Where it says that it is."""
        spans = spans_of(page.text, hunk.shown.range)
        return [it for it in spans if page.text[slice(*it)] == self._text_of(hunk)] or spans

    def _text_of(self, hunk: ShownHunk) -> str | None:
        return hunk.wanted if hunk.carried_out else hunk.shown.old_text


def text_without(text: str, hunks: Sequence[ShownHunk], spans: Sequence[tuple[int, int]]) -> str:
    pairs = zip(spans, hunks, strict=True)
    return replaced(text, [Splice(*span, it.shown.old_text) for span, it in pairs if it.carried_out])


def check(hunk: ShownHunk, receipt: Receipt, pages: dict[Path, Page]) -> None:
    """A receipt says what happened."""
    page = pages[hunk.path]
    decision = hunk.decision.decision if hunk.decision else None
    spans = spans_of(page.text, hunk.shown.range)
    here = [page.text[start:end] for start, end in spans] if page.version else [receipt.text, hunk.shown.new_text]
    is_on_disk = not page.version and any(page.text[slice(*it)] == hunk.wanted for it in spans)
    is_there = hunk.can_be_seen_in(page.text) or hunk.is_idle or is_on_disk
    is_clear = not hunk.doubtful and not hunk.blurred
    match receipt.state:
        case "accepted" | "modified" if receipt.reason == CHANGED_SINCE:
            assert is_there
            assert hunk.anchor.span(page) is None or not is_clear
        case "accepted":
            assert decision == "accept" or hunk.recognised
            assert is_there
            assert hunk.shown.new_text in here
        case "modified":
            assert is_there
            assert receipt.text in here
        case "rejected":
            assert decision in ("reject", None)
            assert not hunk.carried_out
        case "superseded":
            assert receipt.text is None
            assert receipt.reason
            assert not hunk.carried_out or hunk.doubtful
        case "pending":
            assert not hunk.carried_out or hunk.doubtful


def outcomes(text: str, todo: Sequence[tuple[ShownHunk, Splice]]) -> Iterator[tuple[set[int], str]]:
    """What each choice of these edits makes of the text."""
    for size in range(1, len(todo) + 1):
        for chosen in itertools.combinations(range(len(todo)), size):
            yield set(chosen), replaced(text, [todo[at][1] for at in chosen])


def replaced(text: str, edits: Sequence[Splice]) -> str:
    for it in sorted(edits, key=lambda it: (it.start, it.end), reverse=True):
        text = text[: it.start] + it.new + text[it.end :]
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
        loop.call_soon(future.set_result, work(*arguments))
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

    def run(self, work: Callable[[], T | Coroutine[Any, Any, T]]) -> T:
        """Do it in the loop, and let everything happen that follows from it."""

        async def run() -> T:
            result = work()
            value: Any = await result if asyncio.iscoroutine(result) else result
            await asyncio.sleep(CLIENT_SECONDS * 3)
            return value

        value = self.runner.run(run())
        for error in self.editor.errors:
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
            self.running = [self._turn(policy) for policy in policies]

        self.run(start)

    def _turn(self, policy: Any) -> TurnOnScreen:
        turn_id = f"t{len(self.editor.turns)}"
        turn = TurnReview(turn_id, self.editor.show)
        shown = self.editor.turns[turn_id] = TurnOnScreen(Draft(self.desk, turn, Shown()), policy)
        turn.decided_late = lambda proposal: self._late(shown, proposal)
        return shown

    def _late(self, turn: TurnOnScreen, proposal: Proposal) -> None:
        assert turn.is_over
        assert proposal.is_settled
        assert proposal.id not in [*self.editor.open_reviews, *turn.late]
        turn.late.append(proposal.id)

    def _noted(self, change: Callable[[FileProposal], FileChange]) -> Callable[[FileProposal], FileChange]:
        def noted(file: FileProposal) -> FileChange:
            self.editor.applying = {it.id for it in file.due}
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
            if hunk.receipt is None and hunk.shown.state == "pending" and is_asked:
                firsts.setdefault(decision.hunk_id, decision)

        async def take() -> None:
            for hunk_id, decision in firsts.items():
                self.editor.hunks[hunk_id].decision = decision
            if answering is not None:
                self.editor.asking[answering].set_result(ReviewAnswer(decisions=tuple(decisions)))
                return
            receipts = await self.desk.decide([*decisions, STRANGE])
            assert {it.hunk_id for it in receipts} == set(firsts)
            for it in receipts:
                self._compare(it)

        self.run(take)

    def _compare(self, receipt: Receipt) -> None:
        """With the document, or with what was told when the review was closed."""
        hunk = self.editor.hunks[receipt.hunk_id]
        if hunk.receipt is None:
            check(hunk, receipt, self.editor.pages)
        else:
            assert receipt == hunk.receipt

    @precondition(lambda self: any(it.is_decided and it.receipt is None for it in self.editor.hunks.values()))
    @rule(index=st.integers(0, 7), lie=st.sampled_from([None] * 4 + [MEANWHILE] * 4 + [*LIES]), typed=SPLICES)
    def reopen(self, index: int, lie: str | None, typed: tuple[int, int, str]) -> None:
        """One of those that can be, or all that were ever shown."""
        waiting = {hunk_id: it for hunk_id, it in self.editor.hunks.items() if it.receipt is None}
        decided = [hunk_id for hunk_id, it in waiting.items() if it.is_decided]
        wanted = [decided[index % len(decided)]] if index < 6 else list(self.editor.hunks)
        sure = [it for it in wanted if it in decided and lie is None and self._is_as_left(waiting[it])]
        meanwhile = typed if lie == MEANWHILE else None
        self.editor.lie, self.editor.typed, self.editor.reopening = None if meanwhile else lie, typed, set(wanted)
        receipts = self.run(lambda: self._reopen(wanted, meanwhile))
        self.editor.lie, self.editor.reopening = None, set()
        assert {it.hunk_id for it in receipts} == set(wanted) & set(decided)
        states = {it.hunk_id: it.state for it in receipts}
        assert all(states[it] == "pending" for it in sure)
        assert all(it.state == "pending" or it.reason for it in receipts)

    async def _reopen(self, wanted: Sequence[str], meanwhile: tuple[int, int, str] | None) -> list[Receipt]:
        reopening = asyncio.create_task(self.desk.reopen(self.desk.proposals.select(hunk_ids=wanted)))
        if meanwhile is not None:
            await asyncio.sleep(0)
            for path in [path for path, page in self.editor.pages.items() if page.version]:
                self.editor.type(path, [meanwhile])
        receipts = await reopening
        for it in receipts:
            if it.state == "pending":
                self._compare(it)
        return receipts

    def _is_as_left(self, hunk: ShownHunk) -> bool:
        """Nobody has come near to it since it was decided."""
        page = self.editor.pages[hunk.path]
        span = hunk.anchor.span(page) if page.version and not hunk.doubtful and not hunk.blurred else None
        text = hunk.wanted if hunk.carried_out else hunk.shown.old_text
        return span is not None and page.text[slice(*span)] == text

    @precondition(lambda self: self.editor.can_undo)
    @rule(times=st.integers(1, 3), how=HOW)
    def undo_or_redo(self, times: int, how: str) -> None:
        """In the editor."""
        for _ in range(times):
            it = self.editor.last
            assert it is not None
            asked = [hunk for hunk in it.hunks if hunk.receipt is None and not hunk.is_idle]
            were = [hunk.shown.state for hunk in asked]
            self.run(lambda: self.editor.undo_or_redo(how))
            now = [hunk.shown.state for hunk in asked]
            if it.is_undone == it.is_accept:
                assert all(state == "pending" for state, was in zip(now, were, strict=True) if was in CHOSEN)
            elif self.editor.is_alone(it.hunks[0]):  # else it may look like another one that was done
                assert all(state in CHOSEN for state, was in zip(now, were, strict=True) if was == "pending")

    # the model

    @precondition(lambda self: any(turn.step is None for turn in self.running))
    @rule(
        which=st.integers(0, 1),
        calls=CALLS,
        lie=st.sampled_from([None] * 8 + [*LIES]),
        typed=SPLICES,
        answers=st.sampled_from(["later", "hangs"]),
    )
    def propose(self, which: int, calls: Any, lie: str | None, typed: tuple[int, int, str], answers: str) -> None:
        first, second = self.running[which], self.running[1 - which]
        turn = first if first.step is None else second
        self.editor.lie, self.editor.typed, self.editor.answers = lie, typed, answers
        self._go_on(turn, self._step(turn, calls))

    @precondition(lambda self: self.is_open and self.running[0].step is None)
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

    @precondition(lambda self: self.is_open and self.running[1].step is None)
    @rule(
        calls=CALLS,
        kinds=st.lists(st.sampled_from(["accept", "accept", "reject", None]), min_size=3, max_size=3),
        then=st.lists(st.sampled_from(["undo", "undo", "reopen", "type"]), min_size=1, max_size=3),
        how=HOW,
        typed=SPLICES,
    )
    def propose_and_have_some_of_it(self, calls: Any, kinds: Any, then: Any, how: str, typed: Any) -> None:
        """The other one: decided little by little, and taken back."""
        self.propose(1, calls, None, (0, 0, ""), "later")
        shown = [it for it, hunk in self.editor.hunks.items() if hunk.shown.state == "pending" and not hunk.receipt]
        pairs = [(it, kind) for it, kind in zip(shown[1:], itertools.cycle(kinds), strict=False) if kind]
        self._take([Decision(hunk_id=it, decision=kind) for it, kind in pairs], as_answer=False)
        for index, it in enumerate(then):
            if it == "undo" and self.editor.can_undo:
                self.undo_or_redo(1, how)
            elif it == "reopen" and any(hunk.is_decided and not hunk.receipt for hunk in self.editor.hunks.values()):
                self.reopen(index, None, (0, 0, ""))
            elif it == "type" and self.is_open:
                self.type(0, [typed])

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

    @precondition(lambda self: any(not turn.draft.is_empty for turn in self.running))
    @rule(which=st.integers(0, 1))
    def end_turn(self, which: int) -> None:
        """With the policy `end`, what was gathered is reviewed now."""
        turn = self.running[which]
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
            self.editor.errors.append(error)

    @precondition(lambda self: any(turn.step is not None for turn in self.running))
    @rule(which=st.integers(0, 1), drops=st.booleans())
    def cancel_turn(self, which: int, *, drops: bool) -> None:
        """The next one begins at once."""
        turn = self.running[which]
        if turn.step is not None:
            self.run(lambda: self._cancel(turn, drops=drops))
            self.running[which] = self._turn(turn.policy)

    async def _cancel(self, turn: TurnOnScreen, *, drops: bool) -> None:
        """What waits goes on waiting, unless nobody wants it any more."""
        ours = [it for it in self.editor.hunks.values() if self.editor.turns[it.turn] is turn and it.receipt is None]
        waiting = [it for it in ours if it.shown.state == "pending"]
        turn.draft.turn.drops_rest = drops
        turn.is_over = True
        if turn.step is not None:
            turn.step.cancel()
            await asyncio.wait([turn.step])
        turn.draft.drop()
        told = {it.hunk_id: it for it in turn.draft.turn.receipts}
        assert len(told) == len(turn.draft.turn.receipts)
        for it in ours:
            assert told[it.shown.id].state == it.shown.state or it.shown.state in CHOSEN
            self._compare(told[it.shown.id])
        for it in waiting:
            receipt = told[it.shown.id]
            assert (receipt.state, receipt.reason) == (("rejected", CANCELLED) if drops else ("pending", None))

    @precondition(lambda self: any(turn.before and turn.step is None for turn in self.editor.turns.values()))
    @rule(which=PLACES, again=st.booleans())
    def undo_turn(self, which: int, *, again: bool) -> None:
        """Of characters that are alike nobody can tell in a text which ones the user typed; but how many there are."""
        ended = [(it, turn) for it, turn in self.editor.turns.items() if turn.step is None and turn.before]
        turn_id, turn = ended[which % len(ended)]
        before = {path: page.text for path, page in self.editor.pages.items()}
        theirs = {path: self._typed_since(path, since) for path, since in turn.since.items()}
        gone = {path: self._gone(path, turn) for path in turn.before}
        carried_out = {hunk_id for hunk_id, it in self.editor.hunks.items() if it.carried_out}
        undone = self._undo(turn_id)
        restored, kept = set(undone.restored), {it.path for it in undone.kept}
        changed = [it for hunk_id, it in self.editor.hunks.items() if it.carried_out != (hunk_id in carried_out)]
        turn.doubtful.update(it.path for it in changed)  # it has set free what waited for a hunk that is gone now
        assert all(it.reason for it in undone.kept)
        assert restored | kept <= set(turn.before) | turn.doubtful
        for path in set(turn.before) - turn.doubtful:
            text = self.editor.pages[path].text
            if before[path] == turn.after[path] and path not in turn.mixed:  # or somebody has typed what Odin had left
                assert path not in kept
                assert text == turn.before[path]
            else:
                assert not theirs[path] - gone[path] - Counter(text)
            assert path in restored or text == before[path]
        if again and undone.undo_id is not None:
            self._do_again(undone.undo_id, turn, restored, before)
        if not kept:
            turn.doubtful.clear()
        turn.doubtful.update(set(turn.before) - restored - kept)  # the editor has undone it, and may do it again
        turn.mixed.update(kept)
        for path in set(turn.before) - kept:
            for noted in (turn.before, turn.after, turn.since):
                noted.pop(path, None)
            turn.mixed.discard(path)

    def _do_again(self, undo_id: str, turn: TurnOnScreen, restored: set[Path], before: dict[Path, str]) -> None:
        after = {path: page.text for path, page in self.editor.pages.items()}
        undone = self._undo(undo_id)
        kept = {it.path for it in undone.kept}
        assert set(undone.restored) | kept <= restored | turn.doubtful
        sure = restored - turn.doubtful
        assert not sure & kept
        assert all(self.editor.pages[path].text == before[path] for path in sure)
        self._undo(undone.undo_id or undo_id)
        assert all(self.editor.pages[path].text == after[path] for path in sure)

    def _undo(self, turn_id: str) -> Undone:
        self.editor.undoing = True
        try:
            return self.run(lambda: take_back(self.undo_log, turn_id, self.desk.applier))
        finally:
            self.editor.undoing = False

    def _typed_since(self, path: Path, since: int) -> Counter[str]:
        page = self.editor.pages[path]
        characters = zip(page.ids, page.text, strict=True)
        return Counter(it for number, it in characters if number > since and number in self.editor.users)

    def _gone(self, path: Path, turn: TurnOnScreen) -> Counter[str]:
        """What the turn has put there and others have taken away: if they type it again, nobody can tell."""
        return Counter(it for number, it in turn.put[path].items() if number not in self.editor.pages[path].ids)

    # always

    @invariant()
    def server_and_editor_hold_the_same_text(self) -> None:
        for path, page in self.editor.pages.items():
            buffer = self.editor.files.buffers.of_path(path)
            assert (buffer.text if buffer else None) == (page.text if page.version else None)

    @invariant()
    def all_is_shown_where_it_is(self) -> None:
        for hunk in self.editor.hunks.values():
            page = self.editor.pages[hunk.path]
            if hunk.receipt is not None or not page.version:
                continue
            here = spans_of(page.text, hunk.shown.range)
            if hunk.shown.state == "pending":
                assert any(self.editor.stands(hunk, page, *it) for it in here)
            elif hunk.is_decided and (sure := hunk.anchor.span(page)) is not None and not hunk.doubtful:
                assert sure in here

    @invariant()
    def who_hears_of_what_has_changed_knows_all_hunks_as_they_are(self) -> None:
        for proposal in self.desk.proposals:
            shown = [hunk for file in self.desk.shown(proposal).files for hunk in file.hunks]
            assert [self.editor.hunks[it.id].shown for it in shown] == shown

    @invariant()
    def what_is_decided_is_closed(self) -> None:
        assert {it.id for it in self.desk.proposals} == set(self.editor.open_reviews)
        for hunks in self.editor.open_reviews.values():
            assert any(self.editor.hunks[it].shown.state == "pending" for it in hunks)

    def teardown(self) -> None:
        try:
            if hasattr(self, "editor"):
                for turn in self.running:
                    self.run(lambda turn=turn: self._cancel(turn, drops=False))
                left = set(self.editor.open_reviews)
                rest = [Decision(hunk_id=it, decision="reject") for it in self.editor.hunks]
                self._take(rest, as_answer=False)
                assert left <= {it for turn in self.editor.turns.values() for it in turn.late}
                assert list(self.desk.proposals) == []
                assert self.desk.drafts == []
                assert self.editor.open_reviews == {}
                assert self.run(lambda: len(asyncio.all_tasks())) == 1
        finally:
            self.runner.close()
            shutil.rmtree(self.folder)


@pytest.mark.thorough
class TestReviews(Reviews.TestCase):
    settings = settings(
        max_examples=EXAMPLES,
        derandomize=IS_SAME,
        stateful_step_count=20,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )

    def runTest(self) -> None:
        """What Hypothesis draws depends on the constants in all modules that happen to be imported, unless it is kept
        from looking at them."""
        with patch.object(providers, "_get_local_constants", providers.Constants) if IS_SAME else nullcontext():
            super().runTest()
