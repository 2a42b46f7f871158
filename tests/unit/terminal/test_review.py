"""What a person sees of a hunk, and what their letters mean."""

import re
import shlex
import sys
from dataclasses import replace

import pytest

from odin_lsp.display import shown_exactly
from odin_lsp.ports import Position, Range, Review, ReviewFile, ReviewHunk
from odin_lsp.terminal.review import CYAN, GREEN, HELP, PROMPT, RED, WHOLE, WHY_NOT, Reviewer, diff

NOWHERE = Range(Position(0, 0), Position(0, 0))


class Person:
    """Answers in turn; after the last answer the input has ended."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.prompts = []
        self.screen = []
        self.colours = []

    def say(self, text, colour=None):
        self.screen.append(text)
        self.colours.append(colour)

    async def ask(self, prompt):
        self.prompts.append(prompt)
        return self.answers.pop(0) if self.answers else None

    @property
    def seen(self):
        return "\n".join(self.screen)

    async def decide(self, review, *, colour=False):
        answer = await Reviewer(self.say, self.ask, colour).decide(review)
        return [(it.hunk_id, it.decision, it.text, it.reason) for it in answer.decisions], answer.rest_of_turn


def hunk(id="h", old="", new="", place=NOWHERE, **parts):
    return ReviewHunk(id, place, old, new, **{"reason": "", **parts})


def file(*hunks, operation="create", uri="file:///ws/a.py", **parts):
    return ReviewFile(uri=uri, operation=operation, base_hash="", proposed_text="", hunks=hunks, **parts)


def review(*files, reason=""):
    return Review("p", "t", reason, files)


def three():
    return review(file(hunk("1", new="a\n")), file(hunk("2", new="b\n"), hunk("3", new="c\n")))


@pytest.mark.parametrize(
    ("answers", "decisions"),
    [
        ("y y y", "accept accept accept"),
        ("n - n - n -", "reject reject reject"),
        ("y a", "accept accept accept"),
        ("a q", "accept reject reject"),
        ("A", "accept accept accept"),
        ("y q", "accept reject reject"),
        ("y d", "accept reject reject"),
        ("d y y", "reject accept accept"),
        ("q", "reject reject reject"),
        ("", "reject reject reject"),
        ("y", "accept reject reject"),
        ("- - y - q", "accept reject reject"),
        ("? Y yes x y a", "accept accept accept"),
    ],
)
async def test_a_letter_decides(answers, decisions):
    person = Person(*(it.replace("-", "") for it in answers.split()))

    taken, rest_of_turn = await person.decide(three())

    assert [it[:2] for it in taken] == list(zip("123", decisions.split(), strict=True))
    assert rest_of_turn is None


@pytest.mark.parametrize(
    ("answers", "decision", "reason"),
    [
        (["y"], "accept", None),
        (["?", "", "y"], "accept", None),
        (["n", "not now"], "reject", "not now"),
        (["q"], "reject", None),
        ([], "reject", None),
    ],
)
async def test_what_belongs_together_is_shown_and_asked_about_as_a_whole(answers, decision, reason):
    person = Person(*answers)

    taken, _ = await person.decide(replace(three(), atomic=True))

    assert taken == [(it, decision, None, reason) for it in "123"]
    assert set(person.prompts) <= {WHOLE, WHY_NOT}
    assert [line for line in person.screen if line in ("+a", "+b", "+c")] == ["+a", "+b", "+c"]


async def test_nothing_is_applied_unseen():
    person = Person("A")
    await person.decide(three())
    assert [line for line in person.screen if line in ("+a", "+b", "+c")] == ["+a", "+b", "+c"]


async def test_a_no_comes_with_its_reason_if_there_is_one():
    person = Person("n", "too long", "n", "", "n")

    taken, _ = await person.decide(three())

    assert [it[3] for it in taken] == ["too long", None, None]
    assert person.prompts == [PROMPT, WHY_NOT] * 3


async def test_what_is_not_understood_is_explained_and_silence_is_not():
    person = Person("?", "", "y")
    await person.decide(review(file(hunk())))
    assert person.screen.count(HELP) == 1
    assert person.prompts == [PROMPT] * 3


async def test_what_is_decided_already_is_not_asked_again():
    taken, _ = await Person("y").decide(review(file(hunk("1", state="superseded"), hunk("2"))))
    assert taken == [("2", "accept", None, None)]


async def test_a_hunk_is_shown_with_three_lines_around_it(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("".join(f"line {number}\n" for number in range(1, 11)))
    place = Range(Position(4, 5), Position(4, 6))

    person = Person("y")
    reviewed = file(
        hunk("1", "5", "five", place, reason="Spell."), operation="edit", uri=path.as_uri(), note="It runs."
    )
    await person.decide(review(reviewed, reason="Tidy up."))

    assert person.seen == "\n".join(
        [
            "Tidy up.",
            f"\nedit {path}",
            "note: It runs.",
            "Spell.",
            "@@ -2,7 +2,7 @@",
            *(" line 2", " line 3", " line 4"),
            *("-line 5", "+line five"),
            *(" line 6", " line 7", " line 8"),
        ]
    )


async def test_places_are_counted_as_utf_16(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("😀 helo\n")

    person = Person("y")
    place = Range(Position(0, 3), Position(0, 7))
    await person.decide(review(file(hunk("1", "helo", "hello", place), operation="edit", uri=path.as_uri())))

    assert person.screen[-2:] == ["-😀 helo", "+😀 hello"]


@pytest.mark.parametrize("there", [None, "something else entirely\n"])
async def test_a_hunk_is_shown_alone_if_the_file_is_not_what_it_was(tmp_path, there):
    path = tmp_path / "a.txt"
    if there:
        path.write_text(there)

    person = Person("y")
    place = Range(Position(6, 0), Position(7, 0))
    await person.decide(review(file(hunk("1", "old\n", "new\n", place), operation="edit", uri=path.as_uri())))

    assert person.screen[-3:] == ["@@ -7,1 +7,1 @@", "-old", "+new"]


@pytest.mark.parametrize(
    ("reviewed", "shown"),
    [
        (file(hunk(new="a\nb\n")), ["\ncreate /ws/a.py", "@@ -0,0 +1,2 @@", "+a", "+b"]),
        (file(hunk()), ["\ncreate /ws/a.py"]),
        (
            file(hunk(old="a"), operation="delete"),
            ["\ndelete /ws/a.py", "@@ -1,1 +0,0 @@", "-a", "\\ No newline at end of file"],
        ),
        (file(hunk(), operation="rename", new_uri="file:///ws/b%1B.py"), ["\nrename /ws/a.py → /ws/b\\x1b.py"]),
    ],
    ids=["create", "create empty", "delete", "rename"],
)
async def test_an_operation_is_shown_as_what_it_does(reviewed, shown):
    person = Person("y")
    await person.decide(review(reviewed))
    assert person.screen == shown


async def test_the_hunks_of_a_file_are_counted():
    person = Person("y", "y", "y")
    await person.decide(three())
    assert [line for line in person.screen if "create" in line] == [
        "\ncreate /ws/a.py",
        "\ncreate /ws/a.py (1 of 2)",
        "\ncreate /ws/a.py (2 of 2)",
    ]


async def test_colours_are_there_only_if_wanted():
    person = Person("y")
    await person.decide(review(file(hunk(old="a\n", new="b\n"))), colour=True)
    assert person.screen[1:] == ["@@ -1,1 +1,1 @@", "-a", "+b"]
    assert person.colours[1:] == [CYAN, RED, GREEN]

    person = Person("y")
    await person.decide(review(file(hunk(old="a\n", new="b\n"))))
    assert set(person.colours) == {None}


async def test_what_the_model_writes_cannot_touch_the_screen():
    nasty = "\x1b[2J\r\x08\x9b\u202e\u2028\ud800\x00"
    person = Person("y")
    hostile = hunk(old=f"{nasty}old\n", new=f"{nasty}new", reason=f"{nasty}\nwhy")
    await person.decide(
        review(file(hostile, uri="file:///ws/%1B%0A", note=f"{nasty}\nnote"), reason=f"{nasty}\n{PROMPT}")
    )

    assert all(line.removeprefix("\n").replace("\t", "").isprintable() for line in person.screen)
    assert f" {PROMPT}" in person.screen[0]
    assert r"\x1b[2J" in person.seen


def test_long_lines_and_tabs_are_shown_as_they_are():
    assert shown_exactly("\t" + "x" * 10_000) == "\t" + "x" * 10_000
    assert shown_exactly("naïve 漢字 😀") == "naïve 漢字 😀"


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("a\r\nb\r\n", "a\r\nc\r\n", [" a", "-b", "+c"]),
        ("a\r\nb\r\n", "a\r\nb\n", [r" a\r", r"-b\r", "+b"]),
        ("a\n", "a", ["-a", "+a", "\\ No newline at end of file"]),
        ("a\nb\n", "ab\n", ["-a", "-b", "+ab"]),
        ("a\na\n", "a\na\na\n", [" a", " a", "+a"]),
        ("same", "same", []),
    ],
    ids=["CRLF", "line ends that differ", "final newline", "joined", "repeated", "nothing"],
)
def test_a_diff_shows_what_changes(old, new, shown):
    assert list(diff(old, new))[1:] == shown


@pytest.fixture
def editor(tmp_path, monkeypatch):
    """Sets $VISUAL to a program that does this to the text in its file."""

    def use(program):
        script = tmp_path / "editor.py"
        script.write_text(
            f"import sys, pathlib\npath = pathlib.Path(sys.argv[1])\ntext = path.read_text()\n{program}\n"
        )
        monkeypatch.setenv("VISUAL", shlex.join([sys.executable, str(script)]))

    return use


@pytest.mark.parametrize(
    ("old", "new", "program", "decision", "text"),
    [
        ("a\n", "b\n", "", "accept", None),
        ("a\n", "b\n", "path.write_text('c\\n')", "modify", "c\n"),
        ("a", "b", "path.write_text('b\\n')", "accept", None),
        ("a", "b", "path.write_text('c\\n')", "modify", "c"),
        ("a\n", "", "path.write_text('c\\n')", "modify", "c\n"),
        ("a\r\n", "b\r\n", "path.write_bytes(b'c\\r\\n')", "modify", "c\r\n"),
        ("a\n", "b\n", "path.write_text(path.suffix)", "modify", ".py"),
    ],
    ids=["unchanged", "changed", "newline added", "newline added to a change", "deletion", "CRLF", "suffix"],
)
async def test_the_new_text_can_be_edited(editor, old, new, program, decision, text):
    editor(program)
    taken, _ = await Person("e").decide(review(file(hunk("1", old, new))))
    assert taken == [("1", decision, text, None)]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("", r"set \$VISUAL or \$EDITOR"),
        ("/no/such/editor --wait", "No such file"),
        ("false", "false ended with 1"),
        ("'unbalanced", "No closing quotation"),
    ],
)
async def test_an_editor_that_does_not_work_decides_nothing(monkeypatch, command, said):
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", command)
    person = Person("e", "n", "")

    taken, _ = await person.decide(review(file(hunk("1", new="a\n"))))

    assert taken == [("1", "reject", None, None)]
    assert re.search(f"the editor did not work: .*{said}", person.seen)


async def test_text_that_is_not_unicode_is_not_taken_from_the_editor(editor):
    editor("path.write_bytes(b'\\xff')")
    person = Person("e", "q")
    taken, _ = await person.decide(review(file(hunk("1", new="a\n"))))
    assert taken == [("1", "reject", None, None)]


@pytest.mark.parametrize("operation", ["delete", "rename"])
async def test_what_has_no_text_cannot_be_edited(operation):
    person = Person("e", "y")
    taken, _ = await person.decide(review(file(hunk("1"), operation=operation)))
    assert taken == [("1", "accept", None, None)]
    assert f"a {operation} has no text to edit" in person.screen


async def test_files_are_named_as_seen_from_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    person = Person("y")
    await person.decide(review(file(hunk(new="a\n"), uri=(tmp_path / "sub" / "a.py").as_uri())))
    assert person.screen[0] == "\ncreate sub/a.py"
