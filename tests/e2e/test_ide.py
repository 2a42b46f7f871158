"""Agents in a terminal find a real server beside an editor with unsaved text, and use it as their IDE."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.e2e.conftest import ODIN, PATIENCE, Screen, Start, plain
from tests.support.ide import claude, found, gemini

TYPED = "# typed, not saved\n"
LINES = "".join(f"line {number}\n" for number in range(1, 31))


def changed(text: str, *numbers: int) -> str:
    for number in numbers:
        text = text.replace(f"line {number}\n", f"changed {number}\n")
    return text


def all_but_the_second(review: dict[str, Any]) -> dict[str, Any]:
    [file] = review["files"]
    decisions = [{"hunkId": it["id"], "decision": "accept"} for it in file["hunks"]]
    decisions[1] = {"hunkId": decisions[1]["hunkId"], "decision": "reject", "reason": "keep it"}
    return {"decisions": decisions}


class Editor(Screen):
    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self.watched: asyncio.Queue[bool] = asyncio.Queue()
        client.lsp.feature("odin/watchSelection")(lambda params: self.watched.put_nowait(plain(params)["enabled"]))


@pytest.fixture
async def editor(start: Start, root: Path, tmp_path: Path) -> Editor:
    edits = types.WorkspaceEditClientCapabilities(
        document_changes=True, resource_operations=[types.ResourceOperationKind.Create]
    )
    editor = Editor(
        await start(
            odin={**ODIN, "review": True, "save": True, "selection": True},
            workspace=types.WorkspaceClientCapabilities(apply_edit=True, workspace_edit=edits),
            trusted=True,
            options={"settings": {"ide": ["claude", "gemini"]}},
            CLAUDE_CONFIG_DIR=str(tmp_path / "claude"),
            TMPDIR=str(tmp_path / "temporary"),
        )
    )
    (root / "a.py").write_text(LINES)
    editor.open(root / "a.py")
    editor.type(root / "a.py", TYPED, 0)
    editor.decide = all_but_the_second
    return editor


async def test_claude_code_has_three_hunks_reviewed_on_the_unsaved_text_of_which_one_is_refused(
    editor: Editor, root: Path, tmp_path: Path
) -> None:
    file, locks = root / "a.py", tmp_path / "claude" / "ide"
    asked = editor.saves(lambda text: text)
    async with claude(locks) as code:
        answer = await code.change(file, changed(LINES, 3, 15, 27))

        expected = TYPED + changed(LINES, 3, 27)
        assert answer == ["FILE_SAVED", expected]
        assert editor.reviews[0]["origin"] == "claude-code"
        async with asyncio.timeout(PATIENCE):
            while not asked:
                await asyncio.sleep(0.02)
        assert (asked, editor.text(file), file.read_text()) == ([[file.as_uri()]], expected, expected)

        new = root / "new.py"
        editor.decide = lambda review: {
            "decisions": [{"hunkId": review["files"][0]["hunks"][0]["id"], "decision": "accept"}]
        }
        assert (await code.change(new, "print()\n"))[0] == "FILE_SAVED"
        closed = await editor.client.until(lambda it: it["event"]["kind"] == "reviewClosed" and new.as_uri() in str(it))
        assert [it["state"] for it in closed["event"]["receipts"]] == ["accepted"]
        assert new.as_uri() not in editor.documents

        async with asyncio.timeout(PATIENCE):
            assert await editor.watched.get() is True
        selection = {"start": {"line": 3, "character": 0}, "end": {"line": 3, "character": 7}}
        editor.client.lsp.protocol.notify("odin/selection", {"uri": file.as_uri(), "range": selection})
        assert (await code.until_told("selection_changed"))["text"] == "changed"
        assert await editor.client.command("mention", uri=file.as_uri(), range=selection) == {"agents": 1}
        assert (await code.until_told("at_mentioned"))["lineStart"] == 3

    async with asyncio.timeout(PATIENCE):
        assert await editor.watched.get() is False
    await editor.client.leave()
    assert list(locks.iterdir()) == []


async def test_gemini_cli_has_three_hunks_reviewed_on_the_unsaved_text_of_which_one_is_refused(
    editor: Editor, root: Path, tmp_path: Path
) -> None:
    file, files = root / "a.py", tmp_path / "temporary" / "gemini" / "ide"
    async with gemini(files) as cli:
        await cli.call("openDiff", filePath=str(file), newContent=changed(LINES, 3, 15, 27))

        told = await cli.until_told("ide/diffAccepted")
        assert told["content"] == TYPED + changed(LINES, 3, 27) == editor.text(file)
        assert file.read_text() == LINES


async def test_nobody_finds_a_folder_that_is_not_trusted(start: Start, root: Path, tmp_path: Path) -> None:
    locks = tmp_path / "claude" / "ide"
    settings = {"ide": ["claude"]}
    client = await start(options={"settings": settings}, CLAUDE_CONFIG_DIR=str(locks.parent))
    await client.command("state")
    assert not locks.exists()

    await client.trusts()

    await found(locks, "*.lock")
