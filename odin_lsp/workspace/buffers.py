"""The editor's open documents, as they are on the screen."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from odin_lsp.workspace.text import Position, PositionEncoding, line_starts, offset_at


@dataclass(frozen=True, slots=True)
class Change:
    """One step of a `didChange`; without a start it is the whole new text."""

    text: str
    start: Position | None = None
    end: Position | None = None


@dataclass(slots=True)
class Buffer:
    uri: str
    path: Path | None
    """None for documents that are no file."""
    version: int
    text: str
    unsaved: bool = False


class Buffers:
    def __init__(self) -> None:
        self.encoding: PositionEncoding = "utf-16"
        self._by_uri: dict[str, Buffer] = {}
        self._by_path: dict[Path, Buffer] = {}

    def open(self, uri: str, version: int, text: str) -> None:
        self.close(uri)
        path = path_of(uri)
        buffer = self._by_uri[uri] = Buffer(uri, path, version, text, unsaved=_differs(path, text))
        if path is not None:
            self._by_path[path.resolve()] = buffer

    def change(self, uri: str, version: int, changes: list[Change]) -> None:
        buffer = self._by_uri.get(uri)
        if buffer is None:
            return
        for change in changes:
            buffer.text = self._changed(buffer.text, change)
        buffer.version = version
        buffer.unsaved = True

    def save(self, uri: str) -> None:
        if buffer := self._by_uri.get(uri):
            buffer.unsaved = False

    def close(self, uri: str) -> None:
        buffer = self._by_uri.pop(uri, None)
        if buffer is not None and buffer.path is not None:
            self._by_path.pop(buffer.path.resolve(), None)

    def of_uri(self, uri: str) -> Buffer | None:
        return self._by_uri.get(uri)

    def of_path(self, path: Path) -> Buffer | None:
        """`path` must be resolved."""
        return self._by_path.get(path)

    def unsaved_below(self, root: Path) -> list[tuple[Path, Buffer]]:
        return [(path, it) for path, it in self._by_path.items() if it.unsaved and path.is_relative_to(root)]

    def _changed(self, text: str, change: Change) -> str:
        if change.start is None or change.end is None:
            return change.text
        starts = line_starts(text)
        start = offset_at(text, starts, change.start, self.encoding)
        end = max(start, offset_at(text, starts, change.end, self.encoding))
        return text[:start] + change.text + text[end:]


def path_of(uri: str) -> Path | None:
    """The file that `uri` names; `None` for other schemes, other hosts and names that no file can have."""
    parts = urlsplit(uri)
    name = unquote(parts.path, errors="strict") if _decodable(parts.path) else "\0"
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or "\0" in name or not name.startswith("/"):
        return None
    return Path(name)


def _decodable(quoted: str) -> bool:
    try:
        unquote(quoted, errors="strict")
    except UnicodeDecodeError:
        return False
    return True


def _differs(path: Path | None, text: str) -> bool:
    """Editors open documents that were left unsaved: what they send is not always what is on disk."""
    try:
        return path is not None and path.read_bytes() != text.encode("utf-8", "surrogatepass")
    except OSError:
        return True
