"""LS, Glob, Grep and Read over a real folder, with ripgrep and without."""

import os
import re

import pytest

from odin_lsp.errors import ToolError
from odin_lsp.tools.editing import readable
from odin_lsp.workspace.text import Change


@pytest.fixture(params=["ripgrep", "fallback"])
def engine(request, context):
    if request.param == "fallback":
        context.search._ripgrep = None
    else:
        assert context.search._ripgrep is not None
    return request.param


async def test_ls_lists_names_without_secrets_and_what_is_ignored(use, root):
    output = await use("LS", path=str(root), ignore=["*.md"])

    assert output.data.splitlines() == ["- .gitignore", "- build/", "- src/"]


async def test_ls_marks_what_is_cached(use, root):
    await use("Read", file_path=str(root / "notes.md"))

    assert "- notes.md (cached)" in (await use("LS", path=str(root))).data


@pytest.mark.parametrize(
    ("path", "problem"),
    [("src", "not an absolute path"), ("{root}/notes.md", "is a file"), ("{root}/x", "does not exist")],
)
async def test_ls_says_what_is_wrong(use, root, path, problem):
    with pytest.raises(ToolError, match=problem):
        await use("LS", path=path.format(root=root))


async def test_glob_finds_newest_first_and_not_what_is_ignored(use, root, engine):
    os.utime(root / "notes.md", (1, 1))
    os.utime(root / "src" / "main.py", (3, 3))
    os.utime(root / "src" / "util.ts", (2, 2))

    assert (await use("Glob", pattern="**/*.{py,ts,md}")).data.splitlines() == [
        str(root / "src" / "main.py"),
        str(root / "src" / "util.ts"),
        str(root / "notes.md"),
    ]


async def test_glob_stays_in_the_folder_unless_told_otherwise(use, root):
    assert (await use("Glob", pattern="*.py")).data == "No files found; `**/*.py` finds 1 file further down"
    assert (await use("Glob", pattern="*.lua")).data == "No files found"
    assert (await use("Glob", pattern="*.py", path=str(root / "src"))).data == str(root / "src" / "main.py")


@pytest.mark.parametrize("path", ["undefined", "null", "src"])
async def test_glob_refuses_what_is_no_path(use, path):
    with pytest.raises(ToolError):
        await use("Glob", pattern="*", path=path)


async def test_grep_lists_files(use, root, engine):
    assert (await use("Grep", pattern="TODO")).data.splitlines() == [
        str(root / "notes.md"),
        str(root / "src" / "main.py"),
    ]


async def test_grep_shows_lines_with_numbers_and_surroundings(use, root, engine):
    output = await use("Grep", pattern="TODO", output_mode="content", glob="*.py", **{"-B": 1, "-A": 1})

    main = root / "src" / "main.py"
    assert output.data.splitlines() == [
        f"{main}-3-def main():",
        f"{main}:4:    print('TODO: greet')",
        f"{main}-5-    return 0",
    ]
    assert output.files == (str(main),)


async def test_grep_around_is_before_and_after(use, engine):
    output = await use("Grep", pattern="TODO", output_mode="content", glob="*.py", **{"-C": 1})

    assert len(output.data.splitlines()) == 3


async def test_grep_without_numbers(use, root, engine):
    output = await use("Grep", pattern="TODO w", output_mode="content", **{"-n": False})

    assert output.data == f"{root / 'notes.md'}:TODO write"


async def test_grep_counts(use, root, engine):
    output = await use("Grep", pattern="todo", output_mode="count", **{"-i": True})

    assert output.data.splitlines() == [
        f"{root / 'notes.md'}:1",
        f"{root / 'src' / 'main.py'}:1",
        f"{root / 'src' / 'util.ts'}:1",
    ]


async def test_grep_by_type_and_by_path(use, root, engine):
    assert (await use("Grep", pattern=".", type="ts")).data == str(root / "src" / "util.ts")
    assert (await use("Grep", pattern="TODO", path=str(root / "src"))).data == str(root / "src" / "main.py")


