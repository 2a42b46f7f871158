"""The only code that opens files of the workspace; every path passes through `resolve`."""

import errno
import os
import re
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from odin_lsp.config import FileRules
from odin_lsp.errors import PermissionDenied, ToolError
from odin_lsp.workspace.buffers import Buffer, Buffers, moved, stamp_of
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.ignore import Ignore
from odin_lsp.workspace.text import Decoded, decode, whole_lines
from odin_lsp.workspace.uris import printable, refusal

MAX_SCAN_BYTES = 512 * 1024 * 1024
CHUNK = 1 << 20
LONGEST_LINE = 64 * 1024
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r(?!\Z))")
UNSAVED = "unsaved changes are shown"
MOVED = "the file has changed on disk under the editor; this is the editor's text"
UNKNOWN = "the editor's text of this file is not known; this is what is on disk"


@dataclass(frozen=True, slots=True)
class Place:
    path: Path
    inside: bool
    """In one of the workspace folders; anything else needs the user's word."""


@dataclass(frozen=True, slots=True)
class FileText:
    path: Path
    text: str
    unsaved: bool = False
    note: str = ""
    """What a reader should know about where the text comes from."""
    form: Decoded | None = None
    """How it is written on disk; none while it is only on the screen."""


@dataclass(frozen=True, slots=True)
class Window:
    path: Path
    lines: list[str]
    """With their ends."""
    total: int | None
    """Lines in the file, if they were counted."""
    size: int
    unsaved: bool = False
    note: str = ""


class Files:
    def __init__(
        self, roots: Sequence[Path], buffers: Buffers, cache: FileCache, rules: FileRules | None = None
    ) -> None:
        self.buffers = buffers
        self.cache = cache
        self._rules = rules or FileRules()
        self.roots: tuple[Path, ...] = ()
        self.change_roots(roots)

    def change_roots(self, roots: Sequence[Path]) -> None:
        self.roots = tuple(dict.fromkeys(root.resolve() for root in roots))
        self.ignore = Ignore(self.roots, self._rules)

    @property
    def search_roots(self) -> list[Path]:
        """The folders without those that lie in others."""
        return [root for root in self.roots if not any(root != it and root.is_relative_to(it) for it in self.roots)]

    def resolve(self, name: str) -> Place:
        """The canonical place of `name`. What it leads to is decided, not how it is written."""
        if reason := refusal(name):
            hint = f"; did you mean {self.roots[0] / name}?" if self.roots and not name.startswith("/") and name else ""
            raise ToolError(reason + (hint if "absolute" in reason else ""))
        path = Path(name)
        try:
            real = path.resolve()
            real.lstat()
        except FileNotFoundError:
            real = path.resolve()
        except (RuntimeError, OSError) as error:
            reason = "a loop of symbolic links" if getattr(error, "errno", errno.ELOOP) == errno.ELOOP else error
            raise ToolError(f"{printable(name)} cannot be opened: {getattr(reason, 'strerror', reason)}") from None
        if self.ignore.hides(real) or self.ignore.hides(Path(os.path.normpath(path))):
            raise PermissionDenied(f"{printable(name)} is not for you to read; the user's settings or its name say so")
        return Place(real, self.contains(real))

    def contains(self, path: Path) -> bool:
        """Inside a workspace folder. The whole disk or the user's home as a folder vouches for nothing."""
        return any(path.is_relative_to(root) for root in self.roots if root not in (Path("/"), Path.home()))

    def shown(self, path: Path) -> str:
        """The path as people in this workspace call it."""
        if len(self.roots) == 1 and path.is_relative_to(self.roots[0]):
            return printable(str(path.relative_to(self.roots[0])))
        return printable(str(path))

    def read(self, path: Path) -> FileText:
        """What the user sees of the whole file: its buffer if it is open, else the disk. `path` must be canonical."""
        buffer = self.buffers.of_path(path)
        if buffer is not None and buffer.synchronised:
            return FileText(path, buffer.text, buffer.unsaved, _note(buffer))
        note = UNKNOWN if buffer is not None else ""
        with _opened(path) as (file, status):
            stamp = stamp_of(status)
            if cached := self.cache.full(path, stamp):
                return FileText(path, cached.text, note=note, form=cached)
            if status.st_size > self.cache.settings.max_file_size:
                raise ToolError(f"{printable(str(path))} has {status.st_size:,} bytes; read a part of it, or use Grep")
            data = file.read()
        content = _text(path, data)
        if not self.cache.same(path, stamp, data):
            self.cache.put(path, stamp, data, content)
        return FileText(path, content.text, note=note, form=content)

    def window(self, path: Path, start: int, count: int) -> Window:
        """Some lines, from `start` on, counted from 1. Of a large file no more than these is held."""
        buffer = self.buffers.of_path(path)
        if buffer is None or not buffer.synchronised:
            with _opened(path) as (file, status):
                if status.st_size > self.cache.settings.max_file_size:
                    return self._scanned(path, file, status, start, count)
        text = self.read(path)
        lines = whole_lines(text.text)
        return Window(path, lines[start - 1 : start - 1 + count], len(lines), len(text.text), text.unsaved, text.note)

    def recheck(self) -> list[Path]:
        """Compare what is held with the disk, after a command or when something says so; what has changed."""
        changed: list[Path] = []
        for path, file in self.cache:
            try:
                same = file.stamp == stamp_of(path.stat())
            except OSError:
                same = False
            if not same:
                self.cache.forget(path)
                changed.append(path)
        changed += [it.path for it in self.buffers if it.path is not None and it.path not in changed and moved(it)]
        return changed

    def _scanned(self, path: Path, file: BinaryIO, status: os.stat_result, start: int, count: int) -> Window:
        stamp = stamp_of(status)
        known = self.cache.peek(path)
        if (cached := self.cache.part(path, stamp, start, start + count - 1)) is not None:
            return Window(path, cached, known.total_lines if known else None, status.st_size)
        lines, total, whole = _scan(path, file, start, count)
        if lines and whole:
            self.cache.put_part(path, stamp, status.st_size, start, lines, total)
        return Window(path, lines, total, status.st_size)


