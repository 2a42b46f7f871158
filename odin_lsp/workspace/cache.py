"""Texts of files that were read, as long as the disk has not moved on."""

import hashlib
import os
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

from odin_lsp.workspace.text import Decoded

Stamp = tuple[int, int, int]


def stamp_of(status: os.stat_result) -> Stamp:
    return status.st_mtime_ns, status.st_size, status.st_ino


@dataclass(frozen=True, slots=True)
class CacheLimits:
    max_cache_size: int = 100 * 1024 * 1024
    max_file_size: int = 10 * 1024 * 1024
    max_entries: int = 500


@dataclass(slots=True)
class CachedFile:
    content: Decoded
    stamp: Stamp
    size: int
    content_hash: str
    cached_at: float = field(default_factory=time.time)


class FileCache:
    """By canonical path; the least recently used go first."""

    def __init__(self, limits: CacheLimits | None = None) -> None:
        self.limits = limits or CacheLimits()
        self._files: OrderedDict[Path, CachedFile] = OrderedDict()
        self._bytes = 0

    def get(self, path: Path, stamp: Stamp) -> Decoded | None:
        cached = self._files.get(path)
        if cached is None or cached.stamp != stamp:
            return None
        self._files.move_to_end(path)
        return cached.content

    def put(self, path: Path, stamp: Stamp, data: bytes, content: Decoded) -> None:
        self.forget(path)
        if len(data) > self.limits.max_file_size:
            return
        self._files[path] = CachedFile(content, stamp, len(data), hashlib.sha256(data).hexdigest())
        self._bytes += len(data)
        while self._bytes > self.limits.max_cache_size or len(self._files) > self.limits.max_entries:
            self.forget(next(iter(self._files)))

    def forget(self, path: Path) -> None:
        if cached := self._files.pop(path, None):
            self._bytes -= cached.size

    def files(self) -> list[tuple[Path, CachedFile]]:
        return list(self._files.items())
