"""What a change has done to the problems of a text. Pure: two texts, and what was found in each."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from odin_lsp.intelligence.servers import Problem
from odin_lsp.records import Diagnostic, Severity
from odin_lsp.workspace.comparing import changed_lines, same_lines
from odin_lsp.workspace.text import whole_lines

ORDER: tuple[Severity, ...] = ("error", "warning", "information", "hint")
MAX_MESSAGE = 300
"""Characters of one message that are told."""
_Place = tuple[int, int] | None
"""In the new text; `None`: within what has changed."""
_Same = tuple[str, str, str, _Place]


@dataclass(frozen=True, slots=True)
class Compared:
    """The worst first, then as they stand in the text."""

    introduced: tuple[Problem, ...]
    fixed: tuple[Problem, ...]
    remaining: tuple[Problem, ...]


def compare(old: str, before: Iterable[Problem], new: str, after: Iterable[Problem]) -> Compared:
    """A problem is the same if it is told in the same words by the same source, at the same place: on the same line,
    wherever that stands now, or on any line that has changed. So one that has moved is no new one."""
    lines, new_lines = whole_lines(old), whole_lines(new)
    runs = same_lines(changed_lines(lines, new_lines), len(lines))
    places = _Places([*runs, (len(lines), len(new_lines), 1)])
    new_places = _Places([(at, at, count) for _, at, count in runs] + [(len(new_lines), len(new_lines), 1)])
    known = [(places.same(it, len(lines)), it) for it in ordered(before)]
    found = [(new_places.same(it, len(new_lines)), it) for it in ordered(after)]
    remaining, introduced = _parted(found, Counter(same for same, _ in known))
    _, fixed = _parted(known, Counter(same for same, _ in found))
    return Compared(introduced, fixed, remaining)


def ordered(problems: Iterable[Problem]) -> list[Problem]:
    return sorted(problems, key=lambda it: (ORDER.index(it.severity), it.line, it.character))


def diagnostic(problem: Problem, uri: str) -> Diagnostic:
    """As it is told: in one line that is not too long."""
    message = " ".join(problem.message.split())
    return Diagnostic(
        uri=uri,
        line=problem.line + 1,
        severity=problem.severity,
        message=message if len(message) <= MAX_MESSAGE else f"{message[:MAX_MESSAGE]}…",
        source=problem.source,
        code=problem.code,
    )


class _Places:
    def __init__(self, runs: Sequence[tuple[int, int, int]]) -> None:
        """From which line on which lines follow, and how many."""
        self._runs = [it for it in runs if it[2] > 0]

    def same(self, problem: Problem, end: int) -> _Same:
        """What has to agree. A line past the last is the end of the text."""
        return problem.source, problem.code, problem.message, self._place(min(problem.line, end), problem.character)

    def _place(self, line: int, character: int) -> _Place:
        index = bisect_right(self._runs, line, key=lambda it: it[0]) - 1
        first, there, count = self._runs[index] if index >= 0 else (0, 0, 0)
        return (there + line - first, character) if line < first + count else None


def _parted(
    problems: Iterable[tuple[_Same, Problem]], others: Counter[_Same]
) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    """Those that the others have too, as often as they do, and the rest."""
    both: list[Problem] = []
    rest: list[Problem] = []
    for same, problem in problems:
        others[same] -= 1
        (both if others[same] >= 0 else rest).append(problem)
    return tuple(both), tuple(rest)
