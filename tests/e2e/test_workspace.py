"""The text on the screen is the truth: what tools answer while files and documents change around them."""

import asyncio
import shutil

import pytest
from lsprotocol import types

from tests.support import wire as kit


@pytest.fixture
def look(wire):
    """Have the model make these calls; what it is told."""

    async def look(client, *calls):
        blocks = [
            block
            for index, (name, arguments) in enumerate(calls)
            for block in kit.anthropic_call(index, f"toolu_{len(wire.sent)}_{index}", name, kit.json.dumps(arguments))
        ]
        wire.play(
            kit.Answer([kit.anthropic_sse(kit.anthropic_start(), *blocks, *kit.anthropic_end("tool_use"))]),
            kit.Answer(
                [kit.anthropic_sse(kit.anthropic_start(), *kit.anthropic_text(0, "ok"), *kit.anthropic_end("end_turn"))]
            ),
        )
        await client.command("ask", text="look")
        results = [block for block in wire.request["messages"][-1]["content"] if block["type"] == "tool_result"]
        return [
            block["content"] if isinstance(block["content"], str) else block["content"][0]["text"] for block in results
        ]

    return look


async def test_what_is_typed_is_what_grep_and_read_answer(start, anthropic, root, look):
    client = await start(**anthropic)
    path = root / "greet.py"
    client.opens(path)
    client.types(path, 2, "farewell", start=4, end=9)

    read, grep, old, listed = await look(
        client,
        ("Read", {"file_path": str(path)}),
        ("Grep", {"pattern": "farewell", "output_mode": "content"}),
        ("Grep", {"pattern": "def greet"}),
        ("LS", {"path": str(root)}),
    )

    assert read.startswith("     1\tdef farewell(name):")
    assert read.endswith("(unsaved changes are shown)")
    assert grep == "greet.py\n1:def farewell(name):"
    assert old == "No matches found"
    assert "- greet.py (cached) (unsaved)" in listed


async def test_after_closing_the_disk_counts_again(start, anthropic, root, look):
    client = await start(**anthropic)
    path = root / "greet.py"
    client.opens(path, "something else")
    client.lsp.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(path.as_uri())))

    [read] = await look(client, ("Read", {"file_path": str(path)}))

    assert "def greet(name)" in read


@pytest.mark.parametrize("watched", [False, True], ids=["odin watches", "the client watches"])
async def test_a_change_from_outside_is_seen_by_the_next_read(start, anthropic, root, look, watched):
    workspace = types.WorkspaceClientCapabilities(
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=watched)
    )
    client = await start(workspace=workspace, **anthropic)
    path = root / "greet.py"
    [before] = await look(client, ("Read", {"file_path": str(path)}))

    path.write_text("changed = True\n")
    if watched:
        event = types.FileEvent(path.as_uri(), types.FileChangeType.Changed)
        client.lsp.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
    [after] = await look(client, ("Read", {"file_path": str(path)}))

    assert "def greet" in before
    assert after == "     1\tchanged = True"


async def test_instructions_further_down_are_as_the_client_says_that_they_are(start, anthropic, root, look, wire):
    """Which are looked up once, if it promises to tell of changes."""
    workspace = types.WorkspaceClientCapabilities(
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
    )
    (root / "lib").mkdir()
    (root / "lib" / "code.py").write_text("x = 1\n")
    rules = root / "lib" / "AGENTS.md"
    rules.write_text("the first rules")
    client = await start(workspace=workspace, **anthropic)
    await client.until_watching()
    await client.trusts()
    reading = ("Read", {"file_path": str(rules.parent / "code.py")})
    await look(client, reading)
    assert "the first rules" in str(wire.request)

    rules.write_text("the second rules")
    await look(client, reading)
    assert "the second rules" not in str(wire.request)

    client.tells_of(rules)
    await look(client, reading)
    assert "the second rules" in str(wire.request)


@pytest.mark.parametrize("watched", [False, True], ids=["odin watches", "the client watches"])
async def test_a_clean_document_whose_file_changes_is_reloaded_and_a_dirty_one_is_kept(start, script, root, watched):
    workspace = types.WorkspaceClientCapabilities(
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=watched)
    )
    clean, dirty = root / "greet.py", root / "dirty.py"
    dirty.write_text("x")
    client = await start(workspace=workspace, **script())
    client.opens(clean)
    client.opens(dirty)
    client.types(dirty, 2, "typed")
    await client.command("state")

    async def change():
        clean.write_text("newer\n")
        dirty.write_text("newer\n")
        if watched:
            events = [types.FileEvent(path.as_uri(), types.FileChangeType.Changed) for path in (clean, dirty)]
            client.lsp.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(events))

    writing = asyncio.create_task(repeat_until(change, lambda: client.reloads))
    assert await client.until_reload() == [clean.as_uri()]
    await writing


