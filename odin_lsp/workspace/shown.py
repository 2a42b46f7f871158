"""What a model has been shown of each file. Whether an edit is allowed depends on this, not on what is cached."""

import asyncio
import hashlib
import time
from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from odin_lsp.records import Stretch
from odin_lsp.workspace.buffers import Stamp
from odin_lsp.workspace.comparing import LineStep, changed_lines, same_lines
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.text import split_lines
from odin_lsp.workspace.told import ToldText

MAX_FILES = 500


@dataclass(slots=True)
class ShownFile:
    lines: dict[int, str] = field(default_factory=dict[int, str])
    """The text of each line, without its end, as it was when it was shown."""
    size: int = 0
    total: int | None = None
    """Lines in the file, if that is known."""
    at: float = 0.0
    stamp: Stamp | None = None
    """The text that the lines were last found in; none if somebody has to look whether they are."""
    is_outdated: bool = False
    """Others have changed the file since: some of the lines are not there any more, or not as they were."""
    is_told: bool = False
    """The model has been told so."""

    @property
    def is_whole(self) -> bool:
        return self.total is not None and len(self.lines) >= self.total


class Shown:
    """One conversation's view of the workspace. One that is apart has an `earlier` one, which it does not change."""

    def __init__(self, earlier: "Shown | None" = None) -> None:
        self._files: dict[Path, ShownFile] = {}
        self._told: dict[Path, ToldText] = {}
        self._changed: dict[Path, None] = {}
        self._earlier = earlier

    def __iter__(self) -> Iterator[tuple[Path, ShownFile]]:
        return iter(tuple(self._files.items()))

    def changed(self) -> list[Path]:
        """Files of which other lines are shown, or none any more, since this was asked last."""
        changed, self._changed = self._changed, {}
        return list(changed)

    def of(self, path: Path) -> ShownFile | None:
        return self._files.get(path)

    def told(self, path: Path) -> ToldText | None:
        """What the conversation has word for word, unless it was made shorter since."""
        return self._told.get(path) or (self._earlier.told(path) if self._earlier else None)

    def tell(self, path: Path, page: ToldText) -> None:
        """It was told now, of a file that is noted as shown."""
        known = self.told(path)
        self._told[path] = known.joined_by(page) if known else page

    def forget_told(self) -> None:
        """The conversation was made shorter: what is told from now on counts anew."""
        self._told.clear()

    def note(
        self,
        path: Path,
        start: int,
        lines: Sequence[str],
        *,
        size: int = 0,
        total: int | None = None,
        stamp: Stamp | None = None,
    ) -> None:
        """Lines from `start` on, counted from 1, were shown."""
        self._add(path, ShownFile(dict(enumerate(lines, start)), size, total, stamp=stamp))

    def adopt(self, other: "Shown") -> None:
        """What was shown there was shown here."""
        for path, file in other:
            self._add(path, file)
        for path, page in other._told.items():
            self.tell(path, page)

    def _add(self, path: Path, new: ShownFile) -> None:
        self._changed[path] = None
        file = self._files.setdefault(path, ShownFile())
        if new.total is not None and file.total not in (None, new.total):
            file.lines.clear()  # the file has changed in length: line numbers mean something else now
        file.lines.update(new.lines)
        file.size, file.total = new.size or file.size, new.total if new.total is not None else file.total
        file.at, file.stamp, file.is_outdated = time.time(), None if file.is_outdated else new.stamp, False
        self._files[path] = self._files.pop(path)
        if len(self._files) > MAX_FILES:
            self.forget(next(iter(self._files)))

    def renew(self, path: Path, now: "ShownNow") -> None:
        """The file was edited, and this is what is shown of it then."""
        file = self._files.get(path)
        if file is None:
            return
        self._changed[path] = None
        file.lines, file.total = now.lines, now.total if file.total is not None else None
        file.at, file.stamp = time.time(), None
        file.is_outdated = file.is_told = False

    async def compare(self, files: Files, drafted: Container[Path] = ()) -> None:
        """Find out which files others have changed. What Odin itself has drafted there is not looked at, and what has
        changed once is not looked at again before it was read."""
        asked = {path: file for path, file in self if not file.is_outdated and path not in drafted}
        before = {path: (file.stamp, file.at) for path, file in asked.items()}
        stamps = await files.stamps(asked)
        others = [path for path, stamp in stamps.items() if stamp is None or stamp != before[path][0]]
        views = [(files.reader(path), dict(asked[path].lines)) for path in others]
        are_there = await asyncio.to_thread(_are_there, views) if views else []
        for path, is_there in zip(others, are_there, strict=True):
            file = asked[path]
            if self._files.get(path) is file and (file.stamp, file.at) == before[path]:  # else it was shown meanwhile
                file.stamp, file.is_outdated = stamps[path], not is_there
                file.is_told = file.is_told and file.is_outdated

    async def newly_outdated(self, files: Files, drafted: Container[Path] = ()) -> list[Path]:
        """Files that others have changed since they were shown, once each."""
        await self.compare(files, drafted)
        new = [path for path, file in self if file.is_outdated and not file.is_told]
        for path in new:
            self._files[path].is_told = True
        return new

    def rewritten(self, path: Path, now: Sequence[str]) -> list[tuple[int, int]]:
        """Of the lines that were shown, as they were counted then: those that the file has no longer. What only stands
        elsewhere now is the same."""
        file = self._files.get(path)
        shown = sorted(file.lines.items()) if file else []
        steps = changed_lines([line for _, line in shown], now)
        gone = [shown[at][0] for first, last, _, _ in steps for at in range(first, last)]
        return [(it[0], it[-1]) for it in _runs(gone)]

    def covers(self, path: Path, start: int, current: Sequence[str]) -> bool:
        """Whether the lines that now stand at `start` were shown, there and as they are."""
        file = self._files.get(path)
        return file is not None and all(file.lines.get(number) == line for number, line in enumerate(current, start))

    def missing(self, path: Path, start: int, current: Sequence[str]) -> list[tuple[int, int]]:
        """The ranges among these lines that were not shown as they are."""
        file = self._files.get(path)
        ranges: list[tuple[int, int]] = []
        for number, line in enumerate(current, start):
            if file is not None and file.lines.get(number) == line:
                continue
            if ranges and ranges[-1][1] == number - 1:
                ranges[-1] = (ranges[-1][0], number)
            else:
                ranges.append((number, number))
        return ranges

    def forget(self, path: Path) -> None:
        if self._files.pop(path, None) is not None:
            self._changed[path] = None
        self._told.pop(path, None)

    def move(self, old: Path, new: Path) -> None:
        """The file is called otherwise now."""
        if (file := self._files.pop(old, None)) is not None:
            self._changed |= {old: None, new: None}
            file.at = time.time()
            self._files[new] = file
            self._told.pop(old, None)

    def stretches(self, path: Path) -> tuple[Stretch, ...]:
        """What was shown of the file, without its text."""
        file = self._files.get(path)
        runs = _runs(sorted(file.lines)) if file else []
        return tuple(Stretch(it[0], it[-1], _digest([file.lines[number] for number in it])) for it in runs if file)

    async def recall(self, files: Files, earlier: Mapping[Path, Sequence[Stretch]]) -> None:
        """These were shown before Odin was started; those count that are as they were."""
        views = [(path, files.reader(path), stretches) for path, stretches in earlier.items()]
        found = await asyncio.to_thread(lambda: [(path, *_recalled(read, its)) for path, read, its in views])
        for path, pieces, total, size in found:
            for first, lines in pieces:
                self.note(path, first, lines, size=size, total=total)


