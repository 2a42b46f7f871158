"""The only code that opens files of the workspace; every path passes through `resolve`."""

import errno
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from odin_lsp.config import FileRules
from odin_lsp.errors import PermissionDenied, ToolError
from odin_lsp.workspace.buffers import Buffer, Buffers, Stamp, is_of_screen, moved, stamp_of
from odin_lsp.workspace.cache import CachedFile, FileCache
from odin_lsp.workspace.ignore import Ignore
from odin_lsp.workspace.opening import CLOCK_TICK_NS, opened_file
from odin_lsp.workspace.scanning import read_bytes, scan
from odin_lsp.workspace.text import Decoded, decode, split_lines
from odin_lsp.workspace.uris import is_relative, printable, refusal

MAX_EDIT_BYTES = 64 * 1024 * 1024
"""Of a file that is edited without being open; for more `cache.maxFileSize` has to be larger."""
_IS_INEXACT = re.compile("[\ufeff\ufffd]")
"""ripgrep shows marks of the encoding, and not what it cannot read."""
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
    """Without their ends."""
    total: int | None
    """Lines in the file, if they were counted."""
    size: int
    cut: Mapping[int, int] = field(default_factory=dict[int, int])
    """Of lines too long to be held in full, by their index: how many bytes they have."""
    unsaved: bool = False
    note: str = ""
    stamp: Stamp | None = None
    """Which text it is of; none where that is neither on the screen nor on disk."""


