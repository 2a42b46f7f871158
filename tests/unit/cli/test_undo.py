"""`odin-lsp undo`, as a person uses it."""

import asyncio

import pytest

from odin_lsp.agent.core import Core
from odin_lsp.cli.main import main
from odin_lsp.project.project import Project, Told
from odin_lsp.review.proposals import Proposal, edit_of
from odin_lsp.review.turn_review import TurnReview
from odin_lsp.terminal.editor import TerminalEditor


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Two, which a turn has changed."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    files = [tmp_path / "ws" / name for name in ("a.txt", "b.txt")]
    files[0].parent.mkdir()
    for it in files:
        it.write_text("old\n")

    async def turn():
        core = Core(Project(Told(roots=(tmp_path / "ws",)), can_pick=False), TerminalEditor("yes"))
        proposal = Proposal("turn", [edit_of(it, "old\n", "new\n") for it in files])
        await core.desk.submit(proposal, TurnReview("turn", lambda event: None))
        await core.close()

    asyncio.run(turn())
    assert [it.read_text() for it in files] == ["new\n", "new\n"]
    return files


@pytest.fixture
def undo(tmp_path, capsys):
    def undo(*arguments):
        code = main(["undo", "--cwd", str(tmp_path / "ws"), *map(str, arguments)])
        return code, capsys.readouterr().err.splitlines()

    return undo


def test_it_says_what_it_did_and_how_to_bring_it_back(files, undo):
    code, [*restored, hint] = undo()

    assert (code, sorted(restored)) == (0, ["restored a.txt", "restored b.txt"])
    assert [it.read_text() for it in files] == ["old\n", "old\n"]
    assert undo() == (1, ["odin: there is nothing to undo"])
    said, _, undo_id = hint.rpartition(" ")
    assert said == "to bring this back: odin-lsp undo"
    assert undo(undo_id)[0] == 0
    assert [it.read_text() for it in files] == ["new\n", "new\n"]


def test_only_one_file_and_what_stays_and_why(files, undo):
    assert undo("turn", "--file", "a.txt")[1][0] == "restored a.txt"
    assert [it.read_text() for it in files] == ["old\n", "new\n"]
    files[1].write_text("typed\n")

    assert undo() == (1, ["kept b.txt: it has been changed since"])
