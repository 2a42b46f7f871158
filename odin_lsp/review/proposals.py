"""Pending proposals: what the model wants to change, what became of each hunk, and why."""

import uuid
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from odin_lsp.ports import Cause, FileChange, FileOperation, HunkState
from odin_lsp.review.hunks import (
    Hunk,
    Typed,
    apply,
    clash,
    compose,
    hunks_between,
    hunks_seen,
    hunks_taken,
    joined_line_ends,
    overlap,
    rebased,
    typed_between,
)
from odin_lsp.values import Value
from odin_lsp.workspace.text import Lines

TEXT: tuple[FileOperation, ...] = ("edit", "create")
"""What leaves a text that can be edited further."""
CHOSEN: tuple[HunkState, ...] = ("accepted", "modified")
TYPED_INSIDE = "the user typed there meanwhile"
OVERTAKEN = "another change was made there meanwhile"
NOT_WHOLE = "it belongs to a change of which another part cannot be made any more"


@dataclass(frozen=True, slots=True)
class Wish(Value):
    """One call's reason to change something."""

    call_id: str
    purpose: str


@dataclass(slots=True)
class PendingHunk:
    hunk: Hunk
    """What was proposed, at the place where it is in the text as it is now."""
    wishes: tuple[Wish, ...] = ()
    """What it is for; edits of one place by several calls are one hunk."""
    state: HunkState = "pending"
    text: str | None = None
    """What the user put in place of the hunk's text."""
    reason: str | None = None
    """Why it was rejected, what came in between, or that nobody was asked."""
    cause: Cause | None = None
    applied: str | None = None
    """What stands there since it was carried out, instead of the old text."""
    is_lost: bool = False
    """Somebody has typed over its edges: where it was cannot be told any more."""
    moved: bool = False
    """Its lines, or its place in them, may be others than those that the client was told."""
    former: str | None = None
    """What the user had put there before it waited again."""
    id: str = field(default_factory=lambda: uuid.uuid4().hex[:12])

    @property
    def result(self) -> Hunk:
        """What would be applied."""
        return self.hunk if self.text is None else replace(self.hunk, new=self.text)

    @property
    def standing(self) -> Hunk:
        """The same place, with what stands there now; nothing if that cannot be told any more."""
        if self.is_lost:
            return replace(self.hunk, old="")
        return self.hunk if self.applied is None else replace(self.hunk, old=self.applied)

    @property
    def is_due(self) -> bool:
        """It was decided, and has not been carried out yet."""
        return self.state in CHOSEN and self.applied is None

    @property
    def is_proposed(self) -> bool:
        """It may still change the text."""
        return self.state == "pending" or self.is_due

    @property
    def is_as_left(self) -> bool:
        """Nobody has typed into it since it was decided."""
        return not self.is_lost and self.applied in (None, self.result.new)

    @property
    def purpose(self) -> str:
        return "; ".join(dict.fromkeys([it.purpose for it in self.wishes]))

    def supersede(self, reason: str, cause: Cause) -> None:
        """Something came in between; what was decided against, or has been carried out, stays so."""
        if self.is_proposed:
            self.state, self.text, self.reason, self.cause = "superseded", None, reason, cause

    def reopen(self) -> None:
        """It waits again, in a text that has the old words."""
        self.former = self.text
        self.state, self.text, self.reason, self.cause, self.applied = "pending", None, None, None, None

    def move_to(self, start: int, known_from: int, *, is_told: bool) -> None:
        """It stands there now. `is_told`: the client need not hear of it if that is behind the lines that changed."""
        self.hunk = Hunk(start, self.hunk.old, self.hunk.new)
        self.moved = self.moved or not is_told or start <= known_from

    def disturb(self, typed: Typed, reason: str) -> None:
        """Somebody typed into it, or something else was."""
        self.supersede(reason, "typed")
        here = self.standing
        if self.applied is None or not here.start <= typed.start <= typed.start + typed.removed <= here.end:
            self.hunk, self.is_lost, self.moved = replace(self.hunk, start=typed.start), True, True
            return
        at = typed.start - here.start
        self.applied = f"{here.old[:at]}{typed.inserted}{here.old[at + typed.removed :]}"
        if self.applied == self.hunk.old:
            self.reopen()


