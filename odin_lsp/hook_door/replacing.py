"""One text made of another by replacements, each of which is found once: so they fit a text that differs elsewhere."""

from dataclasses import dataclass
from difflib import SequenceMatcher

from odin_lsp.workspace.text import whole_lines


@dataclass(frozen=True, slots=True)
class Replacement:
    old: str
    new: str


@dataclass(slots=True)
class _Span:
    """Lines of the old text, and of the new one, that differ."""

    start: int
    end: int
    new_start: int
    new_end: int


def replacements(old: str, new: str) -> list[Replacement]:
    """In their order, each for what the one before has left. `old` is not empty."""
    old_lines, new_lines = whole_lines(old), whole_lines(new)
    codes = SequenceMatcher(None, old_lines, new_lines, autojunk=False).get_opcodes()
    spans = [_Span(*places) for kind, *places in codes if kind != "equal"]
    number = 0
    while number < len(spans):
        above = spans[number - 1].end if number else 0
        below = spans[number + 1].start if number + 1 < len(spans) else len(old_lines)
        if _widen(spans[number], above, below, old, old_lines):
            number += 1
            continue
        if len(spans) == 1:
            return [Replacement(old, new)]
        number = max(0, number - 1)
        first, second = spans[number], spans.pop(number + 1)
        first.end, first.new_end = second.end, second.new_end
    made = [
        Replacement("".join(old_lines[it.start : it.end]), "".join(new_lines[it.new_start : it.new_end]))
        for it in spans
    ]
    return made if _make(old, made) == new else [Replacement(old, new)]


def _widen(span: _Span, above: int, below: int, old: str, lines: list[str]) -> bool:
    """By lines around it, as many as it takes; whether there are so many."""
    while True:
        text = "".join(lines[span.start : span.end])
        if text and old.count(text) == 1:
            return True
        if span.start == above and span.end == below:
            return False
        if span.start > above:
            span.start, span.new_start = span.start - 1, span.new_start - 1
        if span.end < below:
            span.end, span.new_end = span.end + 1, span.new_end + 1


def _make(text: str, made: list[Replacement]) -> str | None:
    for it in made:
        if text.count(it.old) != 1:
            return None
        text = text.replace(it.old, it.new)
    return text
