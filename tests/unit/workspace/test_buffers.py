from pathlib import Path

import pytest

from odin_lsp.workspace.buffers import Buffers, Change, path_of
from odin_lsp.workspace.text import Position


def test_a_change_lands_where_the_editor_means_it(tmp_path):
    buffers = Buffers()
    uri = (tmp_path / "a.py").as_uri()
    buffers.open(uri, 1, "one\x0ctwo\r\nthree\r\n")

    buffers.change(uri, 2, [Change("THREE", Position(1, 0), Position(1, 5))])

    buffer = buffers.of_path(tmp_path / "a.py")
    assert (buffer.text, buffer.version, buffer.unsaved) == ("one\x0ctwo\r\nTHREE\r\n", 2, True)


def test_a_document_is_unsaved_until_it_is_saved(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("on disk")
    buffers = Buffers()

    buffers.open(path.as_uri(), 1, "on disk")
    assert not buffers.of_uri(path.as_uri()).unsaved
    buffers.change(path.as_uri(), 2, [Change("typed")])
    assert buffers.of_uri(path.as_uri()).unsaved
    buffers.save(path.as_uri())
    assert not buffers.of_uri(path.as_uri()).unsaved
    buffers.close(path.as_uri())
    assert buffers.of_path(path) is None


def test_a_document_that_comes_back_unsaved_is_known_as_such(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("on disk")
    buffers = Buffers()

    buffers.open(path.as_uri(), 1, "left over from yesterday")

    assert buffers.of_uri(path.as_uri()).unsaved


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b%20c.py", "/a/b c.py"),
        ("file://localhost/a", "/a"),
        ("file:///a%23b", "/a#b"),
        ("untitled:Untitled-1", None),
        ("git:/a/b.py", None),
        ("http://example.test/a", None),
        ("file://host/share", None),
        ("file:///a%00b", None),
        ("file:///%FF.txt", None),
    ],
)
def test_only_uris_of_files_are_paths(uri, path):
    assert path_of(uri) == (Path(path) if path else None)
