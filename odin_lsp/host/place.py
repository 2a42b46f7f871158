"""Where the Odin of a folder is found: a unix socket that only its user can reach, and a lock of who listens on it."""

import hashlib
import json
import os
import signal
import socket
import struct
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from odin_lsp import command_mark, locks, private_files, state_folder, system
from odin_lsp.errors import OdinError, SessionError
from odin_lsp.folders import Folder

BACKLOG = 64
PATIENCE = 1.0
"""Seconds until a host that listens has taken a connection."""
MAKE_WAY = signal.SIGTERM if sys.platform == "win32" else signal.SIGUSR1
"""To one without an editor: let another listen, and end when nothing is left to do."""
_CREDENTIALS = struct.Struct("3i")
"""Process, user and group."""
IN_A_COMMAND = (
    "a command that Odin runs is no front end of a person; ask in a terminal that you have opened yourself, or use"
    " `--no-host` to have an Odin of the command's own"
)


class StartedByCommand(OdinError):
    """Who wants in has been started by a command of an Odin that runs."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Who listens for a folder."""

    pid: int
    root: str
    version: str
    is_resident: bool = False
    """No editor has started it."""


def folders() -> list[Path]:
    """Where sockets may be; the first one is for new ones."""
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    is_usable = runtime.is_absolute() and runtime.is_dir() and runtime.stat().st_uid == system.user()
    return [*([runtime / "odin"] if is_usable else []), state_folder.folder() / "hosts"]


@contextmanager
def listening(owner: Owner) -> Generator[socket.socket | None]:
    """A socket for the owner's folder, as long as nobody else has one; `None`: somebody has, or there are none here."""
    if sys.platform == "win32":
        yield None
        return
    path = folders()[0] / name_of(Path(owner.root))
    lock = private_files.open_file(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT)
    try:
        if not _is_free(lock, path) or not _is_at_its_place(lock, path.with_suffix(".lock")):
            yield None
            return
        os.truncate(lock, 0)
        system.pwrite(lock, json.dumps(vars_of(owner)).encode(), 0)
        with private_files.open_folder(path.parent) as folder, socket.socket(socket.AF_UNIX) as listener:
            _listen(listener, folder, path)
            try:
                yield listener
            finally:
                _remove(folder, f"{path.name}.sock")
                _remove(folder, f"{path.name}.lock")
    finally:
        os.close(lock)


def connected(root: Path) -> socket.socket | None:
    """To who listens for this folder, if somebody does and is the same user. `StartedByCommand`: this process may
    not."""
    if sys.platform == "win32":
        return None
    for place in folders():
        path = place / name_of(root)
        with suppress(OSError, SessionError), private_files.open_folder(place) as folder:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.settimeout(PATIENCE)
                connection.connect(_address(folder, f"{path.name}.sock"))
            except OSError:
                connection.close()
                continue
            if is_own(connection):
                connection.setblocking(False)
                return connection
            with connection:
                _refuse_commands(connection)
    return None


def nearest(folder: Path) -> tuple[socket.socket, Path] | None:
    """To who listens for this folder, or else for the nearest one around it."""
    for root in (folder, *folder.parents):
        if (connection := connected(root)) is not None:
            return connection, root
    return None


def owners() -> Iterator[Owner]:
    """All who listen now."""
    for place in folders():
        yield from filter(None, (_owner(path) for path in sorted(place.glob("*.lock"))))


def owner_of(root: Path) -> Owner | None:
    """Who listens for this folder, if somebody does."""
    found = (_owner(place / f"{name_of(root)}.lock") for place in folders())
    return next((it for it in found if it is not None), None)


def tell(owner: Owner, number: int) -> bool:
    """Send a signal to who listens for its folder; whether somebody did. A process that has got its number since is
    left alone, where the kernel says who listens."""
    try:
        connection = connected(Path(owner.root))
    except StartedByCommand:
        connection = None
    if connection is None:
        return False
    with connection, suppress(ProcessLookupError):
        pid, _ = _peer(connection) or (owner.pid, None)
        if pid == owner.pid:
            os.kill(pid, number)
            return True
    return False


def is_own(connection: socket.socket) -> bool:
    """Whether the process at the other end is the user's, as the kernel says, and none that a command has started; or,
    within a command, one of the same. Where the kernel says nothing of users, the folder keeps others out."""
    peer = _peer(connection)
    if peer is None:
        return True
    own_mark = command_mark.mark_of(os.getpid())
    return peer[1] == system.user() and bool(own_mark) and own_mark == command_mark.mark_of_peer(connection)


def name_of(root: Path) -> str:
    return hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:16]


def vars_of(owner: Owner) -> dict[str, object]:
    return {name: getattr(owner, name) for name in Owner.__slots__}


def _owner(path: Path) -> Owner | None:
    """Who holds this lock."""
    with suppress(OSError, SessionError, ValueError, TypeError):
        lock = private_files.open_file(path, os.O_RDWR)
        try:
            is_free = _is_free(lock, path, shared=True)  # or of two who look each would take the other for the owner
            return None if is_free else Owner(**json.loads(system.pread(lock, 65536, 0)))
        finally:
            os.close(lock)
    return None


def _is_free(lock: int, path: Path, *, shared: bool = False) -> bool:
    try:
        locks.hold(lock, path, shared=shared, patience=0)
    except locks.Held:
        return False
    return True


def _is_at_its_place(lock: int, path: Path) -> bool:
    """Whoever has held it may have removed it just now."""
    try:
        return os.path.samestat(os.fstat(lock), path.stat())
    except FileNotFoundError:
        return False


def _peer(connection: socket.socket) -> tuple[int, int] | None:
    """The process and the user at the other end, where the kernel says so."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return None
    pid, user, _ = _CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size))
    return pid, user


def _refuse_commands(connection: socket.socket) -> None:
    """Say why, if it is because this process is within a command, and who listens is not."""
    own_mark = command_mark.mark_of(os.getpid())
    mark = None if own_mark is None else command_mark.mark_of_peer(connection)
    if own_mark is not None and mark is not None and own_mark < mark:
        raise StartedByCommand(IN_A_COMMAND)


def _listen(listener: socket.socket, folder: Folder, path: Path) -> None:
    """The socket has its name when it can be connected to; one that was left there is replaced by it."""
    draft = path.with_suffix(".new")
    _remove(folder, draft.name)
    if sys.platform != "win32":
        os.fchmod(listener.fileno(), 0o600)  # of what `bind` makes
    listener.bind(_address(folder, draft.name))
    listener.listen(BACKLOG)
    listener.setblocking(False)
    folder.replace(draft.name, f"{path.name}.sock")


def _remove(folder: Folder, name: str) -> None:
    with suppress(FileNotFoundError):
        folder.unlink(name)


def _address(folder: Folder, name: str) -> str:
    """By the folder that was looked at. A path in full may be longer than an address can be."""
    return f"{folder.way}/{name}"
