"""JSON-RPC as LSP promises it: every request is answered exactly once, whatever arrives or fails."""

import asyncio
import contextvars
import inspect
import itertools
import json
import logging
import re
from collections import ChainMap
from collections.abc import Callable, Coroutine, Generator, Mapping
from typing import Any, NoReturn

import cattrs
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from odin_lsp.display import shown
from odin_lsp.errors import OdinError, RequestError
from odin_lsp.frames import Frame, Oversized
from odin_lsp.loop_share import checked
from odin_lsp.server.rpc_shape import Id, fault_of, is_id, usable_id
from odin_lsp.server.transport import Transport

logger = logging.getLogger("odin")
MOST_PROBLEMS = 1_000
"""Of those that come with a question about a place."""


class ClientError(OdinError):
    """The client answered with an error, or with something that cannot be understood."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class OdinProtocol(LanguageServerProtocol):
    """pygls with a dispatch that keeps JSON-RPC's promises.

    A handler is a function, a coroutine function, or a generator function like pygls' own. It may raise
    `RequestError` (InvalidParams) or another `OdinError` (RequestFailed), whose text is the answer. A method
    that LSP does not define gets its params as plain JSON.
    """

    def __init__(self, server: LanguageServer, converter: cattrs.Converter) -> None:
        self._transport: Transport | None = None  # first: pygls looks at every property while it constructs
        super().__init__(server, _strict(converter))
        self._handlers: Mapping[str, Callable[..., Any]] = ChainMap(
            self.fm.builtin_features,  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
            self.fm.features,  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        )
        self._running: dict[object, asyncio.Task[Any]] = {}
        self._ask_ids = itertools.count(1)
        self._initialized = False
        self._exiting = asyncio.Event()
        self._exit_code = 1

    @property
    def backlog(self) -> int:
        """Bytes that were sent and that the client has not taken yet."""
        return self._transport.backlog if self._transport else 0

    def connect(self, transport: Transport) -> None:
        """Send messages this way from now on; before there was nobody to tell."""
        self._transport = transport

    def receive(self, frame: Frame) -> None:
        """Take one message. What is wrong with it is said to the client, never raised."""
        if isinstance(frame, Oversized):
            return self._refuse(None, types.ErrorCodes.ParseError, f"{frame.length} bytes are too many")
        try:
            message = _JSON.decode(checked(frame).decode())
        except (ValueError, RecursionError) as error:
            return self._refuse(None, types.ErrorCodes.ParseError, f"not JSON: {error}")
        if fault := fault_of(message):
            return self._refuse(usable_id(message), types.ErrorCodes.InvalidRequest, fault)
        if "method" not in message:
            return self._receive_answer(message)
        return contextvars.copy_context().run(
            self._receive_call, message.get("id"), message["method"], message.get("params")
        )

    def take_over(self, params: Mapping[str, Any]) -> None:
        """Do what an `initialize` asks for that was answered already. What of the client's capabilities cannot be read
        is left out: the answer does not depend on it."""
        try:
            structured = self._structure(types.INITIALIZE, params)
        except RequestError as error:
            logger.warning("the capabilities of the client are not used: %s", error)
            structured = self._structure(
                types.INITIALIZE, {**params, "capabilities": _readable(params["capabilities"])}
            )
        _call(self._handlers[types.INITIALIZE], structured)

    def notify(self, method: str, params: Any | None = None) -> None:
        """Odin's own messages are plain JSON: they need none of what makes JSON of LSP's types."""
        if method in types.METHOD_TO_TYPES:
            super().notify(method, params)
        else:
            self._send_data({"jsonrpc": "2.0", "method": method, "params": params})

    async def ask_client(self, method: str, params: Any = None, timeout: float | None = None) -> Any:
        """The client's answer: typed where LSP defines it, else plain JSON.

        Raises `ClientError` or `TimeoutError`. When the wait is given up the client is told and nothing of it
        stays; an answer that comes late is ignored.
        """
        ask_id = f"odin-{next(self._ask_ids)}"
        try:
            async with asyncio.timeout(timeout):
                return await asyncio.wrap_future(self.send_request(method, params, msg_id=ask_id))
        except (TimeoutError, asyncio.CancelledError):
            self.notify(types.CANCEL_REQUEST, types.CancelParams(ask_id))
            raise
        finally:
            self._request_futures.pop(ask_id, None)
            self._result_types.pop(ask_id, None)

    def hang_up(self) -> None:
        """The client is gone: nothing more is sent, and what it was asked it does not answer."""
        self._transport = None
        for future in tuple(self._request_futures.values()):
            if future.set_running_or_notify_cancel():
                future.set_exception(ClientError("the client is gone", types.ErrorCodes.InternalError))

    async def exited(self) -> int:
        """Wait for the client's `exit` and return the code that it asks for."""
        await self._exiting.wait()
        return self._exit_code

    def stop(self, keep: Id | None = None) -> list[asyncio.Task[Any]]:
        """Take no more calls and cancel those under way, but for `keep`. Returns the tasks that will end."""
        self._shutdown = True
        stopped = [task for key, task in self._running.items() if key != keep]
        for task in stopped:
            _cancel_soon(task)
        return stopped

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        result = yield from super().lsp_initialize(params)
        self._initialized = True
        return result

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *args: Any) -> Generator[Any, Any, None]:
        self.stop(keep=self.msg_id)
        yield from super().lsp_shutdown(*args)  # pyright: ignore[reportUnknownMemberType]

    @lsp_method(types.EXIT)
    def lsp_exit(self, *args: Any) -> Any:  # pygls' own is a generator
        self._exit_code = 0 if self._shutdown else 1
        self.stop()
        self._exiting.set()

    @lsp_method(types.CANCEL_REQUEST)
    def lsp_cancel_request(self, params: types.CancelParams) -> None:
        if is_id(params.id) and (task := self._running.get(params.id)):
            _cancel_soon(task)

    def _receive_call(self, id: Id | None, method: str, params: Any) -> None:
        if refusal := self._refusal(id, method):
            if id is not None:
                self._refuse(id, *refusal)
            return
        self._ctx_msg_id.set(id)
        self._answer(id, method, lambda: _call(self._handlers[method], self._structure(method, params)))

    def _receive_answer(self, message: dict[str, Any]) -> None:
        if message.get("result") is not None and message.get("error") is not None:
            self._refuse(message["id"], types.ErrorCodes.InvalidRequest, "an answer has a result or an error, not both")
        future = self._request_futures.pop(message["id"], None)
        answer_type = self._result_types.pop(message["id"], None)
        if future is None or not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(self._structure_answer(message, answer_type))
        except ClientError as error:
            future.set_exception(error)

    def _structure_answer(self, message: dict[str, Any], answer_type: Any) -> Any:
        if (error := message.get("error")) is not None:
            raise _client_error(error)
        if answer_type is None:
            return message.get("result")
        try:
            return self._converter.structure(message, answer_type).result
        except _INVALID as error:
            raise ClientError(_complaint(error, "answer"), types.ErrorCodes.InvalidRequest) from error

    def _refusal(self, id: Id | None, method: str) -> tuple[int, str] | None:
        """Why the call is not made, if it is not."""
        if method == types.EXIT:
            return None
        if id in self._running:
            return types.ErrorCodes.InvalidRequest, "a request with this id is still being answered"
        if self._shutdown:
            return types.ErrorCodes.InvalidRequest, "the server is shutting down"
        if method == types.INITIALIZE:
            return self._initialize_refusal(id)
        if not self._initialized:
            return types.ErrorCodes.ServerNotInitialized, "send initialize first"
        if method not in self._handlers:
            return types.ErrorCodes.MethodNotFound, f"there is no method {method[:100]}"
        return None

    def _initialize_refusal(self, id: Id | None) -> tuple[int, str] | None:
        under_way = any(task.get_name() == types.INITIALIZE for task in self._running.values())
        if id is None or self._initialized or under_way:
            return types.ErrorCodes.InvalidRequest, "initialize is a request that is made once"
        return None

    def _structure(self, method: str, params: Any) -> Any:
        params_type = types.METHOD_TO_TYPES[method][2] if method in types.METHOD_TO_TYPES else None
        if params_type is None:
            return params
        try:
            return self._converter.structure({} if params is None else _with_fewer_problems(params), params_type)
        except _INVALID as error:
            raise RequestError(_complaint(error, "params")) from error

    def _answer(self, id: Id | None, method: str, produce: Callable[[], Any]) -> None:
        """Answer with what `produce` returns or why it fails. Where that takes time a task owes the answer.

        A notification (no id) goes the same way, only that nobody hears of it.
        """
        try:
            outcome = produce()
            if inspect.iscoroutine(outcome):
                self._start(id, method, outcome)
            elif id is not None:
                self._send_data({"jsonrpc": "2.0", "id": id, "result": outcome})
        except asyncio.CancelledError:
            self._fail(id, method, types.LSPErrorCodes.RequestCancelled, "cancelled")
        except JsonRpcException as error:
            self._fail(id, method, error.code, error.message)
        except RequestError as error:
            self._fail(id, method, types.ErrorCodes.InvalidParams, str(error))
        except OdinError as error:
            self._fail(id, method, types.LSPErrorCodes.RequestFailed, str(error))
        except Exception:  # a bug in one handler must not reach the other requests
            logger.exception("%s failed", method)
            self._fail(id, method, types.ErrorCodes.InternalError, "internal error; see Odin's log")

    def _start(self, id: Id | None, method: str, coroutine: Coroutine[Any, Any, Any]) -> None:
        key = object() if id is None else id
        self._running[key] = task = asyncio.create_task(coroutine, name=method)

        def finish(task: asyncio.Task[Any]) -> None:
            del self._running[key]
            self._answer(id, method, task.result)

        task.add_done_callback(finish)

    def _fail(self, id: Id | None, method: str, code: int, reason: str) -> None:
        if id is None:
            logger.warning("%s: %s", method, reason)
        else:
            self._refuse(id, code, reason)

    def _refuse(self, id: Id | None, code: int, reason: str) -> None:
        self._send_data({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": shown(reason)}})

    def send(self, body: bytes) -> None:
        """A message that is JSON already."""
        if self._transport:
            self._transport.send(body)

    def _send_data(self, data: Any) -> None:
        self.send(json.dumps(data, default=self._serialize_message, allow_nan=False).encode())


def _with_fewer_problems(params: Any) -> Any:
    """Editors send all that they know of a line along with what is asked there: nobody reads that many."""
    match params:
        case {"context": {"diagnostics": [*problems]}} if len(problems) > MOST_PROBLEMS:
            return {**params, "context": {**params["context"], "diagnostics": problems[:MOST_PROBLEMS]}}
        case _:
            return params


def _readable(capabilities: Mapping[str, Any]) -> dict[str, Any]:
    match capabilities:
        case {"general": {"positionEncodings": [*encodings]}}:
            wanted = [it for it in encodings if isinstance(it, str)]
        case _:
            wanted = []
    return {"general": {"positionEncodings": wanted}, "experimental": capabilities.get("experimental")}


_INVALID = (cattrs.BaseValidationError, TypeError, ValueError, RecursionError)
"""What cattrs raises where JSON does not have the shape of its type."""


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a value")


_JSON = json.JSONDecoder(parse_constant=_refuse_constant)


def _call(handler: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    outcome = handler(*args, **kwargs)
    return _drive(outcome) if inspect.isgenerator(outcome) else outcome


def _drive(builtin: Generator[Any, Any, Any], value: Any = None) -> Any:
    """Run one of pygls' generators: it yields the handlers it wants called and is sent what they return.

    The first that is a coroutine makes a coroutine of the rest.
    """
    while True:
        try:
            handler, args, kwargs = builtin.send(value)
        except StopIteration as end:
            return end.value
        value = _call(handler, *args, **(kwargs or {}))
        if inspect.iscoroutine(value):
            return _drive_on(builtin, value)


async def _drive_on(builtin: Generator[Any, Any, Any], coroutine: Coroutine[Any, Any, Any]) -> Any:
    outcome = _drive(builtin, await coroutine)
    return await outcome if inspect.iscoroutine(outcome) else outcome


def _cancel_soon(task: asyncio.Task[Any]) -> None:
    """Cancel once, and not before the task has begun: what a coroutine was given it would not clean up."""
    task.get_loop().call_soon(lambda: task.cancelling() or task.cancel())


def _strict(converter: cattrs.Converter) -> cattrs.Converter:
    """Left alone, cattrs opens a document whose text is null with the text "None"."""
    converter.register_structure_hook(str, _exact_string)
    return converter


def _exact_string(value: Any, target: type[str]) -> str:
    if not isinstance(value, str):
        raise ValueError("not a string")
    return target(value)  # which may be an enumeration of strings


def _complaint(error: Exception, where: str) -> str:
    """The first thing that is wrong, in the words of the wire."""
    reasons = cattrs.transform_error(error, where, _reason)
    what, _, path = reasons[0].rpartition(" @ ")
    return f"{re.sub('_([a-z])', lambda match: match[1].upper(), path)} {what}"


def _reason(error: BaseException, _: type | None) -> str:
    return "is missing" if isinstance(error, KeyError) else "is not valid"


def _client_error(error: Any) -> ClientError:
    match error:
        case {"code": int(code), "message": str(message)}:
            return ClientError(message, code)
        case _:
            return ClientError("the client sent an unreadable error", types.ErrorCodes.InvalidRequest)
