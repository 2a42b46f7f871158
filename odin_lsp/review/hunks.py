"""Two texts → the smallest hunks between them. Pure: apply any of them, move them along while somebody types."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise

from odin_lsp.workspace.comparing import LineStep, changed_lines, same_at_end, same_at_start
from odin_lsp.workspace.text import whole_lines

CONTEXT = 3
"""Lines around a change in a diff."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """`old` stands at `start`, in characters of the text as it is now, and would become `new`."""

    start: int
    old: str
    new: str

    @property
    def end(self) -> int:
        return self.start + len(self.old)


@dataclass(frozen=True, slots=True)
class Typed:
    """What somebody did to the text: `removed` characters at `start` made way for `inserted`."""

    start: int
    removed: int
    inserted: str


@dataclass(frozen=True, slots=True)
class Diff:
    text: str
    added: int
    removed: int


@dataclass(frozen=True, slots=True)
class Difference:
    """Two texts, compared once for all that is made of it."""

    old: Sequence[str]
    new: Sequence[str]
    steps: Sequence[LineStep]

    @property
    def hunks(self) -> list[Hunk]:
        """In the order of the text, apart from each other. Whole lines, but where lines were changed only what
        differs."""
        starts = list(accumulate(map(len, self.old), initial=0))
        return [
            _refined(
                Hunk(starts[first], "".join(self.old[first:last]), "".join(self.new[new_first:new_last])),
                same_lines=last - first == new_last - new_first,
            )
            for first, last, new_first, new_last in self.steps
        ]

    def unified(self, name: str) -> Diff:
        """A diff for people, with line ends that differ made visible as such."""
        if not self.steps:
            return Diff("", 0, 0)
        lines = [f"--- a/{name}\n", f"+++ b/{name}\n"]
        for steps in _neighbours(self.steps):
            lines += self._passage(steps)
        added = sum(new_last - new_first for _, _, new_first, new_last in self.steps)
        removed = sum(last - first for first, last, _, _ in self.steps)
        return Diff("".join(_ended(lines)), added, removed)

    def _passage(self, steps: Sequence[LineStep]) -> Iterator[str]:
        start, end = max(0, steps[0][0] - CONTEXT), min(len(self.old), steps[-1][1] + CONTEXT)
        new_start, new_end = steps[0][2] - steps[0][0] + start, steps[-1][3] - steps[-1][1] + end
        yield f"@@ -{_numbered(start, end)} +{_numbered(new_start, new_end)} @@\n"
        at = start
        for first, last, new_first, new_last in steps:
            yield from (f" {line}" for line in self.old[at:first])
            yield from (f"-{line}" for line in self.old[first:last])
            yield from (f"+{line}" for line in self.new[new_first:new_last])
            at = last
        yield from (f" {line}" for line in self.old[at:end])


def difference(old: str, new: str) -> Difference:
    before, after = whole_lines(old), whole_lines(new)
    return Difference(before, after, changed_lines(before, after))


def hunks_between(old: str, new: str) -> list[Hunk]:
    return difference(old, new).hunks


def apply(text: str, hunks: Iterable[Hunk]) -> str:
    """The text with these hunks in it; they must stand in it as they say, and not overlap."""
    pieces: list[str] = []
    at = 0
    for hunk in sorted(hunks, key=lambda it: (it.start, it.end)):
        if hunk.start < at or text[hunk.start : hunk.end] != hunk.old:
            raise ValueError("the text does not hold what the hunk would replace")
        pieces += [text[at : hunk.start], hunk.new]
        at = hunk.end
    return "".join([*pieces, text[at:]])


@dataclass(frozen=True, slots=True)
class Composed:
    hunk: Hunk
    first: tuple[int, ...]
    """Which hunks of the first step are in it."""
    second: tuple[int, ...]


def compose(text: str, first: Sequence[Hunk], second: Sequence[Hunk]) -> list[Composed]:
    """Two steps as one: `first` stands in `text`, `second` in what it becomes. Those that meet become one hunk."""
    between = apply(text, first)
    clusters: list[_Cluster] = []
    for placed in sorted([*_placed(first, is_second=False), *_placed(second, is_second=True)]):
        if not clusters or not clusters[-1].meets(placed):
            clusters.append(_Cluster(placed.start, placed.end))
        clusters[-1].add(placed)
    composed: list[Composed] = []
    shift = 0
    for it in clusters:
        old = text[it.start - shift : it.end - shift - it.growth]
        inside = [replace(second[index], start=second[index].start - it.start) for index in it.second]
        new = apply(between[it.start : it.end], inside)
        if old != new:
            composed.append(Composed(Hunk(it.start - shift, old, new), tuple(it.first), tuple(it.second)))
        shift += it.growth
    return composed


def rebased(hunk: Hunk, typed: Typed) -> Hunk | None:
    """The hunk in the text after somebody typed; `None` if they typed inside of it."""
    end = typed.start + typed.removed
    if typed.removed and not hunk.old and typed.start <= hunk.start <= end:
        return None  # what the insertion stood beside is another text now
    if end <= hunk.start:
        return Hunk(hunk.start + len(typed.inserted) - typed.removed, hunk.old, hunk.new)
    return hunk if typed.start >= hunk.end else None


def typed_between(old: str, new: str, at: int = 0, length: int | None = None) -> Typed | None:
    """The one change that leads from one text to the other; `None` if there is none. What has been put in, `length`
    characters `at` that place of the new text, tells apart what would look the same elsewhere."""
    if old == new:
        return None
    end = len(new) if length is None else at + length
    old_end = end + len(old) - len(new)
    if old_end < at or old[:at] != new[:at] or old[old_end:] != new[end:]:
        return typed_between(old, new)
    head = at + same_at_start(old[at:old_end], new[at:end])
    tail = same_at_end(old[head:old_end], new[head:end])
    return Typed(head, old_end - tail - head, new[head : end - tail])


def joined_line_ends(text: str, typed: Typed) -> set[int]:
    """Where a carriage return has met a line feed since somebody typed: no editor has a position there."""
    edges = (typed.start, typed.start + len(typed.inserted))
    return {at for at in edges if _is_in_line_end(text, at)}


def with_whole_line_ends(text: str, hunks: Iterable[Hunk]) -> list[Hunk]:
    """The same changes, none of which begins or ends between a carriage return and its line feed: no editor has a
    position there."""
    wide: list[Hunk] = []
    for hunk in sorted(hunks, key=lambda it: (it.start, it.end)):
        start, end = hunk.start - _is_in_line_end(text, hunk.start), hunk.end + _is_in_line_end(text, hunk.end)
        new = f"{text[start : hunk.start]}{hunk.new}{text[hunk.end : end]}"
        if wide and start < wide[-1].end:  # they meet in a line end
            last = wide.pop()
            start, new = last.start, f"{last.new[:-1]}{new[1:]}"
        wide.append(Hunk(start, text[start:end], new))
    return wide


def hunks_taken(base: str, hunks: Sequence[Hunk], text: str) -> list[int] | None:
    """Which of the hunks, applied to `base`, give exactly this text; `None` if no choice of them does.

    Of several choices, one with few hunks: more than can be told is not claimed."""
    ways: dict[int, tuple[int, ...]] = {0: ()}
    at = 0
    for index in sorted(range(len(hunks)), key=lambda it: (hunks[it].start, hunks[it].end)):
        hunk = hunks[index]
        if hunk.start < at:
            return None
        gap = base[at : hunk.start]
        reached: dict[int, tuple[int, ...]] = {}
        for place, way in ways.items():
            if not text.startswith(gap, place):
                continue
            here = place + len(gap)
            for piece, longer in ((hunk.old, way), (hunk.new, (*way, index))):
                if text.startswith(piece, here):
                    reached.setdefault(here + len(piece), longer)
        ways, at = reached, hunk.end
    tail = base[at:]
    ends = (way for place, way in ways.items() if text[place:] == tail)
    return next((list(way) for way in ends), None)


def hunks_seen(base: str, hunks: Sequence[Hunk], text: str) -> set[int]:
    """Which of the hunks, proposed for `base`, stand in the text. Where somebody else has changed it too: those that
    made a difference, and that nothing has kept from being as expected."""
    idle = {index for index, it in enumerate(hunks) if it.old == it.new}
    taken = hunks_taken(base, hunks, text)
    if taken is not None:
        return {*taken, *idle}
    done = hunks_between(base, text)
    found = {it for it in range(len(hunks)) if it in idle or _is_disturbed(hunks[it].start, hunks[it].end, done)}
    while lost := _lost(base, {it: hunks[it] for it in found}, text):
        found -= lost
    return found


def _lost(base: str, hunks: Mapping[int, Hunk], text: str) -> set[int]:
    """Those that are not as expected, if all of them are taken for done."""
    differences = hunks_between(apply(base, hunks.values()), text)
    lost: set[int] = set()
    shift = 0
    for index, hunk in sorted(hunks.items(), key=lambda it: (it[1].start, it[1].end)):
        start = hunk.start + shift
        shift += len(hunk.new) - len(hunk.old)
        if _is_disturbed(start, start + len(hunk.new), differences):
            lost.add(index)
    return lost


def _is_disturbed(start: int, end: int, differences: Sequence[Hunk]) -> bool:
    """They are in order and apart: only the first that does not end before the place, and the next, can meet it."""
    first = bisect_left(differences, start, key=lambda it: it.end)
    if start == end:
        return any(it.start <= start for it in differences[first : first + 1])
    return any(it.start < end and it.end > start for it in differences[first : first + 2])


def overlap(hunks: Sequence[Hunk]) -> bool:
    ordered = sorted(hunks, key=lambda it: (it.start, it.end))
    return any(one.end > two.start for one, two in pairwise(ordered))


def clash(one: Hunk, two: Hunk, text: str) -> bool:
    """They overlap where they stand in the text, or touch each other within a line: what differs in a word is less than
    the word."""
    if one.start < two.end and two.start < one.end:
        return True
    touched = {one.start} & {two.end} | {one.end} & {two.start}
    return any(0 < at < len(text) and text[at - 1] not in "\r\n" for at in touched)


@dataclass(frozen=True, slots=True, order=True)
class _Placed:
    """A hunk between the two steps: one of the first where it has put something, one of the second where it takes."""

    start: int
    end: int
    index: int
    """In its step."""
    is_second: bool
    growth: int
    """By which the first step has moved what is behind it."""


@dataclass(slots=True)
class _Cluster:
    """Hunks of both steps that meet, by their indexes, and where they are between the two."""

    start: int
    end: int
    first: list[int] = field(default_factory=list[int])
    second: list[int] = field(default_factory=list[int])
    growth: int = 0

    def meets(self, other: _Placed) -> bool:
        """They overlap; or one is a mere place, at or in the other."""
        if self.start == self.end or other.start == other.end:
            return self.start <= other.end and other.start <= self.end
        return self.start < other.end and other.start < self.end

    def add(self, placed: _Placed) -> None:
        (self.second if placed.is_second else self.first).append(placed.index)
        self.end = max(self.end, placed.end)
        self.growth += placed.growth


def _placed(hunks: Sequence[Hunk], *, is_second: bool) -> Iterator[_Placed]:
    shift = 0
    for index, hunk in sorted(enumerate(hunks), key=lambda it: (it[1].start, it[1].end)):
        start, size = hunk.start + shift, len(hunk.old if is_second else hunk.new)
        growth = 0 if is_second else len(hunk.new) - len(hunk.old)
        yield _Placed(start, start + size, index, is_second, growth)
        shift += growth


def _is_in_line_end(text: str, at: int) -> bool:
    return at > 0 and text[at - 1 : at + 1] == "\r\n"


def _neighbours(steps: Sequence[LineStep]) -> Iterator[Sequence[LineStep]]:
    """Those together whose surroundings meet."""
    apart = [at for at, (one, two) in enumerate(pairwise(steps), 1) if two[0] - one[1] > 2 * CONTEXT]
    yield from (steps[start:end] for start, end in pairwise([0, *apart, len(steps)]))


def _numbered(start: int, end: int) -> str:
    """Lines as a diff counts them."""
    if end - start == 1:
        return str(end)
    return f"{start + 1 if end > start else start},{end - start}"


def _ended(lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _refined(hunk: Hunk, *, same_lines: bool) -> Hunk:
    """Without what both sides begin and end with, if it replaces lines by as many others."""
    if not same_lines:
        return hunk
    head = same_at_start(hunk.old, hunk.new)
    head -= hunk.old[:head].endswith("\r")
    tail = same_at_end(hunk.old[head:], hunk.new[head:])
    old, new = hunk.old[head : len(hunk.old) - tail], hunk.new[head : len(hunk.new) - tail]
    if old.endswith("\r") or new.endswith("\r"):
        tail = 0  # a carriage return and its line feed stay together
        old, new = hunk.old[head:], hunk.new[head:]
    return Hunk(hunk.start + head, old, new)
