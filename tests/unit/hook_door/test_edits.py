"""What agents' own tools would do, as calls of Odin's."""

import pytest

from odin_lsp.errors import FileMissing, PermissionDenied, ToolError
from odin_lsp.hook_door.edits import calls_of
from odin_lsp.workspace import disk

TEXT = "one\ntwo\nthree\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.py"
    path.write_text(TEXT)
    return path


async def text_on_disk(path):
    if not path.exists():
        raise FileMissing(f"{path} does not exist")
    return disk.read_text(path).text


async def calls(file, tool, text_of=text_on_disk, **given):
    return [(it.tool, dict(it.arguments)) for it in await calls_of(tool, given, file.parent, text_of)]


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Edit", {"file_path": "{file}", "old_string": "two", "new_string": "2", "replace_all": False}),
        ("replace", {"file_path": "{file}", "old_string": "two", "new_string": "2", "instruction": "count"}),
        ("edit", {"filePath": "{file}", "oldString": "two", "newString": "2"}),
        ("Edit", {"file_path": "a.py", "old_string": "two", "new_string": "2"}),
    ],
    ids=["claude", "gemini", "opencode", "relative"],
)
async def test_an_edit_is_an_edit(file, tool, given):
    given = {name: it.format(file=file) if isinstance(it, str) else it for name, it in given.items()}

    expected = {"file_path": str(file), "old_string": "two", "new_string": "2", "replace_all": False}
    assert await calls(file, tool, **given) == [("EditTool", expected)]


@pytest.mark.parametrize("more", [{"replace_all": True}, {"allow_multiple": True}, {"expected_replacements": 3}])
async def test_an_edit_of_every_place_is_one(file, more):
    [(_, given)] = await calls(file, "Edit", file_path="a.py", old_string="a", new_string="b", **more)

    assert given["replace_all"]


async def test_several_edits_are_several_edits(file):
    [(tool, given)] = await calls(file, "MultiEdit", file_path="a.py", edits=[{"old_string": "one", "new_string": "1"}])

    assert tool == "MultiEditTool"
    assert given["edits"] == [{"old_string": "one", "new_string": "1", "replace_all": False}]


async def test_a_new_file_is_written(file):
    new = {"file_path": str(file.parent / "new.py"), "content": "x\n"}

    assert await calls(file, "Write", file_path="new.py", content="x\n") == [("WriteFile", new)]
    assert await calls(file, "replace", file_path="new.py", old_string="", new_string="x\n") == [("WriteFile", new)]


async def test_of_a_file_that_is_written_anew_only_what_differs_is_edited(file):
    [(tool, given)] = await calls(file, "write_file", file_path="a.py", content="one\n2\nthree\n")

    assert tool == "MultiEditTool"
    assert given["edits"] == [{"old_string": "two\n", "new_string": "2\n"}]


async def test_a_file_keeps_its_line_ends(file):
    file.write_bytes(b"one\r\ntwo\r\n")

    [(_, written)] = await calls(file, "Write", file_path="a.py", content="one\n2\n")
    patch = "*** Begin Patch\n*** Update File: a.py\n-two\n+2\n*** End Patch"
    [(_, patched)] = await calls(file, "apply_patch", command=patch)

    assert written["edits"] == patched["edits"] == [{"old_string": "two\r\n", "new_string": "2\r\n"}]


async def test_a_patch_is_a_call_for_each_file(file):
    patch = (
        "*** Begin Patch\n*** Add File: new.py\n+x\n*** Update File: a.py\n*** Move to: b.py\n-two\n+2\n"
        "*** Delete File: old.py\n*** End Patch"
    )
    folder = file.parent

    assert await calls(file, "apply_patch", patchText=patch) == [
        ("WriteFile", {"file_path": str(folder / "new.py"), "content": "x\n"}),
        ("MultiEditTool", {"file_path": str(file), "edits": [{"old_string": "two\n", "new_string": "2\n"}]}),
        ("MoveFile", {"file_path": str(file), "new_path": str(folder / "b.py")}),
        ("DeleteFile", {"file_path": str(folder / "old.py")}),
    ]


@pytest.mark.parametrize(
    ("tool", "given", "why"),
    [
        ("Bash", {"command": "rm a.py"}, "Odin cannot review what Bash does"),
        ("NotebookEdit", {"notebook_path": "a.ipynb"}, "Odin cannot review what NotebookEdit does"),
        ("Edit", {}, "`file_path` is missing"),
        ("Edit", {"file_path": "a.py", "old_string": 1, "new_string": "x"}, "`old_string` is missing"),
        ("MultiEdit", {"file_path": "a.py"}, "`edits` is missing"),
        ("MultiEdit", {"file_path": "a.py", "edits": ["x"]}, "must be an object"),
        ("Write", {"file_path": "a.py", "content": TEXT}, "has this text already"),
        ("apply_patch", {"command": "rm"}, "this is no patch"),
    ],
)
async def test_what_is_no_edit_is_said_to_be_none(file, tool, given, why):
    with pytest.raises(ToolError, match=why):
        await calls(file, tool, **given)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Write", {"file_path": "a.py", "content": TEXT}),
        ("Edit", {"file_path": "a.py", "old_string": "", "new_string": TEXT}),
        ("apply_patch", {"command": "*** Begin Patch\n*** Add File: a.py\n+one\n*** End Patch"}),
    ],
)
async def test_of_what_may_not_be_read_odins_own_tool_says_what_becomes_of_it(file, tool, given):
    async def refused(_):
        raise PermissionDenied("it is hidden")

    there = await calls(file, tool, refused, **given)
    file.unlink()

    assert there == await calls(file, tool, refused, **given)
    assert [it for it, _ in there] == ["WriteFile"]


async def test_a_file_that_is_there_and_empty_is_written(file):
    file.write_text("")

    [(tool, given)] = await calls(file, "Edit", file_path="a.py", old_string="", new_string="x")

    assert (tool, given["content"]) == ("WriteFile", "x")
