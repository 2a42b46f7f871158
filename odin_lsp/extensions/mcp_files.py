"""Which MCP servers there are, as the files of Odin, Claude Code and VS Code say."""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import astuple, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from odin_lsp.brought import MAX_WORDS, BroughtItem, identify, shortened
from odin_lsp.extensions.front_matter import Misunderstood
from odin_lsp.extensions.json_files import object_of
from odin_lsp.extensions.places import Brought
from odin_lsp.named_files import LookupBudget, named_files
from odin_lsp.redaction import is_secret_variable
from odin_lsp.values import is_list, is_object
from odin_lsp.workspace.uris import printable

Layer = Literal["user", "project", "client"]
"""Who names a server: a file of the user's, one of the project's, or whatever the user has started Odin from."""
NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,60}")
MAX_SERVERS = 50
"""Of one file: nobody could judge more of them."""
_VARIABLE = re.compile(r"\$\{(?:env:)?(?P<name>\w+)(?::-(?P<default>[^}]*))?\}")


@dataclass(frozen=True, slots=True)
class OAuthClient:
    """As whom Odin logs in. Without an id it is registered by the server."""

    id: str = ""
    secret: str = ""
    callback_port: int = 0
    """That the server knows; 0: any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """Texts are as they are written; `${NAME}` in them is filled in when the server is started."""

    name: str
    transport: Literal["stdio", "http", "sse"]
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    oauth: OAuthClient = OAuthClient()
    timeout: float | None = None
    source: Path = Path()
    layer: Layer = "client"
    agreed_as: str = ""
    """Of a project's: the id of what the user has agreed to."""

    @property
    def identity(self) -> str:
        """What a rule, an approval, a pin and a permitted variable are bound to: who names the server, and all that
        decides what it does. Its name says neither."""
        content = self.agreed_as or identify("server", _effective_entry(self), {})
        return identify("server", [self.layer, str(self.source), content], {})

    @property
    def origin(self) -> tuple[str, str]:
        """Who names it, and where."""
        return self.layer, str(self.source)

    @property
    def login_holder(self) -> str:
        """Whom a login is kept for: a project's server has none of the user's own server of that name."""
        return f"{self.name} {self.identity}" if self.layer == "project" else self.name

    def filled(
        self,
        text: str,
        environ: Mapping[str, str],
        root: Path,
        *,
        permitted: Collection[str] | None = None,
        secret_names: Collection[str] = (),
    ) -> str:
        """With variables of the environment and the folder. Raises `Misunderstood` for one that is not set, and for a
        key in the entry of a project. Of these `permitted` are filled in; once the user has said which, defaults stand
        for the others."""

        def value(found: re.Match[str]) -> str:
            name, default = found["name"], found.groupdict()["default"]
            if name == "workspaceFolder":
                return str(root)
            is_kept_back = self.layer == "project" and name not in (permitted or ())
            if is_kept_back and is_secret_variable(name, environ, secret_names):
                if default is not None and (permitted is not None or name not in environ):
                    return default
                raise Misunderstood(self._kept_back(name))
            if name not in environ and default is None:
                raise Misunderstood(f"the variable {name} is not set; set it before you start the editor")
            return environ.get(name, default or "")

        return _VARIABLE.sub(value, text)

    def _kept_back(self, name: str) -> str:
        setting = json.dumps({"mcp": {"variables": {self.identity: [name]}}})[1:-1]
        return (
            f"the variable {name} looks like a key, and keys are not filled into servers that a project brings; if "
            f"this server may have it, write {setting} into your own settings"
        )


def _effective_entry(server: McpServer) -> dict[str, object]:
    """All that decides what it does, without who names it and where."""
    apart = ("source", "layer", "agreed_as")
    said = {it.name: getattr(server, it.name) for it in fields(server) if it.name not in apart}
    return {**said, "oauth": astuple(server.oauth)}


