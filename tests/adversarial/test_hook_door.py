"""HOOK-01 to HOOK-03: what another agent's hook is told says nothing of hidden files, whatever it asks for, and comes
in time, whatever the files hold."""

import asyncio
import sys

import pytest

from odin_lsp.hook_door.door import Refused, answer
from odin_lsp.loop_watch import REPORTS
from tests.adversarial.conftest import CANARY
from tests.e2e.conftest import Screen, run
from tests.e2e.test_agent_calls import decides
from tests.e2e.test_attaching import listens
from tests.e2e.test_hook_door import event, reason

__all__ = ["run"]

SECRET = f"KEY={CANARY}\n"


def patch(name, *lines):
    return "\n".join(["*** Begin Patch", *(it.format(name) for it in lines), "*** End Patch"])


def ways(name, guess):
    """To have the text of a file compared with a guess, by each tool of each agent."""
    line = guess.partition("\n")[0]
    return {
        "Write": ("claude", "Write", {"file_path": name, "content": guess}),
        "write_file": ("gemini", "write_file", {"file_path": name, "content": guess}),
        "Edit": ("claude", "Edit", {"file_path": name, "old_string": line or "x", "new_string": "y"}),
        "Edit nothing": ("claude", "Edit", {"file_path": name, "old_string": "", "new_string": guess or "y"}),
        "update": ("codex", "apply_patch", {"command": patch(name, "*** Update File: {}", f"-{line}", "+y")}),
        "add": ("codex", "apply_patch", {"command": patch(name, "*** Add File: {}", f"+{line}")}),
        "delete": ("codex", "apply_patch", {"command": patch(name, "*** Delete File: {}")}),
        "move": ("codex", "apply_patch", {"command": patch(name, "*** Update File: {}", "*** Move to: b", "@@", "-x")}),
        "move to": ("codex", "apply_patch", {"command": patch(name, "*** Update File: a.py", "*** Move to: {}")}),
        "two": ("codex", "apply_patch", {"command": patch(name, "*** Add File: n", "+x", "*** Add File: {}", "+y")}),
    }


async def told(agent, tool, given, folder):
    try:
        return await answer(agent, event(folder, tool, given), 60)
    except Refused as refused:
        return f"refused: {refused}"


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "a.py").write_text("x\n")
    return folder


@pytest.mark.parametrize("way", ways("", ""))
async def test_hook_01_a_hidden_file_answers_every_guess_alike(folder, way):
    """Whether it is there, and what is in it."""
    answers: list[str] = []
    for text, guess in ((SECRET, SECRET), (SECRET, "KEY=other\n"), ("", SECRET), (None, SECRET)):
        (folder / "n").unlink(missing_ok=True)
        (folder / ".env").unlink(missing_ok=True)
        if text is not None:
            (folder / ".env").write_text(text)
        answers.append(await told(*ways(".env", guess)[way], folder))

    assert len(set(answers)) == 1
    assert ".env is hidden" in answers[0]
    assert CANARY not in answers[0]


@pytest.mark.parametrize("name", ["private/key.txt", "link"])
async def test_hook_01_whatever_hides_it(folder, name):
    """The settings of the project, or where a link leads."""
    (folder / "odinconfig.json").write_text('{"files": {"deny": ["private/"]}}')
    (folder / "private").mkdir()
    (folder / "link").symlink_to(".env")
    file = folder / (".env" if name == "link" else name)
    file.write_text(SECRET)
    there = [await told(*ways(name, guess)["Write"], folder) for guess in (SECRET, "other\n")]
    file.unlink()

    assert {await told(*ways(name, SECRET)["Write"], folder)} == {*there}
    assert "is hidden" in there[0]


async def test_hook_01_the_rules_are_those_of_the_odin_that_answers(start, root, run, screen: Screen):
    """They are in the editor's settings: the hook itself knows nothing of them."""
    screen.client.changes_settings(files={"deny": ["private.txt"]})
    await listens(root)

    given = [{"file_path": "private.txt", "content": guess} for guess in (SECRET, "other\n")]
    (root / "private.txt").write_text(SECRET)
    ran = [await run("hook", "claude", stdin=event(root, "Write", it)) for it in given]

    assert len(set(ran)) == 1
    assert "private.txt is hidden" in reason("claude", ran[0][1])
    assert screen.reviews == []


async def test_hook_02_a_file_of_20_000_lines_that_are_alike_is_reviewed_like_any_other(screen: Screen, root, run):
    """Each line is there thousands of times, and every 50th is changed: no place is easily told from the others."""
    lines = [f"{'a' * 30} {number % 25}\n" for number in range(20_000)]
    new = ["b\n" if number % 50 == 7 else line for number, line in enumerate(lines)]
    (root / "a.py").write_text("".join(lines))
    screen.decide = decides()
    screen.open(root / "a.py")
    await listens(root)

    code, out, err = await run(
        "hook", "claude", stdin=event(root, "Write", {"file_path": "a.py", "content": "".join(new)})
    )

    assert (code, err) == (0, "")
    assert reason("claude", out).startswith("Odin has made this edit as the user reviewed it.")
    assert screen.text(root / "a.py") == "".join(new)


COMPUTES = """
import sys
from odin_lsp.cli import main
from odin_lsp.hook_door import door
{stuck}
sys.argv = ["odin-lsp", "hook", "claude", "--patience", "0.2"]
sys.exit(main.main())
"""
STUCK = {
    "in a loop": "def compute(*_):\n    while True: pass\ndoor.calls_of = compute",
    "in what it is sent": "",
}


@pytest.mark.parametrize("how", STUCK)
async def test_hook_03_at_the_deadline_the_answer_is_no_whatever_odin_does(root, how, monkeypatch):
    """It ends, too: an agent waits for both."""
    monkeypatch.delenv(REPORTS, raising=False)  # it holds its loop
    given = event(root, "Write", {"file_path": "new.py", "content": "x\n"})
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", COMPUTES.format(stuck=STUCK[how]), cwd=root, stdin=-1, stdout=-1, stderr=-1
    )
    process.stdin.write(given)
    if how != "in what it is sent":
        process.stdin.close()

    out, err = await asyncio.gather(process.stdout.read(), process.stderr.read())

    assert (await process.wait(), out) == (2, b"")
    assert b"took too long" in err
