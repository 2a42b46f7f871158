"""MCP servers that a client hands in with a session, as Odin knows its own."""

from collections.abc import Iterable

from odin_lsp.acp.wire import RemoteServer, StdioServer
from odin_lsp.errors import RequestError
from odin_lsp.extensions.mcp_files import NAME, McpServer


def known(servers: Iterable[RemoteServer | StdioServer]) -> list[McpServer]:
    return [_known(it) for it in servers]


def _known(server: RemoteServer | StdioServer) -> McpServer:
    if not NAME.fullmatch(server.name):
        raise RequestError(f"the MCP server {server.name!r}: a name must have letters, digits, `-`, `_` and `.` only")
    if isinstance(server, RemoteServer):
        headers = {it.name: it.value for it in server.headers}
        return McpServer(name=server.name, transport=server.type, url=server.url, headers=headers)
    env = {it.name: it.value for it in server.env}
    return McpServer(name=server.name, transport="stdio", command=server.command, args=server.args, env=env)
