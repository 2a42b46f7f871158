"""A turn can be taken back whatever happened to Odin meanwhile, or it is said why not; nothing of the user's goes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from odin_lsp.config import ReviewSettings, Timeouts
from odin_lsp.review.applying import Applier
from odin_lsp.review.before_images import digest_of
from odin_lsp.review.undo import take_back
from odin_lsp.review.undo_log import IMAGES, UndoLog
from odin_lsp.review.undo_steps import new_step
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from tests.support.reviewing import Bench, ScriptedEditor, restored_and_kept
from tests.support.undo_killer import CALLS, OLD


def killed(*arguments):
    command = [sys.executable, "-m", "tests.support.undo_killer", *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert run.returncode == -signal.SIGKILL, run.stderr


def world(folder):
    return {it.name: it.read_text() for it in (folder / "ws").iterdir()}


async def undo_after_a_restart(folder):
    files = Files([folder / "ws"], Buffers(), FileCache())
    applier = Applier(files, ScriptedEditor(files), lambda: Timeouts(client=0.2))
    return restored_and_kept(await take_back(UndoLog(lambda: folder / "state"), None, applier))


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("call", CALLS)
async def test_a_turn_that_was_killed_is_taken_back_as_far_as_it_came(tmp_path, moment, call):
    killed(tmp_path, moment, call)

    restored, kept = await undo_after_a_restart(tmp_path)

    assert kept == []
    assert world(tmp_path) == {"a.txt": OLD, "b.txt": OLD}
    assert len(restored) == (2 if moment == "after" and call != "edit again" else 1)
    assert await undo_after_a_restart(tmp_path) == ([], [])


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_what_was_typed_after_the_kill_stays_and_what_the_turn_did_goes(tmp_path, moment):
    killed(tmp_path, moment, "edit")
    a, b = tmp_path / "ws" / "a.txt", tmp_path / "ws" / "b.txt"
    b.write_text(b.read_text() + "typed\n")

    restored, kept = await undo_after_a_restart(tmp_path)

    assert (sorted(restored), kept) == ([a, b] if moment == "after" else [a], [])
    assert world(tmp_path) == {"a.txt": OLD, "b.txt": OLD + "typed\n"}
    assert await undo_after_a_restart(tmp_path) == ([], [])


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_what_was_typed_after_the_kill_right_where_the_turn_was_stays(tmp_path, moment):
    killed(tmp_path, moment, "edit")
    b = tmp_path / "ws" / "b.txt"
    typed = b.read_text().replace("TWO", "two").replace("two", "tXwo")
    b.write_text(typed)

    await undo_after_a_restart(tmp_path)

    assert world(tmp_path) == {"a.txt": OLD, "b.txt": typed}


@pytest.mark.parametrize("number", range(1, 7))
async def test_a_kill_while_old_turns_are_removed_takes_nothing_from_those_that_are_left(tmp_path, number):
    for turn in ("old", "older", "young"):
        log = UndoLog(lambda: tmp_path)
        for text in (f"only {turn}", "shared", f"also {turn}"):
            log._note(turn, new_step(Path("/w") / text, "edit"), text, ["after"])
    del log
    for turn in ("old", "older"):
        os.utime(tmp_path / f"{turn}.jsonl", (0, 0))

    killed(tmp_path, "removing", number)

    left = UndoLog(lambda: tmp_path, lambda: ReviewSettings(undoDays=1))
    for turn in left.turns():
        assert None not in [left.before(it) for it in left.steps(turn)]
    await left.intend("next", new_step(Path("/w/a"), "edit"), "next", [])
    assert {it.stem for it in tmp_path.glob("*.jsonl")} == {"young", "new", "next"}
    texts = ("only young", "shared", "also young", "new", "next")
    assert {it.name for it in (tmp_path / IMAGES).iterdir()} == {digest_of(it) for it in texts}


async def test_a_turn_of_an_earlier_version_is_taken_back(tmp_path):
    bench = Bench(tmp_path)
    a = bench.write("a.txt", "after\n")
    files = [{"path": str(a), "operation": "edit", "before": OLD, "after": "after\n"}]
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "t.json").write_text(json.dumps({"turnId": "t", "files": files}))

    assert await undo_after_a_restart(tmp_path) == ([a], [])
    assert world(tmp_path) == {"a.txt": OLD}
    assert await undo_after_a_restart(tmp_path) == ([], [])


@pytest.mark.parametrize("policy", ["each", "auto"])
async def test_what_cannot_be_taken_back_is_said_before_it_is_done_and_again_when_it_is_wanted(tmp_path, policy):
    bench = Bench(tmp_path, policy=policy)
    inner = bench.write("folder/inner.txt", OLD)
    said = []
    bench.editor.at_last = lambda: said.extend([*bench.notes, *(it.message for it in bench.events_of("notice"))])

    await bench.use("DeleteFile", file_path=inner.parent, recursive=True)

    assert [it for it in said if "this cannot be undone: a folder is not kept" in it]
    _, kept = restored_and_kept(await take_back(bench.desk._undo_log, None, bench.desk.applier))
    assert kept == [(inner.parent, "a folder is not kept")]


async def test_no_change_is_made_before_what_was_there_is_on_disk(tmp_path):
    bench = Bench(tmp_path)
    a = bench.write("a.txt", OLD)
    await bench.read(a)
    kept = []
    bench.editor.at_last = lambda: kept.extend((tmp_path / "state" / IMAGES).iterdir())

    await bench.edit(a, "two", "TWO")

    assert [it.read_text() for it in kept] == [OLD]
