"""Comments that ask for something, told from strings and names by the grammar of each language."""

from pathlib import Path

import pytest

from odin_lsp.intelligence.requests import MAX_TEXT, requests_in


def found(text, name="a.py"):
    return [(it.kind, it.first, it.last, it.text) for it in requests_in(Path(name), text)]


@pytest.mark.parametrize(
    ("mark", "kind"),
    [("odin!", "edit"), ("AI!", "edit"), ("Odin?", "ask"), ("ai?", "ask"), ("ODIN!", "edit")],
)
def test_the_mark_says_whether_to_do_it_or_to_answer_it(mark, kind):
    assert found(f"x = 1\n# make it faster {mark}  \n") == [(kind, 2, 2, "make it faster")]


@pytest.mark.parametrize(
    "text",
    [
        "x = '# do it AI!'\n",
        '"""do it AI!"""\n',
        "# AI! is the mark\n",
        "# AI!\n",
        "# samurai!\n",
        "# do it AI\n",
        "odin!\n",
    ],
)
def test_nothing_else_is_a_request(text):
    assert found(text) == []


@pytest.mark.parametrize(
    ("name", "text", "asked"),
    [
        ("a.js", "/* make this\n * faster AI! */\n", (1, 2, "make this\nfaster")),
        ("a.tsx", "const a = <div>{/* do it AI! */}</div>;\n", (1, 1, "do it")),
        ("a.ts", "const x = `// no AI!`; // do it odin!\n", (1, 1, "do it")),
        ("a.rs", "/// one\n/// do it AI!\nfn f() {}\n", (1, 2, "one\ndo it")),
        ("a.rs", "/* do it AI! */\n", (1, 1, "do it")),
        ("a.rb", "=begin\ndo it AI!\n=end\n", (1, 3, "do it")),
        ("a.lua", "--[[ one\n do it AI! ]]\n", (1, 2, "one\ndo it")),
        ("a.lua", "-- do it AI!\n", (1, 1, "do it")),
        ("a.php", "<?php\n# do it AI!\n$x = 1;\n", (2, 2, "do it")),
        ("a.go", "package a\n\n// do it AI!\nfunc f() {}\n", (3, 3, "do it")),
        ("a.java", "class A {\n  /** do it AI! */\n}\n", (2, 2, "do it")),
        ("a.c", "int x; /* do it AI! */\n", (1, 1, "do it")),
        ("a.cpp", "// do it AI!\n", (1, 1, "do it")),
        ("a.cs", "// do it AI!\nclass A {}\n", (1, 1, "do it")),
    ],
)
def test_comments_of_every_language_are_known(name, text, asked):
    assert found(text, name) == [("edit", *asked)]


def test_comments_right_above_one_another_are_one_request():
    text = "x = 1  # not this\n# first\n# second AI!\ny = 2\n    # elsewhere\n# alone AI?\n"

    assert found(text) == [("edit", 2, 3, "first\nsecond"), ("ask", 6, 6, "alone")]


def test_each_mark_ends_a_request():
    assert found("# one AI!\n# two\n# three AI?\n# four\n") == [("edit", 1, 1, "one"), ("ask", 2, 3, "two\nthree")]


def test_a_comment_behind_code_is_a_request_of_its_own():
    assert found("# above\nx = 1  # rename it AI!\n") == [("edit", 2, 2, "rename it")]


def test_lines_are_those_of_the_editor_whatever_ends_them_and_whatever_is_in_them():
    assert found("ä = '🙂'\r# one\r\n# zwölf AI!\n") == [("edit", 2, 3, "one\nzwölf")]


def test_in_a_language_that_has_no_grammar_there_are_none():
    assert found("# do it AI!\n", "a.unknown") == []


def test_a_request_has_a_bound():
    assert len(found(f"# {'x' * 2 * MAX_TEXT} AI!\n")[0][3]) == MAX_TEXT
