"""What files were before a turn changed them, so that a whole turn can be taken back. It outlives the process.

A turn's log only grows: what is about to happen is a line before it happens, and what became of it another one.
"""

import asyncio
import json
import os
import secrets
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Literal

from odin_lsp import locks
from odin_lsp.config import ReviewSettings
from odin_lsp.errors import RequestError
from odin_lsp.events import EventRecord, TurnFinished
from odin_lsp.ports import FileOperation
from odin_lsp.review import before_images
from odin_lsp.review.before_images import bytes_of, digest_of
from odin_lsp.review.proposals import TEXT
from odin_lsp.values import Value, from_wire, to_wire

IMAGES = "images"
NO_TEXT = "it is no text"
FOLDER = "a folder is not kept"
TOO_LARGE = "what it was is more than `review.undoBytes` allows"
_DAY = 24 * 60 * 60
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Value):
    """A line of a log. A later one of the same id takes its place."""

    id: str
    state: Literal["intended", "done", "dropped"]
    """Dropped: nothing came of it, or it has been taken back."""
    path: str
    operation: FileOperation
    before: str | None = None
    """The digest of the text before the turn; `None` if there was none."""
    after: tuple[str, ...] = ()
    """Of the text that the turn left, or may have left: where it is another one now, somebody has edited since. Empty
    if there is none, or if somebody has edited before the turn was done."""
    new_path: str | None = None
    lost: str | None = None
    """Why the text before could not be kept."""
    text: str | None = None
    """The text before, where an earlier version has kept it."""


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


@dataclass(slots=True)
class _Steps:
    """Edits of one file by one turn are one step back, if nobody else came in between."""

    done: dict[str, Step] = field(default_factory=dict[str, Step])
    under_way: dict[str, Step] = field(default_factory=dict[str, Step])
    _of_path: dict[str, str] = field(default_factory=dict[str, str])
    """The step that the next edit of a file belongs to."""

    def take(self, step: Step) -> None:
        self.under_way.pop(step.id, None)
        match step.state:
            case "intended":
                self.under_way[step.id] = step
            case "done":
                self._fold(step)
            case "dropped":
                self.done.pop(step.id, None)
                self._of_path = {path: it for path, it in self._of_path.items() if it != step.id}

    def known(self, path: str, operation: FileOperation) -> Step | None:
        """The step that would grow by this one."""
        return self.done[self._of_path[path]] if operation == "edit" and path in self._of_path else None

    @property
    def all(self) -> list[Step]:
        """Also those of which nobody knows what became of them: they may have happened or not."""
        steps = _Steps(dict(self.done), {}, dict(self._of_path))
        for it in self.under_way.values():
            steps._fold(it)
        return list(steps.done.values())

    def _fold(self, step: Step) -> None:
        known = self.known(step.path, step.operation)
        if known is not None:
            after = step.after if step.state == "done" else (*known.after, *step.after)
            self.done[known.id] = replace(known, after=after if step.before in known.after else ())
            return
        self.done[step.id] = step
        if step.operation in TEXT:
            self._of_path[step.path] = step.id
        else:
            self._of_path.clear()


@dataclass(slots=True)
class _Turn:
    """One that runs: the lock on its log keeps others from removing it."""

    steps: _Steps
    log: int | None = None
    size: int = 0
    """Of what was kept for it."""
    is_unwritten: bool = False
    """Some of it is known only here."""
    is_over: bool = False


