"""What is written is whole, as it was given, and nowhere else."""

import errno
import os
import stat

import pytest

from odin_lsp.errors import ToolError
from odin_lsp.workspace import disk
from odin_lsp.workspace.disk import create_text, delete, read_text, rename, write_text
from odin_lsp.workspace.text import Decoded


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "ws"
    root.mkdir()
    return root


@pytest.fixture
def outside(tmp_path):
    path = tmp_path / "outside.txt"
    path.write_text("outside")
    return path


def plain(text):
    return Decoded(text, "utf-8")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    ("content", "data"),
    [
        (Decoded("a\r\nb", "utf-8"), b"a\r\nb"),
        (Decoded("é\n", "utf-8", bom=True), b"\xef\xbb\xbf\xc3\xa9\n"),
        (Decoded("a\r\n", "utf-16-le", bom=True), b"\xff\xfea\0\r\0\n\0"),
        (Decoded("a\r", "utf-16-be", bom=True), b"\xfe\xff\0a\0\r"),
        (Decoded("", "utf-8"), b""),
    ],
    ids=["CRLF without a final newline", "BOM", "UTF-16 LE", "UTF-16 BE", "empty"],
)
def test_text_is_written_byte_for_byte_and_read_back(root, content, data):
    written, created = root / "written.txt", root / "created.txt"
    written.write_text("before")

    write_text(written, content)
    create_text(created, content)

    assert written.read_bytes() == created.read_bytes() == data
    assert read_text(written) == content
    assert names(root) == ["created.txt", "written.txt"]


def test_a_text_is_written_also_if_the_old_one_cannot_be_removed_which_goes_later(root, monkeypatch):
    path = root / "a.txt"
    path.write_text("before")
    with monkeypatch.context() as broken:
        broken.setattr(os, "unlink", refuse)
        write_text(path, plain("after"), expected="before")

    assert path.read_text() == "after"
    write_text(path, plain("later"), expected="after")
    assert (path.read_text(), names(root)) == ("later", ["a.txt"])


def test_a_text_stays_if_nobody_can_tell_what_it_was_meanwhile(root, monkeypatch):
    path = root / "a.txt"
    path.write_text("before")
    read = iter([disk._content])
    with monkeypatch.context() as broken:
        broken.setattr(disk, "_content", lambda descriptor: next(read, refuse)(descriptor))
        with pytest.raises(ToolError):
            write_text(path, plain("after"))

    assert (path.read_text(), names(root)) == ("before", ["a.txt"])


def refuse(*_, **__):
    raise OSError(errno.EIO, "broken")


def test_the_mode_stays(root):
    path = root / "run.sh"
    path.write_text("before")
    path.chmod(0o755)

    write_text(path, plain("after"))

    assert stat.S_IMODE(path.stat().st_mode) == 0o755


def test_a_new_file_has_the_mode_that_new_files_have(root):
    (root / "other").touch()

    create_text(root / "new", plain(""))

    assert (root / "new").stat().st_mode == (root / "other").stat().st_mode


def test_a_read_only_file_is_refused_and_stays_read_only(root):
    path = root / "a.txt"
    path.write_text("before")
    path.chmod(0o444)

    with pytest.raises(ToolError, match="is read-only; ask the user"):
        write_text(path, plain("after"))

    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("before", 0o444)
    assert names(root) == ["a.txt"]


def test_a_link_that_was_swapped_in_is_not_followed(root, outside):
    path = root / "a.txt"
    path.symlink_to(outside)

    with pytest.raises(ToolError, match="has become a symbolic link"):
        write_text(path, plain("after"))
    with pytest.raises(ToolError, match="has become a symbolic link"):
        read_text(path)

    assert outside.read_text() == "outside"


def test_a_folder_that_became_a_link_is_not_followed(root, outside):
    (root / "folder").symlink_to(outside.parent)
    path = root / "folder" / "outside.txt"
    new = root / "folder" / "new" / "file.txt"

    for attempt in (
        lambda: read_text(path),
        lambda: write_text(path, plain("after")),
        lambda: create_text(new, plain("after")),
        lambda: delete(path, recursive=True),
        lambda: rename(path, root / "stolen.txt"),
    ):
        with pytest.raises(ToolError, match="a folder on its path is a link"):
            attempt()

    assert outside.read_text() == "outside"
    assert names(root) == ["folder"]
    assert names(outside.parent) == ["outside.txt", "ws"]


