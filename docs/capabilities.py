"""What the server answers to `initialize`, as the full one answers: written down, so that nobody
waits for it to be imported."""

import json
from collections.abc import Mapping
from functools import reduce
from types import SimpleNamespace
from typing import Any

from odin_lsp.server.server import OdinServer

OFFERS = (
    "notebookDocument",
    "textDocument.rename.prepareSupport",
    "textDocument.synchronization.willSave",
    "textDocument.synchronization.willSaveWaitUntil",
    *(f"workspace.fileOperations.{time}{act}" for time in ("will", "did") for act in ("Create", "Delete", "Rename")),
)
"""What of a client's capabilities changes the answer to `initialize`, as far as pygls looks at it."""
ANSWERS: Mapping[str, Any] = {"yes": True, "no": False}


def capabilities() -> dict[str, Any]:
    """What the server answers to `initialize`: to every client, and besides to one that says yes or no to something."""
    always = _offered({})
    said: dict[str, dict[str, Any]] = {"yes": {}, "no": {}}
    for path in OFFERS:
        for word, value in ({"yes": {"synchronization": {}}} if path == "notebookDocument" else ANSWERS).items():
            client = reduce(lambda value, name: {name: value}, reversed(path.split(".")), value)
            if more := _difference(_offered(client), always):
                said[word][path] = more
    return {"always": always, **said}


def _offered(client: dict[str, Any]) -> dict[str, Any]:
    server, answers = OdinServer(), []
    server.rpc.connect(SimpleNamespace(send=answers.append))
    call = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": client}}
    server.rpc.receive(json.dumps(call).encode())
    capabilities = json.loads(answers[0])["result"]["capabilities"]
    return {name: value for name, value in capabilities.items() if name not in ("positionEncoding", "experimental")}


def _difference(new: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
    changed = {name: value for name, value in new.items() if value != old.get(name)}
    both = {name: old[name] for name, value in changed.items() if isinstance(value, dict) and name in old}
    return {name: _difference(value, both[name]) if name in both else value for name, value in changed.items()}
