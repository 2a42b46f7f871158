"""What an undo has to do to each file: with the places of an edit, or with a file as a whole."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from odin_lsp.review.applying import Applier
from odin_lsp.review.before_images import digest_of
from odin_lsp.review.proposals import FileProposal, operation_of
from odin_lsp.review.undo_log import UndoLog
from odin_lsp.review.undo_places import Flipped, Place, flipped, ids_of, places_of, text_with
from odin_lsp.review.undo_steps import FileSteps, Flip

CHANGED_SINCE = "it has been changed since"
INTERRUPTED = "Odin ended while it changed it, and it is not as Odin would have left it"
GONE = "what it was is not kept any more"


@dataclass(frozen=True, slots=True)
class Edits:
    """Of a file, as places in one text."""

    base: str
    places: Sequence[Place]


@dataclass(frozen=True, slots=True)
class Part:
    """What is to be done to a file."""

    file: FileSteps
    ids: tuple[str, ...]
    """Of the hunks that are flipped."""
    is_in: bool
    """They are made again."""
    before: str | None = None
    edits: Edits | None = None
    """`None` where only the texts before and after are known."""
    wanted: Sequence[Place] | None = None
    """`None`: the file as a whole."""
    problem: str | None = None
    """Why nothing can be done."""
    flip: Flip | None = None
    """What is taken back, if that is an undo itself."""

    @property
    def changed(self) -> str:
        """Why it is left alone if it is not as the turn has left it."""
        return INTERRUPTED if self.file.state == "intended" else CHANGED_SINCE

    def flipped(self, now: str) -> Flipped:
        """What is to be done to the text."""
        if self.edits is None or self.wanted is None:
            return Flipped((), (), ())
        if self.flip is not None and self.flip.left == digest_of(now) and set(self.flip.hunks) == set(self.ids):
            places = zip(self.wanted, self.flip.starts, strict=True)
            return Flipped([(it, it.flip(start, self.file.out)) for it, start in places], (), ())
        return flipped(self.edits.base, self.edits.places, self.file.out, self.wanted, now)

    def operation(self, path: Path, applier: Applier) -> tuple[FileProposal | None, str | None]:
        """What is to be done to the file; or why not, unless it is as it should be."""
        if self.file.operation == "rename":
            new_path = Path(self.file.new_path or path)
            source, target = (path, new_path) if self.is_in else (new_path, path)
            if source.exists() and not target.exists():
                return operation_of(source, "rename", new_path=target), None
            return None, None if target.exists() and not source.exists() else self.changed
        now = applier.text(path)
        text = self._text(now) if self.file.operation == "create" else self.before
        if (self.file.operation == "create") == self.is_in:
            if text is not None and not path.exists():
                return operation_of(path, "create", text), None
            return None, None if now == text else self.changed
        if now is not None and now == text:
            return operation_of(path, "delete", now), None
        return None, self.changed if path.exists() else None

    def _text(self, now: str | None) -> str | None:
        """Of a file that the turn has made: what the turn has left, or would again."""
        if now is not None and not self.file.out and digest_of(now) in self.file.after:
            return now
        out = self.file.out.difference(self.ids) if self.is_in else self.file.out
        return text_with(self.edits.base, self.edits.places, out) if self.edits is not None else None


def part_of(log: UndoLog, file: FileSteps, is_wanted: Callable[[str], bool], *, is_in: bool) -> Part | None:
    """`None` if there is nothing to be done."""
    ids = tuple(it for it in file.ids if (it in file.out) == is_in)
    if not any(map(is_wanted, ids)):
        return None
    if file.lost:
        return Part(file, ids, is_in, problem=file.lost)
    before = log.before(file)
    if before is None and file.before is not None:
        return Part(file, ids, is_in, problem=GONE)
    if not file.has_hunks:
        return Part(file, ids, is_in, before, wanted=() if file.operation == "edit" else None)
    edits = edits_of(file, before)
    if edits is None:
        return Part(file, ids, is_in, problem=GONE)
    first = file.steps[0].hunks or ()
    if file.operation != "edit" and any(is_wanted(it.id) for it in first):
        return Part(file, ids, is_in, before, edits)
    wanted = [it for it in edits.places if it.is_out(file.out) == is_in and any(map(is_wanted, it.ids))]
    return Part(file, ids_of(wanted), is_in, before, edits, wanted) if wanted else None


def edits_of(file: FileSteps, before: str | None) -> Edits | None:
    """The edits of a file, or of what it was when the turn has made it; `None` if the log does not fit together."""
    layers = [it.hunks or () for it in file.steps]
    if file.operation != "edit":
        before, *_ = [*(it.new for it in layers[0]), ""]
        layers = layers[1:]
    try:
        return Edits(before or "", places_of(before or "", layers))
    except ValueError:
        return None


def path_now(file: FileSteps, files: Mapping[str, FileSteps]) -> Path:
    """Where the turn has moved it since."""
    path, is_later = Path(file.path), False
    for it in files.values():
        is_moved = it.operation == "rename" and it.new_path is not None and not it.out
        if is_later and is_moved and path.is_relative_to(it.path):
            path = Path(it.new_path or "") / path.relative_to(it.path)
        is_later = is_later or it.id == file.id
    return path


def names_of(file: FileSteps) -> set[Path]:
    return {Path(it) for it in (file.path, file.new_path) if it is not None}


def all_names(files: Iterable[FileSteps], path: Path) -> set[Path]:
    """What a file was called in the turn."""
    names = {path}
    moves = [names_of(it) for it in files if it.operation == "rename"]
    while found := [it for it in moves if names & it and not it <= names]:
        names = names.union(*found)
    return names
