"""What files were before a turn changed them, so that a whole turn can be taken back. It outlives the process.

A turn's log only grows: what is about to happen is a line before it happens, and what became of it another one.
"""

import asyncio
import json
import os
import secrets
import shutil
import time
import weakref
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock

from odin_lsp import locks, system
from odin_lsp.config import ReviewSettings
from odin_lsp.errors import RequestError
from odin_lsp.events import EventRecord, TurnFinished
from odin_lsp.ports import FileOperation
from odin_lsp.review import before_images, undo_steps
from odin_lsp.review.before_images import digest_of
from odin_lsp.review.proposals import TEXT
from odin_lsp.review.undo_steps import FileSteps, Line, Renamed, Step, StepHunk, Steps
from odin_lsp.values import to_wire
from odin_lsp.workspace.text import utf8_size

IMAGES = "images"
UNDOING = "undoing"
RENAMED = "~renamed"
"""No turn is called so."""
MAX_RENAMED = 1024 * 1024
UNDO = "~"
"""In the id of an undo, behind that of its turn."""
NO_TEXT = "it is no text"
FOLDER = "a folder is not kept"
TOO_LARGE = "what it was is more than `review.undoBytes` allows"
_DAY = 24 * 60 * 60 * 10**9
"""Nanoseconds."""
TICK = 1000
"""The same: no usual file system knows times less exactly."""
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | system.OWN


