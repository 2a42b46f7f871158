"""`odin-lsp mcp`: add, remove, list and try out MCP servers, and log in to them; and be one."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    from odin_lsp.values import is_object

    file: Path = options.cwd / FOLDER / "mcp.json" if options.project else user_file().parent / "mcp.json"
    try:
        content: Any = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    except ValueError as error:
        return _fail(f"{file} cannot be changed by a program ({error}); edit it yourself")
    key = "servers" if is_object(content) and "servers" in content and "mcpServers" not in content else "mcpServers"
    servers: Any = content.get(key, {}) if is_object(content) else None
    if not is_object(servers):
        return _fail(f"{file} has no object of servers; edit it yourself")
    if entry is None and options.name not in servers:
        return _fail(f"{file} has no server {options.name!r}")
    servers = {name: it for name, it in servers.items() if name != options.name or entry is not None}
    if entry is not None:
        servers[options.name] = entry
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({**content, key: servers}, indent=2, ensure_ascii=False)
        private_files.replace_file(file, [f"{text}\n".encode()])
    except OSError as error:
        return _fail(f"{file} cannot be written: {error.strerror}")
    sys.stdout.write(f"{'removed from' if entry is None else 'added to'} {file}\n")
    if options.project:
        sys.stderr.write(f"{TRUST}\n")
    return 0


def _list(options: "Namespace") -> int:
    from odin_lsp.cli.extensions import STATES

    found = [it for it in _situation(options).extensions.listed if it.kind == "mcp"]
    for it in found:
        why = STATES.get(it.state, "")
        sys.stdout.write(f"{it.name}: {it.description}\n  {it.source}\n" + (f"  {why}\n" if why else ""))
    if not found:
        sys.stdout.write("there are no MCP servers; `odin-lsp mcp add` adds one\n")
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
        said = "".join(f"  {line}\n" for line in trial.complaints.splitlines())
        sys.stdout.write(f"✗ {trial.problem}\n{said}")
        return 1
    memory = f", {trial.memory // 2**20} MiB" if trial.memory is not None else ""
    sys.stdout.write(f"✓ {server.name}: {trial.seconds:.1f} s{memory}, protocol {trial.version}\n")
    for it in trial.tools:
        sys.stdout.write(f"  {it.name}: {it.description.partition(chr(10))[0][:100]}\n")
    for why in trial.left_out:
        sys.stdout.write(f"  • {why}\n")
    return 0


def _login(options: "Namespace") -> int:
    import webbrowser

    from odin_lsp.agent.toolbox import around_mcp
    from odin_lsp.errors import ToolError
    from odin_lsp.mcp.connection import NOT_INSTALLED

    try:
        from odin_lsp.mcp.login import log_in
    except ImportError:
        return _fail(NOT_INSTALLED)

    def show(address: str) -> None:
        sys.stdout.write(f"Log in in your browser. If it does not open, open this address:\n\n{address}\n\n")
        sys.stdout.flush()
        webbrowser.open(address)

    now = _situation(options)
    server = _found(now, options.name)
    if server is None:
        return 1
    try:
        tools = run_to_end(log_in(server, around_mcp(now), show))
    except ToolError as error:
        return _fail(str(error))
    sys.stdout.write(f"✓ logged in to {server.name}, which has {tools} tools\n")
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
        was_there = logins.forget(server.name, filled(server, around_mcp(now), server.url))
    except (ToolError, OSError) as error:
        return _fail(str(error))
    if not was_there:
        return _fail(f"Odin is not logged in to {server.name}")
    sys.stdout.write(f"the login to {server.name} is forgotten\n")
    return 0


def _found(now: "Situation", name: str) -> "McpServer | None":
    """Says why there is none."""
    extensions = now.extensions
    if name in extensions.servers:
        return extensions.servers[name]
    listed = next((it for it in extensions.listed if (it.kind, it.name) == ("mcp", name)), None)
    known = ", ".join(extensions.servers) or "none"
    _fail(f"{name} is {listed.state}" if listed else f"there is no server {name!r}; there are {known}")
    return None


def _situation(options: "Namespace") -> "Situation":
    from odin_lsp.project.project import Project, Told

    return Project(Told(roots=(options.cwd,))).now


def _fail(why: str) -> int:
    sys.stderr.write(f"odin: {why}\n")
    return 1
