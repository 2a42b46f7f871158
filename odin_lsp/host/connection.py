"""A client's end of the protocol: requests and what answers them, and what the host asks and tells."""

import asyncio
import json
import socket
import sys
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

from odin_lsp.errors import OdinError, RequestError
from odin_lsp.frames import FrameError, Frames, framed
from odin_lsp.tasks import Tasks
from odin_lsp.values import is_object

INVALID_PARAMS, METHOD_NOT_FOUND = -32602, -32601
LOST = "the Odin that this was attached to has ended; the session is kept, and can be continued"
CHUNK = 65536


class Refused(OdinError):
    """The host answered with an error."""


class Lost(OdinError):
    """The host is gone."""


class Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._ids = count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._answering: dict[object, asyncio.Task[None]] = {}
        self._tasks = Tasks()
        self._is_lost = False
        self.answer: Callable[[str, Any], Awaitable[Any]] | None = None
        """What the host asks, by method; it is cancelled if the host does not want to know any more."""
        self.hear: Callable[[str, Any], None] = lambda _method, _params: None
        """What the host tells."""
        self._reading = self._tasks.begin(self._read())

    @classmethod
    async def over(cls, connection: socket.socket) -> "Connection":
        if sys.platform == "win32":
            raise Lost("Windows has no sockets of this kind")
        return cls(*await asyncio.open_unix_connection(sock=connection, limit=CHUNK))

    @property
    def is_lost(self) -> bool:
        return self._is_lost

    async def ask(self, method: str, params: Any, *, calls_back: bool = False) -> Any:
        """The host's answer; `RequestError` or `Refused` in its words, `Lost` if there will be none. `calls_back`: if
        nobody waits for it any more, the host is told so."""
        if self._is_lost:
            raise Lost(LOST)
        number = next(self._ids)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._send({"id": number, "method": method, "params": params})
        try:
            return await answer
        except asyncio.CancelledError:
            if calls_back:
                self.tell("$/cancelRequest", {"id": number})
            raise
        finally:
            self._waiting.pop(number, None)

    async def execute(self, command: str, *, calls_back: bool = False, **argument: Any) -> Any:
        """What is `None` is left out."""
        given = {name: value for name, value in argument.items() if value is not None}
        params = {"command": command, "arguments": [given]}
        return await self.ask("workspace/executeCommand", params, calls_back=calls_back)

    def tell(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    async def close(self) -> None:
        self._writer.close()
        await self._tasks.close()

    def _send(self, message: dict[str, Any]) -> None:
        self._writer.write(framed(json.dumps({"jsonrpc": "2.0", **message}).encode()))

    async def _read(self) -> None:
        frames = Frames()
        try:
            while data := await self._reader.read(CHUNK):
                for frame in frames.feed(data):
                    if isinstance(frame, bytes):
                        self._take(json.loads(frame))
        except (OSError, FrameError):
            pass
        finally:
            self._lose()

    def _lose(self) -> None:
        self._is_lost = True
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(Lost(LOST))
        for task in self._answering.values():
            task.cancel()

    def _take(self, message: dict[str, Any]) -> None:
        match message:
            case {"method": "$/cancelRequest", "params": {"id": asked}}:
                if task := self._answering.get(asked):
                    task.cancel()
            case {"method": method, "id": asked}:
                self._answering[asked] = self._tasks.begin(self._answer(asked, method, message.get("params")))
            case {"method": method}:
                self.hear(method, message.get("params"))
            case {"id": int(number)} if (answer := self._waiting.get(number)) and not answer.done():
                if is_object(error := message.get("error")):
                    answer.set_exception(_error(error))
                else:
                    answer.set_result(message.get("result"))
            case _:
                pass

    async def _answer(self, asked: object, method: str, params: Any) -> None:
        try:
            if self.answer is None:
                said: dict[str, Any] = {"error": {"code": METHOD_NOT_FOUND, "message": f"there is no method {method}"}}
            else:
                said = {"result": await self.answer(method, params)}
            self._send({"id": asked, **said})
        finally:
            del self._answering[asked]


def _error(error: dict[str, Any]) -> OdinError:
    message = str(error.get("message"))
    return RequestError(message) if error.get("code") == INVALID_PARAMS else Refused(message)
