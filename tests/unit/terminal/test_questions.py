"""What can be said to a question on a terminal."""

import pytest

from odin_lsp.ports import Answer, Option, Question
from odin_lsp.terminal.person import Person
from odin_lsp.terminal.questions import Choices, answered

COMMAND = Question(
    question_id="q",
    kind="permission",
    title="May Odin run this command?",
    detail="make\x1b[2J",
    options=(Option("allow_once", "Allow once"), Option("allow_always", "Always allow"), Option("deny", "Deny")),
    allow_text=True,
    editable=True,
)
REPEATED = Question(
    question_id="q", kind="question", title="Go on?", options=(Option("continue", "Go on"), Option("stop", "Stop"))
)
TABS = Question(
    question_id="q", kind="question", title="Tabs?", options=(Option("1", "Yes"), Option("2", "No")), allow_text=True
)
COLOURS = Question(
    question_id="q",
    kind="question",
    title="Which?",
    options=(Option("1", "red"), Option("2", "blue")),
    multiple=True,
    allow_text=True,
)
NAME = Question(question_id="q", kind="question", title="Which name?", allow_text=True)


@pytest.mark.parametrize(
    ("question", "said", "answer"),
    [
        (COMMAND, ["y"], Answer(("allow_once",))),
        (COMMAND, ["YES"], Answer(("allow_once",))),
        (COMMAND, ["n"], Answer(("deny",))),
        (COMMAND, ["2"], Answer(("allow_always",))),
        (COMMAND, ["?", "", "x", "4", "n"], Answer(("deny",))),
        (COMMAND, ["edit make -n"], Answer(("allow_once",), command="make -n")),
        (COMMAND, ["use ninja"], Answer(text="use ninja")),
        (COMMAND, [], None),
        (REPEATED, ["y"], Answer(("continue",))),
        (REPEATED, ["n"], Answer(("stop",))),
        (REPEATED, ["go on then", "1"], Answer(("continue",))),
        (TABS, ["y"], Answer(("1",))),
        (TABS, ["n"], Answer(("2",))),
        (TABS, ["both"], Answer(text="both")),
        (COLOURS, ["y", "1, 2"], Answer(("1", "2"))),
        (COLOURS, ["n"], None),
        (NAME, ["x"], Answer(text="x")),
        (NAME, ["?", "5"], Answer(text="5")),
    ],
)
async def test_letters_mean_the_same_at_every_question(question, said, answer):
    left, screen = list(said), []

    async def ask(prompt: str) -> str | None:
        return left.pop(0) if left else None

    assert await answered(question, Person(screen.append, ask)) == answer
    assert not left
    helped = [it for it in said[:-1] if it]
    assert screen.count(Choices(question).help) == len(helped)


def test_help_says_what_each_answer_means():
    assert Choices(COMMAND).help.splitlines() == [
        "y  Allow once",
        "n  Deny",
        *("1  Allow once", "2  Always allow", "3  Deny"),
        "?  show this",
        "`edit COMMAND` allows another command in its place, once",
        "Other words are a no, and tell the model why.",
    ]
    assert Choices(COLOURS).help.splitlines()[0] == "n  give no answer"


async def test_what_is_asked_cannot_touch_the_screen():
    screen: list[str] = []

    async def ask(prompt: str) -> str | None:
        return None

    await answered(COMMAND, Person(screen.append, ask))

    assert screen[0] == "\nMay Odin run this command?\nmake\\x1b[2J"
