"""Where a model's `old_string` stands in a text, and what its `new_string` means there."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import partial
from itertools import accumulate, chain, repeat

from odin_lsp.errors import ToolError
from odin_lsp.review.mismatch import mismatch
from odin_lsp.workspace.text import Lines, line_end, occurrences, split_lines, usual_line_end, whole_lines

MAX_LISTED = 10
"""Line numbers in a text for the model."""
REPLACED = (
    "old_string does not occur in the text any more: an edit that you made before this one has changed the passage;"
    " quote it as that edit left it"
)
BLANKS = " \t"
LINE_ENDS = {"\r\n": "\n", "\r": "\n"}
PUNCTUATION = {"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u00a0": " ", "…": "..."}
_END = re.compile(r"(\r\n|\r|\n)")
_PART = re.compile(r"\.\.\.|\w+|\s+|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Replacement:
    """In characters of the text. `new` has the line ends, and if need be the indentation, of the text."""

    start: int
    end: int
    new: str

    @property
    def growth(self) -> int:
        return len(self.new) - (self.end - self.start)


@dataclass(frozen=True, slots=True)
class Match:
    replacements: tuple[Replacement, ...]
    """In the order of the text, apart from each other."""
    how: str
    """What was forgiven, for the model to know; empty if nothing was."""


def find(text: str, old: str, new: str, *, replace_all: bool = False, before: str = "") -> Match:
    """Literally if possible; else forgiving one kind of difference, and only where a single place is meant. `before`:
    the text without the edits that came before this one."""
    if not old:
        raise ToolError("old_string is empty; to create a file use WriteFile")
    if old == new:
        raise ToolError("old_string and new_string are the same; nothing would change")
    for forgiven, rung in _LADDER:
        places = list(rung(text, old, new))
        if len(places) > 1 and (forgiven or not replace_all):
            raise _ambiguous(text, places, forgiven)
        if places:
            return _match(text, places, f"differences in {forgiven} were ignored" if forgiven else "")
    if old in before:
        raise ToolError(REPLACED)
    raise ToolError(f"old_string does not occur in the text{mismatch(text, old)}")


def replaced(text: str, match: Match) -> str:
    pieces: list[str] = []
    at = 0
    for it in match.replacements:
        pieces += [text[at : it.start], it.new]
        at = it.end
    return "".join([*pieces, text[at:]])


@dataclass(frozen=True, slots=True)
class Applied:
    text: str
    forgiven: list[str]
    """For the model to know."""
    touched: list[tuple[int, int]]
    """What was replaced, in characters of the text before."""


def apply_all(text: str, edits: Sequence[tuple[str, str, bool]], before: str = "") -> Applied:
    """Each edit works on what the one before has left. Either all of them succeed, or none is done. `before` is the
    text without earlier edits.

    An edit may lie within what another has written, or around it, if it quotes that exactly; it may not cut into it.
    """
    written: list[_Written] = []
    forgiven: list[str] = []
    before = before or text
    for number, (old, new, replace_all) in enumerate(edits, 1):
        try:
            match = find(text, old, new, replace_all=replace_all, before=before)
            written = _followed(written, match, number)
        except ToolError as error:
            raise ToolError(f"edit {number} of {len(edits)} failed, and nothing was changed: {error}") from error
        text = replaced(text, match)
        if match.how:
            forgiven.append(f"edit {number}: {match.how}")
    return Applied(text, forgiven, [(it.origin, it.origin_end) for it in written])


@dataclass(frozen=True, slots=True)
class _Place:
    """`old` stands here, but for what is forgiven, and is to become `new`."""

    start: int
    end: int
    old: str
    new: str
    literal: bool = False
    """`new` is to be put there as it is."""


@dataclass(frozen=True, slots=True)
class _Quoted:
    """A line of `old`, and how it is in the text."""

    old: str
    there: str
    end: str

    def reworded(self, new: str) -> str:
        """The line `new`, with the punctuation that the text has where `new` keeps what `old` has."""
        if self.old == new:
            return self.there
        if self.old == self.there or _fold(self.old, PUNCTUATION) != _fold(self.there, PUNCTUATION):
            return new
        folded = _Folded(self.there, PUNCTUATION)
        old_parts, new_parts = _PART.findall(self.old), _PART.findall(new)
        sizes = (len(_fold(it, PUNCTUATION)) for it in old_parts)
        offsets = [folded.origin(at) for at in accumulate(sizes, initial=0)]
        pieces: list[str] = []
        for kind, first, last, new_first, new_last in SequenceMatcher(None, old_parts, new_parts).get_opcodes():
            piece, origin = "".join(new_parts[new_first:new_last]), self.there[offsets[first] : offsets[last]]
            kept = kind == "equal" and _fold(piece, PUNCTUATION) == _fold(origin, PUNCTUATION)
            pieces.append(origin if kept else piece)
        return "".join(pieces)


@dataclass(frozen=True, slots=True)
class _Written:
    start: int
    end: int
    edit: int
    origin: int
    """Where it was in the text before all edits."""
    origin_end: int


def _exact(text: str, old: str, new: str) -> Iterator[_Place]:
    """Who writes no carriage return knows of none: a line feed then takes along the one before it."""
    speaks_of_returns = "\r" in old or "\r" in new
    literal = speaks_of_returns or "\n" not in new or "\r" not in text
    opens_with_end = old.startswith("\n") and not speaks_of_returns
    for at in occurrences(text, old):
        cut = opens_with_end and text[at - 1 : at] == "\r"
        yield _Place(at - cut, at + len(old), old, new, literal)


def _folded(text: str, old: str, new: str, *, forms: Mapping[str, str]) -> Iterator[_Place]:
    """Anywhere, if `forms` are taken for what they stand for."""
    folded, wanted = _Folded(text, forms), _fold(old, forms)
    for at in occurrences(folded.text, wanted):
        start, end = folded.origin(at), folded.origin(at + len(wanted))
        if _fold(text[start:end], forms) == wanted:
            yield _Place(start, end, old, new)


def _by_lines(text: str, old: str, new: str, *, bare: Callable[[str], str]) -> Iterator[_Place]:
    """Whole lines that are equal once `bare`. At the end of a text without a final line end none is asked for."""
    wanted = _BareLines(whole_lines(old), bare)
    if not wanted.longest.strip() or wanted.longest not in text:
        return
    lines = whole_lines(text)
    starts = [0, *accumulate(map(len, lines))]
    for first, last in _BareLines(lines, bare).rows(wanted):
        end = line_end(lines[last - 1]) or ""
        if not line_end(old):
            yield _Place(starts[first], starts[last] - len(end), old, new)
        elif end:
            yield _Place(starts[first], starts[last], old, new)
        else:
            yield _Place(starts[first], starts[last], _without_final_end(old), _without_final_end(new))


def _indented(text: str, old: str, new: str) -> Iterator[_Place]:
    """Whole lines that all have the same blanks more, or less, in front than those of `old`."""
    for place in _by_lines(text, old, new, bare=_without_blanks):
        pairs = zip(split_lines(place.old), split_lines(text[place.start : place.end]), strict=False)
        steps = {_step(_indentation(old), _indentation(there)) for old, there in pairs if _without_blanks(old)}
        step = steps.pop()
        if steps or step is None:
            continue
        shifted_old, shifted_new = _shifted(place.old, *step), _shifted(place.new, *step)
        if shifted_old is not None and shifted_new is not None:
            yield replace(place, old=shifted_old, new=shifted_new)


def _without_final_end(text: str) -> str:
    return text.removesuffix(line_end(text) or "")


def _without_trailing_blanks(line: str) -> str:
    return line.rstrip(BLANKS)


def _without_blanks(line: str) -> str:
    return line.strip(BLANKS)


_LADDER: tuple[tuple[str, Callable[[str, str, str], Iterable[_Place]]], ...] = (
    ("", _exact),
    ("line ends", partial(_folded, forms=LINE_ENDS)),
    ("the final line end", partial(_by_lines, bare=str)),
    ("trailing blanks", partial(_by_lines, bare=_without_trailing_blanks)),
    ("indentation", _indented),
    ("typographic punctuation", partial(_folded, forms=LINE_ENDS | PUNCTUATION)),
)
"""What is forgiven, step by step; a step is taken if the one before has found nothing."""


class _BareLines:
    """Lines without what is forgiven, as a text in which a row of them can be found at whole lines only."""

    def __init__(self, lines: Iterable[str], bare: Callable[[str], str]) -> None:
        self._fenced = ["\n" + bare(line.rstrip("\r\n")) + "\r" for line in lines]
        self._text = "".join(self._fenced)

    @property
    def longest(self) -> str:
        return max((line[1:-1] for line in self._fenced), key=lambda it: len(it.strip()))

    def rows(self, wanted: "_BareLines") -> Iterator[tuple[int, int]]:
        """The lines from the first to before the second number are those that are wanted."""
        starts = list(accumulate(map(len, self._fenced), initial=0))
        for at in occurrences(self._text, wanted._text):
            yield bisect_left(starts, at), bisect_left(starts, at + len(wanted._text))


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip(BLANKS))]


def _step(old: str, there: str) -> tuple[str, str] | None:
    """What to remove from the front of a line, and what to add, to get from one indentation to the other."""
    if there.endswith(old):
        return "", there.removesuffix(old)
    return (old.removesuffix(there), "") if old.endswith(there) else None


def _shifted(text: str, remove: str, add: str) -> str | None:
    lines = whole_lines(text)
    if not all(line.startswith(remove) or not line.strip() for line in lines):
        return None
    return "".join([add + line.removeprefix(remove) if line.strip() else line for line in lines])


class _Folded:
    """A text in simpler characters that still knows where each of them comes from."""

    def __init__(self, text: str, forms: Mapping[str, str]) -> None:
        self.text = _fold(text, forms)
        self._ends: list[int] = []
        self._shifts = [0]
        for found in _any_of(forms).finditer(text):
            if grown := len(forms[found[0]]) - len(found[0]):
                self._shifts.append(self._shifts[-1] + grown)
                self._ends.append(found.end() + self._shifts[-1])

    def origin(self, at: int) -> int:
        return at - self._shifts[bisect_right(self._ends, at)]


class _Shifts:
    """Where places of a text are once replacements have been made in it."""

    def __init__(self, replacements: Sequence[Replacement]) -> None:
        self._ends = [it.end for it in replacements]
        self._shifts = list(accumulate((it.growth for it in replacements), initial=0))

    def moved(self, at: int) -> int:
        return at + self._shifts[bisect_right(self._ends, at)]


def _fold(text: str, forms: Mapping[str, str]) -> str:
    return _any_of(forms).sub(lambda found: forms[found[0]], text)


def _any_of(forms: Mapping[str, str]) -> re.Pattern[str]:
    return re.compile("|".join(forms))


def _match(text: str, places: Iterable[_Place], how: str) -> Match:
    usual = usual_line_end(whole_lines(text)) if "\r" in text else "\n"
    match = Match(tuple(Replacement(it.start, it.end, _written(text, it, usual)) for it in places), how)
    if all(text[it.start : it.end] == it.new for it in match.replacements):
        raise ToolError("the text is already as new_string has it; nothing would change")
    return match


def _written(text: str, place: _Place, usual: str) -> str:
    """`new`, with the text's own lines where it keeps those of `old`, and the text's line ends throughout."""
    if place.literal:
        return place.new
    there = _END.split(text[place.start : place.end])
    ends = [*there[1::2], *_end_after(text, place.end)]
    further = usual_line_end(ends) if ends else usual
    old, new = _END.split(place.old)[::2], _END.split(place.new)[::2]
    quoted = list(map(_Quoted, old, there[::2], [*ends, further]))
    pieces: list[str] = []
    for _, first, last, new_first, new_last in SequenceMatcher(None, old, new).get_opcodes():
        for line, before in zip(new[new_first:new_last], chain(quoted[first:last], repeat(None)), strict=False):
            pieces += [before.reworded(line), before.end] if before else [line, further]
    return "".join(_apart(pieces)[:-1])


def _apart(pieces: list[str]) -> list[str]:
    """Lines and their ends in turn, such that no line feed joins the carriage return that ends the line before."""
    for at in range(3, len(pieces), 2):
        if pieces[at] == "\n" and not pieces[at - 1] and pieces[at - 2] == "\r":
            pieces[at] = "\r"
    return pieces


def _end_after(text: str, at: int) -> list[str]:
    """The end of the line that goes on at `at`, if it has one."""
    ends = [found for end in "\r\n" if (found := text.find(end, at)) >= 0]
    return _END.findall(text[min(ends) : min(ends) + 2])[:1] if ends else []


def _followed(written: list[_Written], match: Match, edit: int) -> list[_Written]:
    """What the edits up to this one have written, in the text that it leaves; of what is nested the outermost."""
    spans = [*written, *(_Written(it.start, it.end, edit, *_origin(it, written)) for it in match.replacements)]
    outermost: list[_Written] = []
    for span in sorted(spans, key=lambda it: (it.start, it.end > it.start, -it.end)):
        if not outermost or span.start >= outermost[-1].end:
            outermost.append(span)
        elif span.end > outermost[-1].end or match.how:
            first, second = sorted((outermost[-1].edit, span.edit))
            raise ToolError(f"edits {first} and {second} overlap; make them one")
    shifts = _Shifts(match.replacements)
    return [replace(it, start=shifts.moved(it.start), end=shifts.moved(it.end)) for it in outermost]


def _origin(place: Replacement, written: Sequence[_Written]) -> tuple[int, int]:
    """Where it was before anything was written; of what was written itself, what had stood there."""
    start, end = place.start, place.end
    for it in written:
        growth = (it.end - it.start) - (it.origin_end - it.origin)
        start -= growth if it.end <= place.start else max(0, place.start - it.start)
        end -= growth if it.start < place.end else 0
    return start, max(start, end)


def _ambiguous(text: str, places: Sequence[_Place], forgiven: str) -> ToolError:
    lines = Lines(text)
    numbers = ", ".join(str(lines.numbers(it.start, it.end)[0]) for it in places[:MAX_LISTED])
    where = f"{len(places)} times (lines {numbers}{', …' if len(places) > MAX_LISTED else ''})"
    if forgiven:
        return ToolError(f"old_string occurs {where}, but nowhere without differences in {forgiven}; quote one exactly")
    return ToolError(f"old_string occurs {where}; quote more of what surrounds the one you mean, or set replace_all")
