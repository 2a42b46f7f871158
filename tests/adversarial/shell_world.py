"""A workspace full of traps, for running what the shell policy allows, and for seeing that none of them springs."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from odin_lsp.commands.holding import Holding, Order
from odin_lsp.commands.runner import _job
from odin_lsp.config import Config
from odin_lsp.modes import Mode
from odin_lsp.permissions import sandbox
from odin_lsp.permissions.rules import Rules
from odin_lsp.permissions.shell import CommandVerdict, judge

CANARY = "canary-51c0de"
TRAP = "#!/bin/sh\ntouch PWNED\n"
HOSTILE = """[core]
	fsmonitor = touch PWNED;:
	pager = touch PWNED;cat
	hooksPath = hooks
	sshCommand = touch PWNED
	editor = touch PWNED
[diff]
	external = touch PWNED;:
[diff "trap"]
	textconv = touch PWNED;cat
	command = touch PWNED;:
[filter "trap"]
	clean = touch PWNED;cat
	smudge = touch PWNED;cat
[log]
	showSignature = true
[gpg]
	program = ./pre.sh
[format]
	pretty = %G?
[pretty]
	evil = %G?
[alias]
	zz = !touch PWNED
[pager]
	log = touch PWNED;cat
	branch = touch PWNED;cat
[interactive]
	diffFilter = touch PWNED;cat
