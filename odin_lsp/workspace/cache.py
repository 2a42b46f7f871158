"""What the process holds of files, whole or in parts, inside bounds of bytes and entries.

It says nothing about what a model has seen: that is `shown.py`.
"""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from odin_lsp.config import CacheSettings
from odin_lsp.workspace.buffers import Stamp, is_of_screen
from odin_lsp.workspace.eviction import Eviction
from odin_lsp.workspace.text import Decoded, split_lines


@dataclass(slots=True)
class Segment:
    """Lines `start` to `end`, from 1, both included."""

    start: int
    lines: list[str]
    """Without their ends."""
    last_accessed: float
    size: int = field(init=False)
    """Bytes, in UTF-8."""

    def __post_init__(self) -> None:
        self.size = len("\n".join(self.lines).encode("utf-8", "surrogatepass")) + 1

    @property
    def end(self) -> int:
        return self.start + len(self.lines) - 1

    @property
    def key(self) -> str:
        return f"{self.start}-{self.end}"


@dataclass(slots=True)
class CachedFile:
    stamp: Stamp
    """Of the text that is here: of the file, or of the document on the screen."""
    size: int
    """Bytes of the whole file; of an open document in UTF-8."""
    cached_at: float
    """When it was cached first."""
    read_at: float
    """When it was last read: `cache.ttl` counts from here."""
    last_accessed: float
    access_count: int = 0
    """How often tools have read it and Odin has changed it."""
    full_content: Decoded | None = None
    segments: list[Segment] = field(default_factory=list[Segment])
    total_lines: int | None = None
    cached_bytes: int = 0
    """What it counts against the bound."""
    is_written: bool = False
    """Odin has changed it, whatever became of that."""
    original: str | None = None
    """The hash of its first text; none while it has that, empty where Odin has made the file."""
    _content_hash: str | None = None

    @property
    def is_partial(self) -> bool:
        return self.full_content is None

    @property
    def is_truncated(self) -> bool:
        return self.is_partial

    @property
    def mod_time(self) -> float:
        """Of the file on disk; of a document, when the editor last read or wrote it. 0 where there is none."""
        return self.stamp[0] / 1e9

    @property
    def content_hash(self) -> str | None:
        """SHA-256 of the whole text in UTF-8, made when somebody asks; none while only parts of it are here."""
        if self._content_hash is None and self.full_content is not None:
            text = self.full_content.text.encode("utf-8", "surrogatepass")
            self._content_hash = hashlib.sha256(text).hexdigest()
        return self._content_hash

    @property
    def original_hash(self) -> str | None:
        """Of the text as it was first read; none where it never was, or where Odin has made the file."""
        return self.content_hash if self.original is None else self.original or None

    @property
    def is_modified(self) -> bool:
        """Odin has changed it, and as far as is known it is not as it was."""
        return self.is_written and (self.is_partial or self.content_hash != self.original_hash)


