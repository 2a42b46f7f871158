"""EDIT-01, -02, -03, -10, -11, -13 and APPR-06 on the wire: what clients do and say, and what the model hears."""

import asyncio

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.e2e.conftest import ODIN, Screen
from tests.e2e.steps import results, says

OLD = "alpha = 1\nbeta = 2\ngamma = 3\n"
NEW = OLD.replace("alpha = 1", "alpha = 20")


@pytest.fixture
def one(root):
    (root / "one.py").write_text(OLD)
    return root / "one.py"


@pytest.fixture
def edit(wire, step, one):
    """A turn that reads files, changes one line in each, or does what it is told, and ends."""

    def edit(client, *paths, calls=(), **more):
        paths = paths or (one,)
        step(*(("Read", {"file_path": str(path)}) for path in paths))
        change = {"old_string": "alpha = 1", "new_string": "alpha = 20"}
        step(*(calls or (("EditTool", {"file_path": str(path), **change}) for path in paths)))
        wire.play(says())
        return asyncio.ensure_future(client.command("edit", text="change it", **more))

    return edit


def accept_all(review):
    hunks = [hunk for file in review["files"] for hunk in file["hunks"]]
    return {"decisions": [{"hunkId": hunk["id"], "decision": "accept"} for hunk in hunks]}


class Watched(Screen):
    """Keeps what it is asked to apply, and does with it as the test says."""

    def __init__(self, client):
        super().__init__(client)
        self.sent = []
        self.instead = None

    async def apply(self, params):
        self.sent.append(params.edit)
        return await (self.instead(params) if self.instead else super().apply(params))


@pytest.fixture
def watched(start, anthropic):
    """A client that can review, and can apply this much."""

    async def watched(*, apply_edit=True, review=True, **abilities):
        workspace = types.WorkspaceClientCapabilities(
            apply_edit=apply_edit, workspace_edit=types.WorkspaceEditClientCapabilities(**abilities)
        )
        client = await start(odin={**ODIN, "review": review, "question": False}, workspace=workspace, **anthropic)
        screen = Watched(client)
        screen.decide = accept_all
        return screen

    return watched


async def test_edit_01_an_edit_is_for_one_version_and_a_stale_one_is_told_and_not_sent_again(watched, edit, wire, one):
    screen = await watched(document_changes=True)
    screen.open(one)

    async def refuse(params):
        screen.type(one, "5", 0, 8, 9)
        return await Screen.apply(screen, params)

    screen.instead = refuse
    outcome = await edit(screen.client)

    assert [it.document_changes[0].text_document.version for it in screen.sent] == [1]
    assert [it["state"] for it in outcome["receipts"]] == ["superseded"]
    assert "the document has changed); read the file again" in results(wire)[0]
    assert screen.text(one) == OLD.replace("alpha = 1", "alpha = 5")


async def test_edit_02_an_edit_that_was_applied_to_another_text_is_not_called_accepted(watched, edit, wire, one):
    screen = await watched(document_changes=True)
    screen.open(one)

    async def apply_anyway(params):
        """The user types first, and the client does not care about versions."""
        screen.type(one, "# a new first line\n", 0)
        params.edit.document_changes[0].text_document.version = 2
        return await Screen.apply(screen, params)

    screen.instead = apply_anyway
    outcome = await edit(screen.client)

    assert [it["state"] for it in outcome["receipts"]] == ["superseded"]
    assert "the edit cannot be seen in the document" in results(wire)[0]


async def test_edit_03_only_what_is_not_open_has_no_version(watched, edit, root, one):
    screen = await watched(document_changes=True)
    closed = root / "closed.py"
    closed.write_text(OLD)
    screen.open(one)

    async def answer(params):
        if params.edit.document_changes[0].text_document.uri == closed.as_uri():
            closed.write_text(NEW)
            return types.ApplyWorkspaceEditResult(True)
        return await Screen.apply(screen, params)

    screen.instead = answer
    outcome = await edit(screen.client, one, closed)

    sent = {
        it.document_changes[0].text_document.uri: it.document_changes[0].text_document.version for it in screen.sent
    }
    assert sent == {one.as_uri(): 1, closed.as_uri(): None}
    assert [it["state"] for it in outcome["receipts"]] == ["accepted", "accepted"]


