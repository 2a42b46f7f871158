"""What a turn changed is on disk before it is changed, and stays there as long as it may."""

import asyncio
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from odin_lsp.config import ReviewSettings
from odin_lsp.events import EventRecord, TurnFinished
from odin_lsp.records import Outcome
from odin_lsp.review.before_images import digest_of, keep, locked
from odin_lsp.review.undo_log import IMAGES, UndoLog
from odin_lsp.review.undo_steps import StepHunk, new_step

DAY = 24 * 60 * 60


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "undo"


@pytest.fixture
def settings():
    return {"undoDays": 30, "undoBytes": 10_000}


@pytest.fixture
def log(folder, settings):
    return UndoLog(lambda: folder, lambda: ReviewSettings(**settings))


@pytest.fixture
def change(log):
    async def change(turn_id, name, before, after, operation="edit"):
        step = new_step(Path("/w") / name, operation)
        problem = await log.intend(turn_id, step, before, [after])
        await log.finish(turn_id, step, before, after)
        return problem

    return change


@pytest.fixture
def change_elsewhere(folder, settings):
    """By an Odin that ends afterwards, so that its turns do not run any more."""

    def change_elsewhere(turn_id, name, before, age=0):
        log = UndoLog(lambda: folder, lambda: ReviewSettings(**settings))
        step = new_step(Path("/w") / name, "edit")
        log._note(turn_id, step, before, [])
        os.utime(folder / f"{turn_id}.jsonl", (time.time() - age,) * 2)

    return change_elsewhere


def images(folder):
    return {it.name for it in (folder / IMAGES).iterdir()}


async def test_a_text_is_written_once_and_is_the_users_alone(log, change, folder):
    await change("t", "a", "same", "one")
    first = (folder / IMAGES / digest_of("same")).stat()
    await change("t", "b", "same", "two")
    await change("t", "a", "one", "three")

    assert images(folder) == {digest_of("same")}
    assert (folder / IMAGES / digest_of("same")).stat() == first
    assert {it.stat().st_mode & 0o777 for it in folder.rglob("*") if it.is_file()} == {0o600}
    assert [(it.path, log.before(it), it.after) for it in log.steps("t")] == [
        ("/w/a", "same", (digest_of("three"),)),
        ("/w/b", "same", (digest_of("two"),)),
    ]


async def test_a_log_only_grows(change, folder):
    await change("t", "a", "before", "after")
    begun = (folder / "t.jsonl").read_bytes()
    await change("t", "b", "before", "after")

    assert (folder / "t.jsonl").read_bytes().startswith(begun)


async def test_a_log_that_others_have_removed_is_begun_anew(change, folder):
    await change("t", "a", "before", "after")
    (folder / "t.jsonl").unlink()
    await change("t", "b", "before", "after")

    assert [it.path for it in UndoLog(lambda: folder).steps("t")] == ["/w/b"]


async def test_what_is_about_to_happen_is_on_disk_and_what_did_not_happen_is_no_step(log, folder):
    step = new_step(Path("/w/a"), "edit")
    await log.intend("t", step, "before", ["after"])

    [read] = UndoLog(lambda: folder).steps("t")
    assert (read.state, log.before(read), read.after) == ("intended", "before", (digest_of("after"),))
    await log.drop("t", step)
    assert log.steps("t") == UndoLog(lambda: folder).steps("t") == []


async def test_nothing_is_written_for_what_was_never_intended(log, folder):
    await log.drop("t", new_step(Path("/w/a"), "edit"))

    assert not folder.exists()


async def test_an_unfinished_edit_of_a_file_that_the_turn_had_edited_leads_back_to_the_same_text(log, change, folder):
    await change("t", "a", "one", "two")
    await log.intend("t", new_step(Path("/w/a"), "edit"), "two", ["three"])

    [step] = UndoLog(lambda: folder).steps("t")
    assert (log.before(step), step.after) == ("one", (digest_of("two"), digest_of("three")))


