"""LS, Glob, Grep and Read over a real folder, with ripgrep and without."""

import asyncio
import os
import re
import threading

import pytest

from odin_lsp.errors import ToolError
from odin_lsp.tools.editing import readable
from odin_lsp.workspace import search
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
    [("~/src", "not an absolute path"), ("notes.md", "is a file"), ("{root}/x", "does not exist")],
)
async def test_ls_says_what_is_wrong(use, root, path, problem):
    with pytest.raises(ToolError, match=problem):
        await use("LS", path=path.format(root=root))


async def test_glob_finds_newest_first_and_not_what_is_ignored(use, root, engine):
    os.utime(root / "notes.md", (1, 1))
    os.utime(root / "src" / "main.py", (3, 3))
    os.utime(root / "src" / "util.ts", (2, 2))

    assert (await use("Glob", pattern="**/*.{py,ts,md}")).data.splitlines() == [
        "src/main.py",
        "src/util.ts",
        "notes.md",
    ]


async def test_whoever_looks_what_holds_up_a_search_ends_with_it(use, monkeypatch):
    is_over = threading.Event()
    monkeypatch.setattr(search, "LOOK_AFTER_SECONDS", 0)
    monkeypatch.setattr(search, "odd_below", lambda *_: is_over.wait())

    assert (await use("Glob", pattern="**/*.md")).data == "notes.md"

    await asyncio.sleep(0)
    left = asyncio.all_tasks() - {asyncio.current_task()}
    is_over.set()
    assert not left


async def test_glob_stays_in_the_folder_unless_told_otherwise(use, root):
    assert (await use("Glob", pattern="*.py")).data == "No files found; `**/*.py` finds 1 file further down"
    assert (await use("Glob", pattern="*.lua")).data == "No files found"
    assert (await use("Glob", pattern="*.py", path="src")).data == "src/main.py"


@pytest.mark.parametrize("path", ["undefined", "null", "file:///src"])
async def test_glob_refuses_what_is_no_path(use, path):
    with pytest.raises(ToolError):
        await use("Glob", pattern="*", path=path)


async def test_grep_lists_files(use, engine):
    found = (await use("Grep", pattern="TODO", output_mode="files_with_matches")).data.splitlines()

    assert found == ["notes.md", "src/main.py"]


async def test_grep_shows_lines_below_their_file(use, engine):
    found = (await use("Grep", pattern="TODO")).data.splitlines()

    assert found == ["notes.md", "2:TODO write", "", "src/main.py", "4:    print('TODO: greet')"]


async def test_grep_shows_lines_with_numbers_and_surroundings(use, root, engine):
    output = await use("Grep", pattern="TODO", output_mode="content", glob="*.py", **{"-B": 1, "-A": 1})

    assert output.data.splitlines() == ["src/main.py", "3-def main():", "4:    print('TODO: greet')", "5-    return 0"]
    assert output.files == (str(root / "src" / "main.py"),)


async def test_grep_around_is_before_and_after(use, engine):
    output = await use("Grep", pattern="TODO", output_mode="content", glob="*.py", **{"-C": 1})

    assert len(output.data.splitlines()) == 4


async def test_grep_without_numbers(use, engine):
    output = await use("Grep", pattern="TODO w", output_mode="content", **{"-n": False})

    assert output.data == "notes.md\n:TODO write"


async def test_grep_counts(use, engine):
    output = await use("Grep", pattern="todo", output_mode="count", **{"-i": True})

    assert output.data.splitlines() == ["notes.md:1", "src/main.py:1", "src/util.ts:1"]


async def test_grep_by_type_and_by_path(use, root, engine):
    assert (await use("Grep", pattern="x", type="ts")).data == "src/util.ts\n2:export const x = 1"
    assert (await use("Grep", pattern="greet", path=str(root / "src"))).data.startswith("src/main.py\n4:")
    assert (await use("Grep", pattern="greet", path="src")).data.startswith("src/main.py\n4:")


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

    output = await use("Grep", pattern="(?i)todo", type=type, glob=glob, output_mode="files_with_matches")

    assert output.data.splitlines() == (found or ["No matches found"])


@pytest.mark.parametrize("unsaved", [False, True])
async def test_grep_of_one_file_does_not_ask_for_its_type(use, context, root, engine, unsaved):
    notes = root / "notes.md"
    if unsaved:
        context.files.buffers.open(notes.as_uri(), 1, "TODO typed\n")

    assert "TODO" in (await use("Grep", pattern="TODO", path=str(notes), type="py", glob="*.ts")).data


async def test_grep_across_lines(use, root, engine):
    output = await use("Grep", pattern=r"main\(\):\n\s+print", multiline=True, output_mode="content")

    assert [line.partition(":")[0] for line in output.data.splitlines()] == ["src/main.py", "3", "4"]


