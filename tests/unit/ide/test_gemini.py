"""Gemini CLI finds Odin as its IDE."""

import json
import os
import stat

from odin_lsp.workspace.text import Position
from tests.support.ide import found, gemini, world
from tests.support.reviewing import accept, reject

TYPED = "# typed, not saved\n"


def changed(text, *numbers):
    for number in numbers:
        text = text.replace(f"line {number}\n", f"changed {number}\n")
    return text


async def test_its_file_says_where_odin_is_and_is_for_the_user_alone(root, found_by_gemini):
    async with world(root, "gemini"):
        path, said = await found(found_by_gemini, "*.json")

        assert path.name == f"gemini-ide-server-{os.getpid()}-{said['port']}.json"
        assert said["workspacePath"] == str(root)
        assert said["ideInfo"] == {"name": "odin", "displayName": "Odin (test)"}
        assert [stat.S_IMODE(it.stat().st_mode) for it in (path.parent, path)] == [0o700, 0o600]

    assert list(found_by_gemini.iterdir()) == []


async def test_a_diff_is_answered_at_once_and_its_review_is_told_later(root, found_by_gemini):
    greet = root / "greet.py"
    saved = greet.read_text()
    async with world(root, "gemini") as odin, gemini(found_by_gemini) as cli:
        odin.open(greet)
        odin.types(greet, TYPED + saved)
        odin.editor.decide = lambda hunk: reject(hunk) if hunk.range.start.line == 15 else accept(hunk)

        assert await cli.call("openDiff", filePath=str(greet), newContent=changed(saved, 3, 15, 27)) == []

        told = await cli.until_told("ide/diffAccepted")
        assert told == {"filePath": str(greet), "content": TYPED + changed(saved, 3, 27)}
        assert odin.text(greet) == told["content"]
        assert odin.editor.reviews[0].origin == "gemini-cli"

        odin.editor.decide = reject
        await cli.call("openDiff", filePath=str(greet), newContent="all new\n")
        assert await cli.until_told("ide/diffRejected") == {"filePath": str(greet)}


async def test_a_closed_diff_says_what_it_would_have_become(root, found_by_gemini):
    greet = root / "greet.py"
    saved = greet.read_text()
    async with world(root, "gemini") as odin, gemini(found_by_gemini) as cli:
        odin.editor.decide = lambda _: None
        await cli.call("openDiff", filePath=str(greet), newContent=changed(saved, 3))

        [closed] = await cli.call("closeDiff", filePath=str(greet), suppressNotification=True)
        [again] = await cli.call("closeDiff", filePath=str(greet))

        assert (json.loads(closed), json.loads(again)) == ({"content": changed(saved, 3)}, {"content": None})
        assert [name for name, _ in cli.told if name != "ide/contextUpdate"] == []


async def test_it_is_told_what_is_open_and_selected(root, found_by_gemini):
    greet = root / "greet.py"
    async with world(root, "gemini") as odin, gemini(found_by_gemini) as cli:
        uri = odin.open(greet)
        odin.sight.look(uri, Position(1, 0), Position(1, 6))

        def is_there(context):
            return any(it.get("selectedText") for it in context["workspaceState"]["openFiles"])

        state = (await cli.until_told("ide/contextUpdate", is_there))["workspaceState"]

    [file] = state["openFiles"]
    assert (file["path"], file["isActive"], file["selectedText"]) == (str(greet), True, "line 2")
    assert file["cursor"] == {"line": 2, "character": 7}
    assert state["isTrusted"] is True


async def test_the_tools_are_those_that_it_needs(root, found_by_gemini):
    async with world(root, "gemini"), gemini(found_by_gemini) as cli:
        tools = (await cli.ask("tools/list"))["tools"]

    assert {it["name"]: it["inputSchema"]["required"] for it in tools} == {
        "openDiff": ["filePath", "newContent"],
        "closeDiff": ["filePath"],
    }
