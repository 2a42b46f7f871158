"""Which lines of a file Odin has written: those of its accepted changes, followed from text to text until now.

All of it is worked out from the logs of turns that can be undone, when somebody asks. A line is Odin's until somebody
rewrites it; to indent it otherwise is not to rewrite it."""

from bisect import bisect_right
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from pathlib import Path
from threading import Lock

from odin_lsp.ports import FileOperation
from odin_lsp.review.hunks import Hunk, apply
from odin_lsp.review.undo_log import RENAMED, UndoLog
from odin_lsp.review.undo_parts import Edits, edits_of
from odin_lsp.review.undo_places import begins_line, text_with
from odin_lsp.review.undo_steps import FileSteps
from odin_lsp.workspace.comparing import changed_lines, same_lines
from odin_lsp.workspace.text import whole_lines

MAX_FILES = 50
"""Of which it is known what Odin wrote, until a turn changes something."""
MAX_COMPARED = 20
"""Files that are gone, and may be what another one was called before."""
ALIKE = 0.5
"""How much of a text has to be in another one for it to be the same file under another name."""


@dataclass(frozen=True, slots=True)
class Author:
    """A change of a turn."""

    turn_id: str
    hunk_id: str
    session_id: str | None
    at: float


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines that a change has written, from the first to before the last, counted from 0."""

    first: int
    last: int
    author: Author
    is_changed: bool
    """Somebody has rewritten other lines of the change since."""


@dataclass(frozen=True, slots=True)
class Traced:
    """A text with the authors of its lines; `None` for those that are not Odin's."""

    lines: Sequence[str] = ()
    """Without the blanks around them."""
    authors: Sequence[Author | None] = ()
    changed: frozenset[Author | None] = frozenset()

    def carried_to(self, text: str) -> "Traced":
        """Others have made it this text."""
        lines = _bare(text)
        if lines == self.lines:
            return self
        authors = _carried(self.lines, self.authors, lines, None)
        left, now = Counter(self.authors), Counter(authors)
        return Traced(lines, authors, self.changed | {it for it in left if now[it] < left[it]})

    def after(self, base: str, written: Sequence[tuple[Hunk, Author | None]]) -> "Traced":
        """A turn has made these changes, each of which stands in the base."""
        before, lines, authors = whole_lines(base), list[str](), list[Author | None]()
        done = 0
        for first, last, hunks, author in _blocks(base, before, written):
            old = "".join(before[first:last])
            new = _bare(apply(old, hunks))
            lines += [*self.lines[done:first], *new]
            authors += [*self.authors[done:first], *_carried(_bare(old), self.authors[first:last], new, author)]
            done = last
        return Traced([*lines, *self.lines[done:]], [*authors, *self.authors[done:]], self.changed)

    @property
    def passages(self) -> list[Passage]:
        found: list[Passage] = []
        at = 0
        for author, lines in groupby(self.authors):
            first, at = at, at + len(list(lines))
            if author is not None:
                found.append(Passage(first, at, author, author in self.changed))
        return found


@dataclass(frozen=True, slots=True)
class _Entry:
    """What a turn did to a file, without the texts."""

    at: float
    turn_id: str
    file_id: str
    operation: FileOperation
    path: str
    new_path: str | None
    steps: tuple[str, ...]
    out: frozenset[str]
    has_hunks: bool


