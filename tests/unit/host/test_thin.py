"""What a terminal or an agent imports that works through another process: it starts at once."""

import json
import os
import subprocess
import sys

import pytest

HEAVY = ("pygls", "lsprotocol", "pydantic", "attrs", "httpx", "anthropic", "openai", "google", "prompt_toolkit")
OWN = ("odin_lsp.agent", "odin_lsp.config", "odin_lsp.library", "odin_lsp.models", "odin_lsp.server", "odin_lsp.tools")
SCRIPT = """
import json, sys
from odin_lsp.cli.main import main

try:
    main(["ask", "--help"])
except SystemExit:
    import {}

    print(json.dumps(list(sys.modules)))
"""


@pytest.mark.parametrize("doors", ["odin_lsp.terminal.run, odin_lsp.terminal.render", "odin_lsp.agent_door.calls"])
def test_what_attaches_imports_nothing_heavy(doors):
    script = SCRIPT.format(doors)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True, env=os.environ)
    modules = json.loads(run.stdout.splitlines()[-1])

    assert [it for it in modules if it.split(".")[0] in HEAVY or ".".join(it.split(".")[:2]) in OWN] == []
