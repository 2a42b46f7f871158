"""A turn, taken back file by file: what somebody has edited since stays."""

import asyncio
from pathlib import Path

from odin_lsp.review.applying import NOT_SEEN, Applier
from odin_lsp.review.before_images import digest_of
from odin_lsp.review.proposals import edit_of, operation_of
from odin_lsp.review.undo_log import Step, UndoLog

CHANGED_SINCE = "it has been changed since"
INTERRUPTED = "Odin ended while it changed it, and it is not as Odin would have left it"
GONE = "what it was is not kept any more"

Kept = list[tuple[Path, str]]


async def take_back(log: UndoLog, turn_id: str | None, applier: Applier) -> tuple[list[Path], Kept]:
    """Undo a turn, or the last one that changed something: the files that are as before, and those that were kept, with
    the reason."""
    for wanted in [turn_id] if turn_id else await asyncio.to_thread(log.turns):
        restored, kept = await _taken_back(log, wanted, applier)
        if restored or kept:
            return restored, kept
    return [], []


async def _taken_back(log: UndoLog, turn_id: str, applier: Applier) -> tuple[list[Path], Kept]:
    restored: list[Path] = []
    kept: Kept = []
    for step in reversed(await asyncio.to_thread(log.steps, turn_id)):
        path = Path(step.path)
        if step.state == "intended" and _has_not_happened(step, applier):
            await log.take_off(turn_id, step)
        elif reason := await _restore(step, await asyncio.to_thread(log.before, step), applier):
            kept.append((path, reason))
        else:
            await log.take_off(turn_id, step)
            restored.append(path)
    if not kept:
        await asyncio.to_thread(log.forget, turn_id)
    return restored, kept


def _has_not_happened(step: Step, applier: Applier) -> bool:
    path, now = Path(step.path), applier.text(Path(step.path))
    match step.operation:
        case "edit" | "delete":
            return now is not None and digest_of(now) == step.before
        case "create":
            return not path.exists()
        case "rename":
            return path.exists() and not (step.new_path and Path(step.new_path).exists())


async def _restore(step: Step, before: str | None, applier: Applier) -> str | None:
    """Why not, if not."""
    path, now = Path(step.path), applier.text(Path(step.path))
    is_as_left = now is not None and digest_of(now) in step.after
    if step.lost:
        return step.lost
    if step.before is not None and before is None:
        return GONE
    match step.operation:
        case "edit" if is_as_left and now is not None:
            file = edit_of(path, now, before or "")
        case "create" if is_as_left and now is not None:
            file = operation_of(path, "delete", now)
        case "delete" if not path.exists() and before is not None:
            file = operation_of(path, "create", before)
        case "rename" if step.new_path and Path(step.new_path).exists() and not path.exists():
            file = operation_of(Path(step.new_path), "rename", new_path=path)
        case _:
            return INTERRUPTED if step.state == "intended" else CHANGED_SINCE
    for it in file.hunks:
        it.state = "accepted"
    await applier.apply(file)
    return None if len(file.chosen) == len(file.hunks) else file.hunks[0].reason or NOT_SEEN
