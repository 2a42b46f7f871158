"""What the kernel holds a command to, whatever the command is. `docs/commands.md` has the table of what holds where."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from odin_lsp.permissions import bubblewrap, landlock, namespaces, seatbelt, seccomp

Mechanism = Literal["landlock", "namespaces", "bubblewrap", "seatbelt"]
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", namespaces.SHARED_MEMORY)
"""What may be written to in any case; shared memory only where it is private."""
PROBE = (
    "import sys; sys.path.append(sys.argv[1]);"
    "from odin_lsp.permissions import namespaces; namespaces.hold(['/usr'], ['/usr/bin'])"
)
PROBE_SECONDS = 10
PACKAGES = str(Path(__file__).parents[2])


@dataclass(frozen=True, slots=True)
class Policy:
    write: tuple[Path, ...] = ()
    """Folders that may be changed; without any, nothing may."""
    network: bool = False
    protect: tuple[Path, ...] = ()
    """What stays as it is although it is in such a folder, also where it does not exist yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """A policy in the words of one mechanism, for the supervisor to carry out."""

    mechanism: Mechanism
    prefix: tuple[str, ...] = ()
    """The program, with its arguments, that confines the command."""
    landlock: int = 0
    """The version to use; 0 is not at all."""
    writable: tuple[str, ...] = ()
    network: bool = False
    folders: tuple[str, ...] = ()
    """What is writable in a view of its own."""
    held: tuple[str, ...] = ()
    """What of it is read-only again."""
    filter: bytes = b""
    filter_descriptor: int | None = None
    """Where the program in `prefix` expects the filter; without it the supervisor installs it."""


@cache
def mechanisms() -> frozenset[Mechanism]:
    """What works here. Asked once, because namespaces have to be tried out."""
    if sys.platform == "darwin":
        return frozenset({"seatbelt"}) if os.access(seatbelt.PROGRAM, os.X_OK) else frozenset()
    if not sys.platform.startswith("linux") or not seccomp.available():
        return frozenset()
    found: set[Mechanism] = set()
    if landlock.abi():
        found.add("landlock")
        if _namespaces_work():
            found.add("namespaces")
    program = bubblewrap.find()
    if program and bubblewrap.works(program):
        found.add("bubblewrap")
    return frozenset(found)


def available() -> bool:
    """Whether commands can be kept from writing by more than their words."""
    return bool(mechanisms())


def confine(policy: Policy, works: frozenset[Mechanism] | None = None) -> Confinement | None:
    """The policy by the best mechanism that works here; `None` if none does."""
    works = mechanisms() if works is None else works
    if "seatbelt" in works:
        profile = seatbelt.profile(policy.write, policy.protect, network=policy.network)
        return Confinement(mechanism="seatbelt", prefix=(seatbelt.PROGRAM, "-p", profile))
    if "landlock" in works and (not policy.write or "namespaces" in works or "bubblewrap" not in works):
        return _by_landlock(policy, in_namespaces=bool(policy.write) and "namespaces" in works)
    program = bubblewrap.find() if "bubblewrap" in works else None
    if program is None:
        return None
    return Confinement(
        mechanism="bubblewrap",
        prefix=tuple(bubblewrap.arguments(program, policy.write, _existing(policy), network=policy.network)),
        filter=_filter(policy, truncation=True),
        filter_descriptor=bubblewrap.FILTER_DESCRIPTOR,
    )


def _by_landlock(policy: Policy, *, in_namespaces: bool) -> Confinement:
    version = landlock.abi()
    if in_namespaces:
        writable = [*DEVICES, *(str(path) for path in policy.write)]
    else:
        writable = [*DEVICES[:-1], *(str(path) for folder in policy.write for path in _free(folder, policy.protect))]
    return Confinement(
        mechanism="namespaces" if in_namespaces else "landlock",
        landlock=version,
        writable=tuple(writable),
        network=policy.network,
        folders=tuple(str(path) for path in policy.write) if in_namespaces else (),
        held=tuple(str(path) for path in _existing(policy)) if in_namespaces else (),
        filter=_filter(policy, truncation=version >= 3),
    )


def _filter(policy: Policy, *, truncation: bool) -> bytes:
    machine = os.uname().machine
    return seccomp.program(machine, network=policy.network, metadata=bool(policy.write), truncation=truncation)


def _existing(policy: Policy) -> list[Path]:
    return [path for path in policy.protect if path.exists() and not path.is_symlink()]


def _free(folder: Path, protect: tuple[Path, ...]) -> Iterator[Path]:
    """The largest parts of a folder with nothing protected in them: Landlock knows no exception to what it allows."""
    if folder in protect:
        return
    if not any(path.is_relative_to(folder) for path in protect):
        yield folder
    elif folder.is_dir() and not folder.is_symlink():
        for child in folder.iterdir():
            yield from _free(child, protect)


def _namespaces_work() -> bool:
    try:
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-I", "-S", "-c", PROBE, PACKAGES],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_SECONDS,
            env={},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