@pytest.mark.parametrize("limit", ["limit", "head_limit"])
async def test_grep_limits_and_pages(use, engine, limit):
    first = (await use("Grep", pattern="TODO", output_mode="files_with_matches", **{limit: 1})).data
    second = (await use("Grep", pattern="TODO", output_mode="files_with_matches", offset=2)).data

    assert first.splitlines() == ["notes.md", "(1 more files; offset 2 goes on)"]
    assert second == "src/main.py"
    assert "has only 2" in (await use("Grep", pattern="TODO", offset=3)).data


async def test_grep_shows_a_page_and_counts_what_is_left_by_file(use, root, engine):
    for name, count in [("a", 90), ("b", 70), ("c", 5)]:
        (root / f"{name}.txt").write_text("needle\n" * count)

    first = (await use("Grep", pattern="needle")).data
    second = (await use("Grep", pattern="needle", offset=101)).data

    assert first.splitlines()[-1] == "(65 more lines: b.txt 60, c.txt 5; offset 101 goes on)"
    assert first.count(":needle") == 100
    assert second.splitlines()[:2] == ["b.txt", "11:needle"]
    assert second.count(":needle") == 65


async def test_grep_names_only_some_of_many_files_that_are_left(use, root):
    for number in range(40):
        (root / f"{number:02}.txt").write_text("needle\n" * 10)

    assert (await use("Grep", pattern="needle")).data.endswith("20 other files 200; offset 101 goes on)")


async def test_grep_reads_a_window_of_one_file(use, engine):
    output = await use("Grep", pattern="", path="src/main.py", offset=3, limit=2)

    assert output.data.splitlines()[:3] == ["src/main.py", "3:def main():", "4:    print('TODO: greet')"]


async def test_grep_sees_what_is_typed_and_not_what_it_replaced(use, context, root, engine):
    notes = root / "notes.md"
    context.files.buffers.open(notes.as_uri(), 1, notes.read_text())
    context.files.buffers.change(notes.as_uri(), 2, [Change("nothing\nunsaved words\n")])

    assert (await use("Grep", pattern="unsaved")).data == "notes.md\n2:unsaved words"
    assert (await use("Grep", pattern="TODO", output_mode="files_with_matches")).data == "src/main.py"
    assert (await use("Grep", pattern="unsaved", path=str(notes))).data == "notes.md\n2:unsaved words"


async def test_grep_sees_what_is_typed_beside_half_a_character(use, context, root, engine):
    notes = root / "notes.md"
    context.files.buffers.open(notes.as_uri(), 1, "half \ud83d\nunsaved words\n")

    assert (await use("Grep", pattern="unsaved|half", output_mode="content")).data.splitlines() == [
        "notes.md",
        "1:half ?",
        "2:unsaved words",
    ]


@pytest.mark.parametrize("arguments", [{}, {"limit": 100}, {"limit": 2000}, {"-C": 1, "offset": 5}])
async def test_only_what_grep_could_show_counts_as_seen(use, context, root, arguments):
    long = root / "long.txt"
    long.write_text(
        "".join(f"{'needle' if number % 3 else 'hay'} {number:04} {'x' * 60}\n" for number in range(1, 2001))
    )

    output = await use("Grep", pattern="needle", path=str(long), output_mode="content", **arguments)

    told = {int(re.split("[:-]", line)[0]) for line in output.data.splitlines() if line[:1].isdigit()}
    assert len(output.data) < 31_000
    assert set(context.shown.of(long).lines) == told


@pytest.mark.parametrize("pattern", ["--pre=./x", "-f/etc/passwd", "-e", "--", "--files"])
async def test_a_pattern_cannot_become_an_option(use, root, engine, pattern):
    (root / "odd.txt").write_text(f"say {pattern} twice\n")

    assert (await use("Grep", pattern=pattern, path="odd.txt")).data == f"odd.txt\n1:say {pattern} twice"


async def test_a_pattern_that_is_none_says_so(use, engine):
    with pytest.raises(ToolError, match="is no regular expression"):
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
    assert (await use("Read", file_path=str(root / "notes.md"), offset=9)).data == (
        "(the file has only 2 lines; set offset to one of them)"
    )


async def test_read_shows_unsaved_text_and_says_so(use, context, root):
    notes = root / "notes.md"
    context.files.buffers.open(notes.as_uri(), 1, notes.read_text())
    context.files.buffers.change(notes.as_uri(), 2, [Change("typed")])

    assert (await use("Read", file_path=str(notes))).data == "     1\ttyped\n(unsaved changes are shown)"


async def test_a_notebook_that_is_open_as_one_is_not_edited(use, context, root):
    notebook = root / "a.ipynb"
    notebook.write_text("{}\n")
    context.files.buffers.open_notebook(notebook.as_uri(), 1, [], None)

    assert "what its cells say is not known" in (await use("Read", file_path=str(notebook))).data
    with pytest.raises(ToolError, match="open as a notebook"):
        await readable(notebook, context)
    context.files.buffers.open(notebook.as_uri(), 1, "{}\n")
    assert (await readable(notebook, context)).text == "{}\n"
