"""Model servers on free ports of this computer, in place of all that may listen here."""

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, cast

import pytest

from odin_lsp.models.local_servers import SERVERS, LocalServer

NOBODY = 9
Serve = Callable[..., str]


class _Models(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps({"data": [{"id": it} for it in cast("Any", self.server).models]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def model_servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """`serve(provider, *models)` begins one, and returns its address."""
    known = cast("dict[str, LocalServer]", SERVERS)
    for provider, it in SERVERS.items():
        monkeypatch.setitem(known, provider, LocalServer(it.name, NOBODY))
    with ExitStack() as begun:

        def serve(provider: str, *models: str) -> str:
            server = begun.enter_context(http.server.HTTPServer(("127.0.0.1", 0), _Models))
            cast("Any", server).models = models
            thread = threading.Thread(target=server.serve_forever, args=(0.01,))
            thread.start()
            begun.callback(thread.join)
            begun.callback(server.shutdown)
            known[provider] = LocalServer(SERVERS[provider].name, server.server_port)
            return known[provider].url

        yield serve
