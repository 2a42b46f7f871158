"""Refactor and Lookup by real servers in a real project: pyright, and ruff beside it, cold."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from odin_lsp.config import LanguageServerSettings
from odin_lsp.language_servers.choosing import Around
from odin_lsp.language_servers.pool import OwnServers
from odin_lsp.workspace.search import Search
from tests.support.reviewing import Bench

SHAPES = "class Shape:\n    def area(self, scale: int) -> int:\n        return scale\n"
PROJECT = {
    "shapes.py": SHAPES,
    **{
        f"user_{n}.py": f"from shapes import Shape\n\n\ndef use_{n}() -> int:\n    return Shape().area({n})\n"
        for n in range(4)
    },
    "field.py": "class Field:\n    def area(self) -> int:\n        return 1\n\n\nField().area()  # the area\n",
}
UNSAVED = "# not saved: 😀 area\n" + PROJECT["user_0.py"].replace("\n", "\r\n") + "x = '😀', Shape().area(7)"


@pytest.fixture
async def bench(tmp_path, monkeypatch):
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("pyright-langserver", "ruff"):
        (programs / name).symlink_to(Path(sys.executable).with_name(name))
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    bench = Bench(tmp_path)
    for name, text in PROJECT.items():
        bench.write(name, text)
    settings = LanguageServerSettings.model_validate({"timeout": 60, "servers": {"basedpyright": {"enabled": False}}})
    around = Around(roots=(bench.root,), settings=settings)
    servers = OwnServers(bench.files, Search(bench.files), around, lambda *_: None)
    bench.context = bench.executor.context = replace(bench.context, servers=servers)
    yield bench
    await servers.close()


async def test_a_rename_over_five_files_with_one_not_saved_is_one_review_and_right_byte_for_byte(bench):
    bench.open(bench.root / "user_0.py", UNSAVED)
    wanted = {"what": "rename", "file_path": "shapes.py", "symbol": "area", "new_name": "surface"}

    result = await bench.use("Refactor", **wanted)

    assert not result.failed, result.content
    assert [(it.atomic, len(it.files)) for it in bench.editor.reviews] == [(True, 5)]
    expected = {name: text if name == "field.py" else text.replace("area", "surface") for name, text in PROJECT.items()}
    expected["user_0.py"] = UNSAVED.replace(".area", ".surface")
    assert {name: bench.text(bench.root / name) for name in PROJECT} == expected
    assert (bench.root / "user_0.py").read_text() == PROJECT["user_0.py"]
    back = {**wanted, "symbol": "surface", "new_name": "area"}
    assert not (await bench.use("Refactor", **back)).failed
    assert bench.text(bench.root / "user_0.py") == UNSAVED


async def test_callers_are_those_of_the_method_and_of_no_other_of_its_name(bench):
    told = (await bench.use("Lookup", what="callers", symbol="Shape.area")).content

    assert [line for line in told.splitlines() if ":" in line] == [
        f"5:    return Shape().area({n})  [in use_{n}]" for n in range(4)
    ]
    assert told.splitlines()[-1] == "(pyright)"


async def test_imports_are_organized_files_formatted_and_problems_fixed_by_ruff(bench):
    path = bench.write("messy.py", "import sys\nimport os\nprint( os.sep,sys.path )\nimport json\n")

    organized = await bench.use("Refactor", what="imports", file_path="messy.py")
    formatted = await bench.use("Refactor", what="format", file_path="messy.py")
    listed = await bench.use("Refactor", what="action", file_path="messy.py", line=5)

    assert "(ruff)" in organized.content
    assert not formatted.failed
    assert path.read_text().startswith("import os\nimport sys\n\nprint(os.sep, sys.path)\n")
    titles = [it.removeprefix("- ") for it in listed.content.splitlines()]
    [fix] = [it for it in titles if "Remove unused import: `json`" in it]
    taken = await bench.use("Refactor", what="action", file_path="messy.py", line=5, action=fix)
    assert not taken.failed, taken.content
    assert "json" not in path.read_text()
