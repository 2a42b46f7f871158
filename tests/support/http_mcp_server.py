"""An MCP server behind HTTP, by the SDK: `python http_mcp_server.py PORT streamable-http|sse`."""

import sys

from mcp.server import MCPServer

server = MCPServer("toy")


@server.tool()
def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


if __name__ == "__main__":
    server.run(sys.argv[2], host="127.0.0.1", port=int(sys.argv[1]))
