"""What the kernel holds a command to, whatever the command is. `docs/commands.md` has the table of what holds where."""

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypedDict

from odin_lsp.permissions import bubblewrap, landlock, namespaces, seatbelt, seccomp
from odin_lsp.permissions.reader import Reach

Mechanism = Literal["landlock", "namespaces", "bubblewrap", "seatbelt"]
DEVICES = ("/dev/null", "/dev/zero", "/dev/full")
"""What may be written to in any case."""
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
    read: Reach | None = None
    """What may be read, by a command that nobody was asked about; none: everything."""
    agents: tuple[Path, ...] = ()
    """Unix sockets of others that may be connected to, with the network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """A policy in the words of one mechanism, for the supervisor to carry out."""

    mechanism: Mechanism
    prefix: tuple[str, ...] = ()
    """The program, with its arguments, that confines the command."""
    landlock: int = 0
    """The version to use; 0 is not at all."""
    rights: int = 0
    """What Landlock holds."""
    rules: tuple[tuple[str, int], ...] = ()
    """Where it gives which of them all the same."""
    network: bool = False
    folders: tuple[str, ...] = ()
    """What is writable in a view of its own."""
    held: tuple[str, ...] = ()
    """What of it is read-only again."""
    filter: bytes = b""
    brokered: bytes = b""
    """The filter where somebody can connect sockets on behalf of the command; empty: nobody is to."""
    sockets: tuple[str, ...] = ()
    """Where it may have unix sockets then."""
    agents: tuple[str, ...] = ()
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
    if _landlock():
        found.add("landlock")
        if _namespaces_work():
            found.add("namespaces")
    program = bubblewrap.find()
    if program and bubblewrap.works(program):
        found.add("bubblewrap")
    return frozenset(found)


def available() -> bool:
    """Whether commands can be held to reading by more than their words."""
    return bool(mechanisms())


def holds_single_files() -> bool:
    """Whether it makes a difference to the kernel which files of the workspace a command has named."""
    return "landlock" in mechanisms()


def confine(policy: Policy, works: frozenset[Mechanism] | None = None) -> Confinement | None:
    """The policy by the best mechanism that works here; `None` if none does."""
    works = mechanisms() if works is None else works
    if "seatbelt" in works:
        profile = seatbelt.profile(
            policy.write, policy.protect, policy.read, network=policy.network, agents=policy.agents
        )
        return Confinement(mechanism="seatbelt", prefix=(seatbelt.PROGRAM, "-p", profile))
    if "landlock" in works and (policy.read or not policy.write or {"namespaces", "bubblewrap"}.isdisjoint(works)):
        return _by_landlock(policy)
    if "namespaces" in works:
        return _in_namespaces(policy)
    program = bubblewrap.find() if "bubblewrap" in works else None
    if program is None:
        return None
    return Confinement(
        mechanism="bubblewrap",
        prefix=tuple(
            bubblewrap.arguments(program, policy.write, _existing(policy), policy.read, network=policy.network)
        ),
        filter=_filter(policy, truncation=True, signals=True),
        filter_descriptor=bubblewrap.FILTER_DESCRIPTOR,
    )


def _by_landlock(policy: Policy) -> Confinement:
    version = _landlock()
    rights = landlock.CHANGES if policy.read is None else landlock.CHANGES | landlock.READS
    reading = () if policy.read is None else _reading(policy.read)
    return Confinement(
        mechanism="landlock",
        landlock=version,
        rights=rights,
        rules=(*_devices(), *((str(path), rights) for path in free_parts(policy.write, policy.protect)), *reading),
        network=policy.network,
        **_filters(policy, truncation=version >= 3, signals=version >= landlock.HOLDS_SIGNALS),
    )


def _in_namespaces(policy: Policy) -> Confinement:
    version = _landlock()
    writable = [namespaces.SHARED_MEMORY, *map(str, policy.write)]  # that memory is private there
    return Confinement(
        mechanism="namespaces",
        landlock=version,
        rights=landlock.CHANGES,
        rules=(*_devices(), *((path, landlock.CHANGES) for path in writable)),
        network=policy.network,
        folders=tuple(map(str, policy.write)),
        held=tuple(map(str, _existing(policy))),
        **_filters(policy, truncation=version >= 3, signals=True),
    )


def _devices() -> Iterator[tuple[str, int]]:
    changing = landlock.WRITE_FILE | landlock.TRUNCATE | landlock.IOCTL_DEV
    return ((device, landlock.READ_FILE | changing) for device in DEVICES)


def _reading(reach: Reach) -> Iterator[tuple[str, int]]:
    """The workspace is never what may be run, although it may be among the system's programs."""
    for part in free_parts(reach.run, reach.names):
        yield str(part), landlock.READS
    for folder in reach.names:
        yield str(folder), landlock.READ_DIR
    for part in free_parts(reach.files, reach.hidden):
        yield str(part), landlock.READ_FILE | landlock.READ_DIR


@cache
def _landlock() -> int:
    return landlock.abi()


class _Filters(TypedDict):
    filter: bytes
    brokered: bytes
    sockets: tuple[str, ...]
    agents: tuple[str, ...]


def _filters(policy: Policy, *, truncation: bool, signals: bool) -> _Filters:
    """Where the supervisor installs them, and is there to connect sockets."""
    is_brokered = policy.network and policy.read is None
    return {
        "filter": _filter(policy, truncation=truncation, signals=signals),
        "brokered": _filter(policy, truncation=truncation, signals=signals, brokered=True) if is_brokered else b"",
        "sockets": tuple(map(str, policy.write)) if is_brokered else (),
        "agents": tuple(map(str, policy.agents)) if is_brokered else (),
    }


def _filter(policy: Policy, *, truncation: bool, signals: bool, brokered: bool = False) -> bytes:
    reading = policy.read is not None
    return _program(
        network=policy.network,
        metadata=bool(policy.write) and not reading,
        truncation=truncation,
        reading=reading,
        signals=signals or not reading,
        brokered=brokered,
    )


@cache
def _program(**wanted: bool) -> bytes:
    return seccomp.program("" if sys.platform == "win32" else os.uname().machine, **wanted)


def _existing(policy: Policy) -> list[Path]:
    return [path for path in policy.protect if path.exists() and not path.is_symlink()]


def free_parts(folders: Iterable[Path], without: Iterable[Path]) -> Iterator[Path]:
    """The largest parts of folders with nothing in them of what is left out: Landlock knows no exception to what it
    allows."""
    left_out = frozenset(without)
    above = {parent for path in left_out for parent in path.parents}
    waiting = list(folders)
    while waiting:
        path = waiting.pop()
        if path in left_out:
            continue
        if path not in above:
            yield path
        elif not path.is_symlink():
            waiting += _inside(path)


def _inside(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


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
