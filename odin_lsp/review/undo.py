"""A turn, taken back hunk by hunk, and made again: where somebody has typed since, it stays as it is."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from odin_lsp.review.applying import NOT_SEEN, Applier
from odin_lsp.review.before_images import digest_of
from odin_lsp.review.hunks import apply, hunks_between, hunks_seen
from odin_lsp.review.proposals import FileProposal, PendingHunk
from odin_lsp.review.undo_log import UndoLog, new_undo
from odin_lsp.review.undo_parts import (
    CHANGED_SINCE,
    Edits,
    Part,
    all_names,
    edits_of,
    names_of,
    part_of,
    path_now,
)
from odin_lsp.review.undo_places import hunks_of, ids_of, places_of, text_with
from odin_lsp.review.undo_steps import FileSteps, Flip, State, Step, StepHunk
from odin_lsp.workspace.text import Lines


@dataclass(frozen=True, slots=True)
class Kept:
    """What was not taken back."""

    path: Path
    reason: str
    hunk_ids: tuple[str, ...] | None = None
    """`None`: the whole file."""


@dataclass(frozen=True, slots=True)
class Undone:
    restored: tuple[Path, ...] = ()
    """Files of which something was taken back, or made again."""
    kept: tuple[Kept, ...] = ()
    undo_id: str | None = None
    """By which this can be taken back; `None` if nothing was done, or it could not be noted."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of a turn is to be taken back; all of it if nothing is named."""

    path: Path | None = None
    hunk_ids: frozenset[str] | None = None

    def files(self, files: Mapping[str, FileSteps]) -> set[str]:
        names = all_names(files.values(), self.path) if self.path is not None else None
        return {it.id for it in files.values() if names is None or names & names_of(it)}


async def take_back(log: UndoLog, turn_id: str | None, applier: Applier, wanted: Wanted | None = None) -> Undone:
    """Undo a turn, or the last one of which anything can be. With the id of an undo: make again what that has taken
    back."""
    wanted = wanted or Wanted()
    async with log.undoing():
        if turn_id is not None:
            return (await _taken_back(log, turn_id, applier, wanted)).undone
        left = Undone()
        for it in await asyncio.to_thread(log.turns):
            undo = await _taken_back(log, it, applier, wanted)
            if undo.undone.restored or (undo.undone.kept and not undo.was_undone):
                return undo.undone
            left = left if left.kept else undo.undone
        return left


async def _taken_back(log: UndoLog, named: str, applier: Applier, wanted: Wanted) -> "_Undo":
    undo_of = await asyncio.to_thread(log.turn_of, named)
    turn_id = undo_of or named
    settled = await _settle(log, turn_id, applier)
    steps = await asyncio.to_thread(log.read, turn_id)
    files = {it.id: it for it in steps.all}
    flips = steps.undos[named] if undo_of else []
    is_in = any(not it.is_in for it in flips)
    cut_off = [it for it in settled if it.is_in == is_in]
    undo_id = cut_off[0].undo if cut_off else new_undo(turn_id)
    is_whole = not undo_of and wanted == Wanted()
    undo = _Undo(log, turn_id, applier, files, undo_id, steps.is_undone, is_in=is_in, is_whole=is_whole)
    undo.restored += [Path(files[it.step].path) for it in cut_off if it.state == "done"]
    order = dict.fromkeys(reversed([it.step for it in flips] if undo_of else list(files)))
    of_step = {it.step: it for it in flips}
    ours = {(it.step, hunk_id) for it in flips for hunk_id in it.hunks}

    def is_wanted(file: FileSteps, hunk_id: str) -> bool:
        is_ours = not undo_of or (file.id, hunk_id) in ours
        return is_ours and (wanted.hunk_ids is None or hunk_id in wanted.hunk_ids)

    named_files = wanted.files(files)
    chosen = [files[it] for it in order if it in named_files]
    parts = await asyncio.to_thread(lambda: [part_of(log, it, partial(is_wanted, it), is_in=is_in) for it in chosen])
    await undo.run([replace(it, flip=of_step.get(it.file.id)) for it in parts if it is not None])
    return undo