@pytest.mark.parametrize(
    ("type", "glob", "found"),
    [
        ("py", "*.ts", []),
        ("py", "*.{py,ts}", ["src/main.py"]),
        ("py", "src/*", ["src/main.py"]),
        ("py", "src/*.ts", []),
        ("md", "src/**", []),
        ("py", "!*.py", []),
        ("py", "!*.ts", ["src/main.py"]),
        (None, "*.{py,ts}", ["src/main.py", "src/util.ts"]),
        (None, "src/*.{py,ts}", ["src/main.py", "src/util.ts"]),
        (None, "src/*.ts", ["src/util.ts"]),
    ],
)
@pytest.mark.parametrize("unsaved", [False, True])
async def test_grep_by_type_and_glob_finds_what_has_both(use, context, root, engine, type, glob, found, unsaved):
    if unsaved:
        for name in ("src/main.py", "src/util.ts", "notes.md"):
            context.files.buffers.open((root / name).as_uri(), 1, "TODO typed\n")

    output = await use("Grep", pattern="(?i)todo", type=type, glob=glob)

    assert output.data.splitlines() == ([str(root / name) for name in found] or ["No matches found"])


@pytest.mark.parametrize("unsaved", [False, True])
async def test_grep_of_one_file_does_not_ask_for_its_type(use, context, root, engine, unsaved):
    notes = root / "notes.md"
    if unsaved:
        context.files.buffers.open(notes.as_uri(), 1, "TODO typed\n")

    assert (await use("Grep", pattern="TODO", path=str(notes), type="py", glob="*.ts")).data == str(notes)


async def test_grep_across_lines(use, root, engine):
    output = await use("Grep", pattern=r"main\(\):\n\s+print", multiline=True, output_mode="content")

    assert [line.split(":")[1] for line in output.data.splitlines()] == ["3", "4"]


async def test_grep_limits_and_pages(use, root, engine):
    assert (await use("Grep", pattern="TODO", head_limit=1)).data.splitlines() == [str(root / "notes.md"), "(1 more)"]
    assert (await use("Grep", pattern="TODO", offset=2)).data == str(root / "src" / "main.py")


async def test_grep_reads_a_window_of_one_file(use, root, engine):
    main = root / "src" / "main.py"

    output = await use("Grep", pattern="", path=str(main), output_mode="content", offset=3, limit=2)

    assert output.data.splitlines() == [f"{main}:3:def main():", f"{main}:4:    print('TODO: greet')"]


async def test_grep_sees_what_is_typed_and_not_what_it_replaced(use, context, root, engine):
    notes = root / "notes.md"
    context.files.buffers.open(notes.as_uri(), 1, notes.read_text())
    context.files.buffers.change(notes.as_uri(), 2, [Change("nothing\nunsaved words\n")])

    assert (await use("Grep", pattern="unsaved", output_mode="content")).data == f"{notes}:2:unsaved words"
    assert (await use("Grep", pattern="TODO")).data == str(root / "src" / "main.py")
    assert (await use("Grep", pattern="unsaved", path=str(notes))).data == str(notes)


async def test_grep_sees_what_is_typed_beside_half_a_character(use, context, root, engine):
    notes = root / "notes.md"
    context.files.buffers.open(notes.as_uri(), 1, "half \ud83d\nunsaved words\n")

    assert (await use("Grep", pattern="unsaved|half", output_mode="content")).data.splitlines() == [
        f"{notes}:1:half ?",
        f"{notes}:2:unsaved words",
    ]


@pytest.mark.parametrize("arguments", [{}, {"head_limit": 100}, {"-C": 1, "head_limit": 100}])
async def test_only_what_grep_could_show_counts_as_seen(use, context, root, arguments):
    long = root / "long.txt"
    long.write_text(
        "".join(f"{'needle' if number % 3 else 'hay'} {number:04} {'x' * 60}\n" for number in range(1, 2001))
    )

    output = await use("Grep", pattern="needle", path=str(long), output_mode="content", **arguments)

    told = {int(re.split("[:-]", line.removeprefix(str(long)))[1]) for line in output.data.splitlines() if "/" in line}
    assert set(context.shown.of(long).lines) == told


