"""What no mode, no rule and no answer makes run: it would destroy the machine, the disk or the home."""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from pathlib import Path

from odin_lsp.patterns import program_name
from odin_lsp.permissions.shell.grammar import names
from odin_lsp.permissions.shell.programs import runs_others

NEVER = re.compile(
    r"mkfs(\..+)?|mke2fs|mkswap|fdisk|sfdisk|cfdisk|gdisk|sgdisk|parted|wipefs|blkdiscard|shutdown|reboot|halt"
    r"|poweroff|telinit"
)
DISK = re.compile(r"/dev/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|dm-|md|mapper/|loop|mem\b|kmem\b|port\b)")
REMOVERS = names("rm unlink rmdir shred truncate mv chmod chown chgrp chattr setfacl")
"""What `find` should not run on everything."""
RECURSIVE = {"rm", "chmod", "chown", "chgrp", "shred", "chattr", "setfacl"}
SYSTEM = names(
    "/ /bin /boot /dev /etc /home /lib /lib64 /opt /proc /root /sbin /sys /usr /var /users /system /library"
    " /applications"
)  # fmt: skip
ALL_OF = re.compile(r"(/([*?]+|\.[*?]+|\{.*\}|\.))+/*$")
"""The end of a word that means whatever is in a folder."""
MOVERS = names("cd pushd chdir")
FOLDER_OPTIONS = names(
    "-C -D -d -w --chdir --directory --dir --cwd --wd --workdir --working-dir --working-directory --work-tree"
)
"""By which programs that run others are told where to do that."""
TARGET = "--target-directory"
FIND_RUNS = names("-exec -execdir -ok -okdir")


class Floor:
    """The commands one after the other, and the folders that each may run in.

    Where a script really is cannot be known: a move may fail, or happen in a shell of its own. So a folder of the
    system in which it has been once counts for all that follows."""

    def __init__(self, cwd: Path) -> None:
        self._cwd = cwd
        self._dangerous: dict[Path, None] = {}

    def catastrophe(self, argv: Sequence[str]) -> str:
        """Why this command never runs; empty if it might. `argv` may be guessed."""
        for folder in moves_to(argv):
            self._move(self._cwd / folder, stays=program_name(argv[0]) in MOVERS)
        return next(filter(None, (catastrophe(argv, folder) for folder in self._folders)), "")

    def destroys(self, target: str) -> str:
        """The same for what a redirection writes to."""
        return next(filter(None, (destroys(target, folder) for folder in self._folders)), "")

    @property
    def _folders(self) -> tuple[Path, ...]:
        return (self._cwd, *self._dangerous)

    def _move(self, folder: Path, *, stays: bool) -> None:
        if everything(".", folder):
            self._dangerous[folder] = None
        if stays:
            self._cwd = folder


def moves_to(argv: Sequence[str]) -> list[str]:
    """The folders that a command changes to, for itself, for what it runs or for what follows."""
    if not argv:
        return []
    name, words = program_name(argv[0]), argv[1:]
    if name in MOVERS:
        operands = [word for word in words if not word.startswith("-")]
        return [_at_home(operands[0] if operands else "~")] if operands or name == "cd" else []
    return list(_values(words, FOLDER_OPTIONS)) if runs_others(argv) else []


def catastrophe(argv: Sequence[str], cwd: Path) -> str:
    """Why this command never runs in this folder; empty if it might."""
    if not argv:
        return ""
    call = _Call(program_name(argv[0]), argv[1:], cwd)
    return next((reason for programs, rule in _FLOOR if programs.fullmatch(call.name) and (reason := rule(call))), "")


def destroys(target: str, cwd: Path) -> str:
    """Why nothing writes there; empty if something might."""
    return f"it writes to the disk {target}" if DISK.match(_flat(cwd / target)) else ""


def everything(word: str, cwd: Path) -> str:
    """The root, a folder of the system or the user's home, if the word means that, or all that is in one."""
    home = {str(Path.home()), os.path.realpath(Path.home())}
    bare = ALL_OF.sub("", _at_home(word) if word.startswith(("/", "~")) else f"./{word}") or "/"
    place = os.path.normpath(cwd / bare)
    for spelling in (place, os.path.realpath(place)):
        flat = "/" + spelling.strip("/")
        if flat.lower() in SYSTEM or flat in home or any(it.startswith(f"{flat}/") for it in home):
            return flat
    return ""


def _at_home(word: str) -> str:
    return os.path.expanduser(word)  # noqa: PTH111 - of a user that there is not, pathlib makes an error


def _flat(path: Path) -> str:
    return "/" + os.path.normpath(path).strip("/")


def _values(words: Sequence[str], options: Collection[str]) -> Iterator[str]:
    """What follows one of these options, as the next word or in its own; a short one may stand behind others."""
    for place, word in enumerate(words):
        name, joined, value = word.partition("=")
        if name.startswith("--"):
            if len(name) > 3 and any(it.startswith(name) for it in options):
                yield value if joined else next(iter(words[place + 1 :]), "")
        elif word.startswith("-"):
            for at, letter in enumerate(word[1:], 2):
                if f"-{letter}" in options:
                    yield word[at:].removeprefix("=") or next(iter(words[place + 1 :]), "")
                    break


