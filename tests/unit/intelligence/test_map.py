"""What the folders of a project define."""

import pytest

from odin_lsp.intelligence import map as mapped
from odin_lsp.intelligence.map import main_symbols
from odin_lsp.workspace.name_list import FileNames


@pytest.fixture
def tree(tmp_path):
    """One folder with more files than are taken apart, and others behind it."""
    for name in ("many", "some/deep", "zeta"):
        (tmp_path / name).mkdir(parents=True)
    for number in range(20):
        (tmp_path / "many" / f"m{number:02}.py").write_text(f"class Many{number:02}: ...\n")
    (tmp_path / "some" / "deep" / "a.ts").write_text("export function helper() {}\nexport class Thing {}\n")
    (tmp_path / "zeta" / "z.go").write_text("package z\n\ntype Zeta struct{}\n")
    (tmp_path / "zeta" / "notes.md").write_text("# no code\n")
    (tmp_path / "top.py").write_text("class Top: ...\n")
    return tmp_path


def test_each_folder_has_its_share_of_the_files_that_are_taken_apart(tree, monkeypatch):
    monkeypatch.setattr(mapped, "MAX_FILES", 9)
    read = []

    def reading(path):
        read.append(path)
        return path.read_text()

    names = sorted(str(it.relative_to(tree)) for it in tree.rglob("*.*"))
    symbols = main_symbols(FileNames(tree, names, is_whole=True), reading)

    assert symbols == {"many": ["Many00", "Many01", "Many02"], "some": ["Thing", "helper"], "zeta": ["Zeta"]}
    assert len(read) == 5
