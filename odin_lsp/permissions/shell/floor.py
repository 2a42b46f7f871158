"""What no mode, no rule and no answer makes run: it would destroy the machine, the disk or the home."""

import os
import re
from collections.abc import Sequence
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
    name, words = program_name(argv[0]), argv[1:]
    operands = [word for word in words if not word.startswith("-")]
    if NEVER.fullmatch(name):
        return f"`{name}` wipes disks or stops the machine"
    if name == "init" and operands[:1] in (["0"], ["6"]):
        return "it stops the machine"
    if name == "kill" and ("-1" in words[1:] or "-1" in operands):
        return "it stops all programs of the user"
    if name in ("dd", "tee", "cp", "mv", "shred", "cat", "install", "truncate"):
        for word in words:
            if DISK.match(word.removeprefix("of=")):
                return f"it writes to the disk {word.removeprefix('of=')}"
    if name in RECURSIVE and _recursive(words) and (place := _everything(operands, cwd)):
        return f"`{name}` on all of {place}"
    if name == "rm" and "--no-preserve-root" in words:
        return "it removes even the root of the file system"
    if name == "mv" and len(operands) > 1 and (place := _everything(operands[:-1], cwd)):
        return f"it moves away all of {place}"
    if name == "find" and any(it in words for it in ("-delete", "-exec", "-execdir")):
        removing = "-delete" in words or any(program_name(it) in RECURSIVE for it in words)
        if removing and (place := _everything(operands[:1], cwd)) and not any(it.startswith("-name") for it in words):
            return f"it removes all of {place}"
    return ""


def destroys(target: str) -> str:
    """The same for what a redirection writes to."""
    return f"it writes to the disk {target}" if DISK.match(target) else ""


def is_fork_bomb(name: str, body: str) -> bool:
    """A function that calls itself more than once, or in the background."""
    calls = len(re.findall(rf"(?:^|[\s;|&{{(]){re.escape(name)}(?=$|[\s;|&}})])", body))
    return calls > 1 or (calls == 1 and re.search(r"&(?!&)", body) is not None)


def _recursive(words: Sequence[str]) -> bool:
    return any(
        (len(word) > 2 and "--recursive".startswith(word))
        or (word.startswith("-") and not word.startswith("--") and set(word) & set("rRf"))
        for word in words
    )


def _everything(operands: Sequence[str], cwd: Path) -> str:
    """The first operand that is the root, a folder of the system, or the user's home, or all that is in one."""
    home = {str(Path.home()), os.path.realpath(Path.home())}
    for word in operands:
        bare = re.sub(r"(/(\*|\.\*|\{.*\}|\.))+/*$", "", f"./{word}" if word == "*" else word) or "/"
        place = os.path.normpath(cwd / bare)
        for spelling in (place, os.path.realpath(place)):
            flat = "/" + spelling.strip("/")
            if flat.lower() in SYSTEM or flat in home or any(it.startswith(f"{flat}/") for it in home):
                return flat
    return ""