@pytest.mark.parametrize("pattern", ["--pre=./x", "-f/etc/passwd", "-e", "--", "--files"])
async def test_a_pattern_cannot_become_an_option(use, root, engine, pattern):
    (root / "odd.txt").write_text(f"say {pattern} twice\n")

    assert (await use("Grep", pattern=pattern, path=str(root / "odd.txt"))).data == str(root / "odd.txt")


async def test_a_pattern_that_is_none_says_so(use, engine):
    with pytest.raises(ToolError, match="regex parse error"):
        await use("Grep", pattern="(")


async def test_a_path_that_is_not_there_says_so(use, root):
    with pytest.raises(ToolError, match="does not exist"):
        await use("Grep", pattern="x", path=str(root / "none"))


async def test_a_program_of_the_workspace_is_never_run_as_ripgrep(root, monkeypatch):
    from odin_lsp.workspace.search import find_ripgrep

    fake = root / "rg"
    fake.write_text("#!/bin/sh\ntouch pwned\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{root}:.:")
    monkeypatch.setattr("sysconfig.get_path", lambda name: "/nowhere")

    assert find_ripgrep([root]) is None


async def test_read_numbers_lines_like_cat(use, root):
    output = await use("Read", file_path=str(root / "notes.md"))

    assert output.data == "     1\t# Notes\n     2\tTODO write"


async def test_read_shows_a_window_and_says_what_is_left(use, root):
    (root / "long.txt").write_text("".join(f"line {number}\n" for number in range(1, 3001)))

    whole = (await use("Read", file_path=str(root / "long.txt"))).data.splitlines()
    window = (await use("Read", file_path=str(root / "long.txt"), offset=10, limit=2)).data.splitlines()

    assert whole[0] == "     1\tline 1"
    assert whole[-1].startswith("(lines 1-")
    assert window == ["    10\tline 10", "    11\tline 11", "(lines 10-11 of 3000; go on with offset 12)"]


async def test_read_cuts_long_lines_and_says_so(use, root):
    (root / "wide.txt").write_text("x" * 5000)

    assert (await use("Read", file_path=str(root / "wide.txt"))).data.endswith("… (5,000 characters)")


async def test_read_of_nothing_says_so(use, root):
    (root / "empty").write_text("")

    assert (await use("Read", file_path=str(root / "empty"))).data == "(the file is empty)"
    assert (await use("Read", file_path=str(root / "notes.md"), offset=9)).data == "(the file has only 2 lines)"


async def test_read_shows_unsaved_text_and_says_so(use, context, root):
    notes = root / "notes.md"
    context.files.buffers.open(notes.as_uri(), 1, notes.read_text())
    context.files.buffers.change(notes.as_uri(), 2, [Change("typed")])

    assert (await use("Read", file_path=str(notes))).data == "     1\ttyped\n(unsaved changes are shown)"


async def test_read_says_that_a_notebook_is_one(use, context, root):
    notebook = root / "a.ipynb"
    notebook.write_text('{"cells": []}\n')

    assert (await use("Read", file_path=str(notebook))).data.splitlines() == [
        '     1\t{"cells": []}',
        "(a notebook, as the JSON that it is stored in)",
    ]
    assert readable(notebook, context).text == '{"cells": []}\n'


async def test_a_notebook_that_is_open_as_one_is_not_edited(use, context, root):
    notebook = root / "a.ipynb"
    notebook.write_text("{}\n")
    context.files.buffers.open_notebook(notebook.as_uri())

    assert "what its cells say is not known" in (await use("Read", file_path=str(notebook))).data
    with pytest.raises(ToolError, match="open as a notebook"):
        readable(notebook, context)
    context.files.buffers.open(notebook.as_uri(), 1, "{}\n")
    assert readable(notebook, context).text == "{}\n"
