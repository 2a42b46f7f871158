"""Open exactly what was decided on. Every path must be canonical: its folders are opened one by one, and a link among
them is one that came in between.
"""

import errno
import os
import stat
from collections.abc import Collection, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from odin_lsp import system
from odin_lsp.errors import FileMissing, PermissionDenied, ToolError
from odin_lsp.folders import IN_PROC, Folder
from odin_lsp.workspace.uris import printable

_FILE = os.O_RDONLY | system.NO_WAIT | system.OWN
DESCRIPTORS = "/proc/self/fd" if IN_PROC else "/dev/fd"
CLOCK_TICK_NS = 20_000_000
"""Times of files come from a clock that may be this much behind."""
KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@contextmanager
def opened_file(path: Path) -> Generator[tuple[BinaryIO, os.stat_result]]:
    """The regular file at exactly this path. What is none is not opened: a pipe may never answer, a device may act."""
    with _explained(path), opened_folder(path.parent) as folder:
        mode = _mode(path, folder)
        if stat.S_ISDIR(mode):
            raise ToolError(f"{_shown(path)} is a folder; list it with LS")
        descriptor = folder.open(path.name, _FILE)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise PermissionDenied(f"{_shown(path)} was exchanged while it was opened")
        yield file, status


@contextmanager
def opened_place(path: Path) -> Generator[Folder | BinaryIO]:
    """The folder or file at exactly this path."""
    with ExitStack() as stack:
        if is_folder(path):
            with _explained(path):
                folder = stack.enter_context(opened_folder(path))
            yield folder
        else:
            file, _ = stack.enter_context(opened_file(path))
            yield file


def is_folder(path: Path) -> bool:
    """Whether it is a folder and not a file; what is neither is an error."""
    with _explained(path), opened_folder(path.parent) as folder:
        return stat.S_ISDIR(_mode(path, folder))


def is_file(path: Path) -> bool:
    """Whether there is a regular file at exactly this path."""
    try:
        return not is_folder(path)
    except ToolError:
        return False


def entries(path: Path, most: int) -> list[tuple[str, bool]]:
    """Names in exactly this folder, sorted, and whether they are folders; not more than `most` of them."""
    if not is_folder(path):
        raise ToolError(f"{_shown(path)} is a file; use Read")
    with _explained(path), opened_folder(path) as folder:
        return sorted(folder.listing(most))


def exchanged(files: Iterable[Path], below: Path, folder: Folder, since_ns: int) -> set[Path]:
    """Those of the files that need not be what a process, started in the folder, has found under these names.

    What is moved away and back again has a new change time, which nobody can set. It is looked at from the files up:
    where a folder is exchanged meanwhile, it is seen after all that was seen through it."""

    start = len(below.as_posix().rstrip("/")) + 1
    names = {file.as_posix()[start:]: file for file in files}
    moved = {name for name in names if not _is_steady(folder, name, stat.S_IFREG, since_ns)}
    doubtful = exchanged_folders({_outer(name) for name in names}, below, folder, since_ns)
    return {file for name, file in names.items() if name in moved or _outer(name) in doubtful}


def exchanged_folders(names: Collection[str], below: Path, folder: Folder, since_ns: int) -> set[str]:
    """Those of the folders of which the same is true, by their names below the one in which the process was started.
    What is exchanged in a folder changes that one, too."""
    folders = {it for name in names for it in _ways(name)} - {""}
    inner_first = sorted(folders, key=lambda it: -it.count("/"))
    moved = {it for it in inner_first if not _is_steady(folder, it, stat.S_IFDIR, since_ns)}
    if not IN_PROC and not _is_still(below, folder, since_ns):
        moved.add("")
    return {name for name in names if not moved.isdisjoint(_ways(name))} if moved else set()


def files_among(path: Path, names: Iterable[str]) -> list[str]:
    """Those of the names in exactly this folder that regular files have."""
    try:
        with opened_folder(path) as folder:
            return [name for name in names if _is_steady(folder, name, stat.S_IFREG, None)]
    except OSError:
        return []


def _is_steady(folder: Folder, name: str, kind: int, since_ns: int | None) -> bool:
    """Whether there is something of this kind, which has not changed since then."""
    try:
        status = folder.status(name)
    except OSError:
        return False
    is_old = since_ns is None or status.st_ctime_ns < since_ns - CLOCK_TICK_NS
    return is_old and stat.S_IFMT(status.st_mode) == kind


def _ways(name: str) -> Iterator[str]:
    """A relative name and the folders on the way to it."""
    while name:
        yield name
        name = _outer(name)
    yield ""


def _outer(name: str) -> str:
    return name.rpartition("/")[0]


def _is_still(path: Path, folder: Folder, since_ns: int) -> bool:
    status = folder.status()
    try:
        return os.path.samestat(os.lstat(path), status) and status.st_ctime_ns < since_ns - CLOCK_TICK_NS
    except OSError:
        return False


@contextmanager
def opened_folder(path: Path, *, make: bool = False) -> Generator[Folder]:
    """Exactly this folder, held open; an OSError where there is none."""
    folder = Folder(Path(path.anchor))
    try:
        for name in path.parts[1:]:
            outer, folder = folder, _inner(name, folder, make=make)
            outer.close()
        yield folder
    finally:
        folder.close()


def _inner(name: str, folder: Folder, *, make: bool) -> Folder:
    try:
        return folder.inner(name)
    except FileNotFoundError:
        if not make:
            raise
    with suppress(FileExistsError):
        folder.make(name)
    return folder.inner(name)


def _mode(path: Path, folder: Folder) -> int:
    mode = folder.status(path.name).st_mode
    if stat.S_ISLNK(mode):
        raise PermissionDenied(f"{_shown(path)} was exchanged for a link while it was opened")
    if kind := KINDS.get(stat.S_IFMT(mode)):
        raise ToolError(f"{_shown(path)} is {kind}, neither a file nor a folder")
    return mode


@contextmanager
def _explained(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        match error.errno:
            case errno.ENOENT | errno.ENOTDIR | errno.ELOOP:
                raise FileMissing(f"{_shown(path)} does not exist") from None
            case _:
                raise ToolError(f"{_shown(path)} cannot be opened: {error.strerror}") from None


def _shown(path: Path) -> str:
    return printable(str(path))


def where_it_would_be(path: Path) -> Path:
    """Where a file that is not there yet would be."""
    try:
        return Path(os.path.realpath(path))
    except OSError:
        raise ToolError(f"{printable(str(path))} changes while it is looked up; try again") from None
