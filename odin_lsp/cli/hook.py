"""`odin-lsp hook`: what other agents run before they edit a file."""

import sys
from typing import TYPE_CHECKING

from odin_lsp.tasks import run_to_end

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

ABOUT = "review an edit of another agent; its hook runs this (`odin-lsp connect AGENT --hook`)"
REFUSED = 2
"""By this exit code, and no other, agents know that a tool must not run."""
MAX_INPUT = 64 * 2**20


def add_arguments(parser: "ArgumentParser") -> None:
    parser.add_argument("agent", choices=("claude", "codex", "gemini", "opencode"))


def run(options: "Namespace") -> int:
    try:
        from odin_lsp.connecting.agents import SECONDS
        from odin_lsp.hook_door.door import Refused, answer

        said = sys.stdin.buffer.read(MAX_INPUT)
        try:
            sys.stdout.write(run_to_end(answer(options.agent, said, SECONDS)))
            sys.stdout.flush()
        except Refused as refused:
            sys.stderr.write(f"Odin: {refused}\n")
            return REFUSED
    except Exception as error:  # noqa: BLE001 - whatever it is: the edit has not been reviewed
        sys.stderr.write(f"Odin could not review this edit, so it was not made: {type(error).__name__}: {error}\n")
        return REFUSED
    return 0
