"""Who wrote this line, as an editor asks and is shown it."""

import asyncio

import pytest
from lsprotocol import types

from tests.e2e.conftest import ODIN, PATIENCE, Screen
from tests.e2e.steps import says

OLD = "one = 1\ntwo = 2\nthree = 3\n"
HOVERS = types.TextDocumentClientCapabilities(
    hover=types.HoverClientCapabilities(content_format=[types.MarkupKind.Markdown])
)
EDITS = types.WorkspaceClientCapabilities(
    apply_edit=True, workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)
)
SHOWS = types.WindowClientCapabilities(show_document=types.ShowDocumentClientCapabilities(support=True))


@pytest.fixture
def one(root):
    path = root / "one.py"
    path.write_text(OLD)
    return path


@pytest.fixture
def begin(start, anthropic, one):
    async def begin(**odin):
        screen = Screen(
            await start(
                odin={**ODIN, "review": True, **odin}, workspace=EDITS, text_document=HOVERS, window=SHOWS, **anthropic
            )
        )
        screen.decide = lambda review: {
            "decisions": [{"hunkId": it["id"], "decision": "accept"} for it in review["files"][0]["hunks"]]
        }
        screen.open(one)
        return screen

    return begin


@pytest.fixture
async def screen(begin, wire, step, one):
    """One line of the file is Odin's."""
    screen = await begin(links=True)
    step(("Read", {"file_path": str(one)}))
    step(("EditTool", {"file_path": str(one), "old_string": "two = 2", "new_string": "two = 22"}))
    wire.play(says())
    await screen.client.command("edit", text="Make [two](command:evil) bigger", turnId="t1")
    return screen


async def hover(screen, path, line):
    document = types.TextDocumentIdentifier(path.as_uri())
    found = await screen.client.lsp.text_document_hover_async(types.HoverParams(document, types.Position(line, 0)))
    return found.contents.value if found else None


async def actions(screen, path, line, trigger=types.CodeActionTriggerKind.Invoked):
    place = types.Range(types.Position(line, 0), types.Position(line, 0))
    context = types.CodeActionContext([], trigger_kind=trigger)
    document = types.TextDocumentIdentifier(path.as_uri())
    found = await screen.client.lsp.text_document_code_action_async(types.CodeActionParams(document, place, context))
    return {it.title: it for it in found}


async def test_a_line_that_odin_wrote_says_so_and_leads_to_its_session_and_its_undo(screen, one):
    shown = await hover(screen, one, 1)

    assert "wrote this line · accepted" in shown
    assert "bigger" in shown
    assert "command:evil" not in shown
    assert "anthropic/" in shown
    assert "turn cost $" in shown
    assert "(command:odin.provenance.open?" in shown
    assert "(command:odin.undoTurn?" in shown
    assert await hover(screen, one, 0) is None
    screen.type(one, "mine = 0\n", 0)
    [written] = (await screen.client.command("provenance", uri=one.as_uri()))["ranges"]
    assert written["range"] == {"start": {"line": 2, "character": 0}, "end": {"line": 3, "character": 0}}
    assert (written["turnId"], written["state"], written["origin"]) == ("t1", "accepted", "odin")
    screen.type(one, "TWO", 2, 0, 3)
    assert await hover(screen, one, 2) is None


async def test_it_survives_a_restart_and_the_menu_opens_the_session_and_undoes_the_change(screen, begin, one):
    one.write_text(screen.text(one))
    await screen.client.leave()
    screen = await begin()
    assert "command:" not in await hover(screen, one, 1)
    assert await actions(screen, one, 1, types.CodeActionTriggerKind.Automatic) == {}
    assert await actions(screen, one, 0) == {}
    opening, undoing = (await actions(screen, one, 1)).values()
    for it in (opening, undoing):
        await screen.client.lsp.workspace_execute_command_async(types.ExecuteCommandParams(it.command, it.arguments))

    [document] = screen.client.lsp.shown_documents
    transcript = (await screen.client.command("provenance.open", **opening.arguments[0]))["uri"]
    assert document.uri == transcript
    assert document.selection.start.line == 2
    assert screen.text(one) == OLD
    assert await hover(screen, one, 1) is None


async def test_a_file_that_the_user_renames_in_the_editor_keeps_what_is_odins(screen, one, root):
    other = root / "folder" / "other.py"
    other.parent.mkdir()
    other.write_text("two = 22\nmine = 1\nmine = 2\nmine = 3\n")
    one.unlink()
    files = [types.FileRename(one.as_uri(), other.as_uri())]
    screen.client.lsp.workspace_did_rename_files(types.RenameFilesParams(files))

    async with asyncio.timeout(PATIENCE):
        while not (found := (await screen.client.command("provenance", uri=other.as_uri()))["ranges"]):
            await asyncio.sleep(0)

    assert [it["range"]["start"]["line"] for it in found] == [0]


async def test_a_setting_turns_it_off(screen, one):
    screen.client.changes_settings(provenance=False)

    assert await hover(screen, one, 1) is None
    assert (await screen.client.command("provenance", uri=one.as_uri()))["ranges"] == []
