"""`odin-lsp permissions`: what a command would be told, and what the user no longer wants to be asked about."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odin_lsp.modes import MODES

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from odin_lsp.permissions.approvals import Approval

EXIT_CODES = {"allow": 0, "ask": 10, "deny": 20}
TRUST = {
    "trust": "trust the workspace's odinconfig.json in its current version",
    "restrict": "stop trusting it: it can only tighten your settings; do not ask again",
}
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
    for action, about in TRUST.items():
        trust = actions.add_parser(action, help=about, description=about)
        trust.add_argument("--cwd", type=folder, default=".", help="the workspace")
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
        case _:
            return _trust(options.cwd, trusted=options.action == "trust")


def _trust(workspace: Path, *, trusted: bool) -> int:
    from odin_lsp.permissions.trust import Trust

    trust = Trust()
    trust.decide(workspace, trusted=trusted)
    try:
        trust.keep()
    except OSError as error:
        return _not_kept(error)
    word = "used, as they are now" if trusted else "only used where they restrict"
    sys.stdout.write(f"{workspace}: its own settings are {word}\n")
    return 0


def _check(parser: "ArgumentParser", options: "Namespace") -> int:
    from odin_lsp import config
    from odin_lsp.config import roles
    from odin_lsp.permissions.approvals import Approvals
    from odin_lsp.permissions.rules import COMMANDS, Rules
    from odin_lsp.permissions.shell import judge
    from odin_lsp.permissions.trust import Trust

    if options.config is not None and not options.config.is_file():
        parser.error(f"{options.config} is no file")
    settings, problems = config.load(options.cwd, user=options.config, trusted=Trust().of(options.cwd) == "trusted")
    for problem in problems:
        sys.stderr.write(f"{problem}\n")
    command = " ".join(options.words)
    if command == "-":
        command = sys.stdin.buffer.read().decode("utf-8", "surrogateescape").removesuffix("\n")
    mode = MODES[options.mode]
    approved = Approvals().patterns(COMMANDS, options.cwd, mode) if options.config is None else ()
    settings = roles.in_role(settings, roles.chosen(settings))
    rules = Rules.of(settings, root=options.cwd, approved=approved)
    verdict = judge(command, mode=mode, cwd=options.cwd, roots=[options.cwd], rules=rules)
    if options.json:
        commands = [{"program": it.program, "argv": it.argv} for it in verdict.commands]
        _print(json.dumps({"verdict": verdict.decision, "reason": verdict.reason, "commands": commands}))
    else:
        _print(f"{verdict.decision}: {verdict.reason}")
    return EXIT_CODES[verdict.decision]


def _list(*, as_json: bool) -> int:
    from odin_lsp.permissions.approvals import Approvals

    found = Approvals().all()
    if as_json:
        _print(json.dumps([_as_object(it) for it in found]))
    else:
        for it in found:
            _print(f"{it.id}  {it.tool}  {it.pattern}  ({_where(it)}, since {it.when})")
    return 0


def _where(approval: "Approval") -> str:
    return "in one session" if approval.session is not None else approval.workspace or "everywhere"


def _remove(approval_id: str) -> int:
    from odin_lsp.permissions.approvals import Approvals

    try:
        gone = Approvals().remove(approval_id)
    except OSError as error:
        return _not_kept(error)
    if gone is None:
        sys.stderr.write(f"there is no {approval_id}; `odin-lsp permissions list` shows what there is\n")
        return 1
    _print(f"removed: {gone.tool}  {gone.pattern}")
    return 0


def _not_kept(error: OSError) -> int:
    sys.stderr.write(f"nothing has changed: {error}\n")
    return 1


def _as_object(approval: "Approval") -> dict[str, Any]:
    return {"id": approval.id, **asdict(approval)}


def _print(text: str) -> None:
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode() + "\n")
