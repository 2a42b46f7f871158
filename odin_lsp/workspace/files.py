"""The only code that opens files of the workspace; every path passes through `resolve`."""

import asyncio
import errno
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from weakref import WeakValueDictionary

from odin_lsp.config import FileRules
from odin_lsp.errors import PermissionDenied, ToolError
from odin_lsp.tasks import LARGE
from odin_lsp.workspace.buffers import Buffer, Buffers, Stamp, is_of_screen, moved, stamp_of, stamp_on_disk
from odin_lsp.workspace.cache import CachedFile, FileCache, runs_of
from odin_lsp.workspace.ignore import Ignore
from odin_lsp.workspace.loading import FilePart, LoadedFile, load_file, load_opened, load_part
from odin_lsp.workspace.name_list import FileNames
from odin_lsp.workspace.opening import CLOCK_TICK_NS, opened_file, where_it_would_be
from odin_lsp.workspace.roots import in_full, labels, outermost, shown_below, shown_in, vouches
from odin_lsp.workspace.scanning import read_bytes
from odin_lsp.workspace.text import Decoded, split_lines, utf8_size
from odin_lsp.workspace.uris import is_deep, is_relative, printable, refusal
from odin_lsp.workspace.views import FileText, Place, Window, note_of

_IS_INEXACT = re.compile("[\ufeff\ufffd]")
"""ripgrep shows marks of the encoding, and not what it cannot read."""