def test_a_hard_link_elsewhere_keeps_its_text(root, outside):
    path = root / "a.txt"
    os.link(outside, path)

    write_text(path, plain("after"))

    assert (path.read_text(), outside.read_text()) == ("after", "outside")


def test_only_a_file_that_is_there_can_be_written(root):
    (root / "folder").mkdir()
    os.mkfifo(root / "pipe")

    for name, reason in {
        "folder": "is a directory",
        "pipe": "is not a regular file",
        "nothing": "does not exist; look for it, or create it",
        "no/folder": "does not exist",
        "pipe/file": "is a link or no folder",
    }.items():
        with pytest.raises(ToolError, match=reason):
            write_text(root / name, plain("after"))

    assert names(root) == ["folder", "pipe"]


def test_what_is_not_text_is_not_read_and_what_is_not_unicode_not_written(root):
    path = root / "a.bin"
    path.write_bytes(b"\xff\x00")

    with pytest.raises(ToolError, match="leave it alone"):
        read_text(path)
    with pytest.raises(ToolError, match="not valid Unicode"):
        write_text(path, plain("\ud800"))

    assert path.read_bytes() == b"\xff\x00"


def test_a_new_file_gets_its_folders(root):
    create_text(root / "a" / "b" / "c.txt", plain("new"))

    assert (root / "a" / "b" / "c.txt").read_text() == "new"


def test_nothing_is_created_where_something_is(root, outside):
    (root / "file").write_text("before")
    (root / "folder").mkdir()
    (root / "link").symlink_to(outside)
    (root / "dangling").symlink_to(outside.with_name("absent"))

    for name in ("file", "folder", "link", "dangling"):
        with pytest.raises(ToolError, match="exists already; edit it, or choose another name"):
            create_text(root / name, plain("after"))

    assert (root / "file").read_text() == "before"
    assert outside.read_text() == "outside"
    assert not outside.with_name("absent").exists()


def test_a_folder_with_something_in_it_is_deleted_only_recursively(root, outside):
    folder = root / "folder"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "link").symlink_to(outside.parent)

    with pytest.raises(ToolError, match="is not empty; delete it recursively"):
        delete(folder, recursive=False)
    assert (folder / "inner" / "link").is_symlink()

    delete(folder, recursive=True)
    assert names(root) == []
    assert outside.read_text() == "outside"


@pytest.mark.parametrize("recursive", [False, True])
def test_files_links_and_empty_folders_are_deleted(root, outside, recursive):
    (root / "file").touch()
    (root / "folder").mkdir()
    (root / "link").symlink_to(outside)
    (root / "link to a folder").symlink_to(outside.parent)

    for name in names(root):
        delete(root / name, recursive=recursive)
    with pytest.raises(ToolError, match="does not exist"):
        delete(root / "nothing", recursive=recursive)

    assert names(root) == []
    assert outside.read_text() == "outside"


def test_files_links_and_folders_are_renamed(root, outside):
    (root / "file").write_text("text")
    (root / "folder").mkdir()
    (root / "folder" / "inner").touch()
    (root / "link").symlink_to(outside)

    for name in names(root):
        rename(root / name, root / "new" / name)

    assert names(root) == ["new"]
    assert (root / "new" / "file").read_text() == "text"
    assert (root / "new" / "folder" / "inner").exists()
    assert (root / "new" / "link").readlink() == outside


def test_nothing_is_renamed_over_something(root, outside):
    (root / "file").write_text("text")
    (root / "folder").mkdir()
    (root / "taken").write_text("taken")
    (root / "taken folder").mkdir()
    (root / "dangling").symlink_to(outside.with_name("absent"))

    for name in ("file", "folder"):
        for taken in ("taken", "taken folder", "dangling"):
            with pytest.raises(ToolError, match="exists already"):
                rename(root / name, root / taken)
    with pytest.raises(ToolError, match="cannot be moved into itself"):
        rename(root / "folder", root / "folder" / "new" / "inner")
    with pytest.raises(ToolError, match="nothing does not exist"):
        rename(root / "nothing", root / "new" / "name")

    assert names(root) == ["dangling", "file", "folder", "taken", "taken folder"]
    assert (root / "taken").read_text() == "taken"
    assert names(root / "folder") == []


def test_a_new_text_is_on_the_disk_before_it_has_the_name(root, monkeypatch):
    path = root / "a.txt"
    path.write_text("before")
    synced = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append((os.fstat(descriptor).st_ino, path.read_text())))

    write_text(path, plain("after"))

    assert synced == [(path.stat().st_ino, "before")]
