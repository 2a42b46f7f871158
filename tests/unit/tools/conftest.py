import pytest

from odin_lsp.config import ReviewSettings, Timeouts
from odin_lsp.permissions.outside import OutsideGate
from odin_lsp.review.desk import ReviewDesk, TurnReview
from odin_lsp.review.undo import UndoLog
from odin_lsp.tools.base import ToolContext, all_tools
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.search import Search
from odin_lsp.workspace.shown import Shown


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "ws"
    (root / "src").mkdir(parents=True)
    (root / "src" / "main.py").write_text("import os\n\ndef main():\n    print('TODO: greet')\n    return 0\n")
    (root / "src" / "util.ts").write_text("// todo later\nexport const x = 1\n")
    (root / "notes.md").write_text("# Notes\nTODO write\n")
    (root / ".gitignore").write_text("build/\n")
    (root / "build").mkdir()
    (root / "build" / "out.py").write_text("TODO generated\n")
    (root / ".env").write_text("TODO=secret\n")
    return root


@pytest.fixture
def context(root, person):
    files = Files([root], Buffers(), FileCache())
    events = []
    return ToolContext(
        files=files,
        search=Search(files),
        editor=person,
        mode="ask_mode",
        session_id="s",
        emit=events.append,
        shown=Shown(),
        outside=OutsideGate(person),
        desk=ReviewDesk(files, person, lambda: (ReviewSettings(), Timeouts()), lambda path: "", UndoLog(lambda: root)),
        turn=TurnReview("t", lambda event: None),
    )


@pytest.fixture
def use(context):
    async def use(name, /, **arguments):
        tool = all_tools()[name]
        return await tool.run(tool.parse(arguments), context)

    return use
