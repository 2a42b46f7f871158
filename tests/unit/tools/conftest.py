import pytest

from odin_lsp.tools.base import all_tools
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from tests.support.context import tool_context


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
    return tool_context(files, person, root)


@pytest.fixture
def use(context):
    async def use(name, /, **arguments):
        tool = all_tools()[name]
        return await tool.run(tool.parse(arguments), context)

    return use