class Files:
    def __init__(
        self, roots: Sequence[Path], buffers: Buffers, cache: FileCache, rules: FileRules | None = None
    ) -> None:
        self.buffers = buffers
        self.cache = cache
        self.changes_heard = 0
        """How often somebody has said, or had reason to think, that files have changed on disk."""
        self.are_changes_told = False
        """Whether somebody tells of every change below the workspace folders."""
        self._in_use = WeakValueDictionary[tuple[Path, Stamp], Decoded]()
        """Large texts, however large, that somebody works with: they are not read again."""
        self.followers: list[Callable[[Collection[Path]], None]] = []
        """Told of files and folders that have changed on disk, come, gone, or been given another name."""
        self.configure(roots, rules or FileRules())

    def configure(self, roots: Sequence[Path], rules: FileRules) -> None:
        """From now on these folders are open, and these rules hold."""
        self.roots = tuple(dict.fromkeys(root.resolve() for root in roots))
        self.ignore = Ignore(self.roots, rules)
        self._labels = labels(self.search_roots)
        self._vouching = tuple(filter(vouches, self.roots))
        for path, _ in self.cache:
            if self.ignore.hides(path):
                self.cache.forget(path)

    @property
    def search_roots(self) -> list[Path]:
        """The folders without those that lie in others."""
        return outermost(self.roots)

    @property
    def vouching_roots(self) -> list[Path]:
        """Where may be searched without asking: the folders that vouch, without those that lie in others."""
        return outermost(self._vouching)

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
            real = where_it_would_be(Path(full))
        except OSError as error:
            reason = "a loop of symbolic links" if error.errno == errno.ELOOP else error.strerror
            raise ToolError(f"{printable(name)} cannot be opened: {reason}") from None
        if real != plain and self.ignore.hides(real):
            raise _hidden(name)
        return Place(real, self.contains(real))

    async def resolved(self, name: str) -> Place:
        """The same, and nobody waits for what lies deep."""
        return await asyncio.to_thread(self.resolve, name) if is_deep(name) else self.resolve(name)

    def absolute(self, name: str) -> str:
        """The name in full. A relative one is below the workspace folder and nothing else. Where there are several it
        begins with what `shown` calls the folder, or with something that only one of them has."""
        if not is_relative(name) or not self.roots:
            return name
        return in_full(self._labels, name, self._shows)

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
        return shown_in(self._labels, path)

    def shown_below(self, found: FileNames) -> Iterator[str]:
        """The same for all files of a listing."""
        return shown_below(self._labels, found)

    def read(self, path: Path, *, to_edit: bool = False) -> FileText:
        """What the user sees of the whole file: its buffer if it is open, else the disk. `path` must be canonical. What
        is to be edited may be larger than what is kept."""
        buffer = self._on_screen(path)
        if buffer is not None:
            note = note_of(buffer)
            self._hold_buffer(path, buffer, counts=not to_edit)
            return FileText(path, buffer.text, buffer.unsaved, note)
        if (used := self._used(path)) is not None:
            stamp, content = used
            self.cache.full(path, stamp, to_edit=to_edit)  # which may count as a use
        else:
            with opened_file(path) as (file, status):
                stamp = stamp_of(status)
                content = self.cache.full(path, stamp, to_edit=to_edit)
                if content is None:
                    content = load_opened(path, file, status, self._most, to_edit=to_edit)
                    self._keep(path, LoadedFile(content, stamp, status.st_size), counts=not to_edit)
        return FileText(path, content.text, note=note_of(self.buffers.of_path(path)), form=content)

    async def read_beside_loop(self, path: Path, *, to_edit: bool = False) -> FileText:
        """The same, and what is large on disk is read in a thread."""
        if (stamp := self._large_on_disk(path)) and (held := self.cache.full(path, stamp, to_edit=True)) is not None:
            self._in_use[path, stamp] = held
        elif stamp and self._used(path) is None:
            found = await asyncio.to_thread(load_file, path, self._most, to_edit=to_edit)
            if self._on_screen(path) is None:  # nobody has opened it meanwhile
                self._keep(path, found, counts=not to_edit)
                note = note_of(self.buffers.of_path(path))
                return FileText(path, found.content.text, note=note, form=found.content)
        return self.read(path, to_edit=to_edit)

    async def warm(self, path: Path) -> FileText | None:
        """What `read` would find, if it is large: whoever keeps it may call that, and nobody has to wait."""
        if self._large_on_disk(path):
            with suppress(ToolError):
                return await self.read_beside_loop(path, to_edit=True)
        return None

    def on_disk(self, path: Path) -> str:
        """The text as other programs see it, whatever is on the screen. Nothing of it is kept."""
        with opened_file(path) as (file, status):
            return load_opened(path, file, status, self._most, to_edit=True).text

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
        held = self._held_part(path, stamp_on_disk(path), start, count, counts=counts)
        return held or self._window_of_part(path, load_part(path, start, count, self._most), start, counts=counts)

    async def window_beside_loop(self, path: Path, start: int, count: int) -> Window:
        """The same, and what is large on disk is read in a thread."""
        if (stamp := self._large_on_disk(path)) is None:
            return self.window(path, start, count)
        if held := self._held_part(path, stamp, start, count, counts=True):
            return held
        part = await asyncio.to_thread(load_part, path, start, count, self._most)
        if self._on_screen(path) is not None:  # somebody has opened it meanwhile
            return self.window(path, start, count)
        return self._window_of_part(path, part, start, counts=True)

    async def hold(self, path: Path, found: Mapping[int, str], since_ns: int) -> Stamp | None:
        """Keep lines, by their numbers, that a search since then has found. Which text they are of; `None` if that is
        not known, because it changes just now."""
        buffer = self._on_screen(path)
        if buffer is not None:
            stamp, size, part = buffer.stamp, utf8_size(buffer.text), buffer.lines.part
        else:
            try:
                status = path.stat()
            except OSError:
                return None
            stamp, size, part = stamp_of(status), status.st_size, None
            if status.st_ctime_ns >= since_ns - CLOCK_TICK_NS and (lines := await self.lines_now(path)) is not None:
                part = partial(_part, lines)
        if part is not None and any(part(number, 1) != [line] for number, line in found.items()):
            return None
        exact = {number: line for number, line in found.items() if part is not None or not _IS_INEXACT.search(line)}
        self.cache.put_parts(path, stamp, size, runs_of(exact))
        return stamp

    def may_hold(self, path: Path, most: int) -> bool:
        """Whether the whole file may be held, and has no more than so many bytes."""
        buffer = self._on_screen(path)
        try:
            size = path.stat().st_size if buffer is None else utf8_size(buffer.text)
        except OSError:
            return False
        return size <= min(most, self.cache.settings.max_file_size)

    def note_change(self, path: Path, new_path: Path | None = None, edited: Sequence[tuple[int, int]] = ()) -> None:
        """Odin has changed the file, removed it, or given it another name. Of one that is too large to be held the
        edited lines are, counted from 1."""
        self.changes_heard += 1
        self._tell((path,) if new_path is None else (path, new_path))
        if new_path is not None:
            self.cache.move(path, new_path)
            return
        try:
            now = self.read(path, to_edit=True)
        except ToolError:
            self.cache.note_removed(path)
        else:
            if path not in self.cache and (stamp := self.stamp(path)) is not None:
                lines = split_lines(now.text)
                parts = {first: lines[first - 1 : last] for first, last in edited}
                self.cache.put_parts(path, stamp, utf8_size(now.text), parts, len(lines), counts=False)
            self.cache.note_written(path)

    async def held(self) -> list[tuple[Path, CachedFile]]:
        """What is held, as it is on the screen and, with `autoRefresh`, on disk now. That is no use of it."""
        before = dict(self.cache)
        stamps = await self.stamps(before)
        found = ((path, self.held_as(path, stamps[path], file)) for path, file in before.items())
        return [(path, file) for path, file in found if file is not None]

    def held_as(self, path: Path, stamp: Stamp | None, file: CachedFile | None) -> CachedFile | None:
        """What is held of a file that has this stamp, where that was held before somebody looked at the stamp."""
        now = self.cache.peek(path)
        if now is None or file is None or now is not file:
            return now
        is_looked_at = self.cache.settings.auto_refresh or self._on_screen(path) or is_of_screen(file.stamp)
        return self.cache.peek(path) if not is_looked_at or self._is_current(path, file, stamp) else None

    def stamp(self, path: Path) -> Stamp | None:
        """Which text the file has now; `None` if there is none."""
        buffer = self._on_screen(path)
        return stamp_on_disk(path) if buffer is None else buffer.stamp

    async def stamps(self, paths: Iterable[Path]) -> dict[Path, Stamp | None]:
        """Which texts these files have now. The disk is looked at in a thread: they may be many, and it slow."""
        buffers = {path: self._on_screen(path) for path in paths}
        asked = [path for path, buffer in buffers.items() if buffer is None]
        on_disk = await asyncio.to_thread(lambda: dict(zip(asked, map(stamp_on_disk, asked), strict=True)))
        return {path: on_disk[path] if buffer is None else buffer.stamp for path, buffer in buffers.items()}

    async def lines_now(self, path: Path) -> list[str] | None:
        """The file's lines as they are, without keeping anything; `None` if it cannot be read, or not be edited."""
        read = self.reader(path)
        return await asyncio.to_thread(read) if self._large_on_disk(path) else read()

    def reader(self, path: Path) -> Callable[[], list[str] | None]:
        """What finds the lines, as they are on the screen now or on disk then. It may be called in a thread."""
        if (buffer := self._on_screen(path)) is not None:
            return partial(split_lines, buffer.text)
        return partial(self._lines_on_disk, path)

    def _lines_on_disk(self, path: Path) -> list[str] | None:
        text = self._text_on_disk(path, to_edit=True)
        return None if text is None else split_lines(text)

    def heed(self, paths: Collection[Path]) -> None:
        """Somebody says that these have changed on disk. What is on the screen is known better."""
        self.changes_heard += 1
        self._tell(paths)
        for path in paths:
            if self._on_screen(path) is None:
                self.cache.forget(path)

    def _tell(self, paths: Collection[Path]) -> None:
        for follower in self.followers:
            follower(paths)

    async def recheck(self) -> list[Path]:
        """Compare what is held with the disk, after a command or when something says so; what has changed."""
        self.changes_heard += 1
        before = dict(self.cache)
        stamps = await self.stamps(before)
        now = ((path, self.cache.peek(path) is file) for path, file in before.items())
        changed = [path for path, is_same in now if is_same and not self._is_current(path, before[path], stamps[path])]
        changed += [it.path for it in self.buffers if it.path is not None and it.path not in changed and moved(it)]
        return changed

    def _text_on_disk(self, path: Path, *, to_edit: bool = False) -> str | None:
        if (used := self._used(path)) is not None:
            return used[1].text
        with suppress(ToolError), opened_file(path) as (file, status):
            content = self.cache.full(path, stamp_of(status), to_edit=True)
            return (content or load_opened(path, file, status, self._most, to_edit=to_edit)).text
        return None

    def _used(self, path: Path) -> tuple[Stamp, Decoded] | None:
        """The text that is on disk, if it is large and somebody works with it: the file is not even opened."""
        found = [(stamp, content) for (its, stamp), content in self._in_use.items() if its == path]
        now = stamp_on_disk(path) if found else None
        return next((it for it in found if it[0] == now), None)

    def _keep(self, path: Path, found: LoadedFile, *, counts: bool) -> None:
        if found.size >= LARGE or is_deep(str(path)):
            self._in_use[path, found.stamp] = found.content
        self.cache.put(path, found.stamp, found.size, found.content, counts=counts)

    @property
    def _most(self) -> int:
        return self.cache.settings.max_file_size

    def _large_on_disk(self, path: Path) -> Stamp | None:
        """Which text it is, if it is not on the screen and takes long to be read."""
        if self._on_screen(path) is not None:
            return None
        try:
            status = path.stat()
        except OSError:
            return None
        return stamp_of(status) if status.st_size >= LARGE or is_deep(str(path)) else None

    def _on_screen(self, path: Path) -> Buffer | None:
        buffer = self.buffers.of_path(path)
        return buffer if buffer is not None and buffer.synchronised else None

    def _is_current(self, path: Path, file: CachedFile, stamp: Stamp | None) -> bool:
        """Whether it is held as it is; what is on the screen is taken from there, what has changed on disk is not."""
        if file.stamp == stamp:
            return True
        if (buffer := self._on_screen(path)) is not None and not file.is_partial:
            self._hold_buffer(path, buffer, counts=False)
            return True
        self.cache.forget(path)
        return False

    def _hold_buffer(self, path: Path, buffer: Buffer, *, counts: bool) -> None:
        if self.cache.full(path, buffer.stamp, to_edit=not counts) is None:
            text = buffer.text
            self.cache.put(
                path, buffer.stamp, utf8_size(text), Decoded(text, "utf-8"), len(buffer.lines), counts=counts
            )

    def _window_of_buffer(self, path: Path, buffer: Buffer, start: int, count: int, *, counts: bool) -> Window:
        note = note_of(buffer)
        content, size, total = Decoded(buffer.text, "utf-8"), utf8_size(buffer.text), len(buffer.lines)
        some = buffer.lines.part(start, count)
        self.cache.put_parts(path, buffer.stamp, size, {start: some}, total, content, counts=counts)
        return Window(path, some, total, size, unsaved=buffer.unsaved, note=note, stamp=buffer.stamp)

    def _held_part(self, path: Path, stamp: Stamp | None, start: int, count: int, *, counts: bool) -> Window | None:
        held = self.cache.part(path, stamp, start, start + count - 1, counts=counts) if stamp is not None else None
        file = self.cache.peek(path)
        if held is None or file is None:
            return None
        note = note_of(self.buffers.of_path(path))
        return Window(path, held[0], held[1], file.size, note=note, stamp=stamp)

    def _window_of_part(self, path: Path, part: FilePart, start: int, *, counts: bool) -> Window:
        if not part.cut and (part.lines or part.content is not None):
            parts = {start: part.lines}
            self.cache.put_parts(path, part.stamp, part.size, parts, part.total, part.content, counts=counts)
        note = note_of(self.buffers.of_path(path))
        return Window(path, part.lines, part.total, part.size, part.cut, note=note, stamp=part.stamp)


def _hidden(name: str) -> PermissionDenied:
    return PermissionDenied(f"{printable(name)} is hidden: it looks like a secret, or the settings deny it")


def _part(lines: list[str], start: int, count: int) -> list[str]:
    return lines[start - 1 : start - 1 + count]
