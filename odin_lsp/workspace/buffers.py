"""The editor's open documents, as they are on the screen."""

import asyncio
import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from odin_lsp.loop_share import is_event_loop
from odin_lsp.reading import start_of
from odin_lsp.tasks import LARGE, Tasks
from odin_lsp.workspace.text import Change, Lines, PositionEncoding, decode, typed_together, whole_lines_in_parts
from odin_lsp.workspace.uris import document_key, path_of

Stamp = tuple[int, int, int]
"""Of a file: its time, size and number. Of a document: its file's time, its own number, below 0, and its changes."""
MAX_COMPARED = 64 * 1024 * 1024


def stamp_of(status: os.stat_result) -> Stamp:
    """Changes whenever the file does, nearly; a hash decides where it has changed."""
    return status.st_mtime_ns, status.st_size, status.st_ino


def stamp_on_disk(path: Path) -> Stamp | None:
    """None if there is no file."""
    try:
        return stamp_of(os.stat(path))  # noqa: PTH116 - of every file that was shown, in every step
    except OSError:
        return None


def is_of_screen(stamp: Stamp) -> bool:
    return stamp[1] < 0


@dataclass(slots=True)
class OpenCell:
    """A cell of a notebook on the screen: a document of its own."""

    uri: str
    kind: str
    version: int
    lines: Lines
    place: int | None = None
    """Which cell of the file it was; none: it is new."""


@dataclass(slots=True)
class Buffer:
    uri: str
    path: Path | None
    """Canonical; `None` for documents that are no file."""
    version: int
    lines: Lines
    unsaved: bool
    synchronised: bool = True
    """False once the editor's messages did not fit together: what is on the screen is not known."""
    disk: "DiskText | None" = None
    """What was on disk when the editor last read or wrote it."""
    change: Change | None = None
    """The step that led to this text, while the watchers are told of it."""
    cells: list[OpenCell] | None = None
    """Of a notebook, which is shown as these; its text is what they make of the file."""
    steps: int = 0
    """Changes since it was opened."""
    number: int = field(default_factory=count(1).__next__)

    @property
    def text(self) -> str:
        return self.lines.text

    @property
    def is_notebook(self) -> bool:
        return self.cells is not None

    @property
    def stamp(self) -> Stamp:
        """Changes whenever the text does, and when it is saved."""
        return self.disk.stamp[0] if self.disk else 0, -self.number, self.steps


@dataclass(frozen=True, slots=True)
class DiskText:
    stamp: Stamp
    digest: bytes | None = field(repr=False)
    """None: it is still being looked at."""


