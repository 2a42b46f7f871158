"""Where a browser brings the answer of a login: one request on this machine with the login's own state, and no second
one."""

import asyncio
import hmac
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from urllib.parse import parse_qs, urlsplit

from odin_lsp.errors import ToolError

PATH = "/callback"
MAX_REQUEST = 16 * 1024
REQUEST_SECONDS = 10.0
PAGE = "<!doctype html><meta charset=utf-8><title>Odin</title><p>{}"
TAKEN = "Odin has the answer. You can close this page."
NOT_TAKEN = "There is nothing here."
HEADERS = (
    "Content-Type: text/html",
    "Connection: close",
    "Cache-Control: no-store",
    "Referrer-Policy: no-referrer",
    "Content-Security-Policy: default-src 'none'",
)


@asynccontextmanager
async def listening(port: int) -> "AsyncGenerator[Callback]":
    """A client that the user has registered has a port, and is known by `localhost`, as other programs write it."""
    try:
        listener = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise ToolError(f"port {port} cannot be used for the login: {error.strerror}") from None
    callback = Callback(f"{'localhost' if port else '127.0.0.1'}:{listener.getsockname()[1]}")
    server = await asyncio.start_server(callback.serve, sock=listener, limit=MAX_REQUEST)
    try:
        yield callback
    finally:
        server.close()


class Callback:
    def __init__(self, authority: str) -> None:
        self._authority = authority
        self._state = ""
        self._answer: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()

    @property
    def url(self) -> str:
        return f"http://{self._authority}{PATH}"

    def expect(self, address: str) -> None:
        """Take the answer to this address, and no other: any page can have a browser come here. Raises `ToolError`."""
        states = parse_qs(urlsplit(address).query).get("state", [])
        if len(states) != 1:
            raise ToolError("the login cannot be told from others (it has no state)")
        self._state = states[0]

    async def answer(self, seconds: float) -> dict[str, str]:
        """What the browser has brought."""
        try:
            async with asyncio.timeout(seconds):
                return await self._answer
        except TimeoutError:
            raise ToolError(f"nobody has logged in within {seconds:.0f} s") from None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.LimitOverrunError, asyncio.IncompleteReadError, TimeoutError, ValueError):
            async with asyncio.timeout(REQUEST_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                is_taken = self._take(head.decode("latin-1"))
                writer.write(_page(is_taken=is_taken))
                await writer.drain()
        writer.close()

    def _take(self, head: str) -> bool:
        """The first request counts that is for this address, since another name could be that of a page on the net, and
        for this login. Others use nothing up."""
        first, *lines = head.split("\r\n")
        method, _, rest = first.partition(" ")
        address = urlsplit(rest.partition(" ")[0])
        hosts = [value.strip() for name, _, value in (it.partition(":") for it in lines) if name.lower() == "host"]
        if method != "GET" or address.path != PATH or hosts != [self._authority] or self._answer.done():
            return False
        said = parse_qs(address.query)
        is_meant = hmac.compare_digest("\0".join(said.get("state", [])).encode(), self._state.encode())
        if not self._state or not is_meant:
            return False
        self._answer.set_result({name: values[0] for name, values in said.items()})
        return True


def _page(*, is_taken: bool) -> bytes:
    page = PAGE.format(TAKEN if is_taken else NOT_TAKEN).encode()
    lines = ("HTTP/1.1 200 OK" if is_taken else "HTTP/1.1 404 Not Found", f"Content-Length: {len(page)}", *HEADERS)
    return "\r\n".join((*lines, "", "")).encode() + page
