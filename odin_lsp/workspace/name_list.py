"""Names of many files, as strings: as paths they would take ten times as long. All of it is work for a thread."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from pathlib import Path

HERE = "./"
"""How the names begin that a search prints."""


@dataclass(frozen=True, slots=True)
class FileNames:
    """The files below a folder, by their names relative to it, with `/` between folders."""

    folder: Path
    names: Sequence[str]
    is_whole: bool
    """Whether these are all: there may be more than can be listed."""

    def paths(self) -> Iterator[str]:
        """In full."""
        start = f"{self.folder.as_posix().rstrip('/')}/"
        return (start + name for name in self.names)


def newest(found: Iterable[FileNames], most: int) -> list[Path]:
    """The files that were written last, the newest first."""
    written = ((-_written(path), path) for it in found for path in it.paths())
    return [Path(path) for _, path in nsmallest(most, written)]


def _written(path: str) -> int:
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0


def parse_names(output: bytes) -> list[str]:
    """The names in what ripgrep prints, each ended by a NUL; one that was cut short is none."""
    names = os.fsdecode(output).removeprefix(HERE).split(f"\0{HERE}")
    last, _, _ = names.pop().rpartition("\0")
    return [*names, last] if last else names


def by_folder(names: Iterable[str]) -> dict[str, list[str]]:
    """The names in each folder, by that folder's own; the one that all are below has an empty one."""
    folders: dict[str, list[str]] = {}
    for name in names:
        folder, _, own = name.rpartition("/")
        inside = folders.get(folder)
        if inside is None:
            inside = folders[folder] = []
        inside.append(own)
    return folders


def joined(folders: Mapping[str, Iterable[str]]) -> list[str]:
    """The names that were taken apart `by_folder`."""
    return [f"{folder}/{name}" if folder else name for folder, names in folders.items() for name in names]


def folders_of(names: Iterable[str]) -> set[str]:
    """The folders that the files are in, and those around these, each with a slash at its end."""
    folders: set[str] = set()
    for name in names:
        while (name := name.rpartition("/")[0]) not in ("", ".") and f"{name}/" not in folders:
            folders.add(f"{name}/")
    return folders


def suffix_of(name: str) -> str:
    """As of a path, in lower case."""
    own = name.rpartition("/")[2]
    at = own.rfind(".")
    return own[at:].lower() if 0 < at < len(own) - 1 else ""
