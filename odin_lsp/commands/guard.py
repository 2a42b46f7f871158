"""Protected files of the workspace while a command may write to it: those that exist the sandbox holds, and those that
the command makes are taken out again.

Looked at are the names in a workspace folder and two levels below: a look at everything would take longer than most
commands."""

import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from odin_lsp.permissions.protected import PATTERNS, protection

LEVELS = 3
MOST_ENTRIES = 20_000


class Guard:
    """Made before the command, asked after it."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = roots
        self._before = {path for root in roots for path in _protected(root)}

    @property
    def protect(self) -> tuple[Path, ...]:
        """All that the sandbox has to keep as it is, also what does not exist yet."""
        targets = {path.resolve() for path in self._before if path.is_symlink()}
        missing = {root / name for root in self._roots for name in _names()}
        inside = (path for path in targets if any(path.is_relative_to(root) for root in self._roots))
        return tuple(sorted({*self._before, *inside, *missing}))

    def appeared(self) -> list[Path]:
        """What is protected and new."""
        return sorted({path for root in self._roots for path in _protected(root)} - self._before)

    def take_out(self, aside: Path) -> list[tuple[Path, Path]]:
        """Move what is protected and new out of the workspace; from where, to where."""
        moved: list[tuple[Path, Path]] = []
        for path in self.appeared():
            aside.mkdir(mode=0o700, exist_ok=True)
            place = aside / f"{secrets.token_hex(4)}-{path.name}"
            shutil.move(path, place)
            moved.append((path, place))
        return moved


def _protected(root: Path) -> Iterator[Path]:
    """The topmost protected entries of each branch."""
    waiting, seen = [(root, 1)], 0
    while waiting and seen < MOST_ENTRIES:
        folder, level = waiting.pop()
        for entry in _entries(folder):
            seen += 1
            path = folder / entry.name
            name = Path("/") / path.relative_to(root)  # what is above the workspace does not make it protected
            if protection(name) or protection(name / "x"):
                yield path
            elif level < LEVELS and entry.is_dir(follow_symlinks=False):
                waiting.append((path, level + 1))


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _names() -> Iterator[str]:
    """What the patterns call by its whole name."""
    for patterns in PATTERNS.values():
        yield from (pattern.removesuffix("/**") for pattern in patterns if "*" not in pattern.removesuffix("/**"))
