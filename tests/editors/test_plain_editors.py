"""Editors without a plugin, with the settings of docs/editors.md: messages, questions, and reviews by quick fixes."""

from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio

from tests.e2e.steps import play_calls, results, says
from tests.editors.conftest import program
from tests.editors.debian import EMACS, HELIX
from tests.editors.neovim import until
from tests.editors.plain import Emacs, Helix
from tests.editors.terminal import Terminal
from tests.support.wire import Answer, Wire, anthropic_sse, anthropic_start, anthropic_text

pytestmark = pytest.mark.asyncio(loop_scope="module")

OLD = "alpha = 1\nbeta = 2\ngamma = 3\n"
EDITS = [
    {"old_string": "alpha = 1", "new_string": "alpha = 11"},
    {"old_string": "gamma = 3", "new_string": "gamma = 33"},
]
PLAN = "# Count further\n\n- [ ] Look\n- [ ] Write\n"
COMMAND = "python3 -c 'print(6 * 7)'"


@pytest.fixture(scope="module")
def programs(installed: Path) -> Path:
    return installed


@pytest.fixture
def file(root: Path, wire: Wire) -> Path:
    wire.answers.clear()
    file = root / "plain.py"
    file.write_text(OLD)
    return file


def play_review(wire: Wire, file: Path) -> None:
    play_calls(wire, ("Read", {"file_path": str(file)}))
    play_calls(wire, ("MultiEditTool", {"file_path": str(file), "edits": EDITS}))
    wire.play(says("Reviewed."))


def said(wire: Wire) -> str:
    """All that the user has sent last, with what went along."""
    return "\n".join(block.get("text", "") for block in wire.request["messages"][-1]["content"])


async def receipts(wire: Wire) -> str:
    async def told() -> bool:
        return not wire.answers

    await until(told, "the model is told")
    return results(wire)[0]


async def _more(wire: Wire, before: int) -> bool:
    return len(wire.sent) > before


def carried_out(wire: Wire) -> str:
    """The steps of a plan that the model was told to do."""
    blocks = [block.get("text", "") for it in wire.request["messages"] for block in it["content"]]
    return "\n".join(blocks).rpartition("in this order.")[2].partition("These steps")[0].strip()


@pytest_asyncio.fixture(loop_scope="module")
async def emacs(terminal: Terminal, root: Path, file: Path, env: dict[str, str]) -> Emacs:
    emacs = Emacs(terminal)
    await emacs.start(program(EMACS), root, file, Path(env["HOME"]))
    return emacs


async def test_emacs(emacs: Emacs, wire: Wire, file: Path) -> None:
    terminal = emacs.terminal
    wire.play(says("It counts to three."))
    await emacs.select_all(file)
    await emacs.act("Odin: Explain")
    await terminal.shows("It counts to three.")
    before = len(wire.sent)
    wire.play(Answer([anthropic_sse(anthropic_start(), *anthropic_text(0, "Well"))], held=True))
    await emacs.select_all(file)
    await emacs.act("Odin: Explain")
    await until(lambda: _more(wire, before), "the model is asked")
    await emacs.act("Odin: Cancel the running turn")
    await terminal.shows("*interrupted*")


async def test_emacs_edits_with_free_text_and_reviews(emacs: Emacs, wire: Wire, file: Path) -> None:
    terminal = emacs.terminal
    play_review(wire, file)
    await emacs.select_all(file)
    await emacs.write("Odin: Edit…", "<!-- Odin: Edit plain.py, lines 1-3.", "double the digits")
    await emacs.send()
    await terminal.shows("Odin proposes 2 changes in plain.py")
    assert file.read_text() == OLD
    await emacs.select_all(file)
    await terminal.press("M-<")
    await emacs.act("Odin: Accept this change", "eglot-code-action-quickfix")
    await terminal.press("M-<", "C-n", "C-n")
    await emacs.act("Odin: Reject this change", "eglot-code-action-quickfix")
    assert ": 1 accepted, 1 rejected." in await receipts(wire)
    await terminal.shows("Reviewed.")
    screen = await terminal.shows("alpha = 11")
    assert "gamma = 33" not in screen
    assert any("double the digits" in str(it.body) for it in wire.sent)


