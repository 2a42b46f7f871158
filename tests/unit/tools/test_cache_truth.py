"""Whatever tools, editor and other programs do to files: each field of the cache says what is so."""

import asyncio
import hashlib
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from odin_lsp.review.undo import take_back
from odin_lsp.review.undo_log import UndoLog
from odin_lsp.workspace.buffers import Stamp, moved
from odin_lsp.workspace.text import Change
from tests.support.reviewing import Bench

NAMES = st.sampled_from(["a.txt", "b.txt", "c.txt"])
TEXTS = st.lists(st.sampled_from(["x\n", "y\n", "xy\r\n", "ü x\n"]), max_size=6).map("".join)
LINES = st.integers(1, 4)
ACTS = st.one_of(
    st.tuples(st.just("read"), NAMES, LINES, LINES),
    st.tuples(st.just("read_all"), NAMES),
    st.tuples(st.just("search"), NAMES, st.sampled_from(["x", "[x]"])),
    st.tuples(st.just("search_folder"), st.integers(0, 1)),
    st.tuples(st.just("write"), NAMES, TEXTS),
    st.tuples(st.just("delete"), NAMES),
    st.tuples(st.just("move"), NAMES, NAMES),
    st.tuples(st.just("open"), NAMES),
    st.tuples(st.just("type"), NAMES, TEXTS),
    st.tuples(st.just("save"), NAMES),
    st.tuples(st.just("close"), NAMES),
    st.tuples(st.just("write_on_disk"), NAMES, TEXTS, st.booleans()),
    st.tuples(st.just("touch"), NAMES),
)


@dataclass
class Known:
    """What should be known of a file."""

    version: Stamp | None = None
    lines: set[int] = field(default_factory=set[int])
    is_whole: bool = False
    total: int | None = None
    uses: int = 0
    is_written: bool = False
    original: str | None = None
    first: float | None = None

    def follow(self, version: Stamp | None) -> bool:
        """Whether the same text is there as when it was last seen."""
        if version != self.version:
            self.version, self.lines, self.is_whole = version, set(), False
        if not self.lines and not self.is_whole:
            self.total = None
        return bool(self.lines or self.is_whole)

    def see(self, text: str, lines: set[int], *, at_hand: bool = True, uses: int = 1) -> None:
        """Some lines were seen, and the whole text was at hand for it or not."""
        self.lines = self.lines | lines
        self.total = len(split(text)) if at_hand else self.total
        self.is_whole = self.is_whole or (at_hand and self.lines >= every(text))
        self.original = text if self.is_whole and self.original is None else self.original
        self.uses += uses if self.lines or self.is_whole else 0

    def see_window(self, text: str, start: int, count: int, *, is_open: bool, uses: int = 1) -> None:
        """Lines that are held need not be read; of what is on the screen all is at hand."""
        wanted = set(range(start, min(start + count - 1, self.total or start + count) + 1))
        is_held = self.is_whole or wanted <= self.lines
        self.see(text, wanted & every(text), at_hand=is_open or not is_held, uses=uses)


def split(text: str) -> list[str]:
    return text.splitlines()


def every(text: str) -> set[int]:
    return set(range(1, len(split(text)) + 1))


def digest(text: str | None) -> str | None:
    return None if text is None or text == MADE else hashlib.sha256(text.encode()).hexdigest()


MADE = "\0"
"""In place of the first text of a file that Odin has made."""


