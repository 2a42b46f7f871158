"""TXT-04 to TXT-09, TXT-13, TXT-14, EDIT-19 and EDIT-20: the text that Odin holds is the text that is there.

Shown elsewhere, in `tests/unit/workspace`:

- TXT-04, TXT-05, TXT-06 for whole files: `test_what_is_decoded_can_be_written_back_byte_for_byte`,
  `test_what_could_not_be_written_back_is_no_text`
- TXT-08, TXT-09, TXT-15: `test_after_any_edits_server_and_editor_hold_the_same_bytes`,
  `test_positions_that_are_nowhere_are_the_nearest_place`,
  `test_a_range_that_runs_backwards_means_that_the_text_is_not_known`
- EDIT-19: `test_versions_out_of_order_mean_that_the_text_is_not_known`, `test_a_second_open_is_taken_at_its_word`,
  `test_a_change_of_a_document_that_is_not_open_means_that_its_text_is_not_known`
- EDIT-20: `test_spellings_of_one_document_have_one_key`
"""

import asyncio
import codecs
import os
import random
import re
import subprocess
import time
import tracemalloc

import pytest

from odin_lsp.errors import ToolError
from odin_lsp.tools.editing import readable
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.search import MAX_OUTPUT_BYTES, Query
from odin_lsp.workspace.text import Change, Position

UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
SEPARATORS = ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
PIECES = [*SEPARATORS, "\n", "\r\n", "\r", "a", "bc", "é", "e\u0301", "😀", "👩\u200d👧", "אב", "\ufeff", " "]


def units(text: str, encoding: str) -> int:
    name, width = UNITS[encoding]
    return len(text.encode(name)) // width


def position_of(text: str, offset: int, encoding: str) -> Position:
    """The position of an offset as an editor tells it."""
    lines = re.split(r"\r\n|\n|\r", text[:offset])
    return Position(len(lines) - 1, units(lines[-1], encoding))


def between_cr_and_lf(text: str, offset: int) -> bool:
    return text[offset - 1 : offset + 1] == "\r\n"


# TXT-04 to TXT-06: bytes


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16-le", "utf-16-be"])
async def test_txt_04_a_byte_order_mark_is_no_part_of_the_first_line(world, engine, encoding):
    mark = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}.get(encoding, b"")
    (world.root / "b.txt").write_bytes(mark + "first é\r\nsecond\r\n".encode(encoding))

    assert (await world.use("Read", file_path=str(world.root / "b.txt"))).data == "     1\tfirst é\n     2\tsecond"
    output = await engine(world).use("Grep", pattern="^first", output_mode="content")
    assert output.data == "b.txt\n1:first é"


