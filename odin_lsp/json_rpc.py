"""JSON-RPC with a client, line by line: what it asks is answered, and it is asked."""

import asyncio
import itertools
import json
import logging
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any

from odin_lsp.display import shown
from odin_lsp.errors import OdinError, RequestError, SessionError
from odin_lsp.frames import Frame, Oversized
from odin_lsp.loop_share import checked
from odin_lsp.values import is_object

log = logging.getLogger("odin.rpc")
PARSE_ERROR, INVALID_REQUEST, UNKNOWN_METHOD, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
NOT_FOUND, CANCELLED = -32002, -32800
INTERNAL_ERROR = "internal error; Odin's log says more"

Answer = Callable[[Any], Coroutine[Any, Any, Any]]
Id = str | int | None


class Refused(Exception):
    """Answers a request with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class ClientError(Exception):
    """The client has answered with an error, or does not answer any more."""


class Peer:
    def __init__(
        self,
        send: Callable[[bytes], None],
        requests: Mapping[str, Answer],
        notifications: Mapping[str, Callable[[Any], None]],
        cancel: str,
    ) -> None:
        """`cancel` is the notification that gives up the request `requestId`."""
        self._cancel = cancel
        self._send = send
        self._requests = requests
        self._notifications = notifications
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._answering: dict[Id, asyncio.Task[Any]] = {}
        self._ids = itertools.count(1)
        self._is_closed = False

    def receive(self, line: Frame) -> None:
        """What makes no sense is answered with an error, and changes nothing."""
        if isinstance(line, Oversized):
            self._fail(None, Refused(INVALID_REQUEST, f"a message of {line.length >> 20} MiB is too long"))
            return
        try:
            message = json.loads(checked(line))
        except (ValueError, RecursionError):
            self._fail(None, Refused(PARSE_ERROR, "a line is not JSON, or has too many values"))
            return
        match message:
            case {"method": str(method), "id": str() | int() | None as id}:
                self._take(id, method, message.get("params"))
            case {"method": str(method)} if "id" not in message:
                params = message.get("params")
                # what was asked for before it has begun by then
                asyncio.get_running_loop().call_soon(self._hear, method, params if is_object(params) else {})
            case {"id": int(id)} if "result" in message or "error" in message:
                self._take_answer(id, message)
            case _:
                self._fail(None, Refused(INVALID_REQUEST, "a message is neither a request nor an answer"))

    async def ask(self, method: str, params: Mapping[str, Any]) -> Any:
        """The client's result. If nobody waits for it any more, the client is told so."""
        if self._is_closed:
            raise ClientError("the client is gone")
        number = next(self._ids)
        answer = self._asked[number] = asyncio.get_running_loop().create_future()
        self._write({"id": number, "method": method, "params": params})
        try:
            return await answer
        except asyncio.CancelledError:
            self.notify(self._cancel, {"requestId": number})
            raise
        finally:
            del self._asked[number]

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        self._write({"method": method, "params": params})

    async def close(self) -> None:
        """The client is gone: nothing that it asked for is answered, and nothing it was asked is waited for."""
        self._is_closed = True
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(ClientError("the client is gone"))
        running = tuple(self._answering.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _take(self, id: Id, method: str, params: object) -> None:
        if method not in self._requests:
            self._fail(id, Refused(UNKNOWN_METHOD, f"there is no method {method!r}"))
        elif id in self._answering:
            self._fail(id, Refused(INVALID_REQUEST, f"a request with the id {id!r} is under way"))
        else:
            task = self._answering[id] = asyncio.create_task(self._requests[method]({} if params is None else params))
            task.add_done_callback(partial(self._finish, id))

    def _finish(self, id: Id, task: "asyncio.Task[Any]") -> None:
        del self._answering[id]
        if task.cancelled():
            self._fail(id, Refused(CANCELLED, "the request was canceled"))
            return
        match task.exception():
            case None:
                self._write({"id": id, "result": task.result()})
            case Refused() as error:
                self._fail(id, error)
            case RequestError() as error:
                self._fail(id, Refused(INVALID_PARAMS, str(error)))
            case SessionError() as error:
                self._fail(id, Refused(NOT_FOUND, str(error)))
            case OdinError() as error:
                self._fail(id, Refused(INTERNAL, str(error)))
            case error:  # a bug in one request ends that request
                log.error("a request failed", exc_info=error)
                self._fail(id, Refused(INTERNAL, INTERNAL_ERROR))

    def _hear(self, method: str, params: Mapping[str, Any]) -> None:
        """Notifications that are not known may be ignored."""
        if method == self._cancel:
            if task := self._answering.get(_id(params.get("requestId"))):
                task.cancel()
        elif hear := self._notifications.get(method):
            try:
                hear(params)
            except OdinError as error:
                log.warning("%s: %s", method, error)

    def _take_answer(self, id: int, message: Mapping[str, Any]) -> None:
        answer = self._asked.get(id)
        if answer is None or answer.done():
            return
        match message.get("error"):
            case None:
                answer.set_result(message.get("result"))
            case {"message": str(why)}:
                answer.set_exception(ClientError(why))
            case _:
                answer.set_exception(ClientError("the client has answered with an error"))

    def _fail(self, id: Id, error: Refused) -> None:
        self._write({"id": id, "error": {"code": error.code, "message": shown(str(error))}})

    def _write(self, message: Mapping[str, Any]) -> None:
        if not self._is_closed:
            self._send(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=True).encode())


def _id(value: object) -> Id:
    return value if isinstance(value, str | int) else None
