"""File events where the client sends none. Only the folders that matter are watched, whatever the size of the tree."""

import asyncio
import logging
from collections.abc import Callable, Collection
from importlib import import_module
from pathlib import Path

from odin_lsp.workspace.uris import printable

log = logging.getLogger("odin.watch")


class Watcher:
    def __init__(self, folders: Callable[[], Collection[Path]], on_change: Callable[[set[Path]], None]) -> None:
        self._folders = folders
        self._on_change = on_change
        self._stale = asyncio.Event()
        self._unwatched: set[Path] = set()
        self._has_run = False

    def look_again(self) -> None:
        """The folders to watch may be others now."""
        self._stale.set()

    async def run(self) -> None:
        """Watch until cancelled. Whatever it fails at, it can be run again: then every file may have changed."""
        await asyncio.to_thread(import_module, "watchfiles")
        from watchfiles import awatch  # pyright: ignore[reportUnknownVariableType]

        if self._has_run:
            self._on_change({file for folder in self._watchable() for file in folder.iterdir()})
        self._has_run = True
        while True:
            self._stale.clear()
            folders = self._watchable()
            stop = asyncio.Event()
            renewal = asyncio.create_task(self._stop_when_stale(stop, folders))
            try:
                if not folders:
                    await stop.wait()
                    continue
                async for changes in awatch(
                    *folders, stop_event=stop, recursive=False, debounce=100, step=20, ignore_permission_denied=True
                ):
                    self._on_change({Path(name) for _, name in changes})
            finally:
                renewal.cancel()

    async def _stop_when_stale(self, stop: asyncio.Event, watched: list[Path]) -> None:
        while True:
            await self._stale.wait()
            self._stale.clear()
            if self._watchable() != watched:
                stop.set()
                return

    def _watchable(self) -> list[Path]:
        folders = {folder for folder in self._folders() if folder.is_dir()}
        strange = {folder for folder in folders if not _is_unicode(folder)}
        for folder in strange - self._unwatched:
            log.warning("%s is not watched: its name is not UTF-8", printable(str(folder)))
        self._unwatched |= strange
        return sorted(folders - strange)


def _is_unicode(path: Path) -> bool:
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True
