"""Git against the shell policy: what its options take, which repository it uses, what it shows, and what it starts."""

import os
import re
import shutil
import subprocess

import pytest

from odin_lsp.permissions.shell.git import LISTS, judge_git
from odin_lsp.permissions.shell.git_commands import SUBCOMMANDS
from odin_lsp.permissions.shell.git_environment import SETTINGS
from tests.adversarial.git_world import GitWorld, trap
from tests.adversarial.shell_world import ShellWorld

CANARY = "canary-6e1f0c"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A harmless repository with branches, tags, a stash and secrets."""
    world = GitWorld(tmp_path_factory.mktemp("git"))
    world.git("init", "-q", "-b", "main")
    world.git("config", "user.name", "x")
    world.git("config", "user.email", "x@localhost")
    world.write("a.txt", "one\ntwo\nthree\n")
    world.write("src/a.txt", "in src\n")
    world.commit("first")
    world.git("tag", "v1")
    for name in (".env", "src/.env", "src/key.pem/x", ".ssh/config", ".ssh/a:b"):
        world.write(name, f"{CANARY}\n")
    world.write("src/private/x", "private\n")
    world.commit("fix: start")
    world.git("checkout", "-q", "-b", "side", "v1")
    world.write("c.txt", "of side\n")
    world.commit("side")
    world.git("checkout", "-q", "main")
    world.git("merge", "-q", "--no-edit", "side")
    world.write(".env", f"{CANARY}\n{CANARY} more\n")
    world.write("a.txt", "one\ntwo\n3\n")
    world.commit("second")
    world.git("tag", "-a", "v2", "-m", "the message of the tag")
    blob = world.git("rev-parse", "HEAD:.env")
    world.git("tag", "secret", blob)
    world.git("tag", "-a", "-m", "x", "signed", blob)
    world.write("a.txt", "stashed\n")
    world.git("stash", "-q")
    world.write("a.txt", "one\ntwo\nfour\n")
    world.write(".env", f"{CANARY} new\n")
    world.write("new.txt", "new\n")
    world.git("add", "new.txt")
    return world


# --- what options take

BEFORE = {
    "diff": ["HEAD"],
    "rev-list": ["v1..HEAD"],
    "shortlog": ["HEAD"],
    "stash": ["list"],
    "worktree": ["list"],
    ("remote", "--all"): ["get-url"],
    ("remote", "--push"): ["get-url"],
}
BEHIND = {"log": ["--", "a.txt"], "whatchanged": ["--", "a.txt"], "rev-list": ["--", "a.txt"]}
VALUES = {"--format": "%h"}
NEWER = {("show-ref", "--branches"), ("for-each-ref", "--exclude"), ("diff", "--merge-base"), ("grep", "-m")}
"""Not in every git that is about, or not with every word."""
COMPLAINT = re.compile(r"(?:unrecognized argument: |unknown option `|invalid option: |unknown switch `)-*([\w-]+)")
PROBE = "odin-probe"


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_an_option_takes_the_next_word_only_if_it_does_in_git(world, name):
    for option, kind in SUBCOMMANDS[name].grammar.options.items():
        before = [name, *BEFORE.get((name, option), BEFORE.get(name, []))]
        takes = kind not in (None, "?", "=")
        spelled = f"{option}={VALUES.get(option, '1')}" if kind == "=" else option
        found = refused(world, [*before, spelled], BEHIND.get(name, []))
        if (name, option) in NEWER and found == option.lstrip("-"):
            continue
        assert (found == PROBE) is not takes, (name, option, found)
        if kind == "=":
            assert refused(world, [*before, option], BEHIND.get(name, [])) != PROBE


def refused(world, words, behind):
    """The option that git does not know, of those and one that nobody knows; something else if it knows them all."""
    said = probe(world, [*words, f"--{PROBE}", *behind])
    if complaint := COMPLAINT.search(said.stderr.partition("\n")[0]):
        return complaint[1]
    if words[0] == "rev-parse":
        revision = world.git("rev-parse", "--short", "HEAD")
        return PROBE if PROBE in said.stdout or revision in probe(world, [*words, "HEAD"]).stdout else ""
    if said.stderr.startswith("usage:") and probe(world, [*words, *behind]).returncode < 2:
        return PROBE
    return ""


def probe(world, words):
    return subprocess.run(
        ["git", "--no-pager", *words],
        cwd=world.root,
        env=world.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


GUESSED = (
    "git log -1 -s -U --output=PWNED --format='x%n#'",
    "git log --min-parents --output=PWNED",
    "git log --max-parents --output=PWNED",
    "git diff -U --output=PWNED",
    "git diff --unified --output=PWNED",
    "git show -U --output=PWNED",
    "git reflog -U --output=PWNED",
    "git whatchanged --unified --output=PWNED",
    "git rev-list --min-parents --output=PWNED HEAD",
    "git rev-list --min-parents --alternate-refs HEAD",
    "git log -U --textconv",
    "git branch --list --abbrev --no-list --abbrev -D side",
    "git branch --abbrev new",
    "git branch --abbrev --unset-upstream",
    "git branch --merged main new",
    "git blame --abbrev --contents=.env a.txt",
    "git blame --abbrev .env",
    "git describe --abbrev --dirty",
    "git describe --abbrev --broken",
    "git describe --dirty",
    "git branch --no-lis -D side",
    "git log --outp=PWNED",
    "git shortlog --group=format:%GG HEAD",
    "git diff --ignore-submodules=none",
    "git status -v",
    "git status -vv",
)
FORMATS = tuple(
    f"git {command} --{option}={shape}"
    for command in ("log -1", "show", "shortlog HEAD", "rev-list HEAD", "reflog")
    for option, shape in (
        ("format", "%+GG"),
        ("format", "'% GG'"),
        ("format", "%-GG"),
        ("format", "%+G?"),
        ("format", "'%C(auto)%+GG'"),
        ("format", "format:%-GK"),
        ("pretty", "format:%+GG"),
        ("pretty", "'tformat:%h% G?'"),
        ("format", "'%(describe)'"),
    )
)


@pytest.mark.parametrize("command", [*GUESSED, *FORMATS, "git for-each-ref --format='%(raw)' refs/tags"])
def test_what_only_seems_to_read_is_not_allowed(world, command):
    assert world.judge(command).decision == "deny"
    assert world.judge(command, "edit_mode").decision == "ask"


# --- which repository

FILTER = "* filter=trap\n"


@pytest.fixture
def inner(tmp_path):
    """In a harmless repository, a folder with one of its own whose filter leaves a mark."""
    world = GitWorld(tmp_path)
    world.git("init", "-q", "-b", "main")
    world.write("a.txt", "x\n")
    world.commit("x")
    sub = world.root / "sub"
    world.git("init", "-q", "sub")
    mark = world.folder / "mark"
    program = trap(world.folder, mark, "cat")
    world.git("config", "filter.trap.clean", str(program), cwd=sub)
    world.write("sub/a.txt", "x\n")
    world.git("-c", "filter.trap.clean=cat", "add", "a.txt", cwd=sub)
    world.write("sub/.gitattributes", FILTER)
    world.write("sub/a.txt", "y\n")
    return world, sub, mark


def split(sub):
    """Leave `HEAD` alone in the git folder, and all else beside."""
    kept = sub / "kept"
    (sub / ".git").rename(kept)
    (sub / ".git").mkdir()
    shutil.copy(kept / "HEAD", sub / ".git" / "HEAD")
    shutil.copy(kept / "index", sub / ".git" / "index")
    return kept


def only_head_and_commondir(sub):
    split(sub)
    (sub / ".git" / "commondir").write_text("../kept\n")


def head_is_a_dangling_link(sub):
    only_head_and_commondir(sub)
    (sub / ".git" / "HEAD").unlink()
    (sub / ".git" / "HEAD").symlink_to("refs/heads/main")


def commondir_is_not_utf8(sub):
    kept = split(sub)
    kept.rename(os.fsdecode(os.fsencode(kept) + b"\xff"))
    (sub / ".git" / "commondir").write_bytes(b"../kept\xff\n")


@pytest.mark.parametrize("change", [only_head_and_commondir, head_is_a_dangling_link, commondir_is_not_utf8])
def test_a_repository_in_pieces_is_not_walked_past(inner, change):
    world, sub, mark = inner
    change(sub)

    world.plainly("git -C sub status")
    assert mark.exists()
    assert world.judge("git -C sub status").decision == "deny"
    assert world.judge("git -C sub log").decision == "deny"
    assert world.judge("git status", cwd=sub).decision == "deny"


@pytest.mark.held
def test_git_uses_the_repository_that_was_looked_at_whatever_is_there_meanwhile(inner):
    world, sub, mark = inner
    (sub / ".git").rename(world.folder / "away")
    verdict = world.judge("git -C sub status")
    assert verdict.decision == "allow"

    (world.folder / "away").rename(sub / ".git")
    world.plainly("git -C sub status")
    assert mark.exists()
    mark.unlink()
    assert "Untracked files" in world.run(verdict.hardened).text
    assert not mark.exists()


@pytest.mark.held
def test_where_no_repository_is_git_fails_and_reads_nothing(tmp_path):
    world = GitWorld(tmp_path)
    world.write("a.txt", "x\n")
    world.write("b.txt", "y\n")

    for command in ("git status", "git log", "git show", "git branch", "git ls-files", "git blame a.txt"):
        verdict = world.judge(command)
        assert verdict.decision == "allow", command
        said = world.run(verdict.hardened)
        assert (said.text, said.code) == ("", 128), command
    assert world.judge("git diff a.txt b.txt").decision == "deny"
    assert world.judge("git grep x").decision == "deny"


# --- what is shown


@pytest.fixture(scope="module")
def names(world):
    """Objects by what they are called in commands below."""
    return {
        "BLOB": world.git("rev-parse", "HEAD:.env"),
        "SHORT": world.git("rev-parse", "--short=8", "HEAD:.env"),
        "OTHER": world.git("rev-parse", "HEAD~1:.env"),
        "SUBTREE": world.git("rev-parse", "HEAD:.ssh"),
        "EMPTY": world.git("hash-object", "-t", "tree", "-w", "/dev/null"),
    }


SECRETS = (
    "git show 'HEAD^{/fix: start}:.env'",
    "git show 'HEAD@{00:00}:.env'",
    "git show HEAD:.env",
    "git show HEAD:src/../.env",
    "git show v2:.env",
    "git show {BLOB}",
    "git show {SHORT}",
    "git show x-g{SHORT}",
    "git show secret",
    "git show signed",
    "git show 'signed^{{}}'",
    "git show 'signed^{{tag}}'",
    "git show 'signed^{{object}}'",
    "git show 'secret^{{blob}}'",
    "git show {SUBTREE}:config",
    "git show '{SUBTREE}^{{tree}}:config'",
    "git show HEAD:a.txt..HEAD:.env",
    "git show ^HEAD:a.txt HEAD:.env",
    "git show :.env",
    "git show :0:.env",
    "git show ':/fix'",
    "git show 'HEAD^{{/fix}}'",
    "git show HEAD -- .env",
    "git show HEAD -- '.e*'",
    "git show HEAD~1 HEAD~2 HEAD~3 HEAD",
    "git show stash@{{0}}",
    "git cat-file -p {BLOB}",
    "git cat-file blob {BLOB}",
    "git cat-file blob secret",
    "git cat-file -p HEAD:.env",
    "git cat-file -p secret",
    "git -C src cat-file -p HEAD:.env",
    "git -C src cat-file -p HEAD:src/.env",
    "git -C src cat-file -p HEAD:./.env",
    "git -C src show HEAD:src/.env",
    "git -C src show HEAD:../.env",
    "git -C src show HEAD:./.env",
    "git grep -h . {BLOB}",
    "git grep -h . secret",
    "git grep -h . HEAD:.env",
    "git grep -h . {SUBTREE}",
    "git grep -h . '{SUBTREE}^{{tree}}'",
    "git grep -h . HEAD",
    "git grep -h .",
    "git grep --cached -h canary",
    "git diff {BLOB} {OTHER}",
    "git diff {OTHER}..{BLOB}",
    "git diff secret {OTHER}",
    "git diff {EMPTY} {SUBTREE}",
    "git diff HEAD:.env HEAD~1:.env",
    "git diff HEAD:.env a.txt",
    "git diff HEAD:a.txt..HEAD:.env",
    "git diff {BLOB} a.txt",
    "git diff",
    "git diff v1",
    "git diff v1...HEAD",
    "git diff HEAD~1 -- .env",
    "git diff --cached v1",
    "git log -p",
    "git log -p secret",
    "git log -p -- .env",
    "git log -p -- ':(top).env'",
    "git log -p --follow .env",
    "git log -p --follow '.e*'",
    "git log -p --follow src",
    "git log -p --follow .",
    "git log -p --follow -- ':!a.txt'",
    "git log -L1,1:.env",
    "git log -L:x:.env",
    "git log -L '/a/,/b/:.env'",
    "git log -p -m",
    "git log -G canary -p",
    "git blame .env",
    "git blame HEAD -- .env",
    "git blame .ssh/a:b",
    "git log -L1,1:.ssh/a:b",
    "git log -p --follow .ssh/a:b",
    "git status -v",
    "git status -vv",
    "git for-each-ref --format='%(raw)'",
    "git for-each-ref --format='%(*raw)'",
    "git tag -l --format='%(raw)'",
    "git for-each-ref --format='%(contents)'",
    "git tag -n9",
    "git stash show -p",
    "git rev-list --objects {BLOB}",
)


@pytest.mark.parametrize("command", SECRETS)
def test_secrets_are_not_shown_by_any_name(world, names, command):
    command = re.sub(r"\{(\w{5,}|BLOB)\}", lambda found: names.get(found[1], found[0]), command)
    command = command.replace("{{", "{").replace("}}", "}")
    verdict = world.judge(command)

    if verdict.decision == "allow":
        said = world.run(verdict.hardened)
        assert CANARY not in said.text + said.errors


def test_these_objects_are_shown_by_git_itself(world, names):
    """So that the cases above are about something."""
    for command in (
        f"git show {names['BLOB']}",
        "git show 'HEAD^{/fix: start}:.env'",
        f"git show x-g{names['SHORT']}",
        "git show signed",
        f"git show {names['SUBTREE']}:config",
        "git diff HEAD:a.txt..HEAD:.env",
        f"git grep -h . {names['BLOB']}",
        f"git diff {names['EMPTY']} {names['SUBTREE']}",
        f"git diff {names['OTHER']}..{names['BLOB']}",
        "git -C src cat-file -p HEAD:.env",
        "git log -p --follow '.e*'",
        "git for-each-ref --format='%(raw)'",
        "git log -p -- src/key.pem",
        "git log -p --follow src",
        "git blame .ssh/a:b",
    ):
        assert CANARY in world.plainly(command).text, command


@pytest.mark.held
def test_a_path_of_a_revision_begins_at_the_top_also_for_what_the_settings_deny(world):
    denied = {"files": {"deny": ["src/private/**", "private/**"]}}

    for path in ("private/x", "./private/x", "src/private/x"):
        assert world.judge(f"git -C src cat-file -p HEAD:{path}", **denied).decision == "deny"
        assert world.judge(f"git -C src show HEAD:{path}", **denied).decision == "deny"
    assert world.judge("git -C src cat-file -p HEAD:a.txt", **denied).decision == "allow"
    assert world.judge("git log -p", **denied).decision == "deny"
    assert world.judge("git log -p --follow a.txt", **denied).decision == "deny"
    assert world.judge("git log -L1,1:a.txt", **denied).decision == "allow"


@pytest.mark.held
def test_a_file_that_was_a_secret_once_is_not_followed_into_that_time(tmp_path):
    world = GitWorld(tmp_path)
    world.git("init", "-q")
    rest = "and so on\n" * 9
    world.write(".env", f"A=1\nB=2\nTOKEN={CANARY}\n{rest}")
    world.commit("oops")
    world.git("mv", ".env", ".env.example")
    world.write(".env.example", f"A=1\nB=2\nTOKEN=\n{rest}")
    world.commit("better")

    assert CANARY in world.plainly("git log -L3,3:.env.example").text
    assert CANARY in world.plainly("git log -p --follow .env.example").text
    lines = world.judge("git log -L3,3:.env.example")
    assert lines.decision == "allow"
    said = world.run(lines.hardened)
    assert "TOKEN=" in said.text
    assert CANARY not in said.text
    assert world.judge("git log -p --follow .env.example").decision == "deny"


EXCLUDING = ("git diff v1 -- ':!x'", "git log -p -- ':!x'", "git status -- ':!x'")


@pytest.mark.held
def test_of_a_repository_around_the_workspace_only_the_workspace_is_shown(world):
    src = world.root / "src"
    here = {"cwd": src, "roots": [src]}
    world.write("outside.txt", "outside\n")

    try:
        for command in (
            "git diff v1",
            "git log -p",
            "git log --stat",
            "git show HEAD",
            "git grep -h .",
            "git status",
            *EXCLUDING,
        ):
            verdict = world.judge(command, **here)
            assert verdict.decision == "allow", command
            said = world.run(verdict.hardened, cwd=src)
            assert said.code == 0, (command, said.errors)
            for line in ("four", "of side", "c.txt", "new.txt", "outside.txt", CANARY):
                assert line not in said.text, command
        assert "first" in world.run(world.judge("git log -p", **here).hardened, cwd=src).text
        assert "+in src" in world.run(world.judge("git log -p", **here).hardened, cwd=src).text
        for command in ("git show HEAD:a.txt", "git diff -- ../a.txt", "git blame ../a.txt", "git log -p -- .."):
            assert world.judge(command, **here).decision == "deny", command
        assert world.judge("git show HEAD:src/a.txt", **here).decision == "allow"
    finally:
        (world.root / "outside.txt").unlink()


def test_a_tag_shows_its_commit(world):
    said = world.run(world.judge("git show --stat v2").hardened)

    assert "second" in said.text
    assert "3 +-" in said.text or "a.txt" in said.text


@pytest.mark.held
def test_a_word_that_stands_for_two_things_is_not_understood(world):
    assert world.judge("git grep -e one -i one").decision == "deny"
    assert world.judge("git grep -e one -i").decision == "allow"


# --- what developers run

NOW = re.compile(r"(?<=Not Committed Yet )[-0-9]+ [:0-9]+")
"""What `git blame` takes for the time of a line that is in no commit."""
DAILY = (
    "git status",
    "git status --short",
    "git status -sb",
    "git status -s -- a.txt",
    "git log",
    "git log --oneline -5",
    "git log --stat",
    "git log --stat -2",
    "git log -p",
    "git log -p -1 -- a.txt",
    "git log -p --follow a.txt",
    "git log -p --graph",
    "git log -p --follow -- a.txt",
    "git log -L1,1:a.txt",
    "git log -L 1,2:a.txt v1..HEAD",
    "git log --format='%h %an %s' -n 3",
    "git log --graph --oneline --all",
    "git log v1..HEAD --oneline",
    "git log --stat v1..main",
    "git log main -- a.txt",
    "git log -S one --oneline",
    "git log --stat --merges",
    "git log -p -- ':!c.txt'",
    "git show",
    "git show HEAD~1",
    "git show --stat HEAD",
    "git show HEAD:./a.txt",
    "git show HEAD -- a.txt",
    "git show HEAD~1 HEAD",
    "git show main --format=%s -s",
    "git show --name-only HEAD^",
    "git show v1",
    "git diff",
    "git diff a.txt",
    "git diff HEAD",
    "git diff --cached",
    "git diff --stat HEAD~1",
    "git diff main...HEAD -- a.txt",
    "git diff v1..HEAD",
    "git diff v1 main",
    "git diff HEAD^!",
    "git diff --name-status v1 -- '*.txt'",
    "git diff HEAD~1 a.txt",
    "git blame a.txt",
    "git blame -L 1,1 a.txt",
    "git blame v1 -- a.txt",
    "git grep -n o",
    "git grep -e o -n HEAD",
    "git grep o HEAD~1 -- a.txt",
    "git grep -c o a.txt",
    "git branch",
    "git branch -a",
    "git branch -vv",
    "git branch --merged main",
    "git branch --merged",
    "git branch --no-merged v1",
    "git branch --contains HEAD",
    "git branch --list 'm*'",
    "git branch --show-current",
    "git tag",
    "git tag -l",
    "git tag --contains v1",
    "git tag -n1",
    "git stash list",
    "git remote -v",
    "git rev-parse HEAD",
    "git rev-parse --abbrev-ref HEAD",
    "git rev-parse --show-toplevel",
    "git rev-parse --show-prefix",
    "git merge-base main HEAD",
    "git ls-files",
    "git ls-files -o --exclude-standard",
    "git ls-tree -r --name-only HEAD",
    "git cat-file -t HEAD",
    "git cat-file -p HEAD",
    "git cat-file -p HEAD:./a.txt",
    "git cat-file -p 'HEAD^{tree}'",
    "git describe --tags --always",
    "git shortlog -sn HEAD",
    "git rev-list --count HEAD",
    "git reflog -1 --format=%h",
    "git for-each-ref --format='%(refname)' refs/tags",
    "git worktree list",
    "git config --get user.name",
    "git config user.email",
    "git config --get core.bare",
    "git --version",
)


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """The same in a plain repository, in a folder of it, in a worktree beside it, and in a submodule."""
    world = GitWorld(tmp_path_factory.mktemp("places"))
    world.git("init", "-q", "-b", "main")
    world.write("a.txt", "one\ntwo\nthree\n")
    world.write("src/a.txt", "one\nfoo\n")
    world.commit("first")
    world.git("tag", "v1")
    world.git("checkout", "-q", "-b", "side")
    world.write("c.txt", "more\n")
    world.commit("side")
    world.git("checkout", "-q", "main")
    world.write("a.txt", "one\n2\nthree\n")
    world.write("src/a.txt", "one\nbar\n")
    world.commit("second")
    world.git("merge", "-q", "--no-edit", "side")
    world.commit("empty")
    world.write("a.txt", "one\n2\n3\n")
    world.commit("third")
    world.git("worktree", "add", "-q", "-b", "tree", str(world.folder / "tree"))
    world.git("init", "-q", "-b", "main", "super", cwd=world.folder)
    world.git("submodule", "add", "-q", str(world.root), "part", cwd=world.folder / "super")
    world.write("a.txt", "stashed\n")
    world.git("stash", "-q")
    found = {
        "plain": world.root,
        "folder": world.root / "src",
        "worktree": world.folder / "tree",
        "submodule": world.folder / "super" / "part",
    }
    for place in found.values():
        world.git("config", "user.name", "x", cwd=place)
        world.git("config", "user.email", "x@localhost", cwd=place)
        with (place / "a.txt").open("a") as file:
            file.write("o more\n")
        (place / "new.txt").write_text("new\n")
        (place / "staged.txt").write_text("staged o\n")
        world.git("add", "staged.txt", cwd=place)
    return world, found


@pytest.mark.held
@pytest.mark.parametrize("command", DAILY)
@pytest.mark.parametrize("place", ["plain", "folder", "worktree", "submodule"])
def test_what_developers_run_daily_is_allowed_and_says_what_git_says(places, place, command):
    world, found = places
    folder = found[place]
    roots = [world.root, world.folder / "tree", world.folder / "super"]
    verdict = world.judge(command, cwd=folder, roots=roots)

    assert verdict.decision == "allow", verdict.reason
    said, plainly = world.run(verdict.hardened, cwd=folder), world.plainly(command, cwd=folder)
    assert (NOW.sub("now", said.text), said.code) == (NOW.sub("now", plainly.text), plainly.code), said.errors
    assert plainly.code == 0, plainly.errors


def test_settings_that_may_be_secrets_or_the_users_own_are_not_told(world):
    for command in (
        "git config --list",
        "git config -l",
        "git config --get remote.origin.url",
        "git config --get init.defaultBranch",
        "git config --get core.pager",
        "git config --get http.proxy",
        "git config user.name other",
        "git config --get-all user.name",
        "git config --global user.name",
    ):
        assert world.judge(command).decision == "deny", command


def test_what_git_opens_is_named(places):
    world, found = places
    main = world.root / ".git"
    wanted = {
        "plain": (main,),
        "folder": (main,),
        "worktree": (main / "worktrees" / "tree", main),
        "submodule": (world.folder / "super" / ".git" / "modules" / "part",),
    }

    for place, folder in found.items():
        use, _ = judge_git(("git", "log"), folder, [folder])
        assert [it for it in use.needs if it.rpartition("/")[2] not in LISTS] == [*map(str, wanted[place])]


# --- what git starts

UNLISTED = ("filter.<driver>.process", "trailer.<token>.command", "trailer.<token>.cmd", "tar.<format>.command")
"""Of gitattributes(5) and git-config(1); `git help --config` does not tell them."""
PROGRAM = re.compile(
    r"command|program|cmd|helper|pager|editor|textconv|\.clean$|smudge|process|hook|fsmonitor|uploadpack$|receivepack$"
    r"|\.vcs$|browser|[.]path$|driver$|external|askpass|proxy|tool$|exec|diffFilter|submodule\.<name>\.update$|^alias"
    r"|ssh\.variant|sendemail\..*(cmd|server)|insteadOf",
    re.IGNORECASE,
)
"""What the name of a setting looks like that names a program, or leads to one."""
UNREACHABLE = {
    r"(filter)\.<driver>\..*|diff\.<driver>\.(command|textconv)|merge\.<driver>\.driver": (
        "where a repository has any, what looks into files asks"
    ),
    r"trailer\..*": "interpret-trailers, commit and am alone run it",
    r"tar\..*": "archive alone runs it",
    r"alias.*": "only for names that git does not know",
    r"pager\..*": "`--no-pager`, and stdout is no terminal",
    r"(browser|man|web|help|instaweb)\..*": "help and instaweb alone",
    r"(difftool|mergetool|guitool|gui|diff|merge)\..*": "difftool, mergetool and git-gui alone",
    r"sendemail\..*|imap\..*": "send-email and imap-send alone",
    r"remote\..*|url\..*|http\..*|ssh\.variant|uploadpack\..*|receive\.procReceiveRefs": (
        "what reaches a server is not allowed, and GIT_ALLOW_PROTOCOL lets no protocol be used"
    ),
    r"submodule\.<name>\.update": "submodule update alone",
    r"include.*": "a repository that has it asks",
    r"sequence\.editor|rebase\..*": "rebase alone",
    r"hook\..*": "hook run, and the hooks that are switched off",
}
NO_PROGRAMS = {
    "advice.ignoredHook",
    "advice.waitingForEditor",
    "color.pager",
    "column.clean",
    "completion.commands",
    "core.fsmonitorHookVersion",
    "fsmonitor.allowRemote",
    "fsmonitor.socketDir",
    "gitcvs.dbDriver",
    "notes.rewrite.<command>",
}


def test_every_setting_of_git_that_names_a_program_is_known():
    said = subprocess.run(["git", "help", "--config"], capture_output=True, text=True, check=True)
    keys = {it for it in said.stdout.split("\n") if "." in it and " " not in it} | set(UNLISTED)
    assert len(keys) > 500
    off = {key.lower() for key in SETTINGS} | {"gpg.<format>.program"}
    unknown = [
        key
        for key in keys
        if PROGRAM.search(key)
        and key not in NO_PROGRAMS
        and key.lower() not in off
        and not any(re.fullmatch(shape, key) for shape in UNREACHABLE)
    ]

    assert sorted(unknown) == []


def test_settings_that_are_switched_off_are_settings_of_git():
    said = subprocess.run(["git", "help", "--config"], capture_output=True, text=True, check=True)
    keys = {key.lower() for key in said.stdout.split("\n")}

    shapes = {re.sub(r"^gpg\.(openpgp|x509|ssh)\.program$", "gpg.<format>.program", key.lower()) for key in SETTINGS}
    assert shapes - keys == set()


SIGNED = """tree {tree}
parent {parent}
author x <x@localhost> 981173106 +0000
committer x <x@localhost> 981173106 +0000
gpgsig -----BEGIN {kind}-----
 eA==
 -----END {kind}-----

