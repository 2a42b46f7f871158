"""The shell policy against the given cases and our own, and what it allows against the kernel's word."""

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.adversarial import shell_corpus
from tests.adversarial.shell_fuzz import fuzz
from tests.adversarial.shell_world import ShellWorld
from tests.support.sampling import fewer, sampled

STRICTNESS = {"ALLOW": 0, "RULE": 0, "-": 0, "ASK": 1, "DENY": 2}
CASES = [json.loads(line) for line in Path(__file__).with_name("shell_cases.jsonl").read_text().splitlines()]
GIVEN = [case for case in CASES if case["family"] != "benign control"]
GIVEN_BENIGN = [case["cmd"] for case in CASES if case["family"] == "benign control"]
ATTACKS = [(family, command) for family, commands in shell_corpus.ATTACKS.items() for command in commands]
MUTATED = fewer(2_500)
CHANGES_BY_ITSELF = re.compile(r"\b(date|df|du|free|uptime|stat|ls -\w*u)\b|^rg .*\| head")
"""Times, sizes and the machine's state are others each time, and so is what ripgrep comes upon first."""


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    """One whose repository is harmless, one whose settings are all traps."""
    return {
        name: ShellWorld(tmp_path_factory.mktemp(name), hostile=name == "hostile") for name in ("harmless", "hostile")
    }


@pytest.fixture
def world(worlds):
    return worlds["hostile"]


def strictness(verdict):
    return STRICTNESS[verdict.decision.upper()]


def rule_for(command):
    """An allow rule for the first word, as a user would write it; a word that no rule can have makes none."""
    first = command.split()[0] if command.split() else ""
    try:
        return [f"{first} *"] if shlex.split(first) not in ([], [""]) else []
    except ValueError:
        return []


def label(value):
    return value["id"] if isinstance(value, dict) else repr(value)[:60]


@pytest.mark.parametrize("case", GIVEN, ids=label)
def test_given_cases_are_held_at_least_as_strictly_as_they_ask_for(world, case):
    command = case["cmd"]

    assert strictness(world.judge(command)) >= STRICTNESS[case["edit"]]
    assert strictness(world.judge(command, "plan_mode")) >= STRICTNESS[case["plan"]]
    assert strictness(world.judge(command, "ask_mode")) >= STRICTNESS[case["plan"]]
    ruled = world.judge(command, allowedCommands=rule_for(command))
    assert strictness(ruled) >= STRICTNESS[case["with_allow_rule"]]
    assert strictness(world.judge(command, forbiddenCommands=["touch"])) >= STRICTNESS[case["with_forbid_touch"]]


@pytest.mark.parametrize(("family", "command"), ATTACKS, ids=label)
def test_attacks_of_our_own_are_never_allowed(world, family, command):
    assert world.judge(command).decision != "allow"
    assert world.judge(command, "ask_mode").decision == "deny"
    assert world.judge(command, "plan_mode").decision == "deny"
    assert world.judge(command, allowedCommands=rule_for(command)).decision != "allow"
    assert world.judge(command, "plan_mode", allowedCommands=[*rule_for(command), "*"]).decision == "deny"


@pytest.mark.parametrize(("family", "command"), ATTACKS, ids=label)
def test_a_rule_for_everything_does_not_let_them_through_either(worlds, family, command):
    assert worlds["harmless"].judge(command, allowedCommands=["*"]).decision != "allow"


@pytest.mark.parametrize("command", shell_corpus.CATASTROPHES, ids=label)
@pytest.mark.parametrize("mode", ["ask_mode", "plan_mode", "edit_mode"])
def test_the_floor_denies_whatever_the_rules_say(world, command, mode):
    verdict = world.judge(command, mode, allowedCommands=["*", *rule_for(command)])

    assert verdict.decision == "deny"
    assert "never runs" in verdict.reason


@pytest.mark.parametrize("command", shell_corpus.PRIVILEGED, ids=label)
def test_the_rights_of_others_are_denied_and_with_a_rule_asked_for(world, command):
    assert world.judge(command).decision == "deny"
    assert world.judge(command, allowedCommands=["sudo", "doas", "su", "pkexec"]).decision == "ask"


