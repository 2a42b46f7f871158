"""Which repository git would use, and what makes one suspect."""

import os
import subprocess

import pytest

from odin_lsp.config import Config
from odin_lsp.permissions.rules import Rules
from odin_lsp.permissions.shell import judge
from odin_lsp.permissions.shell.git_repository import find_repository
from odin_lsp.permissions.shell.grammar import NotUnderstood


def git(folder, *words):
    who = ("-c", "user.name=x", "-c", "user.email=x")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def is_suspect(folder):
    try:
        find_repository(folder)
    except NotUnderstood:
        return True
    return False


@pytest.fixture
def here(tmp_path):
    """A repository, real and with one commit."""
    here = tmp_path.resolve() / "here"
    here.mkdir()
    git(here, "init", "-q", "-b", "main")
    git(here, "commit", "-q", "--allow-empty", "-m", "x")
    return here


def test_a_repository_of_git_itself_is_harmless(here):
    git(here, "remote", "add", "origin", "https://example.test/x.git")
    git(here, "config", "user.name", "x")
    (here / "sub").mkdir()

    for folder in (here, here / "sub"):
        repository = find_repository(folder)
        assert repository is not None
        assert (repository.top, repository.folder, repository.common) == (here, here / ".git", here / ".git")
        assert repository.harmless


@pytest.mark.parametrize(
    "setting",
    [
        ("core.fsmonitor", "x"),
        ("diff.external", "x"),
        ("diff.x.textconv", "x"),
        ("filter.x.clean", "x"),
        ("filter.x.process", "x"),
        ("merge.x.driver", "x"),
        ("submodule.x.update", "!x"),
        ("whatever.new", "x"),
    ],
)
def test_settings_that_are_not_known_are_not_harmless(here, setting):
    git(here, "config", *setting)

    repository = find_repository(here)
    assert repository is not None
    assert not repository.harmless


@pytest.mark.parametrize(
    "text",
    [
        "[core] fsmonitor = x\n",
        "[core.x]\n",
        "[core]\nfilemode = \\\nx\n",
        "\0",
        "[inc",
        "[core]\n\tx y z\n",
        "# too long" * 30_000,
    ],
)
def test_settings_that_cannot_be_read_make_a_repository_suspect(here, text):
    with (here / ".git" / "config").open("a") as file:
        file.write(text)

    assert is_suspect(here)


@pytest.mark.parametrize(
    "setting",
    [
        ("include.path", "x"),
        ("includeIf.gitdir:/.path", "x"),
        ("remote.o.promisor", "true"),
        ("extensions.partialClone", "o"),
        ("extensions.whatever", "x"),
        ("core.worktree", "/"),
    ],
)
def test_settings_that_lead_elsewhere_make_a_repository_suspect(here, setting):
    git(here, "config", *setting)

    assert is_suspect(here)


def test_where_no_repository_is_there_is_none(tmp_path):
    assert find_repository(tmp_path) is None


def _exchange(file, text):
    """For a link to the same."""
    file.rename(file.with_name("elsewhere"))
    file.symlink_to(text)


BROKEN = {
    "it has no HEAD": lambda git: (git / "HEAD").unlink(),
    "its HEAD is a dangling link": lambda git: _exchange(git / "HEAD", "refs/heads/gone"),
    "its HEAD is a link": lambda git: _exchange(git / "HEAD", "elsewhere"),
    "its HEAD is a pipe": lambda git: ((git / "HEAD").unlink(), os.mkfifo(git / "HEAD")),
    "its HEAD is no revision": lambda git: (git / "HEAD").write_text("x\n"),
    "it has no objects": lambda git: (git / "objects").rename(git / "gone"),
    "it has no refs": lambda git: (git / "refs").rename(git / "gone"),
    "its objects are a link": lambda git: _exchange(git / "objects", "elsewhere"),
    "its refs are a link": lambda git: _exchange(git / "refs" / "heads", "elsewhere"),
    "its settings are a link": lambda git: _exchange(git / "config", "elsewhere"),
    "its settings are a pipe": lambda git: ((git / "config").unlink(), os.mkfifo(git / "config")),
    "its index is a link": lambda git: (git / "index").symlink_to("x"),
    "it borrows objects": lambda git: (git / "objects" / "info" / "alternates").write_text("x\n"),
    "its parts are elsewhere": lambda git: (git / "commondir").write_text("../../private/.git\n"),
    "its parts are somewhere": lambda git: (git / "commondir").write_bytes(b"../\xff\n"),
    "it is empty": lambda git: git.rename(git.with_name("gone")) and git.mkdir(),
    "it is a link": lambda git: _exchange(git, "elsewhere"),
    "it is a dangling link": lambda git: git.rename(git.with_name("gone")) and git.symlink_to("nowhere"),
    "it is a pipe": lambda git: (git.rename(git.with_name("gone")), os.mkfifo(git)),
    "it is a file of something else": lambda git: git.rename(git.with_name("gone")) and git.write_text("x\n"),
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN)
def test_a_repository_that_is_not_whole_is_suspect_and_none_above_it_is_taken(here, change):
    inner = here / "sub"
    inner.mkdir()
    git(inner, "init", "-q")
    change(inner / ".git")

    assert is_suspect(inner)
    assert not is_suspect(here)


