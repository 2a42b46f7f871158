"""A fault at every file operation of one whole turn, with a real provider's SDK: what is told of it is true, the next
turn works, and so does an Odin that is started after it."""

import asyncio
import errno
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from odin_lsp.agent.turn import UserMessage
from odin_lsp.config import Config
from odin_lsp.terminal.editor import TerminalEditor
from tests.e2e.steps import play_calls, says
from tests.support.faults import Operations, error
from tests.support.project import core_of, take
from tests.support.wire import DIALECTS, KEY

OLD, NEW = "one\ntwo\nthree\n", "one\nTWO\nthree\n"
ENDS = {"end_turn", "failed"}
PATIENCE = 60
FAULTS = {
    "it cannot be read or written once": (error(errno.EIO), False),
    "it cannot be read or written any more": (error(errno.EIO), True),
    "no more files can be opened": (error(errno.EMFILE), False),
}
PARTS = 4
"""None of them takes minutes."""


@asynccontextmanager
async def odin(root, wire):
    """It has answered before: what it needs is imported."""
    config = {"model": DIALECTS[0].ref, "smallModel": DIALECTS[0].ref, "titles": False, "retries": {"attempts": 1}}
    core = core_of(root, TerminalEditor("yes"), Config.model_validate(config))
    try:
        wire.answers.clear()
        wire.play(says("hello"))
        assert (await turn(core, "hello")).answer == "hello"
        yield core
    finally:
        await core.close()


def play_turn(wire, root):
    wire.answers.clear()
    play_calls(wire, ("Read", {"file_path": str(root / "a.txt")}), ("Grep", {"pattern": "two"}))
    play_calls(
        wire,
        ("EditTool", {"file_path": str(root / "a.txt"), "old_string": "two", "new_string": "TWO"}),
        ("WriteFile", {"file_path": str(root / "sub" / "new.txt"), "content": "new\n"}),
    )
    play_calls(wire, ("ExecuteCommand", {"command": "echo ran >> ran.txt", "description": "run"}))
    wire.play(says("done"))


async def turn(core, text):
    async with asyncio.timeout(PATIENCE):
        return await take(core, UserMessage(turn_id=text, text=text, mode="edit_mode"))


def text_of(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


def compare(root: Path, outcome) -> None:
    """What it says of its tools is what the files are."""
    states = {it.name: it.status for it in outcome.tools}
    assert outcome.reason in ENDS
    assert outcome.reason == "end_turn" or outcome.detail
    expected = {"EditTool": (root / "a.txt", OLD, NEW), "WriteFile": (root / "sub" / "new.txt", None, "new\n")}
    for tool, (path, before, after) in expected.items():
        assert text_of(path) == (after if states.get(tool) == "success" else before), f"{tool}: {states}"
    assert text_of(root / "ran.txt") in ((None, "ran\n") if states.get("ExecuteCommand") != "success" else ("ran\n",))


async def goes_wrong(root, wire, at, fault):
    async with odin(root, wire) as core:
        play_turn(wire, root)
        with Operations(at, fault):
            outcome = await turn(core, "go")
        compare(root, outcome)
        (root / "a.txt").write_text(OLD)
        (root / "ran.txt").unlink(missing_ok=True)
        (root / "sub" / "new.txt").unlink(missing_ok=True)
        play_turn(wire, root)
        again = await turn(core, "again")
        assert again.reason == "end_turn", again
        assert [it.status for it in again.tools] == ["success"] * 5, again.tools
        compare(root, again)
        session_id = again.session_id
    async with odin(root, wire) as core:
        wire.play(says("still here"))
        live = await core.sessions.open(session_id)
        assert [it.turn_id for it in live.session.turns][-1:] == ["again"]
        assert (await turn(core, "later")).answer == "still here"
    left = [it.name for it in root.rglob("*") if it.is_file()]
    assert sorted(left) == ["a.txt", "new.txt", "ran.txt"]


@pytest.fixture
def begun(tmp_path, monkeypatch, wire):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", wire.url)

    def begun(name):
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / name / "state"))
        root = tmp_path / name / "ws"
        root.mkdir(parents=True)
        (root / "a.txt").write_text(OLD)
        return root

    return begun


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("fault", FAULTS)
async def test_whichever_file_operation_fails_what_is_told_is_true_and_the_next_turn_works(
    begun, wire, capsys, fault, part
):
    root = begun("counted")
    async with odin(root, wire) as core:
        play_turn(wire, root)
        with Operations() as operations:
            outcome = await turn(core, "go")
    compare(root, outcome)
    assert [it.status for it in outcome.tools] == ["success"] * 5
    problems = []
    for number, at in enumerate(operations.cases[part::PARTS]):
        root = begun(str(number))
        try:
            await goes_wrong(root, wire, at, FAULTS[fault])
        except Exception as problem:  # noqa: BLE001 - all are told together
            problems.append(f"{at}: {type(problem).__name__}: {problem}")
    with capsys.disabled():
        sys.stdout.write(f" {len(operations.cases)} of {len(operations.names)} operations: {fault} ")
    assert problems == []