class World:
    """The acts, and what they should lead to."""

    def __init__(self, folder: Path) -> None:
        self.bench = Bench(folder)
        self.files = self.bench.files
        self.known: dict[Path, Known] = {}
        for name in ("a.txt", "b.txt"):
            self.bench.write(name, "x\ny\nx\n")

    def path(self, name: str) -> Path:
        return self.bench.root / name

    def of(self, path: Path) -> Known:
        known = self.known.setdefault(path, Known())
        self.check(path, known)
        return known

    def is_open(self, path: Path) -> bool:
        return self.files.buffers.of_path(path) is not None

    def text(self, path: Path) -> str:
        buffer = self.files.buffers.of_path(path)
        return buffer.text if buffer else path.read_bytes().decode()

    def mod_time(self, path: Path) -> float:
        """Of a document, as the editor knows it."""
        buffer = self.files.buffers.of_path(path)
        times = path.stat().st_mtime_ns if buffer is None else buffer.disk.stamp[0] if buffer.disk else 0
        return times / 1e9

    def check(self, path: Path, known: Known) -> None:
        """Look at it, as something will: what is on the screen is seen at once, what is on disk only if it is read."""
        on_screen, was_whole = self.files.buffers.of_path(path), known.is_whole
        known.follow(self.files.stamp(path))
        if on_screen and was_whole and not known.is_whole:
            known.see(on_screen.text, every(on_screen.text), uses=0)

    async def read(self, name: str, start: int = 1, count: int = 2000) -> None:
        path = self.path(name)
        if path.exists():
            await self.bench.use("Read", file_path=path, offset=start, limit=count)
            self.of(path).see_window(self.text(path), start, count, is_open=self.is_open(path))

    async def read_all(self, name: str) -> None:
        await self.read(name)

    async def search(self, name: str, pattern: str) -> None:
        path = self.path(name)
        if path.exists():
            await self.bench.use("Grep", pattern=pattern, path=path, output_mode="content")
            uses = int("x" in self.text(path))
            self.of(path).see_window(self.text(path), 1, 2000, is_open=self.is_open(path), uses=uses)

    async def search_folder(self, around: int) -> None:
        await self.bench.use("Grep", pattern="x", output_mode="content", **{"-C": around})
        for path in filter(Path.exists, map(self.path, ("a.txt", "b.txt", "c.txt"))):
            lines = split(self.text(path))
            hits = [number for number, line in enumerate(lines, 1) if "x" in line]
            shown = {it for number in hits for it in range(number - around, number + around + 1)} & every(
                self.text(path)
            )
            if shown:
                self.of(path).see(self.text(path), shown, at_hand=False)

    async def write(self, name: str, text: str) -> None:
        path, is_new = self.path(name), not self.path(name).exists()
        before = None if is_new else self.text(path)
        if not is_new:
            await self.read(name)
            self.keep(path)
        result = await self.bench.use("WriteFile", file_path=path, content=text)
        if not result.failed and self.text(path) != before:
            known = self.of(path)
            known.original = MADE if is_new and known.original is None else known.original
            known.is_written = True
            known.see(self.text(path), every(self.text(path)))

    async def delete(self, name: str) -> None:
        path, buffer = self.path(name), self.files.buffers.of_path(self.path(name))
        if path.exists() and not (buffer and moved(buffer)):
            self.keep(path)
            await self.bench.use("DeleteFile", file_path=path)
            self.of(path).is_written = True

    async def move(self, name: str, other: str) -> None:
        path, new = self.path(name), self.path(other)
        if path.exists() and not new.exists():
            self.keep(path)
            await self.bench.use("MoveFile", file_path=path, new_path=new)
            self.known[new] = self.known.pop(path)

    def keep(self, path: Path) -> None:
        """For review and undo, the whole text is looked at before a file changes or goes."""
        self.of(path).see(self.text(path), every(self.text(path)), uses=0)

    def open(self, name: str) -> None:
        if self.path(name).exists():
            self.bench.open(self.path(name))

    def type(self, name: str, text: str) -> None:
        if buffer := self.files.buffers.of_path(self.path(name)):
            self.files.buffers.change(buffer.uri, buffer.version + 1, [Change(text)])

    async def save(self, name: str) -> None:
        if self.files.buffers.of_path(self.path(name)):
            await self.bench.editor.save((self.path(name).as_uri(),))
            self.files.heed([self.path(name)])

    def close(self, name: str) -> None:
        self.files.buffers.close(self.path(name).as_uri())

    def write_on_disk(self, name: str, text: str, is_told: bool) -> None:
        self.bench.write(name, text)
        self.set_time(self.path(name))
        if is_told:
            self.files.heed([self.path(name)])

    def touch(self, name: str) -> None:
        if self.path(name).exists():
            self.set_time(self.path(name))

    def set_time(self, path: Path) -> None:
        """A document has its file's time from when somebody next looks at that: here at once."""
        os.utime(path, ns=(self.tick(), self.tick()))
        if buffer := self.files.buffers.of_path(path):
            moved(buffer)

    ticks = 1_000_000_000

    def tick(self) -> int:
        """A time that no other change has."""
        World.ticks += 1_000_000
        return World.ticks

    async def compare(self) -> None:
        for path, known in self.known.items():
            self.check(path, known)
        held = dict(await self.files.held())
        assert held.keys() == {path for path, known in self.known.items() if known.lines or known.is_whole}
        for path, file in held.items():
            known, text = self.known[path], self.text(path)
            lines = split(text)
            assert file.is_partial is file.is_truncated is not known.is_whole
            assert file.full_content is None or file.full_content.text == text
            assert {it: lines[it - 1] for it in known.lines if not known.is_whole} == {
                number: line for it in file.segments for number, line in enumerate(it.lines, it.start)
            }
            assert file.content_hash == (digest(text) if known.is_whole else None)
            assert file.original_hash == digest(known.original)
            assert file.is_modified == (known.is_written and (file.is_partial or text != known.original))
            assert (file.size, file.total_lines) == (len(text.encode()), known.total)
            assert (file.access_count, file.mod_time) == (known.uses, self.mod_time(path))
            known.first = known.first or file.cached_at
            assert known.first == file.cached_at <= file.read_at
            assert file.cached_bytes == (sum(it.size for it in file.segments) if file.is_partial else file.size)
        assert self.files.cache.size == sum(file.cached_bytes for file in held.values())


