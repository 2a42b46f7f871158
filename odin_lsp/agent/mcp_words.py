"""What a message says to MCP servers: `/mcp__server__prompt words` is a prompt of theirs, `@server:uri` a resource."""

import re
import shlex
from collections.abc import Sequence

from odin_lsp.agent.quoting import quoted
from odin_lsp.errors import RequestError, ToolError
from odin_lsp.mcp.pool import McpServers
from odin_lsp.mcp.values import PromptDefinition
from odin_lsp.permissions.foreign_names import full_name, server_prefix
from odin_lsp.web.untrusted import fenced, visible

MAX_RESOURCES = 10
MAX_CHARS = 30_000
_RESOURCE = re.compile(r"(?<!\S)@(?P<server>[A-Za-z0-9][\w.-]*):(?P<uri>[^\s\"']+)")


async def prompt(name: str, arguments: str, servers: McpServers) -> tuple[str, ...]:
    """What a server makes of it; nothing, if no server has this name. Raises `RequestError`."""
    server = next((it for it in servers.names if name.startswith(f"{server_prefix(it)}__")), None)
    if server is None:
        return ()
    try:
        connection = await servers.of(server).connection()
        found = next((it for it in await connection.prompts() if full_name(server, it.name) == name), None)
        if found is None:
            raise RequestError(f"the MCP server {server} has no prompt /{name}")
        answered = await connection.prompt(found.name, _given(found, arguments, name))
    except ToolError as error:
        raise RequestError(str(error)) from None
    return (quoted("command", {"name": f"/{name}"}, visible(answered.text)[0][:MAX_CHARS]),)


async def resources(text: str, servers: McpServers) -> list[str]:
    """Those that the words mention, as they are now."""
    found = [(it["server"], it["uri"].rstrip(".,;:!?)")) for it in _RESOURCE.finditer(text)]
    told: list[str] = []
    for server, uri in list(dict.fromkeys(found))[:MAX_RESOURCES]:
        if server not in servers.names:
            continue
        try:
            answered = await servers.of(server).read(uri)
        except ToolError as error:
            raise RequestError(f"@{server}:{uri} cannot be read: {error}") from None
        content = fenced(visible(answered.text)[0][:MAX_CHARS], f"the MCP server {server}")
        if answered.images:
            content += f"\n({len(answered.images)} images were left out; ReadMcpResource shows them)"
        told.append(quoted("context", {"kind": "resource", "file": f"{server}:{uri}"}, content))
    return told


async def offered_prompts(servers: McpServers) -> list[tuple[str, str, str]]:
    """Of those servers that are ready: the name behind the slash, the description, and a hint of the arguments."""
    listed: list[tuple[str, str, str]] = []
    for server in servers.names:
        connection = servers.of(server).kept.server
        try:
            prompts: Sequence[PromptDefinition] = await connection.prompts() if connection else ()
        except ToolError:
            continue
        for it in prompts:
            hint = " ".join(arg.name if arg.is_required else f"[{arg.name}]" for arg in it.arguments)
            listed.append((full_name(server, it.name), visible(it.description)[0], visible(hint)[0]))
    return listed


def _given(prompt: PromptDefinition, text: str, name: str) -> dict[str, str]:
    """Word by word; the last argument is all that is left."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    count = len(prompt.arguments)
    if count and len(words) > count:
        words = [*words[: count - 1], " ".join(words[count - 1 :])]
    given = {it.name: word for it, word in zip(prompt.arguments, words, strict=False)}
    missing = [it.name for it in prompt.arguments if it.is_required and it.name not in given]
    if missing:
        raise RequestError(f"/{name} needs more words behind it: {', '.join(missing)}")
    return given