def test_a_file_that_leads_to_another_repository_is_suspect(tmp_path):
    private, here = tmp_path / "private", tmp_path / "here"
    git(tmp_path, "init", "-q", "private")
    (here / "fake").mkdir(parents=True)

    (here / ".git").write_text(f"gitdir: {private / '.git'}\n")
    assert is_suspect(here)

    (here / ".git").write_text("gitdir: fake\n")
    (here / "fake" / "gitdir").write_text(f"{here / '.git'}\n")
    (here / "fake" / "commondir").write_text(f"{private / '.git'}\n")
    assert is_suspect(here)


def test_a_bare_repository_in_a_folder_is_suspect_and_so_is_the_git_folder_itself(here):
    git(here, "init", "-q", "--bare", "bare")
    (here / "led").mkdir()
    (here / "led" / "HEAD").write_text("ref: refs/heads/main\n")
    (here / "led" / "commondir").write_text("../.git\n")

    assert not is_suspect(here)
    for name in ("bare", "bare/refs", "led", ".git", ".git/refs"):
        assert is_suspect(here / name), name


def test_a_submodule_is_part_of_its_repository(here):
    modules = here / ".git" / "modules"
    modules.mkdir()
    git(here, "init", "-q", "--separate-git-dir", str(modules / "part"), "part")
    git(here / "part", "config", "core.worktree", "../../../part")

    repository = find_repository(here / "part")
    assert repository is not None
    assert (repository.top, repository.folder, repository.harmless) == (here / "part", modules / "part", True)

    git(here / "part", "config", "core.worktree", "../../../other")
    assert is_suspect(here / "part")


def test_a_worktree_is_read_with_the_settings_of_its_repository(here):
    tree = here.parent / "tree"
    git(here, "worktree", "add", "-q", str(tree))
    repository = find_repository(tree)
    assert repository is not None
    assert (repository.top, repository.folder) == (tree, here / ".git" / "worktrees" / "tree")
    assert repository.common == here / ".git"
    assert repository.harmless

    git(here, "config", "core.fsmonitor", "x")
    repository = find_repository(tree)
    assert repository is not None
    assert not repository.harmless


@pytest.mark.parametrize(
    "junk", ["\0", "# x\0\n", "[user]\n\tname = x\0\n", "name = x\n", "[core\n", "[user]\n\tname = x\\\n"]
)
def test_settings_that_are_not_written_as_usual_are_suspect(here, junk):
    config = here / ".git" / "config"
    config.write_text(config.read_text() + "# fine\n; fine too\n")
    assert not is_suspect(here)

    config.write_text(junk + config.read_text())

    assert is_suspect(here)


@pytest.mark.parametrize("listing", ["", "-l", "--list", "-l 'v*'", "--list 'v*'"])
@pytest.mark.parametrize("command", ["git branch", "git tag"])
def test_branches_and_tags_are_listed_and_not_made(here, command, listing):
    def decided(text):
        return judge(text, mode="ask_mode", cwd=here, roots=(here,), rules=Rules.of(Config())).decision

    assert decided(f"{command} {listing}") == "allow"
    assert decided(f"{command} v1") == "deny"