async def test_reading_a_document_whose_file_moved_on_says_so(start, anthropic, root, look):
    client = await start(odin={"events": True}, **anthropic)
    path = root / "greet.py"
    client.opens(path)
    await client.command("state")
    path.write_text("somebody else wrote this\n")

    [read] = await look(client, ("Read", {"file_path": str(path)}))

    assert "def greet(name)" in read
    assert "changed on disk under the editor" in read


async def test_files_that_vanish_move_or_turn_into_folders_are_told_apart(start, anthropic, root, look):
    client = await start(**anthropic)
    names = {name: root / name for name in ("gone.txt", "moved.txt", "folder.txt")}
    for path in names.values():
        path.write_text("here\n")
    await look(client, *(("Read", {"file_path": str(path)}) for path in names.values()))

    names["gone.txt"].unlink()
    shutil.move(names["moved.txt"], root / "new.txt")
    names["folder.txt"].unlink()
    names["folder.txt"].mkdir()
    gone, moved, new, folder = await look(
        client,
        *(("Read", {"file_path": str(root / name)}) for name in ("gone.txt", "moved.txt", "new.txt", "folder.txt")),
    )

    assert "gone.txt does not exist;" in gone
    assert "moved.txt does not exist;" in moved
    assert new == "     1\there"
    assert "is a folder" in folder


async def test_a_document_out_of_step_is_not_trusted(start, anthropic, root, look):
    client = await start(**anthropic)
    path = root / "greet.py"
    client.opens(path, version=7)
    client.types(path, 3, "lost")

    [read] = await look(client, ("Read", {"file_path": str(path)}))

    assert "def greet(name)" in read
    assert "the editor's text of this file is not known" in read


async def test_several_folders_are_searched_and_can_come_and_go(start, anthropic, root, look, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "greet.py").write_text("def greet(): ...\n")
    client = await start(**anthropic)
    client.changes_folders(added=[other])
    [both] = await look(client, ("Grep", {"pattern": "def greet"}))
    client.changes_folders(removed=[other])
    [one] = await look(client, ("Grep", {"pattern": "def greet"}))

    assert both.splitlines()[::3] == [f"{root.name}/greet.py", "other/greet.py"]
    assert one.startswith("greet.py\n")


@pytest.mark.parametrize(("answer", "seen"), [("allow_once", True), ("deny", False), (None, False)])
async def test_outside_of_the_workspace_the_user_decides(start, anthropic, root, look, tmp_path, answer, seen):
    outside = tmp_path / "outside.txt"
    outside.write_text("far away\n")
    (root / "link.txt").symlink_to(outside)
    client = await start(**anthropic)
    client.answers = [{"optionIds": [answer]}] if answer else []

    [read] = await look(client, ("Read", {"file_path": str(root / "link.txt")}))

    assert ("far away" in read) is seen
    assert client.questions[0]["kind"] == "outside"
    assert client.questions[0]["paths"] == [str(outside)]
    assert [option["id"] for option in client.questions[0]["options"]] == ["allow_once", "allow_session", "deny"]


async def repeat_until(action, done) -> None:
    """File events can be lost while a watch is set up: act again until somebody has noticed."""
    while not done():
        await action()
        await asyncio.sleep(0.2)


async def test_settings_that_change_at_run_time_are_applied_as_they_are_shown(start, anthropic, root, look):
    client = await start(**anthropic)
    [before] = await look(client, ("Read", {"file_path": str(root / "greet.py")}))

    client.changes_settings(files={"deny": ["greet.py"]}, cache={"maxEntries": 3})
    state = await client.command("state")
    [after] = await look(client, ("Read", {"file_path": str(root / "greet.py")}))

    assert "def greet" in before
    assert (state["config"]["files"]["deny"], state["cacheConfig"]["maxEntries"]) == (["greet.py"], 3)
    assert "is hidden: it looks like a secret" in after
