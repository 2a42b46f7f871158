"""The verdict on a command: what it says, what it offers, and what would run."""

import os
import shlex
import shutil
import subprocess

import pytest

from odin_lsp.config import Config
from odin_lsp.permissions.program_search import ProgramSearch
from odin_lsp.permissions.rules import Rules
from odin_lsp.permissions.shell import judge
from odin_lsp.permissions.shell.grammar import Grammar, NotUnderstood
from odin_lsp.permissions.shell.parse import parse
from odin_lsp.permissions.shell.readers import BUILTINS, JUDGES, STARTS_NO_OTHER
from odin_lsp.permissions.shell.words import read_word


@pytest.fixture
def verdict(tmp_path):
    (tmp_path / "a.txt").write_text("x\n")
    (tmp_path / "sub").mkdir()

    def verdict(command, mode="edit_mode", cwd=tmp_path, roots=(tmp_path,), held=None, search=None, **settings):
        rules = Rules.of(Config(**settings))
        return judge(command, mode=mode, cwd=cwd, roots=roots, rules=rules, held=held, search=search)

    return verdict


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("a", "a"),
        ("'a b'", "a b"),
        ('"a b"', "a b"),
        ("a\\ b", "a b"),
        ("a'b'\"c\"d", "abcd"),
        ('"a\\"b\\x"', 'a"b\\x'),
        ('"a$"', "a$"),
        ("a$", "a$"),
        ('"$ 5"', "$ 5"),
        ("HEAD@{1}", "HEAD@{1}"),
        ("$x", None),
        ('"$x"', None),
        ("`x`", None),
        ("'{a,b}'", "{a,b}"),
        ('"{1..3}"', "{1..3}"),
        ("\\{a,b}", "{a,b}"),
        ("x'{'a,b}", "x{a,b}"),
        ("{a,b}", None),
        ("'x'{a,b}", None),
        ("{'a,b',c}", None),
        ("{1..3}", None),
        ("~", None),
        ("~/x", None),
        ("'a", None),
        ('"a', None),
        ("a\\", None),
        ("$'a'", None),
        ('$"a"', None),
        ("a;b", None),
        ("a b", None),
    ],
)
def test_a_word_is_what_bash_makes_of_it_or_unknown(raw, value):
    assert read_word(raw).value == value
    if value is not None:
        printed = subprocess.run(["bash", "-c", f"printf %s {raw}"], capture_output=True, check=True, text=True)
        assert printed.stdout == value


def test_a_row_of_commands_is_read_with_its_joiners():
    script = parse("cd a && cat x | head -1 2>/dev/null; pwd || ls")

    assert [(step.joiner, step.command.argv) for step in script.steps] == [
        ("", ("cd", "a")),
        ("&&", ("cat", "x")),
        ("|", ("head", "-1")),
        (";", ("pwd",)),
        ("||", ("ls",)),
    ]
    assert script.steps[2].command.redirects == ("2>/dev/null",)


def test_what_runs_is_written_anew_from_what_was_read(verdict):
    hardened = verdict("cat  'a.txt'|head -1 2>/dev/null # first\npwd").hardened

    assert hardened.endswith("cat a.txt | /usr/bin/head -1 2>/dev/null; pwd")
    for redirect in (">/dev/null", "1>/dev/null", "2>&1", "</dev/null"):
        assert verdict(f"pwd   {redirect}", "plan_mode").hardened == f"pwd {redirect}"


def test_names_of_files_stand_for_patterns(verdict, tmp_path):
    (tmp_path / "-rf").write_text("")
    (tmp_path / "b.txt").write_text("")

    assert verdict("cat *.txt").hardened.endswith("cat a.txt b.txt")
    assert verdict("cat *").decision == "allow"
    assert "./-rf" in verdict("wc -l *").hardened
    assert verdict("cat *.nothing").hardened.endswith("cat '*.nothing'")


def test_the_reason_names_what_is_unknown(verdict):
    assert "`find`: `-delete`" in verdict("find . -delete").reason
    assert "`touch`" in verdict("touch x").reason
    assert "outside of the workspace" in verdict("cat /etc/hosts").reason
    assert "secret" in verdict("cat .env").reason
    assert "sets a variable" in verdict("A=b ls").reason
    assert "ask mode" in verdict("touch x", "ask_mode").reason


def test_all_commands_are_shown_with_what_they_wrap(verdict):
    shown = verdict("ls; env A=b timeout 5 make all | cat").commands

    assert [it.argv[0] for it in shown] == ["ls", "env", "timeout", "make", "cat"]
    assert shown[0].program.endswith("/ls")
    assert shown[3].program == "make"