def describe_server(server: McpServer, root: Path, budget: LookupBudget | None = None) -> BroughtItem:
    """Describe a project's server as it takes effect now, with the files that its command names. Raises
    `TooManyNames`."""
    words = (server.command, *server.args)
    files = named_files(root, " ".join(words), *words, *server.env.values(), cwd=server.cwd, budget=budget)
    values = (*words, server.cwd, server.url, *server.env.values(), *server.headers.values())
    filled_in = (found["name"] for text in values for found in _VARIABLE.finditer(text))
    where = " ".join(words).strip() or server.url
    return BroughtItem(
        id=identify("server", _effective_entry(server), files),
        kind="server",
        name=server.name,
        what=f"{server.name}: {where}",
        program=" ".join(words) if server.command else None,
        address=server.url or None,
        variables=tuple(dict.fromkeys((*server.env, *(it for it in filled_in if it != "workspaceFolder")))),
        file=printable(str(server.source.relative_to(root.resolve()))),
        includes=tuple(files),
    )


def servers_of(file: Brought) -> tuple[list[McpServer], list[str]]:
    """Those that make sense, and what is wrong with the others. Raises `Misunderstood`."""
    content = object_of(file)
    entries = content.get("mcpServers", content.get("servers", {}))
    if not is_object(entries):
        raise Misunderstood("`mcpServers` must be an object, with the names of servers as keys")
    if len(entries) > MAX_SERVERS:
        raise Misunderstood(f"it has {len(entries):,} servers; at most {MAX_SERVERS} of one file are read")
    servers: list[McpServer] = []
    problems: list[str] = []
    for name, entry in entries.items():
        try:
            servers.append(_server(name, entry, file.path, file.owner))
        except Misunderstood as error:
            problems.append(f"{shortened(name)}: {error}")
    if len(servers) > MAX_SERVERS:
        problems.append(f"{len(servers):,} servers: only the first {MAX_SERVERS} are used")
    return servers[:MAX_SERVERS], problems


def _server(name: str, entry: Any, source: Path, layer: Layer) -> McpServer:
    if not NAME.fullmatch(name):
        raise Misunderstood("a server's name must have letters, digits, `-`, `_` and `.` only")
    if not is_object(entry):
        raise Misunderstood("an object is wanted, with `command` or `url`")
    url = _text(entry, "url") or _text(entry, "httpUrl")
    command, args = entry.get("command", ""), entry.get("args", [])
    if is_list(command):  # the program and its arguments in one
        command, args = (command or [""])[0], [*command[1:], *(args if is_list(args) else [])]
    if not isinstance(command, str) or not is_list(args):
        raise Misunderstood("`command` must be a text and `args` a list")
    if bool(command) == bool(url):
        raise Misunderstood("it needs `command`, or else `url`")
    if "${input:" in str(entry):
        raise Misunderstood("it asks for `${input:…}`, which only VS Code fills in; use a variable: `${NAME}`")
    if len(str(entry)) > MAX_WORDS:
        raise Misunderstood(f"it has more than {MAX_WORDS:,} characters; put `command` and `args` into a script")
    kind = _text(entry, "type")
    return McpServer(
        name=name,
        transport="stdio" if command else "sse" if kind == "sse" else "http",
        command=command,
        args=tuple(map(str, args)),
        env=_texts(entry, "env"),
        cwd=_text(entry, "cwd"),
        url=url,
        headers=_texts(entry, "headers"),
        oauth=_client(entry),
        timeout=entry["timeout"] if isinstance(entry.get("timeout"), int | float) else None,
        source=source,
        layer=layer,
    )


def _client(entry: Mapping[str, Any]) -> OAuthClient:
    """Others know `oauth: false` too. Odin logs in only where it is told to."""
    said: Any = entry.get("oauth")
    if not said:
        return OAuthClient()
    if not is_object(said):
        raise Misunderstood("`oauth` must be an object, with `clientId`")
    port = said.get("callbackPort", 0)
    if not isinstance(port, int) or not 0 <= port < 2**16:
        raise Misunderstood("`oauth.callbackPort` must be the number of a port")
    return OAuthClient(_text(said, "clientId"), _text(said, "clientSecret"), port)


def _text(entry: Mapping[str, Any], key: str) -> str:
    value = entry.get(key, "")
    if not isinstance(value, str):
        raise Misunderstood(f"`{key}` must be a text")
    return value


def _texts(entry: Mapping[str, Any], key: str) -> Mapping[str, str]:
    value: object = entry.get(key, {})
    if not is_object(value):
        raise Misunderstood(f"`{key}` must be an object of texts")
    return {name: str(it) for name, it in value.items()}
