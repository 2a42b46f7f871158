"""`.gitignore` and its like, as ripgrep reads them, and where it must not: one that is a pipe or a device would hold it
up for ever."""

import os
import stat
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from odin_lsp.reading import is_regular, start_of
from odin_lsp.workspace.globs import as_text, compiled_leniently
from odin_lsp.workspace.text import split_lines

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

REPOSITORY = ".git"
NAMES = (".rgignore", ".ignore", ".gitignore", f"{REPOSITORY}/info/exclude")
"""What the first say goes before what the others say."""
MAX_BYTES = 1 << 20
UNREAD = ("--no-ignore-dot", "--no-ignore-vcs", "--no-ignore-exclude", "--no-ignore-parent")
"""Options with which ripgrep opens none of them."""


class IgnoreFiles:
    """The rules in those that are files. They are read once: it is for one search."""

    def __init__(self) -> None:
        self._rules: dict[str, GitIgnoreSpec | None] = {}
        self._folders: dict[str, bool] = {}

    def leave_out(self, path: str, below: str) -> bool:
        """Whether a file below a folder is left out, or one of the folders on the way to it."""
        folder = path.rpartition("/")[0]
        return (folder != below and self._leave_out_folder(folder, below)) or self.match(path)

    def match(self, path: str, *, is_folder: bool = False) -> bool:
        """By itself, without the folders that it is in: the deepest file that says something decides."""
        spelled = f"{path}/" if is_folder else path
        for name in NAMES:
            for folder in _up(path):
                rules = self._in_file(f"{folder}/{name}")
                if rules is not None:
                    include = rules.check_file(as_text(spelled[len(folder) + 1 :])).include
                    if include is not None:
                        return include
        return False

    def _leave_out_folder(self, folder: str, below: str) -> bool:
        if folder not in self._folders:
            outer = folder.rpartition("/")[0]
            outside = outer != below and self._leave_out_folder(outer, below)
            self._folders[folder] = outside or self.match(folder, is_folder=True)
        return self._folders[folder]

    def _in_file(self, name: str) -> "GitIgnoreSpec | None":
        if name not in self._rules:
            try:
                data = start_of(name, MAX_BYTES)
            except OSError:
                data = None
            self._rules[name] = compiled_leniently(split_lines(data.decode("utf-8", "replace"))) if data else None
        return self._rules[name]


def odd_above(folder: str) -> str | None:
    """One that ripgrep would not get through, in this folder or above it."""
    return next((name for it in (folder, *_up(folder)) if (name := _odd_in(it, NAMES))), None)


def odd_below(folder: str, is_wanted: Callable[[], bool]) -> str | None:
    """The same for all folders below, as long as somebody wants to know."""
    waiting = [folder]
    while waiting and is_wanted():
        here = waiting.pop()
        entries = {entry.name: entry for entry in _entries(here)}
        if odd := _odd_in(here, [name for name in NAMES if name.partition("/")[0] in entries]):
            return odd
        entries.pop(REPOSITORY, None)
        waiting += [entry.path for entry in entries.values() if entry.is_dir(follow_symlinks=False)]
    return None


def is_odd(name: str) -> bool:
    try:
        status = os.stat(name)  # noqa: PTH116 - called for every folder
    except (OSError, ValueError):
        return False  # nobody can open it either
    return not stat.S_ISDIR(status.st_mode) and (not is_regular(status) or status.st_size > MAX_BYTES)


def _odd_in(folder: str, names: "list[str] | tuple[str, ...]") -> str | None:
    return next((path for name in names if is_odd(path := f"{folder}/{name}")), None)


def _up(path: str) -> Iterator[str]:
    """The folders that it is in, the deepest first; the topmost is empty."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def _entries(folder: str) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
