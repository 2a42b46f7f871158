"""A module that is moved: who imports it is told."""

import pytest

from odin_lsp.config import FileRules
from tests.support.reviewing import Bench, reject

SEEM = "Lines that seem to import it, and may have to be changed: "


@pytest.fixture
def bench(tmp_path):
    bench = Bench(tmp_path)
    bench.write("pkg/board.py", "import os\n")
    bench.write("pkg/lib/index.ts", "export const x = 1\n")
    bench.write("pkg/a.py", "x = 1\nfrom pkg.board import x\nimport keyboard\nboard = 1\n")
    bench.write("pkg/b.py", "    from . import shelf, board\n")
    bench.write("web/a.ts", "import { x } from '../pkg/lib'\nconst lib = 'lib'\nrequire('./library')\n")
    bench.write("notes.md", "import board\n")
    return bench


async def moved(bench, old, new):
    return (await bench.use("MoveFile", file_path=old, new_path=new)).content


async def test_lines_that_import_a_python_module_are_named(bench):
    assert (await moved(bench, "pkg/board.py", "pkg/shelf.py")).endswith(f"\n{SEEM}pkg/a.py:2, pkg/b.py:1")


async def test_a_module_that_is_called_by_its_folder_is_looked_for_so(bench):
    assert (await moved(bench, "pkg/lib/index.ts", "pkg/lib/main.ts")).endswith(f"\n{SEEM}web/a.ts:1")


async def test_a_folder_is_looked_for_in_all_languages(bench):
    assert (await moved(bench, "pkg", "package")).endswith(f"\n{SEEM}package/a.py:2, web/a.ts:1")


@pytest.mark.parametrize("name", ["notes.md", "pkg/b.py"])
async def test_what_nobody_imports_is_only_moved(bench, name):
    assert SEEM not in await moved(bench, name, "elsewhere")


async def test_only_some_of_many_are_named(bench):
    bench.write("many.py", "import board\n" * 30)

    assert (await moved(bench, "pkg/board.py", "x.py")).endswith(" (+12 more)")


async def test_of_what_stays_nothing_is_told(bench):
    bench.editor.decide = reject

    assert SEEM not in await moved(bench, "pkg/board.py", "x.py")


async def test_a_home_that_is_open_is_not_searched_as_a_whole(bench, monkeypatch):
    monkeypatch.setenv("HOME", str(bench.root))
    bench.files.configure([bench.root, bench.root / "pkg"], FileRules())
    bench.write("many.py", "import board\n")

    assert (await moved(bench, "pkg/board.py", "pkg/shelf.py")).endswith(f"\n{SEEM}pkg/a.py:2, pkg/b.py:1")
