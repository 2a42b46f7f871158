"""Claude Code finds Odin as its IDE: what it wants to change is reviewed on the text on the screen."""

import asyncio
import json
import os
import stat

import pytest

from odin_lsp.ide import changes
from odin_lsp.intelligence.servers import NoServers, Problem, Problems
from odin_lsp.ports import Decision
from odin_lsp.workspace.text import Position
from tests.support.ide import claude, found, world
from tests.support.reviewing import accept, reject
from tests.support.trusting import agree_to_all

TYPED = "# typed, not saved\n"
NOBODY = 2**22 + 1
"""More processes than that there cannot be on Linux."""


def changed(text, *numbers):
    for number in numbers:
        text = text.replace(f"line {number}\n", f"changed {number}\n")
    return text


async def test_the_lock_file_says_where_odin_is_and_is_for_the_user_alone(root, locks):
    async with world(root, "claude"):
        lock, said = await found(locks, "*.lock")

        assert said["pid"] == os.getpid()
        assert (said["workspaceFolders"], said["ideName"], said["transport"]) == ([str(root)], "Odin (test)", "ws")
        assert len(said["authToken"]) == 64
        assert [stat.S_IMODE(it.stat().st_mode) for it in (lock.parent, lock)] == [0o700, 0o600]

    assert list(locks.iterdir()) == []


async def test_what_a_dead_odin_has_left_is_removed_and_nothing_else(root, locks):
    locks.mkdir(parents=True)
    for port, pid, name in ((1, NOBODY, "Odin"), (2, NOBODY, "Other"), (3, os.getpid(), "Odin")):
        (locks / f"{port}.lock").write_text(json.dumps({"pid": pid, "ideName": name}))
    (locks / "4.lock").write_text("no JSON")

    async with world(root, "claude"):
        await found(locks, "?????*.lock")

        assert sorted(it.name for it in locks.glob("?.lock")) == ["2.lock", "3.lock", "4.lock"]


async def test_a_diff_is_reviewed_and_the_unsaved_text_is_in_what_comes_back(root, locks):
    greet = root / "greet.py"
    saved = greet.read_text()
    async with world(root, "claude") as odin, claude(locks) as code:
        odin.open(greet)
        odin.types(greet, TYPED + saved)
        odin.editor.decide = lambda hunk: reject(hunk) if hunk.range.start.line == 15 else accept(hunk)

        answer = await code.diff(greet, changed(saved, 3, 15, 27))

        assert answer == ["FILE_SAVED", TYPED + changed(saved, 3, 27)]
        assert odin.text(greet) == answer[1]
        assert greet.read_text() == saved
        [review] = odin.editor.reviews
        assert (review.origin, len(review.files[0].hunks)) == ("claude-code", 3)


async def test_what_the_agent_has_written_is_saved_in_the_editor(root, locks):
    greet = root / "greet.py"
    async with world(root, "claude") as odin, claude(locks) as code:
        uri = odin.open(greet)

        answer = await code.change(greet, changed(greet.read_text(), 3))

        async with asyncio.timeout(10):
            while not odin.editor.saved:
                await asyncio.sleep(0.02)
        assert odin.editor.saved == [uri]
        assert (greet.read_text(), odin.text(greet)) == (answer[1], answer[1])


async def test_a_last_line_end_that_the_agent_forgets_is_there_again_when_it_has_looked_at_its_file(
    root, locks, monkeypatch
):
    monkeypatch.setattr(changes, "WRITE_SECONDS", 2)
    greet = root / "greet.py"
    async with world(root, "claude") as odin, claude(locks) as code:
        odin.open(greet)
        _, text = await code.diff(greet, changed(greet.read_text(), 3))

        greet.write_text(text.removesuffix("\n"))

        async with asyncio.timeout(10):
            while not odin.editor.saved:
                await asyncio.sleep(0.02)
        assert greet.read_text() == text


async def test_a_rejected_diff_changes_nothing(root, locks):
    greet = root / "greet.py"
    saved = greet.read_text()
    async with world(root, "claude") as odin, claude(locks) as code:
        odin.editor.decide = reject

        assert await code.diff(greet, changed(saved, 3), "tab 1") == ["DIFF_REJECTED", "tab 1"]

        assert greet.read_text() == saved
        assert odin.editor.applied == []


async def test_a_diff_is_reviewed_whatever_the_policy_for_odins_own_edits_is(root, locks):
    greet = root / "greet.py"
    async with world(root, "claude", review={"policy": "auto"}) as odin, claude(locks) as code:
        odin.editor.decide = reject

        assert (await code.diff(greet, "all new\n"))[0] == "DIFF_REJECTED"
        assert len(odin.editor.reviews) == 1


