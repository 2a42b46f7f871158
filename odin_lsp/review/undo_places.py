"""Where a turn has changed a text, and which of these places nobody has typed into since. Pure."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, count, takewhile

from odin_lsp.review.hunks import Hunk, apply, compose, difference, hunks_seen, hunks_taken
from odin_lsp.review.undo_steps import StepHunk
from odin_lsp.workspace.comparing import same_at_end, same_at_start

LONGEST_WORD = 200
"""Characters: more are data in which nobody reads words."""


@dataclass(frozen=True, slots=True)
class Place:
    """Edits of one place by several steps are one."""

    ids: tuple[str, ...]
    """Of the hunks in reviews."""
    hunk: Hunk
    """In the text before the turn."""

    def is_out(self, out: frozenset[str]) -> bool:
        return out.issuperset(self.ids)

    def flip(self, start: int, out: frozenset[str]) -> Hunk:
        """What makes it again, or takes it back."""
        old, new = self.hunk.old, self.hunk.new
        return Hunk(start, old, new) if self.is_out(out) else Hunk(start, new, old)


@dataclass(frozen=True, slots=True)
class Flipped:
    """What is to be done to a text to have places taken back, or made again."""

    todo: Sequence[tuple[Place, Hunk]]
    """Each with what is to be done, in the text as it is now."""
    typed_into: Sequence[Place]
    """Somebody has typed there: they stay as they are."""
    already: Sequence[Place]
    """They are as they should be."""


def hunks_of(text: str, layer: Iterable[StepHunk]) -> list[Hunk]:
    """In the text right before the step."""
    return [Hunk(it.start, text[it.start : it.start + it.removed], it.new) for it in layer]


def places_of(before: str, layers: Iterable[Sequence[StepHunk]]) -> list[Place]:
    """All steps as one, each of which stands in what the one before has left."""
    text = before
    places: list[Place] = []
    for layer in layers:
        hunks = hunks_of(text, layer)
        composed = compose(before, [it.hunk for it in places], hunks)
        text = apply(text, hunks)
        steps = [Place((it.id,), hunk) for it, hunk in zip(layer, hunks, strict=True)]
        met = [[*(places[at] for at in it.first), *(steps[at] for at in it.second)] for it in composed]
        places = [Place(ids_of(own), it.hunk) for own, it in zip(met, composed, strict=True)]
    return places


def ids_of(places: Iterable[Place]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(own for it in places for own in it.ids))


def text_with(before: str, places: Iterable[Place], out: frozenset[str]) -> str:
    """The text as the turn has left it, but for what has been taken back."""
    return apply(before, [it.hunk for it in places if not it.is_out(out)])


def flipped(before: str, places: Sequence[Place], out: frozenset[str], wanted: Sequence[Place], now: str) -> Flipped:
    """Have `wanted` taken back, or those that are `out` made again, in a text that others may have changed since."""
    left = text_with(before, places, out)
    ids = {it.ids for it in wanted}
    here = [(place, hunk) for place, hunk in _standing(places, out) if place.ids in ids]
    hunks = [hunk for _, hunk in here]
    taken = hunks_taken(left, hunks, now)
    if taken is not None:
        return _rest_of(here, frozenset(taken))
    seen = hunks_seen(left, hunks, now)
    since = _Since(left, now)
    todo: list[tuple[Place, Hunk]] = []
    typed_into: list[Place] = []
    already: list[Place] = []
    for index, (place, hunk) in enumerate(here):
        start = since.start_of(hunk)
        if start is None:
            (already if index in seen else typed_into).append(place)
        elif since.is_in_the_same_word(hunk, start):
            todo.append((place, Hunk(start, hunk.old, hunk.new)))
        else:
            typed_into.append(place)
    return Flipped(todo, typed_into, already)


def _rest_of(here: Sequence[tuple[Place, Hunk]], taken: frozenset[int]) -> Flipped:
    """Others have done some of it, and nothing else: so it is known where the rest is."""
    todo: list[tuple[Place, Hunk]] = []
    shift = 0
    for index, (place, hunk) in enumerate(here):
        if index in taken:
            shift += len(hunk.new) - len(hunk.old)
        else:
            todo.append((place, replace(hunk, start=hunk.start + shift)))
    return Flipped(todo, (), [here[index][0] for index in sorted(taken)])


class _Since:
    """What others have done to a text."""

    def __init__(self, text: str, now: str) -> None:
        self._text = text
        self._now = now
        self._done = list(_differences(text, now))
        self._ends = [it.end for it in self._done]
        self._growth = [0, *accumulate(len(it.new) - len(it.old) for it in self._done)]
        self._reaches = sorted([(*_reach(text, it), it) for it in self._done], key=lambda it: it[:2])
        self._furthest = list(accumulate((end for _, end, _ in self._reaches), max))

    def start_of(self, hunk: Hunk) -> int | None:
        """Where it is now; `None` if somebody has typed into it. Whole lines that were removed come back before the
        line that goes on there, whatever was typed into that."""
        is_lines = not hunk.old and _is_lines(self._text, hunk.start, hunk.new)
        before_it = bisect_right(self._ends, hunk.start)
        while is_lines and before_it and self._done[before_it - 1].start == hunk.start:
            before_it -= 1
        if any(self._meets(hunk, *it, is_lines=is_lines) for it in self._near(hunk)):
            return None
        start = hunk.start + self._growth[before_it]
        return None if is_lines and not begins_line(self._now, start) else start

    def is_in_the_same_word(self, hunk: Hunk, start: int) -> bool:
        """What differs in a word is less than the word: with the rest of another one it makes one that nobody wrote."""
        end = start + len(hunk.old)
        edges = (hunk.old[:1], hunk.new[:1]), (hunk.old[-1:], hunk.new[-1:])
        is_joined, goes_on = (any(map(_is_of_word, it)) for it in edges)
        return (not is_joined or _word_to(self._text, hunk.start) == _word_to(self._now, start)) and (
            not goes_on or _word_from(self._text, hunk.end) == _word_from(self._now, end)
        )

    def _near(self, hunk: Hunk) -> Iterator[tuple[int, int, Hunk]]:
        at = bisect_right(self._reaches, hunk.end, key=lambda it: it[0]) - 1
        while at >= 0 and self._furthest[at] >= hunk.start:
            yield self._reaches[at]
            at -= 1

    def _meets(self, hunk: Hunk, start: int, end: int, it: Hunk, *, is_lines: bool) -> bool:
        """What was typed right beside a text is not in it; right where something was removed it is."""
        if hunk.old:
            return start < hunk.end and end > hunk.start
        if not is_lines:
            return start <= hunk.start <= end
        is_line_there = it.start == hunk.start and not it.old and _is_lines(self._text, it.start, it.new)
        return start < hunk.start < end or is_line_there


def _standing(places: Iterable[Place], out: frozenset[str]) -> Iterator[tuple[Place, Hunk]]:
    """Each with what would flip it, in the text as it was left."""
    shift = 0
    for it in places:
        yield it, it.flip(it.hunk.start + shift, out)
        if not it.is_out(out):
            shift += len(it.hunk.new) - len(it.hunk.old)


def _differences(old: str, new: str) -> Iterator[Hunk]:
    """Line by line where as many lines as before are others; without what both sides begin and end with."""
    found = difference(old, new)
    starts = list(accumulate(map(len, found.old), initial=0))
    for first, last, new_first, new_last in found.steps:
        if last - first == new_last - new_first:
            pairs = [(at, [at], [new_first + at - first]) for at in range(first, last)]
        else:
            pairs = [(first, range(first, last), range(new_first, new_last))]
        for at, lines, new_lines in pairs:
            before, after = "".join(found.old[it] for it in lines), "".join(found.new[it] for it in new_lines)
            head = same_at_start(before, after)
            tail = same_at_end(before[head:], after[head:])
            if before != after:
                yield Hunk(starts[at] + head, before[head : len(before) - tail], after[head : len(after) - tail])


def _reach(text: str, it: Hunk) -> tuple[int, int]:
    """From where to where somebody may have typed: of characters that are alike nobody can tell which ones they have
    removed. Whole lines go as such; and those that were put in have not been put into another one."""
    if it.old and it.new:
        return it.start, it.end
    piece = it.old or it.new
    is_lines = _is_lines(text, it.start, piece)
    if it.new and is_lines:
        return it.start, it.end

    def character(at: int) -> str:
        """With the piece in the text."""
        if it.start <= at < it.start + len(piece):
            return piece[at - it.start]
        return text[at if at < it.start else at - len(it.new)]

    last, behind = it.start + len(piece), len(text) - it.end
    back = _length(character(it.start - 1 - at) == character(last - 1 - at) for at in range(it.start))
    forth = _length(character(it.start + at) == character(last + at) for at in range(behind))
    start = next(at for at in count(it.start - back) if not is_lines or begins_line(text, at))
    end = next(at for at in count(it.end + forth, -1) if not is_lines or begins_line(text, at) or at == len(text))
    return start, max(start, end)


def _is_lines(text: str, at: int, piece: str) -> bool:
    return piece.endswith(("\n", "\r")) and begins_line(text, at)


def _word_to(text: str, at: int) -> str:
    before = text[max(0, at - LONGEST_WORD) : at]
    return before[len(before) - _length(map(_is_of_word, reversed(before))) :]


def _word_from(text: str, at: int) -> str:
    behind = text[at : at + LONGEST_WORD]
    return behind[: _length(map(_is_of_word, behind))]


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _length(same: Iterable[bool]) -> int:
    return sum(1 for _ in takewhile(bool, same))


def begins_line(text: str, at: int) -> bool:
    return at == 0 or text[at - 1] in "\r\n"