async def test_a_file_that_is_too_large_to_be_kept_is_reviewed_and_edited(watched, wire, step, root):
    """It is not open: a client opens it to apply the edit."""
    screen = await watched(document_changes=True)
    screen.client.changes_settings(cache={"maxFileSize": 1024 * 1024})
    large = root / "large.txt"
    large.write_text("".join(f"row {row} of a file as large as logs and data files are\n" for row in range(20_000)))

    async def open_it(params):
        screen.open(large)
        return await Screen.apply(screen, params)

    screen.instead = open_it
    step(("Read", {"file_path": str(large), "offset": 10_000, "limit": 10}))
    step(("EditTool", {"file_path": str(large), "old_string": "row 10003 of", "new_string": "ROW 10003 of"}))
    wire.play(says())
    outcome = await screen.client.command("edit", text="change it")

    assert [it["state"] for it in outcome["receipts"]] == ["accepted"]
    assert screen.text(large) == large.read_text().replace("row 10003 of", "ROW 10003 of")


async def test_edit_10_of_several_files_those_that_changed_are_told_and_can_be_taken_back(
    watched, edit, wire, root, one
):
    screen = await watched(document_changes=True)
    two = root / "two.py"
    two.write_text(OLD)
    screen.open(one, two)

    async def fail_second(params):
        if params.edit.document_changes[0].text_document.uri == two.as_uri():
            return types.ApplyWorkspaceEditResult(False, failure_reason="disk full", failed_change=0)
        return await Screen.apply(screen, params)

    screen.instead = fail_second
    outcome = await edit(screen.client, one, two)

    assert [(it["uri"], it["state"]) for it in outcome["receipts"]] == [
        (one.as_uri(), "accepted"),
        (two.as_uri(), "superseded"),
    ]
    assert results(wire)[0].split(": ")[1].startswith("accepted")
    assert "disk full" in results(wire)[1]
    assert (screen.text(one), screen.text(two)) == (NEW, OLD)
    screen.instead = None
    undone = await screen.client.command("undoTurn")
    assert (undone["restored"], undone["kept"]) == ([one.as_uri()], [])
    assert screen.text(one) == OLD


async def test_one_change_of_a_turn_is_undone_and_brought_back(watched, edit, root, one):
    screen = await watched(document_changes=True)
    two = root / "two.py"
    two.write_text(OLD)
    screen.open(one, two)
    outcome = await edit(screen.client, one, two)
    [first, second] = [it["hunkId"] for it in outcome["receipts"]]

    undone = await screen.client.command("undoTurn", hunkIds=[second], uri=one.as_uri())
    assert undone == {"restored": [], "kept": []}
    with pytest.raises(JsonRpcException, match="names no file on this machine"):
        await screen.client.command("undoTurn", uri="untitled:one")
    assert screen.text(one) == NEW
    undone = await screen.client.command("undoTurn", hunkIds=[second], uri=two.as_uri())
    assert (undone["restored"], screen.text(one), screen.text(two)) == ([two.as_uri()], NEW, OLD)
    undone = await screen.client.command("undoTurn", turnId=undone["undoId"])
    assert (undone["restored"], screen.text(one), screen.text(two)) == ([two.as_uri()], NEW, NEW)
    told = [it["event"] for it in (await screen.client.command("session.events"))["events"]]
    assert [(it["restored"], it["again"]) for it in told if it["kind"] == "turnUndone"] == [
        ([two.as_uri()], False),
        ([two.as_uri()], True),
    ]
    screen.type(one, "typed", 0, 9, 9)
    undone = await screen.client.command("undoTurn")
    assert undone["restored"] == [two.as_uri()]
    assert [(it["uri"], it["hunkIds"]) for it in undone["kept"]] == [(one.as_uri(), [first])]