@dataclass(slots=True)
class _Undo:
    log: UndoLog
    turn_id: str
    applier: Applier
    files: dict[str, FileSteps]
    id: str
    was_undone: bool
    """All that could be was, before this."""
    is_in: bool
    """It makes again what another one has taken back."""
    is_whole: bool
    is_noted: bool = True
    restored: list[Path] = field(default_factory=list[Path])
    kept: list[Kept] = field(default_factory=list[Kept])
    gone: list[tuple[Path, Flip]] = field(default_factory=list[tuple[Path, Flip]])
    """What others had taken back before, by the file that it was in."""

    @property
    def undone(self) -> Undone:
        restored = tuple(dict.fromkeys(self.restored))
        return Undone(restored, tuple(self.kept), self.id if restored and self.is_noted else None)

    async def run(self, parts: Sequence[Part]) -> None:
        """All that is about to happen is known before anything does: if Odin ends meanwhile, the next undo goes on.
        What an editor has undone it cannot do again after this: whoever types the same later has typed it."""
        await self._note([self._flip(it, "intended", it.ids) for it in parts if it.problem is None])
        for it in parts:
            if it.problem is not None:
                self.kept.append(Kept(Path(it.file.path), it.problem))
                continue
            path = path_now(it.file, self.files)
            flip = await (self._flip_whole(it, path) if it.wanted is None else self._flip_places(it, path))
            await self._note([flip])
            if flip.state == "done":
                self.files[it.file.id] = it.file.after_flip(flip)
                self.restored.append(path)
        await self._note([flip for path, flip in self.gone if path in self.restored])

    def _done(self, part: Part, ids: Sequence[str]) -> Flip:
        return self._flip(part, "done" if ids else "dropped", ids)

    def _flip(self, part: Part, state: State, ids: Sequence[str]) -> Flip:
        return Flip(
            undo=self.id,
            state=state,
            step=part.file.id,
            hunks=tuple(ids),
            is_in=self.is_in,
            is_whole=self.is_whole,
        )

    async def _note(self, lines: Sequence[Step | Flip]) -> None:
        if lines:
            self.is_noted = await self.log.add(self.turn_id, lines) and self.is_noted

    async def _flip_places(self, part: Part, path: Path) -> Flip:
        now = await self.applier.text_beside_loop(path)
        if now is not None and part.edits is None:
            part = await self._described(part, now)
        if now is None or part.edits is None:
            self.kept.append(Kept(path, part.changed))
            return self._done(part, ())
        plan = part.flipped(now)
        if plan.already and not self.is_in:
            flip = self._flip(part, "done", ids_of(plan.already))
            self.gone.append((path, replace(flip, undo=new_undo(self.turn_id))))
        file = FileProposal(path, "edit", Lines(now), [PendingHunk(it, state="accepted") for _, it in plan.todo])
        await self.applier.apply(file)
        made = [(place, it) for (place, _), it in zip(plan.todo, file.hunks, strict=True)]
        done = [place for place, it in made if it.applied is not None]
        failed = {place: it.reason or NOT_SEEN for place, it in made if it.applied is None}
        if stays := [*plan.typed_into, *failed]:
            why = CHANGED_SINCE if plan.typed_into else next(iter(failed.values()))
            reason = f"{len(stays)} of {len(stays) + len(done)} changes stay: {why}" if done else why
            self.kept.append(Kept(path, reason, ids_of(stays)))
        starts = tuple(it.hunk.start for it in file.hunks)
        left = digest_of(file.after) if file.after is not None else None
        return replace(self._done(part, ids_of(done)), left=left, starts=starts if left is not None else ())

    async def _flip_whole(self, part: Part, path: Path) -> Flip:
        file, reason = part.operation(path, self.applier)
        if file is not None:
            if part.file.operation == "create" and part.edits is None:
                await self._describe(part.file, file.base, (StepHunk(part.file.id, 0, 0, file.base),))
            file.hunks[0].state = "accepted"
            await self.applier.apply(file)
            if file.hunks[0].applied is not None:
                if not self.is_in:
                    await asyncio.to_thread(_remove_empty, part.file.folders)
                return self._done(part, part.ids)
            reason = file.hunks[0].reason or NOT_SEEN
        if reason is not None:
            self.kept.append(Kept(path, reason))
        return self._done(part, ())

    async def _described(self, part: Part, now: str) -> Part:
        """Where only the texts were kept, and it is as the turn has left it: all that differs is the turn's."""
        if part.before is None or digest_of(now) not in part.file.after:
            return part
        hunks = tuple(StepHunk(part.file.id, it.start, len(it.old), it.new) for it in hunks_between(part.before, now))
        await self._describe(part.file, now, hunks)
        places = places_of(part.before, [hunks])
        return replace(part, edits=Edits(part.before, places), wanted=places)

    async def _describe(self, file: FileSteps, now: str, hunks: tuple[StepHunk, ...]) -> None:
        """So that it can be made again."""
        await self._note([replace(file.steps[0], state="done", after=(digest_of(now),), hunks=hunks)])


