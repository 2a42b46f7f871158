"""Reviews that wait, on disk: one file each, written before anything is done and gone when all of it is decided.

The first line is what was proposed, in the text as it was then; each further line what has become of some hunks. Where
these are now is seen in the text. Who has a review open holds the lock on its file."""

import asyncio
import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from odin_lsp import locks, private_files
from odin_lsp.errors import RequestError, SessionError
from odin_lsp.ports import Cause, FileOperation, HunkState
from odin_lsp.review.hunks import Hunk
from odin_lsp.review.proposals import FileProposal, PendingHunk, Proposal, Wish
from odin_lsp.tasks import LARGE, beside_loop
from odin_lsp.values import Value, from_wire, to_wire
from odin_lsp.workspace.text import Lines

log = logging.getLogger("odin.review")
SUFFIX = ".jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredHunk(Value):
    id: str
    start: int
    """In the text as it was when the review was opened."""
    old: str
    new: str
    wishes: tuple[Wish, ...]
    state: HunkState
    text: str | None = None
    reason: str | None = None
    cause: Cause | None = None
    applied: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile(Value):
    path: str
    operation: FileOperation
    base: str
    hunks: tuple[StoredHunk, ...]
    new_path: str | None = None
    recursive: bool = False
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReview(Value):
    id: str
    turn_id: str
    session_id: str
    reason: str
    files: tuple[StoredFile, ...]
    atomic: bool = False
    origin: str = ""

    def proposal(self) -> Proposal:
        """With each file in the text in which what was applied stands, and nothing else has happened."""
        files = [_file(it) for it in self.files]
        return Proposal(self.turn_id, files, self.reason, self.id, self.atomic, self.origin)


@dataclass(frozen=True, slots=True, kw_only=True)
class HunkChange(Value):
    """What has become of a hunk."""

    id: str
    state: HunkState
    text: str | None = None
    reason: str | None = None
    cause: Cause | None = None
    applied: str | None = None


