"""`odin-lsp connect`: have another agent use Odin's tools and your review, and undo that."""

import sys
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

from odin_lsp.printing import ask_line, fail, print_lines

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from odin_lsp.connecting.agents import Agent, Scope
    from odin_lsp.connecting.changing import Change

ABOUT = "have another agent use Odin's tools and your review: show what to write into its settings, ask, and write it"
UNWRITTEN = "nothing was written"


def add_arguments(parser: "ArgumentParser", folder: Any) -> None:
    """`folder` is the type of an option that names one."""
    parser.add_argument("agent", choices=("claude", "codex", "gemini", "opencode"))
    parser.add_argument("--user", action="store_true", help="in all your projects, not only in this one")
    about = "let the agent keep its own edit tools: Odin is asked before each use, and makes the edit that you accept"
    parser.add_argument("--hook", action="store_true", help=about)
    parser.add_argument("--remove", action="store_true", help="take away what was written")
    parser.add_argument("--yes", action="store_true", help="write without asking")
    parser.add_argument("--cwd", type=folder, default=".", help="the project")


def run(options: "Namespace") -> int:
    from odin_lsp.connecting.agents import NAMES
    from odin_lsp.connecting.changing import write
    from odin_lsp.errors import OdinError

    agent: Agent = options.agent
    where = "for you" if options.user else "in this project"
    try:
        changes = list(_changes(options))
    except _Refused as refused:
        return fail(str(refused))
    if not any(it.is_one for it in changes):
        state = "is not connected" if options.remove else "is connected already"
        print_lines(f"{NAMES[agent]} {state} {where}")
        return 0
    for change in changes:
        print_lines(*_shown(change))
    if not options.remove:
        print_lines(_around(options))
    if not options.yes and not _agreed():
        return fail(f"{UNWRITTEN}; use --yes to write it without a question")
    try:
        write(changes)
    except (OSError, OdinError) as error:
        return fail(f"{error}; look at the files above before you try again")
    done = "no longer uses" if options.remove else "uses"
    print_lines(f"{NAMES[agent]} {done} Odin {where}, from its next start on")
    return 0


class _Refused(Exception):
    pass


def _changes(options: "Namespace") -> "Iterator[Change]":
    """With `--hook` what is written without it goes, and the other way round."""
    from odin_lsp.connecting import changing
    from odin_lsp.connecting.agents import all_pieces, pieces
    from odin_lsp.connecting.json_text import Unsuitable
    from odin_lsp.errors import ToolError

    agent: Agent = options.agent
    scope: Scope = "user" if options.user else "project"
    wanted = () if options.remove else pieces(agent, scope, options.cwd, hook=options.hook)
    files = {it.file for it in wanted}
    unwanted = [it for it in all_pieces(agent, scope, options.cwd) if it.file not in files]
    for act, piece in (*((changing.connect, it) for it in wanted), *((changing.disconnect, it) for it in unwanted)):
        try:
            yield act(piece)
        except Unsuitable as error:
            raise _Refused(f"{piece.file}: {error}. {UNWRITTEN.capitalize()}; correct the file and try again") from None
        except ToolError as error:
            raise _Refused(f"{error}. {UNWRITTEN.capitalize()}") from None


def _shown(change: "Change") -> Iterator[str]:
    if not change.is_one:
        return
    before, after = change.before.text if change.before else "", change.after or ""
    how = "removed" if change.after is None else "new" if change.before is None else "changed"
    yield f"{change.file} ({how}):"
    lines: Sequence[str] = [*unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2)][2:]
    yield from (f"  {line}" for line in lines if not line.startswith("@@"))
    yield ""


def _around(options: "Namespace") -> str:
    from odin_lsp.connecting.agents import what_goes_around
    from odin_lsp.connecting.codex_sandbox import list_what_lifts

    lifted = list_what_lifts(options.cwd) if options.agent == "codex" else []
    found = f" Found: {'; '.join(lifted)}." if lifted else ""
    return f"Not reviewed: {what_goes_around(options.agent, hook=options.hook)}.{found}"


def _agreed() -> bool:
    return sys.stdin.isatty() and (ask_line("Write this? [y/N]") or "").lower() in ("y", "yes")
