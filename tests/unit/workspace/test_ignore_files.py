"""`.gitignore` and its like: read as ripgrep reads them, and only where they are files."""

import os
import subprocess

import pytest

from odin_lsp.workspace.ignore_files import NAMES, UNREAD, IgnoreFiles, odd_above, odd_below
from odin_lsp.workspace.search import find_ripgrep

OPTIONS = ("--hidden", "--glob=!.git/", "--no-config", "--no-require-git", "--files")
TREES = {
    "anchored": {".gitignore": "/a\nb/\nc/d\n", "a": "", "x/a": "", "x/b/f": "", "b": "", "c/d": "", "x/c/d": ""},
    "nested": {".gitignore": "*.log\n", "x/.gitignore": "!keep.log\n", "x/keep.log": "", "keep.log": "", "x/a.log": ""},
    "a folder left out": {".gitignore": "out/\n", "out/.gitignore": "!a\n", "out/a": "", "a": ""},
    "a folder brought back": {".gitignore": "out/*\n!out/keep/\n", "out/keep/a": "", "out/a": ""},
    "ignore before gitignore": {"x/.gitignore": "a\n", ".ignore": "!a\nb\n", "x/a": "", "x/b": ""},
    "rgignore before ignore": {".ignore": "a\n", ".rgignore": "!a\n", "a": "", "x/a": ""},
    "exclude": {".git/info/exclude": "a\n", "a": "", "x/a": "", "x/.git/info/exclude": "!a\n", "x/.git/HEAD": ""},
    "stars": {
        ".gitignore": "**/tmp\nq/**\n[ab].t?t\n\\#x\n# b\n",
        "x/tmp/a": "",
        "q/r": "",
        "a.txt": "",
        "#x": "",
        "b": "",
    },
    "not UTF-8": {".gitignore": "*.log\n", os.fsdecode(b"\xe9.log"): "", os.fsdecode(b"\xe9"): ""},
}


@pytest.fixture
def tree(tmp_path):
    """What ripgrep lists there, and what is left of everything by these rules."""

    def tree(files, where=""):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        folder = tmp_path / where
        listed, everything = (_listed(folder, options) for options in ((), UNREAD))
        rules = IgnoreFiles()
        return listed, {it for it in everything if not rules.leave_out(f"{folder}/{it}", str(folder))}

    return tree


def _listed(folder, options):
    command = [str(find_ripgrep([])), *OPTIONS, *options, "--null", "--", "./"]
    output = subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout
    return {os.fsdecode(name).removeprefix("./") for name in output.split(b"\0")[:-1]}


@pytest.mark.parametrize("files", TREES.values(), ids=TREES)
def test_the_rules_are_those_of_ripgrep(tree, files):
    listed, left = tree(files)

    assert left == listed


def test_so_are_those_from_above(tree):
    listed, left = tree({".gitignore": "a\n/x/b\n", "x/a": "", "x/b": "", "x/c": ""}, "x")

    assert left == listed == {"c"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")], ids=["pipe", "device"])
def test_what_is_no_file_is_found_and_not_read(tmp_path, name, make):
    path = tmp_path / "x" / name
    path.parent.mkdir(parents=True)
    make(path)

    assert odd_above(str(tmp_path / "x" / "y")) == odd_below(str(tmp_path), lambda: True) == str(path)
    assert odd_below(str(tmp_path), lambda: False) is None
    assert not IgnoreFiles().leave_out(str(tmp_path / "x" / "y"), str(tmp_path))


def test_what_is_a_file_or_a_folder_is_not_odd(tmp_path):
    (tmp_path / ".ignore").mkdir()
    (tmp_path / ".gitignore").write_text("a")
    (tmp_path / ".rgignore").symlink_to(tmp_path / ".gitignore")

    assert odd_above(str(tmp_path)) is odd_below(str(tmp_path), lambda: True) is None