class ReviewJournal:
    def __init__(self, folder: Callable[[], Path]) -> None:
        self._folder = folder
        self._open: dict[str, int] = {}
        """The descriptors of those that are open here, which hold their locks."""
        self._unwritten: dict[str, list[object]] = {}
        """Of each: what the disk has refused so far."""
        self._unremoved: set[str] = set()
        """Those that have ended, and are still there."""

    async def begin(self, proposal: Proposal, session_id: str) -> str | None:
        """Why it would not outlive Odin, if so."""
        self.catch_up()
        path = self._folder() / f"{proposal.id}{SUFFIX}"
        kept = stored(proposal, session_id)
        line = await beside_loop(sum(len(it.base) for it in kept.files), lambda: _line(to_wire(kept)))
        try:
            await beside_loop(len(line), _append_and_close, os.dup(self._begun(proposal.id, path)), line)
        except asyncio.CancelledError:
            self.end(proposal.id)
            raise
        except (OSError, SessionError) as error:
            self._let_go(proposal.id)
            return (error.strerror if isinstance(error, OSError) else None) or str(error)
        return None

    def note(self, proposal_id: str, hunks: Iterable[PendingHunk]) -> str | None:
        """What has become of these, before anybody acts on it; why that cannot be kept, if so. Decisions outlive a
        power cut, with one wait for all that were taken together; what was carried out can be seen in the text."""
        noted = list(hunks)
        changes = [
            to_wire(
                HunkChange(id=it.id, state=it.state, text=it.text, reason=it.reason, cause=it.cause, applied=it.applied)
            )
            for it in noted
        ]
        if proposal_id not in self._open or not changes:
            return None
        self._unwritten.setdefault(proposal_id, []).append(changes)
        return self._write(proposal_id, surely=any(it.state != "pending" and it.applied is None for it in noted))

    def end(self, proposal_id: str) -> None:
        """All of it is decided."""
        if proposal_id in self._open:
            self._unremoved.add(proposal_id)
            self.catch_up()

    def catch_up(self) -> None:
        """Do what the disk has refused before."""
        for proposal_id in tuple(self._unremoved):
            self._remove(proposal_id)
        for proposal_id in tuple(self._unwritten):
            self._write(proposal_id, surely=True)

    def waiting(self) -> Iterator[StoredReview]:
        """Those that nobody has open; they are open here from now on. It waits for the disk, and a little for an Odin
        that is about to end."""
        folder = self._folder()
        until = time.monotonic() + locks.PATIENCE
        for path in sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else ():
            patience = max(0.0, until - time.monotonic())
            if path.stem not in self._open and (found := self._claim(path, patience)) is not None:
                yield found

    def close(self) -> None:
        """Let others go on with them."""
        self.catch_up()
        for proposal_id in tuple(self._open):
            self._let_go(proposal_id)

    def _begun(self, proposal_id: str, path: Path) -> int:
        """An Odin that starts right now takes one that is still empty away, as it was never used."""
        while True:
            self._let_go(proposal_id)
            self._open[proposal_id] = log = private_files.open_file(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            locks.hold(log, path)
            if path.exists():
                return log

    def _claim(self, path: Path, patience: float) -> StoredReview | None:
        try:
            descriptor = private_files.open_file(path, os.O_RDWR | os.O_APPEND)
        except (OSError, SessionError) as error:
            log.warning("the review in %s cannot be read: %s", path, error)
            return None
        try:
            locks.hold(descriptor, path, patience=patience)
            found = _read(path) if path.exists() else None
        except locks.Held:
            os.close(descriptor)
            return None
        except (OSError, ValueError, RequestError) as error:  # a newer Odin may have written it
            os.close(descriptor)
            log.warning("the review in %s cannot be read: %s", path, error)
            return None
        if found is None:
            _take_away(path, descriptor)
            return None
        self._open[found.id] = descriptor
        return found

    def _write(self, proposal_id: str, *, surely: bool) -> str | None:
        """Why it is not possible, if so. `surely`: it outlives a power cut."""
        log, records = self._open[proposal_id], self._unwritten[proposal_id]
        try:
            while records:
                _append(log, _line(records[0]))
                del records[0]
            if surely:
                os.fsync(log)
        except OSError as error:
            return error.strerror or str(error)
        del self._unwritten[proposal_id]
        return None

    def _remove(self, proposal_id: str) -> None:
        """Or empty it: nobody goes on with that."""
        try:
            (self._folder() / f"{proposal_id}{SUFFIX}").unlink(missing_ok=True)
        except OSError:
            try:
                os.ftruncate(self._open[proposal_id], 0)
            except OSError:
                return
        self._unremoved.discard(proposal_id)
        self._let_go(proposal_id)

    def _let_go(self, proposal_id: str) -> None:
        self._unwritten.pop(proposal_id, None)
        log = self._open.pop(proposal_id, None)
        if log is not None:
            os.close(log)


def stored(proposal: Proposal, session_id: str) -> StoredReview:
    return StoredReview(
        id=proposal.id,
        turn_id=proposal.turn_id,
        session_id=session_id,
        reason=proposal.reason,
        files=tuple(
            StoredFile(
                path=str(file.path),
                operation=file.operation,
                base=file.base,
                hunks=tuple(_hunk(it) for it in file.hunks),
                new_path=str(file.new_path) if file.new_path else None,
                recursive=file.recursive,
                names=tuple(map(str, file.names)),
            )
            for file in proposal.files
        ),
        atomic=proposal.atomic,
        origin=proposal.origin,
    )


def _hunk(it: PendingHunk) -> StoredHunk:
    return StoredHunk(
        id=it.id,
        start=it.hunk.start,
        old=it.hunk.old,
        new=it.hunk.new,
        wishes=it.wishes,
        state=it.state,
        text=it.text,
        reason=it.reason,
        cause=it.cause,
        applied=it.applied,
    )


def _file(kept: StoredFile) -> FileProposal:
    hunks = [
        PendingHunk(Hunk(it.start, it.old, it.new), it.wishes, it.state, it.text, it.reason, it.cause, id=it.id)
        for it in kept.hunks
    ]
    new_path = Path(kept.new_path) if kept.new_path else None
    names = tuple(map(Path, kept.names))
    file = FileProposal(Path(kept.path), kept.operation, Lines(kept.base), hunks, new_path, kept.recursive, names)
    file.exchange({it.id: it.applied for it in kept.hunks if it.applied is not None})
    return file


def _line(record: object) -> bytes:
    """It begins on a line of its own, whatever the last one has left."""
    return b"\n" + json.dumps(record).encode() + b"\n"


def _append(log: int, line: bytes) -> None:
    """One write, unless the system takes only a part of it."""
    left = memoryview(line)
    while left:
        left = left[os.write(log, left) :]


def _append_and_close(log: int, line: bytes) -> None:
    """What is large is on the disk then, so that nobody waits for that with the first decision."""
    try:
        _append(log, line)
        if len(line) >= LARGE:
            os.fsync(log)
    finally:
        os.close(log)


def _take_away(path: Path, log: int) -> None:
    """While its lock is held: somebody may be about to begin it. Windows takes away nothing that is open."""
    if sys.platform == "win32":
        os.close(log)
    with suppress(OSError):
        path.unlink(missing_ok=True)
    if sys.platform != "win32":
        os.close(log)


def _read(path: Path) -> StoredReview | None:
    """A later line is cut short only where nothing was done yet of what it says, and the first one where nobody has
    seen what it proposes."""
    first, is_whole, rest = path.read_bytes().lstrip(b"\n").partition(b"\n")
    if not is_whole:
        return None
    review = from_wire(StoredReview, json.loads(first))
    for line in rest.split(b"\n"):
        with suppress(ValueError, RequestError, TypeError):
            review = _changed(review, [from_wire(HunkChange, it) for it in json.loads(line)])
    return review


def _changed(review: StoredReview, changes: Iterable[HunkChange]) -> StoredReview:
    by_id = {it.id: it for it in changes}
    files = [
        replace(file, hunks=tuple(_updated(it, by_id[it.id]) if it.id in by_id else it for it in file.hunks))
        for file in review.files
    ]
    return replace(review, files=tuple(files))


def _updated(hunk: StoredHunk, change: HunkChange) -> StoredHunk:
    return replace(
        hunk,
        state=change.state,
        text=change.text,
        reason=change.reason,
        cause=change.cause,
        applied=change.applied,
    )
