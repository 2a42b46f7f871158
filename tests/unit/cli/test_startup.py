"""`odin-lsp ask` imports what its first request needs, and of the providers the one that is asked. With a plain API key
no SDK is imported, not even once the answer is there."""

import json
import os
import subprocess
import sys

import pytest

from tests.support.wire import DIALECTS

SDKS = ("anthropic", "google", "openai", "mcp", "boto3", "botocore")
OTHERS = ("lsprotocol", "pygls", "rich", "prompt_toolkit", "markdown_it", "redis", "PIL", "pypdf", "justhtml")
OWN = ("odin_lsp.server.server", "odin_lsp.terminal.chat", "odin_lsp.terminal.telling")
MODELS = {
    "anthropic": {"anthropic"},
    "google": {"google"},
    "openai": {"openai", "openai_chat", "openai_responses", "openai_faults"},
}
SCRIPT = """
import json, os, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

answer, base, *arguments = sys.argv[1:]

class Provider(BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.modules = list(sys.modules)
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(answer.encode())

    def log_message(self, *said):
        pass

server = HTTPServer(("127.0.0.1", 0), Provider)
Thread(target=server.serve_forever, daemon=True).start()
os.environ[base.partition("=")[0]] = f"http://127.0.0.1:{server.server_port}{base.partition('=')[2]}"

from odin_lsp.cli.main import main

code = main(arguments)
print(json.dumps({"code": code, "modules": server.modules, "afterwards": list(sys.modules)}))
"""


@pytest.mark.parametrize("dialect", DIALECTS[:3], ids=lambda it: it.name)
def test_nothing_else_is_imported_before_the_first_request(dialect, tmp_path):
    base = f"{dialect.base_variable}={dialect.path}"
    given = ("ask", "--model", dialect.ref, *(["--json"] if dialect.provider == "google" else []), "hello")
    env = {**os.environ, "HOME": str(tmp_path), dialect.key_variable: "k", "ODIN_TITLES": "0"}
    command = [sys.executable, "-c", SCRIPT, dialect.hello.decode(), base, *given]
    run = subprocess.run(command, capture_output=True, check=True, text=True, env=env, cwd=tmp_path)

    said = json.loads(run.stdout.splitlines()[-1])
    modules = set(said["modules"])
    assert said["code"] == 0
    assert _within(modules, {*SDKS, *OTHERS, *OWN}) == set()
    assert _within(said["afterwards"], SDKS) == set()
    asked = {it.removeprefix("odin_lsp.models.") for it in modules if it.startswith("odin_lsp.models.")}
    assert asked & set().union(*MODELS.values()) == MODELS[dialect.provider]


def _within(modules, packages):
    return {it for it in modules if any(it == name or it.startswith(f"{name}.") for name in packages)}
