"""Files that are larger than what is kept of one: read in parts, edited all the same."""

import codecs

import pytest

from odin_lsp.agent.held_files import CHANGED, HeldFiles
from odin_lsp.loop_share import is_event_loop
from odin_lsp.workspace import files
from odin_lsp.workspace.loading import MAX_EDIT_BYTES
from tests.support.reviewing import Bench, reject

ENDS = (b"\n", b"\r\n")
COUNT = 200_000
TAIL = b"the last line, \xf0\x9f\x98\x80, has no end"


def large() -> bytes:
    """12 MB with a mark, two kinds of line ends, and no end at the end."""
    lines = (b"row %07d of a file as large as logs and data files are" % row + ENDS[row % 2] for row in range(COUNT))
    return codecs.BOM_UTF8 + b"".join(lines) + TAIL


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


@pytest.fixture
def big(bench):
    path = bench.write("big.txt", large())
    assert bench.files.cache.settings.max_file_size < path.stat().st_size < MAX_EDIT_BYTES
    return path


@pytest.mark.thorough
async def test_lines_that_were_shown_are_edited_and_every_other_byte_stays(bench, big):
    await bench.use("Read", file_path=big, limit=10)
    await bench.use("Read", file_path=big, offset=150_000, limit=10)
    await bench.use("Grep", pattern="^the last", path=big, output_mode="content")
    changes = [
        ("row 0000001 of", "row one of"),
        ("row 0150003 of", "new\nrow 0150003 of"),
        ("the last line", "THE LAST LINE"),
    ]
    edits = [{"old_string": old, "new_string": new} for old, new in changes]

    result = await bench.use("MultiEditTool", file_path=big, edits=edits)

    assert not result.failed, result.content
    assert bench.states == ["accepted"] * 3
    expected = large()
    for old, new in (*changes[:1], ("row 0150003 of", "new\r\nrow 0150003 of"), *changes[2:]):
        expected = expected.replace(old.encode(), new.encode())
    assert big.read_bytes() == expected
    assert not (await bench.edit(big, "row one of", "row 1 of")).failed


async def test_lines_that_were_not_shown_are_not_edited(bench, big):
    await bench.use("Read", file_path=big, offset=150_000, limit=10)

    result = await bench.edit(big, "row 0000001 of", "row one of")

    assert result.failed
    assert "You have not seen lines 1-5 of big.txt" in result.content
    assert big.read_bytes() == large()


async def test_what_is_rejected_leaves_the_file_as_it_is(bench, big):
    bench.editor.decide = reject
    await bench.use("Read", file_path=big, offset=150_000, limit=10)

    assert (await bench.edit(big, "row 0150003 of", "new")).failed
    assert bench.states == ["rejected"]
    assert big.read_bytes() == large()


async def test_an_edit_of_ones_own_is_no_change_of_others_and_the_edited_lines_are_held(bench, big):
    held = HeldFiles(bench.files, bench.context.shown)
    await bench.use("Read", file_path=big, offset=150_000, limit=10)

    for old, new in (("row 0150003 of", "row three of"), ("row 0150005 of", "new\nrow five of")):
        assert not (await bench.edit(big, old, new)).failed
        assert await held.changed() == []

    entry = bench.files.cache.peek(big)
    assert (entry.is_partial, entry.is_modified, [it.key for it in entry.segments]) == (True, True, ["150006-150007"])
    assert [it[:11] for it in entry.segments[0].lines] == ["new", "row five of"]
    big.write_bytes(big.read_bytes().replace(b"row three of", b"row other of"))
    assert await held.changed() == [CHANGED, f"- {big}"]


async def test_what_is_not_kept_is_read_beside_the_loop_in_an_edit_as_well(bench, big, monkeypatch):
    on_loop, load = [], files.load_opened
    await bench.use("Read", file_path=big, offset=150_000, limit=10)

    def loaded(*given, **options):
        on_loop.extend(["here"] if is_event_loop() else [])
        return load(*given, **options)

    monkeypatch.setattr(files, "load_opened", loaded)

    assert not (await bench.edit(big, "row 0150003 of", "row three of")).failed
    assert on_loop == []
