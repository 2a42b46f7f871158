"""FLOOR-01 to FLOOR-08: what never runs is known in every way to write it, and what a rule allows is the
ordinary use."""

import pytest

from odin_lsp.config import Config
from odin_lsp.permissions.rules import Rules
from odin_lsp.permissions.shell import judge
from odin_lsp.permissions.shell.floor import everything


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "ws"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("x\n")
    return folder


@pytest.fixture
def verdict(root):
    def verdict(command, *allowed):
        rules = Rules.of(Config(allowedCommands=allowed))
        return judge(command, mode="edit_mode", cwd=root, roots=[root], rules=rules)

    return verdict


@pytest.fixture
def never_runs(verdict):
    def never_runs(command):
        found = verdict(command, "rm", "mv -t", "find", "git clean")
        return (found.decision, found.reason.endswith("this never runs")) == ("deny", True)

    return never_runs


@pytest.mark.parametrize(
    "command",
    [
        "find . / -delete",
        "find a.txt sub /etc -type f -delete",
        "find -L / -delete",
        "find -H -O3 / -delete",
        "cd / && find -delete",
        "find / -name '*' -delete",
        "find / ! -name x -delete",
        "find / -name x -o -delete",
        "find / -exec rm {} +",
        "find / -execdir rm {} +",
        "find / -okdir rm {} +",
        "find / -exec unlink {} +",
        "find / -exec sh -c 'rm -rf \"$1\"' _ {} +",
    ],
)
def test_floor_01_find_removes_nothing_of_any_of_its_folders(never_runs, command):
    assert never_runs(command)


@pytest.mark.parametrize(
    "options",
    [
        "-t /tmp/x",
        "-t/tmp/x",
        "-vt /tmp/x",
        "-vt/tmp/x",
        "--target-directory=/tmp/x",
        "--target-directory /tmp/x",
        "--target=/tmp/x",
    ],
)
def test_floor_02_what_is_moved_away_may_stand_last(never_runs, verdict, options):
    assert never_runs(f"mv {options} /etc")
    assert never_runs(f"mv {options} a.txt /usr")
    assert verdict(f"mv {options} a.txt").decision == "ask"


def test_floor_02_what_is_moved_into_a_folder_of_the_system_is_only_asked_about(verdict):
    assert verdict("mv -t /etc a.txt").decision == "ask"
    assert verdict("mv a.txt /etc").decision == "ask"


@pytest.mark.parametrize(
    "move",
    [
        "cd /",
        "cd -P /",
        "cd -L -e -- /",
        "cd -P --",
        "pushd /",
        "pushd -- /",
        "builtin cd /",
        "command cd -P /",
        "cd ~root",
        "cd /; (cd /tmp && ls)",
        "cd /; cd nowhere",
        "pushd /; pushd /tmp; popd",
        "bash -c 'cd /'",
    ],
)
def test_floor_03_a_script_that_was_in_a_folder_of_the_system_removes_nothing(never_runs, move):
    assert never_runs(f"{move}; rm -rf *")
    assert never_runs(f"{move} && rm -rf .")
    assert never_runs(f"bash -c '{move} && rm -rf *'" if "'" not in move else f"{move} && rm -rf .*")


def test_floor_03_the_last_folder_counts_if_none_of_the_system_was_among_them(verdict, never_runs):
    assert verdict("cd sub && rm -rf *").decision == "ask"
    assert verdict("cd /tmp/x && rm -rf *").decision == "ask"
    assert verdict("cd / && ls").decision == "ask"
    assert never_runs("cd /usr/share && rm -rf ../..")
    assert never_runs("cd /dev && dd if=a.txt of=sda")
    assert never_runs("cd /dev && echo x > sda")


@pytest.mark.parametrize(
    "wrapper",
    [
        "env -C /",
        "env -C/",
        "env -iC /",
        "env --chdir=/",
        "env --chdir /",
        "env --chd=/",
        "sudo -D /",
        "sudo --chdir=/",
        "unshare --wd=/",
        "unshare -w /",
        "nsenter -t 1 -w/",
        "nice -n 5 env -C /",
        "timeout 5 env -C /",
        "systemd-run --working-directory=/",
        "bwrap --chdir /",
        "uv --directory / run",
        "yarn --cwd / exec",
    ],
)
def test_floor_04_a_program_that_runs_another_elsewhere(never_runs, wrapper):
    assert never_runs(f"{wrapper} rm -rf *")


@pytest.mark.parametrize("wrapper", ["timeout 5", "nice", "env", "xargs", "unshare"])
def test_floor_04_a_shell_in_a_wrapper(never_runs, wrapper):
    assert never_runs(f"{wrapper} bash -c 'cd / && rm -rf *'")