@dataclass(slots=True)
class FileProposal:
    path: Path
    operation: FileOperation
    lines: Lines
    """Of the text that the hunks stand in; it follows the user's typing."""
    hunks: list[PendingHunk]
    new_path: Path | None = None
    recursive: bool = False
    names: tuple[Path, ...] = ()
    """What the model called it, where that is a link to it."""
    under_way: bool = False
    """The editor is changing it: what has happened to the text is looked at afterwards."""
    before: str | None = None
    """The text right before that."""
    after: str | None = None
    """And right after it; `None` if there is none, or if somebody else came in between."""
    carry_out: "Callable[[FileChange], Awaitable[str | None]] | None" = None
    """Who does it in place of the editor, and says why not, if so."""
    problem: str | None = None
    """Why the editor says that it has not done it; if it can be seen all the same, perhaps the user did it."""

    @property
    def base(self) -> str:
        return self.lines.text

    @property
    def base_hash(self) -> str:
        return self.lines.digest

    @property
    def proposed(self) -> str:
        """The text if everything were applied that may still be; of a new file, what it is to have."""
        is_new = self.operation == "create"
        return apply(self.base, [it.result for it in self.hunks if it.is_proposed or (is_new and it.state in CHOSEN)])

    @property
    def pending(self) -> list[PendingHunk]:
        return [it for it in self.hunks if it.state == "pending"]

    @property
    def due(self) -> list[PendingHunk]:
        return [it for it in self.hunks if it.is_due]

    def extend(self, text: str, wish: Wish) -> None:
        """One more edit, of what is proposed so far."""
        pending = self.pending
        steps = hunks_between(self.proposed, text)
        composed: list[PendingHunk] = []
        for it in compose(self.base, [old.hunk for old in pending], steps):
            known = [pending[index] for index in it.first]
            if not it.second:
                composed += known
                continue
            wishes = (*(wish for old in known for wish in old.wishes), wish)
            composed.append(PendingHunk(it.hunk, tuple(dict.fromkeys(wishes))))
        settled = [it for it in self.hunks if it.state != "pending"]
        for it in settled:
            it.is_lost = it.is_lost or any(overlap([it.standing, new.hunk]) for new in composed)
        self.hunks = [*settled, *composed]
        self.hunks.sort(key=_place)

    def exchange(self, texts: Mapping[str, str | None]) -> None:
        """By hunk: what stands at its place from now on; `None`: the old words. The others move along."""
        if self.operation != "edit":
            for it in self.hunks:
                it.applied = texts.get(it.id, it.applied)
            return
        if not texts:
            return
        steps: list[Hunk] = []
        shift = end = 0
        for it in sorted(self.hunks, key=_place):
            here = it.standing
            it.hunk = Hunk(max(here.start + shift, end), it.hunk.old, it.hunk.new)  # what is lost may be within another
            if it.id in texts:
                it.applied = texts[it.id]
                steps.append(replace(here, new=it.standing.old))
                shift += len(it.standing.old) - len(here.old)
                end = it.standing.end
        count, behind = len(self.lines), -1
        if len(steps) == 1:
            behind = self.lines.replace(steps[0].start, steps[0].end, steps[0].new)
        else:
            self.lines = Lines(apply(self.base, steps))
        is_all_behind = len(steps) > 1 or len(self.lines) != count
        for it in [it for it in self.hunks if it.standing.end >= steps[0].start]:
            it.moved = it.moved or it.hunk.start <= behind or is_all_behind

    def give_way(self, made: Iterable[PendingHunk]) -> None:
        """Another proposal has just put something there. What is proposed for these words is not for those that are
        there now, though some of them may be the same."""
        text = self.base
        places = sorted((it.standing for it in made), key=lambda it: (it.start, it.end))
        for it in [it for it in self.hunks if it.is_proposed]:
            count = bisect_right(places, it.standing.end, key=lambda place: place.start)
            if any(clash(it.standing, place, text) for place in places[max(0, count - 2) : count]):
                it.supersede(OVERTAKEN, "typed")

    def follow(self, text: str, at: int = 0, length: int | None = None, reason: str = TYPED_INSIDE) -> bool:
        """The user typed, `length` characters at a place if that is known: move the hunks along. What was typed into is
        no longer what was shown, for this reason."""
        typed = typed_between(self.base, text, at, length)
        if typed is None or self.operation != "edit":
            return False
        self._move_along(typed, text, reason)
        return True

    def follow_content(self, text: str, reason: str = TYPED_INSIDE) -> None:
        """The same after changes that nobody has told of one by one."""
        if self.operation != "edit" or text == self.base or self.recognise(text):
            return
        proposed = [it for it in self.hunks if it.is_proposed]
        seen = [proposed[index] for index in hunks_seen(self.base, [it.result for it in proposed], text)]
        self._carried_out(seen)
        for step in reversed(hunks_between(self.base, text)):
            after = f"{self.base[: step.start]}{step.new}{self.base[step.end :]}"
            self._move_along(Typed(step.start, len(step.old), step.new), after, reason)

    def recognise(self, text: str) -> bool:
        """Whether the text is exactly what some of the hunks make of it; then these are accepted, and what was and is
        not in it any more waits again. So editors undo and do again what was decided."""
        known = [it for it in sorted(self.hunks, key=_place) if _could_be(it)]
        taken = hunks_taken(*_without(self.base, known), text)
        is_former = taken is None and any(it.former is not None for it in known)
        if is_former:
            taken = hunks_taken(*_without(self.base, known, is_former=True), text)
        if taken is None:
            return False
        seen = {known[index].id for index in taken}
        changed = [it for it in known if (it.id in seen) != (it.applied is not None)]
        for it in [it for it in changed if is_former and it.id in seen and it.former is not None]:
            it.state, it.text, it.cause = "modified", it.former, "person"
        self._carried_out([it for it in changed if it.id in seen])
        gone = [it for it in changed if it.id not in seen]
        self.exchange({it.id: None for it in gone})
        for it in gone:
            it.reopen()
        return True

    def _carried_out(self, hunks: Sequence[PendingHunk]) -> None:
        """They can be seen in the text."""
        self.exchange({it.id: it.result.new for it in hunks})
        for it in hunks:
            it.state = "accepted" if it.state == "pending" else it.state

    def _move_along(self, typed: Typed, text: str, reason: str) -> None:
        end, grown = typed.start + typed.removed, len(typed.inserted) - typed.removed
        near = [it for it in self.hunks if it.hunk.start <= end and it.standing.end >= typed.start]
        beyond = [it for it in self.hunks if it.hunk.start > end]
        joined = joined_line_ends(text, typed)
        places = [(it, rebased(it.standing, typed)) for it in near]
        disturbed = [it for it, place in places if place is None or place.start in joined or place.end in joined]
        like = (it for it in self.hunks if _grows_by(it, grown))
        if (any(map(_could_be, near)) or any(_makes(text, it, self.base) for it in like)) and self.recognise(text):
            return
        count = len(self.lines)
        behind = self.lines.replace(typed.start, end, typed.inserted)
        for it, place in places:
            if place is None or it in disturbed:
                it.disturb(typed, reason)
            else:
                it.move_to(place.start, behind, is_told=len(self.lines) == count)
        for it in beyond:
            it.move_to(it.hunk.start + grown, behind, is_told=len(self.lines) == count)