signed
"""
SIGNATURES = {"program": "PGP SIGNATURE", "ssh": "SSH SIGNATURE", "x509": "SIGNED MESSAGE"}


def setting(*pairs):
    def apply(world, program):
        for key, value in pairs:
            world.git("config", key, value.replace("TRAP", str(program)))

    return apply


def sign(kind, *pairs):
    def apply(world, program):
        text = SIGNED.format(
            tree=world.git("rev-parse", "HEAD^{tree}"), parent=world.git("rev-parse", "HEAD"), kind=SIGNATURES[kind]
        )
        commit = world.git("hash-object", "-t", "commit", "-w", "--stdin", text=text)
        world.git("update-ref", "HEAD", commit)
        setting(*pairs)(world, program)

    return apply


def included(world, program):
    world.write("extra", f"[core]\n\tfsmonitor = {program}\n")
    world.git("config", "include.path", "../extra")


def included_here(world, program):
    world.write("extra", f"[core]\n\tfsmonitor = {program}\n")
    world.git("config", f"includeIf.gitdir:{world.root}/.path", "../extra")


def of_the_worktree(world, program):
    world.git("config", "extensions.worktreeConfig", "true")
    world.git("config", "--worktree", "core.fsmonitor", str(program))


def of_the_submodule(world, program):
    world.git("config", "core.fsmonitor", str(program), cwd=world.root / "part")
    world.git("config", "submodule.recurse", "true")
    world.git("config", "diff.submodule", "diff")
    world.git("config", "status.submoduleSummary", "true")


def hooks(world, program):
    for name in ("post-index-change", "reference-transaction", "pre-commit", "post-checkout", "fsmonitor-watchman"):
        shutil.copy(program, world.root / ".git" / "hooks" / name)


def hooks_elsewhere(world, program):
    folder = world.root / "hooks"
    folder.mkdir()
    for name in ("post-index-change", "reference-transaction"):
        shutil.copy(program, folder / name)
    world.git("config", "core.hooksPath", "hooks")


def textconv(world, program):
    (world.root / ".git" / "info" / "attributes").write_text("* diff=trap\n")
    setting(("diff.trap.textconv", "TRAP"), ("diff.trap.command", "TRAP"))(world, program)


def attributes_elsewhere(world, program):
    world.write("attributes", "* diff=trap\n")
    setting(("diff.trap.textconv", "TRAP"), ("core.attributesFile", str(world.root / "attributes")))(world, program)


def borrowed(world, program):
    other = world.folder / "other"
    world.git("init", "-q", str(other))
    (world.root / ".git" / "objects" / "info" / "alternates").write_text(f"{other}/.git/objects\n")
    setting(("core.alternateRefsCommand", "TRAP"))(world, program)


def promised(*pairs):
    def apply(world, program):
        lost = world.git("rev-parse", "HEAD:a.txt")
        (world.root / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
        setting(
            ("core.repositoryFormatVersion", "1"),
            ("extensions.partialClone", "origin"),
            ("remote.origin.promisor", "true"),
            *pairs,
        )(world, program)

    return apply


HOSTILE = {
    "core.fsmonitor": setting(("core.fsmonitor", "TRAP")),
    "include": included,
    "includeIf": included_here,
    "config.worktree": of_the_worktree,
    "submodule": of_the_submodule,
    "hooks": hooks,
    "core.hooksPath": hooks_elsewhere,
    "diff.external": setting(("diff.external", "TRAP")),
    "diff.trap": textconv,
    "core.attributesFile": attributes_elsewhere,
    "gpg": sign("program", ("gpg.program", "TRAP"), ("log.showSignature", "true")),
    "gpg.openpgp": sign("program", ("gpg.openpgp.program", "TRAP"), ("log.showSignature", "true")),
    "gpg.ssh": sign(
        "ssh", ("gpg.ssh.program", "TRAP"), ("gpg.ssh.allowedSignersFile", "x"), ("log.showSignature", "1")
    ),
    "gpg.x509": sign("x509", ("gpg.x509.program", "TRAP"), ("log.showSignature", "true")),
    "format.pretty": sign("program", ("gpg.program", "TRAP"), ("format.pretty", "%G?")),
    "branch.sort": sign("program", ("gpg.program", "TRAP"), ("branch.sort", "signature"), ("tag.sort", "signature")),
    "core.alternateRefsCommand": borrowed,
    "uploadpack": promised(("remote.origin.url", "."), ("remote.origin.uploadpack", "TRAP")),
    "ext": promised(("remote.origin.url", "ext::TRAP"), ("protocol.ext.allow", "always")),
    "ssh": promised(("remote.origin.url", "ssh://x/y"), ("core.sshCommand", "TRAP")),
    "proxy": promised(("remote.origin.url", "git://x/y"), ("core.gitProxy", "TRAP")),
    "vcs": promised(("remote.origin.url", "x"), ("remote.origin.vcs", "TRAP")),
    "pagers": setting(("core.pager", "TRAP"), *((f"pager.{it}", "TRAP") for it in ("log", "status", "diff", "branch"))),
    "alias": setting(*((f"alias.{it}", "!TRAP") for it in ("log", "status", "diff", "show", "branch"))),
    "asking": setting(("core.editor", "TRAP"), ("core.askPass", "TRAP"), ("credential.helper", "TRAP")),
    "interactive.diffFilter": setting(("interactive.diffFilter", "TRAP")),
}
EVERY_DAY = (
    "git status",
    "git status --short",
    "git diff",
    "git diff HEAD~1",
    "git diff --stat HEAD",
    "git log -1",
    "git log -p",
    "git log --stat",
    "git show",
    "git show HEAD:a.txt",
    "git blame a.txt",
    "git grep one",
    "git branch -vv",
    "git tag -n1",
    "git ls-files",
    "git cat-file -p HEAD",
    "git rev-list --count --objects HEAD",
    "git describe --tags --always",
    "git reflog",
    "git stash list",
    "git remote -v",
    "git for-each-ref",
)
OF_GIT_ITSELF = (
    "git log -1 --format=%+GG",
    "git rev-list --alternate-refs --count HEAD",
    "git describe --dirty --always",
)
"""Never allowed; to see that these settings do start something."""


@pytest.fixture(scope="module")
def harmless(tmp_path_factory):
    world = GitWorld(tmp_path_factory.mktemp("matrix"))
    world.git("init", "-q", "-b", "main", "part", cwd=world.folder)
    world.git("commit", "-q", "--allow-empty", "-m", "x", cwd=world.folder / "part")
    world.git("init", "-q", "-b", "main")
    world.write("a.txt", "one\ntwo\n")
    world.write("same.txt", "the same\n")
    world.git("submodule", "add", "-q", str(world.folder / "part"), "part")
    world.commit("first")
    world.git("tag", "v1")
    world.write("a.txt", "one\n2\n")
    world.commit("second")
    world.write("a.txt", "one\n2\nthree\n")
    world.write("b.txt", "x\n")
    return world


@pytest.mark.held
@pytest.mark.parametrize("name", HOSTILE)
def test_whatever_a_repository_sets_git_starts_nothing(harmless, tmp_path, name):
    """What is allowed in a harmless repository runs in a hostile one: not only the verdict holds it."""
    world = harmless
    kept = tmp_path / "kept"
    shutil.copytree(world.root, kept, symlinks=True)
    mark = world.folder / "mark"
    program = trap(world.folder, mark)
    verdicts = [world.judge(command) for command in EVERY_DAY]
    assert [it.decision for it in verdicts] == ["allow"] * len(EVERY_DAY)
    try:
        HOSTILE[name](world, program)
        touched(world)
        for command, verdict in zip(EVERY_DAY, verdicts, strict=True):
            world.run(verdict.hardened)
            assert not mark.exists(), command
        touched(world)
        fired = [command for command in (*EVERY_DAY, *OF_GIT_ITSELF) if fires(world, command, mark)]
        assert fired or name in QUIET, "git itself starts nothing, so this shows nothing"
    finally:
        shutil.rmtree(world.root)
        shutil.copytree(kept, world.root, symlinks=True)


def filters(world, program):
    (world.root / ".git" / "info" / "attributes").write_text("* filter=trap\n")
    setting(*((f"filter.trap.{it}", "TRAP") for it in ("clean", "smudge", "process")))(world, program)


@pytest.mark.held
@pytest.mark.parametrize("name", [*HOSTILE, "filters"])
def test_no_program_of_a_repository_runs_where_git_is_held(harmless, tmp_path, name):
    """Filters have names of their own, which no setting switches off: only the verdict and the kernel hold them."""
    world = harmless
    kept = tmp_path / "kept"
    shutil.copytree(world.root, kept, symlinks=True)
    mark = world.root / "mark"
    verdicts = [world.judge(command) for command in EVERY_DAY]
    try:
        program = trap(world.root, mark)
        {**HOSTILE, "filters": filters}[name](world, program)
        with ShellWorld.running(world) as runner:
            for command, verdict in zip(EVERY_DAY, verdicts, strict=True):
                touched(world)
                ran = runner.run(verdict)
                assert not mark.exists(), command
                assert (ran.unheld, str(program) in ran.programs) == ([], False), command
        touched(world)
        assert name != "filters" or fires(world, "git status", mark)
    finally:
        shutil.rmtree(world.root)
        shutil.copytree(kept, world.root, symlinks=True)


QUIET = {"branch.sort", "pagers", "alias", "asking", "interactive.diffFilter", "vcs"}
"""Git starts these only in a terminal, or for commands that are not allowed."""


def touched(world):
    """Git looks into the file again, and notes that it has: there is a hook for that."""
    status = (world.root / "same.txt").stat()
    os.utime(world.root / "same.txt", (status.st_mtime - 9, status.st_mtime - 9))


def fires(world, command, mark):
    world.plainly(command)
    found = mark.exists()
    mark.unlink(missing_ok=True)
    return found


def test_the_names_of_people_are_read_but_not_where_a_link_leads(world):
    world.git("init", "-q")
    world.write(".mailmap", "Known <known@localhost> <x@localhost>\n")
    world.commit("first")
    verdict = world.judge("git log --format=%aN --use-mailmap")
    with ShellWorld.running(world) as runner:
        assert "Known" in runner.run(verdict).output
        (world.root / ".mailmap").unlink()
        (world.folder / "outside").write_text("Stranger <stranger@localhost> <x@localhost>\n")
        (world.root / ".mailmap").symlink_to(world.folder / "outside")
        assert "Stranger" not in runner.run(verdict).output