async def test_edit_11_without_versions_the_edit_is_plain_and_the_text_is_looked_at(watched, edit, one):
    screen = await watched()
    screen.open(one)

    async def apply_plain(params):
        [edits] = params.edit.changes.values()
        screen.type(one, edits[0].new_text, 0, edits[0].range.start.character, edits[0].range.end.character)
        return types.ApplyWorkspaceEditResult(True)

    screen.instead = apply_plain
    outcome = await edit(screen.client)

    assert screen.sent[0].document_changes is None
    assert [it["state"] for it in outcome["receipts"]] == ["accepted"]
    assert screen.text(one) == NEW


@pytest.mark.parametrize("apply_edit", [True, False])
async def test_edit_11_what_a_client_cannot_do_is_refused_and_the_disk_is_not_written(
    watched, edit, wire, root, one, apply_edit
):
    screen = await watched(apply_edit=apply_edit)
    screen.open(one)
    calls = [
        ("WriteFile", {"file_path": str(root / "new.py"), "content": "x"}),
        ("MoveFile", {"file_path": str(root / "greet.py"), "new_path": str(root / "moved.py")}),
    ]
    if not apply_edit:
        calls.append(("EditTool", {"file_path": str(one), "old_string": "alpha = 1", "new_string": "alpha = 20"}))
    before = {path: path.read_bytes() for path in root.iterdir()}

    outcome = await edit(screen.client, calls=calls)

    assert {it["state"] for it in outcome["receipts"]} == {"superseded"}
    assert "the editor cannot create files" in results(wire)[0]
    assert "the editor cannot rename files" in results(wire)[1]
    assert screen.sent == []
    assert {path: path.read_bytes() for path in root.iterdir()} == before


async def test_edit_12_two_cancels_while_an_edit_is_applied_end_with_a_receipt_that_is_true(watched, edit, one):
    screen = await watched(document_changes=True)
    screen.open(one)
    applying, cancelled = asyncio.Event(), asyncio.Event()

    async def slowly(params):
        applying.set()
        await cancelled.wait()
        return await Screen.apply(screen, params)

    screen.instead = slowly
    turn = edit(screen.client, turnId="t")
    await applying.wait()
    for _ in range(2):
        await screen.client.command("cancel", turnId="t")
    cancelled.set()
    outcome = await turn

    assert outcome["reason"] == "interrupted"
    assert [it["state"] for it in outcome["receipts"]] == ["accepted"]
    assert screen.text(one) != OLD


async def test_edit_13_an_answer_after_the_changes_were_dropped_approves_nothing(watched, edit, one):
    screen = await watched(document_changes=True)
    screen.open(one)
    answer = asyncio.get_running_loop().create_future()
    screen.client.lsp.protocol.fm.features.pop("odin/review")

    @screen.client.lsp.feature("odin/review")
    async def review(params):
        screen.reviews.append(params)
        return await asyncio.shield(answer)

    turn = edit(screen.client, turnId="t")
    opened = await screen.client.until_kind("reviewOpened")
    [hunk] = opened["event"]["proposal"]["files"][0]["hunks"]
    await screen.client.command("cancel", turnId="t", drop=True)
    outcome = await turn

    answer.set_result({"decisions": [{"hunkId": hunk["id"], "decision": "accept"}]})
    late = await screen.client.command("review.accept", hunkIds=[hunk["id"]])

    assert outcome["reason"] == "interrupted"
    assert late == {"receipts": []}
    assert screen.text(one) == OLD
    assert screen.sent == []


async def test_appr_06_a_client_that_cannot_ask_says_no(watched, edit, wire, one):
    """It knows no reviews and no questions: requests for them fail."""
    screen = await watched(review=False, document_changes=True)
    screen.open(one)

    outcome = await edit(screen.client)

    assert [it["state"] for it in outcome["receipts"]] == ["rejected"]
    assert screen.sent == []
    assert screen.text(one) == OLD
