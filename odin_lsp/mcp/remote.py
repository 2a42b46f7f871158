"""A server that is somewhere else: streamable HTTP, and what was there before it."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import httpx2
from mcp.client import Transport
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from odin_lsp.config import Network
from odin_lsp.errors import ToolError
from odin_lsp.loop_share import MOST_VALUES, values_in
from odin_lsp.mcp.elsewhere import Elsewhere
from odin_lsp.mcp.lines import MAX_MESSAGE
from odin_lsp.mcp.passing import passed

CONNECT_SECONDS = 30.0
PLAIN = {"Accept-Encoding": "identity"}
"""A little that is packed can be very much."""
SILENCE_SECONDS = 300.0
"""After which a stream is taken for dead. A call has a time of its own."""
UNUSABLE = "`network` in the settings cannot be used"


async def transport(
    url: str, headers: Mapping[str, str], network: Network, auth: httpx2.Auth | None, *, is_old: bool
) -> Transport:
    """`is_old`: the way before streamable HTTP, with a stream of events for all answers."""
    client = partial(_client, url, network, await asyncio.to_thread(_trusted, network))
    if is_old:
        return passed(sse_client(url, dict(headers), httpx_client_factory=client, auth=auth))
    return passed(_streamable(url, client(dict(headers), auth=auth)))


@asynccontextmanager
async def _streamable(url: str, client: httpx2.AsyncClient) -> AsyncGenerator[Any]:
    async with client, streamable_http_client(url, http_client=client, max_sse_event_size=MAX_MESSAGE) as streams:
        yield streams


def _client(
    url: str,
    network: Network,
    trusted: ssl.SSLContext,
    headers: dict[str, str] | None = None,
    timeout: httpx2.Timeout | None = None,
    auth: httpx2.Auth | None = None,
) -> httpx2.AsyncClient:
    try:
        return httpx2.AsyncClient(
            headers={**PLAIN, **(headers or {})},
            auth=auth,
            proxy=network.proxy,
            verify=trusted,
            timeout=timeout or httpx2.Timeout(CONNECT_SECONDS, read=SILENCE_SECONDS),
            event_hooks={"request": [Elsewhere(url, network).pin], "response": [_bound]},
        )
    except ValueError as error:
        raise ToolError(f"{UNUSABLE}: {error}") from None


def _trusted(network: Network) -> ssl.SSLContext:
    """Whom to trust. For a thread: reading certificates takes a tenth of a second."""
    bundle = network.ca_bundle
    try:
        return ssl.create_default_context(cafile=bundle) if bundle else httpx2.create_ssl_context()
    except OSError as error:
        raise ToolError(f"{UNUSABLE}: {error}") from None


async def _bound(response: httpx2.Response) -> None:
    """An answer in one piece; of a stream the SDK counts each event."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.DecodingError("it has sent a packed answer, which was not wanted")
    is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
    is_wanted = "text/event-stream" in response.request.headers.get("accept", "")
    if not (is_stream and is_wanted and response.is_success) and isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream)


class _Bounded(httpx2.AsyncByteStream):
    """An end comes sooner or later, whether or not the server says beforehand where it is."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = values = 0
        async for piece in self._stream:
            size += len(piece)
            values += values_in(piece)
            if size > MAX_MESSAGE:
                raise httpx2.StreamError(f"it has sent more than {MAX_MESSAGE // 2**20} MiB in one message")
            if values > MOST_VALUES:
                raise httpx2.StreamError(f"it has sent more than {MOST_VALUES:,} values in one message")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
