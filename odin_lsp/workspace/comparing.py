"""Which lines make one text the other. Two changed places are two changes, also among lines that are alike."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from odin_lsp.workspace.text import line_end, split_lines, usual_line_end, whole_lines

LineStep = tuple[int, int, int, int]
"""Lines from the first to before the second number make way for those from the third to before the fourth."""
Pair = tuple[int, int]
"""A line, by its numbers in both texts."""
Compare = Callable[[Sequence[str], Sequence[str]], list[Pair]]
FEW_LINES = 400
"""Of both texts together; more of them take difflib long."""
CLOSE = 3
"""So many lines do not keep two changes apart that could as well be one."""
MOST_EDITS = 64
"""Lines that come or go on a shortest way that is looked for: twice as many take four times as long."""
MOST_PARTS = 200
"""Of a long way: what is left then is one change."""


def changed_lines(old: Sequence[str], new: Sequence[str]) -> list[LineStep]:
    """What makes the one the other, in order."""
    head = same_at_start(old, new)
    tail = same_at_end(old[head:], new[head:])
    before, after = old[head : len(old) - tail], new[head : len(new) - tail]
    return [(head + a, head + b, head + c, head + d) for a, b, c, d in _steps(before, after)]


def with_ends_of(old: str, new: str) -> str:
    """The new text with the ends that the lines have in the old one, if whoever wrote it knows plain ends only."""
    before, after = whole_lines(old), whole_lines(new)
    if "\r" in new or "\r" not in old:
        return new
    end = usual_line_end(before)
    ended = [line[:-1] + end if line_end(line) else line for line in after]
    for first, new_first, count in same_lines(changed_lines(split_lines(old), split_lines(new)), len(before)):
        for at in range(count):
            if line_end(before[first + at]) and line_end(after[new_first + at]):
                ended[new_first + at] = before[first + at]
    return "".join(ended)


def same_lines(steps: Sequence[LineStep], total: int) -> list[tuple[int, int, int]]:
    """Where lines are those of the `total` lines before the steps: from where in each, and how many."""
    ends = [(0, 0, 0, 0), *steps, (total, total, 0, 0)]
    return [(before[1], before[3], after[0] - before[1]) for before, after in pairwise(ends)]


def same_at_start(one: Sequence[str], two: Sequence[str]) -> int:
    """How many elements both begin with. What is left is halved and compared as a whole: a loop would take longer."""
    same, most = 0, min(len(one), len(two))
    while same < most:
        middle = (same + most + 1) // 2
        if one[same:middle] == two[same:middle]:
            same = middle
        else:
            most = middle - 1
    return same


def same_at_end(one: Sequence[str], two: Sequence[str]) -> int:
    same, most = 0, min(len(one), len(two))
    while same < most:
        middle = (same + most + 1) // 2
        if one[len(one) - middle : len(one) - same] == two[len(two) - middle : len(two) - same]:
            same = middle
        else:
            most = middle - 1
    return same


def _steps(old: Sequence[str], new: Sequence[str]) -> list[LineStep]:
    """If it takes no more to say so, lines that are not in their places were changed there."""
    others = [at for at, (one, two) in enumerate(zip(old, new, strict=False)) if one != two]
    in_place = [(first, last, first, last) for first, last in _runs(others)] if len(old) == len(new) else None
    if in_place and 2 * len(others) <= _least([old[at] for at in others], [new[at] for at in others]):
        return in_place
    steps = _few(old, new) if len(old) + len(new) <= FEW_LINES else _many(old, new)
    return in_place if in_place and 2 * len(others) <= sum(b - a + d - c for a, b, c, d in steps) else steps


def _few(old: Sequence[str], new: Sequence[str]) -> list[LineStep]:
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(a, b, c, d) for kind, a, b, c, d in codes if kind != "equal"]


def _many(old: Sequence[str], new: Sequence[str]) -> list[LineStep]:
    """Steps that could as well be right beside each other are one, if there are only a few lines between them."""
    joined: list[LineStep] = []
    for step in _between(_kept(old, new, _found), len(old), len(new)):
        joined.append(step)
        while len(joined) > 1 and (both := _as_one(old, new, *joined[-2:])):
            joined[-2:] = [both]
    return joined


def _as_one(old: Sequence[str], new: Sequence[str], one: LineStep, two: LineStep) -> LineStep | None:
    size = two[0] - one[1]
    if size > CLOSE:
        return None
    a, b, c, d = two
    if old[a - size : a] == old[b - size : b] and new[c - size : c] == new[d - size : d]:
        return one[0], b - size, one[2], d - size
    a, b, c, d = one
    if old[a : a + size] == old[b : b + size] and new[c : c + size] == new[d : d + size]:
        return a + size, two[1], c + size, two[3]
    return None


def _least(old: Sequence[str], new: Sequence[str]) -> int:
    """So many lines come or go at least."""
    before, after = Counter(old), Counter(new)
    return (before - after).total() + (after - before).total()


def _kept(old: Sequence[str], new: Sequence[str], compare: Compare) -> list[Pair]:
    """The lines that stay, as they are found among those that both have."""
    in_old, in_new = set(old), set(new)
    befores = [at for at, line in enumerate(old) if line in in_new]
    afters = [at for at, line in enumerate(new) if line in in_old]
    pairs = compare([old[at] for at in befores], [new[at] for at in afters])
    return [(befores[one], afters[two]) for one, two in pairs]


def _found(old: Sequence[str], new: Sequence[str]) -> list[Pair]:
    """Those on the shortest way. If it is long, lines that both have once part the texts first."""
    pairs, end = _way(old, new)
    if end == (len(old), len(new)):
        return pairs
    marks = _common(old, new)
    further = [
        (one + 1 + a, two + 1 + b)
        for (one, two), (next_one, next_two) in pairwise([(-1, -1), *marks, (len(old), len(new))])
        if next_one - one > 1 and next_two - two > 1
        for a, b in _kept(old[one + 1 : next_one], new[two + 1 : next_two], _part_by_part)
    ]
    return sorted([*marks, *further])


def _part_by_part(old: Sequence[str], new: Sequence[str]) -> list[Pair]:
    pairs: list[Pair] = []
    one = two = 0
    for _ in range(MOST_PARTS):
        further, (a, b) = _way(old[one:], new[two:])
        pairs += [(one + at, two + other) for at, other in further]
        one, two = one + a, two + b
        if (one, two) == (len(old), len(new)):
            break
    return pairs


def _way(old: Sequence[str], new: Sequence[str]) -> tuple[list[Pair], Pair]:
    """The lines that stay on the shortest way, and where it ends; of one that is too long only the first part. This is
    the greedy algorithm of Myers, "An O(ND) Difference Algorithm and Its Variations"."""
    goal = len(old) - len(new)
    rows = [{0: _same_from(old, 0, new, 0)}]
    """By how many lines came or went, and by how many the one is ahead of the other then: how far that leads."""
    while rows[-1].get(goal) != len(old) and len(rows) <= MOST_EDITS:
        rows.append(_further(old, new, rows[-1]))
    is_whole = rows[-1].get(goal) == len(old)
    inside = [lead for lead, at in rows[-1].items() if at <= len(old) and at - lead <= len(new)]
    lead = goal if is_whole else max(inside, key=lambda it: 2 * rows[-1][it] - it)
    stretches: list[tuple[int, int, int]] = []
    for row, before in zip(rows[:0:-1], rows[-2::-1], strict=True):
        at = _entered(before, lead)
        stretches.append((lead, at, row[lead]))
        lead += 1 if before.get(lead + 1) == at else -1
    stretches.append((0, 0, rows[0][0]))
    stretches = stretches[::-1] if is_whole else stretches[: MOST_EDITS // 2 : -1]
    lead, _, end = stretches[-1]
    return [(at, at - lead) for lead, first, last in stretches for at in range(first, last)], (end, end - lead)


def _further(old: Sequence[str], new: Sequence[str], row: Mapping[int, int]) -> dict[int, int]:
    """Where one more line that comes or goes leads to, and all lines that are the same from there on."""
    further: dict[int, int] = {}
    for lead in range(min(row) - 1, max(row) + 2, 2):
        at = _entered(row, lead)
        if at < len(old) and at - lead < len(new) and old[at] == new[at - lead]:
            at += _same_from(old, at, new, at - lead)
        further[lead] = at
    return further


def _entered(row: Mapping[int, int], lead: int) -> int:
    return max(row.get(lead + 1, -1), row.get(lead - 1, -2) + 1)


def _same_from(old: Sequence[str], one: int, new: Sequence[str], two: int) -> int:
    """How many lines are the same from there on."""
    begin, size = one, 1
    while (part := old[one : one + size]) and part == new[two : two + size]:
        one, two, size = one + len(part), two + len(part), 2 * size
    return one - begin + same_at_start(part, new[two : two + size])


def _between(pairs: Sequence[Pair], old_end: int, new_end: int) -> list[LineStep]:
    ends = [(-1, -1), *pairs, (old_end, new_end)]
    return [
        (one + 1, next_one, two + 1, next_two)
        for (one, two), (next_one, next_two) in pairwise(ends)
        if next_one - one > 1 or next_two - two > 1
    ]


def _common(old: Sequence[str], new: Sequence[str]) -> list[Pair]:
    """Lines that both have once: the most that are in the same order in both."""
    places = _once(new)
    pairs = [(at, places[line]) for line, at in _once(old).items() if line in places]
    ends: list[int] = []
    """For each length the row whose last line comes first, by that line's place."""
    last: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [index]
    row: list[Pair] = []
    index = last[-1] if last else -1
    while index >= 0:
        row.append(pairs[index])
        index = before[index]
    return row[::-1]


def _once(lines: Sequence[str]) -> dict[str, int]:
    count = Counter(lines)
    return {line: at for at, line in enumerate(lines) if count[line] == 1}


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbours together: from where, to before where."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number:
            runs[-1] = runs[-1][0], number + 1
        else:
            runs.append((number, number + 1))
    return runs
