"""Which file a program's name means to a command, and whose file that is.

A name says nothing about that: a clone may bring a `mkdir` of its own. The programs of a workspace folder count if the
folder is trusted; in any other, a rule and an approval mean programs outside of the workspace."""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from odin_lsp.workspace.uris import printable

ProgramOwner = Literal["system", "trusted folder", "untrusted folder"]
TrustedFolders = Callable[[], Sequence[Path]]
"""The workspace folders that the user trusts, as things are now."""
HOW_TO_TRUST = "by the command “Trust” of your editor or `odin-lsp permissions trust`"


def trust_no_folder() -> Sequence[Path]:
    return ()


@dataclass(frozen=True, slots=True)
class Program:
    """What a name means to a command at one time. Two that are equal are the same file of the same owner."""

    name: str
    path: Path | None = None
    """The file that would run; none: nothing is found."""
    owner: ProgramOwner = "system"
    passed_over: Path | None = None
    """The file of this name that a folder has which is not trusted, and which therefore does not run."""

    @property
    def can_be_meant_by_rule(self) -> bool:
        """Whether a rule or an approval allows it by its name. Where a folder has one of its own, the user may expect
        that one: neither of the two runs unasked."""
        return self.owner != "untrusted folder" and self.passed_over is None


@dataclass(frozen=True, slots=True)
class ProgramSearch:
    """Where the programs of one command are looked for."""

    path: str
    """The `PATH` that the command gets."""
    roots: tuple[Path, ...]
    """The workspace folders, by their real paths."""
    trusted: tuple[Path, ...] = ()
    """Those of them whose own programs count."""
    environment: Path | None = None
    """The virtual environment that counts: its programs are the first on the `PATH`."""
    unused_environment: Path | None = None
    """The virtual environment that would count if its folder were trusted."""
    left_out: tuple[Path, ...] = ()
    """Folders of the workspace on the user's own `PATH`, which no command gets."""

    def find(self, name: str, cwd: Path | None = None) -> Program:
        """Say what a name means; nothing else does. One that is a path is looked up from `cwd`."""
        if "/" in name:
            place = (cwd or Path("/")) / name
            return Program(str(place), place, self._owner_of(place))
        path = next(programs_on(self.path, name), None)
        owner = "system" if path is None else self._owner_of(path)
        if owner == "trusted folder":
            return Program(name, path, owner)
        bins = [self.unused_environment / "bin"] if self.unused_environment else []
        unused = programs_on(os.pathsep.join(map(str, (*bins, *self.left_out))), name)
        return Program(name, path, owner, next((it for it in unused if self._owner_of(it) == "untrusted folder"), None))

    def remark_on(self, program: Program) -> str:
        """What the user should know of a program before allowing it; empty if it is the one that anybody expects."""
        name, own = printable(program.name), program.passed_over
        runs = printable(str(program.path))
        if program.owner == "untrusted folder":
            where = "" if runs == name else f" ({runs})"
            return f"`{name}`{where} is a program of this folder, which is not trusted"
        if own is None:
            return ""
        whose = f"`{name}` is a program of this folder ({self._shown(own)}), which is not trusted"
        instead = f"{runs} would run instead" if program.path else "outside of it there is none"
        is_used_later = self.unused_environment is not None and own.parent == self.unused_environment / "bin"
        trust = f"; to have the folder's own run, trust it {HOW_TO_TRUST}" if is_used_later else ""
        return f"{whose}: {instead}{trust}"

    def _owner_of(self, path: Path) -> ProgramOwner:
        """By where it is and by where it leads: a link in the workspace is the workspace's word on what it means."""
        places = (Path(os.path.normpath(path)), Path(os.path.realpath(path.parent)), Path(os.path.realpath(path)))
        owned = [place for place in places if is_within(place, self.roots)]
        if not owned:
            return "system"
        return "trusted folder" if all(is_within(place, self.trusted) for place in owned) else "untrusted folder"

    def _shown(self, path: Path) -> str:
        root = next((root for root in self.roots if path.is_relative_to(root)), None)
        return printable(str(path.relative_to(root) if root else path))


def programs_on(path: str, name: str) -> Iterator[Path]:
    """The programs of this name in the folders of a `PATH`, in their order."""
    for folder in path.split(os.pathsep):
        found = shutil.which(name, path=folder) if folder.startswith("/") else None
        if found:
            yield Path(found)


def is_within(path: Path, folders: Sequence[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)
