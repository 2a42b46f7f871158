"""The SDK is large: nobody who has no servers pays for it."""

import subprocess
import sys

CODE = """
import sys
import odin_lsp.agent.core, odin_lsp.cli.main, odin_lsp.server.server, odin_lsp.mcp.pool, odin_lsp.mcp.trying
from odin_lsp.tools.base import all_tools
all_tools()
print([it for it in sys.modules if it.partition(".")[0] in ("mcp", "mcp_types")])
"""


def test_the_sdk_is_not_imported_before_a_server_starts():
    assert subprocess.run([sys.executable, "-c", CODE], capture_output=True, check=True, text=True).stdout == "[]\n"