def _remove_empty(folders: Iterable[str]) -> None:
    """Those that are still there, and no links to others."""
    for it in map(Path, folders):
        with suppress(OSError):
            if it.resolve() == it:
                it.rmdir()


async def _settle(log: UndoLog, turn_id: str, applier: Applier) -> list[Flip]:
    """Look what became of all that was under way when Odin ended; the flips among it."""
    steps = await asyncio.to_thread(log.read, turn_id)
    files = {it.id: it for it in steps.all}
    lines: list[Step] = []
    for file in files.values():
        if file.state == "intended":
            now = await applier.text_beside_loop(path_now(file, files))
            lines += await asyncio.to_thread(_settled_step, log, file, now)
    flips: list[Flip] = []
    for flip in steps.cut_off.values():
        done = await _happened(log, flip, files, applier)
        flips.append(replace(flip, state="done" if done else "dropped", hunks=done))
    if lines or flips:
        await log.add(turn_id, [*lines, *flips])
    return flips


def _settled_step(log: UndoLog, file: FileSteps, now: str | None) -> list[Step]:
    """What became of the last step, if that can be told."""
    last = file.steps[-1]
    dropped = replace(last, state="dropped", hunks=None, text=None)
    if last.operation != "edit" or last.hunks is None:
        return [dropped] if _has_not_happened(last, now) else []
    sure = replace(file, steps=file.steps[:-1])
    before = log.before(file)
    edits = edits_of(sure, before) if sure.steps else Edits(before or "", ())
    if now is None or edits is None:
        return []
    text = text_with(edits.base, edits.places, frozenset())
    hunks = hunks_of(text, last.hunks)
    seen = sorted(hunks_seen(text, hunks, now))
    if not seen:
        return [dropped]
    left = digest_of(apply(text, [hunks[it] for it in seen]))
    return [replace(last, state="done", hunks=tuple(last.hunks[it] for it in seen), after=(left,))]


def _has_not_happened(step: Step, now: str | None) -> bool:
    path = Path(step.path)
    match step.operation:
        case "edit" | "delete":
            return now is not None and digest_of(now) == step.before
        case "create":
            return not path.exists()
        case "rename":
            return path.exists() and not (step.new_path and Path(step.new_path).exists())


async def _happened(log: UndoLog, flip: Flip, files: Mapping[str, FileSteps], applier: Applier) -> tuple[str, ...]:
    """What an undo has done that was cut off right then."""
    file = files.get(flip.step)
    if file is None:
        return ()
    part = await asyncio.to_thread(lambda: part_of(log, file, set(flip.hunks).__contains__, is_in=flip.is_in))
    if part is None or part.problem is not None:
        return ()
    path = path_now(file, files)
    if part.wanted is None:
        return part.ids if part.operation(path, applier) == (None, None) else ()
    now = await applier.text_beside_loop(path)
    return ids_of(part.flipped(now).already) if now is not None else ()