class Buffers:
    def __init__(self) -> None:
        self.encoding: PositionEncoding = "utf-16"
        self._by_key: dict[str, Buffer] = {}
        self._by_path: dict[Path, Buffer] = {}
        self.watchers: list[Callable[[Buffer], None]] = []
        """Called after each step of a change, and when a document is opened, found to be saved, saved or closed."""
        self._looking = Tasks()

    def __iter__(self) -> Iterator[Buffer]:
        return iter(tuple(self._by_key.values()))

    def open(self, uri: str, version: int, text: str) -> None:
        """A second `didOpen` is taken at its word: what it says is on the screen."""
        buffer = self._put(uri, version, text)
        if not self._look_beside_loop(buffer):
            buffer.disk = look(buffer.path)
            buffer.unsaved = buffer.disk is None or buffer.disk.digest != digest_of(text)
        self._tell(buffer)

    def open_notebook(self, uri: str, version: int, cells: list[OpenCell], text: str | None) -> None:
        """`text`: of the whole, if that is known."""
        buffer = self._put(uri, version, text or "")
        buffer.cells, buffer.synchronised = cells, text is not None
        buffer.disk = look(buffer.path)
        buffer.unsaved = buffer.disk is None or buffer.disk.digest != digest_of(buffer.text)
        self._tell(buffer)

    def _put(self, uri: str, version: int, text: str) -> Buffer:
        self.close(uri)
        name = path_of(uri)
        path = Path(os.path.realpath(name)) if name is not None else None
        buffer = Buffer(uri, path, version, Lines(text), unsaved=True)
        self._by_key[document_key(uri)] = buffer
        if path is not None:
            self._by_path[path] = buffer
        return buffer

    def change(self, uri: str, version: int, changes: Sequence[Change]) -> None:
        """A change of what was never opened: the editor has the document open, and nobody knows its text."""
        buffer = self.of_uri(uri)
        if buffer is None:
            buffer = self._put(uri, version - 1, "")
            buffer.synchronised, buffer.disk = False, look(buffer.path)
        in_order = version > buffer.version
        changes = typed_together(changes, self.encoding)
        for change in changes:
            if change.start is None:
                buffer.synchronised = in_order = True
            elif not in_order or (change.end is not None and change.end < change.start):
                buffer.synchronised = False
            if buffer.synchronised:
                buffer.lines.apply(change, self.encoding)
            buffer.unsaved = True
            buffer.steps += 1
            if change is changes[-1]:
                buffer.version = version
            buffer.change = change
            self._tell(buffer)
            buffer.change = None

    def lose(self, uri: str, version: int) -> None:
        """Nobody knows any more what is on the screen."""
        if buffer := self.of_uri(uri):
            buffer.version, buffer.synchronised = version, False
            buffer.steps += 1
            self._tell(buffer)

    def save(self, uri: str) -> None:
        if buffer := self.of_uri(uri):
            buffer.unsaved = False
            if not self._look_beside_loop(buffer):
                buffer.disk = look(buffer.path)
            self._tell(buffer)

    def close(self, uri: str) -> None:
        buffer = self._by_key.pop(document_key(uri), None)
        if buffer is not None and buffer.path is not None and self._by_path.get(buffer.path) is buffer:
            del self._by_path[buffer.path]
            self._tell(buffer)

    async def settled(self) -> None:
        """Until all large documents are compared with their files."""
        await self._looking.settled()

    def _look_beside_loop(self, buffer: Buffer) -> bool:
        """Whether its file is large, and therefore looked at in a thread. Until that is done a document that was opened
        is taken for unsaved: its text on the screen is right in any case."""
        status = _status(buffer.path)
        if buffer.path is None or status is None or status.st_size < LARGE or not is_event_loop():
            return False
        buffer.disk = DiskText(stamp_of(status), None)
        self._looking.begin(self._look(buffer, buffer.path, buffer.disk))
        return True

    async def _look(self, buffer: Buffer, path: Path, disk: DiskText) -> None:
        text, steps = buffer.text, buffer.steps
        found, digest, lines = await asyncio.to_thread(
            lambda: (look(path), digest_of(text), whole_lines_in_parts(text))
        )
        buffer.lines.take(text, lines)
        if buffer.disk is not disk or self.of_uri(buffer.uri) is not buffer:
            return
        if found is not None and found.stamp == disk.stamp:
            buffer.disk = found
            if buffer.unsaved and buffer.steps == steps and found.digest == digest:
                buffer.unsaved = False
                self._tell(buffer)

    def _tell(self, buffer: Buffer) -> None:
        for watcher in self.watchers:
            watcher(buffer)

    def of_uri(self, uri: str) -> Buffer | None:
        return self._by_key.get(document_key(uri))

    def of_path(self, path: Path) -> Buffer | None:
        """`path` must be canonical."""
        return self._by_path.get(path)

    def differing_below(self, root: Path) -> list[Buffer]:
        """Documents whose text is not that of their file, at or below `root`."""
        return [
            buffer
            for path, buffer in self._by_path.items()
            if buffer.synchronised and (buffer.unsaved or moved(buffer)) and path.is_relative_to(root)
        ]


def moved(buffer: Buffer) -> bool:
    """The file has changed under the document: saving it would overwrite what somebody else wrote."""
    if buffer.path is None or buffer.disk is None:
        return False
    status = _status(buffer.path)
    if status is None or stamp_of(status) == buffer.disk.stamp:
        return False
    now = look(buffer.path)
    if now is not None and now.digest in (buffer.disk.digest, digest_of(buffer.text)):
        buffer.disk = now
        return False
    return True


def _status(path: Path | None) -> os.stat_result | None:
    try:
        return path.stat() if path else None
    except OSError:
        return None


def look(path: Path | None) -> DiskText | None:
    """What is on disk, if it is text."""
    if path is None:
        return None
    try:
        status = path.stat()
        stamp = stamp_of(status)
        data = start_of(path, MAX_COMPARED + 1) if status.st_size <= MAX_COMPARED else None
        content = decode(data) if data is not None else None
    except OSError:
        return None
    return DiskText(stamp, digest_of(content.text)) if content else None


def digest_of(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass")).digest()
