"""`odin-lsp hook`: what other agents run before they edit a file."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING

from odin_lsp.printing import print_exactly, say
from odin_lsp.tasks import run_to_end

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

ABOUT = "review an edit of another agent; its hook runs this (`odin-lsp connect AGENT --hook`)"
REFUSED = 2
"""By this exit code, and no other, agents know that a tool must not run."""
MAX_INPUT = 64 * 2**20
GRACE = 2.0
"""Seconds in which the review is given up in order, and then the process ends, whatever it does."""
TOO_LONG = "Odin: this edit took too long to look at, so it was not let through; read the file before you try again"


def add_arguments(parser: "ArgumentParser") -> None:
    parser.add_argument("agent", choices=("claude", "codex", "gemini", "opencode"))
    about = "how long this may take before the edit is refused (default and maximum: 6 hours)"
    parser.add_argument("--patience", type=_seconds, metavar="SECONDS", help=about)


def run(options: "Namespace") -> int:
    try:
        from odin_lsp.connecting.agents import SECONDS

        patience = options.patience or SECONDS
        with _end_at(patience + GRACE):
            return _answer(options.agent, patience)
    except Exception as error:  # noqa: BLE001 - whatever it is: the edit has not been reviewed
        say(f"Odin could not review this edit, so it was not made: {type(error).__name__}: {error}")
        return REFUSED


def _answer(agent: str, patience: float) -> int:
    from odin_lsp.hook_door.door import Refused, answer

    said = sys.stdin.buffer.read(MAX_INPUT)
    try:
        print_exactly(run_to_end(answer(agent, said, patience)))
        sys.stdout.flush()
    except Refused as refused:
        say(f"Odin: {refused}")
        return REFUSED
    return 0


def _seconds(given: str) -> float:
    from argparse import ArgumentTypeError

    from odin_lsp.connecting.agents import SECONDS

    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= SECONDS:
        raise ArgumentTypeError(f"{given} is not a number of seconds, more than 0 and at most {SECONDS}")
    return seconds


@contextmanager
def _end_at(seconds: float) -> Generator[None]:
    """A loop that computes hears of no timeout, and a thread that computes cannot be ended: the process can."""
    timer = Timer(seconds, _end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _end() -> None:
    say(TOO_LONG)
    os._exit(REFUSED)
