"""What a command may open that nobody was asked about: the workspace without its secrets, the system's programs, and
what these load. Nothing else of the home folder, and nothing of the machine that tells of other users or processes."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

PROGRAMS = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store",
    "/run/current-system/sw", "/System", "/Library/Developer", "/Library/Apple", "/Applications/Xcode.app",
)  # fmt: skip
SETTINGS = (
    "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
    "/etc/localtime", "/etc/timezone", "/etc/locale.alias", "/etc/alternatives", "/etc/ssl/openssl.cnf",
    "/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/ca-certificates", "/etc/magic", "/etc/mime.types", "/etc/os-release",
    "/etc/debian_version", "/etc/inputrc", "/etc/terminfo", "/private/etc/localtime", "/private/etc/passwd",
    "/private/etc/ssl", "/private/var/db/dyld", "/private/var/db/timezone", "/private/var/select",
)  # fmt: skip
MACHINE = (
    "/proc/meminfo", "/proc/uptime", "/proc/loadavg", "/proc/stat", "/proc/cpuinfo", "/proc/filesystems",
    "/proc/version", "/proc/sys/kernel/osrelease", "/proc/sys/kernel/ostype", "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/pid_max", "/proc/sys/kernel/ngroups_max", "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
)  # fmt: skip
LIBRARIES = ("lib", "lib32", "lib64", "libexec")
LOADED_FROM = (
    *LIBRARIES, "bin", "sbin", "pyvenv.cfg", "versions", "installs", "plugins", "tools", "Cellar", "opt", "Frameworks",
    "conf", "jre",
)  # fmt: skip
"""What is beside a folder of programs and belongs to them. What else is there, such as `share` and `etc`, may be the
user's own; and in the home itself only libraries are not."""
TOOLCHAINS = {".cargo": ".rustup"}
"""Programs that load from a folder beside their own."""


@dataclass(frozen=True, slots=True)
class Reads:
    """What a command reads that was understood. Without a word on it: the whole workspace."""

    files: tuple[Path, ...] | None = None
    """The files that it names, by their real paths, and no others; none: whatever is in the workspace."""
    needs: tuple[Path, ...] = ()
    """Folders and files that it opens besides, with all that is in them: a repository's."""
    programs: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Reach:
    """The same with everything that programs need, for a sandbox to carry out."""

    run: tuple[Path, ...]
    """Programs, and what they load."""
    names: tuple[Path, ...]
    """Folders in which may be looked for names."""
    files: tuple[Path, ...]
    """Files, and folders with what is in them."""
    hidden: tuple[Path, ...] = ()
    """What of them may not be opened after all."""


def reach(reads: Reads, roots: Sequence[Path], hidden: Sequence[Path]) -> Reach:
    named = tuple(roots) if reads.files is None else reads.files
    return Reach(
        run=_programs(os.environ.get("PATH", os.defpath), tuple(roots), reads.programs),
        names=tuple(roots),
        files=(*_there((*SETTINGS, *MACHINE)), *named, *reads.needs),
        hidden=tuple(hidden),
    )


@lru_cache(maxsize=64)
def _programs(path: str, roots: tuple[Path, ...], used: tuple[Path, ...]) -> tuple[Path, ...]:
    """The system's, those on the `PATH`, and those that are used, which links may lead to."""
    folders = [Path(entry) for entry in path.split(os.pathsep) if entry.startswith("/")]
    places = [*folders, *(it.parent for it in used), *(Path(os.path.realpath(it)).parent for it in used)]
    found = [*_there(PROGRAMS), *(it for place in places for it in _loaded(Path(os.path.realpath(place))))]
    return tuple(dict.fromkeys(it for it in found if not any(it.is_relative_to(root) for root in roots)))


def _loaded(folder: Path) -> Iterator[Path]:
    """A folder of programs, and what they load from beside it."""
    yield folder
    prefix = folder.parent
    if folder.name == "shims":  # of a version manager, whose folder is all about programs
        yield prefix
    if folder.name in ("bin", "sbin", "libexec"):
        belongs = LIBRARIES if prefix == Path.home() else LOADED_FROM
        yield from (prefix / name for name in belongs if (prefix / name).exists())
    if beside := TOOLCHAINS.get(prefix.name):
        yield prefix.parent / beside


@lru_cache(maxsize=2)
def _there(names: Sequence[str]) -> tuple[Path, ...]:
    """Those that exist, by their real paths: a link is not allowed, but what it leads to."""
    return tuple(dict.fromkeys(Path(os.path.realpath(path)) for path in map(Path, names) if path.exists()))
