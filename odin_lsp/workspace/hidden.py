"""Where in the workspace the files are that nobody is shown: looked for once, and again where a folder has changed."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from odin_lsp.workspace.ignore import FILE_NAME, Ignore

REPOSITORY = ".git"
"""What git keeps is git's: a branch may be called `secrets.yaml`."""
SETTLED_NS = 1_000_000_000
"""A folder that was changed just now may be changed again without its time telling."""


@dataclass(frozen=True, slots=True)
class _Folder:
    changed: int
    """When a name in it last came, went or changed; 0 if that cannot be relied on."""
    folders: tuple[str, ...]
    hidden: tuple[str, ...]
    has_rules: bool


class Hidden:
    """For commands that sweep through a workspace: what must be kept from them. For one thread at a time."""

    def __init__(self, roots: Sequence[Path], ignore: Ignore) -> None:
        self._roots = [str(root) for root in roots]
        self._ignore = ignore
        self._known: dict[str, _Folder] = {}
        self._rules: dict[str, int] = {}
        """Each `.odinignore`, and when it was written: it is for everything below, so all is looked at again."""

    def found(self) -> list[Path]:
        """As it is now: the topmost of each branch."""
        if any(_changed(name) != when for name, when in self._rules.items()):
            self._known = {}
        known, self._known = self._known, self._looked_through(self._known)
        rules = {name: _changed(name) for name in map(_rules_in, self._with_rules())}
        if known and rules.keys() != self._rules.keys():
            self._known = self._looked_through({})
        self._rules = rules
        return [Path(name) for folder in self._known.values() for name in folder.hidden]

    def _with_rules(self) -> list[str]:
        return [name for name, folder in self._known.items() if folder.has_rules]

    def _looked_through(self, known: dict[str, _Folder]) -> dict[str, _Folder]:
        """All folders, of which those that have not changed are taken as they were."""
        seen: dict[str, _Folder] = {}
        waiting = list(self._roots)
        while waiting:
            name = waiting.pop()
            changed = _changed(name)
            folder = known.get(name)
            if folder is None or folder.changed != changed:
                folder = self._listed(name, changed)
            seen[name] = folder
            waiting += folder.folders
        return seen

    def _listed(self, name: str, changed: int) -> _Folder:
        settled = time.time_ns() - changed > SETTLED_NS
        entries = {entry.name: entry for entry in _entries(name)}
        hidden = self._ignore.hidden_in(name, entries)
        left_out = {REPOSITORY, *hidden}
        shown = [entry for entry in entries.values() if entry.name not in left_out]
        return _Folder(
            changed=changed if settled else 0,
            folders=tuple(entry.path for entry in shown if entry.is_dir(follow_symlinks=False)),
            hidden=tuple(entries[it].path for it in hidden),
            has_rules=FILE_NAME in entries,
        )


def _rules_in(folder: str) -> str:
    return f"{folder}/{FILE_NAME}"


def _changed(name: str) -> int:
    try:
        return os.stat(name).st_mtime_ns  # noqa: PTH116 - called for every folder
    except OSError:
        return -1


def _entries(folder: str) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
