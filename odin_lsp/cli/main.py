"""`odin-lsp`: the language server by default; also Ask, Plan and Edit in a terminal, their sessions, and a doctor."""

import locale
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odin_lsp import __version__, garbage, state_folder
from odin_lsp.printing import fail, report_crash

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from odin_lsp.logs import Level

EXITS = (
    "exit codes: 0 answered, 1 failed, 2 bad usage, 3 a limit was reached, 4 refused or denied, 130 interrupted, "
    "141 nobody reads the output any more"
)
READER_GONE = 141
"""As a shell tells of a program that was ended by `SIGPIPE`."""
NO_FOLDER = "the current folder was deleted; change to another one, or name one by --cwd"
ABOUT = {
    "ask": "ask about the code; nothing is changed",
    "plan": "plan a change; nothing is changed",
    "edit": "change the code",
    "continue": "continue the last turn of a session where it was cut off",
    "compact": "compact a session: replace old messages by a summary",
}
SAID = {
    **dict.fromkeys(
        ("ask", "plan", "edit"),
        "the prompt; without it, or with -, it is read from stdin; what is piped in is added to it. `!command` runs a "
        "command and adds what it prints",
    ),
    "compact": "what the summary should keep above all",
}
RUN = "run the steps of a plan, and tick them"
NO_HOST = "work in a process of its own, even if an editor has the workspace open"
YES = "accept all edits and allow everything that Odin asks for"


def main(arguments: Sequence[str] | None = None) -> int:
    if arguments is None:
        _settle_streams()
        _settle_encodings()
        sys.excepthook = report_crash
    state_folder.settle_home()
    if arguments is None and len(sys.argv) == 1 and not sys.stdin.isatty():
        return _serve()
    try:
        try:
            return _run(arguments)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        return READER_GONE
    except OSError as error:
        if error.filename is not None:
            raise
        _drop_output()
        return fail(f"the output cannot be written: {error.strerror}")


