"""`odin-lsp hook`, as other agents run it before they edit: what an editor reviews is made there, and no more."""

import asyncio
import json
import shlex

import pytest

from tests.e2e.conftest import ODIN_LSP, Screen
from tests.e2e.test_agent_calls import LINES, TYPED, decides, editor

__all__ = ["editor"]

CHANGED = {f"line {it}\n": f"changed {it}\n" for it in (3, 15, 27)}
NEW = "".join(CHANGED.get(line, line) for line in LINES.splitlines(keepends=True))
KEPT = LINES.replace("line 3\n", "changed 3\n").replace("line 27\n", "changed 27\n")
PATCH = "\n".join(
    ["*** Begin Patch", "*** Update File: a.py"]
    + [part for old, new in CHANGED.items() for part in ("@@", f"-{old.strip()}", f"+{new.strip()}")]
    + ["*** End Patch"]
)


def edit(file):
    return {"file_path": str(file), "old_string": LINES, "new_string": NEW}


INPUTS = {
    "claude": lambda file: ("Edit", edit(file)),
    "codex": lambda file: ("apply_patch", {"command": PATCH}),
    "gemini": lambda file: ("write_file", {"file_path": str(file), "content": NEW}),
    "opencode": lambda file: ("edit", {"filePath": str(file), "oldString": LINES, "newString": NEW}),
}


def event(root, tool, given, **more):
    return json.dumps({"session_id": "s", "cwd": str(root), "tool_name": tool, "tool_input": given, **more}).encode()


def reason(agent, out):
    if agent == "opencode":
        return out
    said = json.loads(out)
    if agent == "gemini":
        assert said["decision"] == "deny"
        return said["reason"]
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
    return said["hookSpecificOutput"]["permissionDecisionReason"]


@pytest.mark.parametrize("agent", INPUTS)
async def test_two_of_three_hunks_are_made_on_the_screen_and_the_agent_is_told_which(editor: Screen, root, run, agent):
    editor.decide = decides(reject=2)
    file = root / "a.py"

    code, out, err = await run("hook", agent, stdin=event(root, *INPUTS[agent](file)))

    assert (code, err) == (0, "")
    told = reason(agent, out)
    assert told.startswith("Odin has made this edit as the user reviewed it. Do not make it again.\na.py: 2 accepted")
    assert "keep it" in told
    assert (editor.text(file), file.read_text()) == (TYPED + KEPT, LINES)
    assert len(editor.reviews) == 1


async def test_what_is_rejected_altogether_is_not_made(editor: Screen, root, run):
    editor.decide = lambda review: {
        "decisions": [
            {"hunkId": hunk["id"], "decision": "reject", "reason": "no"}
            for file in review["files"]
            for hunk in file["hunks"]
        ]
    }

    code, out, _ = await run("hook", "claude", stdin=event(root, "Write", {"file_path": "new.py", "content": "x\n"}))

    assert code == 0
    assert reason("claude", out).startswith("Nothing was changed.\n")
    assert not (root / "new.py").exists()


async def test_a_patch_of_several_files_is_told_file_by_file(editor: Screen, root, run):
    editor.decide = decides()
    patch = f"{PATCH.removesuffix('*** End Patch')}*** Add File: new.py\n+x\n*** Delete File: gone.py\n*** End Patch"

    code, out, _ = await run("hook", "codex", stdin=event(root, "apply_patch", {"command": patch}))

    assert code == 0
    told = reason("codex", out)
    assert told.startswith("Odin has made a part of this edit.")
    assert all(name in told for name in ("a.py: accepted", "new.py", "gone.py"))
    assert editor.text(root / "a.py") == TYPED + NEW


async def test_what_does_not_fit_the_screen_is_not_made(editor: Screen, root, run):
    (root / "a.py").write_text("other\n")

    code, out, _ = await run("hook", "claude", stdin=event(root, "Edit", edit(root / "a.py")))

    assert code == 0
    assert "has changed on disk under the editor" in reason("claude", out)
    assert editor.text(root / "a.py") == TYPED + LINES
    assert editor.reviews == []


async def test_where_nobody_can_review_nothing_is_made(root, run):
    (root / "a.py").write_text(LINES)

    code, out, _ = await run("hook", "claude", stdin=event(root, "Edit", edit(root / "a.py")))

    assert code == 0
    assert "ask the user to open this folder in an editor with Odin" in reason("claude", out)
    assert (root / "a.py").read_text() == LINES


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"", "is no JSON"),
        (b"\xff{", "is no JSON"),
        (b"[" * 100_000, "is no JSON"),
        (b"[]", "names no tool"),
        (b'{"tool_name": "Edit", "tool_input": []}', "names no tool"),
        (b'{"tool_name": "Bash", "tool_input": {"command": "x"}}', "Odin cannot review what Bash does"),
    ],
)
async def test_what_is_not_understood_is_refused(root, run, said, why):
    code, out, err = await run("hook", "claude", stdin=said)

    assert (code, out) == (2, "")
    assert why in err


async def test_whatever_else_goes_wrong_the_agent_is_told_no(root):
    (root / "gone").mkdir()
    command = f"cd gone && rmdir ../gone && exec {shlex.join(ODIN_LSP)} hook claude"
    process = await asyncio.create_subprocess_shell(command, cwd=root, stdin=-1, stdout=-1, stderr=-1)

    out, err = await process.communicate(b'{"tool_name": "Write", "tool_input": {"file_path": "a", "content": "b"}}')

    assert (process.returncode, out) == (2, b"")
    assert b"could not review this edit, so it was not made: FileNotFoundError" in err