@pytest.mark.parametrize("command", shell_corpus.TOUCHES, ids=label)
def test_what_is_forbidden_is_found_at_any_depth(world, command):
    verdict = world.judge(command, forbiddenCommands=["touch"], allowedCommands=["*", "touch"])

    assert verdict.decision == "deny"
    assert "touch" in verdict.reason or "rights" in verdict.reason


@pytest.mark.held
@pytest.mark.parametrize("mode", ["ask_mode", "plan_mode", "edit_mode"])
def test_given_commands_that_only_read_are_allowed_and_all_but_one_whatever_a_repository_sets(worlds, mode):
    """`git log -L` looks into files, and shows what the repository's settings make of them."""
    for name, most in (("harmless", []), ("hostile", ["git log -L1,1:a.txt"])):
        assert [it for it in GIVEN_BENIGN if worlds[name].judge(it, mode).decision != "allow"] == most


@pytest.mark.held
@pytest.mark.parametrize("command", shell_corpus.BENIGN, ids=label)
@pytest.mark.parametrize("mode", ["ask_mode", "plan_mode", "edit_mode"])
def test_what_only_reads_is_allowed_without_a_question(world, command, mode):
    verdict = world.judge(command, mode)

    assert verdict.decision == "allow", verdict.reason


@pytest.mark.held
@pytest.mark.parametrize("command", shell_corpus.BENIGN_IN_A_HARMLESS_REPOSITORY, ids=label)
def test_git_looks_into_files_only_where_the_settings_are_harmless(worlds, command):
    assert worlds["harmless"].judge(command, "ask_mode").decision == "allow"
    assert worlds["hostile"].judge(command, "ask_mode").decision == "deny"
    assert worlds["hostile"].judge(command).decision == "ask"
    assert worlds["hostile"].judge(command, allowedCommands=["git"]).decision == "ask"


@pytest.mark.held
def test_almost_all_that_people_type_daily_to_look_around_runs_unasked(worlds):
    refused = [it for it in shell_corpus.DAILY if worlds["harmless"].judge(it, "ask_mode").decision != "allow"]

    assert len(shell_corpus.DAILY) == 60
    assert len(refused) <= 2, refused


@pytest.mark.parametrize("command", shell_corpus.RULED, ids=label)
def test_a_rule_for_the_first_word_is_honoured_in_edit_mode_alone(world, command):
    assert world.judge(command).decision == "ask"
    assert world.judge(command, allowedCommands=rule_for(command)).decision == "allow"
    assert world.judge(command, "plan_mode", allowedCommands=rule_for(command)).decision == "deny"
    assert world.judge(f"{command} > x", allowedCommands=rule_for(command)).decision == "ask"
    assert world.judge(f"{command}; whatever", allowedCommands=rule_for(command)).decision == "ask"


@pytest.mark.thorough
def test_what_is_allowed_starts_nothing_that_was_not_predicted(worlds):
    benign = (*shell_corpus.BENIGN, *shell_corpus.BENIGN_IN_A_HARMLESS_REPOSITORY, *shell_corpus.DAILY)
    commands = sampled([*GIVEN_BENIGN, *benign, *generated()])
    ran = 0
    for world in worlds.values():
        before = world.state()
        with world.running() as runner:
            for command in commands:
                verdict = world.judge(command, "ask_mode")
                if verdict.decision == "allow":
                    runner.check(command, verdict)
                    ran += 1
        assert world.state() == before
    assert ran > fewer(600)


@pytest.mark.thorough
def test_readers_do_not_notice_that_they_are_held(worlds):
    """But for tracked secrets, which git may take for modified where it cannot look into them."""
    world = worlds["harmless"]

    def lines(ran):
        output = re.sub(r"(?<=Not Committed Yet )[-\d]+ [:\d]+", "now", ran.output)
        return sorted(line for line in output.splitlines() if not re.search(r"\.(env|pem)", line, re.IGNORECASE))

    with world.running() as runner:
        for command in sampled([*GIVEN_BENIGN, *shell_corpus.BENIGN, *shell_corpus.DAILY]):
            verdict = world.judge(command, "ask_mode")
            if verdict.decision == "allow" and not CHANGES_BY_ITSELF.search(command):
                held, free = runner.run(verdict), runner.run(verdict, held=False)
                assert (lines(held), held.code) == (lines(free), free.code), command


