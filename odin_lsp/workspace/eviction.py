"""Which file leaves the cache first, by what the cache knows of each: there is no second book that could differ."""

from collections.abc import Callable, Mapping
from heapq import heapify, heappop, heappush, heapreplace
from pathlib import Path
from typing import Literal, Protocol

Policy = Literal["lru", "lfu", "hybrid"]
Rank = tuple[float, float]
"""The lowest goes first."""
SPARE_RANKS = 10


class Used(Protocol):
    """What is known of a file's use."""

    @property
    def last_accessed(self) -> float: ...
    @property
    def access_count(self) -> int: ...
    @property
    def is_modified(self) -> bool: ...


RANKS: dict[Policy, Callable[[Used], Rank]] = {
    "lru": lambda it: (it.last_accessed, 0),
    "lfu": lambda it: (it.access_count, it.last_accessed),
    "hybrid": lambda it: (it.is_modified, it.last_accessed),
}


NOTED: dict[Policy, Callable[[Used], Rank]] = {**RANKS, "hybrid": lambda it: (False, it.last_accessed)}
"""The lowest that it can be: whether a file is modified is found out by its hash, which takes time."""


class Eviction:
    """A heap in which a rank that is too low or out of date stays until it comes up."""

    def __init__(self, policy: Policy, files: Mapping[Path, Used]) -> None:
        self._rank, self._noted = RANKS[policy], NOTED[policy]
        self._files = files
        self._ranked: list[tuple[Rank, Path]] = []
        self._rebuild()

    def note(self, path: Path) -> None:
        """The file is new, or was used or modified."""
        heappush(self._ranked, (self._noted(self._files[path]), path))
        if len(self._ranked) > 4 * len(self._files) + SPARE_RANKS:
            self._rebuild()

    def victim(self) -> Path:
        """The file to go next; there must be one."""
        while True:
            rank, path = self._ranked[0]
            file = self._files.get(path)
            if file is None or rank not in (self._noted(file), self._rank(file)):
                heappop(self._ranked)
            elif rank != (now := self._rank(file)):
                heapreplace(self._ranked, (now, path))
            else:
                return path

    def _rebuild(self) -> None:
        self._ranked = [(self._noted(file), path) for path, file in self._files.items()]
        heapify(self._ranked)