@dataclass(slots=True)
class _Turn:
    """One that runs: the lock on its log keeps others from removing it."""

    steps: Steps
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
        self._undoing = asyncio.Lock()
        self._grown: int | None = None
        """Bytes since something was last removed; `None`: that was not yet looked at."""
        self._last: int | None = None
        """When the last turn has changed something, in nanoseconds; `None`: that was not yet looked at."""
        weakref.finalize(self, _let_go, self._turns)

    @asynccontextmanager
    async def undoing(self) -> AsyncGenerator[None]:
        """One undo at a time, in whichever Odin. Where nothing can be written, no other one is kept from it."""
        async with self._undoing:
            with ExitStack() as stack:
                try:
                    await asyncio.to_thread(stack.enter_context, locks.held(self._folder() / UNDOING))
                except locks.Held as error:
                    raise RequestError(str(error)) from None
                except OSError:
                    pass
                yield

    async def intend(self, turn_id: str, step: Step, before: str | None, expected: Sequence[str]) -> str | None:
        """It is about to happen: have what was before on disk. Why that cannot be, if so."""
        return await asyncio.to_thread(self._note, turn_id, replace(step, state="intended"), before, expected)

    async def finish(self, turn_id: str, step: Step, before: str | None, after: str | None) -> None:
        """It has happened; `after` is what it has left, `None` if that is not known."""
        left = () if after is None else (after,)
        await asyncio.to_thread(self._note, turn_id, replace(step, state="done"), before, left)

    async def drop(self, turn_id: str, step: Step) -> None:
        """It was intended, if at all, and nothing came of it."""
        turn = self._turns.get(turn_id)
        if turn is not None and step.id in turn.steps.under_way:
            await self.add(turn_id, [replace(step, state="dropped", hunks=None)])

    async def add(self, turn_id: str, lines: Sequence[Line]) -> bool:
        """What an undo does, and what it finds out about the turn; whether that outlives the process."""
        return await asyncio.to_thread(self._add, turn_id, lines)

    def refusal(self, turn_id: str, path: Path, operation: FileOperation, before: str | None) -> str | None:
        """Why this could not be taken back, as far as that can be told without a try. It does not wait."""
        turn = self._turns.get(turn_id)
        if turn is not None and (known := turn.steps.grown_by(_probe(path, operation, before))) is not None:
            return known.lost
        if operation == "delete" and before is None:
            return FOLDER if path.is_dir() else NO_TEXT
        size = utf8_size(before or "")
        if size and size + (turn.size if turn else 0) > self._settings().undo_bytes:
            return TOO_LARGE
        folder = next(it for it in (self._folder(), *self._folder().parents) if it.exists())
        if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
            return f"{folder} cannot be written"
        space = shutil.disk_usage(folder)
        is_full = space.total > 0 and size >= space.free
        return f"there is no space left for {folder}" if is_full else None

    def read(self, turn_id: str) -> Steps:
        """As it is on disk, where another Odin may have added to it; if that is not all of it, as it is known here."""
        with self._one_at_a_time:
            turn = self._turns.get(turn_id)
            return turn.steps if turn is not None and turn.is_unwritten else self._read(turn_id)

    def steps(self, turn_id: str) -> list[FileSteps]:
        """What the turn did, in order."""
        return self.read(turn_id).all

    def touched(self, turn_id: str) -> dict[Path, bool]:
        """The files whose text it has changed; whether the editor had nothing unsaved of them before."""
        touched: dict[Path, bool] = {}
        for file in self.steps(turn_id):
            if file.operation in TEXT:
                touched.setdefault(Path(file.path), file.was_clean)
        return touched

    def before(self, file: FileSteps) -> str | None:
        """The text before it; `None` if there was none, or it is gone."""
        if file.text is not None or file.before is None:
            return file.text
        return before_images.read(self._folder() / IMAGES, file.before)

    def turn_of(self, undo_id: str) -> str | None:
        """The turn that this undo was of; `None` if it is the id of a turn."""
        turn_id, mark, _ = undo_id.rpartition(UNDO)
        return turn_id if mark and undo_id in self.read(turn_id).undos else None

    def turns(self) -> list[str]:
        """The one that changed something last comes first."""
        with self._one_at_a_time:
            unwritten = [turn_id for turn_id, turn in self._turns.items() if turn.is_unwritten]
            logs = sorted(self._logs(), key=_changed_at, reverse=True)
        return list(dict.fromkeys([*reversed(unwritten), *(it.stem for it in logs)]))

    def stamps(self) -> dict[str, tuple[float, int]]:
        """When the log of each turn has changed, and its size: others whenever it says something else. That of renames
        is among them."""
        stamps: dict[str, tuple[float, int]] = {}
        for log in (*self._logs(), self._folder() / RENAMED):
            with suppress(FileNotFoundError):
                status = log.stat()
                stamps[log.stem] = status.st_mtime, status.st_size
        return stamps

    def note_rename(self, path: Path, new_path: Path) -> None:
        """By the user, of what turns have changed."""
        line = Renamed(time.time(), str(path), str(new_path))
        with suppress(OSError), before_images.locked(self._folder()):
            log = system.open_no_link(self._folder() / RENAMED, _APPEND, 0o600)
            try:
                if os.fstat(log).st_size < MAX_RENAMED:
                    os.write(log, b"\n" + json.dumps(to_wire(line)).encode() + b"\n")
            finally:
                os.close(log)

    def renames(self) -> list[Renamed]:
        return list(undo_steps.renames(self._folder() / RENAMED))

    def follow(self, record: EventRecord) -> None:
        """A turn that is over is let go of when the next one begins. It does not wait."""
        if isinstance(record.event, TurnFinished) and (turn := self._turns.get(record.turn_id)) is not None:
            turn.is_over = True

    def _note(self, turn_id: str, step: Step, before: str | None, after: Sequence[str]) -> str | None:
        with self._one_at_a_time:
            turn = self._running(turn_id)
            before = before if step.operation in ("edit", "delete") else None
            digest = digest_of(before) if before is not None else None
            step = replace(step, before=digest, after=tuple(map(digest_of, after)), hunks=self._affordable(turn, step))
            intended = turn.steps.under_way.get(step.id)
            is_kept = intended is not None and intended.before == digest
            lost = (
                intended.lost
                if intended is not None and is_kept
                else self.refusal(turn_id, Path(step.path), step.operation, before)
            )
            line = replace(step, lost=lost)
            if intended is not None and intended.hunks == step.hunks:
                line = replace(line, hunks=None)
            try:
                with before_images.locked(self._folder()):
                    if before is not None and not lost and not turn.steps.grown_by(step):
                        self._count(turn, before_images.keep(self._folder() / IMAGES, before))
                    self._append(turn_id, turn, [line])
                    self._count(turn, _size(line.hunks))
            except OSError as error:
                turn.is_unwritten = True
                lost = lost if is_kept else lost or f"{self._folder()} cannot be written: {error.strerror}"
            turn.steps.take(replace(line, lost=lost))
            self._prune()
        return lost

    def _affordable(self, turn: _Turn, step: Step) -> tuple[StepHunk, ...] | None:
        """Its hunks, if there is room for them; what a file was matters more."""
        return step.hunks if turn.size + _size(step.hunks) <= self._settings().undo_bytes else None

    def _running(self, turn_id: str) -> _Turn:
        for over in [it for it, turn in self._turns.items() if turn.is_over]:
            _close(self._turns[over])
            if not self._turns[over].is_unwritten:
                del self._turns[over]
        if turn_id not in self._turns:
            self._turns[turn_id] = _Turn(self._read(turn_id))
        return self._turns[turn_id]

    def _count(self, turn: _Turn, size: int) -> None:
        turn.size += size
        self._grown = self._grown + size if self._grown is not None else None

    def _add(self, turn_id: str, lines: Sequence[Line]) -> bool:
        with self._one_at_a_time:
            turn = self._turns.get(turn_id)
            steps = turn.steps if turn is not None else self._read(turn_id)
            try:
                with before_images.locked(self._folder()):
                    self._append(turn_id, turn, lines, as_of_then=True)
            except OSError:
                turn = self._turns.setdefault(turn_id, _Turn(steps, is_over=True))
                turn.is_unwritten = True
            for it in lines:
                steps.take(it)
            return turn is None or not turn.is_unwritten

    def _append(self, turn_id: str, turn: _Turn | None, lines: Sequence[Line], *, as_of_then: bool = False) -> None:
        """One write. It begins on a line of its own, whatever the last one has left. `as_of_then`: the turn has changed
        nothing since."""
        log = turn.log if turn is not None else None
        if log is None or not os.fstat(log).st_nlink:
            log = system.open_no_link(self._file(turn_id), _APPEND, 0o600)
        if turn is not None and log != turn.log:
            _close(turn)
            turn.log = log
            try:
                locks.hold(log, self._file(turn_id), shared=True)
            except locks.Held:
                _close(turn)
                raise
        status = os.fstat(log)
        with open(log, "ab", closefd=turn is None) as file:
            file.write(b"".join(b"\n" + json.dumps(to_wire(it)).encode() + b"\n" for it in lines))
            file.flush()
        if as_of_then and status.st_size:
            _set_changed_at(self._file(turn_id), status.st_mtime_ns)
        else:
            self._put_last(self._file(turn_id))

    def _put_last(self, log: Path) -> None:
        """Of all turns this one has changed something last, whatever a clock says that has jumped."""
        if self._last is None:
            self._last = max((_changed_at(it) for it in self._logs() if it != log), default=0)
        if (now := _changed_at(log)) <= self._last:
            now = self._last + TICK
            _set_changed_at(log, now)
        self._last = now

    def _read(self, turn_id: str) -> Steps:
        steps = Steps()
        for suffix in (".json", ".jsonl"):
            for it in undo_steps.read(self._file(turn_id, suffix)):
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
                if total <= limit and _changed_at(log) >= time.time_ns() - self._settings().undo_days * _DAY:
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


def new_undo(turn_id: str) -> str:
    return f"{turn_id}{UNDO}{secrets.token_hex(4)}"


def _probe(path: Path, operation: FileOperation, before: str | None) -> Step:
    digest = digest_of(before) if before is not None else None
    return replace(undo_steps.new_step(path, operation), before=digest, hunks=())


def _size(hunks: Sequence[StepHunk] | None) -> int:
    return sum(utf8_size(it.new) for it in hunks or ())


def _named(log: Path) -> set[str]:
    """The images that the log needs."""
    steps = (it for it in undo_steps.read(log) if isinstance(it, Step))
    return {it.before for it in steps if it.before is not None and it.text is None}


def _is_held(log: Path) -> bool:
    """Whether its turn runs, here or in another Odin."""
    try:
        descriptor = system.open_no_link(log, os.O_RDONLY | system.OWN)
    except OSError:
        return False
    try:
        locks.hold(descriptor, log, patience=0)
    except locks.Held:
        return True
    finally:
        os.close(descriptor)
    return False


def _changed_at(log: Path) -> int:
    """In nanoseconds."""
    try:
        return log.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _set_changed_at(log: Path, at: int) -> None:
    os.utime(log, ns=(at, at))  # not by its descriptor: Windows knows only names here


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
