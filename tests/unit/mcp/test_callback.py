"""Where a browser brings the answer of a login."""

import asyncio

import pytest

from odin_lsp.errors import ToolError
from odin_lsp.mcp.callback import listening


async def request(callback, target, method="GET", host=None):
    """The status; 0 if there is no answer."""
    authority = callback.url.split("/")[2]
    reader, writer = await asyncio.open_connection("127.0.0.1", int(authority.split(":")[1]))
    writer.write(f"{method} {target} HTTP/1.1\r\nHost: {host or authority}\r\n\r\n".encode())
    said = (await reader.read()).decode()
    writer.close()
    return int(said.split()[1]) if said else 0


async def test_the_first_answer_counts_and_there_is_no_second():
    async with listening(0) as callback:
        statuses = [await request(callback, f"/callback?code={it}&state=s") for it in ("first", "second")]

        assert await callback.answer(5) == {"code": "first", "state": "s"}
    assert statuses == [200, 404]


@pytest.mark.parametrize(
    "other",
    [
        {"target": "/favicon.ico"},
        {"target": "/callback?code=x", "method": "POST"},
        {"target": "/callback?code=x", "host": "evil.example"},
        {"target": "http://[/callback"},
    ],
    ids=str,
)
async def test_what_is_no_answer_is_not_taken(other):
    async with listening(0) as callback:
        assert await request(callback, **other) in (0, 404)
        assert await request(callback, "/callback?code=x") == 200


async def test_a_request_without_an_end_does_not_hold_up_others():
    async with listening(0) as callback:
        _, writer = await asyncio.open_connection("127.0.0.1", int(callback.url.split(":")[2].split("/")[0]))
        writer.write(b"GET /callback?code=" + b"x" * 2**20)

        assert await request(callback, "/callback?code=x") == 200
        writer.close()


async def test_a_port_that_is_taken_is_told():
    async with listening(0) as callback:
        port = int(callback.url.split(":")[2].split("/")[0])

        with pytest.raises(ToolError, match=f"port {port} cannot be used for the login"):
            async with listening(port):
                pass
