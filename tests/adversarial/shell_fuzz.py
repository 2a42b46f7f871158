"""Mutate commands, and run for real what the shell policy allows, among traps.

`python -m tests.adversarial.shell_fuzz` does it 100,000 times."""

import argparse
import os
import sys
import tempfile
from pathlib import Path
from random import Random

from odin_lsp.permissions.shell.readers import JUDGES
from tests.adversarial import shell_corpus
from tests.adversarial.shell_world import ShellWorld

SEEDS = [
    *shell_corpus.BENIGN * 12,
    *shell_corpus.BENIGN_IN_A_HARMLESS_REPOSITORY * 12,
    *(command for commands in shell_corpus.ATTACKS.values() for command in commands),
    *shell_corpus.TOUCHES,
]
SEPARATORS = (";", "&", "&&", "||", "|", "|&", "\n", "\r", ";;", " ; ", "\n\n", " \\\n", "#", " #\n", "\x0b", "\u2028")
PAYLOADS = (
    "touch PWNED", "$(touch PWNED)", "`touch PWNED`", "<(touch PWNED)", ">PWNED", ">>PWNED", "2>PWNED", "&>PWNED",
    "<a.txt", "| tee PWNED", "${x:=$(touch PWNED)}", "$((a[$(touch PWNED)]))", "${IFS}", "$IFS", "{touch,PWNED}",
    "$'\\x74ouch' PWNED", "~", "~/outside_home.txt", "../outside.txt", "/etc/passwd", ".env", "link",
    "linked/secret.txt", "<<<x", "<<E\nx\nE", "!", "*", ".*", "?", "[a-z]*", "--", "-", "$HOME", "\\", "'",
    '"', "=", "{", "}", "(", ")",
)  # fmt: skip
OPTIONS = (
    "--output=PWNED", "-o PWNED", "-oPWNED", "--pre=./pre.sh", "--pre ./pre.sh", "-exec touch PWNED ;", "-delete", "-i",
    "-exec touch PWNED \\;", "--in-place", "--ext-diff", "--textconv", "-c core.pager=./pre.sh", "-fprint PWNED", "-f",
    "-e 'w PWNED'", "-e '1e touch PWNED'", "--files0-from=../outside.txt", "-f ../outside.txt", "-L", "-R", "-z", "-p",
    "--compress-program=./pre.sh", "-O./pre.sh", "--open-files-in-pager=./pre.sh", "--no-index", "--show-signature",
    "--format=%G?", "-C ..", "-C src", "--follow", "-T /tmp", "-s 2001-01-01", "--exec-path=.", "-v", "-n", "-l", "-a",
)  # fmt: skip
OPERANDS = (
    "a.txt", "src", "'a b.txt'", "*.txt", "src/*", "-l", "-n", "-1", "--", ".", "HEAD", "./-rf", "src/main.py",
    "nosuch", "|",
)  # fmt: skip
"""Most of these leave a command harmless, so that much is run."""
WRAPPERS = (
    "env {}", "nice {}", "command {}", "time {}", "timeout 5 {}", "xargs {}", "sh -c '{}'", 'bash -c "{}"', "eval {}",
    "({})", "{{ {}; }}", "! {}", "exec {}", "find . -exec {} ;", "A=b {}", "PATH=. {}", "echo $({})",
    "f() {{ {}; }}; f", "cd src && {}", "cd src; {}", "cd linked && {}", "cd .. && {}", "./{}", "\\{}",
    "if true; then {}; fi", "{} &",
)  # fmt: skip
UNICODE = tuple("\u200b\u202e\u00a0\ufeff\uff1b\u2063\u0430\uff5c\u037eé\x00\x1b\t")


def mutated(random: Random, command: str) -> str:
    at = random.randrange(len(command) + 1)
    before, after = command[:at], command[at:]
    words = command.split(" ")
    place = random.randrange(len(words) + 1)
    match random.randrange(14):
        case 0:
            return before + random.choice(("'", '"', "\\", "''", '""', "$")) + after
        case 1:
            return random.choice(("'", '"')).join((before, after[:2], after[2:]))
        case 2:
            return command.replace(" ", random.choice(("${IFS}", "$IFS$9", "\t", "  ", "\\ ", "\n", "\u00a0")), 1)
        case 3:
            return command + random.choice(SEPARATORS) + random.choice((random.choice(SEEDS), *PAYLOADS[:6]))
        case 4:
            return random.choice(SEEDS) + random.choice(SEPARATORS) + command
        case 5:
            return " ".join([*words[:place], random.choice(PAYLOADS), *words[place:]])
        case 6 | 7:
            return " ".join([*words[:place], random.choice(OPTIONS), *words[place:]])
        case 8:
            return random.choice(WRAPPERS).format(command)
        case 9:
            return before + random.choice(UNICODE) + after
        case 10:
            return before + after[1:]
        case 11:
            quoted = random.choice(("'{}'", '"{}"', "''{}", '{}""', "\\{}"))
            words[place - 1] = quoted.format(words[place - 1])
            return " ".join(words)
        case 12:
            return " ".join([*words[:place], random.choice(OPERANDS), *words[place:]])
        case _:
            return before + random.choice((*PAYLOADS, *SEPARATORS)) + after


def fuzz(world: ShellWorld, examples: int, seed: int) -> tuple[int, int]:
    """How many commands were judged, and how many of them were allowed and ran. Raises if a trap sprang."""
    random = Random(seed)
    before, ran = world.state(), 0
    with world.running() as runner:
        for number in range(examples):
            command = random.choice(SEEDS)
            for _ in range(random.choice((1, 1, 1, 2, 3))):
                command = mutated(random, command)
            allowed = [f"{random.choice([*JUDGES, 'git', 'cd', 'command', 'env'])} *"] if random.random() < 0.3 else []
            verdict = world.judge(command, random.choice(("ask_mode", "edit_mode")), allowedCommands=allowed)
            if verdict.decision == "allow":
                runner.check(command, verdict)
                ran += 1
                assert not (world.root / "PWNED").exists(), (number, command, verdict.hardened)
    assert world.state() == before
    return examples, ran


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=int(os.environ.get("FUZZ_EXAMPLES", "100000")))
    parser.add_argument("--seed", type=int, default=Random().randrange(1 << 32))
    options = parser.parse_args()
    sys.stdout.write(f"seed {options.seed}\n")
    for number, hostile in enumerate((True, False)):
        with tempfile.TemporaryDirectory() as folder:
            world = ShellWorld(Path(folder).resolve(), hostile=hostile)
            tried, ran = fuzz(world, options.examples // 2, options.seed + number)
            name = "hostile" if hostile else "harmless"
            sys.stdout.write(f"{name} repository: {tried} judged, {ran} allowed and run, nothing fired\n")


if __name__ == "__main__":
    main()
