"""A server that is the test itself: it asks the editor whatever the test wants to know, and says nothing of its own."""

import asyncio
import itertools
import json
import sys
from pathlib import Path
from typing import Any

from tests.editors.neovim import PATIENCE

RELAY = """#!{python}
import os, socket, threading

wire = socket.create_connection(("127.0.0.1", {port}))
wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

def copy(read, write):
    while data := read(65536):
        write(data)
    os._exit(0)

threading.Thread(target=copy, args=(lambda size: os.read(0, size), wire.sendall)).start()
copy(wire.recv, lambda data: os.write(1, data))
"""
ODIN = {"version": 1, "server": "0", "model": "m", "smallModel": "m", "modes": [], "tools": []}
CAPABILITIES = {"experimental": {"odin": ODIN}, "textDocumentSync": 1}


class Asker:
    def __init__(self) -> None:
        self.declared: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        """What the client can do, as it says."""
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._server: asyncio.Server | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def listen(self, program: Path) -> None:
        """Write a program that leads here."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        program.write_text(RELAY.format(python=sys.executable, port=port))
        program.chmod(0o755)

    async def ask(self, method: str, params: Any) -> Any:
        """A request to the editor; what it answers, or `{"error": …}`."""
        async with asyncio.timeout(PATIENCE):
            await asyncio.shield(self.declared)
            number = next(self._ids)
            answer = self._answers[number] = asyncio.get_running_loop().create_future()
            self._send({"id": number, "method": method, "params": params})
            return await answer

    async def close(self) -> None:
        assert self._server
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(head.lower().partition(b"content-length:")[2].split()[0])
                self._take(json.loads(await reader.readexactly(length)))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _take(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            error = message.get("error")
            self._answers.pop(message["id"]).set_result({"error": error} if error else message.get("result"))
        elif message["method"] == "initialize":
            self._send({"id": message["id"], "result": {"capabilities": CAPABILITIES}})
            self.declared.set_result(message["params"]["capabilities"])
        elif "id" in message:
            self._send({"id": message["id"], "result": None})

    def _send(self, message: dict[str, Any]) -> None:
        assert self._writer
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
