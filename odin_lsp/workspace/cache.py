"""What the process holds of files, whole or in parts, inside bounds of bytes and entries.

It says nothing about what a model has seen: that is `shown.py`.
"""

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from odin_lsp.config import CacheSettings
from odin_lsp.workspace.buffers import Stamp
from odin_lsp.workspace.eviction import EVICTIONS
from odin_lsp.workspace.text import Decoded, whole_lines


@dataclass(slots=True)
class Segment:
    """Lines `start` to `end`, from 1, both included."""

    start: int
    end: int
    lines: list[str]
    size: int
    last_accessed: float

    @property
    def key(self) -> str:
        return f"{self.start}-{self.end}"


@dataclass(slots=True)
class CachedFile:
    stamp: Stamp
    size: int
    """Bytes of the whole file."""
    cached_at: float
    last_accessed: float
    access_count: int = 0
    full_content: Decoded | None = None
    segments: list[Segment] = field(default_factory=list[Segment])
    content_hash: str | None = None
    """SHA-256 of the whole file's bytes; none while only parts of it are here."""
    original_hash: str | None = None
    total_lines: int | None = None
    is_modified: bool = False
    cached_bytes: int = 0
    """What it counts against the bound."""

    @property
    def is_partial(self) -> bool:
        return self.full_content is None

    @property
    def is_truncated(self) -> bool:
        return self.is_partial


class FileCache:
    """By canonical path, so that each file has one entry whatever its names."""

    def __init__(self, settings: CacheSettings | None = None, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self.configure(settings or CacheSettings())

    def configure(self, settings: CacheSettings) -> None:
        """From now on by these bounds, with nothing kept by others."""
        self.settings = settings
        self._files: dict[Path, CachedFile] = {}
        self._eviction = EVICTIONS[settings.eviction_policy]()
        self._bytes = 0

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

    def full(self, path: Path, stamp: Stamp) -> Decoded | None:
        """The whole text, if it is here and the file is still the same."""
        file = self._fresh(path, stamp)
        if file is None or file.full_content is None:
            return None
        self._use(path, file)
        return file.full_content

    def part(self, path: Path, stamp: Stamp, start: int, end: int) -> list[str] | None:
        """Lines `start` to `end` with their ends, from the whole text or from a segment around them."""
        file = self._fresh(path, stamp)
        if file is None:
            return None
        if file.full_content is not None:
            self._use(path, file)
            return whole_lines(file.full_content.text)[start - 1 : end]
        for segment in file.segments:
            if segment.start <= start and end <= segment.end:
                self._use(path, file)
                segment.last_accessed = self._clock()
                return segment.lines[start - segment.start : end - segment.start + 1]
        return None

    def put(self, path: Path, stamp: Stamp, data: bytes, content: Decoded) -> None:
        """The whole file, as it was read from disk. What is too large is not kept."""
        self._replace(path, stamp, data, content, modified=False)

    def update(self, path: Path, stamp: Stamp, content: Decoded) -> None:
        """The whole file, as Odin changed it: its parts are out of date."""
        self._replace(path, stamp, content.encode(), content, modified=True)

    def put_part(self, path: Path, stamp: Stamp, size: int, start: int, lines: list[str], total: int | None) -> None:
        """Some lines of a file. What touches or overlaps becomes one segment."""
        file = self._fresh(path, stamp)
        if file is not None and file.full_content is not None:
            return
        segments = file.segments if file else []
        merged = Segment(start, start + len(lines) - 1, lines, 0, self._clock())
        for segment in [it for it in segments if it.start <= merged.end + 1 and merged.start <= it.end + 1]:
            segments.remove(segment)
            merged = _union(merged, segment)
        merged.size = sum(len(line.encode("utf-8", "surrogatepass")) for line in merged.lines)
        segments = sorted([*segments, merged], key=lambda it: it.last_accessed)[-self.settings.max_segments :]
        taken = sum(segment.size for segment in segments)
        self.forget(path)
        if taken > self.settings.max_cache_size:
            return
        self._make_room(taken)
        now = self._clock()
        self._files[path] = CachedFile(
            stamp,
            size,
            cached_at=file.cached_at if file else now,
            last_accessed=now,
            access_count=file.access_count if file else 0,
            segments=segments,
            total_lines=total if total is not None else file.total_lines if file else None,
        )
        self._account(path, self._files[path], taken)

    def same(self, path: Path, stamp: Stamp, data: bytes) -> bool:
        """Whether `data` is what is cached, however its stamp has changed; if so, that is the stamp from now on."""
        file = self._files.get(path)
        if file is None or file.content_hash != hashlib.sha256(data).hexdigest():
            return False
        file.stamp = stamp
        return True

    def forget(self, path: Path) -> None:
        file = self._files.pop(path, None)
        if file is not None:
            self._bytes -= file.cached_bytes
            self._eviction.remove(path)

    def _fresh(self, path: Path, stamp: Stamp) -> CachedFile | None:
        file = self._files.get(path)
        if file is None:
            return None
        expired = self.settings.ttl and self._clock() - file.cached_at > self.settings.ttl
        return None if expired or (self.settings.auto_refresh and file.stamp != stamp) else file

    def _replace(self, path: Path, stamp: Stamp, data: bytes, content: Decoded, *, modified: bool) -> None:
        old = self._files.get(path)
        self.forget(path)
        if len(data) > min(self.settings.max_file_size, self.settings.max_cache_size):
            return
        self._make_room(len(data))
        now = self._clock()
        digest = hashlib.sha256(data).hexdigest()
        original = old.original_hash if old and old.original_hash else digest
        file = self._files[path] = CachedFile(
            stamp,
            len(data),
            cached_at=now,
            last_accessed=now,
            access_count=old.access_count if old else 0,
            full_content=content,
            content_hash=digest,
            original_hash=original,
            total_lines=len(whole_lines(content.text)),
            is_modified=modified and digest != original,
        )
        self._account(path, file, len(data))

    def _make_room(self, size: int) -> None:
        """Let others go before something new comes, so that it is not the first to go again."""
        while self._files and (
            self._bytes + size > self.settings.max_cache_size or len(self._files) >= self.settings.max_entries
        ):
            self.forget(self._eviction.victim())

    def _use(self, path: Path, file: CachedFile) -> None:
        file.last_accessed = self._clock()
        file.access_count += 1
        self._eviction.touch(path, modified=file.is_modified)

    def _account(self, path: Path, file: CachedFile, size: int) -> None:
        self._bytes += size - file.cached_bytes
        file.cached_bytes = size
        self._use(path, file)


def _union(one: Segment, two: Segment) -> Segment:
    """Two segments that touch or overlap, as one; where both have a line, the newer one's counts."""
    start, end = min(one.start, two.start), max(one.end, two.end)
    head = two.lines[: max(0, one.start - two.start)]
    tail = two.lines[len(two.lines) - max(0, two.end - one.end) :] if two.end > one.end else []
    return Segment(start, end, [*head, *one.lines, *tail], 0, max(one.last_accessed, two.last_accessed))