async def play(folder: Path, acts: list[tuple[object, ...]]) -> None:
    world = World(folder)
    for act, *arguments in acts:
        done = getattr(world, str(act))(*arguments)
        if asyncio.iscoroutine(done):
            await done
        await world.compare()


@settings(max_examples=settings().max_examples // 2, deadline=None)
@given(st.lists(ACTS, max_size=12))
@example([("read", "a.txt", 1, 1), ("search_folder", 1), ("write", "a.txt", "")])
def test_each_field_is_true_whatever_happens_to_the_files(acts):
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Path(folder).resolve(), acts))


async def undo(bench: Bench) -> None:
    await take_back(UndoLog(lambda: bench.root.parent / "state"), "t", bench.desk.applier)


@pytest.mark.parametrize("is_open", [True, False])
async def test_after_an_undo_a_file_is_not_modified_and_has_its_first_hash(tmp_path, is_open):
    bench = Bench(tmp_path)
    path = bench.write("a.txt", "one\ntwo\n")
    if is_open:
        bench.open(path)
    await bench.use("Read", file_path=path, offset=2, limit=1)
    await bench.edit(path, "two", "three")
    file = bench.files.cache.peek(path)
    assert (file.is_partial, file.segments, file.is_modified) == (False, [], True)
    assert file.original_hash == digest("one\ntwo\n") != file.content_hash == digest("one\nthree\n")

    await undo(bench)

    file = bench.files.cache.peek(path)
    assert (file.is_modified, file.content_hash, file.access_count) == (False, file.original_hash, 3)


async def test_what_is_made_moved_or_removed_is_known_before_and_after_an_undo(tmp_path):
    bench = Bench(tmp_path)
    made, moved_from, moved_to, removed = (bench.root / name for name in ("made", "from", "to", "removed"))
    await bench.read(bench.write("from", "one\n"), bench.write("removed", "two\n"))
    await bench.use("WriteFile", file_path=made, content="new\n")
    await bench.use("MoveFile", file_path=moved_from, new_path=moved_to)
    await bench.use("DeleteFile", file_path=removed)
    assert {path: file.is_modified for path, file in await bench.files.held()} == {made: True, moved_to: False}

    await undo(bench)

    assert {path: file.is_modified for path, file in await bench.files.held()} == {moved_from: False, removed: False}


async def test_a_save_keeps_the_first_hash_and_what_is_modified(tmp_path):
    bench = Bench(tmp_path)
    path = bench.write("a.txt", "one\n")
    bench.open(path)
    await bench.read(path)
    await bench.edit(path, "one", "two")
    await bench.context.saver.save()
    bench.files.heed([path])
    bench.files.buffers.close(path.as_uri())
    await bench.read(path)

    file = bench.files.cache.peek(path)
    assert (file.is_modified, file.original_hash, file.content_hash) == (True, digest("one\n"), digest("two\n"))
