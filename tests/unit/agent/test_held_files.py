"""What the model is told of files: little, once, and only what is true."""

import itertools
import time

import pytest

from odin_lsp.agent.held_files import CHANGED, MAX_TOLD, SEEN, HeldFiles
from odin_lsp.messages import user
from tests.support.reviewing import Bench, reject


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


@pytest.fixture
def held(bench):
    return HeldFiles(bench.files, bench.context.shown, lambda: bench.context.draft.texts)


@pytest.fixture
def clock(monkeypatch):
    """Seconds pass from one look to the next."""
    seconds = itertools.count(1_700_000_000)
    monkeypatch.setattr("odin_lsp.workspace.shown.time.time", lambda: float(next(seconds)))


def told(held, earlier=""):
    """The lines of the list, without times and folders."""
    lines = held.listed([user(earlier)] if earlier else [])
    return [line.partition(f"{held.files.roots[0]}/")[2] for line in lines[1:]]


def seen(held, path):
    return time.strftime("seen %H:%M:%S", time.localtime(held.shown.of(path).at))


async def test_the_list_says_size_time_and_who_has_changed_what(bench, held):
    names = ("whole", "part", "edited", "typed")
    whole, part, edited, typed = (bench.write(name, "one\ntwo\nthree\n") for name in names)
    bench.open(typed)
    await bench.read(whole, edited, typed)
    await bench.use("Read", file_path=part, offset=2, limit=1)
    await bench.edit(edited, "two", "TWO")
    bench.type(typed, "new ", 1)

    assert told(held) == [
        f"whole (14 bytes, {seen(held, whole)})",
        f"edited (14 bytes, {seen(held, edited)}, modified by you)",
        f"typed (18 bytes, {seen(held, typed)}, changed by others since)",
        f"part (14 bytes, parts of it, {seen(held, part)})",
    ]


async def test_nothing_is_told_twice_and_what_is_new_is_told(bench, held, clock):
    one, two = bench.write("one", "1\n"), bench.write("two", "2\n")
    assert held.listed([]) == []
    await bench.read(one, two)
    first = held.listed([])
    assert first[0] == SEEN
    assert held.listed([user("\n".join(first))]) == []

    await bench.read(two)

    assert told(held, "\n".join(first)) == [f"two (2 bytes, {seen(held, two)})"]


async def test_the_list_is_short_however_many_files_were_seen(bench, held):
    await bench.read(*(bench.write(f"{number}.txt", "x\n") for number in range(MAX_TOLD + 5)))

    assert len(held.listed([])) == 1 + MAX_TOLD


async def test_what_others_change_is_told_once_until_it_was_read_again(bench, held):
    path = bench.write("a", "one\ntwo\n")
    await bench.read(path)
    assert held.changed() == []
    path.write_text("other\ntwo\n")
    assert held.changed() == [CHANGED, f"- {path}"]
    path.write_text("another\ntwo\n")
    assert held.changed() == []

    await bench.read(path)
    assert held.changed() == []
    path.unlink()

    assert held.changed() == [CHANGED, f"- {path}"]


async def test_what_is_saved_touched_or_changed_elsewhere_is_not_told(bench, held):
    path, large = bench.write("a", "one\n"), bench.write("b", "one\ntwo\nthree\n")
    bench.open(path)
    await bench.read(path)
    await bench.use("Read", file_path=large, offset=1, limit=2)
    bench.files.buffers.save(path.as_uri())
    large.write_text("one\ntwo\nother\n")

    assert held.changed() == []


@pytest.mark.parametrize("policy", ["each", "end"])
@pytest.mark.parametrize("is_open", [True, False])
async def test_what_the_model_itself_changes_is_not_told(tmp_path, policy, is_open):
    bench = Bench(tmp_path, policy=policy)
    held = HeldFiles(bench.files, bench.context.shown, lambda: bench.context.draft.texts)
    path = bench.write("a", "one\ntwo\n")
    if is_open:
        bench.open(path)
    await bench.read(path)
    await bench.edit(path, "two", "three\nfour")
    await bench.use("WriteFile", file_path=bench.root / "new", content="x\n")
    assert held.changed() == []
    await bench.context.draft.review()

    assert held.changed() == []


async def test_an_edit_that_was_rejected_is_no_change(bench, held):
    path = bench.write("a", "one\ntwo\n")
    await bench.read(path)
    bench.editor.decide = reject
    await bench.edit(path, "two", "three")

    assert (held.changed(), told(held)) == ([], [f"a (8 bytes, {seen(held, path)})"])


async def test_a_change_that_the_list_has_told_is_not_told_again_in_the_same_turn(bench, held):
    path = bench.write("a", "one\n")
    await bench.read(path)
    path.write_text("other\n")

    assert told(held) == [f"a (4 bytes, {seen(held, path)}, changed by others since)"]
    assert held.changed() == []
