"""Which repository a git command would use, and whether all of it is there: what is not fully understood is hostile."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from odin_lsp.permissions.shell.git_config import contents, is_harmless, leads_elsewhere, settings
from odin_lsp.permissions.shell.grammar import NotUnderstood

MAX_POINTER = 4096
_HEAD = re.compile(rb"ref: refs/[^\s\0]+\n?|(?:[0-9a-f]{40}|[0-9a-f]{64})\n?")


@dataclass(frozen=True, slots=True)
class Repository:
    """All paths are real ones."""

    top: Path
    """Of the work tree."""
    folder: Path
    """The git folder of this work tree."""
    common: Path
    """What all work trees share; most often the same folder."""
    keys: frozenset[str]
    """All that it sets, without the names of remotes and branches."""

    @property
    def harmless(self) -> bool:
        """Nothing in its configuration could run a program."""
        return all(map(is_harmless, self.keys))


def find_repository(cwd: Path) -> Repository | None:
    """The one around `cwd`; `NotUnderstood` where git could be led to another one, or to anything beside it."""
    real = Path(os.path.realpath(cwd))
    for top in (real, *real.parents):
        try:
            if os.path.lexists(top / ".git"):
                return _understood(top)
            if _is_bare(top):
                raise ValueError("a repository without a work tree")
        except (OSError, ValueError):
            raise NotUnderstood(f"git in {top}, where a repository is that leads elsewhere or is odd,") from None
    return None


def _is_bare(folder: Path) -> bool:
    """Git looks at these too. A folder of the workspace that looks like one is a trap: hardly anybody has it there."""
    has = {name for name in ("HEAD", "objects", "refs", "commondir") if os.path.lexists(folder / name)}
    return has >= {"HEAD", "commondir"} or has >= {"HEAD", "objects", "refs"}


def _understood(top: Path) -> Repository:
    found = top / ".git"
    if found.is_symlink():
        raise ValueError("a link")
    folder, common = _linked(found) if found.is_file() else (found, found)
    if folder == common and os.path.lexists(folder / "commondir"):
        raise ValueError("parts of it are elsewhere")
    _check_parts(folder, common)
    keys: set[str] = set()
    for key, value in _settings(folder, common):
        elsewhere = key == "core.worktree" and os.path.realpath(folder / value) != str(top)
        if elsewhere or leads_elsewhere(key):
            raise ValueError(key)
        keys.add(key)
    return Repository(top, folder, common, frozenset(keys))


def _linked(file: Path) -> tuple[Path, Path]:
    """The git folders of a worktree, which points back, or of a submodule, which is in the repository above."""
    target = _pointed(file, file.parent, b"gitdir: ")
    if target is not None:
        common = _pointed(target / "commondir", target)
        if common is None and any(target.is_relative_to(it / ".git" / "modules") for it in file.parents):
            return target, target
        if common == target.parent.parent and _pointed(target / "gitdir", target) == file:
            return target, target.parent.parent
    raise ValueError("it leads elsewhere")


def _pointed(file: Path, base: Path, prefix: bytes = b"") -> Path | None:
    """The place that a file names, if there is such a file."""
    if not os.path.lexists(file):
        return None
    name = contents(file, MAX_POINTER).rstrip(b"\r\n")
    if not name.startswith(prefix) or name == prefix:
        raise ValueError("it names no place")
    return Path(os.path.realpath(base / os.fsdecode(name.removeprefix(prefix))))


def _check_parts(folder: Path, common: Path) -> None:
    """They are what git makes them, and none is elsewhere."""
    objects = common / "objects"
    for place in (folder, common, objects, objects / "info", objects / "pack", common / "refs", common / "info"):
        if place.exists() or place in (folder, objects, common / "refs"):
            with os.scandir(place) as entries:
                if any(entry.is_symlink() for entry in entries):
                    raise ValueError("a link")
    if os.path.lexists(objects / "info" / "alternates"):
        raise ValueError("objects of another repository")
    if not _HEAD.fullmatch(contents(folder / "HEAD", MAX_POINTER)):
        raise ValueError("no HEAD")


def _settings(folder: Path, common: Path) -> Iterator[tuple[str, str]]:
    for file in {common / "config", folder / "config", folder / "config.worktree"}:
        if os.path.lexists(file):
            yield from settings(file)