@pytest.mark.parametrize("text", ["[ -f x ]", "[[ -f x ]]", "[ ! -d 'a b' ]", "[ -f x ] && ls", "[ a = b ]"])
def test_a_test_in_brackets_is_the_command_test(text):
    script = parse(text)

    assert not script.problem
    assert script.steps[0].command.argv[0] == "test"
    assert script.commands[0].argv == script.steps[0].command.argv


@pytest.mark.parametrize(
    "text",
    ["[[ -f *.txt ]]", "[[ a && b ]]", "[[ (a) ]]", "[ $x ]", "[ -f x\n]", "[ -f x", "[[ a == b* ]]"],
)
def test_a_test_that_needs_a_shell_is_left_to_it(text):
    assert parse(text).problem


def test_a_test_looks_at_files_of_the_workspace_and_computes_nothing(verdict):
    assert verdict("[ -f a.txt ] && echo yes", "plan_mode").hardened == "test -f a.txt && echo yes"
    assert verdict("[[ ! -d a.txt ]]", "plan_mode").hardened == "test '!' -d a.txt"
    for command in (
        "[ -f /etc/hosts ]",
        "[[ 'a[$(touch x)]' -eq 0 ]]",
        "[ -v 'a[0]' ]",
        "[ ! ! -f x ]",
        "[ x ]",
        "[ ]",
    ):
        assert verdict(command, "plan_mode").decision == "deny"


def test_a_link_may_be_tested_by_either_letter(verdict):
    assert verdict("[ -L a.txt ]", "plan_mode").decision == "allow"
    assert verdict("test -h a.txt", "plan_mode").decision == "allow"


def test_a_script_of_sed_is_read_wherever_it_stands(verdict):
    for words in ("1p", "-e 1p", "--expression=1p", "--expression 1p"):
        assert verdict(f"sed -n {words} a.txt", "plan_mode").reads.files == verdict("cat a.txt").reads.files
    for words in ("w", "-e 'w x'", "--expression='w x'"):
        assert verdict(f"sed -n {words} a.txt", "plan_mode").decision == "deny"


def test_files_that_the_settings_hide_or_show_are_so_for_commands_too(verdict):
    rules = {"deny": ["a.txt"], "allow": [".env"]}

    assert "the settings hide it" in verdict("cat a.txt", files=rules).reason
    assert verdict("cat .env", files=rules).decision == "allow"


def test_letters_of_any_language_are_no_reason_to_ask(verdict, tmp_path):
    (tmp_path / "größe-大小.txt").touch()

    assert verdict("cat größe-大小.txt").decision == "allow"
    assert "an invisible character (U+200B)" in verdict("cat a\u200b.txt").reason


def test_bash_itself_says_which_program_it_would_start(verdict):
    assert verdict("which ls", "plan_mode").hardened == "type -P -- ls"
    assert verdict("which -a ls cat", "plan_mode").hardened == "type -aP -- ls cat"


def test_a_program_may_tell_its_version_where_it_is_held(verdict, tmp_path, monkeypatch):
    """The one that would run: a version manager's script looks for it, and must not write meanwhile."""
    shims = tmp_path.parent / "shims"
    shims.mkdir()
    (shims / "python3").write_text("#!/bin/sh\nexec /usr/bin/python3 $@\n")
    (shims / "python3").chmod(0o755)
    monkeypatch.setenv("PATH", f"{shims}:/usr/bin")

    assert verdict("python3 --version", "plan_mode").hardened == f"{shims}/python3 --version"
    assert verdict("python3 --version", "plan_mode").reads.programs == (shims / "python3",)
    assert verdict("python3 --version", "plan_mode", held=False).decision == "deny"
    for command in ("python3 --version x", "python3 -v", "python3", "./python3 --version", "yarn --version"):
        assert verdict(command, "plan_mode").decision == "deny"


@pytest.mark.parametrize(
    "program",
    [
        "{print $1}",
        "{print}",
        "{print $1, $NF}",
        '{print NR": "$0}',
        "/def / {print $2}",
        "NR==1",
        "NR>1{print $1}",
        "!seen[$0]++",
        "{s+=$3} END {print s}",
        "END{print NR}",
    ],
)
def test_awk_may_print_fields(verdict, program):
    assert verdict(f"awk -F: '{program}' a.txt", "plan_mode").decision == "allow"


