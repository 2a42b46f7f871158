"""Literal edits: how they are read, and what one call makes of a file."""

import pytest

from odin_lsp.messages import Message, ToolCall, ToolResult, user
from odin_lsp.models.base import Connection, Request, ToolSpec
from odin_lsp.models.offline import connect
from odin_lsp.models.offline.changes import Change, Insert, Replace, draft
from odin_lsp.models.offline.edits import parse
from odin_lsp.models.reference import ModelRef


@pytest.mark.parametrize(
    ("prompt", "edit"),
    [
        ("replace helo with hello in greet.py", Replace("helo", "hello", "greet.py", words=True)),
        ("Please replace `a + b` with `b + a` in the file src/x.ts.", Replace("a + b", "b + a", "src/x.ts", False)),
        ('replace "id" with "key" in a.py', Replace("id", "key", "a.py", False)),
        (
            "replace all occurrences of one way with another in `my file.md`",
            Replace("one way", "another", "my file.md", False),
        ),
        ("replace foo with bar in baz in x.py", Replace("foo", "bar in baz", "x.py", True)),
        ('replace "debug" with "" in a.py', Replace("debug", "", "a.py", False)),
        ("replace ```py\na\nb\n``` with ```\nc\n``` in a.py", Replace("a\nb", "c", "a.py", False)),
        ("rename get_x to fetch_x", Replace("get_x", "fetch_x", None, True)),
        ("Rename the function `get_x` to `fetch_x` in a.py!", Replace("get_x", "fetch_x", "a.py", True)),
        ("rename Foo to Bar everywhere", Replace("Foo", "Bar", None, True)),
        ("rename total to cart_total in all files", Replace("total", "cart_total", None, True)),
        ("rename total to cart_total in every file.", Replace("total", "cart_total", None, True)),
        ("rename total to cart_total across the whole project", Replace("total", "cart_total", None, True)),
        ("rename total to cart_total in all.py", Replace("total", "cart_total", "all.py", True)),
        ("insert `import os` after line 3 in a.py", Insert("import os", False, 3, "a.py")),
        ('insert "x = 1" before `def main():` in a.py', Insert("x = 1", True, "def main():", "a.py")),
        ("insert 'x' after import sys in a.py", Insert("x", False, "import sys", "a.py")),
        ("insert ```\nx = 1\ny = 2\n``` after line 1 in a.py", Insert("x = 1\ny = 2", False, 1, "a.py")),
    ],
)
def test_an_edit_is_read_to_the_letter(prompt, edit):
    assert parse(prompt) == edit


@pytest.mark.parametrize(
    "prompt",
    [
        "make it faster",
        "replace foo with bar",
        "rename a.py to b.py",
        "rename foo to foo",
        "insert a docstring before main in a.py",
        "insert `x` in a.py",
        "explain how to rename Foo to Bar in one go",
        "",
    ],
)
def test_anything_else_is_no_literal_edit(prompt):
    assert parse(prompt) is None


def applied(edit, text):
    """The file after the call, which must be one that the edit tool accepts."""
    change = draft(edit, "/a.py", text.split("\n"))
    assert isinstance(change, Change), change
    first = text.find(change.old)
    assert first >= 0
    assert change.everywhere or text.find(change.old, first + 1) < 0
    return text.replace(change.old, change.new)


RENAME = Replace("id", "key", None, words=True)


def test_a_rename_touches_every_whole_word():
    assert applied(RENAME, "id = 1\nprint(id, x.id)") == "key = 1\nprint(key, x.key)"


def test_a_rename_spares_words_that_merely_contain_the_name():
    text = "width = 1\nid = width\nvalid = id\n# end"

    assert applied(RENAME, text) == "width = 1\nkey = width\nvalid = key\n# end"


def test_a_rename_takes_as_much_around_as_makes_it_unique():
    text = "x = id\nwidth\nx = id\nwidth\nx = idx\nwidth\nx = id"

    assert applied(RENAME, text) == text.replace("= id\n", "= key\n").removesuffix("id") + "key"


def test_a_quoted_text_is_replaced_wherever_it_stands():
    assert applied(Replace("id", "key", "a.py", words=False), "width, id") == "wkeyth, key"


def test_a_text_of_several_lines_is_replaced():
    assert applied(Replace("a\nb", "c", "a.py", words=False), "x\na\nb\ny") == "x\nc\ny"


def test_an_insertion_comes_before_or_after_its_line():
    text = "a\nb\nc"

    assert applied(Insert("new", True, 2, "a.py"), text) == "a\nnew\nb\nc"
    assert applied(Insert("new", False, "c", "a.py"), text) == "a\nb\nc\nnew"


def test_an_insertion_finds_its_line_among_equal_ones():
    assert applied(Insert("new", False, 3, "a.py"), "a\n\na\n\na\n\na") == "a\n\na\nnew\n\na\n\na"


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (Replace("lost", "found", None, words=True), "does not occur in it as a whole word"),
        (Replace("one-two", "three", "a.py", words=False), "does not occur in it"),
        (Insert("x", True, 9, "a.py"), "it has 3 lines"),
        (Insert("x", True, "zebra", "a.py"), "does not occur in it"),
        (Insert("x", True, "word", "a.py"), "stands on lines 1, 3"),
    ],
)
def test_an_edit_that_cannot_be_made_says_why(edit, why):
    assert why in draft(edit, "/a.py", ["word", "lostness", "words"])


def test_hunks_name_each_line_once():
    change = draft(RENAME, "/a.py", ["id, id", "x", "id"])

    assert [(hunk.line, hunk.removed, hunk.added) for hunk in change.hunks] == [
        (1, ("id, id",), ("key, key",)),
        (3, ("id",), ("key",)),
    ]


