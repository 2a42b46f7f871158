"""Which servers there are for a file: installed, allowed, and for which folder."""

import json

import pytest

from odin_lsp.config import LanguageServerSettings
from odin_lsp.language_servers.choosing import (
    NOT_FOUND,
    NOT_TRUSTED,
    TOO_OLD,
    Around,
    all_of,
    for_file,
    project_of,
)
from odin_lsp.language_servers.known import KNOWN


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Puts programs of these names on the PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return lambda *names: [program(folder / name) for name in names]


def program(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def around(root, *, is_trusted=False, **settings):
    return Around(roots=(root,), settings=LanguageServerSettings.model_validate(settings), is_trusted=is_trusted)


def names(path, where):
    return [it.known.name for it in for_file(path, where)]


def why_not(name, root, where):
    return next(it.why_not for it in all_of(root, where) if it.known.name == name)


def test_the_best_that_is_installed_is_asked_and_those_besides(root, installed):
    installed("ruff", "pyright-langserver", "basedpyright-langserver")

    assert names(root / "a.py", around(root)) == ["basedpyright", "ruff"]
    assert names(root / "a.PYI", around(root)) == ["basedpyright", "ruff"]
    assert names(root / "a.txt", around(root)) == []


def test_what_is_not_installed_is_not_asked(root, installed):
    installed("ruff")

    assert names(root / "a.py", around(root)) == ["ruff"]
    assert why_not("pyright", root, around(root)) == NOT_FOUND


def test_files_outside_of_the_workspace_have_none(root, installed, tmp_path):
    installed("pyright-langserver")

    assert names(tmp_path / "other" / "a.py", around(root)) == []


def test_they_can_be_disabled_one_by_one_and_all_together(root, installed):
    installed("ruff", "pyright-langserver")

    assert names(root / "a.py", around(root, servers={"pyright": {"enabled": False}})) == ["ruff"]
    assert names(root / "a.py", around(root, enabled=False)) == []


def test_one_of_the_settings_goes_before_those_that_are_known(root, installed):
    [toy, _] = installed("toy-server", "pyright-langserver")
    said = {"toy": {"command": ["toy-server", "--stdio"], "languages": {".py": "python"}, "options": {"a": 1}}}

    [candidate] = for_file(root / "a.py", around(root, servers=said))

    assert (candidate.program, candidate.known.command) == (toy, ("toy-server", "--stdio"))
    assert candidate.known.options == {"a": 1}


def test_settings_can_change_a_known_one_in_part(root, installed):
    installed("pyright-langserver")
    said = {"pyright": {"settings": {"python.analysis": {"typeCheckingMode": "strict"}}}}

    [candidate] = for_file(root / "a.py", around(root, servers=said))

    assert candidate.known.settings == said["pyright"]["settings"]
    assert candidate.known.ready == "found files"


def test_a_relative_path_is_no_program(root, installed):
    program(root / "tools" / "server")

    said = {"toy": {"command": ["tools/server"], "languages": {".toy": "toy"}}}

    assert names(root / "a.toy", around(root, is_trusted=True, servers=said)) == []


@pytest.mark.parametrize("place", ["node_modules/.bin", ".venv/bin"])
def test_what_the_project_has_installed_is_used_once_it_is_trusted(root, installed, place):
    installed("pyright-langserver")
    own = program(root / place / "basedpyright-langserver")
    (root / ".venv").mkdir(exist_ok=True)
    (root / ".venv" / "pyvenv.cfg").touch()
    program(root / ".venv" / "bin" / "python")

    assert names(root / "a.py", around(root)) == ["pyright"]
    assert why_not("basedpyright", root, around(root)) == f"{own} is in the workspace, which is not trusted"
    assert for_file(root / "a.py", around(root, is_trusted=True))[0].program == own


def test_what_a_project_in_the_workspace_has_installed_goes_before_what_the_workspace_has(root, installed):
    near, _ = (program(root / place / "node_modules" / ".bin" / "pyright-langserver") for place in ("part", "."))
    (root / "part" / "pyproject.toml").touch()

    [candidate] = for_file(root / "part" / "source" / "a.py", around(root, is_trusted=True))

    assert candidate.program == near


def test_a_folder_of_the_workspace_on_the_path_needs_trust_as_well(root, installed, monkeypatch):
    installed()
    program(root / "bin" / "pyright-langserver")
    monkeypatch.setenv("PATH", str(root / "bin"))

    assert names(root / "a.py", around(root)) == []


def test_a_link_into_the_workspace_needs_trust(root, installed, tmp_path):
    own = program(root / "server")
    (tmp_path / "bin" / "pyright-langserver").symlink_to(own)

    assert names(root / "a.py", around(root)) == []
    assert names(root / "a.py", around(root, is_trusted=True)) == ["pyright"]


def test_a_program_that_the_settings_name_in_the_workspace_needs_trust(root, installed):
    said = {"toy": {"command": [str(program(root / "server"))], "languages": {".toy": "toy"}}}

    assert names(root / "a.toy", around(root, servers=said)) == []
    assert names(root / "a.toy", around(root, servers=said, is_trusted=True)) == ["toy"]


def test_one_that_runs_what_the_project_brings_needs_trust(root, installed):
    installed("rust-analyzer")

    assert names(root / "a.rs", around(root)) == []
    assert why_not("rust-analyzer", root, around(root)) == NOT_TRUSTED
    assert names(root / "a.rs", around(root, is_trusted=True)) == ["rust-analyzer"]


@pytest.mark.parametrize(
    ("version", "is_used"), [("7.0.2", True), ("10.1.0-beta", True), ("5.9.3", False), ("x", False)]
)
def test_the_compiler_of_typescript_is_a_server_since_its_seventh_version(root, installed, tmp_path, version, is_used):
    package = tmp_path / "typescript"
    own = program(package / "bin" / "tsc")
    (package / "package.json").write_text(json.dumps({"version": version}))
    (tmp_path / "bin" / "tsc").symlink_to(own)

    assert names(root / "a.ts", around(root)) == (["tsc"] if is_used else [])
    assert why_not("tsc", root, around(root)) == ("" if is_used else TOO_OLD)


def test_a_server_is_for_the_outermost_project_around_the_file(root):
    pyright = next(it for it in KNOWN if it.name == "pyright")
    path = root / "back" / "part" / "a.py"
    path.parent.mkdir(parents=True)
    assert project_of(path, pyright, root) == root

    for folder in (root / "back", root / "back" / "part"):
        (folder / "pyproject.toml").touch()

    assert project_of(path, pyright, root) == root / "back"
