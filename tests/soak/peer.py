"""One end of JSON-RPC that believes nothing: what comes twice, or was not asked for, is written down."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

from odin_lsp.frames import FrameError, Frames, framed

CHUNK = 65536


class Gone(ConnectionError):
    """The other end has gone before it answered."""


class Refused(RuntimeError):
    """It answered with an error."""


class Peer:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._ids = count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._asked: dict[Any, asyncio.Task[None]] = {}
        self.answer: Callable[[str, Any], Awaitable[Any]]
        self.hear: Callable[[str, Any], None] = lambda method, params: None
        self.wrong: list[str] = []
        self.is_gone = False
        self.reading = asyncio.create_task(self._read())

    async def ask(self, method: str, params: Any = None) -> Any:
        if self.is_gone:
            raise Gone(method)
        number = next(self._ids)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        self._send({"id": number, "method": method, "params": params})
        return await answer

    async def command(self, name: str, /, **argument: Any) -> Any:
        return await self.ask("workspace/executeCommand", {"command": f"odin.{name}", "arguments": [argument]})

    def tell(self, method: str, params: Any) -> None:
        if not self.is_gone:
            self._send({"method": method, "params": params})

    async def close(self) -> None:
        self._writer.close()
        await asyncio.wait([self.reading])

    def _send(self, message: dict[str, Any]) -> None:
        self._writer.write(framed(json.dumps({"jsonrpc": "2.0", **message}).encode()))

    async def _read(self) -> None:
        frames = Frames()
        try:
            while data := await self._reader.read(CHUNK):
                for frame in frames.feed(data):
                    self._take(json.loads(frame) if isinstance(frame, bytes) else frame)
        except (OSError, FrameError) as error:
            if isinstance(error, FrameError):
                self.wrong.append(f"no frame: {error}")
        finally:
            self._lose()

    def _lose(self) -> None:
        self.is_gone = True
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(Gone("it has gone"))
                answer.exception()  # not all are waited for
        for task in self._asked.values():
            task.cancel()

    def _take(self, message: Any) -> None:
        match message:
            case {"method": "$/cancelRequest", "params": {"id": asked}}:
                if task := self._asked.get(asked):
                    task.cancel()
            case {"method": method, "id": asked}:
                if asked in self._asked:
                    self.wrong.append(f"two requests have the number {asked}")
                self._asked[asked] = asyncio.create_task(self._answer(asked, method, message.get("params")))
            case {"method": method}:
                self.hear(method, message.get("params"))
            case {"id": int(number)} if number in self._answers and not self._answers[number].done():
                if error := message.get("error"):
                    self._answers[number].set_exception(Refused(error["message"]))
                else:
                    self._answers[number].set_result(message.get("result"))
            case _:
                self.wrong.append(f"nobody has asked for this, or it came twice: {json.dumps(message)[:300]}")

    async def _answer(self, asked: Any, method: str, params: Any) -> None:
        try:
            said: dict[str, Any] = {"result": await self.answer(method, params)}
        except asyncio.CancelledError:
            said = {"error": {"code": -32800, "message": "canceled"}}
        finally:
            del self._asked[asked]
        if not self.is_gone:
            self._send({"id": asked, **said})
