"""`odin-lsp host`: the Odins that terminals can use, those of editors and those that terminals have started."""

import signal
from typing import TYPE_CHECKING, Any

from odin_lsp.printing import print_lines, say

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

ABOUT = {
    "list": "show which workspaces have one",
    "stop": "stop those that terminals have started; without --cwd all of them",
    "run": "be one, for a workspace; terminals start it so",
}
NO_WORKSPACE = "odin: no workspace has one"
NOTHING = "odin: there is none that a terminal has started"


def add_arguments(parser: "ArgumentParser", folder: Any) -> None:
    """`folder` is the type of an option that names one."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, about in ABOUT.items():
        command = actions.add_parser(name, help=about, description=about)
        if name != "list":
            command.add_argument("--cwd", type=folder, default="." if name == "run" else None, help="the workspace")


def run(options: "Namespace") -> int:
    match options.action:
        case "list":
            return _list()
        case "stop":
            return _stop(options)
        case _:
            from odin_lsp.server.resident import serve

            return serve(options.cwd)


def _list() -> int:
    from odin_lsp.host import place

    owners = list(place.owners())
    for it in owners:
        of_whom = "started by a terminal" if it.is_resident else "of an editor"
        print_lines(f"{it.root}  {of_whom}, version {it.version}, process {it.pid}")
    if not owners:
        say(NO_WORKSPACE)
    return 0


def _stop(options: "Namespace") -> int:
    from odin_lsp.host import place

    found = [it for it in place.owners() if it.is_resident and options.cwd in (None, _folder(it.root))]
    stopped = [it for it in found if place.tell(it, signal.SIGTERM)]
    if not stopped:
        say(NOTHING)
    return 0 if stopped else 1


def _folder(name: str) -> Any:
    from pathlib import Path

    return Path(name)
