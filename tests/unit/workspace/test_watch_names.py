"""The watcher: names that it cannot take do not end it."""

import asyncio
import os

import pytest

from odin_lsp.tasks import Tasks
from odin_lsp.workspace.watch import Watcher

NOT_UTF_8 = os.fsdecode(b"caf\xe9")


@pytest.fixture
async def watching(tmp_path):
    """Whether a change of a file is noticed, with these folders watched."""
    tasks = Tasks()

    async def watching(file, *folders):
        seen = asyncio.Event()
        watcher = Watcher(lambda: folders, lambda paths: seen.set() if file in paths else None)
        tasks.keep(watcher.run, "the watcher")
        async with asyncio.timeout(60):
            while not seen.is_set():
                (tmp_path / NOT_UTF_8).touch()
                file.write_text("changed")
                await asyncio.wait([asyncio.create_task(seen.wait())], timeout=0.05)
        return True

    yield watching
    await tasks.close()


async def test_a_folder_whose_name_is_not_utf_8_is_left_out(watching, tmp_path, caplog):
    (tmp_path / "strange" / NOT_UTF_8).mkdir(parents=True)
    (tmp_path / "plain").mkdir()

    assert await watching(tmp_path / "plain" / "file", tmp_path / "strange" / NOT_UTF_8, tmp_path / "plain")
    assert caplog.text.count("is not watched") == 1


async def test_a_file_whose_name_is_not_utf_8_ends_nothing(watching, tmp_path):
    assert await watching(tmp_path / "file", tmp_path)
