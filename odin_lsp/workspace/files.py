"""The only code that opens files of the workspace; every path passes through `resolve`."""

import codecs
import errno
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from odin_lsp.config import FileRules
from odin_lsp.errors import PermissionDenied, ToolError
from odin_lsp.workspace.buffers import Buffer, Buffers, moved, stamp_of
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.ignore import Ignore
from odin_lsp.workspace.opening import opened_file
from odin_lsp.workspace.text import Decoded, decode, whole_lines
from odin_lsp.workspace.uris import is_relative, printable, refusal

MAX_SCAN_BYTES = 512 * 1024 * 1024
MAX_EDIT_BYTES = 64 * 1024 * 1024
"""Of a file that is edited without being open; for more `cache.maxFileSize` has to be larger."""
CHUNK = 1 << 20
LONGEST_LINE = 64 * 1024
_LINE = re.compile(rb"[^\r\n]*+(?:\r\n|\n|\r|\Z)")
"""Always matches: a line that has no end yet must not make it look again from every byte."""
UNSAVED = "unsaved changes are shown"
MOVED = "the file has changed on disk under the editor; this is the editor's text"
UNKNOWN = "the editor's text of this file is not known; this is what is on disk"
NOTEBOOK = "this notebook is open in the editor, and what its cells say is not known; this is what is on disk"


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
    cut: Mapping[int, int] = field(default_factory=dict[int, int])
    """Of lines too long to be held in full, by their index: how many bytes they have."""
    unsaved: bool = False
    note: str = ""


class Files:
    def __init__(
        self, roots: Sequence[Path], buffers: Buffers, cache: FileCache, rules: FileRules | None = None
    ) -> None:
        self.buffers = buffers
        self.cache = cache
        self.configure(roots, rules or FileRules())

    def configure(self, roots: Sequence[Path], rules: FileRules) -> None:
        """From now on these folders are open, and these rules hold."""
        self.roots = tuple(dict.fromkeys(root.resolve() for root in roots))
        self.ignore = Ignore(self.roots, rules)
        self._labels = _labels(self.search_roots)

    @property
    def search_roots(self) -> list[Path]:
        """The folders without those that lie in others."""
        return [root for root in self.roots if not any(root != it and root.is_relative_to(it) for it in self.roots)]

    def resolve(self, name: str) -> Place:
        """The canonical place of `name`. What it leads to is decided, not how it is written."""
        full = self.absolute(name)
        if reason := refusal(full):
            raise ToolError(reason)
        path = Path(full)
        hidden = PermissionDenied(f"{printable(name)} is not for you to read; the user's settings or its name say so")
        if self.ignore.hides(Path(os.path.normpath(path))):
            raise hidden
        try:
            real = path.resolve()
            real.lstat()
        except (FileNotFoundError, NotADirectoryError):
            real = _where_it_would_be(path)
        except (RuntimeError, OSError) as error:
            reason = "a loop of symbolic links" if getattr(error, "errno", errno.ELOOP) == errno.ELOOP else error
            raise ToolError(f"{printable(name)} cannot be opened: {getattr(reason, 'strerror', reason)}") from None
        if self.ignore.hides(real):
            raise hidden
        return Place(real, self.contains(real))

    def absolute(self, name: str) -> str:
        """The name in full. A relative one is below the workspace folder and nothing else. Where there are several it
        begins with what `shown` calls the folder, or with something that only one of them has."""
        if not is_relative(name) or not self.roots:
            return name
        for label, root in self._labels.items():
            if not label:
                return f"{root}/{name}"
            if name == label or name.startswith(f"{label}/"):
                return f"{root}{name[len(label) :]}"
        first = PurePosixPath(name).parts[:1]
        having = {label: root for label, root in self._labels.items() if first and self._shows(root / first[0])}
        if len(having) == 1:
            return f"{next(iter(having.values()))}/{name}"
        meant = " or ".join(printable(f"{label}/{name}") for label in having or self._labels)
        raise ToolError(f"{printable(name)} could be in more than one workspace folder; name {meant}")

    def _shows(self, path: Path) -> bool:
        return os.path.lexists(path) and not self.ignore.hides(path)

    def contains(self, path: Path) -> bool:
        """Inside a workspace folder. The whole disk or the user's home as a folder vouches for nothing."""
        return any(path.is_relative_to(root) for root in self.roots if vouches(root))

    def shown(self, path: Path) -> str:
        """The path as it is called in this workspace: relative to its folder, which is named if there are several."""
        for label, root in self._labels.items():
            if path.is_relative_to(root):
                name = str(PurePosixPath(label, path.relative_to(root).as_posix()))
                return printable(name if is_relative(name) else f"./{name}")
        return printable(str(path))

    def read(self, path: Path, *, to_edit: bool = False) -> FileText:
        """What the user sees of the whole file: its buffer if it is open, else the disk. `path` must be canonical. What
        is to be edited may be larger than what is kept."""
        buffer = self.buffers.of_path(path)
        if buffer is not None and buffer.synchronised:
            return FileText(path, buffer.text, buffer.unsaved, _note(buffer))
        note = _note(buffer)
        with opened_file(path) as (file, status):
            stamp = stamp_of(status)
            if cached := self.cache.full(path, stamp):
                return FileText(path, cached.text, note=note, form=cached)
            most = max(self.cache.settings.max_file_size, MAX_EDIT_BYTES if to_edit else 0)
            if status.st_size > most:
                raise ToolError(_too_large(path, status.st_size, most, to_edit=to_edit))
            data = _read(path, file, most + 1)
            if len(data) > most:
                raise ToolError(f"{printable(str(path))} does not end; it is not read")
        content = _text(path, data)
        if not self.cache.same(path, stamp, data):
            self.cache.put(path, stamp, data, content)
        return FileText(path, content.text, note=note, form=content)

    def window(self, path: Path, start: int, count: int) -> Window:
        """Some lines, from `start` on, counted from 1. Of a large file no more than these is held."""
        buffer = self.buffers.of_path(path)
        if buffer is None or not buffer.synchronised:
            with opened_file(path) as (file, status):
                if status.st_size > self.cache.settings.max_file_size:
                    return replace(self._scanned(path, file, status, start, count), note=_note(buffer))
        text = self.read(path)
        lines = whole_lines(text.text)
        shown = lines[start - 1 : start - 1 + count]
        return Window(path, shown, len(lines), len(text.text), unsaved=text.unsaved, note=text.note)

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
        lines, total, cut = _scan(path, file, start, count)
        if lines and not cut:
            self.cache.put_part(path, stamp, status.st_size, start, lines, total)
        return Window(path, lines, total, status.st_size, cut)