class Provenance:
    """It waits for the disk."""

    def __init__(self, log: UndoLog) -> None:
        self._log = log
        self._one_at_a_time = Lock()
        self._stamps: Mapping[str, tuple[float, int]] = {}
        self._entries: dict[str, list[_Entry]] = {}
        """By turn."""
        self._traced: OrderedDict[Path, tuple[list[_Entry], Traced]] = OrderedDict()
        """Each file as the last turn has left it, and what led there."""
        self._is_traced: set[Path] = set()
        """Since a log has changed."""
        self._gone: dict[_Entry, str] = {}
        """The last texts of files that are gone."""
        self._last: tuple[Path, str, list[Passage]] | None = None

    def of(self, path: Path, text: str) -> list[Passage]:
        """What is Odin's of the file, which has this text now."""
        with self._one_at_a_time:
            self._look()
            if self._last is not None and self._last[:2] == (path, text):
                return self._last[2]
            traced = self._traced_now(path, text)
            passages = traced.carried_to(text).passages if any(traced.authors) else []
            self._last = path, text, passages
            return passages

    def renamed(self, path: Path, new_path: Path) -> None:
        """By the user: a file, or a folder."""
        with self._one_at_a_time:
            self._look()
            names = {name for turn in self._entries.values() for it in turn for name in (it.path, it.new_path) if name}
            if any(Path(it).is_relative_to(path) for it in names):
                self._log.note_rename(path, new_path)

    def _look(self) -> None:
        """Read again which turns have changed which files, as far as that is another answer than before."""
        stamps = self._log.stamps()
        if stamps == self._stamps:
            return
        for turn_id in self._entries.keys() - stamps.keys():
            del self._entries[turn_id]
        for turn_id, stamp in stamps.items():
            if self._stamps.get(turn_id) != stamp:
                self._entries[turn_id] = self._read(turn_id, stamp[0])
        self._stamps = stamps
        self._is_traced.clear()
        self._last = None

    def _read(self, turn_id: str, changed_at: float) -> list[_Entry]:
        if turn_id == RENAMED:
            about = (), frozenset[str](), False
            return [_Entry(it.at, "", "", "rename", it.path, it.new_path, *about) for it in self._log.renames()]
        files = self._log.read(turn_id).files.values()
        return [_entry(turn_id, it, changed_at) for it in files if not _is_out(it)]

    def _traced_now(self, path: Path, text: str) -> Traced:
        """Only what turns did since the last time is looked at."""
        history, traced = self._traced.get(path, ([], Traced()))
        if path not in self._is_traced:
            before, history = history, self._history(path, text)
            is_longer = history[: len(before)] == before
            traced = self._trace(history[len(before) :], traced) if is_longer else self._trace(history, Traced())
            self._is_traced.add(path)
        self._traced[path] = history, traced
        self._traced.move_to_end(path)
        if len(self._traced) > MAX_FILES:
            left, _ = self._traced.popitem(last=False)
            self._is_traced.discard(left)
        return traced

    def _history(self, path: Path, text: str) -> list[_Entry]:
        """What turns did to the file, the oldest first, whatever it was called."""
        entries = sorted((it for turn in self._entries.values() for it in turn), key=lambda it: it.at, reverse=True)
        name, names, history = path, {path}, list[_Entry]()
        at = 0
        while at < len(entries):
            it = entries[at]
            at += 1
            if it.operation == "rename" and it.new_path is not None and name.is_relative_to(it.new_path):
                name = Path(it.path) / name.relative_to(it.new_path)
                names.add(name)
            elif it.operation == "delete" and name.is_relative_to(it.path):
                break
            elif it.operation in ("edit", "create") and name == Path(it.path):
                history.append(it)
                if it.operation == "create":
                    break
            if at == len(entries):
                since = entries.index(history[-1]) + 1 if history else 0
                oldest = self._file(history[-1]) if history else None
                then = self._log.before(oldest) if oldest is not None else text
                earlier = self._called_before(entries[since:], names, then or "")
                if earlier is not None:
                    name, at = Path(earlier.path), entries.index(earlier)
                    names.add(name)
        return history[::-1]

    def _called_before(self, entries: Sequence[_Entry], names: set[Path], text: str) -> _Entry | None:
        """The last change of a file that is gone and had nearly this text: somebody has renamed it."""
        last: dict[Path, _Entry] = {}
        for it in entries:
            if it.operation in ("edit", "create") and Path(it.path) not in names:
                last.setdefault(Path(it.path), it)
        gone = [it for path, it in last.items() if not path.exists()][:MAX_COMPARED]
        self._gone = {it: self._gone.get(it) or self._left(it) for it in gone}
        shared = {it: _shared(self._gone[it], text) for it in gone}
        return max((it for it in gone if shared[it]), key=lambda it: shared[it], default=None)

    def _trace(self, history: Sequence[_Entry], traced: Traced) -> Traced:
        for entry in history:
            file = self._file(entry)
            edits = self._edits(file)
            if file is None or edits is None:
                continue
            authors = _authors(entry, file)
            if file.operation == "create":
                lines = _bare(edits.base)
                traced = Traced(lines, [next(iter(authors.values()), None)] * len(lines))
            places = [it for it in edits.places if not it.is_out(file.out)]
            by = [next((authors[own] for own in reversed(it.ids) if authors[own]), None) for it in places]
            written = [(it.hunk, author) for it, author in zip(places, by, strict=True)]
            traced = traced.carried_to(edits.base).after(edits.base, written)
        return traced

    def _file(self, entry: _Entry) -> FileSteps | None:
        return self._log.read(entry.turn_id).files.get(entry.file_id)

    def _edits(self, file: FileSteps | None) -> Edits | None:
        """`None` if it is not known any more, or never was, what the turn did there."""
        if file is None or not file.has_hunks:
            return None
        before = self._log.before(file)
        return edits_of(file, before) if before is not None or file.operation == "create" else None

    def _left(self, entry: _Entry) -> str:
        """The text as the turn has left it; empty if that is not known."""
        file = self._file(entry)
        edits = self._edits(file)
        return text_with(edits.base, edits.places, file.out) if file is not None and edits is not None else ""