class FileCache:
    """By canonical path, so that each file has one entry whatever its names."""

    def __init__(self, settings: CacheSettings | None = None, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._files: dict[Path, CachedFile] = {}
        self._earlier: OrderedDict[Path, CachedFile] = OrderedDict()
        """Without their text: what was known of files when they changed."""
        self._bytes = 0
        self.configure(settings or CacheSettings())

    def configure(self, settings: CacheSettings) -> None:
        """From now on by these bounds; what is inside of them stays."""
        self.settings = settings
        self._eviction = Eviction(settings.eviction_policy, self._files)
        for path, file in self:
            segments = self._bounded(file.segments)
            if (file.is_partial and not segments) or (not file.is_partial and file.size > settings.max_file_size):
                self._evict(path)
            else:
                self._keep(path, file, segments)
        self._make_room(0, entries=0)

    def __iter__(self) -> Iterator[tuple[Path, CachedFile]]:
        return iter(tuple(self._files.items()))

    def __contains__(self, path: Path) -> bool:
        return path in self._files

    @property
    def size(self) -> int:
        return self._bytes

    def peek(self, path: Path) -> CachedFile | None:
        """The entry, without counting it as used."""
        return self._files.get(path)

    def full(self, path: Path, stamp: Stamp, *, to_edit: bool = False) -> Decoded | None:
        """The whole text, if it is here and the file is still the same. To look at it for an edit is no use of it: the
        edit is."""
        file = self._fresh(path, stamp, strictly=to_edit)
        if file is None or file.full_content is None:
            return None
        if not to_edit:
            self._use(path, file)
        return file.full_content

    def part(
        self, path: Path, stamp: Stamp, start: int, end: int, *, counts: bool = True
    ) -> tuple[list[str], int | None] | None:
        """Lines `start` to `end`, from the whole text or from a segment around them, and how many there are in all."""
        file = self._fresh(path, stamp)
        lines = self._lines(file, start, end) if file is not None else None
        if file is None or lines is None:
            return None
        if counts:
            self._use(path, file)
        return lines, file.total_lines

    def put(
        self, path: Path, stamp: Stamp, size: int, content: Decoded, total: int | None = None, *, counts: bool = True
    ) -> None:
        """The whole file, as it was read. What is too large is not kept, but parts of it may be."""
        old = self._files.get(path)
        if not self._may_hold(size):
            if old is not None and old.stamp != stamp:
                self.forget(path)
            return
        file = self._renewed(path, stamp, size)
        file.full_content = content
        file.total_lines = len(split_lines(content.text)) if total is None else total
        self._add(path, file, size, counts=counts)

    def put_parts(
        self,
        path: Path,
        stamp: Stamp,
        size: int,
        parts: Mapping[int, Sequence[str]],
        total: int | None = None,
        content: Decoded | None = None,
        *,
        counts: bool = True,
    ) -> None:
        """Some lines of a file, by the number of the first. What touches or overlaps becomes one segment; once all
        lines are there, the whole `content` is kept if it is at hand."""
        old = self._fresh(path, stamp, strictly=True)
        if old is not None and not old.is_partial:
            if counts:
                self._use(path, old)
            return
        segments = list(old.segments) if old else []
        for start, lines in parts.items():
            if lines:
                segments = _merged(segments, Segment(start, list(lines), self._clock()))
        if content is not None and sum(len(it.lines) for it in segments) == total and self._may_hold(size):
            self.put(path, stamp, size, content, total, counts=counts)
            return
        segments = self._bounded(segments)
        if not segments:
            self.forget(path)
            return
        file = self._renewed(path, stamp, size)
        file.total_lines = total if total is not None else old.total_lines if old else None
        file.read_at = old.read_at if old else file.read_at
        self._add(path, file, sum(it.size for it in segments), segments, counts=counts)

    def note_written(self, path: Path) -> None:
        """Odin has changed the file, and its text is here. One that nobody had read before was made by Odin."""
        file = self._files.get(path)
        if file is not None:
            if not file.access_count and not file.is_written and file.original is None:
                file.original = ""
            file.is_written = True
            self._use(path, file)

    def note_removed(self, path: Path) -> None:
        """Odin has removed the file; if it comes back it is compared with what it was."""
        self.forget(path)
        if path in self._earlier:
            self._earlier[path].is_written = True

    def move(self, old: Path, new: Path) -> None:
        """A file or folder is called otherwise now; its text is the same."""
        for known in (self._files, self._earlier):
            for path in [it for it in known if it.is_relative_to(old)]:
                place = new / path.relative_to(old)
                self._evict(place)
                self._earlier.pop(place, None)
                known[place] = known.pop(path)
        self._eviction = Eviction(self.settings.eviction_policy, self._files)

    def forget(self, path: Path) -> None:
        """Its text may be another one now: hold nothing of it, but remember how it was used."""
        if (file := self._files.get(path)) is not None:
            self._earlier[path] = self._renewed(path, file.stamp, file.size)
            while len(self._earlier) > self.settings.max_entries:
                self._earlier.popitem(last=False)

    def _lines(self, file: CachedFile, start: int, end: int) -> list[str] | None:
        if file.full_content is not None:
            return split_lines(file.full_content.text)[start - 1 : end]
        end = min(end, file.total_lines) if file.total_lines is not None else end
        for segment in file.segments:
            if segment.start <= start and end <= segment.end:
                segment.last_accessed = self._clock()
                return segment.lines[start - segment.start : end - segment.start + 1]
        return None

    def _fresh(self, path: Path, stamp: Stamp, *, strictly: bool = False) -> CachedFile | None:
        """The entry, unless it is too old, or the file has changed. Without `autoRefresh` that is not looked at, but
        for what is changed, and for what was on the screen."""
        file = self._files.get(path)
        if file is None or (self.settings.ttl and self._clock() - file.read_at > self.settings.ttl):
            return None
        compares = strictly or self.settings.auto_refresh or is_of_screen(file.stamp) or is_of_screen(stamp)
        return None if compares and file.stamp != stamp else file

    def _renewed(self, path: Path, stamp: Stamp, size: int) -> CachedFile:
        """An entry without text, with all that was known of the file; the old one is no more."""
        old, now = self._files.get(path) or self._earlier.pop(path, None), self._clock()
        file = CachedFile(stamp, size, cached_at=now, read_at=now, last_accessed=now)
        if old is not None:
            self._evict(path)
            file.cached_at, file.last_accessed, file.access_count = old.cached_at, old.last_accessed, old.access_count
            file.is_written = old.is_written
            file.original = old.content_hash if old.original is None else old.original
        return file

    def _add(self, path: Path, file: CachedFile, size: int, segments: Sequence[Segment] = (), *, counts: bool) -> None:
        """Others go before something new comes, so that it is not the first to go again."""
        self._make_room(size)
        self._keep(path, file, segments)
        if counts:
            self._use(path, file)

    def _keep(self, path: Path, file: CachedFile, segments: Sequence[Segment]) -> None:
        self._bytes -= file.cached_bytes if path in self._files else 0
        file.segments = list(segments)
        file.cached_bytes = sum(it.size for it in segments) if file.is_partial else file.size
        self._bytes += file.cached_bytes
        self._files[path] = file
        self._eviction.note(path)

    def _may_hold(self, size: int) -> bool:
        return size <= min(self.settings.max_file_size, self.settings.max_cache_size)

    def _bounded(self, segments: Sequence[Segment]) -> list[Segment]:
        """The most recent of them that may be kept."""
        kept: list[Segment] = []
        left = self.settings.max_cache_size
        for segment in sorted(segments, key=lambda it: it.last_accessed, reverse=True)[: self.settings.max_segments]:
            left -= segment.size
            if left >= 0:
                kept.append(segment)
        return kept

    def _make_room(self, size: int, entries: int = 1) -> None:
        while self._files and (
            self._bytes + size > self.settings.max_cache_size or len(self._files) + entries > self.settings.max_entries
        ):
            self._evict(self._eviction.victim())

    def _evict(self, path: Path) -> None:
        file = self._files.pop(path, None)
        self._bytes -= file.cached_bytes if file else 0

    def _use(self, path: Path, file: CachedFile) -> None:
        file.last_accessed = self._clock()
        file.access_count += 1
        self._eviction.note(path)


def _merged(segments: Sequence[Segment], new: Segment) -> list[Segment]:
    """With the new one, which takes in what touches or overlaps it; where both have a line, the new one's counts."""
    apart: list[Segment] = []
    for it in segments:
        if it.start > new.end + 1 or new.start > it.end + 1:
            apart.append(it)
            continue
        head, tail = it.lines[: max(0, new.start - it.start)], it.lines[max(0, new.end - it.start + 1) :]
        new = Segment(min(it.start, new.start), [*head, *new.lines, *tail], new.last_accessed)
    return [*apart, new]


def runs_of(lines: Mapping[int, str]) -> dict[int, list[str]]:
    """Lines by their numbers, as parts: neighbours together, by the number of the first."""
    runs: dict[int, list[str]] = {}
    first = 0
    for number in sorted(lines):
        first = first if number - 1 in lines else number
        runs.setdefault(first, []).append(lines[number])
    return runs