@contextmanager
def _opened(path: Path) -> Generator[tuple[BinaryIO, os.stat_result]]:
    """The regular file at exactly this path: no link that came in between, no pipe that never answers."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise ToolError(_explain(path, error)) from None
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise ToolError(f"{printable(str(path))} is a directory; list it with LS")
        if not stat.S_ISREG(status.st_mode):
            raise ToolError(f"{printable(str(path))} is not a regular file")
        if _really_at(descriptor, path) is False:
            raise PermissionDenied(f"{printable(str(path))} was exchanged while it was opened")
        with open(descriptor, "rb", closefd=False) as file:
            yield file, status
    finally:
        os.close(descriptor)


def _really_at(descriptor: int, path: Path) -> bool | None:
    """Whether the open file is where it was looked up: a folder on the way could have become a link. None: unknown."""
    try:
        return Path(f"/proc/self/fd/{descriptor}").readlink() == path
    except OSError:
        return None


def _scan(path: Path, file: BinaryIO, start: int, count: int) -> tuple[list[str], int | None, bool]:
    """The lines, how many the file has if its end was reached, and whether all of them are complete."""
    lines: list[str] = []
    whole, number, scanned, rest = True, 0, 0, b""
    while scanned < MAX_SCAN_BYTES and len(lines) < count:
        chunk = file.read(CHUNK)
        scanned += len(chunk)
        ended = not chunk
        found = [rest] if ended and rest else _LINE.findall(rest + chunk)
        rest = b"" if ended else (rest + chunk)[sum(map(len, found)) :]
        if len(rest) > 2 * LONGEST_LINE:
            rest = rest[: LONGEST_LINE + 1]
        for line in found:
            number += 1
            if start <= number < start + count:
                whole = whole and len(line) <= LONGEST_LINE
                lines.append(_text(path, line[:LONGEST_LINE], cut=len(line) > LONGEST_LINE).text)
        if ended:
            return lines, number, whole
    if len(lines) < count and scanned >= MAX_SCAN_BYTES:
        raise ToolError(
            f"line {start} of {printable(str(path))} is more than {MAX_SCAN_BYTES >> 20} MiB away; use Grep"
        )
    return lines, None, whole


def _text(path: Path, data: bytes, *, cut: bool = False) -> Decoded:
    content = decode(data) or (decode(data[:-3].decode("utf-8", "ignore").encode()) if cut else None)
    if content is None:
        raise ToolError(f"{printable(str(path))} is not text that could be written back as it is ({len(data):,} bytes)")
    return content


def _note(buffer: Buffer) -> str:
    return "; ".join(filter(None, (UNSAVED if buffer.unsaved else "", MOVED if moved(buffer) else "")))


def _explain(path: Path, error: OSError) -> str:
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR:
            return f"{printable(str(path))} does not exist"
        case errno.ENXIO:
            return f"{printable(str(path))} is not a regular file"
        case _:
            return f"{printable(str(path))} cannot be opened: {error.strerror}"
