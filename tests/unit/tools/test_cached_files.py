"""Which files are in memory, and what lists say of it."""

import hashlib
import os

import pytest

from odin_lsp.config import CacheSettings
from odin_lsp.workspace.cache import FileCache


@pytest.fixture
def listed(use, root):
    """The lines of both lists that name a file."""

    async def listed(name):
        lists = await use("LS", path=str(root)), await use("Glob", pattern="*")
        return [line for output in lists for line in output.data.splitlines() if name in line]

    return listed


async def test_a_list_marks_what_was_read_and_reads_nothing_itself(use, context, root, listed):
    assert [line.endswith("notes.md") for line in await listed("notes.md")] == [True, True]
    assert list(context.files.cache) == []

    await use("Read", file_path=str(root / "notes.md"))

    assert [line.endswith("notes.md (cached)") for line in await listed("notes.md")] == [True, True]


async def test_files_of_one_age_are_listed_by_their_names(use, root):
    for name in ("b.md", "a.md", "c.md"):
        (root / name).touch()
        os.utime(root / name, (1, 1))

    found = (await use("Glob", pattern="?.md")).data.splitlines()

    assert [line.rpartition("/")[2] for line in found] == ["a.md", "b.md", "c.md"]


async def test_a_file_has_one_entry_whatever_it_is_called(use, context, root):
    (root / "link.md").symlink_to("notes.md")

    for name in ("notes.md", "link.md", "src/../notes.md"):
        await use("Read", file_path=str(root / name))

    [(path, file)] = context.files.cache
    assert path == root / "notes.md"
    assert file.content_hash == hashlib.sha256(path.read_bytes()).hexdigest()


async def test_of_a_file_that_is_too_large_parts_are_kept_and_it_is_called_so(use, context, root):
    context.files.cache = FileCache(CacheSettings(maxFileSize=10))

    await use("Read", file_path=str(root / "notes.md"), limit=1)

    [(_, file)] = context.files.cache
    assert (file.is_partial, file.is_truncated, [it.key for it in file.segments]) == (True, True, ["1-1"])
