import os

import pytest

from odin_lsp.errors import PermissionDenied, ToolError
from odin_lsp.workspace.buffers import Buffers, Change
from odin_lsp.workspace.cache import CacheLimits, FileCache
from odin_lsp.workspace.files import Files


@pytest.fixture
def files(tmp_path):
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.txt").write_text("disk")
    return Files([root], Buffers(), FileCache())


def test_an_open_document_is_read_as_it_is_on_the_screen(files):
    path = files.roots[0] / "a.txt"
    files.buffers.open(path.as_uri(), 1, "disk")
    files.buffers.change(path.as_uri(), 2, [Change("typed")])

    file = files.read(files.resolve(str(path)))

    assert (file.text, file.unsaved) == ("typed", True)


def test_a_second_read_of_an_unchanged_file_comes_from_the_cache_and_a_changed_one_from_disk(files, monkeypatch):
    path = files.resolve(str(files.roots[0] / "a.txt"))
    files.read(path)
    monkeypatch.setattr("odin_lsp.workspace.files.decode", lambda data: pytest.fail("read again"))
    assert files.read(path).text == "disk"
    monkeypatch.undo()

    path.write_text("changed")

    assert files.read(path).text == "changed"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("a.txt", "is not an absolute path; did you mean"),
        ("", "the path is missing"),
        ("undefined", "the path is missing"),
        ("/a\0b", "NUL"),
    ],
)
def test_a_path_that_cannot_be_meant_says_why(files, name, problem):
    with pytest.raises(ToolError, match=problem):
        files.resolve(name)


@pytest.mark.parametrize("name", ["../outside.txt", "link.txt", "folder/secret.txt", "../ws-evil/a.txt", "dangling"])
def test_nothing_outside_of_the_workspace_is_reached(files, tmp_path, name):
    outside = tmp_path / "outside.txt"
    outside.write_text("secret")
    root = files.roots[0]
    (root / "link.txt").symlink_to(outside)
    (root / "folder").symlink_to(tmp_path)
    (root / "dangling").symlink_to(tmp_path / "nothing")

    with pytest.raises(PermissionDenied, match="outside the workspace"):
        files.resolve(str(root / name))


@pytest.mark.parametrize("name", [".env", ".env.local", "server.pem", "id_rsa", ".ENV", "sub/.aws/config"])
def test_secrets_are_not_read(files, name):
    with pytest.raises(PermissionDenied, match="may hold secrets"):
        files.resolve(str(files.roots[0] / name))


def test_an_example_of_a_secret_is_none(files):
    (files.roots[0] / ".env.example").write_text("KEY=")

    assert files.read(files.resolve(str(files.roots[0] / ".env.example"))).text == "KEY="


def test_special_files_are_refused_at_once(files):
    root = files.roots[0]
    os.mkfifo(root / "fifo")
    (root / "loop").symlink_to(root / "loop")
    (root / "binary").write_bytes(b"\x7fELF\0\0")

    for name, problem in [
        ("fifo", "not a regular file"),
        ("binary", "not text"),
        (".", "is a directory"),
        ("none", "does not exist"),
    ]:
        with pytest.raises(ToolError, match=problem):
            files.read(files.resolve(str(root / name)))
    with pytest.raises(ToolError):
        files.resolve(str(root / "loop"))
    with pytest.raises(ToolError, match="cannot be opened"):
        files.resolve(str(root / ("x" * 300)))


def test_the_cache_keeps_to_its_bounds(tmp_path):
    cache = FileCache(CacheLimits(max_cache_size=10, max_file_size=6, max_entries=2))
    from odin_lsp.workspace.text import Decoded

    for name, size in [("a", 4), ("b", 4), ("c", 4), ("big", 7)]:
        cache.put(tmp_path / name, (1, size, 1), b"x" * size, Decoded("x" * size, "utf-8"))

    assert [path.name for path, _ in cache.files()] == ["b", "c"]