def _run(arguments: Sequence[str] | None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    parser = _parser(given[0] if given else "")
    options = parser.parse_args(given)
    match options.command:
        case "acp":
            from odin_lsp.cli import acp

            return acp.run(options)
        case "connect":
            from odin_lsp.cli import connect

            return connect.run(options)
        case "doctor":
            from odin_lsp.cli.doctor import diagnose

            return diagnose(options.cwd, sys.stdin.read() if options.editor else "{}")
        case "extensions":
            from odin_lsp.cli import extensions

            return extensions.run(options)
        case "hook":
            from odin_lsp.cli import hook

            return hook.run(options)
        case "hooks":
            from odin_lsp.cli import hooks

            return hooks.run(parser, options)
        case "init":
            from odin_lsp.cli import init

            return init.run(options)
        case "mcp":
            from odin_lsp.cli import mcp

            return mcp.run(parser, options)
        case "models":
            from odin_lsp.cli import models

            return models.run(options)
        case "neovim":
            from odin_lsp.cli import neovim

            return neovim.run()
        case "permissions":
            from odin_lsp.cli import permissions

            return permissions.run(parser, options)
        case "sessions":
            from odin_lsp.cli import sessions

            return sessions.run(parser, options)
        case "host":
            from odin_lsp.cli import host

            return host.run(options)
        case "undo":
            from odin_lsp.cli import undo

            return undo.run(options)
        case "chat":
            from odin_lsp.cli import chat

            return chat.run(options, _settings(options))
        case "completion":
            from odin_lsp.cli import completion

            return completion.run(parser, options)
        case "ask" | "plan" | "edit":
            return _turn(options, _prompt(parser, options))
        case "continue" | "compact":
            return _turn(options, " ".join(map(_typed, options.text)))
        case "run":
            return _turn(options, str(options.document))
        case _:
            if options.command is None and not options.stdio and sys.stdin.isatty():
                parser.print_help()
                return 0
            return _serve(getattr(options, "tcp", None), options.log_level)


def _drop_output() -> None:
    """Python flushes once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _settle_streams() -> None:
    """One that is missing is replaced by the empty one: no other file may get its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8"))


def _settle_encodings() -> None:
    """File names are UTF-8 to Odin, wherever it runs: in any other encoding there would be files that it cannot name.
    A terminal is spoken to in its own, and what that does not have is shown escaped."""
    as_utf_8 = ["-X", "utf8"]
    if sys.getfilesystemencoding() != "utf-8" and sys.executable:
        os.execv(sys.executable, [sys.executable, *as_utf_8, *sys.orig_argv[1:]])  # noqa: S606 - it is this program
    is_changed = sys.orig_argv[1:3] == as_utf_8 and "PYTHONIOENCODING" not in os.environ
    for stream, errors in ((sys.stdin, "replace"), (sys.stdout, "backslashreplace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding=locale.getencoding() if is_changed else None, errors=errors)


def _serve(tcp_port: int | None = None, log_level: "Level | None" = None) -> int:
    garbage.look_seldom()
    from odin_lsp.server.front_door import serve

    return serve(tcp_port, log_level)


def _parser(command: str) -> "ArgumentParser":
    """For all commands; if it is a turn that somebody waits for, for that alone."""
    from odin_lsp.cli.parsing import Parser  # editors start the server without it

    parser = Parser(prog="odin-lsp", description=__doc__, epilog=EXITS)
    parser.add_argument("--version", action="version", version=f"odin-lsp {__version__}")
    parser.add_argument("--stdio", action="store_true", help="serve over stdin and stdout (the default)")
    _add_log_level(parser, of_command=False)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    if command in ABOUT:
        _add_turn(commands.add_parser(command, help=ABOUT[command], description=ABOUT[command], epilog=EXITS), command)
    else:
        _add_all(commands)
    return parser


def _add_all(commands: Any) -> None:
    from odin_lsp.cli import (
        acp,
        chat,
        completion,
        connect,
        extensions,
        hook,
        hooks,
        host,
        init,
        mcp,
        models,
        neovim,
        permissions,
        sessions,
        undo,
    )

    server = commands.add_parser("serve", help="run the language server; editors start it so")
    server.add_argument("--stdio", action="store_true", help="over stdin and stdout (the default)")
    server.add_argument(
        "--tcp", metavar="PORT", type=int, help="on a loopback port instead, for debugging; 0 picks one"
    )
    _add_log_level(server)
    agent = commands.add_parser("acp", help=acp.ABOUT, description=acp.ABOUT)
    agent.add_argument("--no-host", dest="attaches", action="store_false", help=NO_HOST)
    _add_log_level(agent)
    conversation = commands.add_parser("chat", help=chat.ABOUT, description=chat.ABOUT)
    chat.add_arguments(conversation)
    _add_options(conversation)
    for name, about in ABOUT.items():
        _add_turn(commands.add_parser(name, help=about, description=about, epilog=EXITS), name)
    plan = commands.add_parser("run", help=RUN, description=RUN, epilog=EXITS)
    plan.add_argument("document", metavar="PLAN", type=Path, help="the document that `odin-lsp plan` has written")
    plan.add_argument(
        "--steps", metavar="N", type=int, nargs="+", help="only these steps; without it all that are open"
    )
    _add_one_shot(plan)
    init.add_arguments(commands.add_parser("init", help=init.ABOUT, description=init.ABOUT))
    models.add_arguments(commands.add_parser("models", help=models.ABOUT, description=models.ABOUT))
    doctor = commands.add_parser("doctor", help="check the installation and suggest fixes")
    doctor.add_argument("--cwd", type=_folder, default=".", help="the workspace")
    doctor.add_argument(
        "--editor", action="store_true", help="read an editor's initializationOptions from standard input, as JSON"
    )
    connect.add_arguments(commands.add_parser("connect", help=connect.ABOUT, description=connect.ABOUT), _folder)
    plugged = commands.add_parser("extensions", help="list skills, commands, agents, hooks and MCP servers")
    extensions.add_arguments(plugged, _folder)
    hook.add_arguments(commands.add_parser("hook", help=hook.ABOUT, description=hook.ABOUT))
    hooks.add_arguments(commands.add_parser("hooks", help="try what your hooks answer"), _folder)
    servers = commands.add_parser("mcp", help="add, remove, list and try out MCP servers, and log in")
    mcp.add_arguments(servers, _folder)
    commands.add_parser("neovim", help=neovim.ABOUT, description=f"{neovim.ABOUT}; {neovim.INSTALL}")
    rules = commands.add_parser(
        "permissions", help="test whether a command may run; manage saved approvals and workspace trust"
    )
    permissions.add_arguments(rules, _folder)
    logs = commands.add_parser("sessions", help="list, show, search, export, change, fork and delete sessions")
    sessions.add_arguments(logs, _folder)
    host.add_arguments(commands.add_parser("host", help="list and stop the Odins that terminals can use"), _folder)
    undo.add_arguments(commands.add_parser("undo", help="revert what a turn changed, or bring it back"), _folder)
    completion.add_arguments(commands.add_parser("completion", help="print a script that completes this in a shell"))


def _add_turn(parser: "ArgumentParser", name: str) -> None:
    said = SAID.get(name)
    if said is None:
        parser.set_defaults(text=())
    else:
        parser.add_argument("text", nargs="*", help=said)
    if name == "plan":
        parser.add_argument("--run", action="store_true", help="carry out the plan at once; you review its edits")
    if name == "ask":
        about = "an image or PDF that goes with the prompt; may be given several times"
        parser.add_argument("--image", metavar="FILE", type=Path, action="append", default=[], help=about)
    _add_one_shot(parser)


def _add_one_shot(parser: "ArgumentParser") -> None:
    parser.add_argument("--json", action="store_true", help="print each event as a line of JSON, the outcome last")
    about = "an earlier session; the beginning of its id is enough. `continue` and `compact`: else the last one"
    sessions = parser.add_mutually_exclusive_group()
    sessions.add_argument("--session", metavar="ID", help=about)
    sessions.add_argument("--new", action="store_true", help="a new session, not the one that your editor shows")
    _add_options(parser)


def _add_options(parser: "ArgumentParser") -> None:
    answers = parser.add_mutually_exclusive_group()
    answers.add_argument("--yes", dest="policy", action="store_const", const="yes", help=YES)
    answers.add_argument("--no", dest="policy", action="store_const", const="no", help="deny what Odin asks for")
    parser.add_argument(
        "--model", metavar="PROVIDER/MODEL", help="model to use; append @low, @medium or @high to set the effort"
    )
    parser.add_argument("--role", metavar="NAME", help="builder, planner, or one of your settings")
    parser.add_argument("--cwd", type=_folder, default=".", help="the workspace")
    parser.add_argument("--no-host", dest="attaches", action="store_false", help=NO_HOST)
    about = "maximum number of steps in this turn (0: unlimited)"
    parser.add_argument("--max-turns", type=int, metavar="N", help=about)
    parser.add_argument("--max-tokens", type=int, metavar="N", help="what the model may write in one step")
    parser.add_argument("--temperature", type=float, metavar="T", help="0 to 2: how freely the model chooses its words")
    parser.add_argument(
        "--max-budget", type=float, metavar="USD", help="maximum cost of this turn in dollars (0: unlimited)"
    )
    _add_log_level(parser)


def _add_log_level(parser: "ArgumentParser", *, of_command: bool = True) -> None:
    """It may stand before the command or behind it; what is left out behind it takes nothing back."""
    from argparse import SUPPRESS

    parser.add_argument(
        "--log-level",
        choices=("error", "warning", "info", "debug"),
        default=SUPPRESS if of_command else None,
        help="what is written to the log, stderr",
    )


def _prompt(parser: "ArgumentParser", options: "Namespace") -> str:
    from odin_lsp.cli import piped

    text = " ".join(map(_typed, options.text))
    if text in ("", "-"):
        if sys.stdin.isatty():
            parser.error(f'say what you want, for example: odin-lsp {options.command} "where is the entry point?"')
        return piped.read()
    return text if text.startswith("!") else piped.added_to(text)


def _turn(options: "Namespace", text: str) -> int:
    garbage.look_seldom()
    from odin_lsp.terminal.run import Options, run

    garbage.keep_what_is_there()
    return run(
        Options(
            task=options.command,
            text=text,
            cwd=options.cwd,
            policy=options.policy or "ask",
            json=options.json,
            session=options.session,
            settings=_settings(options),
            steps=getattr(options, "steps", None),
            then_run=getattr(options, "run", False),
            images=getattr(options, "image", ()),
            is_new=options.new,
            attaches=options.attaches and not (options.command == "run" and options.session),
        )
    )


def _typed(word: str) -> str:
    """Bytes that are not UTF-8 are what the terminal means by them."""
    try:
        word.encode()
    except UnicodeEncodeError:
        return os.fsencode(word).decode(locale.getencoding(), "replace")
    return word


def _settings(options: "Namespace") -> dict[str, Any]:
    """What the flags say, in the shape of `odinconfig.json`."""
    limits = {
        "maxTurns": options.max_turns,
        "maxBudgetUsd": options.max_budget,
        "maxTokens": options.max_tokens,
    }
    said = {
        "limits": _given(limits),
        "model": options.model or None,
        "role": options.role,
        "temperature": options.temperature,
        "logLevel": options.log_level,
    }
    return _given(said)


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _folder(name: str) -> Path:
    from argparse import ArgumentTypeError

    try:
        path = Path(name).resolve()
    except FileNotFoundError:
        raise ArgumentTypeError(NO_FOLDER) from None
    if not path.is_dir():
        raise ArgumentTypeError(f"{name} is not a folder")
    return path