async def test_where_somebody_came_in_between_nothing_is_known_to_be_the_turns(log, change):
    await change("t", "a", "one", "two")
    await change("t", "a", "two, typed", "three")

    assert [it.after for it in log.steps("t")] == [()]


async def test_edits_whose_hunks_are_known_are_one_way_back_unless_somebody_came_in_between(log, folder):
    async def change(before, after, *hunks):
        step = replace(new_step(Path("/w/a"), "edit"), hunks=hunks)
        await log.intend("t", step, before, [after])
        await log.finish("t", step, before, after)

    await change("one", "two", first := StepHunk("1", 0, 3, "two"))
    await change("two", "three", second := StepHunk("2", 0, 3, "three"))
    await change("three, typed", "four, typed", third := StepHunk("3", 0, 5, "four"))

    for told_by in (log, UndoLog(lambda: folder)):
        files = told_by.steps("t")
        assert [(told_by.before(it), [step.hunks for step in it.steps]) for it in files] == [
            ("one", [(first,), (second,)]),
            ("three, typed", [(third,)]),
        ]
    assert (folder / "t.jsonl").read_text().count('"three"') == 1


async def test_where_there_is_no_room_for_hunks_the_file_is_undone_as_a_whole(log, settings, folder):
    settings["undoBytes"] = 20
    step = replace(new_step(Path("/w/a"), "edit"), hunks=(StepHunk("1", 0, 3, "x" * 21),))
    await log.intend("t", step, "one", ["x" * 21])
    await log.finish("t", step, "one", "x" * 21)

    [file] = log.steps("t")
    assert (file.has_hunks, file.ids, file.after) == (False, (step.id,), (digest_of("x" * 21),))


@pytest.mark.parametrize("cut", range(1, 60, 7))
async def test_a_line_that_was_cut_short_is_left_out_and_the_next_one_is_whole(change, folder, cut):
    await change("t", "a", "one", "two")
    await change("t", "b", "one", "two")
    path = folder / "t.jsonl"
    path.write_bytes(path.read_bytes()[:-cut])
    await change("t", "c", "one", "two")

    steps = UndoLog(lambda: folder).steps("t")
    assert {it.path: it.state for it in steps} == {
        "/w/a": "done",
        "/w/b": "done" if cut == 1 else "intended",
        "/w/c": "done",
    }


async def test_a_text_that_is_not_what_it_was_is_not_brought_back(log, change, folder):
    await change("t", "a", "before", "after")
    (folder / IMAGES / digest_of("before")).write_text("BEFORE")

    assert [log.before(it) for it in log.steps("t")] == [None]


async def test_the_turn_that_changed_something_last_is_the_last_one_whatever_a_clock_says(change, folder):
    await change("ahead", "a", "one", "two")
    ahead = (folder / "ahead.jsonl").stat().st_mtime_ns + 365 * DAY * 10**9
    os.utime(folder / "ahead.jsonl", ns=(ahead, ahead))
    log = UndoLog(lambda: folder)
    for turn_id in ("first", "second"):
        step = new_step(Path("/w/b"), "edit")
        await log.finish(turn_id, step, "one", "two")

    assert log.turns() == ["second", "first", "ahead"]
    assert UndoLog(lambda: folder).turns() == ["second", "first", "ahead"]


async def test_a_turn_of_an_earlier_version_is_read(log, folder):
    folder.mkdir()
    files = [
        {"path": "/w/a", "operation": "edit", "before": "one", "after": "two"},
        {"path": "/w/b", "operation": "rename", "newPath": "/w/c"},
    ]
    (folder / "t.json").write_text(json.dumps({"turnId": "t", "files": files}))

    edit, rename = log.steps("t")
    assert log.turns() == ["t"]
    assert (edit.path, log.before(edit), edit.after) == ("/w/a", "one", (digest_of("two"),))
    assert (rename.path, rename.new_path) == ("/w/b", "/w/c")
    await log.add("t", [replace(rename.steps[0], state="dropped")])
    assert log.steps("t") == [edit]


# What cannot be kept