async def test_emacs_asks_twice_with_free_text_and_answers_a_question(emacs: Emacs, wire: Wire, file: Path) -> None:
    terminal = emacs.terminal
    for question, answer in (("who uses beta?", "Nobody uses it."), ("and gamma?", "Nobody either.")):
        wire.play(says(answer))
        await emacs.select_all(file)
        await emacs.write("Odin: Ask…", "<!-- Odin: Ask about plain.py, lines 1-3.", question)
        await emacs.send()
        await terminal.shows(answer)
        assert question in said(wire)
        assert "beta = 2" in said(wire)
    play_calls(wire, ("ExecuteCommand", {"command": COMMAND, "description": "count"}))
    wire.play(says("Counted."))
    await emacs.select_all(file)
    await emacs.write("Odin: Edit…", "<!-- Odin: Edit plain.py, lines 1-3.", "count")
    await emacs.send()
    await terminal.shows("Choose an option:")
    await terminal.press("C-a", "C-k")
    await terminal.write("Allow once\n")
    await terminal.shows("Counted.")
    assert "42" in results(wire)[0]


async def test_emacs_runs_a_step_of_a_plan(emacs: Emacs, wire: Wire, file: Path) -> None:
    wire.play(says(PLAN), says("It is"), says("Written."))  # it is reminded of a step that it has not ticked
    await emacs.select_all(file)
    await emacs.write("Odin: Plan…", "<!-- Odin: Plan a change of plain.py, lines 1-3.", "count further")
    await emacs.send()
    await emacs.terminal.shows("- [ ] Write")
    await emacs.terminal.press("C-s")
    await emacs.terminal.write("Write")
    await emacs.terminal.press("Enter")
    await emacs.act("Odin: Run this step")
    await emacs.terminal.shows("Written.")
    assert carried_out(wire) == "2. Write"


@pytest_asyncio.fixture(loop_scope="module")
async def helix(terminal: Terminal, root: Path, file: Path, env: dict[str, str]) -> Helix:
    helix = Helix(terminal)
    await helix.start(program(HELIX), root, file, Path(env["XDG_CONFIG_HOME"]))
    return helix


async def test_helix(helix: Helix, wire: Wire, file: Path) -> None:
    wire.play(says("It counts to three."))
    await helix.terminal.press("%")
    await helix.act("Odin: Explain")
    await helix.terminal.shows("It counts to three.")


async def test_helix_edits_with_free_text_and_reviews(helix: Helix, wire: Wire, file: Path) -> None:
    terminal = helix.terminal
    play_review(wire, file)
    await terminal.press("%")
    await helix.write("Odin: Edit…", "<!-- Odin: Edit plain.py, lines 1-3.", "double the digits")
    await helix.send()
    await terminal.shows("Odin proposes 2 changes in plain.py")
    assert file.read_text() == OLD
    await helix.open(file)
    await terminal.press("g", "g")
    await helix.act("Odin: Accept this change")
    await terminal.press("3", "G")
    await helix.act("Odin: Reject this change")
    assert ": 1 accepted, 1 rejected." in await receipts(wire)
    await terminal.shows("Reviewed.")
    await helix.open(file)
    assert "gamma = 33" not in await terminal.shows("alpha = 11")
    assert any("double the digits" in str(it.body) for it in wire.sent)


async def test_helix_asks_twice_with_free_text_and_answers_a_question(helix: Helix, wire: Wire, file: Path) -> None:
    terminal = helix.terminal
    for question, answer in (("who uses beta?", "Nobody uses it."), ("and gamma?", "Nobody either.")):
        wire.play(says(answer))
        await helix.open(file)
        await terminal.press("%")
        await helix.write("Odin: Ask…", "<!-- Odin: Ask about plain.py, lines 1-3.", question)
        await helix.send()
        await until(partial(is_heard, wire), "the message is sent")  # before it is read again from the disk
        await helix.reads(answer)
        assert question in said(wire)
        assert "beta = 2" in said(wire)
    play_calls(wire, ("ExecuteCommand", {"command": COMMAND, "description": "count"}))
    wire.play(says("Counted."))
    await helix.open(file)
    await terminal.press("%")
    await helix.write("Odin: Edit…", "<!-- Odin: Edit plain.py, lines 1-3.", "count")
    await helix.send()
    await terminal.shows("Allow once")
    await terminal.press("Enter")
    assert "42" in await receipts(wire)


async def is_heard(wire: Wire) -> bool:
    return not wire.answers


async def test_helix_runs_a_step_of_a_plan(helix: Helix, wire: Wire, file: Path) -> None:
    terminal = helix.terminal
    wire.play(says(PLAN), says("It is"), says("Written."))  # it is reminded of a step that it has not ticked
    await terminal.press("%")
    await helix.write("Odin: Plan…", "<!-- Odin: Plan a change of plain.py, lines 1-3.", "count further")
    await helix.send()
    await terminal.shows("- [ ] Write")
    await terminal.write("/Write")
    await terminal.press("Enter")
    await helix.act("Odin: Run this step")
    await terminal.shows("Written.")
    assert carried_out(wire) == "2. Write"
