from dataclasses import replace

import pytest

from odin_lsp.config import FileRules
from odin_lsp.errors import ToolError
from odin_lsp.intelligence.servers import NoServers
from odin_lsp.review.proposals import Wish, edit_of
from odin_lsp.tools import known_problems
from odin_lsp.tools.base import all_tools
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from tests.support.context import tool_context
from tests.support.reviewing import ScriptedEditor
from tests.support.servers_in_memory import CheckingServers


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "ws"
    for name, text in {"a.py": "use(one)\n", "part/b.py": "\n\nuse(two)\n", "part/c.py": "def three(): ...\n"}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture
def world(root):
    files = Files([root], Buffers(), FileCache(), FileRules(deny=("denied/",)))
    context = tool_context(files, ScriptedEditor(files), root.parent / "state")
    return replace(context, servers=CheckingServers(files))


async def look(world, path=None):
    tool = all_tools()["Lookup"]
    arguments = {"what": "problems", **({"file_path": str(path)} if path else {})}
    return await tool.run(tool.parse(arguments), world)


async def test_problems_of_a_file_are_told_with_their_places(world, root):
    output = await look(world, root / "part" / "b.py")

    assert output.data == "part/b.py:3 two is not defined [toy E1]"
    assert output.description == "1 problem in part/b.py"


async def test_problems_of_a_folder_and_of_all_are_those_below(world, root):
    assert (await look(world, root / "part")).data == "part/b.py:3 two is not defined [toy E1]"
    assert (await look(world)).data == "a.py:1 one is not defined [toy E1]\npart/b.py:3 two is not defined [toy E1]"


async def test_a_file_without_problems_is_said_to_be_checked(world, root):
    assert (await look(world, root / "part" / "c.py")).data == "no errors or warnings; 1 file checked"


async def test_what_is_not_known_is_not_called_clean(world, root):
    world.servers.is_current = lambda path: path.name != "b.py"

    assert (
        await look(world, root / "part")
    ).data == "no errors or warnings; 1 file checked\n(not known yet: part/b.py)"


async def test_unsaved_text_is_what_is_checked(world, root):
    world.files.buffers.open((root / "a.py").as_uri(), 1, "use(three)\nuse(four)\n")

    assert (await look(world, root / "a.py")).data == "a.py:2 four is not defined [toy E1]"


async def test_edits_that_wait_are_said_to_be_left_out(world, root):
    wish = Wish("1", "edit")
    world.draft._add(edit_of(root / "a.py", "use(one)\n", "use(three)\n", wish))

    assert (await look(world, root / "a.py")).data.endswith(known_problems.DRAFTED)


async def test_of_a_large_folder_only_what_is_known_already_is_told(world, root, monkeypatch):
    monkeypatch.setattr(known_problems, "MAX_FILES", 2)

    output = await look(world)

    assert world.servers.asked == [((), 0)]
    assert "(3 files checked: those that are open or were asked about; name a file or a smaller folder)" in output.data


async def test_hidden_files_are_left_out(world, root):
    (root / "denied").mkdir()
    (root / "denied" / "d.py").write_text("use(secret)\n")

    assert "secret" not in (await look(world)).data
    with pytest.raises(ToolError):
        await look(world, root / "denied" / "d.py")


async def test_where_nobody_tells_of_problems_the_model_is_told_that(world, root):
    with pytest.raises(ToolError, match="run the project's own checks"):
        await look(replace(world, servers=NoServers()), root / "a.py")


async def test_a_home_that_is_open_is_not_checked_as_a_whole(world, root, monkeypatch):
    monkeypatch.setenv("HOME", str(root))
    world.files.configure([root, root / "part"], FileRules())

    assert (await look(world)).data == "part/b.py:3 two is not defined [toy E1]"
