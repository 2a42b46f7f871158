"""What no mode, no rule and no answer makes run: it would destroy the machine, the disk or the home."""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from odin_lsp.patterns import program_name
from odin_lsp.permissions.shell.grammar import names

NEVER = re.compile(
    r"mkfs(\..+)?|mke2fs|mkswap|fdisk|sfdisk|cfdisk|gdisk|sgdisk|parted|wipefs|blkdiscard|shutdown|reboot|halt"
    r"|poweroff|telinit"
)
DISK = re.compile(r"/dev/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|dm-|md|mapper/|loop|mem\b|kmem\b|port\b)")
RECURSIVE = {"rm", "chmod", "chown", "chgrp", "shred", "chattr", "setfacl"}
SYSTEM = names(
    "/ /bin /boot /dev /etc /home /lib /lib64 /opt /proc /root /sbin /sys /usr /var /users /system /library"
    " /applications"
)  # fmt: skip


def catastrophe(argv: Sequence[str], cwd: Path) -> str:
    """Why this command never runs; empty if it might. `argv` may be guessed."""
    if not argv:
        return ""
    call = _Call(program_name(argv[0]), argv[1:], cwd)
    return next((reason for programs, rule in _FLOOR if programs.fullmatch(call.name) and (reason := rule(call))), "")


def destroys(target: str) -> str:
    """The same for what a redirection writes to."""
    return f"it writes to the disk {target}" if DISK.match(target) else ""


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

    def everything(self, operands: Sequence[str]) -> str:
        """The first operand that is the root, a folder of the system, or the user's home, or all that is in one."""
        home = {str(Path.home()), os.path.realpath(Path.home())}
        for word in operands:
            bare = re.sub(r"(/(\*|\.\*|\{.*\}|\.))+/*$", "", f"./{word}" if word == "*" else word) or "/"
            place = os.path.normpath(self.cwd / bare)
            for spelling in (place, os.path.realpath(place)):
                flat = "/" + spelling.strip("/")
                if flat.lower() in SYSTEM or flat in home or any(it.startswith(f"{flat}/") for it in home):
                    return flat
        return ""


def _init(call: _Call) -> str:
    return "it stops the machine" if call.operands[:1] in (["0"], ["6"]) else ""


def _kill(call: _Call) -> str:
    return "it stops all programs of the user" if "-1" in call.words[1:] else ""


def _disk_writer(call: _Call) -> str:
    return next(filter(None, (destroys(word.removeprefix("of=")) for word in call.words)), "")


def _recursive(call: _Call) -> str:
    place = call.everything(call.operands) if call.is_recursive else ""
    return f"`{call.name}` on all of {place}" if place else ""


def _rm(call: _Call) -> str:
    return "it removes even the root of the file system" if "--no-preserve-root" in call.words else ""


def _mv(call: _Call) -> str:
    place = call.everything(call.operands[:-1])
    return f"it moves away all of {place}" if place else ""


def _find(call: _Call) -> str:
    runs = "-exec" in call.words or "-execdir" in call.words
    removes = "-delete" in call.words or (runs and any(program_name(it) in RECURSIVE for it in call.words))
    place = call.everything(call.operands[:1]) if removes else ""
    is_whole = not any(it.startswith("-name") for it in call.words)
    return f"it removes all of {place}" if place and is_whole else ""


_FLOOR: tuple[tuple[re.Pattern[str], Callable[[_Call], str]], ...] = (
    (NEVER, lambda call: f"`{call.name}` wipes disks or stops the machine"),
    (re.compile("init"), _init),
    (re.compile("kill"), _kill),
    (re.compile("dd|tee|cp|mv|shred|cat|install|truncate"), _disk_writer),
    (re.compile("|".join(RECURSIVE)), _recursive),
    (re.compile("rm"), _rm),
    (re.compile("mv"), _mv),
    (re.compile("find"), _find),
)
"""By programs: why a use of them never happens, or nothing."""