@dataclass(slots=True)
class Proposal:
    """Several files as one set to decide on."""

    turn_id: str
    files: list[FileProposal]
    reason: str = ""
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    atomic: bool = False
    """It makes sense as a whole only, and is decided as one."""
    origin: str = ""
    """The agent of others that proposes it; empty: Odin does."""

    @property
    def hunks(self) -> Iterable[PendingHunk]:
        return (it for file in self.files for it in file.hunks)

    @property
    def pending(self) -> list[PendingHunk]:
        return [it for file in self.files for it in file.pending]

    @property
    def is_settled(self) -> bool:
        """Nothing waits for a decision, or to be carried out."""
        return not any(it.is_proposed for it in self.hunks)

    def keep_whole(self) -> None:
        """If a part can no longer be made, the rest that waits is not made either."""
        lost = next((it for it in self.hunks if it.state == "superseded"), None) if self.atomic else None
        if lost is not None:
            for it in self.pending:
                it.supersede(NOT_WHOLE, lost.cause or "typed")


def edit_of(path: Path, old: str, new: str, wish: Wish | None = None) -> FileProposal:
    wishes, lines = (wish,) if wish else (), Lines(old)
    _ = lines.digest  # made here: of a large text that is beside the event loop
    return FileProposal(path, "edit", lines, [PendingHunk(hunk, wishes) for hunk in hunks_between(old, new)])


def operation_of(
    path: Path,
    operation: FileOperation,
    text: str = "",
    wish: Wish | None = None,
    *,
    new_path: Path | None = None,
    recursive: bool = False,
) -> FileProposal:
    """A create, delete or rename: decided as one."""
    hunk = (
        Hunk(0, "", text) if operation == "create" else Hunk(0, text, "") if operation == "delete" else Hunk(0, "", "")
    )
    hunks = [PendingHunk(hunk, (wish,) if wish else ())]
    return FileProposal(path, operation, Lines(hunk.old), hunks, new_path, recursive)


def _place(it: PendingHunk) -> tuple[int, int]:
    standing = it.standing
    return standing.start, standing.end


def _could_be(it: PendingHunk) -> bool:
    """It is in the text or may get there, and it makes a difference."""
    new = it.result.new if it.applied is None else it.applied
    return not it.is_lost and (it.is_proposed or it.applied is not None) and it.hunk.old != new


def _without(text: str, hunks: Sequence[PendingHunk], *, is_former: bool = False) -> tuple[str, list[Hunk]]:
    """The text in which none of these stands, and what each of them would do there; or once did."""
    undone = apply(text, [replace(it.standing, new=it.hunk.old) for it in hunks])
    possible: list[Hunk] = []
    shift = 0
    for it in hunks:
        due = it.former if is_former and it.former is not None else it.result.new
        new = due if it.applied is None else it.applied
        possible.append(Hunk(it.hunk.start + shift, it.hunk.old, new))
        shift += len(it.hunk.old) - len(it.standing.old)
    return undone, possible


def _grows_by(it: PendingHunk, length: int) -> bool:
    """Carrying it out, or taking it back, would make the text so much longer."""
    if it.applied is not None:
        return len(it.hunk.old) - len(it.applied) == length
    length += len(it.hunk.old)
    return len(it.result.new) == length or (it.former is not None and len(it.former) == length)


def _makes(text: str, it: PendingHunk, base: str) -> bool:
    """The text is what carrying it out, or taking it back, makes of the old one: where alike lines meet, editors may
    say that something was typed beside it."""
    here = it.standing
    others = (it.hunk.old,) if it.applied is not None else (it.result.new, it.former)
    return _could_be(it) and any(
        other is not None
        and text.startswith(other, here.start)
        and base[: here.start] == text[: here.start]
        and base[here.end :] == text[here.start + len(other) :]
        for other in others
    )
