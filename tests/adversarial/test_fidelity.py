"""TXT-01 to TXT-03, TXT-10 to TXT-12 and TXT-15: an edit changes what it says, and not one byte more.

The other TXT rows, about reading, are shown in `test_text_fidelity.py`.
"""

import os
import stat
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odin_lsp.config import Timeouts
from odin_lsp.review.applying import Applier
from odin_lsp.review.proposals import edit_of
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from tests.support.reviewing import Bench

NOBODY = 0xFFFFFFFF
"""In an access list: the entry is about no user or group by number."""


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


@pytest.fixture
def edited(bench):
    """The bytes of a file after an edit, and what the model was told."""

    async def edited(data, old, new, **more):
        path = bench.write("file.txt", data)
        await bench.read(path)
        result = await bench.edit(path, old, new, **more)
        return path.read_bytes(), result

    return edited


# Line ends


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("two\nthree", "2\n3", b"one\r\n2\r\n3\r\nfour\r\n"),
        ("two\n", "two\nand a half\n", b"one\r\ntwo\r\nand a half\r\nthree\r\nfour\r\n"),
        ("two\nthree\n", "", b"one\r\nfour\r\n"),
        ("two\r\nthree", "2\r\n3", b"one\r\n2\r\n3\r\nfour\r\n"),
        ("two", "2\n2", b"one\r\n2\r\n2\r\nthree\r\nfour\r\n"),
    ],
)
async def test_txt_01_a_file_with_carriage_returns_keeps_them_on_every_line(edited, old, new, expected):
    data, result = await edited(b"one\r\ntwo\r\nthree\r\nfour\r\n", old, new)

    assert not result.failed
    assert data == expected


async def test_txt_01_a_whole_new_text_gets_the_line_ends_of_the_old_one(bench):
    path = bench.write("file.txt", b"one\r\ntwo\r\n")
    await bench.read(path)

    await bench.use("WriteFile", file_path=path, content="1\n2\n3\n")

    assert path.read_bytes() == b"1\r\n2\r\n3\r\n"


MIXED = b"one\r\ntwo\nthree\rfour\r\nfive\nsix"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("two", "2", MIXED.replace(b"two", b"2")),
        ("three", "3", MIXED.replace(b"three", b"3")),
        ("two\nthree\nfour", "2\n3\n4", b"one\r\n2\n3\r4\r\nfive\nsix"),
        ("six", "6", MIXED.replace(b"six", b"6")),
    ],
)
async def test_txt_02_lines_that_are_not_touched_keep_their_own_ends(edited, old, new, expected):
    data, result = await edited(MIXED, old, new)

    assert not result.failed
    assert data == expected


@pytest.mark.parametrize(
    ("data", "old", "new", "expected"),
    [
        (b"one\ntwo", "two", "2", b"one\n2"),
        (b"one\ntwo", "one", "1", b"1\ntwo"),
        (b"one\ntwo", "two", "two\nthree", b"one\ntwo\nthree"),
        (b"one\ntwo", "two", "two\nthree\n", b"one\ntwo\nthree\n"),
        (b"one\ntwo\n", "two", "2", b"one\n2\n"),
        (b"one\ntwo\n", "two\n", "two", b"one\ntwo"),
        (b"one\r\ntwo", "two", "two\nthree", b"one\r\ntwo\r\nthree"),
        (b"one", "one", "", b""),
    ],
)
async def test_txt_03_no_end_of_the_last_line_is_added_or_removed_unasked(edited, data, old, new, expected):
    after, result = await edited(data, old, new)

    assert not result.failed
    assert after == expected


# What is quoted


@pytest.mark.parametrize(
    ("text", "old", "new", "said"),
    [
        ("one\n", "zero", "x", "does not occur"),
        ("a\na\n", "a", "x", "occurs 2 times"),
        ("a\n" * 1000, "a", "x", "occurs 1000 times"),
        ("a\n", "a", "a", "nothing would change"),
        ("a\n", "", "x", "old_string is empty"),
    ],
)
async def test_txt_10_what_is_not_there_once_is_refused_with_the_count(edited, bench, text, old, new, said):
    data, result = await edited(text, old, new)

    assert result.failed
    assert said in result.content
    assert data == text.encode()
    assert bench.editor.reviews == []


async def test_txt_10_occurrences_that_overlap_are_no_two_places_and_all_of_them_is_what_was_asked(edited):
    assert (await edited("aaa\n", "aa", "b", replace_all=True))[0] == b"ba\n"
    assert (await edited("a\n" * 1000, "a", "x", replace_all=True))[0] == b"x\n" * 1000


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("f(a.b*)[1]\n", "a.b*", "$1"),
        ("f(x)\n", "x", r"\1 \g<0> $& ${x} %s {0}"),
        ("C:\\new\\table\n", "\\new", "\\n\\t"),
        ("a^b|c$\n", "^b|c$", "(?i)x"),
        ("\tx\n", "\tx", "\t\tx"),
    ],
)
async def test_txt_11_what_is_quoted_and_what_takes_its_place_are_literal(edited, text, old, new):
    data, result = await edited(text, old, new)

    assert not result.failed
    assert data == text.replace(old, new).encode()


