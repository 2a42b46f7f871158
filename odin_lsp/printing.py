"""What commands print. Whatever others wrote is made fit to be shown here, on its way out, so that no command can
forget to: `odin_lsp.display` says how. A pipe gets the same as a terminal, since most pipes end in one; what is exact
is JSON, which has no control characters."""

import json
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from odin_lsp.display import shown, shown_line

if TYPE_CHECKING:
    from types import TracebackType


def print_lines(*lines: str) -> None:
    """To stdout, each as one line, whatever is in it."""
    sys.stdout.writelines(f"{shown_line(line, None)}\n" for line in lines)


def print_text(text: str) -> None:
    """To stdout, any number of lines, with the end that they have."""
    sys.stdout.write(shown(text))


def print_json(value: Any) -> None:
    sys.stdout.write(f"{json.dumps(value)}\n")


def print_exactly(text: str) -> None:
    """For programs: a script, a path that a shell takes on, an answer to another agent."""
    sys.stdout.write(text)


def say(text: str, colour: int | None = None) -> None:
    """To the person, not into the answer that may be piped on; if nobody is there any more, to nobody."""
    put = shown(text)
    with suppress(OSError):
        sys.stderr.write(f"\x1b[{colour}m{put}\x1b[0m\n" if colour else f"{put}\n")
        sys.stderr.flush()


def fail(why: str) -> int:
    """Say why a command did not work; its exit code."""
    say(f"odin: {why}")
    return 1


def put_prompt(text: str) -> None:
    """On stderr; what is typed comes behind it."""
    sys.stderr.write(f"{shown_line(text, None)} ")
    sys.stderr.flush()


def ask_line(prompt: str) -> str | None:
    """The line that is typed behind a prompt on stdout; `None` at the end of what is typed."""
    sys.stdout.write(f"{shown_line(prompt, None)} ")
    sys.stdout.flush()
    typed = sys.stdin.readline()
    return typed.strip() if typed else None


def report_crash(kind: type[BaseException], error: BaseException, where: "TracebackType | None") -> None:
    """In place of Python's own: what the error says may be another's words."""
    from traceback import format_exception

    say("".join(format_exception(kind, error, where)).rstrip("\n"))
