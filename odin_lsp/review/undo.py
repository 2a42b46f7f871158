"""What files were before a turn changed them, so that a whole turn can be taken back. It outlives the process."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from odin_lsp.errors import RequestError
from odin_lsp.ports import FileOperation
from odin_lsp.review.applying import NOT_SEEN, Applier
from odin_lsp.review.proposals import TEXT, edit_of, operation_of
from odin_lsp.values import Value, from_wire, to_wire

MAX_TURNS = 50
MAX_BYTES = 20 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Before(Value):
    path: str
    operation: FileOperation
    before: str | None = None
    """The text before the turn; `None` if there was none."""
    after: str | None = None
    """The text that the turn left: where it is another one now, somebody has edited since. `None` if there is none, or
    if somebody has edited before the turn was done."""
    new_path: str | None = None


@dataclass(frozen=True, slots=True)
class Images(Value):
    turn_id: str
    files: tuple[Before, ...]


class UndoLog:
    def __init__(self, folder: Callable[[], Path]) -> None:
        self._folder = folder

    def note(self, turn_id: str, image: Before) -> None:
        """A file was changed. Edits of one file by one turn are one step back, if nobody else came in between."""
        steps = list(self.images(turn_id))
        known = next((it for it in reversed(steps) if it.path == image.path or it.operation not in TEXT), None)
        if known is not None and known.path == image.path and known.operation in TEXT and image.operation == "edit":
            after = image.after if known.after == image.before else None
            steps[steps.index(known)] = replace(known, after=after)
        else:
            steps.append(image)
        self._write(Images(turn_id, tuple(steps)))

    def images(self, turn_id: str) -> tuple[Before, ...]:
        try:
            return from_wire(Images, json.loads(self._file(turn_id).read_bytes())).files
        except (OSError, ValueError, RequestError):
            return ()

    def last(self) -> str | None:
        """The turn that changed something last."""
        return max(self._files(), key=lambda path: path.stat().st_mtime_ns).stem if self._files() else None

    def forget(self, turn_id: str) -> None:
        self._file(turn_id).unlink(missing_ok=True)

    def _write(self, images: Images) -> None:
        data = json.dumps(to_wire(images)).encode()
        if len(data) > MAX_BYTES:
            return
        self._folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._file(images.turn_id)
        draft = path.with_suffix(".new")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        draft.replace(path)
        for old in sorted(self._files(), key=lambda it: it.stat().st_mtime_ns)[:-MAX_TURNS]:
            old.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        return list(self._folder().glob("*.json"))

    def _file(self, turn_id: str) -> Path:
        safe = "".join(it if it.isalnum() or it in "-_" else "_" for it in turn_id)[:100]
        return self._folder() / f"{safe}.json"


async def take_back(log: UndoLog, turn_id: str | None, applier: Applier) -> tuple[list[Path], list[tuple[Path, str]]]:
    """Undo a turn, or the last one: the files that are as before, and those that were kept, with the reason."""
    wanted = turn_id or log.last()
    restored: list[Path] = []
    kept: list[tuple[Path, str]] = []
    for image in reversed(log.images(wanted) if wanted else ()):
        path = Path(image.path)
        reason = await _restore(image, applier)
        if reason:
            kept.append((path, reason))
        else:
            restored.append(path)
    if wanted and not kept:
        log.forget(wanted)
    return restored, kept


async def _restore(image: Before, applier: Applier) -> str | None:
    """Why not, if not."""
    path, now = Path(image.path), applier.text(Path(image.path))
    match image.operation:
        case "edit" if now == image.after and now is not None:
            file = edit_of(path, now, image.before or "")
        case "create" if now == image.after and now is not None:
            file = operation_of(path, "delete", now)
        case "delete" if not path.exists() and image.before is not None:
            file = operation_of(path, "create", image.before)
        case "rename" if image.new_path and Path(image.new_path).exists() and not path.exists():
            file = operation_of(Path(image.new_path), "rename", new_path=path)
        case _:
            return "it has been changed since"
    for it in file.hunks:
        it.state = "accepted"
    await applier.apply(file)
    return None if len(file.chosen) == len(file.hunks) else file.hunks[0].reason or NOT_SEEN
