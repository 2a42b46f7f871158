"""`odin-lsp chat`: a conversation on a terminal."""

from typing import TYPE_CHECKING, Any

from odin_lsp.modes import MODES

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

ABOUT = "talk with Odin: ask, plan and edit in one session"
LAST, CHOOSE = "", "?"
"""In place of an id."""


def add_arguments(parser: "ArgumentParser") -> None:
    sessions = parser.add_mutually_exclusive_group()
    sessions.add_argument(
        "--continue", dest="resume", action="store_const", const=LAST, help="continue the last session"
    )
    sessions.add_argument(
        "--resume", metavar="ID", nargs="?", const=CHOOSE, help="continue a session; without an id, choose from a list"
    )
    parser.add_argument("--mode", choices=tuple(MODES), default="edit", help="the mode to start in (edit)")


def run(options: "Namespace", settings: dict[str, Any]) -> int:
    from odin_lsp.terminal.chat import Options, run

    return run(
        Options(
            cwd=options.cwd,
            policy=options.policy or "ask",
            mode=MODES[options.mode],
            settings=settings,
            resume=options.resume,
            attaches=options.attaches,
        )
    )