"""


@dataclass(frozen=True)
class Ran:
    programs: list[str]
    unheld: list[str]
    """Those that no sandbox held."""
    output: str
    code: int


class ShellWorld:
    def __init__(self, folder: Path, *, hostile: bool) -> None:
        self.path = "/usr/local/bin:/usr/bin:/bin"
        self.root = folder / "ws"
        self.outside = folder / "outside"
        self.home = folder / "home"
        for made in (self.root / "src", self.root / ".ssh", self.outside, self.home):
            made.mkdir(parents=True)
        self._fill()
        self._commit(hostile=hostile)

    def judge(
        self, command: str, mode: Mode = "edit_mode", *, held: bool | None = None, **settings: Any
    ) -> CommandVerdict:
        rules = Rules.of(Config(**settings), root=self.root)
        with patch.dict(os.environ, {"PATH": self.path}):
            return judge(command, mode=mode, cwd=self.root, roots=[self.root], rules=rules, held=held)

    @property
    def env(self) -> dict[str, str]:
        return {"PATH": self.path, "HOME": str(self.home), "LC_ALL": "C.UTF-8"}

    def state(self) -> dict[str, bytes | str | None]:
        """Everything there is, in the workspace and around it."""
        return {
            str(path): str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else None
            for path in sorted(self.root.parent.rglob("*"))
        }

    @contextmanager
    def running(self) -> Generator["Runner"]:
        with (
            subprocess.Popen(
                [sys.executable, "-m", "tests.adversarial.exec_trace"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            ) as process,
            tempfile.TemporaryDirectory() as temporary,
        ):
            yield Runner(self, process, Path(temporary))
            assert process.stdin is not None
            process.stdin.close()

    def _fill(self) -> None:
        (self.root / "a.txt").write_text("x y\nfoo\nbar\nx\n")
        (self.root / "b.txt").write_text("x y\nbar\n")
        (self.root / "a b.txt").write_text("spaced\n")
        (self.root / "100%.txt").write_text("x\n")
        (self.root / "package.json").write_text('{"scripts": {"test": "true"}}\n')
        (self.root / "src" / "main.py").write_text("def main():\n    return 'foo'\n")
        for name in (".env", "id_rsa", "key.pem", ".ssh/config", "src/.ENV", "src/Key.PEM"):
            (self.root / name).write_text(f"{CANARY}\n")
        (self.outside / "secret.txt").write_text(f"{CANARY}\n")
        (self.root.parent / "outside.txt").write_text(f"{CANARY}\n")
        (self.home / "outside_home.txt").write_text(f"{CANARY}\n")
        (self.root / "link").symlink_to("../outside.txt")
        for name in ("one", "two"):
            (self.root / name).mkdir()
        (self.root / "one" / "x").write_text("x\n")
        (self.root / "two" / "x").symlink_to("../../outside.txt")
        (self.root / "linked").symlink_to("../outside")
        for name in ("ls", "cat", "git", "rg", "grep", "pre.sh", "e.sh", "touch"):
            (self.root / name).write_text(TRAP)
            (self.root / name).chmod(0o755)
        for name in ("-rf", "--output=PWNED", "-exec", "$(touch PWNED)", "`touch PWNED`", "a;touch PWNED", "-o"):
            (self.root / name).write_text("a name\n")
        (self.root / "rc").write_text("--pre=./pre.sh\n")
        os.mkfifo(self.root / "fifo")

    def _commit(self, *, hostile: bool) -> None:
        env = {**self.env, "GIT_CONFIG_NOSYSTEM": "1"}
        for name in ("AUTHOR", "COMMITTER"):
            env |= {f"GIT_{name}_NAME": "x", f"GIT_{name}_EMAIL": "x@localhost"}
        for words in (
            ["init", "-q", "-b", "main"],
            ["add", "a.txt", "b.txt", "src", ".env"],
            ["commit", "-q", "-m", "first"],
            ["commit", "-q", "--allow-empty", "-m", "second"],
            ["tag", "v1"],
        ):
            subprocess.run(["git", *words], cwd=self.root, env=env, check=True, stdout=subprocess.DEVNULL)
        (self.root / "b.txt").write_text("stashed\n")
        subprocess.run(["git", "stash", "-q"], cwd=self.root, env=env, check=True)
        (self.root / "a.txt").write_text("x y\nfoo\nbaz\nx\n")
        (self.root / ".env").write_text(f"{CANARY}\n{CANARY} more\n")
        if hostile:
            with (self.root / ".git" / "config").open("a") as file:
                file.write(HOSTILE)
            (self.root / ".gitattributes").write_text("* diff=trap filter=trap\n")
            hooks = self.root / "hooks"
            hooks.mkdir()
            for folder in (hooks, self.root / ".git" / "hooks"):
                for name in ("post-index-change", "pre-commit", "post-checkout", "reference-transaction", "fsmonitor"):
                    (folder / name).write_text(TRAP)
                    (folder / name).chmod(0o755)


@dataclass(frozen=True)
class Runner:
    world: ShellWorld
    process: "subprocess.Popen[str]"
    temporary: Path
    holding: Holding = field(default_factory=lambda: Holding(Config))

    def run(self, verdict: CommandVerdict, *, held: bool = True) -> Ran:
        """As a session runs what is allowed, in surroundings of the world's own; or the same without any hold."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        order = Order(
            command=verdict.hardened,
            cwd=self.world.root,
            roots=[self.world.root],
            mode="ask_mode" if verdict.reads else "edit_mode",
            reads=verdict.reads,
        )
        spec, hold = self.holding.of(order, self.temporary)
        spec = replace(spec, environment={**spec.environment, **self.world.env})
        spec = spec if held else replace(spec, confinement=None)
        self.process.stdin.write(json.dumps(_job(spec, "marker")) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        hold.tidy_up()
        return Ran(**json.loads(answer))

    def check(self, command: str, verdict: CommandVerdict) -> Ran:
        """Run what was allowed: only what was predicted starts, held to reading, and no secret is told."""
        ran = self.run(verdict)
        expected = {os.path.realpath("/bin/bash"), *map(os.path.realpath, predicted(verdict))}
        assert set(ran.programs) <= expected, (command, verdict.hardened, ran.programs)
        is_held = verdict.reads is not None and sandbox.available()
        assert ran.unheld == [] or not is_held, (command, verdict.hardened, ran.unheld)
        assert CANARY not in ran.output, (command, verdict.hardened, ran.output)
        return ran


def predicted(verdict: CommandVerdict) -> Iterable[str]:
    named = [it.program for it in verdict.commands if it.program.startswith("/")]
    return [*named, *([_gits_own()] if any(it.endswith("/git") for it in named) else [])]


@cache
def _gits_own() -> str:
    """The same program under the name by which git starts itself."""
    return f"{subprocess.check_output(['git', '--exec-path'], text=True).strip()}/git"