async def test_what_is_more_than_may_be_kept_is_refused_before_it_is_changed(log, change, folder):
    path = Path("/w/b")
    await change("t", "a", "x" * 6_000, "after")

    assert log.refusal("t", path, "edit", "y" * 4_000) is None
    assert log.refusal("t", path, "edit", "y" * 4_001) == "what it was is more than `review.undoBytes` allows"
    assert log.refusal("other", path, "edit", "y" * 4_001) is None
    assert log.refusal("t", Path("/w/a"), "edit", "y" * 10_001) is None
    assert await change("t", "b", "y" * 4_001, "after") == "what it was is more than `review.undoBytes` allows"
    for told_by in (log, UndoLog(lambda: folder)):
        assert [it.lost for it in told_by.steps("t")] == [None, "what it was is more than `review.undoBytes` allows"]


async def test_a_folder_and_what_is_no_text_cannot_be_brought_back(log, tmp_path):
    assert log.refusal("t", tmp_path, "delete", None) == "a folder is not kept"
    assert log.refusal("t", tmp_path / "a", "delete", None) == "it is no text"
    assert log.refusal("t", tmp_path / "a", "create", None) is None


async def test_a_folder_that_cannot_be_written_is_told_of_before_and_afterwards(log, change, folder):
    folder.write_text("in the way")

    assert log.refusal("t", Path("/w/a"), "edit", "before") == f"{folder} cannot be written"
    assert await change("t", "a", "before", "after") == f"{folder} cannot be written"
    assert log.turns() == ["t"]
    assert [it.lost for it in log.steps("t")] == [f"{folder} cannot be written"]


def test_a_disk_that_fills_up_is_told_of_and_what_was_kept_before_stays(folder):
    script = """
import asyncio, resource, sys
from pathlib import Path
from odin_lsp.review.undo_log import UndoLog
from odin_lsp.review.undo_steps import StepHunk, new_step

async def main():
    log = UndoLog(lambda: Path(sys.argv[1]))
    one, two = new_step(Path("/w/a"), "edit"), new_step(Path("/w/b"), "edit")
    await log.intend("t", one, "small", ["after"])
    await log.finish("t", one, "small", "after")
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, resource.RLIM_INFINITY))
    print(await log.intend("t", two, "x" * 5000, ["after"]))
    print([it.lost for it in log.steps("t")])

asyncio.run(main())
"""
    run = subprocess.run([sys.executable, "-c", script, folder], capture_output=True, text=True, check=True)

    reason = f"{folder} cannot be written: File too large"
    assert run.stdout.splitlines() == [reason, str([None, reason])]
    assert images(folder) == {digest_of("small")}
    assert [it.path for it in UndoLog(lambda: folder).steps("t")] == ["/w/a"]


# What goes


async def test_old_turns_go_and_so_do_their_texts_unless_another_needs_them(change, change_elsewhere, folder):
    change_elsewhere("old", "a", "old only", age=31 * DAY)
    change_elsewhere("older", "a", "shared", age=32 * DAY)
    change_elsewhere("young", "a", "shared", age=29 * DAY)
    await change("new", "b", "new", "after")

    assert {it.stem for it in folder.glob("*.jsonl")} == {"young", "new"}
    assert images(folder) == {digest_of("shared"), digest_of("new")}


async def test_when_it_is_too_much_the_oldest_goes_first(change, change_elsewhere, folder):
    for age in range(3, 0, -1):
        change_elsewhere(f"t{age}", "a", str(age) * 4_000, age=age)
    await change("new", "b", "new", "after")

    assert {it.stem for it in folder.glob("*.jsonl")} == {"t2", "t1", "new"}
    assert images(folder) == {digest_of(it) for it in ("2" * 4_000, "1" * 4_000, "new")}


async def test_logs_count_too_and_no_more_of_them_go_than_have_to(change, change_elsewhere, folder):
    for age in range(99, 0, -1):
        change_elsewhere(f"t{age}", "a", "same", age=age)
    await change("new", "b", "new", "after")

    left = {it.stem: it.stat().st_size for it in folder.glob("*.jsonl")}
    assert 9_000 < sum(left.values()) <= 10_500
    assert {"new", "t1"} <= left.keys()
    assert "t99" not in left


