"""File events where the client sends none. Only the folders that matter are watched, whatever the size of the tree."""

import asyncio
from collections.abc import Callable, Collection
from pathlib import Path


class Watcher:
    def __init__(self, folders: Callable[[], Collection[Path]], on_change: Callable[[set[Path]], None]) -> None:
        self._folders = folders
        self._on_change = on_change
        self._stale = asyncio.Event()

    def look_again(self) -> None:
        """The folders to watch may be others now."""
        self._stale.set()

    async def run(self) -> None:
        """Watch until cancelled."""
        from watchfiles import awatch  # pyright: ignore[reportUnknownVariableType]

        while True:
            self._stale.clear()
            folders = sorted({folder for folder in self._folders() if folder.is_dir()})
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
            if sorted({folder for folder in self._folders() if folder.is_dir()}) != watched:
                stop.set()
                return
