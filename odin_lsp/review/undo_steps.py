"""The lines of a turn's log, and what they say when they are read together."""

import json
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from odin_lsp.errors import RequestError
from odin_lsp.ports import FileOperation
from odin_lsp.review.before_images import digest_of
from odin_lsp.review.proposals import TEXT
from odin_lsp.values import Value, from_wire, is_object, to_wire

State = Literal["intended", "done", "dropped"]


@dataclass(frozen=True, slots=True)
class StepHunk(Value):
    """A place that a step has changed, in the text right before it: so many characters made way for new ones."""

    id: str
    """Of the hunk in the review."""
    start: int
    removed: int
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Value):
    """A line of a log. A later one of the same id takes its place."""

    id: str
    state: State
    """Dropped: nothing came of it."""
    path: str
    operation: FileOperation
    before: str | None = None
    """The digest of the text before the turn; `None` if there was none."""
    after: tuple[str, ...] = ()
    """Of the text that the turn left, or may have left. Empty if there is none, or if somebody has edited before the
    turn was done."""
    hunks: tuple[StepHunk, ...] | None = None
    """What leads from the one to the other; for a new file its text, for a delete or a rename only its id. `None` where
    that was not kept: then the file is as the turn has left it, or it is not known what of it is the turn's. If it is
    done, they are those that were intended."""
    new_path: str | None = None
    was_clean: bool = False
    """The editor had nothing unsaved of the file before."""
    folders: tuple[str, ...] = ()
    """Those that were not there before, the innermost first."""
    lost: str | None = None
    """Why the text before could not be kept."""
    text: str | None = None
    """The text before, where an earlier version has kept it."""
    at: float | None = None
    """When it happened; `None` where an earlier version has kept it, as below."""
    session_id: str | None = None
    is_reopened: bool = False
    """It has the text as before a decision that was taken back: nothing of it is the turn's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip(Value):
    """A line of a log: an undo takes hunks of a step out of the text, or puts them in again."""

    undo: str
    """Its id."""
    state: State
    step: str
    hunks: tuple[str, ...]
    is_in: bool
    is_whole: bool = False
    """All of the turn was to be undone, not only a file or some hunks."""
    left: str | None = None
    """The digest of the text that it has left, if nobody else came in between."""
    starts: tuple[int, ...] = ()
    """Where its places are in that text."""


@dataclass(frozen=True, slots=True)
class Renamed(Value):
    """A line of a log of its own: the user has renamed a file that turns have changed, or a folder of such."""

    at: float
    path: str
    new_path: str


Line = Step | Flip


@dataclass(frozen=True, slots=True)
class _EarlierStep(Value):
    path: str
    operation: FileOperation
    before: str | None = None
    after: str | None = None
    new_path: str | None = None


@dataclass(frozen=True, slots=True)
class _EarlierLog(Value):
    """A turn as earlier versions have kept it."""

    turn_id: str
    files: tuple[_EarlierStep, ...]


@dataclass(frozen=True, slots=True)
class FileSteps:
    """What a turn did to a file, as one way back: a step, and the edits that went on from what it had left."""

    steps: tuple[Step, ...]
    out: frozenset[str] = frozenset()
    """The hunks that have been taken back."""

    @property
    def id(self) -> str:
        return self.steps[0].id

    @property
    def path(self) -> str:
        return self.steps[0].path

    @property
    def new_path(self) -> str | None:
        return self.steps[0].new_path

    @property
    def operation(self) -> FileOperation:
        return self.steps[0].operation

    @property
    def state(self) -> State:
        """That of the last step: whether anybody knows what became of it."""
        return self.steps[-1].state

    @property
    def before(self) -> str | None:
        return self.steps[0].before

    @property
    def after(self) -> tuple[str, ...]:
        """If it is not known what became of the last step, it may have happened or not."""
        *_, last = self.steps
        return (*self.steps[-2].after, *last.after) if last.state == "intended" and len(self.steps) > 1 else last.after

    @property
    def was_clean(self) -> bool:
        return self.steps[0].was_clean

    @property
    def folders(self) -> tuple[str, ...]:
        return self.steps[0].folders

    @property
    def lost(self) -> str | None:
        return self.steps[0].lost

    @property
    def text(self) -> str | None:
        return self.steps[0].text

    @property
    def has_hunks(self) -> bool:
        return all(it.hunks is not None for it in self.steps)

    @property
    def ids(self) -> tuple[str, ...]:
        """All that can be taken back of it; where its hunks are not known, that is one thing."""
        hunks = dict.fromkeys(hunk.id for it in self.steps for hunk in it.hunks or ())
        return tuple(hunks) if self.has_hunks else (self.id,)

    def after_flip(self, flip: Flip) -> "FileSteps":
        return replace(self, out=self.out.difference(flip.hunks) if flip.is_in else self.out.union(flip.hunks))


@dataclass(slots=True)
class Steps:
    """Edits of one file by one turn are one way back, if nobody else came in between."""

    files: dict[str, FileSteps] = field(default_factory=dict[str, FileSteps])
    under_way: dict[str, Step] = field(default_factory=dict[str, Step])
    undos: dict[str, list[Flip]] = field(default_factory=dict[str, list[Flip]])
    cut_off: dict[tuple[str, str], Flip] = field(default_factory=dict[tuple[str, str], Flip])
    """Of undos: what was about to happen, and perhaps has."""
    is_undone: bool = False
    """The turn as a whole, as far as that was possible."""
    _of_path: dict[str, str] = field(default_factory=dict[str, str])
    """What the next edit of a file belongs to."""
    _of_step: dict[str, str] = field(default_factory=dict[str, str])

    def take(self, line: Line) -> None:
        if isinstance(line, Flip):
            self._flip(line)
            return
        intended = self.under_way.pop(line.id, None)
        match line.state:
            case "intended":
                self.under_way[line.id] = line
            case "done":
                self.is_undone = False
                hunks = intended.hunks if intended is not None and line.hunks is None else line.hunks
                self._fold(replace(line, hunks=hunks))
            case "dropped":
                self.files.pop(line.id, None)
                self._of_path = {path: it for path, it in self._of_path.items() if it != line.id}

    def grown_by(self, step: Step) -> FileSteps | None:
        """What would grow by this step. What an undo has changed does not, nor what others have edited since, unless it
        is not known what exactly the turn did there."""
        known = self.files.get(self._of_path.get(step.path, "")) if step.operation == "edit" else None
        if known is None or known.out:
            return None
        return known if step.before in known.after or not known.has_hunks or step.hunks is None else None

    @property
    def all(self) -> list[FileSteps]:
        """Also those of which nobody knows what became of them: they may have happened or not."""
        steps = Steps(dict(self.files), _of_path=dict(self._of_path), _of_step=dict(self._of_step))
        for it in self.under_way.values():
            steps._fold(it)
        return list(steps.files.values())

    def _fold(self, step: Step) -> None:
        if step.id in self._of_step:
            known = self.files[self._of_step[step.id]]
            same = tuple(step if it.id == step.id else it for it in known.steps)
            self.files[known.id] = replace(known, steps=same)
            return
        known = self.grown_by(step)
        if known is None:
            self._set_free(step)
            self.files[step.id] = FileSteps((step,))
            self._of_step[step.id] = step.id
            if step.operation in TEXT:
                self._of_path[step.path] = step.id
            else:
                self._of_path.clear()
        elif known.has_hunks and step.hunks is not None:
            self.files[known.id] = replace(known, steps=(*known.steps, step))
            self._of_step[step.id] = known.id
        else:
            after = step.after if step.state == "done" else (*known.after, *step.after)
            left = after if step.before in known.after else ()
            self.files[known.id] = FileSteps((replace(known.steps[0], after=left, hunks=None),))

    def _set_free(self, step: Step) -> None:
        """A hunk is in the text once: if it is made again without going on from before, somebody has undone it."""
        ids = {it.id for it in step.hunks or ()}
        for it in [it for it in self.files.values() if it.path == step.path] if step.path in self._of_path else ():
            self.files[it.id] = replace(it, out=it.out.union(ids.intersection(it.ids)))

    def _flip(self, flip: Flip) -> None:
        self.cut_off.pop((flip.undo, flip.step), None)
        file = self.files.get(flip.step)
        if flip.state == "intended":
            self.cut_off[flip.undo, flip.step] = flip
        elif flip.state == "done" and file is not None:
            self.files[file.id] = file.after_flip(flip)
            self.is_undone = not flip.is_in and (flip.is_whole or self.is_undone)
            self.undos.setdefault(flip.undo, []).append(flip)


def new_step(path: Path, operation: FileOperation, new_path: Path | None = None) -> Step:
    made = (new_path or path).parents if operation in ("create", "rename") else ()
    return Step(
        id=secrets.token_hex(8),
        state="intended",
        path=str(path),
        operation=operation,
        new_path=str(new_path) if new_path else None,
        at=time.time(),
        folders=tuple(str(it) for it in made if not it.exists()),
    )


def read(log: Path) -> Iterator[Line]:
    """What cannot be read is left out: a line is cut short only where nothing came after it."""
    try:
        data = log.read_bytes()
        if log.suffix == ".json":
            yield from map(_step_of, from_wire(_EarlierLog, json.loads(data)).files)
            return
    except (OSError, ValueError, RequestError):
        return
    for line in filter(None, data.split(b"\n")):
        with suppress(ValueError, RequestError):
            found = json.loads(line)
            yield from_wire(Flip if is_object(found) and "undo" in found else Step, found)


def renames(log: Path) -> Iterator[Renamed]:
    """As `read` does."""
    with suppress(OSError):
        for line in filter(None, log.read_bytes().split(b"\n")):
            with suppress(ValueError, RequestError):
                yield from_wire(Renamed, json.loads(line))


def _step_of(earlier: _EarlierStep) -> Step:
    """Its id is the same each time that it is read."""
    return Step(
        id=digest_of(json.dumps(to_wire(earlier), sort_keys=True)),
        state="done",
        path=earlier.path,
        operation=earlier.operation,
        before=digest_of(earlier.before) if earlier.before is not None else None,
        after=(digest_of(earlier.after),) if earlier.after is not None else (),
        new_path=earlier.new_path,
        text=earlier.before,
    )
