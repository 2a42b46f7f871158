"""A turn that is taken back: what it did goes, what others have done since stays, and it can be made again."""

import asyncio
import json

import pytest

from odin_lsp import locks
from odin_lsp.review.undo import Wanted, take_back
from odin_lsp.review.undo_log import UNDOING, UndoLog
from odin_lsp.review.undo_parts import CHANGED_SINCE
from tests.support.reviewing import Bench, restored_and_kept

OLD = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"
MOST_STAYS = "1 of 2 changes stay: it has been changed since"


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path, policy="auto")


@pytest.fixture
def log(bench):
    """Of the next process."""
    return UndoLog(lambda: bench.root.parent / "state")


@pytest.fixture
def undo(bench, log):
    def undo(turn_id="t", path=None, hunk_ids=None):
        wanted = Wanted(path, frozenset(hunk_ids) if hunk_ids is not None else None)
        return take_back(log, turn_id, bench.desk.applier, wanted)

    return undo


@pytest.fixture
def a(bench):
    return bench.write("a.txt", OLD)


@pytest.fixture
def edited(bench):
    """Changes words of a file, and has their hunks' ids."""

    async def edited(path, *words):
        await bench.read(path)
        await bench.use(
            "MultiEditTool",
            file_path=path,
            edits=[{"old_string": word, "new_string": word.upper()} for word in words],
        )
        return [it.hunk_id for it in bench.context.draft.turn.receipts[-len(words) :]]

    return edited


def world(bench):
    return {it.name: it.read_text() for it in bench.root.iterdir()}


async def test_what_was_deleted_is_there_again(bench, undo):
    path = bench.write("a.txt", "old\n")
    await bench.use("DeleteFile", file_path=path)
    assert not path.exists()

    assert restored_and_kept(await undo()) == ([path], [])
    assert path.read_text() == "old\n"


async def test_folders_that_were_made_for_a_file_go_with_it_unless_something_else_is_in_them(bench, undo):
    for name in ("new/deep/a.txt", "kept/a.txt"):
        await bench.use("WriteFile", file_path=bench.root / name, content="new\n")
    moved = bench.write("b.txt", "old\n")
    await bench.use("MoveFile", file_path=moved, new_path=bench.root / "other" / "b.txt")
    (bench.root / "kept" / "mine.txt").write_text("mine\n")

    await undo()
    assert sorted(str(it.relative_to(bench.root)) for it in bench.root.rglob("*")) == [
        "b.txt",
        "kept",
        "kept/mine.txt",
    ]


@pytest.mark.parametrize("text", ["another\n", ""])
async def test_what_stands_where_a_file_was_deleted_stays(bench, undo, text):
    path = bench.write("a.txt", "old\n")
    await bench.use("DeleteFile", file_path=path)
    path.write_text(text)

    assert restored_and_kept(await undo()) == ([], [(path, CHANGED_SINCE)])
    assert path.read_text() == text


# Where somebody has typed


@pytest.mark.parametrize("is_open", [False, True])
async def test_hunks_go_wherever_they_are_now_and_what_was_typed_around_them_stays(bench, edited, undo, a, is_open):
    if is_open:
        bench.open(a)
    await edited(a, "two", "seven")
    typed = bench.text(a).replace("one", "zero\none, typed").replace("four", "")
    if is_open:
        bench.type(a, "", 3, 0, 4)
        bench.type(a, "zero\none, typed", 0, 0, 3)
    else:
        a.write_text(typed)
    assert bench.text(a) == typed

    assert restored_and_kept(await undo()) == ([a], [])
    assert bench.text(a) == OLD.replace("one", "zero\none, typed").replace("four", "")


async def test_what_others_had_undone_before_is_not_looked_for_again_in_a_file_that_was_restored(edited, undo, a):
    await edited(a, "two")
    a.write_text(OLD)
    await edited(a, "seven")
    assert restored_and_kept(await undo()) == ([a], [])
    assert a.read_text() == OLD

    a.write_text(OLD.replace("two", "TWO"))
    assert restored_and_kept(await undo()) == ([], [])
    a.write_text(OLD.replace("two", "typed"))
    assert restored_and_kept(await undo()) == ([], [])