def _recalled(
    read: Callable[[], list[str] | None], stretches: Sequence[Stretch]
) -> tuple[list[tuple[int, list[str]]], int, int]:
    """Those of the stretches that are there as they were, each by its first line; lines and characters of the file."""
    now = read() or []
    pieces = [(it.first, now[it.first - 1 : it.last]) for it in stretches]
    there = [piece for piece, it in zip(pieces, stretches, strict=True) if _digest(piece[1]) == it.digest]
    return there, len(now), sum(map(len, now)) + len(now)


ShownView = tuple[str, Mapping[int, str]]
"""A text as a file had it, or would have had it, and those of its lines that were shown."""


@dataclass(frozen=True, slots=True)
class ShownNow:
    """What is known of a text after it was edited."""

    lines: dict[int, str]
    total: int


def shown_or_written(old: str, new: str, shown: Mapping[int, str]) -> ShownNow:
    """The model itself has edited the text: what it wrote it has seen, and the rest is where it is now."""
    before, after = split_lines(old), split_lines(new)
    steps = changed_lines(before, after)
    lines = {at + 1: after[at] for _, _, first, last in steps for at in range(first, last)}
    lines.update(_still_there(steps, len(before), shown, after))
    return ShownNow(lines, len(after))


def still_shown(now: str, views: Sequence[ShownView]) -> ShownNow:
    """Others have changed the text too: of what was shown, what is there now."""
    after, lines = split_lines(now), dict[int, str]()
    for old, shown in views:
        before = after if old == now else split_lines(old)
        lines.update(_still_there(changed_lines(before, after), len(before), shown, after))
    return ShownNow(lines, len(after))


def _runs(numbers: Sequence[int]) -> list[Sequence[int]]:
    """Neighbours together."""
    starts = [at for at, number in enumerate(numbers) if not at or numbers[at - 1] != number - 1]
    return [numbers[start:end] for start, end in pairwise([*starts, len(numbers)])]


def _digest(lines: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _are_there(views: Iterable[tuple[Callable[[], list[str] | None], Mapping[int, str]]]) -> list[bool]:
    return [(now := read()) is not None and _is_there(shown, now) for read, shown in views]


def _is_there(shown: Mapping[int, str], now: Sequence[str]) -> bool:
    return all(number <= len(now) and now[number - 1] == line for number, line in shown.items())


def _still_there(
    steps: Sequence[LineStep], total: int, shown: Mapping[int, str], new: Sequence[str]
) -> Iterator[tuple[int, str]]:
    """Those of the lines shown, where they are now. What was not shown is not looked at: that may be a large file."""
    stretches = same_lines(steps, total)
    starts = [first for first, _, _ in stretches]
    for number, line in shown.items():
        first, now, size = stretches[bisect_right(starts, number - 1) - 1]
        offset = number - 1 - first
        if offset < size and new[now + offset] == line:
            yield now + offset + 1, line