async def test_what_may_go_is_looked_for_again_when_a_tenth_of_the_room_has_been_used(change, change_elsewhere, folder):
    await change("first", "a", "first", "after")
    change_elsewhere("old", "a", "old", age=31 * DAY)

    await change("small", "b", "s" * 1_000, "after")
    assert digest_of("old") in images(folder)
    await change("next", "c", "n", "after")
    assert digest_of("old") not in images(folder)


@pytest.mark.parametrize(("room", "left"), [(0, {"old", "new"}), (-1, {"new"})])
async def test_as_many_bytes_stay_as_are_allowed(log, change_elsewhere, folder, settings, room, left):
    change_elsewhere("old", "a", "old", age=DAY)
    await log.intend("new", new_step(Path("/w/b"), "edit"), "new", [])
    settings["undoBytes"] = sum(it.stat().st_size for it in folder.rglob("*") if it.is_file()) + room
    log._grown = None

    log._prune()

    assert {it.stem for it in folder.glob("*.jsonl")} == left


async def test_a_turn_that_runs_stays_whatever_its_age(log, change, folder, settings):
    await change("runs", "a", "before", "after")
    os.utime(folder / "runs.jsonl", (0, 0))
    step = new_step(Path("/w/b"), "edit")
    await UndoLog(lambda: folder, lambda: ReviewSettings(**settings)).intend("new", step, "new", [])
    assert [log.before(it) for it in log.steps("runs")] == ["before"]


async def test_a_turn_that_is_over_may_go(log, change, folder):
    await change("over", "a", "before", "after")
    os.utime(folder / "over.jsonl", (0, 0))
    outcome = Outcome(turn_id="over", session_id="s", mode="edit_mode", reason="end_turn", answer="")
    log.follow(EventRecord(1, "over", "s", "main", TurnFinished(outcome)))
    log._grown = None
    await change("new", "b", "new", "after")

    assert {it.stem for it in folder.glob("*.jsonl")} == {"new"}
    assert [log.before(it) for it in log.steps("new")] == ["new"]


async def test_nothing_is_removed_while_somebody_else_writes(log, change, change_elsewhere, folder):
    change_elsewhere("old", "a", "old", age=31 * DAY)
    with locked(folder):
        keep(folder / IMAGES, "not yet named")
        await change("new", "b", "new", "after")

    assert images(folder) == {digest_of(it) for it in ("old", "not yet named", "new")}
    log._grown = None
    await change("newer", "b", "new", "after")
    assert images(folder) == {digest_of("new")}


async def test_two_odins_at_once_lose_nothing(folder):
    """Each keeps what it writes, while each removes what the other's earlier turns have left."""
    settings = ReviewSettings(undoDays=0, undoBytes=5_000)

    async def work(name):
        log = UndoLog(lambda: folder, lambda: settings)
        for number in range(40):
            step = new_step(Path(f"/w/{number % 4}"), "edit")
            turn_id, before = f"{name}{number}", f"{name} {number} " * 100
            assert await log.intend(turn_id, step, before, []) is None
            await log.finish(turn_id, step, before, "after")
            assert [it.before(step) for it in (log,) for step in it.steps(turn_id)] == [before]
            log._turns[turn_id].is_over = True

    await asyncio.gather(work("one"), work("two"))


async def test_if_nobody_knows_what_became_of_the_last_step_the_text_may_be_either(log, folder):
    first, second = (
        replace(new_step(Path("/w/a"), "edit"), hunks=(StepHunk(new, 0, len(old), new),))
        for old, new in (("before", "one"), ("one", "two"))
    )
    await log.intend("t", first, "before", ["one"])
    await log.finish("t", first, "before", "one")
    await log.intend("t", second, "one", ["two"])

    [read] = UndoLog(lambda: folder).steps("t")

    assert (read.state, log.before(read)) == ("intended", "before")
    assert read.after == (digest_of("one"), digest_of("two"))
