"""The answer to `initialize` waits for nothing that only turns need."""

import json
import os
import subprocess
import sys
from pathlib import Path

from odin_lsp.config import Config
from odin_lsp.project.picks import Picks

LATE = (
    *(
        "agent.",
        "tools.",
        "extensions.",
        "review.",
        "permissions.",
        "sessions.",
        "terminal.",
        "models.base",
        "models.providers",
    ),
    "project.picks",
    *("events", "messages", "ports", "server.wire", "server.commands.", "server.editor", "server.turns"),
)
FOREIGN = ("anthropic", "google.genai", "openai", "httpx", "httpx2", "rich", "watchfiles", "anyio")
PROTOCOL = ("lsprotocol", "pygls", "attr", "cattrs", "odin_lsp.server.rpc", "odin_lsp.server.server")
SCRIPT = """
import json, sys
from types import SimpleNamespace

from odin_lsp.frames import framed
from odin_lsp.project.project import Project
from odin_lsp.server.front_door import FrontDoor

params = {"processId": None, "rootUri": None, "capabilities": {"experimental": {"odin": {"events": True}}}}
call = framed(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode())
answers = []
FrontDoor(SimpleNamespace(read=lambda size: call, write=answers.append)).welcome(Project())
early = list(sys.modules)

from odin_lsp.server.server import OdinServer

server = OdinServer()
server.rpc.take_over(params)
answer = json.loads(answers[0].partition(b"\\r\\n\\r\\n")[2])
print(json.dumps({"answer": answer, "early": early, "modules": list(sys.modules)}))
"""


def initialize(state):
    """What the server says of itself, and what it has imported too early."""
    env = {**os.environ, "XDG_STATE_HOME": str(state)}
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, check=True, text=True, env=env)
    said = json.loads(run.stdout)
    late = tuple(f"odin_lsp.{name}" for name in LATE) + FOREIGN
    about = said["answer"]["result"]["capabilities"]["experimental"]["odin"]
    assert {module for module in said["early"] if module.startswith(PROTOCOL)} == set()
    return about, {module for module in said["modules"] if module.startswith(late)}


def test_initialize_is_answered_before_what_turns_need_is_imported(tmp_path):
    about, imported = initialize(tmp_path)

    assert about["tools"]
    assert about["model"]
    assert imported == set()


def test_a_picked_model_is_known_at_once(tmp_path):
    Picks(Path("/"), tmp_path / "odin" / "models.json").pick({"model": "offline/picked"}, Config())

    about, imported = initialize(tmp_path)

    assert about["model"] == "offline/picked"
    assert imported == {"odin_lsp.project.picks"}
