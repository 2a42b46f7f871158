"""Which file leaves the cache first. Every operation takes the same time, however many files there are."""

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Literal, Protocol

Policy = Literal["lru", "lfu", "hybrid"]


class Eviction(Protocol):
    def touch(self, path: Path, *, modified: bool) -> None:
        """The file was added or used."""
        ...

    def remove(self, path: Path) -> None: ...

    def victim(self) -> Path:
        """The file to go next; there must be one."""
        ...


class LeastRecent:
    def __init__(self) -> None:
        self._paths: OrderedDict[Path, None] = OrderedDict()

    def touch(self, path: Path, *, modified: bool) -> None:
        self._paths[path] = None
        self._paths.move_to_end(path)

    def remove(self, path: Path) -> None:
        self._paths.pop(path, None)

    def victim(self) -> Path:
        return next(iter(self._paths))


class LeastFrequent:
    """Files by how often they were used; among equals the one that was not used for longest."""

    def __init__(self) -> None:
        self._uses: dict[Path, int] = {}
        self._by_uses: dict[int, OrderedDict[Path, None]] = {}
        self._fewest = 0

    def touch(self, path: Path, *, modified: bool) -> None:
        uses = self._uses.get(path, 0)
        if uses:
            self._leave(path, uses)
        else:
            self._fewest = 1
        self._uses[path] = uses + 1
        self._by_uses.setdefault(uses + 1, OrderedDict())[path] = None

    def remove(self, path: Path) -> None:
        uses = self._uses.pop(path, 0)
        if uses:
            self._leave(path, uses)

    def victim(self) -> Path:
        while self._fewest not in self._by_uses:
            self._fewest += 1  # at most once for each touch
        return next(iter(self._by_uses[self._fewest]))

    def _leave(self, path: Path, uses: int) -> None:
        del self._by_uses[uses][path]
        if not self._by_uses[uses]:
            del self._by_uses[uses]


class Hybrid:
    """The least recent of those that were not modified; of the modified ones only when there is no other."""

    def __init__(self) -> None:
        self._clean, self._modified = LeastRecent(), LeastRecent()
        self._clean_count = 0
        self._kind: dict[Path, bool] = {}

    def touch(self, path: Path, *, modified: bool) -> None:
        if self._kind.get(path) is not modified:
            self.remove(path)
            self._kind[path] = modified
            self._clean_count += not modified
        (self._modified if modified else self._clean).touch(path, modified=modified)

    def remove(self, path: Path) -> None:
        modified = self._kind.pop(path, None)
        if modified is not None:
            (self._modified if modified else self._clean).remove(path)
            self._clean_count -= not modified

    def victim(self) -> Path:
        return (self._clean if self._clean_count else self._modified).victim()


EVICTIONS: dict[Policy, Callable[[], Eviction]] = {"lru": LeastRecent, "lfu": LeastFrequent, "hybrid": Hybrid}