def is_fork_bomb(name: str, body: str) -> bool:
    """A function that calls itself more than once, or in the background."""
    calls = len(re.findall(rf"(?:^|[\s;|&{{(]){re.escape(name)}(?=$|[\s;|&}})])", body))
    return calls > 1 or (calls == 1 and re.search(r"&(?!&)", body) is not None)


@dataclass(frozen=True, slots=True)
class _Call:
    name: str
    words: Sequence[str]
    cwd: Path

    @property
    def operands(self) -> list[str]:
        return [word for word in self.words if not word.startswith("-")]

    @property
    def is_recursive(self) -> bool:
        return any(
            (len(word) > 2 and "--recursive".startswith(word))
            or (word.startswith("-") and not word.startswith("--") and set(word) & set("rRf"))
            for word in self.words
        )

    def has(self, option: str, letter: str = "") -> bool:
        """Whether a long option is there, also cut short, or its letter."""
        return any(
            (len(word) > 4 and option.startswith(word.partition("=")[0]))
            or (letter and re.match(rf"-[A-Za-z0-9]*{letter}", word))
            for word in self.words
        )

    def everything(self, operands: Iterable[str]) -> str:
        """The first operand that means everything in a place."""
        return next(filter(None, (everything(word, self.cwd) for word in operands)), "")


def _init(call: _Call) -> str:
    return "it stops the machine" if call.operands[:1] in (["0"], ["6"]) else ""


def _kill(call: _Call) -> str:
    return "it stops all programs of the user" if "-1" in call.words[1:] else ""


def _disk_writer(call: _Call) -> str:
    return next(filter(None, (destroys(word.removeprefix("of="), call.cwd) for word in call.words)), "")


def _recursive(call: _Call) -> str:
    place = call.everything(call.operands) if call.is_recursive else ""
    return f"`{call.name}` on all of {place}" if place else ""


def _rm(call: _Call) -> str:
    return "it removes even the root of the file system" if "--no-preserve-root" in call.words else ""


def _mv(call: _Call) -> str:
    targets = {*_values(call.words, {"-t", TARGET})}
    sources = [word for word in call.operands if word not in targets] if targets else call.operands[:-1]
    place = call.everything(sources)
    return f"it moves away all of {place}" if place else ""


def _find(call: _Call) -> str:
    runs = not FIND_RUNS.isdisjoint(call.words)
    named = (program_name(part) for word in call.words for part in word.split())
    removes = "-delete" in call.words or (runs and not REMOVERS.isdisjoint(named))
    place = call.everything(_start_points(call.words)) if removes else ""
    return f"it removes all of {place}" if place and not _names_some(call.words) else ""


def _start_points(words: Sequence[str]) -> list[str]:
    """What stands before the first test or action; without one it is the folder itself."""
    options = names("-H -L -P")
    rest = [word for word in words if word not in options and not re.match(r"-[DO]", word)]
    found = list(takewhile(lambda word: not word.startswith(("-", "(", ")", "!", ",")), rest))
    return found or ["."]


def _names_some(words: Sequence[str]) -> bool:
    """Whether only files of some names are meant, and nothing is said that could turn that around."""
    patterns = [pattern for word, pattern in pairwise(words) if word == "-name"]
    is_plain = names("-o -or , ! -not").isdisjoint(words)
    return is_plain and any(pattern.strip("*?") for pattern in patterns)


def _rsync(call: _Call) -> str:
    if not any(word.startswith("--del") for word in call.words):
        return ""
    place = call.everything(call.operands[-1:])
    return f"it deletes what is in {place}" if place else ""


def _tar(call: _Call) -> str:
    folders = [*_values(call.words, {"-C", "--directory"})]
    operands = [word for word in call.operands if word not in folders]
    files = [str(Path(folder) / word) for folder in ("", *folders) for word in operands]
    place = call.everything(files) if call.has("--remove-files") else ""
    return f"it removes all of {place}" if place else ""


def _git(call: _Call) -> str:
    """`git clean` where the work tree is a folder of the system."""
    is_forced = call.has("--force", "f") or any("requireforce" in word.lower() for word in call.words)
    if "clean" not in call.words or not is_forced:
        return ""
    place = call.everything([*_values(call.words, {"-C", "--work-tree"}), "."])
    return f"it removes what git does not know of {place}" if place else ""


_FLOOR: tuple[tuple[re.Pattern[str], Callable[[_Call], str]], ...] = (
    (NEVER, lambda call: f"`{call.name}` wipes disks or stops the machine"),
    (re.compile("init"), _init),
    (re.compile("kill"), _kill),
    (re.compile("dd|tee|cp|mv|shred|cat|install|truncate"), _disk_writer),
    (re.compile("|".join(RECURSIVE)), _recursive),
    (re.compile("rm"), _rm),
    (re.compile("mv"), _mv),
    (re.compile("find"), _find),
    (re.compile("rsync"), _rsync),
    (re.compile("tar|bsdtar|gtar"), _tar),
    (re.compile("git"), _git),
)
"""By programs: why a use of them never happens, or nothing."""