class UndoLog:
    """Its methods wait for the disk, but for those that are coroutines."""

    def __init__(self, folder: Callable[[], Path], settings: Callable[[], ReviewSettings] = ReviewSettings) -> None:
        self._folder = folder
        self._settings = settings
        self._one_at_a_time = Lock()
        self._turns: dict[str, _Turn] = {}
        self._grown: int | None = None
        """Bytes since something was last removed; `None`: that was not yet looked at."""
        weakref.finalize(self, _let_go, self._turns)

    async def intend(self, turn_id: str, step: Step, before: str | None, expected: Sequence[str]) -> str | None:
        """It is about to happen: have what was before on disk. Why that cannot be, if so."""
        return await asyncio.to_thread(self._note, turn_id, replace(step, state="intended"), before, expected)

    async def finish(self, turn_id: str, step: Step, before: str | None, after: str | None) -> None:
        left = () if after is None else (after,)
        await asyncio.to_thread(self._note, turn_id, replace(step, state="done"), before, left)

    async def drop(self, turn_id: str, step: Step) -> None:
        """It was intended, if at all, and nothing came of it."""
        turn = self._turns.get(turn_id)
        if turn is not None and step.id in turn.steps.under_way:
            await self.take_off(turn_id, step)

    async def take_off(self, turn_id: str, step: Step) -> None:
        """It has been taken back."""
        await asyncio.to_thread(self._take_off, turn_id, step)

    def refusal(self, turn_id: str, path: Path, operation: FileOperation, before: str | None) -> str | None:
        """Why this could not be taken back, as far as that can be told without a try. It does not wait."""
        turn = self._turns.get(turn_id)
        if turn is not None and (known := turn.steps.known(str(path), operation)) is not None:
            return known.lost
        if operation == "delete" and before is None:
            return FOLDER if path.is_dir() else NO_TEXT
        size = len(bytes_of(before or ""))
        if size and size + (turn.size if turn else 0) > self._settings().undo_bytes:
            return TOO_LARGE
        folder = next(it for it in (self._folder(), *self._folder().parents) if it.exists())
        if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
            return f"{folder} cannot be written"
        space = os.statvfs(folder)
        is_full = space.f_blocks > 0 and size >= space.f_bavail * space.f_frsize
        return f"there is no space left for {folder}" if is_full else None

    def steps(self, turn_id: str) -> list[Step]:
        """What the turn did, in order."""
        with self._one_at_a_time:
            return self._known_steps(turn_id).all

    def before(self, step: Step) -> str | None:
        """The text before it; `None` if there was none, or it is gone."""
        if step.text is not None or step.before is None:
            return step.text
        return before_images.read(self._folder() / IMAGES, step.before)

    def turns(self) -> list[str]:
        """The one that changed something last comes first."""
        with self._one_at_a_time:
            unwritten = [turn_id for turn_id, turn in self._turns.items() if turn.is_unwritten]
            logs = sorted(self._logs(), key=_changed_at, reverse=True)
        return list(dict.fromkeys([*reversed(unwritten), *(it.stem for it in logs)]))

    def forget(self, turn_id: str) -> None:
        with self._one_at_a_time:
            if (turn := self._turns.pop(turn_id, None)) is not None:
                _close(turn)
            for suffix in (".jsonl", ".json"):
                self._file(turn_id, suffix).unlink(missing_ok=True)

    def follow(self, record: EventRecord) -> None:
        """A turn that is over is let go of when the next one begins. It does not wait."""
        if isinstance(record.event, TurnFinished) and (turn := self._turns.get(record.turn_id)) is not None:
            turn.is_over = True

    def _note(self, turn_id: str, step: Step, before: str | None, after: Sequence[str]) -> str | None:
        with self._one_at_a_time:
            turn = self._running(turn_id)
            before = before if step.operation in ("edit", "delete") else None
            digest = digest_of(before) if before is not None else None
            step = replace(step, before=digest, after=tuple(map(digest_of, after)))
            intended = turn.steps.under_way.get(step.id)
            is_kept = intended is not None and intended.before == digest
            lost = (
                intended.lost
                if intended is not None and is_kept
                else self.refusal(turn_id, Path(step.path), step.operation, before)
            )
            try:
                with before_images.locked(self._folder()):
                    if before is not None and not lost and not turn.steps.known(step.path, step.operation):
                        self._keep(turn, before)
                    self._append(turn_id, turn, replace(step, lost=lost))
            except OSError as error:
                turn.is_unwritten = True
                lost = lost if is_kept else lost or f"{self._folder()} cannot be written: {error.strerror}"
            turn.steps.take(replace(step, lost=lost))
            self._prune()
        return lost

    def _running(self, turn_id: str) -> _Turn:
        for over in [it for it, turn in self._turns.items() if turn.is_over]:
            _close(self._turns[over])
            if not self._turns[over].is_unwritten:
                del self._turns[over]
        if turn_id not in self._turns:
            self._turns[turn_id] = _Turn(self._known_steps(turn_id))
        return self._turns[turn_id]

    def _keep(self, turn: _Turn, before: str) -> None:
        size = before_images.keep(self._folder() / IMAGES, before)
        turn.size += size
        self._grown = self._grown + size if self._grown is not None else None

    def _take_off(self, turn_id: str, step: Step) -> None:
        with self._one_at_a_time:
            turn = self._turns.get(turn_id)
            dropped = replace(step, state="dropped", text=None)
            with suppress(OSError), before_images.locked(self._folder()):
                self._append(turn_id, turn, dropped)
            if turn is not None:
                turn.steps.take(dropped)

    def _append(self, turn_id: str, turn: _Turn | None, step: Step) -> None:
        """One write. It begins on a line of its own, whatever the last one has left."""
        log = turn.log if turn is not None else None
        if log is None or not os.fstat(log).st_nlink:
            log = os.open(self._file(turn_id), _APPEND, 0o600)
        if turn is not None and log != turn.log:
            _close(turn)
            turn.log = log
            try:
                locks.hold(log, self._file(turn_id), shared=True)
            except locks.Held:
                _close(turn)
                raise
        with open(log, "ab", closefd=turn is None) as file:
            file.write(b"\n" + json.dumps(to_wire(step)).encode() + b"\n")

    def _known_steps(self, turn_id: str) -> _Steps:
        if turn_id in self._turns:
            return self._turns[turn_id].steps
        steps = _Steps()
        for suffix in (".json", ".jsonl"):
            for it in _read(self._file(turn_id, suffix)):
                steps.take(it)
        return steps

    def _prune(self) -> None:
        """Take away what is too old, or too much, the oldest turns first; and all texts that no turn needs any more."""
        limit = self._settings().undo_bytes
        if self._grown is not None and self._grown <= limit / 10:
            return
        self._grown = 0
        with suppress(OSError), before_images.locked(self._folder(), alone=True):
            logs = sorted(self._logs(), key=_changed_at)
            needed = Counter(digest for log in logs for digest in _named(log))
            sizes = {it: it.stat().st_size for it in self._images() if it.name in needed}
            _remove([it for it in self._images() if it not in sizes])
            total = sum(sizes.values()) + sum(it.stat().st_size for it in logs)
            for log in logs:
                if total <= limit and _changed_at(log) >= time.time() - self._settings().undo_days * _DAY:
                    break
                if _is_held(log):
                    continue
                named = _named(log)
                total -= log.stat().st_size
                _remove([log])
                needed.subtract(named)
                gone = [it for it in sizes if it.name in named and not needed[it.name]]
                total -= sum(sizes.pop(it) for it in gone)
                _remove(gone)

    def _images(self) -> list[Path]:
        return list((self._folder() / IMAGES).iterdir()) if (self._folder() / IMAGES).is_dir() else []

    def _logs(self) -> list[Path]:
        return [*self._folder().glob("*.jsonl"), *self._folder().glob("*.json")]

    def _file(self, turn_id: str, suffix: str = ".jsonl") -> Path:
        safe = "".join(it if it.isalnum() or it in "-_" else "_" for it in turn_id)[:100]
        return self._folder() / f"{safe}{suffix}"


def new_step(path: Path, operation: FileOperation, new_path: Path | None = None) -> Step:
    return Step(
        id=secrets.token_hex(8),
        state="intended",
        path=str(path),
        operation=operation,
        new_path=str(new_path) if new_path else None,
    )


def _read(log: Path) -> Iterator[Step]:
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
            yield from_wire(Step, json.loads(line))


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


def _named(log: Path) -> set[str]:
    """The images that the log needs."""
    return {it.before for it in _read(log) if it.before is not None and it.text is None}


def _is_held(log: Path) -> bool:
    """Whether its turn runs, here or in another Odin."""
    try:
        descriptor = os.open(log, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        locks.hold(descriptor, log, patience=0)
    except locks.Held:
        return True
    finally:
        os.close(descriptor)
    return False


def _changed_at(log: Path) -> float:
    try:
        return log.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _remove(files: Sequence[Path]) -> None:
    for it in files:
        it.unlink(missing_ok=True)


def _close(turn: _Turn) -> None:
    if turn.log is not None:
        os.close(turn.log)
        turn.log = None


def _let_go(turns: dict[str, _Turn]) -> None:
    for turn in turns.values():
        _close(turn)
