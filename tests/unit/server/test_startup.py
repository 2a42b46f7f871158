"""The answer to `initialize` waits for nothing that only turns need."""

import json
import subprocess
import sys

LATE = (
    *("agent.", "tools.", "review.", "permissions.", "sessions.", "terminal.", "models.base", "models.providers"),
    *("events", "messages", "ports", "server.wire", "server.commands.", "server.editor", "server.turns"),
)
FOREIGN = ("anthropic", "google.genai", "openai", "httpx", "httpx2", "rich", "watchfiles", "anyio")
SCRIPT = """
import json, sys
from types import SimpleNamespace

from odin_lsp.server.server import OdinServer

server = OdinServer()
answers = []
server.rpc.connect(SimpleNamespace(send=answers.append))
params = {"processId": None, "rootUri": None, "capabilities": {"experimental": {"odin": {"events": True}}}}
server.rpc.receive(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode())
print(json.dumps({"answer": json.loads(answers[0]), "modules": list(sys.modules)}))
"""


def test_initialize_is_answered_before_what_turns_need_is_imported():
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, check=True, text=True)
    said = json.loads(run.stdout)

    about = said["answer"]["result"]["capabilities"]["experimental"]["odin"]
    assert about["tools"]
    assert about["model"]
    late = tuple(f"odin_lsp.{name}" for name in LATE) + FOREIGN
    assert [module for module in said["modules"] if module.startswith(late)] == []
