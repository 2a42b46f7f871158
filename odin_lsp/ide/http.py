"""As much of HTTP as programs on one machine need to speak MCP: a request and its answer, and a stream."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus

from odin_lsp.frames import MAX_FRAME

MAX_HEAD = 16 * 1024
HEAD_SECONDS = 10.0
BODY_SECONDS = 60.0
_LENGTH = re.compile(r"[0-9]{1,12}")


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]
    """By their names in lower case; of one that comes twice, both with a comma between."""
    body: bytes


@dataclass(frozen=True, slots=True)
class Response:
    status: HTTPStatus
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    stream: "Callable[[Write], Awaitable[None]] | None" = None
    """What follows, as long as the other side listens."""


Write = Callable[[bytes], Awaitable[None]]
Handle = Callable[[Request], Awaitable[Response]]
Check = Callable[[Request], HTTPStatus]
"""Of a request whose body was not read yet: whether it may go on (`CONTINUE`), or what it is answered."""


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, check: Check, handle: Handle) -> None:
    """One request of a connection: each has its own."""
    try:
        request = await _head(reader)
        status = check(request) if request else HTTPStatus.BAD_REQUEST
        response = Response(status)
        if request and status == HTTPStatus.CONTINUE:
            whole = await _with_body(request, reader)
            response = Response(HTTPStatus.REQUEST_ENTITY_TOO_LARGE) if whole is None else await handle(whole)
        writer.write(_response(response))
        await writer.drain()
        if response.stream is not None:
            await _stream(reader, writer, response.stream)
    except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
        pass
    finally:
        writer.close()


async def _head(reader: asyncio.StreamReader) -> Request | None:
    async with asyncio.timeout(HEAD_SECONDS):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip("\r\n").split("\r\n")
    match first.split(" "):
        case [method, path, "HTTP/1.1" | "HTTP/1.0"]:
            headers: dict[str, str] = {}
            for line in lines:
                name, _, value = line.partition(":")
                known = headers.get(name.lower())
                headers[name.lower()] = value.strip() if known is None else f"{known},{value.strip()}"
            return Request(method, path, headers, b"")
        case _:
            return None


async def _with_body(request: Request, reader: asyncio.StreamReader) -> Request | None:
    """`None` if it is too long, or nobody knows how long."""
    length = request.headers.get("content-length", "0")
    if "transfer-encoding" in request.headers or not _LENGTH.fullmatch(length) or int(length) > MAX_FRAME:
        return None
    async with asyncio.timeout(BODY_SECONDS):
        return Request(request.method, request.path, request.headers, await reader.readexactly(int(length)))


def _response(response: Response) -> bytes:
    status = response.status
    headers = {"Connection": "close", "Cache-Control": "no-store", **response.headers}
    if response.stream is None:
        headers["Content-Length"] = str(len(response.body))
    lines = [f"HTTP/1.1 {status.value} {status.phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join((*lines, "", "")).encode("latin-1") + response.body


async def _stream(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, stream: Callable[[Write], Awaitable[None]]
) -> None:
    """Until the other side hangs up."""

    async def write(data: bytes) -> None:
        writer.write(data)
        await writer.drain()

    telling = asyncio.ensure_future(stream(write))
    leaving = asyncio.ensure_future(_left(reader))
    try:
        await asyncio.wait((telling, leaving), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for it in (telling, leaving):
            it.cancel()
        await asyncio.gather(telling, leaving, return_exceptions=True)


async def _left(reader: asyncio.StreamReader) -> None:
    with suppress(OSError):
        while await reader.read(1024):
            pass
