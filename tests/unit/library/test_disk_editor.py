"""The editor port without an editor: what is done on disk."""

import pytest

from odin_lsp.library.disk_editor import DiskEditor
from odin_lsp.ports import FileChange, Position, Range, TextReplacement

NOWHERE = Range(Position(0, 0), Position(0, 0))


def edit(path, *replacements):
    edits = tuple(TextReplacement(Range(Position(*start), Position(*end)), text) for start, end, text in replacements)
    return FileChange(uri=path.as_uri(), version=None, operation="edit", edits=edits)


@pytest.mark.parametrize(
    ("before", "replacements", "after"),
    [
        ("a\nb\nc\n", [((2, 0), (3, 0), "C\n"), ((0, 0), (1, 0), "")], "b\nC\n"),
        ("😀 helo", [((0, 3), (0, 7), "hello")], "😀 hello"),
        ("a\r\nb", [((1, 0), (1, 1), "c\r\nd")], "a\r\nc\r\nd"),
        ("a", [((0, 0), (0, 0), "1"), ((0, 0), (0, 0), "2"), ((0, 1), (9, 9), "3")], "12a3"),
        ("x\ra\rb", [((1, 0), (2, 0), "A\r"), ((2, 0), (2, 1), "\n")], "x\rA\r\n"),
    ],
    ids=["lines", "UTF-16", "CRLF", "insertions in order", "a line feed after a carriage return"],
)
async def test_replacements_are_of_the_text_as_it_is(tmp_path, before, replacements, after):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbf" + before.encode())

    assert await DiskEditor().apply(edit(path, *replacements)) is None

    assert path.read_bytes() == b"\xef\xbb\xbf" + after.encode()


async def test_what_cannot_be_applied_is_told_and_left_alone(tmp_path):
    editor, path = DiskEditor(), tmp_path / "a.txt"
    change = edit(path, ((0, 0), (0, 2), "x"), ((0, 1), (0, 3), "y"))

    assert "does not exist" in await editor.apply(change)
    path.write_bytes(b"\0\xff")
    assert "not text" in await editor.apply(change)
    assert path.read_bytes() == b"\0\xff"
    path.write_text("text")
    assert "overlap" in await editor.apply(change)
    assert path.read_text() == "text"


async def test_files_are_created_renamed_and_deleted(tmp_path):
    editor = DiskEditor()
    old, new = tmp_path / "new" / "a.txt", tmp_path / "b.txt"
    create = FileChange(
        uri=old.as_uri(), version=None, operation="create", edits=(TextReplacement(NOWHERE, "text\r\n"),)
    )

    assert await editor.apply(create) is None
    assert old.read_bytes() == b"text\r\n"
    assert "exists already" in await editor.apply(create)

    rename = FileChange(uri=old.as_uri(), version=None, operation="rename", new_uri=new.as_uri())
    assert await editor.apply(rename) is None
    assert (old.exists(), new.read_bytes()) == (False, b"text\r\n")
    assert "does not exist" in await editor.apply(rename)

    assert await editor.apply(FileChange(uri=new.as_uri(), version=None, operation="delete")) is None
    assert not new.exists()
    delete = FileChange(uri=tmp_path.as_uri(), version=None, operation="delete")
    assert "is not empty" in await editor.apply(delete)


@pytest.mark.parametrize("uri", ["untitled:one", "file://elsewhere/a.txt", ""])
async def test_only_files_of_this_machine_are_changed(uri):
    reason = await DiskEditor().apply(FileChange(uri=uri, version=None, operation="delete"))
    assert "names no file on this machine" in reason