async def test_lines_in_which_the_person_has_typed_are_not_overwritten(root, locks):
    greet = root / "greet.py"
    saved = greet.read_text()
    mine = saved.replace("line 3\n", "mine alone\n")
    async with world(root, "claude") as odin, claude(locks) as code:
        odin.open(greet)
        odin.types(greet, mine)

        assert await code.diff(greet, changed(saved, 3)) == ["DIFF_REJECTED", "tab"]

        assert odin.text(greet) == mine
        assert "in which you have typed" in odin.editor.notices[0]


async def test_a_new_file_is_made_by_the_agent(root, locks):
    new = root / "new.py"
    async with world(root, "claude") as odin, claude(locks) as code:
        assert await code.change(new, "print('hello')\n") == ["FILE_SAVED", "print('hello')\n"]

        undone = await odin.core.undo(None)

    assert odin.editor.applied[:-1] == []
    assert list(undone.restored) == [new]
    assert not new.exists()


async def test_a_new_file_whose_agent_is_gone_is_made_all_the_same(root, locks):
    new = root / "new.py"
    async with world(root, "claude") as odin:
        async with claude(locks) as code:
            assert (await code.diff(new, "print('hello')\n"))[0] == "FILE_SAVED"
        async with asyncio.timeout(10):
            while not new.exists():
                await asyncio.sleep(0.02)

        assert new.read_text() == "print('hello')\n"
        assert len(odin.editor.applied) == 1


async def test_line_ends_stay_as_they_are_though_the_agent_knows_plain_ones_only(root, locks):
    greet = root / "greet.py"
    greet.write_bytes(b"one\r\ntwo\r\nthree\r\n")
    async with world(root, "claude") as odin, claude(locks) as code:
        odin.open(greet)

        assert await code.diff(greet, "one\n2\nthree\n") == ["FILE_SAVED", "one\n2\nthree\n"]

        assert odin.text(greet) == "one\r\n2\r\nthree\r\n"
        assert len(odin.editor.reviews[0].files[0].hunks) == 1


async def test_the_undo_of_a_diff_is_that_of_a_turn(root, locks):
    greet = root / "greet.py"
    saved = greet.read_text()
    async with world(root, "claude") as odin, claude(locks) as code:
        odin.open(greet)
        await code.diff(greet, changed(saved, 3, 27))

        await odin.core.undo(None)

        assert odin.text(greet) == saved


async def test_only_its_own_diffs_are_closed_and_a_closed_one_is_a_no(root, locks):
    greet = root / "greet.py"
    saved = greet.read_text()
    other = root / "other.py"
    other.write_text(saved)
    async with world(root, "claude") as odin, claude(locks) as one, claude(locks) as two:
        odin.editor.decide = lambda _: None
        names = {"new_file_contents": changed(saved, 3), "tab_name": "tab"}
        first = await one.begin(
            "tools/call",
            name="openDiff",
            arguments={"old_file_path": str(greet), "new_file_path": str(greet), **names},
        )
        second = await two.begin(
            "tools/call",
            name="openDiff",
            arguments={"old_file_path": str(other), "new_file_path": str(other), **names},
        )
        await until_reviews(odin, 2)

        assert await two.call("close_tab", tab_name="another") == ["TAB_CLOSED"]
        assert await one.call("closeAllDiffTabs") == ["CLOSED_1_DIFF_TABS"]

        assert (await first)["result"]["content"][0]["text"] == "DIFF_REJECTED"
        assert not second.done()
        [waiting] = odin.core.desk.proposals
        assert waiting.files[0].path == other
        await two.call("close_tab", tab_name="tab")
        assert (await second)["result"]["content"][0]["text"] == "DIFF_REJECTED"
        assert list(odin.core.desk.proposals) == []


async def test_the_diffs_of_an_agent_that_is_gone_are_closed_and_what_was_accepted_stays(root, locks):
    greet = root / "greet.py"
    saved = greet.read_text()
    async with world(root, "claude") as odin:
        odin.open(greet)
        odin.editor.decide = lambda _: None
        async with claude(locks) as code:
            pending = asyncio.create_task(code.diff(greet, changed(saved, 3, 27)))
            await until_reviews(odin, 1)
            [first, _] = odin.editor.reviews[0].files[0].hunks
            await odin.core.desk.decide([Decision(hunk_id=first.id, decision="accept")])
            pending.cancel()
        async with asyncio.timeout(10):
            while list(odin.core.desk.proposals):
                await asyncio.sleep(0.02)

        assert odin.text(greet) == changed(saved, 3)