@pytest.mark.parametrize(
    "program",
    [
        '{print > "x"}',
        '{print $1 | "sh"}',
        "{print >> $1}",
        "BEGIN{system($0)}",
        '/[/{print "]/{system($0)}"}',
        "{getline; print}",
        '{"date" | getline}',
        "{print ENVIRON[$1]}",
        '@load "x"',
        "{print $1}\n{system($1)}",
        "{getline += $1} END {print x}",
    ],
)
def test_awk_may_do_nothing_else(verdict, program):
    assert verdict(f"awk '{program}' a.txt", "plan_mode").decision == "deny"


@pytest.mark.parametrize(
    "words", ["-f x.awk", "-v x=1 '{print}'", "'{print}' /etc/hosts", "'{print}' -F /etc/hosts", "-i x '{print}'", ""]
)
def test_awk_reads_its_program_from_nowhere_else(verdict, words):
    assert verdict(f"awk {words}", "plan_mode").decision == "deny"


@pytest.mark.parametrize(
    "command",
    ["jq . a.txt", "jq -r '.a.b[0].name' a.txt", """jq '.["a b"]? | keys' a.txt""", "jq '.[] | .x' a.txt"],
)
def test_jq_may_follow_a_path(verdict, command):
    assert verdict(command, "plan_mode").decision == "allow"


@pytest.mark.parametrize(
    "words",
    [
        "env",
        "'.a | env'",
        "'$ENV'",
        "'.a, input'",
        "'import \"x\" as x; .'",
        ". /etc/hosts",
        "-f x.jq a.txt",
        "--slurpfile a /etc/hosts .",
        "--rawfile a .env .",
        "-L x .",
        "--args . x",
        "",
    ],
)
def test_jq_may_do_nothing_else(verdict, words):
    assert verdict(f"jq {words}", "plan_mode").decision == "deny"


def test_what_starts_no_other_program_is_known_to_be_a_reader():
    assert {*STARTS_NO_OTHER} <= {*JUDGES, *BUILTINS, "cd"}
    assert not STARTS_NO_OTHER & {"git", "rg", "find", "sed", "diff", "file", "tree", "awk", "jq", "arch"}


def test_a_number_is_an_option_where_the_program_takes_one():
    assert Grammar("-n", digits=True).read(["-5", "-n", "a"]).options == ["-0", "-n"]
    with pytest.raises(NotUnderstood):
        Grammar("-n").read(["-5"])


def test_a_value_behind_an_operand_may_be_a_file_elsewhere(verdict):
    """Where programs stop looking for options at the first operand, as on macOS."""
    assert verdict("head a.txt -n 5", "plan_mode").decision == "allow"
    assert verdict("head a.txt -n /etc/hosts", "plan_mode").decision == "deny"
    assert verdict("grep x -e /etc/hosts", "plan_mode").decision == "deny"
    assert verdict("grep -e /etc/hosts a.txt", "plan_mode").decision == "allow"


def test_the_background_is_told(verdict):
    assert verdict("sleep 5 &").background
    assert not verdict("sleep 5 && ls").background


@pytest.mark.parametrize(
    ("command", "offer"),
    [
        ("ruff check .", "ruff check ."),
        ("tsc --noEmit", "tsc --noEmit"),
        ("mytool 'a b'", "mytool 'a b'"),
        ("nodemon x.js", "nodemon x.js $"),
        ("concurrently 'make a' 'make b'", "concurrently 'make a' 'make b' $"),
        ("watchexec -e py make", "watchexec -e py make $"),
        ("cross-env A=b tsc", "cross-env A=b tsc $"),
        ("tsx x.ts", "tsx x.ts $"),
        ("ts-node x.ts '$'", "ts-node x.ts '$' $"),
        ("mytool '$'", None),
        ("mytool 'a*' b", None),
        ("uv run x", None),
        ("docker run x", None),
        ("bash -c x", None),
        ("python3 -c x", None),
        ("python3.12 x.py", None),
        ("env make", None),
        ("git commit -m x", None),
        ("find . -delete", None),
        ("sed -i s/a/b/ a.txt", None),
        ("npm run build", None),
        ("make", None),
        ("pytest", None),
        ("xargs rm", None),
        ("sudo ls", None),
        ("curl x", None),
        ("ruff check . > x", None),
        ("ruff check .; ls", None),
        ("ruff $x", None),
        ("ruff *.txt", None),
        ("/opt/ruff check", None),
        ("'ruff' check", None),
        ("eval x", None),
    ],
)
def test_cfg_12_what_may_be_offered_as_always_allowed(verdict, command, offer):
    assert verdict(command).offer_rule == offer


