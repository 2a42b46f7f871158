"""A server that is a program: supervised like a command, its pipes as the SDK wants them."""

import asyncio
import json
import logging
from collections.abc import Callable, Hashable
from contextlib import suppress
from types import TracebackType

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter

from odin_lsp.commands import piped
from odin_lsp.commands.piped import Piped
from odin_lsp.commands.runner import Spec
from odin_lsp.mcp.lines import Flooded, Lines, TooLong
from odin_lsp.mcp.passing import Passing, Unheard, kind_of
from odin_lsp.values import is_object

log = logging.getLogger("odin.mcp")
LONGEST_NEWS = 2**16
"""Bytes: what is longer is more than news."""
EXIT_SECONDS = 1.0
"""For a server that was told that nothing more comes."""
Streams = tuple[Passing, MemoryObjectSendStream[SessionMessage]]


class Program:
    """Also the transport of a `Client`; it is started before, and ended after it."""

    def __init__(self, name: str, ended: Callable[[str], None]) -> None:
        """`ended` is told why it cannot be asked any more."""
        self._name = name
        self._ended = ended
        self._lines = Lines()
        self._piped: Piped | None = None
        self._incoming = Passing()
        self._write, self._outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        self._tasks: list[asyncio.Task[None]] = []
        self._is_wanted = True
        self.is_silent = False
        """It prints no more."""

    @property
    def pid(self) -> int | None:
        return self._piped.pid if self._piped else None

    @property
    def complaints(self) -> str:
        return self._piped.complaints if self._piped else ""

    async def ends_within(self, seconds: float) -> None:
        if self._tasks:
            await asyncio.wait(self._tasks[1:], timeout=seconds)

    async def start(self, spec: Spec) -> None:
        """Raises `ToolError`."""
        self._piped = await piped.start(spec, self)
        self._tasks = [
            asyncio.create_task(self._send(self._piped, self._outgoing)),
            asyncio.create_task(self._follow(self._piped)),
        ]

    async def end(self) -> None:
        """Tell it that nothing more comes, and see to it that it ends."""
        self._is_wanted = False
        if self._piped is not None:
            self._piped.end_input()
            await self._piped.ends_within(EXIT_SECONDS)
            self._piped.stop()
            sending, following = self._tasks
            sending.cancel()
            await asyncio.wait((sending, following))
        for stream in (self._incoming, self._write, self._outgoing):
            stream.close()

    async def __aenter__(self) -> Streams:
        return self._incoming, self._write

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The program is ended by whoever has started it."""

    @property
    def too_long(self) -> bool:
        """Never: what it prints is not kept."""
        return False

    def feed(self, data: bytes) -> None:
        try:
            for line in self._lines.feed(data):
                self._take(line)
        except (Flooded, Unheard):
            self._give_up(f"{self._name} sends more messages than anybody can read")

    def close(self) -> None:
        """It prints no more."""
        self.is_silent = True
        self._incoming.end()

    def _take(self, line: bytes | TooLong) -> None:
        if isinstance(line, TooLong):
            told = f"it has sent more than {line.than} in one message"
            if line.id is None:
                self._give_up(f"{self._name} cannot be understood: {told}")
                return
            error = ErrorData(code=INTERNAL_ERROR, message=told)
            self._incoming.put(SessionMessage(JSONRPCError(jsonrpc="2.0", id=line.id, error=error)))
        elif (kind := _kind_of(line)) is not None:
            self._incoming.put_news(kind, lambda: self._read(line))
        elif (message := self._read(line)) is not None:
            self._incoming.put(message)

    def _read(self, line: bytes) -> SessionMessage | None:
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except (ValueError, RecursionError):
            log.debug("%s printed a line that is no message", self._name)
            return None

    async def _send(self, program: Piped, outgoing: MemoryObjectReceiveStream[SessionMessage]) -> None:
        with suppress(anyio.ClosedResourceError):
            async for it in outgoing:
                body = it.message.model_dump_json(by_alias=True, exclude_unset=True)
                is_taken = program.write(f"{body}\n".encode("utf-8", "replace"))
                if program.is_closed:
                    program.stop()  # how it ended is told when it has
                elif not is_taken:
                    self._give_up(f"{self._name} does not read what it is sent")

    async def _follow(self, program: Piped) -> None:
        how = await program.ended()
        code = f" with code {how.exit_code}" if how.exit_code is not None else ""
        self._tell(f"{self._name} has stopped{code}{f': {how.problem}' if how.problem else ''}")

    def _give_up(self, reason: str) -> None:
        self._tell(reason)
        self._incoming.end()
        if self._piped is not None:
            self._piped.stop()

    def _tell(self, reason: str) -> None:
        is_news, self._is_wanted = self._is_wanted, False
        if is_news:
            self._ended(reason)


def _kind_of(line: bytes) -> Hashable | None:
    """Which news it has; none: it is something else."""
    if len(line) > LONGEST_NEWS or b'"notifications/' not in line:
        return None
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return kind_of(told.get("method"), told.get("params")) if is_object(told) and "id" not in told else None