async def test_hunks_that_somebody_has_typed_into_stay_and_are_told(edited, undo, a):
    _, seven = await edited(a, "two", "seven")
    a.write_text(a.read_text().replace("SEVEN", "SEV-EN"))

    undone = await undo()

    assert restored_and_kept(undone) == ([a], [(a, MOST_STAYS)])
    assert undone.kept[0].hunk_ids == (seven,)
    assert a.read_text() == OLD.replace("seven", "SEV-EN")
    assert restored_and_kept(await undo()) == ([], [(a, CHANGED_SINCE)])
    a.write_text(a.read_text().replace("SEV-EN", "SEVEN"))
    assert restored_and_kept(await undo()) == ([a], [])
    assert a.read_text() == OLD


async def test_what_was_typed_between_two_edits_of_the_turn_stays(edited, undo, a):
    await edited(a, "two")
    a.write_text(a.read_text().replace("four", "four, typed"))
    await edited(a, "seven")
    a.write_text(a.read_text().replace("TWO\n", "TWO\nmore\n"))

    assert restored_and_kept(await undo()) == ([a], [])
    assert a.read_text() == OLD.replace("four", "four, typed").replace("two\n", "two\nmore\n")


async def test_lines_that_end_alike_can_stand_behind_what_goes(bench, undo):
    path = bench.write("a.py", "def f():\n    pass\n\n\n")
    await bench.read(path)
    await bench.use(
        "EditTool", file_path=path, old_string="pass\n\n\n", new_string="pass\n\n\ndef g():\n    pass\n\n\n"
    )
    path.write_text(f"{path.read_text()}def h():\n    pass\n\n\n")

    assert restored_and_kept(await undo()) == ([path], [])
    assert path.read_text() == "def f():\n    pass\n\n\ndef h():\n    pass\n\n\n"


async def test_where_it_cannot_be_told_which_of_two_alike_lines_is_left_it_stays(bench, undo):
    path = bench.write("a.txt", "same\nlast\n")
    await bench.read(path)
    await bench.edit(path, "same\n", "same\nsame\n")
    path.write_text("same\nlast\n")

    assert restored_and_kept(await undo()) == ([], [])
    path.write_text("same\nlast\ntyped\n")
    assert restored_and_kept(await undo()) == ([], [])
    assert path.read_text() == "same\nlast\ntyped\n"


async def test_what_was_removed_comes_back_unless_somebody_typed_at_the_very_place(bench, undo, a):
    await bench.read(a)
    await bench.edit(a, "three\n", "")
    await bench.edit(a, "six\n", "")
    a.write_text(a.read_text().replace("five\n", "five\nmine\n").replace("one", "ONE"))

    assert restored_and_kept(await undo()) == ([a], [(a, MOST_STAYS)])
    assert a.read_text() == OLD.replace("six", "mine").replace("one", "ONE")


async def test_what_the_user_has_taken_back_already_is_nothing_to_tell_of(bench, edited, undo, a):
    await edited(a, "two", "seven")
    a.write_text(OLD.replace("seven", "SEVEN"))

    assert restored_and_kept(await undo()) == ([a], [])
    assert a.read_text() == OLD
    b = bench.write("b.txt", OLD)
    await edited(b, "two")
    b.write_text(OLD)
    assert restored_and_kept(await undo()) == ([], [])


# Some of it


async def test_only_these_hunks_go_and_the_rest_can_go_later(edited, undo, a):
    two, five, seven = await edited(a, "two", "five", "seven")

    assert restored_and_kept(await undo(hunk_ids=[five])) == ([a], [])
    assert a.read_text() == OLD.replace("two", "TWO").replace("seven", "SEVEN")
    assert restored_and_kept(await undo(hunk_ids=[five])) == ([], [])
    a.write_text(a.read_text().replace("one", "zero\none"))
    assert restored_and_kept(await undo(None, hunk_ids=[seven, "unknown"])) == ([a], [])
    assert restored_and_kept(await undo(None)) == ([a], [])
    assert a.read_text() == OLD.replace("one", "zero\none")
    assert restored_and_kept(await undo(hunk_ids=[two])) == ([], [])


