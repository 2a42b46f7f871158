"""`odin-lsp mcp`: add, remove, list and try out MCP servers, and log in to them; and be one."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odin_lsp.display import shown_line
from odin_lsp.printing import fail, print_lines, say
from odin_lsp.tasks import run_to_end

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from odin_lsp.extensions.mcp_files import McpServer
    from odin_lsp.project.project import Situation

ACTIONS = {
    "add": "add a server to your `mcp.json`, or replace it",
    "remove": "remove a server that was added",
    "list": "list the servers that were found, and why some are not used",
    "test": "start a server, and list its tools",
    "serve": "serve Odin's reading and reviewed edits to an agent of others, over stdin and stdout",
    "login": "log in to a server in your browser",
    "logout": "forget a login",
}
TRUST = "odin: this changes what the project brings: Odin asks before it is used"


def add_arguments(parser: "ArgumentParser", folder: Any) -> None:
    """`folder` is the type of an option that names one."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for action, about in ACTIONS.items():
        part = actions.add_parser(action, help=about, description=about)
        part.add_argument("--cwd", type=folder, default=".", help="the workspace")
        if action in ("add", "remove"):
            part.add_argument("--project", action="store_true", help="in `.odin/mcp.json` of the workspace instead")
        if action == "add":
            part.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="a variable it gets")
            part.add_argument("--header", action="append", default=[], metavar="NAME=VALUE", help="for an address")
            part.add_argument("--client-id", metavar="ID", help="for a login: a client that the server knows")
            part.add_argument("--callback-port", type=int, metavar="PORT", help="for a login: the port of that client")
            part.add_argument("--sse", action="store_true", help="the address speaks the old SSE")
        if action not in ("list", "serve"):
            part.add_argument("name")
        if action == "add":
            part.add_argument("what", nargs="+", metavar="COMMAND", help="behind --: a command line, or an address")


def run(parser: "ArgumentParser", options: "Namespace") -> int:
    match options.action:
        case "add":
            return _change(options, _entry(parser, options))
        case "remove":
            return _change(options, None)
        case "list":
            return _list(options)
        case "test":
            return _test(options)
        case "serve":
            return _serve(options)
        case action:
            return _login(options) if action == "login" else _logout(options)


def _serve(options: "Namespace") -> int:
    from odin_lsp.cli import door
    from odin_lsp.mcp_door.server import Server

    return door.run(lambda send: Server(options.cwd, send), options.log_level)


def _entry(parser: "ArgumentParser", options: "Namespace") -> dict[str, Any]:
    from odin_lsp.extensions.mcp_files import NAME

    if not NAME.fullmatch(options.name):
        parser.error("a server's name must have letters, digits, `-`, `_` and `.` only")
    pairs: dict[str, dict[str, str]] = {}
    for kind in ("env", "header"):
        for text in getattr(options, kind):
            name, equals, value = text.partition("=")
            if not equals or not name:
                parser.error(f"--{kind} {text}: NAME=VALUE is wanted")
            pairs.setdefault(kind, {})[name] = value
    first, *rest = options.what
    if first.startswith(("http://", "https://")):
        headers = {"headers": pairs["header"]} if "header" in pairs else {}
        said = {"clientId": options.client_id, "callbackPort": options.callback_port}
        client = {name: it for name, it in said.items() if it}
        oauth = {"oauth": client} if client else {}
        return {"type": "sse" if options.sse else "http", "url": first, **headers, **oauth}
    env = {"env": pairs["env"]} if "env" in pairs else {}
    return {"command": first, "args": rest, **env}


def _change(options: "Namespace", entry: dict[str, Any] | None) -> int:
    """The file's other content stays as it is."""
    from odin_lsp import private_files
    from odin_lsp.config import FOLDER, user_file
    from odin_lsp.config.loading import MAX_FILE_BYTES
    from odin_lsp.foreign_data import ForeignDataError, parse_foreign_json
    from odin_lsp.reading import start_of
    from odin_lsp.values import is_object

    file: Path = options.cwd / FOLDER / "mcp.json" if options.project else user_file().parent / "mcp.json"
    try:
        text = start_of(file, MAX_FILE_BYTES + 1) if file.exists() else b"{}"
        if text is None or len(text) > MAX_FILE_BYTES:
            return fail(f"{file} is not an ordinary file of at most 1 MiB; edit it yourself")
        content: Any = parse_foreign_json(text.decode())
    except OSError as error:
        return fail(f"{file} cannot be read: {error.strerror}")
    except (ForeignDataError, UnicodeDecodeError) as error:
        return fail(f"{file} cannot be changed by a program ({error}); edit it yourself")
    key = "servers" if is_object(content) and "servers" in content and "mcpServers" not in content else "mcpServers"
    servers: Any = content.get(key, {}) if is_object(content) else None
    if not is_object(servers):
        return fail(f"{file} has no object of servers; edit it yourself")
    if entry is None and options.name not in servers:
        return fail(f"{file} has no server {options.name!r}")
    servers = {name: it for name, it in servers.items() if name != options.name or entry is not None}
    if entry is not None:
        servers[options.name] = entry
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({**content, key: servers}, indent=2, ensure_ascii=False)
        private_files.replace_file(file, [f"{text}\n".encode()])
    except OSError as error:
        return fail(f"{file} cannot be written: {error.strerror}")
    print_lines(f"{'removed from' if entry is None else 'added to'} {file}")
    if options.project:
        say(TRUST)
    return 0