def _labels(roots: Sequence[Path]) -> dict[str, Path]:
    """What tells the folders apart: nothing if there is only one, else the ends of their paths, each as long. One whose
    path is no longer than that has none: it is called by all of it."""
    if len(roots) < 2:
        return dict(zip([""], roots, strict=False))
    words = 1
    while len({root.parts[-words:] for root in roots}) < len(roots):
        words += 1
    return {"/".join(root.parts[-words:]): root for root in roots if len(root.parts) > words}


def _too_large(path: Path, size: int, most: int, *, to_edit: bool) -> str:
    help_with_edits = (
        f". To edit files of more than {most:,} bytes the user has to open them in the editor, or raise "
        "cache.maxFileSize in odinconfig.json"
    )
    reason = f"{printable(str(path))} has {size:,} bytes; read a part of it, or use Grep"
    return reason + (help_with_edits if to_edit else "")


def _where_it_would_be(path: Path) -> Path:
    try:
        return Path(os.path.realpath(path))
    except OSError:
        raise ToolError(f"{printable(str(path))} changes while it is looked up; try again") from None


def vouches(root: Path) -> bool:
    """Whether being in this folder says something about a file: in the user's home, or above it, everything is."""
    home = Path.home().resolve()
    return root != home and root not in home.parents


def _scan(path: Path, file: BinaryIO, start: int, count: int) -> tuple[list[str], int | None, dict[int, int]]:
    """The lines, how many the file has if its end was reached, and how long those are that were cut."""
    lines: list[str] = []
    cut: dict[int, int] = {}
    number, scanned, rest, dropped = 0, 0, b"", 0
    while scanned < MAX_SCAN_BYTES and len(lines) < count:
        chunk = _read(path, file, CHUNK)
        if b"\0" in chunk:
            raise ToolError(f"{printable(str(path))} is not text")
        scanned += len(chunk)
        pieces = _pieces(rest + chunk, final=not chunk)
        rest = b"" if not chunk else pieces.pop()
        for piece in pieces:
            number += 1
            piece = piece.removeprefix(codecs.BOM_UTF8) if number == 1 else piece
            if start <= number < start + count:
                if len(piece) > LONGEST_LINE:
                    cut[len(lines)] = len(piece.rstrip(b"\r\n")) + dropped
                lines.append(_line(path, piece))
            dropped = 0
        if len(rest) > 2 * LONGEST_LINE:
            dropped += len(rest) - 2 * LONGEST_LINE
            rest = rest[: 2 * LONGEST_LINE - 1] + rest[-1:]
        if not chunk:
            return lines, number, cut
    if len(lines) < count and scanned >= MAX_SCAN_BYTES:
        raise ToolError(
            f"line {start} of {printable(str(path))} is more than {MAX_SCAN_BYTES >> 20} MiB away; use Grep"
        )
    return lines, None, cut


def _pieces(data: bytes, *, final: bool) -> list[bytes]:
    """The lines with their ends; unless it is the end of the file the last piece is what may still go on."""
    if not final and b"\n" not in data and b"\r" not in data:
        return [data]
    pieces = [match[0] for match in _LINE.finditer(data)]
    if final:
        return [piece for piece in pieces if piece]
    if len(pieces) > 1 and not pieces[-2].endswith(b"\n"):
        pieces.pop()  # nothing; the piece before it has no end yet, or one that a line feed may follow
    return pieces


def _read(path: Path, file: BinaryIO, size: int) -> bytes:
    try:
        return file.read(size)
    except OSError as error:
        raise ToolError(f"{printable(str(path))} cannot be read: {error.strerror}") from None


def _line(path: Path, data: bytes) -> str:
    """A line of a file that is not decoded as a whole; a very long one is cut, at a character."""
    try:
        return codecs.utf_8_decode(data[:LONGEST_LINE], "strict", len(data) <= LONGEST_LINE)[0]
    except UnicodeDecodeError:
        raise ToolError(f"{printable(str(path))} is not text") from None


def _text(path: Path, data: bytes) -> Decoded:
    content = decode(data)
    if content is None:
        raise ToolError(f"{printable(str(path))} is not text that could be written back as it is ({len(data):,} bytes)")
    return content


def _note(buffer: Buffer | None) -> str:
    if buffer is None or not buffer.synchronised:
        return "" if buffer is None else NOTEBOOK if buffer.is_notebook else UNKNOWN
    return "; ".join(filter(None, (UNSAVED if buffer.unsaved else "", MOVED if moved(buffer) else "")))