def test_what_was_offered_and_approved_is_allowed(verdict, tmp_path):
    offered = verdict("ruff check .").offer_rule
    rules = Rules.of(Config(), approved=[offered, "'", ""])

    def again(command):
        return judge(command, mode="edit_mode", cwd=tmp_path, roots=[tmp_path], rules=rules).decision

    assert again("ruff check .") == "allow"
    assert again("ruff check . --fix") == "allow"
    assert again("ruff format .") == "ask"
    assert again("ruff check . > x") == "ask"


def test_what_was_approved_of_a_program_that_runs_others_is_that_command(verdict, tmp_path):
    rules = Rules.of(Config(), approved=[verdict("nodemon x.js").offer_rule])

    def again(command):
        return judge(command, mode="edit_mode", cwd=tmp_path, roots=[tmp_path], rules=rules).decision

    assert again("nodemon x.js") == "allow"
    assert again("nodemon x.js --exec 'git push'") == "ask"
    assert again("nodemon") == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "uv run git push",
        "uv run -- git push origin",
        "poetry run git push",
        "pipenv run git push",
        "hatch run git push",
        "pdm run git push",
        "rye run git push",
        "npm exec -- git push",
        "npm exec -c 'git push'",
        "npx git push",
        "pnpm exec git push",
        "pnpm dlx git push",
        "yarn exec 'git push'",
        "bunx git push",
        "bundle exec git push",
        "conda run -n x git push",
        "mamba run git push",
        "micromamba run git push",
        "pixi run git push",
        "cross-env A=b git push",
        "cross-env-shell 'echo; git push'",
        "dotenv -- git push",
        "watchexec git push",
        "nodemon --exec 'git push'",
        "nodemon --exec='git push'",
        "nodemon -x'git push'",
        "concurrently 'git push' 'make'",
        "docker exec x git push",
        "docker run --rm x sh -c 'git push'",
        "kubectl exec x -- git push",
        "nix develop -c git push",
        "mise exec -- git push",
        "direnv exec . git push",
        "fd -x git push",
        "git bisect run git push",
        "git rebase -x 'git push' HEAD~1",
        "git submodule foreach git push",
        "env --split-string='git push'",
        "uv run poetry run git -C sub push",
    ],
)
def test_what_is_forbidden_is_forbidden_behind_programs_that_run_others(verdict, command):
    assert verdict(command, forbiddenCommands=["git push"], allowedCommands=["uv run"]).decision == "deny"


@pytest.mark.parametrize("command", ["unset PATH", "ls; unset PATH", "declare -x PATH=a", "bash -c 'unset PATH'"])
def test_what_bash_has_words_of_its_own_for_can_be_forbidden(verdict, command):
    assert verdict(command, forbiddenCommands=["unset", "declare"]).decision == "deny"


@pytest.mark.parametrize(("depth", "decision"), [(4, "ask"), (5, "deny")])
def test_commands_are_looked_for_in_four_others_and_not_hidden_deeper(verdict, depth, decision):
    command = "touch x"
    for _ in range(depth):
        command = f"bash -c {shlex.quote(command)}"

    assert verdict(command).decision == decision
    assert verdict(command, forbiddenCommands=["touch"]).decision == "deny"


@pytest.mark.parametrize("command", ["npm run test", "uv run pytest -q", "docker compose ps", "nodemon x.js"])
def test_programs_that_run_others_may_be_allowed_by_a_rule(verdict, command):
    rule = " ".join(command.split()[:2])

    assert verdict(command, allowedCommands=[rule], forbiddenCommands=["git push"]).decision == "allow"


def test_exec_01_outside_of_the_folders_everything_asks(verdict, tmp_path):
    assert verdict("ls", cwd=tmp_path.parent).decision == "ask"
    assert verdict("ls", "ask_mode", cwd=tmp_path.parent).decision == "deny"
    assert verdict("ls", cwd=tmp_path / "sub").decision == "allow"