def _list(options: "Namespace") -> int:
    from odin_lsp.cli.extensions import STATES
    from odin_lsp.permissions.foreign_names import server_prefix

    extensions = _situation(options).extensions
    found = [it for it in extensions.listed if it.kind == "mcp"]
    for it in found:
        why = STATES.get(it.state, "")
        server = extensions.servers.get(it.name) if it.state == "on" else None
        known = [f"  tools: {server_prefix(it.name)}__…, id: {server.identity}"] if server else []
        print_lines(f"{it.name}: {it.description}", f"  {it.source}", *known, *([f"  {why}"] if why else []))
    if not found:
        print_lines("there are no MCP servers; `odin-lsp mcp add` adds one")
    return 0


def _test(options: "Namespace") -> int:
    from odin_lsp.agent.toolbox import around_mcp
    from odin_lsp.mcp.trying import try_out

    now = _situation(options)
    server = _found(now, options.name)
    if server is None:
        return 1
    [trial] = run_to_end(try_out([server], around_mcp(now)))
    if trial.problem:
        print_lines(f"✗ {trial.problem}", *(f"  {line}" for line in trial.complaints.splitlines()))
        return 1
    memory = f", {trial.memory // 2**20} MiB" if trial.memory is not None else ""
    print_lines(f"✓ {server.name}: {trial.seconds:.1f} s{memory}, protocol {trial.version}")
    print_lines(*(f"  {it.name}: {shown_line(it.description.partition(chr(10))[0], 100)}" for it in trial.tools))
    print_lines(*(f"  • {why}" for why in trial.left_out))
    return 0


def _login(options: "Namespace") -> int:
    import webbrowser

    from odin_lsp.agent.toolbox import around_mcp
    from odin_lsp.errors import ToolError
    from odin_lsp.mcp.connection import NOT_INSTALLED

    try:
        from odin_lsp.mcp.login import log_in
    except ImportError:
        return fail(NOT_INSTALLED)

    def show(address: str) -> None:
        print_lines("Log in in your browser. If it does not open, open this address:", "", address, "")
        sys.stdout.flush()
        webbrowser.open(address)

    now = _situation(options)
    server = _found(now, options.name)
    if server is None:
        return 1
    try:
        tools = run_to_end(log_in(server, around_mcp(now), show))
    except ToolError as error:
        return fail(str(error))
    print_lines(f"✓ logged in to {server.name}, which has {tools} tools")
    return 0


def _logout(options: "Namespace") -> int:
    from odin_lsp.agent.toolbox import around_mcp
    from odin_lsp.errors import ToolError
    from odin_lsp.mcp import logins
    from odin_lsp.mcp.connection import filled

    now = _situation(options)
    server = _found(now, options.name)
    if server is None:
        return 1
    try:
        was_there = logins.forget(server.login_holder, filled(server, around_mcp(now), server.url))
    except (ToolError, OSError) as error:
        return fail(str(error))
    if not was_there:
        return fail(f"Odin is not logged in to {server.name}")
    print_lines(f"the login to {server.name} is forgotten")
    return 0


def _found(now: "Situation", name: str) -> "McpServer | None":
    """Says why there is none."""
    extensions = now.extensions
    if name in extensions.servers:
        return extensions.servers[name]
    listed = next((it for it in extensions.listed if (it.kind, it.name) == ("mcp", name)), None)
    known = ", ".join(extensions.servers) or "none"
    fail(f"{name} is {listed.state}" if listed else f"there is no server {name!r}; there are {known}")
    return None


def _situation(options: "Namespace") -> "Situation":
    from odin_lsp.project.project import Project, Told

    return Project(Told(roots=(options.cwd,))).now