TOOLS = ("Grep", "Glob", "Read", "EditTool")


async def converse(prompt, *answers, tools=TOOLS):
    """The model's replies, each step's calls answered from `answers` by the tool's name."""
    model = connect(ModelRef("offline", "odin"), Connection())
    messages = [user("<reminder>\nMode: edit_mode\n</reminder>", prompt)]
    replies = []
    for answer in (*answers, {}):
        request = Request(
            system=("Workspace: /w",),
            messages=tuple(messages),
            tools=tuple(ToolSpec(name, "", {}) for name in tools),
        )
        reply = [event async for event in model.stream(request)][-1].message
        replies.append(reply)
        messages += [reply, Message("user", tuple(result(call, answer[call.name]) for call in reply.calls))]
    return replies


def result(call: ToolCall, answer):
    content = answer[call.arguments["file_path"]] if isinstance(answer, dict) else answer
    failed = content.startswith("!")
    return ToolResult(call.id, call.name, content.removeprefix("!"), failed)


async def test_a_replacement_is_found_read_made_and_reported():
    find, read, edit, report = await converse(
        "replace helo with hello in greet.py",
        {"Glob": "/w/src/greet.py (cached)"},
        {"Read": "     1\tprint('helo')\n(unsaved changes are shown)"},
        {"EditTool": "changed"},
    )

    assert find.calls[0].arguments == {"pattern": "**/greet.py"}
    assert read.calls[0].arguments == {"file_path": "/w/src/greet.py", "offset": 1}
    assert edit.calls[0].arguments == {
        "file_path": "/w/src/greet.py",
        "old_string": "helo",
        "new_string": "hello",
        "replace_all": False,
    }
    assert "Files changed: 1 of 1." in report.text
    assert "- `src/greet.py`: changed at line 1" in report.text


async def test_what_the_user_rejected_is_not_told_as_changed():
    *_, report = await converse(
        "replace helo with hello in greet.py",
        {"Glob": "/w/src/greet.py"},
        {"Read": "     1\thelo\n     2\t\n     3\thelo"},
        {"EditTool": "The user has reviewed your edits.\nsrc/greet.py: 1 accepted, 1 rejected.\n- accepted (line 1)"},
    )

    assert "- `src/greet.py`: 1 accepted, 1 rejected" in report.text


async def test_a_rename_is_one_call_per_file_and_failures_are_told():
    *_, edit, report = await converse(
        "rename old to new",
        {"Grep": "/w/a.py\n/w/b.py\n/w/c.py"},
        {
            "Read": {
                "/w/a.py": "     1\told\n     2\told",
                "/w/b.py": "     1\told = bold",
                "/w/c.py": "!it is a folder",
            }
        },
        {"EditTool": {"/w/a.py": "changed", "/w/b.py": "!the answer was no\nreally"}},
    )

    assert [(call.arguments["file_path"], call.arguments["replace_all"]) for call in edit.calls] == [
        ("/w/a.py", True),
        ("/w/b.py", False),
    ]
    assert "Files changed: 1 of 3." in report.text
    assert "- `a.py`: changed at lines 1, 2" in report.text
    assert "- `b.py`: not changed. EditTool said `the answer was no`" in report.text
    assert "- `c.py`: could not be read. Read said `it is a folder`" in report.text


async def test_without_an_edit_tool_the_change_is_only_shown():
    *_, answer = await converse(
        "rename old to new",
        {"Grep": "/w/a.py"},
        {"Read": "     1\tx\n     2\told()"},
        tools=("Grep", "Read"),
    )

    assert "Nothing was changed: editing is not available in this mode or version." in answer.text
    assert "**`a.py:2`**\n\n```diff\n-old()\n+new()\n```" in answer.text


@pytest.mark.parametrize(
    ("prompt", "found", "why"),
    [
        ("replace a with b in x.py", "No files found", "there is no file `x.py`"),
        ("replace a with b in x.py", "/w/p/x.py\n/w/q/x.py", "could be any of `p/x.py`, `q/x.py`"),
        ("replace a with b in x.py", "!broken", "Glob said `broken`"),
        ("rename a to b", "No matches found", "there is nothing to replace `a` with `b` in"),
        ("rename a to b", "\n".join(f"/w/{n}.py" for n in range(21)), "more than 20 files"),
    ],
)
async def test_an_edit_without_a_clear_target_changes_nothing(prompt, found, why):
    *_, answer = await converse(prompt, {"Glob": found, "Grep": found})

    assert answer.text.startswith("Nothing was changed: ")
    assert why in answer.text


async def test_the_file_at_the_root_wins_over_its_namesakes():
    _, read, _ = await converse(
        "replace a with b in x.py", {"Glob": "/w/p/x.py\n/w/x.py"}, {"Read": "     1\ta"}, tools=("Glob", "Read")
    )

    assert [call.arguments for call in read.calls] == [{"file_path": "/w/x.py", "offset": 1}]


@pytest.mark.parametrize("cut", ["     1\ta\n(lines 1-1 of 9; go on with offset 2)", "     1\ta " + "x" * 2001])
async def test_a_file_that_is_not_shown_whole_is_not_changed(cut):
    *_, answer = await converse("replace a with b in /w/x.py", {"Read": cut})

    assert "too long to be read as a whole" in answer.text


async def test_other_wishes_are_answered_with_the_three_phrasings():
    *_, answer = await converse("make Zeppelin faster", tools=())

    assert "can only make literal edits" in answer.text
    assert "no language model took part" in answer.text