def test_several_folders_are_one_workspace(verdict, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()

    assert verdict("cat ../two/x", cwd=one, roots=(one, two)).decision == "allow"
    assert verdict("cat ../two/x", cwd=one, roots=(one,)).decision == "ask"


def test_a_rule_that_asks_is_heard_where_reading_would_be_allowed(verdict):
    ask = {"rules": [{"tool": "ExecuteCommand", "pattern": "git log", "decision": "ask", "reason": "slow here"}]}

    assert verdict("git log", **ask).decision == "ask"
    assert verdict("git log", **ask).reason == "slow here"
    assert verdict("git log", "plan_mode", **ask).decision == "deny"
    assert verdict("git branch", **ask).decision == "allow"


@pytest.mark.parametrize(
    ("command", "rule", "decision"),
    [
        ("git commit -m x", "git commit", "allow"),
        ("git commit -m x", "git", "ask"),
        ("git -c a=b commit", "git commit", "ask"),
        ("git push --receive-pack=x", "git push", "ask"),
        ("git push --receive-p=x", "git push", "ask"),
        ("npm install", "npm install", "allow"),
        ("npm install", "npm", "ask"),
        ("sed -i s/a/b/ a.txt", "sed -i s/a/b/ a.txt", "allow"),
        ("sed -i s/a/b/ a.txt", "sed -i s/a/b/ *", "ask"),
        ("sed -i s/a/b/ a.txt", "sed -i", "ask"),
        ("./gradlew test", "./gradlew test", "allow"),
        ("./gradlew test", "./gradlew", "ask"),
        ("mytool ../x", "mytool", "ask"),
        ("mytool --out=../x", "mytool", "ask"),
        ("mytool --out=odinconfig.json", "mytool", "ask"),
        ("mytool -o/etc/x", "mytool", "ask"),
        ("mytool ../x", "mytool ../x", "allow"),
        ("env mytool", "env mytool", "ask"),
        ("mytool a | sort", "mytool", "allow"),
        ("cd sub && mytool", "mytool", "allow"),
    ],
)
def test_how_much_a_rule_allows_in_a_trusted_folder(verdict, tmp_path, command, rule, decision):
    search = ProgramSearch(os.environ["PATH"], (tmp_path,), trusted=(tmp_path,))
    assert verdict(command, search=search, allowedCommands=[rule]).decision == decision


def test_git_runs_hardened_by_a_rule_too(verdict):
    read = verdict("git diff", allowedCommands=["git diff"]).hardened
    changed = verdict("git commit -m x", allowedCommands=["git commit"]).hardened
    git = shutil.which("git")

    assert "core.fsmonitor=false" in read
    assert "diff --no-ext-diff --no-textconv" in read
    assert changed == f"{git} --no-pager -c core.fsmonitor=false commit -m x"


@pytest.mark.parametrize("command", ["cat {}", "git -C {} log", "cd {} && ls", "ls {}/*", "diff {} {}", "test -f {}"])
@pytest.mark.parametrize("name", ["x" * 5000, "loop", "loop/x", "x/" * 2000])
def test_names_that_cannot_be_looked_up_are_no_error(verdict, tmp_path, command, name):
    (tmp_path / "loop").symlink_to("loop")

    assert verdict(command.format(name, name)).decision in ("allow", "ask")
    assert verdict(f"mytool {name}", allowedCommands=["mytool"]).decision in ("allow", "ask")


def test_patterns_over_many_folders_are_left_to_the_shell(verdict):
    assert verdict("ls */*/*").decision == "allow"
    assert verdict("ls */*/*/*").decision == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "dd if=a.txt of=/dev/sda",
        "tee /dev/nvme0n1",
        "cp a.txt /dev/sda1",
        "mv a.txt /dev/vda",
        "shred /dev/sda",
        "cat /dev/mem",
        "install a.txt /dev/sda",
        "truncate -s 0 /dev/mapper/root",
        "kill -9 -1",
        "init 0",
        "init 6",
    ],
)
def test_what_wipes_disks_or_stops_the_machine_is_denied_even_with_a_rule(verdict, command):
    assert verdict(command, allowedCommands=(command.partition(" ")[0], command)).decision == "deny"


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("git clone", "git clone --u='touch pwned' src dst"),
        ("git clone", "git clone -u 'touch pwned' src dst"),
        ("git clone", "git clone -qu 'touch pwned' src dst"),
        ("git fetch", "git fetch --u='touch pwned' src"),
        ("git push", "git push --e='touch pwned' src"),
        ("git rebase", "git rebase -x'touch pwned' main"),
        ("git rebase", "git rebase -ix 'touch pwned' main"),
        ("git difftool", "git difftool -yx 'touch pwned'"),
    ],
)
def test_a_rule_for_a_git_command_is_none_for_a_program_that_it_names(verdict, rule, command):
    assert verdict(command, allowedCommands=[rule]).decision == "ask"


@pytest.mark.parametrize(
    ("rule", "command"),
    [("git push", "git push -u origin main"), ("git clean", "git clean -fdx"), ("git push", "git push -- x")],
)
def test_letters_that_name_no_program_need_no_rule_of_their_own(verdict, rule, command):
    assert verdict(command, allowedCommands=[rule]).decision == "allow"
