"""What a terminal imports that works through another process: it starts at once."""

import json
import os
import subprocess
import sys

HEAVY = ("pygls", "lsprotocol", "pydantic", "attrs", "httpx", "anthropic", "openai", "google", "prompt_toolkit")
OWN = ("odin_lsp.agent", "odin_lsp.config", "odin_lsp.library", "odin_lsp.models", "odin_lsp.server", "odin_lsp.tools")
SCRIPT = "import json, sys; import odin_lsp.cli.main, odin_lsp.terminal.run; print(json.dumps(list(sys.modules)))"


def test_a_terminal_that_attaches_imports_nothing_heavy():
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, check=True, text=True, env=os.environ)
    modules = json.loads(run.stdout)

    assert [it for it in modules if it.split(".")[0] in HEAVY or it.startswith(OWN)] == []
