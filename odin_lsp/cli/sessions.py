"""`odin-lsp sessions`: look at earlier conversations, find, export, change, fork and delete them."""

import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odin_lsp.display import shown_line
from odin_lsp.printing import fail, print_exactly, print_json, print_lines, print_text, say

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable

    from odin_lsp.sessions.listing import SessionSummary
    from odin_lsp.sessions.session import Session

ABOUT = {
    "list": "show the sessions of a workspace, the newest first",
    "search": "show those in which something was asked or answered",
    "show": "print a session as text",
    "export": "write a session as one file",
    "rename": "give a session another title",
    "note": "add a text to what the model reads next, without asking it",
    "remove-last": "remove the last message from what the model reads",
    "clear": "delete all messages of a session",
    "fork": "copy a session, or all of it before a message",
    "delete": "delete a session permanently",
}
MOST = 100


def add_arguments(parser: "ArgumentParser", folder: Any) -> None:
    """`folder` is the type of an option that names one."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    commands = {name: actions.add_parser(name, help=about, description=about) for name, about in ABOUT.items()}
    for name, command in commands.items():
        command.add_argument("--cwd", type=folder, default=".", help="the workspace")
        if name not in ("list", "search"):
            command.add_argument("id", help="as `list` shows it; its beginning is enough")
    commands["search"].add_argument("words", nargs="+", metavar="WORD")
    for name in ("list", "search"):
        commands[name].add_argument("--json", action="store_true", help="print a list of objects")
        commands[name].add_argument("--limit", type=int, default=MOST, metavar="N", help=f"at most so many ({MOST})")
    commands["export"].add_argument("--format", choices=("markdown", "html", "json"), default="markdown")
    commands["export"].add_argument("--output", type=Path, metavar="FILE", help="a new file; without it: stdout")
    commands["rename"].add_argument("title", nargs="+")
    commands["note"].add_argument("text", nargs="+")
    commands["fork"].add_argument(
        "--message", type=int, metavar="N", help="copy only what comes before your message N (the first is 0)"
    )
    commands["delete"].add_argument(
        "--yes", action="store_true", help="confirm that the session is deleted permanently"
    )


def run(parser: "ArgumentParser", options: "Namespace") -> int:
    from odin_lsp.errors import SessionError
    from odin_lsp.sessions.store import sessions_folder

    if options.action == "delete" and not options.yes:
        parser.error("deleting a session is permanent; add --yes to confirm")
    try:
        _run(options, sessions_folder(options.cwd))
    except SessionError as error:
        return fail(str(error))
    return 0


def _run(options: "Namespace", folder: Path) -> None:
    from odin_lsp.sessions import listing, search

    match options.action:
        case "list":
            _list(islice(listing.summaries(folder), max(0, options.limit)), as_json=options.json)
        case "search":
            found = search.search(folder, " ".join(options.words))
            _list(islice(found, max(0, options.limit)), as_json=options.json)
        case _:
            _change(options, folder, listing.named(folder, options.id))


def _change(options: "Namespace", folder: Path, session_id: str) -> None:
    from odin_lsp.sessions import export
    from odin_lsp.sessions.forking import fork
    from odin_lsp.sessions.session import Session
    from odin_lsp.sessions.store import delete_log

    match options.action:
        case "show":
            for piece in export.exported(folder, session_id, "markdown"):
                print_text(piece)
        case "export" if options.output:
            export.export_to(folder, session_id, options.format, options.output.absolute(), is_own=False)
        case "export":
            put = print_exactly if options.format == "json" else print_text
            for piece in export.exported(folder, session_id, options.format):
                put(piece)
        case "rename":
            session = Session.resume(folder, session_id)
            session.rename(" ".join(options.title))
            session.close()
        case "note" | "remove-last" | "clear":
            _put_in_order(options, Session.resume(folder, session_id))
        case "fork":
            new_id, draft = fork(folder, session_id, options.message)
            print_lines(new_id)
            if draft is not None:
                say(f"left out: {draft}")
        case _:
            delete_log(folder, session_id)


def _put_in_order(options: "Namespace", session: "Session") -> None:
    from odin_lsp.messages import user

    match options.action:
        case "note":
            session.append(user(" ".join(options.text)))
        case "clear":
            session.clear()
        case _ if session.remove_last() is None:
            say("odin: there is no message in it")
        case _:
            pass
    session.close()


def _list(found: "Iterable[SessionSummary]", *, as_json: bool) -> None:
    from odin_lsp.values import to_wire

    if as_json:
        print_json([to_wire(it) for it in found])
        return
    for it in found:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(it.updated_at))
        state = " (open)" if it.locked else ""
        print_lines(f"{it.session_id[:12]}  {when}  {it.messages:4}  {shown_line(it.title)}{state}")
        print_lines(*([f"    {it.excerpt}"] if it.excerpt else []))
