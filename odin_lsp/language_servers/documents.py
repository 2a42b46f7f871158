"""What a server was told of texts: those on the screen, and those on disk that somebody has asked about."""

import asyncio
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odin_lsp.errors import ToolError
from odin_lsp.workspace.buffers import Stamp
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.search import Search

MAX_CHARACTERS = 4 * 1024 * 1024
"""Of a document that a server is shown."""
IDLE_SECONDS = 300.0
MAX_IDLE = 100
"""Documents that are open for the server alone, and for how long nobody has asked about them."""
MAX_NEW = 200
"""New files that are opened for it, so that it knows them at once: it may take its time to find them."""
LONG_LOOK, REST = 0.05, 10
"""After a look at the disk that took more seconds than that, the next one waits so many times as long, unless somebody
has heard of a change: of a large tree it would take longer than the answer."""
DATA = (".json",)
"""Files that programs import like their own."""
CREATED, CHANGED, DELETED = 1, 2, 3


@dataclass(slots=True)
class Sent:
    text: str
    version: int
    stamp: Stamp | None
    """Which text of the file it is."""
    changed_at: float
    used_at: float


class Documents:
    def __init__(
        self,
        root: Path,
        languages: Mapping[str, str],
        markers: Collection[str],
        files: Files,
        search: Search,
        notify: Callable[[str, Any], None],
    ) -> None:
        self._root = root
        self._languages = languages
        self._markers = markers
        self._files = files
        self._search = search
        self._notify = notify
        self._sent: dict[Path, Sent] = {}
        self._on_disk: dict[str, Stamp] | None = None
        self._looking = asyncio.Lock()
        self._heard = -1
        self._rests_until = 0.0
        self.changed_at = 0.0
        """When the server last heard that any text is another one."""
        self.wants_changes = True
        """As the server has said: whether it is told of changes, and of documents that were saved."""
        self.wants_saves = False

    @property
    def sent(self) -> Mapping[Path, Sent]:
        """What the server has: not a file that is none of its own, cannot be read, or is too large."""
        return self._sent

    def is_current(self, path: Path) -> bool:
        """Whether the server has the text as it stands now."""
        return path in self._sent and self._sent[path].stamp == self._files.stamp(path)

    async def look_at_disk(self) -> None:
        """Tell the server which files have come, changed and gone since the last look."""
        async with self._looking:
            began, heard = time.monotonic(), self._files.changes_heard
            if heard == self._heard and began < self._rests_until:
                return
            before = self._on_disk
            try:
                now, is_whole, is_shown = await self._search.stamps(self._root)
            except ToolError:
                return
            self._on_disk, self._heard = now if is_whole else {**(before or {}), **now}, heard
            took = time.monotonic() - began
            self._rests_until = time.monotonic() + REST * took if took > LONG_LOOK else 0.0
        if before is None:
            return
        named = {name: CHANGED if name in before else CREATED for name, it in now.items() if before.get(name) != it}
        named |= {name: DELETED for name in before if name not in now} if is_whole else {}
        kinds = {path: kind for name, kind in named.items() if is_shown(path := self._root / name)}
        if kinds:
            changes = [{"uri": path.as_uri(), "type": kind} for path, kind in kinds.items()]
            self._notify("workspace/didChangeWatchedFiles", {"changes": changes})
        if any(path not in self._sent and self._matters(path) for path in kinds):
            self.changed_at = time.monotonic()
        new = [path for path, kind in kinds.items() if kind == CREATED and self._is_meant(path)]
        self.bring(new[:MAX_NEW])

    def bring(self, wanted: Collection[Path]) -> None:
        """Show the server what is on the screen, and these files, as they stand now."""
        on_screen = {it.path for it in self._files.buffers if it.path and it.synchronised and self._is_meant(it.path)}
        now = time.monotonic()
        shown = {path for path in wanted if self._is_meant(path)} | on_screen
        for path in sorted(shown):
            self._show(path, now)
        idle = sorted((it.used_at, path) for path, it in self._sent.items() if path not in shown)
        for place, (used_at, path) in enumerate(reversed(idle)):
            if place >= MAX_IDLE or now - used_at > IDLE_SECONDS:
                self._close(path)
            elif not self.is_current(path):
                self._show(path, used_at)

    def _is_meant(self, path: Path) -> bool:
        return path.suffix.lower() in self._languages and path.is_relative_to(self._root)

    def _matters(self, path: Path) -> bool:
        """Whether it can make a difference to other files."""
        return self._is_meant(path) or path.name in self._markers or path.suffix in DATA

    def _show(self, path: Path, used_at: float) -> None:
        stamp, sent = self._files.stamp(path), self._sent.get(path)
        if sent is not None and sent.stamp == stamp:
            sent.used_at = used_at
            return
        try:
            file = self._files.read(path, to_edit=True)
        except ToolError:
            self._close(path)
            return
        if len(file.text) > MAX_CHARACTERS:
            self._close(path)
        elif sent is None:
            self._sent[path] = Sent(file.text, 1, stamp, time.monotonic(), used_at)
            language = self._languages[path.suffix.lower()]
            document = {"uri": path.as_uri(), "languageId": language, "version": 1, "text": file.text}
            self._notify("textDocument/didOpen", {"textDocument": document})
            self.changed_at = self._sent[path].changed_at if file.unsaved else self.changed_at
        else:
            self._change(path, sent, file.text)
            sent.stamp, sent.used_at = stamp, used_at
            if self.wants_saves and not file.unsaved:
                self._notify("textDocument/didSave", {"textDocument": {"uri": path.as_uri()}, "text": file.text})

    def _change(self, path: Path, sent: Sent, text: str) -> None:
        """By the whole text, which every server takes: one that wants parts, too."""
        if text == sent.text or not self.wants_changes:
            return
        self.changed_at = time.monotonic()
        sent.text, sent.version, sent.changed_at = text, sent.version + 1, self.changed_at
        document = {"uri": path.as_uri(), "version": sent.version}
        self._notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def _close(self, path: Path) -> None:
        if self._sent.pop(path, None) is not None:
            self._notify("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})