@pytest.mark.parametrize(
    "command",
    [
        "rsync -a --delete sub/ /",
        "rsync -a --delete-after sub/ /etc/",
        "rsync -a --del sub/ ~/",
        "git -C / clean -fdx",
        "git -C/ clean -d --force",
        "git --work-tree=/ clean -xdf",
        "git -C ~ -c clean.requireForce=false clean -d",
        "tar --remove-files -cf x.tar /etc",
        "tar -C / --remove-files -cf x.tar etc",
        "tar --directory=/ --remove-file -cf x.tar usr",
        "chmod -R 777 /",
        "chmod 777 -R /*",
        "chown --recursive me /usr",
        "chgrp -R me /**",
        "dd if=a.txt of=/dev/sda",
        "dd if=a.txt of=//dev/nvme0n1",
        "dd if=a.txt of=/dev/../dev/sda",
        "cp a.txt /tmp/../dev/sda",
    ],
)
def test_floor_05_programs_that_destroy_by_their_options(never_runs, command):
    assert never_runs(command)


@pytest.mark.parametrize(
    "command",
    [
        "find . -delete",
        "find / -name core -delete",
        "find / -exec grep x {} +",
        "env -C / ls",
        "rm -rf build",
        "rm -rf *",
        "rsync -a --delete sub/ other/",
        "rsync -a --delete sub/ host:/",
        "rsync -a sub/ /",
        "git clean -fdx",
        "git -C / commit -m clean",
        "tar -C / -cf x.tar etc",
        "tar -C / --remove-files -cf x.tar tmp/x",
        "docker run -it -d image",
        "dd of=sda",
    ],
)
def test_floor_05_what_is_ordinary_is_only_asked_about(verdict, command):
    assert verdict(command).decision == "ask"


@pytest.mark.parametrize(
    "word", ["~", "~/", "~/*", "~/.", "~/..", "~/../..", "/homes", "/homes/people/*", "/homes/people/ada"]
)
def test_floor_06_the_home_and_the_folders_around_it(monkeypatch, tmp_path, never_runs, word):
    monkeypatch.setenv("HOME", "/homes/people/ada")
    assert everything(word, tmp_path)
    assert never_runs(f"rm -rf {word}")
    assert never_runs(f"find {word} -execdir rm {{}} +")


def test_floor_06_what_is_beside_the_home_is_another_matter(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", "/homes/people/ada")
    for word in ("/homes/people/ada/project", "/homes/people/ad", "/homes/other", "~/project/*"):
        assert everything(word, tmp_path) == ""


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("tar xf", "tar xf a.tar -vC/etc"),
        ("tar xf", "tar xf a.tar -C/etc"),
        ("tar xf", "tar xf a.tar -vC../.."),
        ("mytool x", "mytool x -@/etc"),
        ("tar xf", "tar xf a.tar --directory=/etc"),
        ("tar xf", "tar xf a.tar --directory /etc"),
        ("unzip -o", "unzip -o a.zip -qd/etc"),
        ("cp -r", "cp -r sub -vt/etc"),
        ("install -m", "install -m 644 -vt/etc a.txt"),
        ("ln -s", "ln -s a.txt -vt/etc"),
        ("mv -n", "mv -n a.txt -vt../x"),
    ],
)
def test_floor_07_a_rule_leads_nowhere_else_by_letters_in_a_row(verdict, rule, command):
    found = verdict(command, rule)
    assert (found.decision, "outside of the workspace" in found.reason) == ("ask", True)


@pytest.mark.parametrize(("rule", "command"), [("tar xf", "tar xf a.tar -vvC sub"), ("cp -r", "cp -r sub -vtother")])
def test_floor_07_in_the_workspace_they_are_allowed(verdict, rule, command):
    assert verdict(command, rule).decision == "allow"


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("git commit", "git commit -S"),
        ("git commit", "git commit -aS -m x"),
        ("git commit", "git commit -Skey -m x"),
        ("git commit", "git commit --gpg-sign=key -m x"),
        ("git merge", "git merge -S x"),
        ("git merge", "git merge --verify-signatures x"),
        ("git rebase", "git rebase -S main"),
        ("git cherry-pick", "git cherry-pick -xS main"),
        ("git tag", "git tag -s v1"),
        ("git tag", "git tag -au key v1"),
        ("git tag", "git tag -v v1"),
        ("git push", "git push --signed"),
    ],
)
def test_floor_08_a_rule_for_git_runs_no_gpg(verdict, rule, command):
    found = verdict(command, rule)
    assert (found.decision, "could run a program" in found.reason) == ("ask", True)


@pytest.mark.parametrize("words", ["-m S", "-mSome", "-am S", "--signoff -m x", "--no-verify -m x"])
def test_floor_08_a_plain_commit_is_allowed(verdict, words):
    assert verdict(f"git commit {words}", "git commit").decision == "allow"


@pytest.mark.parametrize("joined", ["ls || cd sub && cat a.txt", "ls | cd sub && cat a.txt", "cd sub || cat a.txt"])
def test_floor_08_a_move_that_may_not_happen_is_none(verdict, joined):
    found = verdict(joined)
    assert (found.decision, "changing the folder like this" in found.reason) == ("ask", True)