@pytest.mark.parametrize(
    ("text", "old"),
    [("total = 1\n", "totaI = 1"), ("a = 1\n", "a = 2"), ("if x:\n    y()\n", "if x: y()"), ("été\n", "ete")],
)
async def test_txt_11_a_near_miss_is_refused_and_shown(edited, text, old):
    data, result = await edited(text, old, "changed")

    assert result.failed
    assert data == text.encode()


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("say “hi”\n", 'say "hi"', 'say "ho"', "say “ho”\n"),
        ("a\u00a0b\n", "a b", "a c", "a\u00a0c\n"),
        ("\tx = 1\n", "    x = 1", "    x = 2", None),
    ],
)
async def test_txt_11_what_is_forgiven_is_told(edited, text, old, new, expected):
    data, result = await edited(text, old, new)

    if expected is None or result.failed:
        assert result.failed
        assert data == text.encode()
    else:
        assert data == expected.encode()
        assert "were ignored" in result.content


# What a file has besides its text


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o640])
async def test_txt_12_the_mode_stays(edited, bench, mode):
    path = bench.write("file.txt", "one\n")
    path.chmod(mode)
    await edited("one\n", "one", "two")

    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_text() == "two\n"


async def test_txt_12_the_owner_stays(edited, bench):
    path = bench.write("file.txt", "one\n")
    before = path.stat()
    await edited("one\n", "one", "two")

    assert (path.stat().st_uid, path.stat().st_gid) == (before.st_uid, before.st_gid)


async def test_txt_12_attributes_stay(edited, bench):
    path = bench.write("file.txt", "one\n")
    os.setxattr(path, "user.origin", b"the user's note")
    data, _ = await edited("one\n", "one", "two")

    assert data == b"two\n"
    assert os.getxattr(path, "user.origin") == b"the user's note"


async def test_txt_12_an_access_list_stays(edited, bench):
    path = bench.write("file.txt", "one\n")
    entries = [(1, 6, NOBODY), (2, 4, 1234), (4, 4, NOBODY), (0x10, 4, NOBODY), (0x20, 0, NOBODY)]
    access = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    os.setxattr(path, "system.posix_acl_access", access)
    data, _ = await edited("one\n", "one", "two")

    assert data == b"two\n"
    assert os.getxattr(path, "system.posix_acl_access") == access
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


async def test_txt_12_what_may_only_be_read_is_not_made_writable(edited, bench):
    path = bench.write("file.txt", "one\n")
    path.chmod(0o444)
    await bench.read(path)
    result = await bench.edit(path, "one", "two")

    assert result.failed
    assert "is read-only; ask the user to make it writable" in result.content
    assert stat.S_IMODE(path.stat().st_mode) == 0o444
    assert path.read_text() == "one\n"


async def test_txt_12_a_link_stays_a_link_and_its_target_is_edited(bench):
    target = bench.write("target.txt", "one\n")
    link = bench.root / "link.txt"
    link.symlink_to("target.txt")
    await bench.read(link)

    assert not (await bench.edit(link, "one", "two")).failed
    assert str(link.readlink()) == "target.txt"
    assert target.read_text() == "two\n"


async def test_txt_12_another_name_of_the_same_file_outside_of_the_workspace_keeps_its_text(bench, tmp_path):
    """A hard link is no way out of the workspace: a file is replaced, not written into."""
    path = bench.write("file.txt", "one\n")
    outside = tmp_path / "outside.txt"
    os.link(path, outside)
    await bench.read(path)

    assert not (await bench.edit(path, "one", "two")).failed
    assert (path.read_text(), outside.read_text()) == ("two\n", "one\n")


async def test_txt_12_nothing_is_left_beside_the_file(edited, bench):
    await edited("one\n", "one", "two")

    assert [it.name for it in bench.root.iterdir()] == ["file.txt"]


# Any text, any edits

PIECES = ["a", "b\n", "\r\n", "\r", "\n", "é", "e\u0301", "😀", "👩\u200d👧", "\u2028", "\x0b", "אב\n", "\ufeff", "\t"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
WIDTHS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


def reference(text, edits, encoding):
    """What a client makes of ranges, written from the specification and from nothing else."""
    name, width = WIDTHS[encoding]

    def offset(position):
        at = 0
        for _ in range(position.line):
            ends = [found for end in "\r\n" if (found := text.find(end, at)) >= 0]
            at = min(ends) + (2 if text[min(ends) : min(ends) + 2] == "\r\n" else 1)
        return at + len(text[at:].encode(name)[: position.character * width].decode(name))

    spans = sorted(((offset(it.range.start), offset(it.range.end), it.new_text) for it in edits), reverse=True)
    for start, end, new in spans:
        text = text[:start] + new + text[end:]
    return text


@given(TEXTS, TEXTS, st.sampled_from(sorted(WIDTHS)), st.data())
def test_txt_15_server_and_client_make_the_same_of_any_edits(tmp_path_factory, old, new, encoding, data):
    folder = FOLDERS.setdefault("txt", tmp_path_factory.mktemp("txt"))
    files = Files([folder], Buffers(), FileCache())
    files.buffers.encoding = encoding
    file = edit_of(folder / "a.txt", old, new)
    for it in file.hunks:
        it.state = data.draw(st.sampled_from(["accepted", "modified", "rejected"]))
        it.text = data.draw(TEXTS) if it.state == "modified" else None

    change = Applier(files, None, Timeouts)._change(file)

    wanted = [it for it in file.hunks if it.state != "rejected"]
    expected, at = "", 0
    for it in wanted:
        expected += old[at : it.hunk.start] + (it.hunk.new if it.text is None else it.text)
        at = it.hunk.end
    assert reference(old, change.edits, encoding) == expected + old[at:]


FOLDERS = {}