def _entry(turn_id: str, file: FileSteps, changed_at: float) -> _Entry:
    at = file.steps[0].at
    about = file.operation, file.path, file.new_path, tuple(it.id for it in file.steps), file.out, file.has_hunks
    return _Entry(at or changed_at, turn_id, file.id, *about)


def _is_out(file: FileSteps) -> bool:
    return bool(file.ids) and file.out.issuperset(file.ids)


def _authors(entry: _Entry, file: FileSteps) -> dict[str, Author | None]:
    """By hunk, in the order in which they were made."""
    return {
        hunk.id: None if step.is_reopened else Author(entry.turn_id, hunk.id, step.session_id, step.at or entry.at)
        for step in file.steps
        for hunk in step.hunks or ()
    }


def _bare(text: str) -> list[str]:
    return [line.strip() for line in whole_lines(text)]


def _carried(
    old: Sequence[str], authors: Sequence[Author | None], new: Sequence[str], author: Author | None
) -> list[Author | None]:
    """Of lines that are there still the same; of all others, this one."""
    carried = [author] * len(new)
    for first, now, size in same_lines(changed_lines(old, new), len(old)):
        carried[now : now + size] = authors[first : first + size]
    return carried


def _blocks(
    base: str, lines: Sequence[str], written: Sequence[tuple[Hunk, Author | None]]
) -> Iterator[tuple[int, int, list[Hunk], Author | None]]:
    """The lines that changes touch, from the first to before the last; changes that share a line together. Their hunks
    stand in these lines."""
    starts = [0, *accumulate(map(len, lines))]
    blocks: list[tuple[int, int, list[Hunk], Author | None]] = []
    for hunk, author in written:
        first, last = (min(bisect_right(starts, at) - 1, len(lines)) for at in (hunk.start, hunk.end))
        if hunk.start == len(base) and not begins_line(base, hunk.start):
            first -= 1
        ends_line = hunk.new.endswith(("\n", "\r")) if hunk.new else begins_line(base, hunk.start)
        if not (ends_line and begins_line(base, hunk.end)):
            last = min(last + 1, len(lines))
        hunks = [hunk]
        if blocks and first < blocks[-1][1]:
            first, before, earlier, _ = blocks.pop()
            last, hunks = max(last, before), [*earlier, hunk]
        blocks.append((first, last, hunks, author))
    for first, last, hunks, author in blocks:
        yield first, last, [Hunk(it.start - starts[first], it.old, it.new) for it in hunks], author


def _shared(one: str, two: str) -> int:
    """How many lines they have in common; 0 if that is too little for one file."""
    lines, others = (Counter(filter(None, _bare(it))) for it in (one, two))
    shared = (lines & others).total()
    return shared if shared >= ALIKE * max(lines.total(), others.total()) else 0