@pytest.mark.parametrize(("mark", "encoding"), [(codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")])
@pytest.mark.parametrize("text", ["日本\n", "中丰\n", "plain\n"])
@pytest.mark.parametrize("offset", [1, 2, 50])
async def test_txt_04_a_large_utf_16_file_is_read_as_such_or_refused(make_world, mark, encoding, text, offset):
    world = make_world(max_file_size=100)
    (world.root / "big.txt").write_bytes(mark + (text * 100).encode(encoding))
    try:
        said = (await world.use("Read", file_path=str(world.root / "big.txt"), offset=offset, limit=1)).data
    except ToolError:
        return

    assert said.splitlines()[0] == f"{offset:6}\t{text.strip()}"


@pytest.mark.parametrize("line", [codecs.BOM_UTF16_LE + b"ab", codecs.BOM_UTF16_BE + b"ab", codecs.BOM_UTF8 + b"ab"])
async def test_txt_04_a_mark_in_the_middle_of_a_large_file_is_none(make_world, line):
    world = make_world(max_file_size=100)
    (world.root / "big.txt").write_bytes(b"line\n" * 50 + line + b"\n" + b"line\n" * 50)
    try:
        said = (await world.use("Read", file_path=str(world.root / "big.txt"), offset=51, limit=1)).data
    except ToolError:
        assert not line.startswith(codecs.BOM_UTF8)
        return

    assert said.splitlines()[0] == "    51\t\ufeffab"


@pytest.mark.parametrize(
    "data", ["é".encode("latin-1"), "日本".encode("shift-jis"), "中文".encode("gbk"), b"\xff", b"\xed\xa0\x80"]
)
@pytest.mark.parametrize("before", [0, 1 << 20])
async def test_txt_05_bytes_that_are_no_utf_8_are_not_shown_as_if_they_were(world, data, before):
    (world.root / "b.txt").write_bytes(b"x" * before + data)

    with pytest.raises(ToolError, match="not text"):
        await world.use("Read", file_path=str(world.root / "b.txt"))


@pytest.mark.parametrize("at", [0, 1000, 65_530])
async def test_txt_05_bytes_that_are_no_utf_8_are_not_lost_from_a_long_line_of_a_large_file(make_world, at):
    world = make_world(max_file_size=1000)
    (world.root / "b.txt").write_bytes(b"x" * at + b"\xe9" + b"x" * 100_000 + b"\n")

    with pytest.raises(ToolError, match="not text"):
        await world.use("Read", file_path=str(world.root / "b.txt"))


async def test_txt_05_a_search_shows_bytes_that_are_no_text_in_a_way_that_can_be_sent(world, engine):
    (world.root / "b.txt").write_bytes(b"needle \xe9\xff\n")

    (await engine(world).text("Grep", pattern="needle", output_mode="content")).encode()


BINARY = {
    "png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "elf": b"\x7fELF\x02\x01\x01\0",
    "utf-16 without a mark": "needle\n".encode("utf-16-le"),
    "a late nul": b"needle\n" + b"x" * 9000 + b"\0",
    "a very late nul": b"needle\n" + b"x\n" * 200_000 + b"needle\0needle\n",
}


@pytest.mark.parametrize("data", BINARY.values(), ids=BINARY)
async def test_txt_06_what_is_binary_is_not_read_and_a_search_survives_it(world, engine, data):
    path = world.root / "b.bin"
    path.write_bytes(data)

    with pytest.raises(ToolError, match=rf"not text.*{len(data):,} bytes"):
        await world.use("Read", file_path=str(path))
    for mode in ("content", "count", "files_with_matches"):
        for where in (path, world.root):
            said = await engine(world).text("Grep", pattern="needle", path=str(where), output_mode=mode)
            assert "\0" not in said


# TXT-07 to TXT-09: positions


@pytest.mark.parametrize("encoding", UNITS)
@pytest.mark.parametrize("seed", range(3))
def test_txt_07_after_a_thousand_edits_both_sides_hold_the_same(tmp_path, encoding, seed):
    chance = random.Random(seed)
    text = "".join(chance.choices(PIECES, k=300))
    uri = (tmp_path / "a.txt").as_uri()
    buffers = Buffers()
    buffers.encoding = encoding
    buffers.open(uri, 0, text)

    for version in range(1, 1001):
        changes = []
        for _ in range(chance.choice([1, 1, 1, 3])):
            start, end = sorted(chance.randint(0, len(text)) for _ in range(2))
            end = min(end, start + 12)
            # An editor has no position between these two.
            start, end = start - between_cr_and_lf(text, start), end + between_cr_and_lf(text, end)
            new = "".join(chance.choices(PIECES, k=chance.randint(0, 6)))
            changes.append(Change(new, position_of(text, start, encoding), position_of(text, end, encoding)))
            text = text[:start] + new + text[end:]
        buffers.change(uri, version, changes)
        assert buffers.of_uri(uri).text == text
    assert buffers.of_uri(uri).synchronised


@pytest.mark.parametrize("separator", SEPARATORS)
async def test_txt_07_read_and_grep_count_lines_as_the_editor_does(world, engine, separator):
    (world.root / "b.txt").write_text(f"one{separator}still one\r\ntwo{separator}\nneedle\n", newline="")

    lines = (await world.use("Read", file_path=str(world.root / "b.txt"))).data.split("\n")
    assert lines == [f"     1\tone{separator}still one", f"     2\ttwo{separator}", "     3\tneedle"]
    output = await engine(world).use("Grep", pattern="needle", output_mode="content")
    assert output.data == "b.txt\n3:needle"


MIXED = ["one\rneedle\rthree", "a\r\n\rb\rneedle", "needle\r", "\r\rneedle\r\n", "x\r\r\nneedle\rneedle\nneedle"]


@pytest.mark.parametrize("text", MIXED)
@pytest.mark.parametrize("form", ["utf-8", "utf-16", "latin-1", "typed"])
async def test_txt_07_grep_counts_lines_that_end_in_a_carriage_return(world, engine, text, form):
    path = world.root / "b.txt"
    text = f"é\n{text}"
    if form == "typed":
        world.context.files.buffers.open(path.as_uri(), 1, text)
    else:
        path.write_bytes(text.encode(form))
    numbers = [number for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1) if line == "needle"]
    if form == "latin-1" and engine.name == "fallback":
        numbers = []  # what is not text is not searched without ripgrep

    for arguments in (
        {"pattern": "^needle$"},
        {"pattern": "needle", **({} if form == "typed" else {"path": str(path)})},
    ):
        lines = await engine(world).use("Grep", **arguments, output_mode="content")
        count = await world.use("Grep", **arguments, output_mode="count")

        found = "\n".join(["b.txt", *(f"{it}:needle" for it in numbers)])
        assert lines.data == (found if numbers else "No matches found")
        assert count.data == (f"b.txt:{len(numbers)}" if numbers else "No matches found")


async def test_txt_07_the_surroundings_of_a_match_end_at_carriage_returns_too(world, engine):
    path = world.root / "b.txt"
    path.write_bytes(b"one\rtwo\rneedle\rfour\rfive")

    output = await engine(world).use("Grep", pattern="needle", output_mode="content", **{"-C": 1})

    assert output.data.splitlines() == ["b.txt", "2-two", "3:needle", "4-four"]


@pytest.mark.parametrize("before", range(-2, 3))
@pytest.mark.parametrize("end", ["\r", "\r\n"])
async def test_txt_07_a_carriage_return_at_the_edge_of_what_is_read_at_once_counts_once(world, before, end):
    path = world.root / "b.txt"
    path.write_bytes(b"x" * ((1 << 20) + before) + end.encode() + b"needle\n")

    output = await world.use("Grep", pattern="needle", output_mode="content")

    assert output.data == "b.txt\n2:needle"


@pytest.mark.parametrize("encoding", UNITS)
@pytest.mark.parametrize("line", ["a😀b", "e\u0301x", "👩\u200d👩\u200d👧z", "אב\u202eגד", "𝒳" * 5, "\ufeffa"])
async def test_txt_08_every_place_in_an_odd_line_can_be_typed_at(world, line, encoding):
    path = world.root / "b.txt"
    files = world.context.files
    files.buffers.encoding = encoding
    for place in range(len(line) + 1):
        files.buffers.open(path.as_uri(), 1, f"before\n{line}\nafter")
        at = Position(1, units(line[:place], encoding))
        files.buffers.change(path.as_uri(), 2, [Change("X", at, at)])

        said = (await world.use("Read", file_path=str(path), offset=2, limit=1)).data

        assert said.split("\n")[0] == f"     2\t{line[:place]}X{line[place:]}"


@pytest.mark.parametrize("encoding", UNITS)
@pytest.mark.parametrize(
    ("start", "end", "result"),
    [
        ((0, 99), (0, 99), "abcX\nd😀e"),
        ((0, 99), (1, 0), "abcXd😀e"),
        ((1, 99), (99, 99), "abc\nd😀eX"),
        ((99, 0), (99, 5), "abc\nd😀eX"),
        ((-1, -1), (0, 1), "Xbc\nd😀e"),
        ((0, 2**31), (2**31, 2**31), "abcX"),
    ],
)
def test_txt_09_a_place_that_is_nowhere_corrupts_nothing(tmp_path, encoding, start, end, result):
    buffers = Buffers()
    buffers.encoding = encoding
    uri = (tmp_path / "a").as_uri()
    buffers.open(uri, 1, "abc\nd😀e")

    buffers.change(uri, 2, [Change("X", Position(*start), Position(*end))])

    assert buffers.of_uri(uri).text == result


@pytest.mark.parametrize(("encoding", "halves"), [("utf-16", [2]), ("utf-8", [2, 3, 4])])
def test_txt_09_half_a_character_is_never_cut_off(tmp_path, encoding, halves):
    buffers = Buffers()
    buffers.encoding = encoding
    uri = (tmp_path / "a").as_uri()
    for half in halves:
        for start, end in [(half, half), (0, half), (half, 9)]:
            buffers.open(uri, 1, "d😀e")
            buffers.change(uri, 2, [Change("", Position(0, start), Position(0, end))])
            assert buffers.of_uri(uri).text in ("d😀e", "e", "d", "😀e", "d😀")


# TXT-13, TXT-14: size, and where a cut falls


@pytest.fixture(scope="module")
def fifty_mebibytes(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "large.txt"
    line = b"a line of some length that says nothing at all, %07d\n"
    with path.open("wb") as file:
        for block in range(1000):
            file.write(b"".join(line % number for number in range(block * 1000, block * 1000 + 1000)))
    assert path.stat().st_size > 50 << 20
    return path.resolve()


@pytest.mark.parametrize("offset", [1, 500_000, 999_999])
async def test_txt_13_fifty_mebibytes_of_text_are_read_in_part(make_world, fifty_mebibytes, within, offset):
    world = make_world(fifty_mebibytes.parent)
    async with within(3):
        said = (await world.use("Read", file_path=str(fifty_mebibytes), offset=offset, limit=2)).data

    assert said.splitlines()[0].endswith(f"{offset - 1:07}")
    assert len(said) < 400


async def test_txt_13_fifty_mebibytes_of_text_take_little_memory(make_world, fifty_mebibytes):
    world = make_world(fifty_mebibytes.parent)
    tracemalloc.start()
    try:
        await world.use("Read", file_path=str(fifty_mebibytes), offset=60_000, limit=2)
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()


async def test_txt_13_fifty_mebibytes_of_text_are_searched(make_world, fifty_mebibytes, engine, within):
    world = engine(make_world(fifty_mebibytes.parent))
    async with within(20):
        output = await world.use("Grep", pattern="nothing at all", output_mode="content")

    assert len(output.data) < 31_000
    assert "more" in output.data.splitlines()[-1]


@pytest.mark.parametrize("where", ["file", "folder"])
async def test_txt_13_of_what_a_search_finds_no_more_is_held_than_its_bound(make_world, fifty_mebibytes, where):
    """Every line matches: 50 MiB would come back."""
    world = make_world(fifty_mebibytes.parent)
    path = fifty_mebibytes if where == "file" else fifty_mebibytes.parent

    hits, complete = await world.context.search.grep(Query(pattern="", output_mode="content"), path)

    assert not complete
    assert sum(len(hit.text) for hit in hits) <= MAX_OUTPUT_BYTES


async def test_txt_13_a_search_of_fifty_mebibytes_is_as_much_work_as_ripgrep_makes_of_it(make_world, fifty_mebibytes):
    """Processor time, of all processes, beside ripgrep alone in the same run; one more look for carriage returns."""
    world = make_world(fifty_mebibytes.parent)
    command = [world.context.search._ripgrep, "--no-config", "--line-number", "0999999", fifty_mebibytes]

    def spent() -> float:
        times = os.times()
        return times.user + times.system + times.children_user + times.children_system

    odin, bare = [], []
    for _ in range(3):
        before = spent()
        await world.use("Grep", pattern="0999999", output_mode="content")
        odin.append(spent() - before)
        before = spent()
        await asyncio.to_thread(subprocess.run, command, check=True, capture_output=True)
        bare.append(spent() - before)

    assert min(odin) < 20 * max(min(bare), 0.01)


@pytest.mark.parametrize("size", [None, 1000])
@pytest.mark.parametrize("tail", ["", "\nlast\n"])
async def test_txt_13_a_line_of_two_mebibytes_is_cut_and_it_is_said_how_long_it_is(make_world, within, size, tail):
    world = make_world(max_file_size=size)
    (world.root / "wide.txt").write_text("w" * (2 << 20) + tail)

    async with within(2):
        said = (await world.use("Read", file_path=str(world.root / "wide.txt"), limit=1)).data

    assert len(said) < 2300
    assert said.partition("… (")[2].partition(" ")[0] == "2,097,152"


@pytest.mark.parametrize("tail", ["", "\n"])
async def test_txt_13_a_line_of_two_mebibytes_is_searched(world, engine, within, tail):
    (world.root / "wide.txt").write_text("w" * (2 << 20) + "needle" + tail)

    async with within(5):
        output = await engine(world).use("Grep", pattern="needle", output_mode="content")

    assert output.data.startswith("wide.txt\n1:www")
    assert len(output.data) < 2300


async def test_txt_13_a_document_whose_file_became_huge_is_read_from_the_screen(world, within):
    path = world.root / "a.txt"
    world.context.files.buffers.open(path.as_uri(), 1, "plain\n")
    with path.open("wb") as file:
        file.truncate(512 << 20)

    tracemalloc.start()
    try:
        async with within(5):
            said = await world.text("Read", file_path=str(path))
            await world.text("Grep", pattern="plain")
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
    assert "     1\tplain" in said
    assert "changed on disk" in said


def test_txt_13_typing_into_a_large_document_does_not_take_longer_the_larger_it_is(tmp_path):
    def spent(lines: int) -> float:
        buffers = Buffers()
        uri = (tmp_path / "a.txt").as_uri()
        buffers.open(uri, 0, "a line of text\n" * lines)
        started = time.process_time()
        for version in range(1, 501):
            at = Position(version * 3, 3)
            buffers.change(uri, version, [Change("x", at, at)])
        took = time.process_time() - started
        assert buffers.of_uri(uri).text.count("a lxine") == 500
        return took

    assert min(spent(200_000) for _ in range(3)) < 20 * min(spent(2_000) for _ in range(3))


WIDE = ["é", "中", "😀", "a😀", "xy\u0301中"]


@pytest.mark.parametrize("piece", WIDE)
@pytest.mark.parametrize("shift", range(4))
@pytest.mark.parametrize("size", [None, 1000])
async def test_txt_14_read_cuts_between_characters(make_world, piece, shift, size):
    world = make_world(max_file_size=size)
    line = "s" * shift + piece * 40_000
    (world.root / "wide.txt").write_text(line + "\nlast\n")

    first, second, *_ = (await world.use("Read", file_path=str(world.root / "wide.txt"))).data.splitlines()

    shown = first.removeprefix("     1\t").partition("…")[0]
    assert len(shown) == 2000
    assert line.startswith(shown)
    assert second == "     2\tlast"


@pytest.mark.parametrize("piece", WIDE)
@pytest.mark.parametrize("shift", range(4))
async def test_txt_14_grep_cuts_between_characters(world, engine, piece, shift):
    line = "s" * shift + "needle" + piece * 3000
    (world.root / "wide.txt").write_text(line + "\n")

    output = await engine(world).use("Grep", pattern="needle", output_mode="content")

    shown = output.data.partition("\n1:")[2].partition(" [...")[0]
    assert "\ufffd" not in output.data
    assert line.startswith(shown.rstrip("…"))
    assert len(shown) > 400


@pytest.mark.parametrize("piece", ["é", "中"])
async def test_txt_14_a_line_that_grep_has_cut_has_not_been_shown(world, engine, piece):
    (world.root / "wide.txt").write_text("needle" + piece * 1500 + "\n")
    path = world.root / "wide.txt"
    await world.use("Read", file_path=str(path))
    before = dict(world.context.shown.of(path).lines)

    await engine(world).use("Grep", pattern="needle", output_mode="content")

    assert world.context.shown.of(path).lines == before


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
@pytest.mark.parametrize("before", [*range(-3, 3)])
async def test_txt_14_a_line_end_at_the_edge_of_what_is_read_at_once_is_one(make_world, end, before):
    """A large file is read in pieces of 1 MiB; the end of a line may be in two of them."""
    world = make_world(max_file_size=1000)
    head = "\n".join(["h" * 1023] * 1024)[: (1 << 20) + before]
    (world.root / "big.txt").write_text(f"{head}{end}second{end}third", newline="")
    number = head.count("\n") + 1

    said = (await world.use("Read", file_path=str(world.root / "big.txt"), offset=number + 1)).data.splitlines()

    assert said == [f"{number + 1:6}\tsecond", f"{number + 2:6}\tthird"]


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
@pytest.mark.parametrize("before", [*range(-3, 3)])
async def test_txt_14_the_end_of_a_very_long_line_is_not_lost_at_that_edge(make_world, within, end, before):
    world = make_world(max_file_size=1000)
    (world.root / "big.txt").write_text(f"{'h' * ((1 << 20) + before)}{end}second{end}third", newline="")

    async with within(3):
        said = (await world.use("Read", file_path=str(world.root / "big.txt"), offset=2)).data.splitlines()

    assert said == ["     2\tsecond", "     3\tthird"]


@pytest.mark.parametrize("end", ["\r\n"])
async def test_txt_14_no_result_holds_half_a_line_end(world, engine, end):
    (world.root / "b.txt").write_text(end.join(["needle one", "needle two", "x" * 3000, ""]), newline="")

    for said in [
        await world.text("Read", file_path=str(world.root / "b.txt")),
        await engine(world).text("Grep", pattern="needle|x+", output_mode="content"),
    ]:
        assert "\r" not in said


@pytest.mark.parametrize("mode", ["content", "count", "files_with_matches"])
async def test_txt_14_output_that_is_cut_anywhere_shows_whole_entries_only(world, monkeypatch, tmp_path, mode):
    """A stand-in for ripgrep prints so many bytes and no more."""
    names = ["a.txt", "é😀.txt"]
    ends = {"content": "\x0012:needle é😀\n", "count": "\x0034\n", "files_with_matches": "\0"}[mode]
    data = "".join(f"./{name}{ends}" for name in names).encode()
    whole = {
        "content": [line for name in names for line in (name, "12:needle é😀", "")],
        "count": [f"{name}:34" for name in names],
        "files_with_matches": names,
    }[mode]
    (tmp_path / "output").write_bytes(data)
    world.context.search._ripgrep = tmp_path / "rg"
    for size in range(len(data) // 2 - 4, len(data)):
        (tmp_path / "new").write_text(f"#!/bin/sh\nhead -c {size} {tmp_path}/output\nexec sleep 30\n")
        (tmp_path / "new").chmod(0o755)
        (tmp_path / "new").rename(tmp_path / "rg")
        monkeypatch.setattr("odin_lsp.workspace.search.MAX_OUTPUT_BYTES", size)

        *lines, note = (await world.use("Grep", pattern="needle", output_mode=mode)).data.splitlines()

        assert note.startswith("(there is more")
        assert lines == whole[: len(lines)]


# EDIT-19, EDIT-20: documents


async def test_edit_19_a_closed_document_is_what_is_on_disk(world):
    path = world.root / "a.txt"
    buffers = world.context.files.buffers
    buffers.open(path.as_uri(), 1, "typed\n")
    buffers.close(path.as_uri())
    buffers.change(path.as_uri(), 2, [Change("late", Position(0, 0), Position(0, 0))])
    buffers.save(path.as_uri())
    buffers.close(path.as_uri())

    assert (await world.use("Read", file_path=str(path))).data == "     1\tplain"


@pytest.mark.parametrize("opened_before", [False, True])
@pytest.mark.parametrize("size", [None, 3])
async def test_edit_19_a_change_of_a_document_that_is_not_open_means_that_it_is_not_known(
    make_world, engine, size, opened_before
):
    world = engine(make_world(max_file_size=size))
    path = world.root / "a.txt"
    buffers = world.context.files.buffers
    if opened_before:
        buffers.open(path.as_uri(), 1, "typed\n")
        buffers.close(path.as_uri())
    buffers.change(path.as_uri(), 2, [Change("late", Position(0, 0), Position(0, 0))])

    said = (await world.use("Read", file_path=str(path))).data
    assert said.splitlines()[0] == "     1\tplain"
    assert "not known" in said
    assert (await world.use("Grep", pattern="late|typed")).data == "No matches found"
    with pytest.raises(ToolError, match="not known"):
        await readable(path, world.context)

    buffers.save(path.as_uri())
    buffers.change(path.as_uri(), 3, [Change("r", Position(0, 0), Position(0, 0))])
    with pytest.raises(ToolError, match="not known"):
        await readable(path, world.context)
    buffers.open(path.as_uri(), 4, "fresh\n")
    assert (await readable(path, world.context)).text == "fresh\n"
    assert "     1\tfresh" in (await world.use("Read", file_path=str(path))).data


async def test_edit_19_a_change_to_the_whole_text_is_enough_to_know_it(world):
    path = world.root / "a.txt"
    world.context.files.buffers.change(path.as_uri(), 2, [Change("fresh\n")])

    assert "     1\tfresh" in (await world.use("Read", file_path=str(path))).data


async def test_edit_19_a_second_open_is_what_is_on_the_screen(world):
    path = world.root / "a.txt"
    world.context.files.buffers.open(path.as_uri(), 7, "first\n")
    world.context.files.buffers.open(path.as_uri(), 3, "second\n")

    assert "     1\tsecond" in (await world.use("Read", file_path=str(path))).data
    assert (await readable(path, world.context)).text == "second\n"


@pytest.mark.parametrize("size", [None, 3])
@pytest.mark.parametrize("spoil", ["version", "range"])
async def test_edit_19_a_document_that_is_not_known_is_never_shown_as_if_it_were(make_world, engine, size, spoil):
    world = engine(make_world(max_file_size=size))
    path = world.root / "a.txt"
    buffers = world.context.files.buffers
    buffers.open(path.as_uri(), 7, "typed\n")
    start, end = (Position(0, 0), Position(0, 0)) if spoil == "version" else (Position(0, 3), Position(0, 1))
    buffers.change(path.as_uri(), 3 if spoil == "version" else 8, [Change("x", start, end)])

    said = (await world.use("Read", file_path=str(path))).data
    assert "plain" in said
    assert "not known" in said
    assert (await world.use("Grep", pattern="typed")).data == "No matches found"

    buffers.change(path.as_uri(), 9, [Change("y", Position(0, 0), Position(0, 0))])
    assert "not known" in (await world.use("Read", file_path=str(path))).data
    buffers.open(path.as_uri(), 1, "fresh\n")
    assert "     1\tfresh" in (await world.use("Read", file_path=str(path))).data


async def test_edit_19_documents_that_cannot_both_be_there_are_searched_all_the_same(world, engine):
    """A file was replaced by a folder of its name while both were open."""
    buffers = world.context.files.buffers
    (world.root / "was").mkdir()
    (world.root / "was" / "b.txt").write_text("")
    buffers.open((world.root / "was" / "b.txt").as_uri(), 1, "needle")
    buffers.open((world.root / "was").as_uri(), 1, "needle")
    buffers.open((world.root / "none" / "x").as_uri(), 1, "needle")
    buffers.open((world.root / "none").as_uri(), 1, "needle")

    assert "was/b.txt" in (await engine(world).use("Grep", pattern="needle")).data


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("file:///C:/k.py", "file:///c:/k.py"),
        ("file:///C%3A/k.py", "file:///c:/k.py"),
        ("file://localhost/C:/k.py", "file:///c%3a/k.py"),
        ("FILE:///c:/k%2Epy", "file:///C:/k.py"),
    ],
)
def test_edit_20_a_drive_has_one_letter_whatever_its_case(one, two):
    buffers = Buffers()
    buffers.open(one, 1, "text")
    buffers.change(two, 2, [Change("more ", Position(0, 0), Position(0, 0))])

    assert [buffer.text for buffer in buffers] == ["more text"]
    buffers.close(two)
    assert list(buffers) == []


async def test_edit_19_edits_that_arrive_during_a_search_are_searched_or_not_but_break_nothing(world, engine):
    path = world.root / "a.txt"
    buffers = engine(world).context.files.buffers
    buffers.open(path.as_uri(), 0, "needle\n")

    async def type_on() -> None:
        for version in range(1, 50):
            buffers.change(path.as_uri(), version, [Change(f"needle {version}\n")])
            await asyncio.sleep(0)
        buffers.close(path.as_uri())

    output, _ = await asyncio.gather(world.use("Grep", pattern="needle"), type_on())

    assert re.fullmatch(rf"{path.name}\n1:needle( \d+)?|No matches found", output.data)