async def test_only_this_file_goes_by_whichever_of_its_names(bench, edited, undo, a):
    b, c = bench.write("b.txt", OLD), bench.root / "c.txt"
    await edited(a, "two")
    await edited(b, "two")
    await bench.use("MoveFile", file_path=a, new_path=c)
    await edited(c, "seven")

    assert restored_and_kept(await undo(path=c)) == ([c, a], [])
    assert (a.read_text(), c.exists()) == (OLD, False)
    assert b.read_text() == OLD.replace("two", "TWO")
    assert restored_and_kept(await undo()) == ([b], [])


async def test_a_hunk_of_a_file_that_was_moved_since_is_found_there(bench, edited, undo, a):
    [two] = await edited(a, "two")
    moved = bench.root / "sub" / "c.txt"
    await bench.use("MoveFile", file_path=a, new_path=moved)

    assert restored_and_kept(await undo(hunk_ids=[two])) == ([moved], [])
    assert moved.read_text() == OLD


async def test_several_edits_of_one_place_go_together(bench, edited, undo, a):
    [first] = await edited(a, "two")
    await bench.edit(a, "TWO", "2")
    await edited(a, "seven")

    assert restored_and_kept(await undo(hunk_ids=[first])) == ([a], [])
    assert a.read_text() == OLD.replace("seven", "SEVEN")


async def test_a_hunk_of_a_new_file_goes_without_the_file(bench, edited, undo):
    path = bench.root / "new.txt"
    await bench.use("WriteFile", file_path=path, content=OLD)
    [two] = await edited(path, "two")

    assert restored_and_kept(await undo(hunk_ids=[two])) == ([path], [])
    assert path.read_text() == OLD
    assert restored_and_kept(await undo()) == ([path], [])
    assert not path.exists()


# Made again


async def test_an_undo_can_be_undone_and_that_too(edited, undo, a):
    await edited(a, "two", "seven")
    new = a.read_text()
    undone = await undo()

    for text in (new, OLD, new, OLD):
        undone = await undo(undone.undo_id)
        assert restored_and_kept(undone) == ([a], [])
        assert a.read_text() == text


async def test_while_another_odin_undoes_something_an_undo_waits(bench, edited, undo, a):
    await edited(a, "two")
    with locks.held(bench.root.parent / "state" / UNDOING):
        task = asyncio.create_task(undo())
        await asyncio.wait([task], timeout=locks.MOMENT)
        assert not task.done()
        a.write_text(OLD)  # the other one is faster

    assert restored_and_kept(await task) == ([], [])


async def test_what_an_undo_has_taken_from_between_what_was_typed_comes_back_to_where_it_was(bench, undo):
    path = bench.write("a.txt", "")
    await bench.read(path)
    await bench.use("WriteFile", file_path=path, content="\n")
    path.write_text("typed\n")
    undone = await undo()
    assert path.read_text() == "typed"

    for text in ("typed\n", "typed"):
        undone = await undo(undone.undo_id)
        assert restored_and_kept(undone) == ([path], [])
        assert path.read_text() == text


async def test_what_was_typed_since_stays_when_an_undo_is_undone(edited, undo, a):
    await edited(a, "two", "seven")
    undone = await undo()
    a.write_text(a.read_text().replace("one", "zero\none").replace("seven", "mine"))

    again = await undo(undone.undo_id)
    assert restored_and_kept(again) == ([a], [(a, MOST_STAYS)])
    assert a.read_text() == OLD.replace("one", "zero\none").replace("two", "TWO").replace("seven", "mine")
    assert restored_and_kept(await undo()) == ([a], [])
    assert a.read_text() == OLD.replace("one", "zero\none").replace("seven", "mine")


async def test_all_that_a_turn_did_to_files_is_made_again(bench, edited, undo, a):
    b, c, new = bench.write("b.txt", OLD), bench.root / "c.txt", bench.root / "new.txt"
    await edited(a, "two")
    await bench.use("MoveFile", file_path=a, new_path=c)
    await edited(c, "seven")
    await bench.use("DeleteFile", file_path=b)
    await bench.use("WriteFile", file_path=new, content=OLD)
    await edited(new, "five")
    left = world(bench)

    undone = await undo()
    assert undone.kept == ()
    assert world(bench) == {"a.txt": OLD, "b.txt": OLD}
    undone = await undo(undone.undo_id)
    assert undone.kept == ()
    assert world(bench) == left
    await undo()
    assert world(bench) == {"a.txt": OLD, "b.txt": OLD}


