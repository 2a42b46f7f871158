"""Who wrote this line: what was accepted, followed through what others type, over restarts and renames."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odin_lsp.review.provenance import Provenance
from odin_lsp.review.undo import Wanted, take_back
from odin_lsp.review.undo_log import UndoLog
from tests.support.reviewing import Bench, accept, reject

OLD = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


@pytest.fixture
def a(bench):
    path = bench.write("a.txt", OLD)
    bench.open(path)
    return path


@pytest.fixture
def provenance(bench):
    """Of the next process."""
    return Provenance(UndoLog(lambda: bench.root.parent / "state"))


@pytest.fixture
def written(bench, provenance):
    """The lines that Odin has written, by turn."""

    def written(path):
        text = bench.text(path)
        lines = text.splitlines()
        found = {}
        for it in provenance.of(path, text):
            found.setdefault(it.author.turn_id, []).extend(lines[it.first : it.last])
        return found

    return written


@pytest.fixture
def edited(bench):
    async def edited(path, *edits, turn_id="t"):
        bench.context.draft.turn.turn_id = turn_id
        await bench.read(path)
        wanted = [{"old_string": old, "new_string": new} for old, new in edits]
        await bench.use("MultiEditTool", file_path=path, edits=wanted)

    return edited


async def test_lines_that_odin_put_in_or_changed_are_its_own_and_no_others(a, edited, written):
    await edited(a, ("two\n", "two\nnew\nmore\n"), ("five", "FIVE"), ("seven\n", ""))

    assert written(a) == {"t": ["new", "more", "FIVE"]}


async def test_what_was_rejected_is_nobodys(bench, a, edited, written):
    bench.editor.decide = lambda hunk: accept(hunk) if "TWO" in hunk.new_text else reject(hunk)

    await edited(a, ("two", "TWO"), ("six", "SIX"))

    assert written(a) == {"t": ["TWO"]}


async def test_what_waits_for_a_decision_is_nobodys(bench, a, edited, written):
    seen = []
    bench.editor.meanwhile = lambda: seen.append(written(a))

    await edited(a, ("two", "TWO"))

    assert seen == [{}]


async def test_it_moves_with_what_is_typed_and_ends_where_somebody_rewrites_it(bench, a, edited, provenance, written):
    await edited(a, ("two\n", "TWO\nnew\n"))
    bench.type(a, "mine\n", 0)
    bench.type(a, "  ", 2)
    assert written(a) == {"t": ["  TWO", "new"]}
    assert not any(it.is_changed for it in provenance.of(a, bench.text(a)))

    bench.type(a, "MY", 3, 0, 3)

    assert written(a) == {"t": ["  TWO"]}
    assert all(it.is_changed for it in provenance.of(a, bench.text(a)))


async def test_a_line_that_two_turns_have_written_is_the_later_ones(a, edited, written):
    await edited(a, ("two\n", "two\nnew\nmore\n"), turn_id="t")
    await edited(a, ("new", "newer"), turn_id="u")

    assert written(a) == {"t": ["more"], "u": ["newer"]}


async def test_a_line_that_the_user_rewrote_between_two_turns_is_the_users(bench, a, edited, written):
    await edited(a, ("two\n", "two\nnew\nmore\n"), turn_id="t")
    bench.type(a, "my own", 2, 0, 3)
    await edited(a, ("six", "SIX"), turn_id="u")

    assert written(a) == {"t": ["more"], "u": ["SIX"]}


async def test_a_new_file_is_odins_until_it_is_edited(bench, written):
    path = bench.root / "new.txt"
    await bench.use("WriteFile", file_path=path, content="one\ntwo\n")
    assert written(path) == {"t": ["one", "two"]}

    path.write_text("one\nmine\n")

    assert written(path) == {"t": ["one"]}


async def test_what_was_undone_is_nobodys_and_what_was_made_again_is_odins(bench, a, edited, written):
    await edited(a, ("two", "TWO"), ("six", "SIX"))
    log = UndoLog(lambda: bench.root.parent / "state")
    first, _ = (it.hunk_id for it in bench.context.draft.turn.receipts)

    undone = await take_back(log, "t", bench.desk.applier, Wanted(hunk_ids=frozenset([first])))
    assert written(a) == {"t": ["SIX"]}

    await take_back(log, undone.undo_id, bench.desk.applier)
    assert written(a) == {"t": ["TWO", "SIX"]}


async def test_a_decision_that_is_taken_back_gives_the_lines_back(bench, a, edited, written):
    bench.editor.decide = lambda hunk: None
    task = asyncio.create_task(edited(a, ("two", "TWO"), ("six", "SIX")))
    await until(lambda: bench.editor.reviews)
    one, two = bench.editor.reviews[0].files[0].hunks
    await bench.desk.decide([accept(one)])
    assert written(a) == {"t": ["TWO"]}
    bench.type(a, "mine\n", 0)

    await bench.desk.reopen(bench.desk.proposals.select(hunk_ids=[one.id]))

    assert written(a) == {}
    await bench.desk.decide([reject(one), accept(two)])
    await task
    assert written(a) == {"t": ["SIX"]}


async def test_a_file_that_odin_moved_keeps_what_is_odins(bench, a, edited, written):
    await edited(a, ("two", "TWO"))
    await bench.editor.save((a.as_uri(),))
    bench.files.buffers.close(a.as_uri())
    moved = bench.root / "moved" / "b.txt"

    await bench.use("MoveFile", file_path=a, new_path=moved)

    assert written(moved) == {"t": ["TWO"]}


async def test_a_file_that_somebody_renamed_and_went_on_editing_keeps_what_is_odins(bench, a, edited, written):
    await edited(a, ("two", "TWO"), turn_id="t")
    renamed = bench.write("b.txt", f"mine\n{bench.text(a)}")
    bench.files.buffers.close(a.as_uri())
    a.unlink()
    assert written(renamed) == {"t": ["TWO"]}

    await edited(renamed, ("six", "SIX"), turn_id="u")

    assert written(renamed) == {"t": ["TWO"], "u": ["SIX"]}


async def test_a_rename_that_the_editor_tells_of_counts_whatever_the_text_has_become(
    bench, a, edited, provenance, written
):
    await edited(a, ("two", "TWO"))
    renamed = bench.write("new/b.txt", "TWO\nmine\nmine\n")
    bench.files.buffers.close(a.as_uri())
    assert written(renamed) == {}

    provenance.renamed(a, renamed)

    assert written(renamed) == {"t": ["TWO"]}


async def test_a_rename_of_what_odin_has_not_changed_is_not_noted(bench, a, edited, provenance):
    await edited(a, ("two", "TWO"))

    provenance.renamed(bench.root / "other.txt", bench.root / "another.txt")

    assert UndoLog(lambda: bench.root.parent / "state").renames() == []


async def test_another_file_that_looks_like_one_that_is_still_there_is_not_odins(bench, a, edited, written):
    await edited(a, ("two", "TWO"))

    copy = bench.write("b.txt", bench.text(a))

    assert written(copy) == {}


async def test_nothing_is_worked_out_again_for_a_text_that_is_the_same(bench, a, edited, provenance):
    await edited(a, ("two", "TWO"))
    text = bench.text(a)

    assert provenance.of(a, text) is provenance.of(a, text)


async def until(condition) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0)


class Story:
    """Odin, its user and undos at one file. Each line tells who has written it, and no two are the same."""

    def __init__(self, folder):
        self.bench = Bench(folder, policy="auto")
        self.path = self.bench.write("a.txt", "".join(f"u{at}\n" for at in range(6)))
        self.log = UndoLog(lambda: folder / "state")
        self.running = Provenance(self.log)
        self.count = 6

    def new(self, who, count):
        self.count += count
        return [f"{who}{self.count - at}" for at in range(count)]

    @property
    def lines(self):
        return self.path.read_text().split("\n")[:-1]

    async def odin(self, at, removed, added):
        turn_id = f"t{self.count}"
        self.bench.context.draft.turn.turn_id = turn_id
        lines = self.lines
        at %= len(lines)
        old = lines[at : at + removed + 1]
        new = [*old[:1], *self.new(f"{turn_id} ", added + 1)]
        await self.bench.read(self.path)
        await self.bench.edit(self.path, "\n".join(old), "\n".join(new))

    async def user(self, at, removed, added):
        lines = self.lines
        at %= len(lines)
        lines[at : at + removed] = self.new("u", added)
        lines = [f"  {it}" if number % 3 == at else it for number, it in enumerate(lines)]
        self.path.write_text("".join(f"{it}\n" for it in lines or self.new("u", 1)))

    async def undo(self, at, *_):
        if turns := await asyncio.to_thread(self.log.turns):
            await take_back(self.log, turns[at % len(turns)], self.bench.desk.applier)

    async def rename(self, *numbers):
        """By the user, between two turns: only what the file has in common with what Odin knows tells of it."""
        await self.odin(*numbers)
        self.path = self.path.rename(self.path.with_name(f"{self.count}.txt"))
        self.count += 1
        await self.odin(*numbers)

    @property
    def told(self):
        """The turns of lines by their numbers; the same from an Odin that has just been started."""
        text = self.path.read_text()
        found = self.running.of(self.path, text)
        assert found == Provenance(self.log).of(self.path, text)
        return {number: it.author.turn_id for it in found for number in range(it.first, it.last)}

    @property
    def true(self):
        return {number: line.split()[0] for number, line in enumerate(self.lines) if "t" in line}


def acts(*names):
    small = st.integers(0, 3)
    return st.lists(st.tuples(st.sampled_from(names), st.integers(0, 20), small, small), max_size=10)


async def play(folder, acts, check):
    story = Story(folder)
    for name, *numbers in acts:
        await getattr(story, name)(*numbers)
        check(story.told.items(), story.true.items())


@settings(max_examples=settings().max_examples // 5)
@given(acts=acts("odin", "user", "user", "rename"))
def test_every_line_is_told_to_be_of_who_wrote_it_and_no_other(tmp_path_factory, acts):
    def check(told, true):
        assert told == true

    asyncio.run(play(tmp_path_factory.mktemp("story"), acts, check))


@settings(max_examples=settings().max_examples // 5)
@given(acts=acts("odin", "odin", "user", "undo"))
def test_whatever_is_undone_no_line_is_told_to_be_of_somebody_else(tmp_path_factory, acts):
    def check(told, true):
        assert told <= true

    asyncio.run(play(tmp_path_factory.mktemp("story"), acts, check))


async def test_a_rename_is_heard_by_a_process_that_was_asked_nothing_yet(bench, a, edited, provenance, written):
    await edited(a, ("two", "TWO"))
    renamed = bench.write("new/b.txt", "TWO\nmine\nmine\n")
    bench.files.buffers.close(a.as_uri())

    provenance.renamed(a, renamed)

    assert written(renamed) == {"t": ["TWO"]}