def generated():
    """Programs, options and operands in all kinds of combinations."""
    lists = {
        "ls": ("-l", "-a", "-R", "-1t", "--all", "--sort=size", "--color=always"),
        "cat": ("-n", "-A", "-s", "--number"),
        "head": ("-2", "-n 1", "-c 3", "-q"),
        "tail": ("-2", "-n +2", "-c 3", "-v"),
        "wc": ("-l", "-w", "-c", "--lines"),
        "stat": ("-t", "-c %n", "--format=%s"),
        "sort": ("-r", "-n", "-u", "-k 1", "--reverse"),
        "uniq": ("-c", "-d", "-i"),
        "nl": ("-b a",),
        "md5sum": ("-b", "--tag"),
        "grep foo": ("-i", "-n", "-r", "-c", "-A 1", "--color=always", "-rn --include='*.py'"),
        "rg foo": ("-i", "-n", "-l", "-C 1", "-uu", "--hidden", "-g '*.txt'", "--json"),
        "find": ("-L", "", "-P"),
        "sed -n 1p": ("-E", "-s", ""),
        "git log --": ("",),
        "git diff": ("--stat", "-w"),
        "git show HEAD --": ("",),
        "git ls-files": ("-s", "-z", ""),
    }
    operands = ("a.txt", ".", "src/main.py", "*.txt", "'a b.txt'", "./*", "src/*", "nosuch", "-- -rf", "link", ".env")
    ends = ("", " | head -3", " 2>/dev/null")
    for program, options in lists.items():
        for number, option in enumerate(options):
            for operand in operands:
                yield f"{program} {option} {operand}{ends[number % 3]}"
    for name in ("-l", "-n 1", "-i"):
        yield f"git log {name} | cat"


@pytest.mark.thorough
def test_mutated_commands_that_are_allowed_do_no_harm(worlds):
    tried, ran = fuzz(worlds["hostile"], MUTATED, seed=1)
    more_tried, more_ran = fuzz(worlds["harmless"], MUTATED, seed=2)

    assert tried + more_tried == 2 * MUTATED
    assert ran + more_ran > fewer(300)


def test_exec_08_what_runs_is_named_by_its_full_path(world, monkeypatch):
    monkeypatch.setattr(world, "path", f".:{world.root}:{world.root}/src:/usr/bin:/bin")

    assert world.judge("ls").hardened.startswith(("/usr/bin/ls", "/bin/ls"))
    assert world.judge("cat a.txt | head -1").hardened.count("/bin/") == 2


def test_exec_09_a_file_of_the_workspace_is_never_the_program(world, monkeypatch):
    monkeypatch.setattr(world, "path", str(world.root))

    assert world.judge("ls").decision == "ask"
    assert world.judge("./ls").decision == "ask"
    assert world.judge(f"{world.root}/ls", "ask_mode").decision == "deny"


@pytest.mark.parametrize(
    "spelling", ["/bin/rm x", "\\rm x", "command rm x", "busybox rm x", "RM x", "rm.exe x", "=rm x"]
)
def test_exec_14_a_forbidden_program_under_any_name(world, spelling):
    assert world.judge(spelling, forbiddenCommands=["rm"]).decision == "deny"
    assert world.judge(spelling, forbiddenCommands=["/usr/bin/rm"]).decision == "deny"


@pytest.mark.parametrize(
    "spelling",
    ["git push", "git push origin main", "git -C src push", "git --no-pager push", "env git push", "git -c a=b push"],
)
def test_exec_14_a_forbidden_subcommand_behind_other_options(world, spelling):
    assert world.judge(spelling, forbiddenCommands=["git push"]).decision == "deny"


@pytest.mark.parametrize("spelling", ["rm -rf x", "rm -fr x", "rm -r -f x", "rm x -rf", "rm -vrf x"])
def test_exec_14_forbidden_options_in_any_order(world, spelling):
    assert world.judge(spelling, forbiddenCommands=["rm -rf"]).decision == "deny"
    assert world.judge("rm x", forbiddenCommands=["rm -rf"]).decision == "ask"


