"""One text made of another by replacements, each of which is found once: so they fit a text that differs elsewhere."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import accumulate

from odin_lsp.workspace.comparing import LineStep, changed_lines
from odin_lsp.workspace.text import whole_lines

MOST = 100
"""More places than these are taken together: each is looked for in all of the text."""


@dataclass(frozen=True, slots=True)
class Replacement:
    old: str
    new: str


def replacements(old: str, new: str) -> list[Replacement]:
    """In their order, each for what the one before has left. `old` is not empty."""
    old_lines, new_lines = whole_lines(old), whole_lines(new)
    steps = _few(changed_lines(old_lines, new_lines))
    for chosen in (steps, _few(steps, 1)):
        made = [
            Replacement("".join(old_lines[first:last]), "".join(new_lines[new_first:new_last]))
            for first, last, new_first, new_last in _told_apart(chosen, old, old_lines)
        ]
        if _make(old, made) == new:
            return made
    return [Replacement(old, new)]


def _few(steps: Sequence[LineStep], most: int = MOST) -> list[LineStep]:
    """No more than so many: those with the fewest lines between them are one."""
    gaps = range(1, len(steps))
    kept = sorted(nlargest(most - 1, gaps, key=lambda it: steps[it][0] - steps[it - 1][1]))
    starts, ends = [0, *kept], [*kept, len(steps)]
    return [_joined(steps[start], steps[end - 1]) for start, end in zip(starts, ends, strict=True) if steps]


def _joined(one: LineStep, two: LineStep) -> LineStep:
    return one[0], two[1], one[2], two[3]


def _told_apart(steps: Sequence[LineStep], old: str, lines: Sequence[str]) -> list[LineStep]:
    """With as many lines around each as it takes to find it; those for which there are not so many are joined."""
    starts = list(accumulate(map(len, lines), initial=0))
    waiting, wide = [*reversed(steps)], list[LineStep]()
    while waiting:
        step = waiting.pop()
        above, below = wide[-1][1] if wide else 0, waiting[-1][0] if waiting else len(lines)
        if found := _widened(step, above, below, old, starts):
            wide.append(found)
        elif waiting or wide:
            neighbours = (wide.pop(), step) if wide else (step, waiting.pop())
            waiting.append(_joined(*neighbours))
        else:
            return [(0, len(lines), 0, step[3] + len(lines) - step[1])]
    return wide


def _widened(step: LineStep, above: int, below: int, old: str, starts: Sequence[int]) -> LineStep | None:
    """By the fewest lines, if there are so many. What is found once is found once with more around it, too."""

    def wider(by: int) -> LineStep:
        up, down = min(by, step[0] - above), min(by, below - step[1])
        return step[0] - up, step[1] + down, step[2] - up, step[3] + down

    def is_found_once(by: int) -> bool:
        first, last, *_ = wider(by)
        text, at = old[starts[first] : starts[last]], starts[first]
        return bool(text) and old.find(text) == at and old.find(text, at + 1) < 0

    most = max(step[0] - above, below - step[1])
    by = bisect_left(range(most + 1), True, key=is_found_once)
    return wider(by) if by <= most else None


def _make(text: str, made: list[Replacement]) -> str | None:
    for it in made:
        if text.count(it.old) != 1:
            return None
        text = text.replace(it.old, it.new)
    return text