async def until_reviews(odin, count):
    async with asyncio.timeout(10):
        while len(odin.editor.reviews) < count:
            await asyncio.sleep(0.02)


async def test_what_is_open_selected_and_unsaved(root, locks):
    greet = root / "greet.py"
    other = root / "other.py"
    other.write_text("x = 1\n")
    async with world(root, "claude") as odin, claude(locks) as code:
        odin.open(other)
        uri = odin.open(greet)
        assert await code.value("getCurrentSelection") == {"success": False, "message": "No active editor found"}
        odin.types(greet, TYPED + greet.read_text())
        odin.sight.look(uri, Position(1, 0), Position(2, 4))

        selection = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 4}, "isEmpty": False}
        told = {"text": "line 1\nline", "filePath": str(greet), "fileUrl": uri, "selection": selection}
        assert await code.until_told("selection_changed") == told
        assert await code.value("getLatestSelection") == {"success": True, **told}
        tabs = (await code.value("getOpenEditors"))["tabs"]
        assert [(it["label"], it["isActive"], it["isDirty"]) for it in tabs] == [
            ("greet.py", True, True),
            ("other.py", False, False),
        ]
        assert (await code.value("checkDocumentDirty", filePath=str(greet)))["isDirty"] is True
        assert (await code.value("checkDocumentDirty", filePath=str(root / "none.py")))["success"] is False
        folders = await code.value("getWorkspaceFolders")
        assert folders == {
            "success": True,
            "folders": [{"name": "workspace", "uri": root.as_uri(), "path": str(root)}],
            "rootPath": str(root),
        }
    assert odin.watched == [True, False]


async def test_a_mention_reaches_the_agent(root, locks):
    async with world(root, "claude") as odin, claude(locks) as code:
        assert odin.sight.mention(root / "greet.py", 2, 4) == 1

        assert await code.until_told("at_mentioned") == {
            "filePath": str(root / "greet.py"),
            "lineStart": 2,
            "lineEnd": 4,
        }


async def test_a_file_is_shown_at_the_text_that_is_wanted(root, locks):
    greet = root / "greet.py"
    async with world(root, "claude") as odin, claude(locks) as code:
        await code.call("openFile", filePath=str(greet), startText="line 5")

        assert odin.editor.shown == [(greet.as_uri(), 4)]


@pytest.mark.parametrize(("says", "is_saved"), [("save", True), ("leave", False), (None, False)])
async def test_a_document_is_saved_only_if_the_person_agrees(root, locks, says, is_saved):
    greet = root / "greet.py"
    async with world(root, "claude") as odin, claude(locks) as code:
        odin.open(greet)
        odin.types(greet, "mine\n")
        odin.editor.says = says

        told = await code.value("saveDocument", filePath=str(greet))

        assert told["saved"] is is_saved
        assert (greet.read_text() == "mine\n") is is_saved


class OneProblem(NoServers):
    def __init__(self, path):
        self.path = path

    async def problems(self, paths, patience):
        found = Problem(line=0, character=1, end_line=0, end_character=3, severity="error", message="no", source="ruff")
        return {it: Problems((found,), is_current=True) for it in paths or [self.path]}


async def test_problems_are_told_in_utf_16(root, locks):
    greet = root / "greet.py"
    greet.write_text("😀😀😀\n")
    async with world(root, "claude", servers=OneProblem(greet)), claude(locks) as code:
        for arguments in ({}, {"uri": greet.as_uri()}):
            [file] = await code.value("getDiagnostics", **arguments)

            assert file["uri"] == greet.as_uri()
            [problem] = file["diagnostics"]
            assert problem["range"] == {"start": {"line": 0, "character": 2}, "end": {"line": 0, "character": 6}}
            assert (problem["severity"], problem["message"], problem["source"]) == ("Error", "no", "ruff")


async def test_the_doors_follow_the_settings_and_trust(root, locks):
    async with world(root, "claude", trusted=None) as odin:
        assert not odin.project.now.is_trusted
        agree_to_all(odin.project)
        await found(locks, "*.lock")
        async with claude(locks) as code:
            odin.project.decide_trust(trusted=False)
            await code.socket.wait_closed()
        assert list(locks.iterdir()) == []


async def test_no_door_is_open_unless_asked_for(root, locks):
    async with world(root) as odin:
        await asyncio.sleep(0)
        odin.project.tell(flags={"ide": ["claude"]})
        await found(locks, "*.lock")
        assert odin.watched == []