def test_exec_15_forbidden_wins_over_allowed(world):
    assert world.judge("ls", allowedCommands=["ls", "*"], forbiddenCommands=["ls"]).decision == "deny"


def test_exec_15_what_looks_like_a_regular_expression_is_none(world):
    assert world.judge("rm x", forbiddenCommands=["^rm.*$", "(r+)+m"]).decision == "ask"
    assert world.judge("mytool x", allowedCommands=["my.*", ".+"]).decision == "ask"


def test_exec_15_ten_thousand_rules_are_looked_up_not_tried(world):
    """Judging must not read them all: the work is counted, not timed."""
    from odin_lsp.patterns import CommandPattern

    rules = [f"tool{number} sub *" for number in range(10_000)]
    looked_at = 0
    reaches = CommandPattern.reaches

    def counted(self, argv):
        nonlocal looked_at
        looked_at += 1
        return reaches(self, argv)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CommandPattern, "reaches", counted)
        verdict = world.judge("env tool9999 sub x; ls; tool5 sub", forbiddenCommands=rules)

    assert verdict.decision == "deny"
    assert looked_at < 10


@pytest.mark.held
def test_a_recursive_search_spares_secrets(worlds):
    world = worlds["harmless"]
    with world.running() as runner:
        for command in (
            *("grep -rn canary .", "rg -uu canary", "rg -uu -g .env canary", "rg --hidden canary ."),
            *(
                "git log -p",
                "git -C src log -p",
                "cd src && git log -p -- ..",
                "git -C src diff",
                "cd src && git show HEAD~1",
            ),
            *("git grep canary", "git -C src grep canary HEAD", "cd src && git grep canary -- .."),
        ):
            assert "canary" not in runner.check(command, world.judge(command, "ask_mode")).output


def test_hidden_files_of_the_user_make_sweeping_commands_a_question_where_nothing_keeps_them_out(worlds):
    """The kernel keeps files from what it holds; what git has stored of them nobody can."""
    world, hidden = worlds["harmless"], {"files": {"deny": ["src/**"]}}

    for command in ("rg foo", "grep -r foo ."):
        assert world.judge(command, held=True, **hidden).decision == "allow"
        assert world.judge(command, held=False, **hidden).decision == "ask"
    assert world.judge("git grep foo", held=True, **hidden).decision == "ask"
    assert world.judge("cat src/main.py", **hidden).decision == "ask"
    assert world.judge("grep foo a.txt", **hidden).decision == "allow"


@pytest.mark.parametrize("command", ["git log", "git status", "rg foo", "find .", "cat a.txt | sed -n 1p", "tree"])
def test_what_could_start_others_runs_unasked_only_where_it_is_held(worlds, command):
    world = worlds["harmless"]

    assert world.judge(command, "ask_mode", held=False).decision == "deny"
    assert world.judge(command, held=False).decision == "ask"
    assert world.judge("cat a.txt | sort | head -3", "ask_mode", held=False).decision == "allow"


def test_a_row_that_a_rule_allows_is_not_held_so_it_is_all_asked_about(worlds):
    world = worlds["harmless"]

    assert world.judge("git log | mytool", held=True, allowedCommands=["mytool"]).decision == "ask"
    assert world.judge("cat a.txt | mytool", held=True, allowedCommands=["mytool"]).decision == "allow"
    assert world.judge("cat a.txt | mytool", held=True, allowedCommands=["mytool"]).reads is None
    assert world.judge("git log", held=True, allowedCommands=["mytool"]).reads is not None


def test_nothing_is_too_large_or_too_deep_to_be_judged(world):
    for command in (
        "(" * 5_000 + "ls" + ")" * 5_000,
        "echo " + "$(" * 3_000 + "ls" + ")" * 3_000,
        "ls && " * 5_000 + "ls",
        "{ " * 3_000,
        "eval " * 3_000 + "ls",
        "env " * 2_000 + "touch x",
        "'" * 9_999,
        "x" * 200_000,
        "ls -" + "l" * 9_000 + "Z",
        "sed -n '" + "1p;" * 3_000 + "' a.txt",
    ):
        assert world.judge(command, "plan_mode").decision == "deny" or command.startswith("sed")