class Files:
    def __init__(
        self, roots: Sequence[Path], buffers: Buffers, cache: FileCache, rules: FileRules | None = None
    ) -> None:
        self.buffers = buffers
        self.cache = cache
        self.changes_heard = 0
        """How often somebody has said, or had reason to think, that files have changed on disk."""
        self.configure(roots, rules or FileRules())

    def configure(self, roots: Sequence[Path], rules: FileRules) -> None:
        """From now on these folders are open, and these rules hold."""
        self.roots = tuple(dict.fromkeys(root.resolve() for root in roots))
        self.ignore = Ignore(self.roots, rules)
        self._labels = _labels(self.search_roots)
        self._vouching = tuple(filter(vouches, self.roots))
        for path, _ in self.cache:
            if self.ignore.hides(path):
                self.cache.forget(path)

    @property
    def search_roots(self) -> list[Path]:
        """The folders without those that lie in others."""
        return _outermost(self.roots)

    @property
    def vouching_roots(self) -> list[Path]:
        """Where may be searched without asking: the folders that vouch, without those that lie in others."""
        return _outermost(self._vouching)

    def resolve(self, name: str) -> Place:
        """The canonical place of `name`. What it leads to is decided, not how it is written."""
        full = self.absolute(name)
        if reason := refusal(full):
            raise ToolError(reason)
        plain = Path(os.path.normpath(full))
        if self.ignore.hides(plain):
            raise _hidden(name)
        try:
            real = Path(os.path.realpath(full, strict=True))
        except (FileNotFoundError, NotADirectoryError):
            real = _where_it_would_be(Path(full))
        except OSError as error:
            reason = "a loop of symbolic links" if error.errno == errno.ELOOP else error.strerror
            raise ToolError(f"{printable(name)} cannot be opened: {reason}") from None
        if real != plain and self.ignore.hides(real):
            raise _hidden(name)
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
        return any(map(path.is_relative_to, self._vouching))

    def around(self, path: Path) -> Path | None:
        """The workspace folder that the path is in, whether that vouches for it or not."""
        return next(filter(path.is_relative_to, self.search_roots), None)

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
        buffer = self._on_screen(path)
        if buffer is not None:
            note = _note(buffer)
            self._hold_buffer(path, buffer, counts=not to_edit)
            return FileText(path, buffer.text, buffer.unsaved, note)
        with opened_file(path) as (file, status):
            stamp = stamp_of(status)
            content = self.cache.full(path, stamp, to_edit=to_edit)
            if content is None:
                content = self._content(path, file, status, to_edit=to_edit)
                self.cache.put(path, stamp, status.st_size, content, counts=not to_edit)
        return FileText(path, content.text, note=_note(self.buffers.of_path(path)), form=content)

    def on_disk(self, path: Path) -> str:
        """The text as other programs see it, whatever is on the screen. Nothing of it is kept."""
        with opened_file(path) as (file, status):
            return self._content(path, file, status, to_edit=True).text

    def data(self, path: Path, most: int) -> bytes:
        """The bytes of a file that is not text, if it has no more than so many."""
        with opened_file(path) as (file, status):
            if status.st_size > most:
                raise ToolError(f"{printable(str(path))} has {status.st_size:,} bytes; at most {most:,} are read")
            return read_bytes(path, file, most)

    def window(self, path: Path, start: int, count: int, *, counts: bool = True) -> Window:
        """Some lines, from `start` on, counted from 1. No more than these is kept, and of a large file no more read."""
        buffer = self._on_screen(path)
        if buffer is not None:
            return self._window_of_buffer(path, buffer, start, count, counts=counts)
        with opened_file(path) as (file, status):
            stamp = stamp_of(status)
            window = Window(path, [], None, status.st_size, note=_note(self.buffers.of_path(path)), stamp=stamp)
            if cached := self.cache.part(path, stamp, start, start + count - 1, counts=counts):
                lines, total = cached
                return replace(window, lines=lines, total=total)
            if status.st_size > self.cache.settings.max_file_size:
                lines, total, cut = scan(path, file, start, count)
                if lines and not cut:
                    self.cache.put_parts(path, stamp, status.st_size, {start: lines}, total, counts=counts)
                return replace(window, lines=lines, total=total, cut=cut)
            content = self._content(path, file, status)
        lines = split_lines(content.text)
        some = lines[start - 1 : start - 1 + count]
        self.cache.put_parts(path, stamp, status.st_size, {start: some}, len(lines), content, counts=counts)
        return replace(window, lines=some, total=len(lines))

    def hold(self, path: Path, found: Mapping[int, str], since_ns: int) -> Stamp | None:
        """Keep lines, by their numbers, that a search since then has found. Which text they are of; `None` if that is
        not known, because it changes just now."""
        buffer = self._on_screen(path)
        if buffer is not None:
            stamp, size, lines = buffer.stamp, _size(buffer.text), split_lines(buffer.text)
        else:
            try:
                status = path.stat()
            except OSError:
                return None
            stamp, size, lines = stamp_of(status), status.st_size, None
            if status.st_ctime_ns >= since_ns - CLOCK_TICK_NS:
                lines = self.lines_now(path)
        if lines is not None and any(lines[number - 1 : number] != [line] for number, line in found.items()):
            return None
        exact = {number: line for number, line in found.items() if lines is not None or not _IS_INEXACT.search(line)}
        self.cache.put_parts(path, stamp, size, _runs(exact))
        return stamp

    def may_hold(self, path: Path, most: int) -> bool:
        """Whether the whole file may be held, and has no more than so many bytes."""
        buffer = self._on_screen(path)
        try:
            size = path.stat().st_size if buffer is None else _size(buffer.text)
        except OSError:
            return False
        return size <= min(most, self.cache.settings.max_file_size)

    def note_change(self, path: Path, new_path: Path | None = None) -> None:
        """Odin has changed the file, removed it, or given it another name."""
        self.changes_heard += 1
        if new_path is not None:
            self.cache.move(path, new_path)
            return
        try:
            self.read(path, to_edit=True)
        except ToolError:
            self.cache.note_removed(path)
        else:
            self.cache.note_written(path)

    def held(self) -> Iterator[tuple[Path, CachedFile]]:
        """What is held, as it is on the screen and, with `autoRefresh`, on disk now. That is no use of it."""
        for path, file in self.cache:
            is_looked_at = self.cache.settings.auto_refresh or self._on_screen(path) or is_of_screen(file.stamp)
            if (not is_looked_at or self._is_current(path, file)) and (now := self.cache.peek(path)) is not None:
                yield path, now

    def stamp(self, path: Path) -> Stamp | None:
        """Which text the file has now; `None` if there is none."""
        if (buffer := self._on_screen(path)) is not None:
            return buffer.stamp
        try:
            return stamp_of(os.stat(path))  # noqa: PTH116 - of every file that was shown, in every step
        except OSError:
            return None

    def lines_now(self, path: Path) -> list[str] | None:
        """The file's lines as they are, without keeping anything; `None` if it cannot be read, or not be held."""
        if (buffer := self._on_screen(path)) is not None:
            return split_lines(buffer.text)
        with suppress(ToolError), opened_file(path) as (file, status):
            content = self.cache.full(path, stamp_of(status), to_edit=True)
            return split_lines((content or self._content(path, file, status)).text)
        return None

    def heed(self, paths: Iterable[Path]) -> None:
        """Somebody says that these have changed on disk. What is on the screen is known better."""
        self.changes_heard += 1
        for path in paths:
            if self._on_screen(path) is None:
                self.cache.forget(path)

    def recheck(self) -> list[Path]:
        """Compare what is held with the disk, after a command or when something says so; what has changed."""
        self.changes_heard += 1
        changed = [path for path, file in self.cache if not self._is_current(path, file)]
        changed += [it.path for it in self.buffers if it.path is not None and it.path not in changed and moved(it)]
        return changed

    def _on_screen(self, path: Path) -> Buffer | None:
        buffer = self.buffers.of_path(path)
        return buffer if buffer is not None and buffer.synchronised else None

    def _is_current(self, path: Path, file: CachedFile) -> bool:
        """Whether it is held as it is; what is on the screen is taken from there, what has changed on disk is not."""
        if file.stamp == self.stamp(path):
            return True
        if (buffer := self._on_screen(path)) is not None and not file.is_partial:
            self._hold_buffer(path, buffer, counts=False)
            return True
        self.cache.forget(path)
        return False

    def _hold_buffer(self, path: Path, buffer: Buffer, *, counts: bool) -> None:
        if self.cache.full(path, buffer.stamp, to_edit=not counts) is None:
            text = buffer.text
            self.cache.put(path, buffer.stamp, _size(text), Decoded(text, "utf-8"), len(buffer.lines), counts=counts)

    def _window_of_buffer(self, path: Path, buffer: Buffer, start: int, count: int, *, counts: bool) -> Window:
        note = _note(buffer)
        lines, content, size = split_lines(buffer.text), Decoded(buffer.text, "utf-8"), _size(buffer.text)
        some = lines[start - 1 : start - 1 + count]
        self.cache.put_parts(path, buffer.stamp, size, {start: some}, len(lines), content, counts=counts)
        return Window(path, some, len(lines), size, unsaved=buffer.unsaved, note=note, stamp=buffer.stamp)

    def _content(self, path: Path, file: BinaryIO, status: os.stat_result, *, to_edit: bool = False) -> Decoded:
        most = max(self.cache.settings.max_file_size, MAX_EDIT_BYTES if to_edit else 0)
        if status.st_size > most:
            raise ToolError(_too_large(path, status.st_size, most, to_edit=to_edit))
        data = read_bytes(path, file, most + 1)
        if len(data) > most:
            raise ToolError(f"{printable(str(path))} does not end; it is not read")
        return _text(path, data)


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


