"""Which MCP servers there are, as the files of Odin, Claude Code and VS Code say."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from odin_lsp.extensions.front_matter import Misunderstood
from odin_lsp.extensions.json_files import object_of
from odin_lsp.extensions.places import Brought
from odin_lsp.values import is_list, is_object

NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,60}")
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

    def filled(self, text: str, environ: Mapping[str, str], root: Path) -> str:
        """With variables of the environment and the folder. Raises `Misunderstood` for one that is not set."""

        def value(found: re.Match[str]) -> str:
            name, default = found["name"], found.groupdict()["default"]
            if name == "workspaceFolder":
                return str(root)
            if name not in environ and default is None:
                raise Misunderstood(f"the variable {name} is not set; set it before you start the editor")
            return environ.get(name, default or "")

        return _VARIABLE.sub(value, text)


def servers_of(file: Brought) -> tuple[list[McpServer], list[str]]:
    """Those that make sense, and what is wrong with the others. Raises `Misunderstood`."""
    content = object_of(file)
    entries = content.get("mcpServers", content.get("servers", {}))
    if not is_object(entries):
        raise Misunderstood("`mcpServers` must be an object, with the names of servers as keys")
    servers: list[McpServer] = []
    problems: list[str] = []
    for name, entry in entries.items():
        try:
            servers.append(_server(name, entry, file.path))
        except Misunderstood as error:
            problems.append(f"{name}: {error}")
    return servers, problems


def _server(name: str, entry: Any, source: Path) -> McpServer:
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