async def test_the_last_turn_is_never_an_undo_nor_one_that_was_taken_back(bench, edited, undo, a):
    b = bench.write("b.txt", OLD)
    await edited(a, "two", "seven")
    bench.context.draft.turn.turn_id = "later"
    await edited(b, "two", "seven")
    b.write_text(b.read_text().replace("SEVEN", "SEV-EN"))

    last = await undo(None)
    assert restored_and_kept(last) == ([b], [(b, MOST_STAYS)])
    first = await undo(None)
    assert restored_and_kept(first) == ([a], [])
    assert restored_and_kept(await undo(None)) == ([], [(b, CHANGED_SINCE)])
    await undo(first.undo_id)
    await undo(last.undo_id)
    assert restored_and_kept(await undo(None)) == ([b], [(b, MOST_STAYS)])


async def test_a_turn_of_which_only_some_was_undone_is_still_the_last_one(bench, edited, undo, a):
    b = bench.write("b.txt", OLD)
    await edited(a, "two")
    bench.context.draft.turn.turn_id = "later"
    two, _ = await edited(b, "two", "seven")
    await undo("later", hunk_ids=[two])
    b.write_text(b.read_text().replace("SEVEN", "SEV-EN"))

    assert restored_and_kept(await undo(None)) == ([], [(b, CHANGED_SINCE)])
    assert a.read_text() == OLD.replace("two", "TWO")


@pytest.mark.parametrize("is_made", [False, True])
async def test_an_undo_that_was_cut_off_goes_on_and_is_one(bench, edited, undo, a, is_made):
    b, carry_out = bench.write("b.txt", OLD), bench.editor.apply
    await edited(a, "two")
    await edited(b, "two")

    async def cut_off(change):
        if is_made or change.uri == b.as_uri():
            await carry_out(change)
        if change.uri == a.as_uri():
            raise asyncio.CancelledError

    bench.editor.apply = cut_off
    with pytest.raises(asyncio.CancelledError):
        await undo()
    bench.editor.apply = carry_out
    assert (a.read_text() == OLD, b.read_text()) == (is_made, OLD)

    undone = await undo(None)

    assert restored_and_kept(undone) == ([a], [])
    assert a.read_text() == OLD
    await undo(undone.undo_id)
    assert [it.read_text() for it in (a, b)] == [OLD.replace("two", "TWO")] * 2


async def test_a_turn_of_an_earlier_version_can_be_made_again(bench, undo, a):
    new = bench.write("new.txt", "new\n")
    a.write_text(OLD.replace("two", "TWO"))
    files = [
        {"path": str(a), "operation": "edit", "before": OLD, "after": a.read_text()},
        {"path": str(new), "operation": "create", "after": "new\n"},
    ]
    (bench.root.parent / "state").mkdir()
    (bench.root.parent / "state" / "t.json").write_text(json.dumps({"turnId": "t", "files": files}))

    undone = await undo()
    assert restored_and_kept(undone) == ([new, a], [])
    assert (a.read_text(), new.exists()) == (OLD, False)
    a.write_text(f"{OLD}typed\n")
    assert restored_and_kept(await undo(undone.undo_id)) == ([a, new], [])
    assert a.read_text() == f"{OLD.replace('two', 'TWO')}typed\n"
    assert new.read_text() == "new\n"


async def test_what_cannot_be_noted_is_taken_back_and_known_until_odin_ends(bench, edited, undo, log, a):
    await edited(a, "two")
    log._append = lambda *_, **__: (_ for _ in ()).throw(OSError(28, "No space left on device"))

    undone = await undo()

    assert (restored_and_kept(undone), undone.undo_id) == (([a], []), None)
    assert a.read_text() == OLD
    assert restored_and_kept(await undo(None)) == ([], [])


async def test_one_change_of_a_file_that_is_gone_cannot_be_taken_back_and_that_is_told(edited, undo, a):
    two, _ = await edited(a, "two", "seven")
    a.unlink()

    undone = await undo(hunk_ids=[two])

    assert restored_and_kept(undone) == ([], [(a, CHANGED_SINCE)])
    assert not a.exists()