def _hidden(name: str) -> PermissionDenied:
    return PermissionDenied(f"{printable(name)} is hidden: it looks like a secret, or the settings deny it")


def _where_it_would_be(path: Path) -> Path:
    try:
        return Path(os.path.realpath(path))
    except OSError:
        raise ToolError(f"{printable(str(path))} changes while it is looked up; try again") from None


def _outermost(roots: Sequence[Path]) -> list[Path]:
    return [root for root in roots if not any(root != it and root.is_relative_to(it) for it in roots)]


def vouches(root: Path) -> bool:
    """Whether being in this folder says something about a file: in the user's home, or above it, everything is."""
    home = Path.home().resolve()
    return root != home and root not in home.parents


def _runs(lines: Mapping[int, str]) -> dict[int, list[str]]:
    """Neighbours together, by the number of the first."""
    runs: dict[int, list[str]] = {}
    first = 0
    for number in sorted(lines):
        first = first if number - 1 in lines else number
        runs.setdefault(first, []).append(lines[number])
    return runs


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _text(path: Path, data: bytes) -> Decoded:
    content = decode(data)
    if content is None:
        raise ToolError(f"{printable(str(path))} is not text that could be written back as it is ({len(data):,} bytes)")
    return content


def _note(buffer: Buffer | None) -> str:
    """Before its stamp is used: to look at the file may give the document another one."""
    if buffer is None or not buffer.synchronised:
        return "" if buffer is None else NOTEBOOK if buffer.is_notebook else UNKNOWN
    return "; ".join(filter(None, (UNSAVED if buffer.unsaved else "", MOVED if moved(buffer) else "")))
