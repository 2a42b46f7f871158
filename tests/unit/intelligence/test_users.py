"""Who uses what an edit has touched."""

import pytest

from odin_lsp.intelligence.users import users_of
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.search import Search


@pytest.mark.parametrize(("is_home", "users"), [(False, ["b.py", "part/c.py"]), (True, ["part/c.py"])])
async def test_users_are_looked_for_where_nobody_has_to_be_asked(tmp_path, monkeypatch, is_home, users):
    monkeypatch.setenv("HOME", str(tmp_path if is_home else tmp_path.parent / "elsewhere"))
    (tmp_path / "part").mkdir()
    for name in ("a.py", "b.py", "part/c.py"):
        (tmp_path / name).write_text("greet()\n")
    files = Files([tmp_path, tmp_path / "part"], Buffers(), FileCache())

    found = await users_of({"greet"}, {tmp_path / "a.py"}, files, Search(files))

    assert [files.shown(it) for it in found] == users
