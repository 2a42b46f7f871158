"""Real repositories of all kinds, and git in them: as anybody would run it, and as the shell policy has it run."""

import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from odin_lsp.config import Config
from odin_lsp.modes import Mode
from odin_lsp.permissions.rules import Rules
from odin_lsp.permissions.shell import CommandVerdict, judge
from odin_lsp.permissions.shell.git_environment import ENVIRONMENT

PATH = "/usr/local/bin:/usr/bin:/bin"
WHO = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in {"NAME": "x", "EMAIL": "x@localhost", "DATE": "2001-02-03T04:05:06Z"}.items()
}


@dataclass(frozen=True)
class Said:
    text: str
    errors: str
    code: int


class GitWorld:
    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.home = self.folder / "home"
        self.root = self.folder / "ws"
        for made in (self.home, self.root):
            made.mkdir()

    @property
    def env(self) -> dict[str, str]:
        said = {"PATH": PATH, "HOME": str(self.home), "LC_ALL": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1"}
        return {**said, "TMPDIR": gettempdir()}

    def git(self, *words: str, cwd: Path | None = None, text: str | None = None) -> str:
        """To build the world; it has to work."""
        env = {**self.env, **WHO, "GIT_ALLOW_PROTOCOL": "file"}
        where = cwd or self.root
        done = subprocess.run(
            ["git", *words], cwd=where, env=env, input=text, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout.strip()

    def write(self, name: str, text: str) -> Path:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def commit(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)

    def judge(
        self,
        command: str,
        mode: Mode = "ask_mode",
        *,
        cwd: Path | None = None,
        roots: Sequence[Path] = (),
        **rules: Any,
    ) -> CommandVerdict:
        return judge(
            command,
            mode=mode,
            cwd=cwd or self.root,
            roots=roots or [self.root],
            rules=Rules.of(Config(**rules), root=self.root),
        )

    def plainly(self, command: str, cwd: Path | None = None) -> Said:
        """As anybody would run it."""
        return self._run(command, cwd, self.env)

    def run(self, text: str, cwd: Path | None = None) -> Said:
        """As a command runs that nobody was asked about."""
        return self._run(text, cwd, {**self.env, **ENVIRONMENT})

    def _run(self, text: str, cwd: Path | None, env: dict[str, str]) -> Said:
        done = subprocess.run(
            ["bash", "-c", text],
            cwd=cwd or self.root,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        return Said(done.stdout, done.stderr, done.returncode)


def trap(folder: Path, mark: Path, then: str = "exit 0") -> Path:
    """A program that leaves a mark."""
    file = folder / "trap"
    file.write_text(f"#!/bin/sh\n: > {shlex.quote(str(mark))}\n{then}\n")
    file.chmod(0o755)
    return file
