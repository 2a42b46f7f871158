"""What a command may open that nobody was asked about."""

from pathlib import Path

import pytest

from odin_lsp.permissions import reader
from odin_lsp.permissions.reader import Reads


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture
def run(home, tmp_path, monkeypatch):
    """What may be run with these folders on the PATH, as far as it is in the home."""

    def run(*path, roots=(), programs=()):
        for name in path:
            (home / name).mkdir(parents=True, exist_ok=True)
        monkeypatch.setenv("PATH", ":".join(str(home / name) for name in path))
        found = reader.reach(Reads(programs=tuple(programs)), roots, ()).run
        return {str(it.relative_to(home)) for it in found if it.is_relative_to(home)}

    return run


def test_programs_come_with_what_they_load(run, home):
    for name in ("tool/lib", "tool/share", "tool/etc"):
        (home / name).mkdir(parents=True)

    assert run("tool/bin") == {"tool/bin", "tool/lib"}


def test_the_home_is_no_place_to_load_from(run, home):
    for name in ("lib", "tools", "opt", ".local/share", ".local/lib"):
        (home / name).mkdir(parents=True)

    assert run("bin", ".local/bin") == {"bin", "lib", ".local/bin", ".local/lib"}


def test_a_version_manager_is_all_about_programs(run):
    assert run(".pyenv/shims") == {".pyenv/shims", ".pyenv"}


def test_keys_of_a_package_manager_are_not_beside_its_programs(run, home):
    (home / ".cargo").mkdir()
    (home / ".cargo" / "credentials.toml").touch()

    assert run(".cargo/bin") == {".cargo/bin", ".rustup"}


def test_a_program_is_also_where_its_link_leads(run, home):
    (home / "real" / "bin").mkdir(parents=True)
    (home / "real" / "bin" / "tool").touch()
    (home / "bin").mkdir()
    (home / "bin" / "tool").symlink_to(home / "real" / "bin" / "tool")

    assert run("bin", programs=[home / "bin" / "tool"]) == {"bin", "real/bin"}


def test_nothing_of_the_workspace_is_run(run, home):
    assert run("ws/bin", "ws/.venv/bin", "other/bin", roots=[home / "ws"]) == {"other/bin"}


def test_what_was_named_is_all_of_the_workspace_that_is_read(home):
    named = reader.reach(Reads(files=(home / "a.txt",)), [home], [])
    swept = reader.reach(Reads(), [home], [home / ".env"])

    assert [it for it in named.files if it.is_relative_to(home)] == [home / "a.txt"]
    assert [it for it in swept.files if it.is_relative_to(home)] == [home]
    assert (named.names, swept.hidden) == ((home,), (home / ".env",))


def test_of_the_machines_settings_those_are_read_that_exist_where_their_links_lead(home, monkeypatch):
    (home / "real").touch()
    (home / "link").symlink_to("real")
    monkeypatch.setattr(reader, "SETTINGS", tuple(str(home / name) for name in ("link", "real", "none")))
    monkeypatch.setattr(reader, "MACHINE", ())

    assert reader.reach(Reads(files=()), [], ()).files == (home / "real",)


def test_settings_of_the_machine_are_few():
    files = reader.reach(Reads(files=()), [], ()).files

    assert not {Path("/etc"), Path("/etc/shadow"), Path("/proc"), Path.home()} & set(files)
    assert all(it.is_absolute() and it.resolve() == it for it in files)
