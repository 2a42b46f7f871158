"""`odin-lsp permissions`: what a command would be told, and what the user no longer wants to be asked about."""

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odin_lsp.errors import RequestError
from odin_lsp.modes import MODES
from odin_lsp.printing import ask_line, print_json, print_lines, say

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from odin_lsp.brought import BroughtItem
    from odin_lsp.permissions.approvals import Approval

EXIT_CODES = {"allow": 0, "ask": 10, "deny": 20}
TRUST = "show what the workspace brings, and trust it in its current version; asks about each program and server"
RESTRICT = "stop trusting it: it can only tighten your settings; do not ask again"
EXITS = "exit codes: 0 allow, 10 ask, 20 deny, 2 bad usage"


def add_arguments(parser: "ArgumentParser", folder: Any) -> None:
    """`folder` is the type of an option that names one."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    about = "say whether a shell command would run, be asked about, or be refused; nothing runs"
    check = actions.add_parser("check", help=about, description=about, epilog=EXITS)
    check.add_argument("--mode", choices=list(MODES), default="edit")
    check.add_argument(
        "--config", type=Path, metavar="FILE", help="use FILE instead of your own settings, and ignore saved approvals"
    )
    check.add_argument("--cwd", type=folder, default=".", help="the workspace, and where the command would run")
    check.add_argument("--json", action="store_true", help="print one object: verdict, reason, commands")
    check.add_argument("words", nargs="+", metavar="COMMAND", help="behind --, best in quotes; - reads it from stdin")
    shown = actions.add_parser("list", help="list saved approvals: for a session, for a workspace, or always")
    shown.add_argument("--json", action="store_true", help="print a list of objects")
    trust = actions.add_parser("trust", help=TRUST, description=TRUST)
    trust.add_argument("--cwd", type=folder, default=".", help="the workspace")
    trust.add_argument("--yes", action="store_true", help="do not ask: trust settings and texts, and no program")
    trust.add_argument(
        "--agree", nargs="+", default=[], metavar="ITEM", help="programs and servers that may run, by name or id"
    )
    restrict = actions.add_parser("restrict", help=RESTRICT, description=RESTRICT)
    restrict.add_argument("--cwd", type=folder, default=".", help="the workspace")
    remove = actions.add_parser("remove", help="remove a saved approval")
    remove.add_argument("id", help="as `list` shows it")


def run(parser: "ArgumentParser", options: "Namespace") -> int:
    match options.action:
        case "check":
            return _check(parser, options)
        case "list":
            return _list(as_json=options.json)
        case "remove":
            return _remove(options.id)
        case "trust":
            return _trust(options)
        case _:
            return _restrict(options.cwd)


def _trust(options: "Namespace") -> int:
    """Show what the folder brings, and store what the person agrees to of it."""
    from odin_lsp.permissions.trust import Trust, told
    from odin_lsp.terminal.person import is_at_terminal

    trust, root = Trust(), options.cwd
    brought = trust.brought(root)
    print_lines(*(told(brought.items) or [f"{root}: brings nothing that would have to be trusted"]))
    alone = [it for it in brought.items if it.runs]
    try:
        agreed = [_named(word, alone) for word in options.agree]
    except RequestError as error:
        return _unchanged(error)
    if not options.agree and not options.yes and brought.items:
        if not is_at_terminal():
            return _unchanged("nobody is here to be asked; add --yes, or --agree with the programs that may run")
        if not _says_yes(f"Trust {root}, with its settings and texts as they are now?"):
            print_lines("nothing has changed")
            return 1
        agreed = [it.id for it in alone if _says_yes(f"Let this run: {it.what}?")]
    try:
        trust.decide(root, trusted=True, items=agreed, digest=brought.digest)
        trust.keep()
    except OSError as error:
        return _unchanged(error)
    except RequestError as error:
        return _unchanged(error)
    print_lines(f"{root}: its settings and texts are used, as they are now")
    for it in alone:
        if it.id not in agreed:
            print_lines(f"not agreed to: {it.what}", f"  to agree: odin-lsp permissions trust --agree {it.id}")
    return 0


def _named(word: str, items: "Sequence[BroughtItem]") -> str:
    """The id of the one that is meant. Two may have the same name, and only one of them was looked at."""
    found = [it.id for it in items if word in (it.id, it.name)]
    if len(found) == 1:
        return found[0]
    what = f"{len(found)} of these are called" if found else "none of these is called"
    ids = "".join(f"\n  {it.id}  {it.what}" for it in items if not found or it.id in found)
    raise RequestError(f"{what} {word}; --agree takes one of these ids:{ids}" if items else f"{what} {word}")


def _says_yes(question: str) -> bool:
    return (ask_line(f"{question} [y/N]") or "").lower() in ("y", "yes")


def _restrict(workspace: Path) -> int:
    from odin_lsp.permissions.trust import Trust

    trust = Trust()
    trust.decide(workspace, trusted=False)
    try:
        trust.keep()
    except OSError as error:
        return _unchanged(error)
    print_lines(f"{workspace}: its own settings are only used where they restrict")
    return 0


def _check(parser: "ArgumentParser", options: "Namespace") -> int:
    from odin_lsp import config
    from odin_lsp.commands.environment import program_search
    from odin_lsp.config import roles
    from odin_lsp.permissions.approvals import Approvals
    from odin_lsp.permissions.rules import COMMANDS, Rules
    from odin_lsp.permissions.shell import judge
    from odin_lsp.permissions.trust import Trust

    if options.config is not None and not options.config.is_file():
        parser.error(f"{options.config} is no file")
    agreement = Trust().agreement(options.cwd)
    is_trusted = agreement.standing == "trusted"
    settings, problems = config.load(options.cwd, user=options.config, agreed=agreement.agreed)
    for problem in problems:
        say(str(problem))
    command = " ".join(options.words)
    if command == "-":
        command = sys.stdin.buffer.read().decode("utf-8", "surrogateescape").removesuffix("\n")
    mode = MODES[options.mode]
    approved = Approvals().patterns(COMMANDS, options.cwd, mode) if options.config is None else ()
    settings = roles.in_role(settings, roles.chosen(settings))
    rules = Rules.of(settings, root=options.cwd, approved=approved)
    roots = [options.cwd]
    search = program_search(os.environ, options.cwd, roots, roots if is_trusted else [])
    verdict = judge(command, mode=mode, cwd=options.cwd, roots=roots, rules=rules, search=search)
    if options.json:
        commands = [{"program": it.program, "argv": it.argv} for it in verdict.commands]
        print_json({"verdict": verdict.decision, "reason": verdict.reason, "commands": commands})
    else:
        print_lines(f"{verdict.decision}: {verdict.reason}")
    return EXIT_CODES[verdict.decision]


def _list(*, as_json: bool) -> int:
    from odin_lsp.permissions.approvals import Approvals

    found = Approvals().all()
    if as_json:
        print_json([_as_object(it) for it in found])
    else:
        for it in found:
            print_lines(f"{it.id}  {it.tool}  {it.pattern}  ({_where(it)}, since {it.when})")
    return 0


def _where(approval: "Approval") -> str:
    return "in one session" if approval.session is not None else approval.workspace or "everywhere"


def _remove(approval_id: str) -> int:
    from odin_lsp.permissions.approvals import Approvals

    try:
        gone = Approvals().remove(approval_id)
    except OSError as error:
        return _unchanged(error)
    if gone is None:
        say(f"there is no {approval_id}; `odin-lsp permissions list` shows what there is")
        return 1
    print_lines(f"removed: {gone.tool}  {gone.pattern}")
    return 0


def _unchanged(why: object) -> int:
    say(f"nothing has changed: {why}")
    return 1


def _as_object(approval: "Approval") -> dict[str, Any]:
    return {"id": approval.id, **asdict(approval)}
