"""Changes on the disk are told where they matter, and where that is may change."""

import asyncio
from contextlib import suppress

import pytest

from odin_lsp.workspace.watch import Watcher


class Watched:
    """Folders that are watched, and what was told of them."""

    def __init__(self, *folders):
        self.folders = list(folders)
        self.told = set()
        self.watcher = Watcher(lambda: self.folders, self.tell)
        self._stirred = asyncio.Event()

    def tell(self, paths):
        self.told |= paths
        self._stirred.set()

    async def hears_of(self, path):
        """Write it until that is told: a watcher takes a moment to begin."""
        async with asyncio.timeout(20):
            while path not in self.told:
                path.write_text("x")
                self._stirred.clear()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stirred.wait(), 0.3)


@pytest.fixture
async def watching():
    tasks = []

    def watching(*folders):
        watched = Watched(*folders)
        tasks.append(asyncio.create_task(watched.watcher.run()))
        return watched

    yield watching
    for task in tasks:
        task.cancel()
    assert [type(it) for it in await asyncio.gather(*tasks, return_exceptions=True)] == [asyncio.CancelledError] * len(
        tasks
    )


@pytest.fixture
def folders(tmp_path):
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        (folder / "below").mkdir(parents=True)
    return folders


async def test_what_changes_in_a_watched_folder_is_told_and_nothing_else(watching, folders):
    one, two = folders
    watched = watching(one)
    await watched.hears_of(one / "first")
    for path in (two / "elsewhere", one / "below" / "deeper"):
        path.write_text("x")
    await watched.hears_of(one / "last")

    assert watched.told == {one / "first", one / "last"}


async def test_the_folders_may_be_others_later(watching, folders):
    one, two = folders
    watched = watching(one)
    await watched.hears_of(one / "first")

    watched.folders = [two]
    watched.watcher.look_again()
    await watched.hears_of(two / "second")

    (one / "third").write_text("x")
    await watched.hears_of(two / "fourth")
    assert one / "third" not in watched.told


async def test_looking_again_at_the_same_folders_misses_nothing(watching, folders):
    watched = watching(folders[0])
    await watched.hears_of(folders[0] / "first")

    watched.watcher.look_again()
    await watched.hears_of(folders[0] / "second")


async def test_while_there_is_nothing_to_watch_it_waits(watching, folders, tmp_path):
    watched = watching(tmp_path / "none")
    await asyncio.sleep(0)

    watched.folders = [tmp_path / "none", folders[0]]
    watched.watcher.look_again()

    await watched.hears_of(folders[0] / "first")
