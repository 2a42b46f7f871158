"""Run what README and the docs tell a reader to run, from an empty folder on a fresh clone, and tell how each ended."""

import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.documented.commands import PLAN, ROOT, WAYS, Command, Way, documented

KEPT = ("PIP_", "SSL_")
PATIENCE = 1800
"""Seconds: what is installed is fetched first."""
CODE = "class Queue:\n    def order(self):\n        total = 1\n        return total\n"
RULES = {"rules": [{"pattern": "make *", "action": "ask"}]}


class Reader:
    """Somebody with an empty home, a clone of Odin and a project."""

    def __init__(self, place: Path) -> None:
        self.home, self.clone, self.project = place / "home", place / "odin", place / "project"
        (self.home / ".config" / "fish" / "completions").mkdir(parents=True)  # fish makes it when it first starts
        subprocess.run(["git", "clone", "--quiet", ROOT, self.clone], check=True, timeout=PATIENCE)
        kept = {name: value for name, value in os.environ.items() if name.startswith(KEPT)}
        path = f"{self.clone}/.venv/bin:{os.environ['PATH']}"
        self.env = {**kept, "HOME": str(self.home), "LANG": "C.UTF-8", "TERM": "xterm-256color", "PATH": path}

    def begin_page(self) -> None:
        """Each page begins with the same project: with a file, a change in it that is not committed, and a plan."""
        self.project = self.project.with_name(f"{self.project.name}-")
        self.project.mkdir()
        self.run("odin-lsp host stop || true")
        (self.project / "invoice.py").write_text(CODE)
        (self.project / "PLAN.md").write_text(PLAN)
        (self.project / "rules.json").write_text(json.dumps(RULES))
        (self.project / "replies.json").write_text(json.dumps({"replies": [{"text": "In `agent/planner.py`."}]}))
        who = "-c user.name=Odin -c user.email=odin@example.com"
        self.run(f"git init -q && git add . && git {who} commit -qm Begin && echo 'rate = 2' >> invoice.py")

    def run(self, text: str, way: Way | None = None) -> tuple[int, str]:
        """How it ended, and what was printed."""
        way = way or Way()
        env = self.env
        if way.replies:
            script = self.home / "script.json"
            script.write_text(json.dumps({"replies": way.replies}))
            env = {**env, "ODIN_MODEL": f"scripted/{script}"}
        folder = self.clone if way.in_clone else self.project
        command = ["bash", "-eo", "pipefail", "-c", self._named(text)]
        if way.types:
            return _at_a_terminal(command, folder, env, way)
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output, process_group=0
            )
            try:
                code = process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                code = process.wait()
            output.seek(0)
            return code, output.read().decode(errors="replace")

    def _named(self, text: str) -> str:
        """With the clone and a session in place of those that the docs have as examples."""
        text = text.replace("/path/to/odin", str(self.clone))
        if "3f2a" not in text:
            return text
        _, listed = self.run("odin-lsp sessions list --json")
        return text.replace("3f2a", json.loads(listed)[0]["sessionId"])


def _at_a_terminal(command: list[str], folder: Path, env: dict[str, str], way: Way) -> tuple[int, str]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, cwd=folder, env=env, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said, to_type = "", dict(way.types)
    with os.fdopen(ours, "r+b", 0) as terminal:
        while True:
            try:
                piece = terminal.read(4096)
            except OSError:  # nobody is at its other end any more
                break
            said += piece.decode(errors="replace")
            for waited_for in [it for it in to_type if it in said]:
                terminal.write(to_type.pop(waited_for).encode())
    return process.wait(PATIENCE), said


def main() -> int:
    failed = 0
    with tempfile.TemporaryDirectory(prefix="odin-docs-") as place:
        reader, page = Reader(Path(place)), ""
        for command in documented():
            if command.page != page:
                page = command.page
                reader.begin_page()
            failed += not _is_shown(reader, command)
        reader.run("odin-lsp host stop || true")
    sys.stdout.write(f"\n{failed} failed\n" if failed else "\nall of it works\n")
    return int(bool(failed))


def _is_shown(reader: Reader, command: Command) -> bool:
    way = WAYS.get(command.text, Way())
    start = time.monotonic()
    code, said = (way.code, "") if way.shown_by else reader.run(command.text, way)
    how = f"see {way.shown_by}" if way.shown_by else f"{time.monotonic() - start:.1f} s"
    mark = "✓" if code == way.code else "✗"
    sys.stdout.write(f"{mark} {command.page}:{command.line}  {command.text}  ({how})\n")
    if code != way.code:
        sys.stdout.write(f"  ended with {code}:\n{said[-3000:]}\n")
    sys.stdout.flush()
    return code == way.code


if __name__ == "__main__":
    sys.exit(main())
