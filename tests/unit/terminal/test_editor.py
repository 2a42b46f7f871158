"""The editor port of a terminal: who is asked."""

import asyncio
import json
import os
import pty
import re
import sys

import pytest

from odin_lsp.ports import UNASKED, Position, Range, Review, ReviewFile, ReviewHunk
from odin_lsp.terminal.answering import DENIED, INSTEAD, NOBODY
from odin_lsp.terminal.editor import TerminalEditor
from odin_lsp.terminal.review import PROMPT
from odin_lsp.values import to_wire

QUESTION = re.compile(rb"(Accept|Why) [^?]*\?")
NOWHERE = Range(Position(0, 0), Position(0, 0))
REVIEW = Review(
    "p",
    "t",
    "Tidy up.",
    tuple(
        ReviewFile(
            uri=f"file:///ws/{name}.py",
            operation="create",
            base_hash="",
            proposed_text="",
            hunks=(ReviewHunk(name, NOWHERE, "", f"{name}\n", ""),),
        )
        for name in ("one", "two")
    ),
)
CHILD = """
import asyncio, fcntl, json, sys, termios
from odin_lsp.ports import Review
from odin_lsp.terminal.editor import TerminalEditor
from odin_lsp.values import from_wire, to_wire

fcntl.ioctl(0, termios.TIOCSCTTY, 0)
review = from_wire(Review, json.loads(sys.argv[1]))
answer = asyncio.run(TerminalEditor("ask").review(review))
print("ANSWER", json.dumps([it.decision for it in answer.decisions]))
"""


@pytest.mark.parametrize(
    ("policy", "decision", "reason"),
    [
        ("yes", "accept", UNASKED),
        ("no", "reject", f"{DENIED}; {INSTEAD}"),
        ("ask", "reject", f"{NOBODY}; {INSTEAD}"),
    ],
)
async def test_without_a_person_the_flags_decide(policy, decision, reason):
    editor = TerminalEditor(policy)

    answer = await editor.review(REVIEW)

    assert [(it.hunk_id, it.decision, it.reason) for it in answer.decisions] == [
        ("one", decision, reason),
        ("two", decision, reason),
    ]
    assert answer.rest_of_turn is None
    assert editor.denied == (decision == "reject")


async def test_on_a_terminal_the_person_decides_in_colour():
    screen = await on_a_terminal(["y\n", "n\n", "no need\n"])

    assert "\x1b[32m+one\x1b[0m" in screen
    assert answered(screen) == ["accept", "reject"]


async def test_no_colour_means_none():
    screen = await on_a_terminal(["A\n"], NO_COLOR="1")

    assert "\x1b" not in screen
    assert answered(screen) == ["accept", "accept"]


async def test_an_empty_line_is_asked_about_again_and_the_end_of_input_is_a_no():
    screen = await on_a_terminal(["\n", "y\n", "\x04"])

    assert screen.count(PROMPT) == 3
    assert answered(screen) == ["accept", "reject"]


async def test_an_editor_has_the_terminal_even_if_ctrl_c_is_typed_in_it(tmp_path):
    script = tmp_path / "editor.py"
    script.write_text(
        "import signal, sys, pathlib\n"
        "signal.signal(signal.SIGINT, lambda *_: None)\n"
        "assert sys.stdin.isatty() and sys.stdout.isatty()\n"
        "print('Accept what?', flush=True)\n"
        "pathlib.Path(sys.argv[1]).write_text(input())\n"
    )
    screen = await on_a_terminal(["e\n", "\x03mine\n", "q\n"], EDITOR=f"{sys.executable} {script}")

    assert answered(screen) == ["modify", "reject"]


async def test_waiting_for_an_answer_can_be_cancelled():
    child = CHILD.replace('TerminalEditor("ask").review(review)', "main()").replace(
        "answer =",
        "async def main():\n"
        "    try:\n"
        "        async with asyncio.timeout(0.2):\n"
        "            return await TerminalEditor('ask').review(review)\n"
        "    except TimeoutError:\n"
        "        sys.exit('CANCELLED')\n"
        "answer =",
    )
    assert "CANCELLED" in await on_a_terminal([], child)


async def test_c_057_a_command_can_be_typed_in_place_of_the_one_that_is_asked_about():
    child = """
import asyncio, fcntl, termios
from odin_lsp.ports import Question
from odin_lsp.terminal.editor import TerminalEditor

fcntl.ioctl(0, termios.TIOCSCTTY, 0)
question = Question(question_id="q", kind="permission", title="Why not?", command="ls", editable=True)
print("ANSWER", asyncio.run(TerminalEditor("ask").ask(question)))
"""
    screen = await on_a_terminal(["edit ls -l\n"], child)

    assert "Answer(option_ids=('allow_once',), text=None, command='ls -l')" in screen


def answered(screen):
    return json.loads(screen.split("ANSWER")[1])


async def on_a_terminal(typed, child=CHILD, **env) -> str:
    """What is written on a terminal on which each of these is typed once it is asked for."""
    terminal, inner = pty.openpty()
    command = [sys.executable, "-c", child, json.dumps(to_wire(REVIEW))]
    process = await asyncio.create_subprocess_exec(
        *command, stdin=inner, stdout=inner, stderr=inner, env={**os.environ, **env}, start_new_session=True
    )
    os.close(inner)
    seen, done, left = bytearray(), asyncio.Event(), list(typed)

    def read() -> None:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:
            chunk = b""
        seen.extend(chunk)
        if not chunk:
            asyncio.get_running_loop().remove_reader(terminal)
            done.set()
        for _ in range(len(QUESTION.findall(seen)) - len(typed) + len(left)):
            os.write(terminal, left.pop(0).encode() if left else b"")

    asyncio.get_running_loop().add_reader(terminal, read)
    async with asyncio.timeout(30):
        await done.wait()
        await process.wait()
    os.close(terminal)
    return seen.decode()
