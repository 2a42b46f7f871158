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


EXPECTED = "https://login.example/authorize?client_id=x&state=s&code_challenge=y"


async def test_the_first_answer_counts_and_there_is_no_second():
    async with listening(0) as callback:
        callback.expect(EXPECTED)
        statuses = [await request(callback, f"/callback?code={it}&state=s") for it in ("first", "second")]

        assert await callback.answer(5) == {"code": "first", "state": "s"}
    assert statuses == [200, 404]


@pytest.mark.parametrize(
    "other",
    [
        {"target": "/favicon.ico"},
        {"target": "/callback?code=x&state=s", "method": "POST"},
        {"target": "/callback?code=x&state=s", "host": "evil.example"},
        {"target": "http://[/callback"},
        {"target": "/callback"},
        {"target": "/callback?code=evil"},
        {"target": "/callback?code=evil&state="},
        {"target": "/callback?code=evil&state=other"},
        {"target": "/callback?code=evil&state=other&state=s"},
        {"target": "/callback?code=evil&state=s%00"},
        {"target": "/callback?error=access_denied"},
    ],
    ids=str,
)
async def test_what_is_no_answer_is_not_taken(other):
    async with listening(0) as callback:
        callback.expect(EXPECTED)

        assert await request(callback, **other) in (0, 404)
        assert await request(callback, "/callback?code=x&state=s") == 200
        assert await callback.answer(5) == {"code": "x", "state": "s"}


async def test_before_anybody_was_sent_to_log_in_nothing_is_an_answer():
    async with listening(0) as callback:
        assert await request(callback, "/callback?code=x&state=") == 404
        with pytest.raises(ToolError, match="cannot be told from others"):
            callback.expect("https://login.example/authorize?client_id=x")


async def test_a_request_without_an_end_does_not_hold_up_others():
    async with listening(0) as callback:
        callback.expect(EXPECTED)
        _, writer = await asyncio.open_connection("127.0.0.1", int(callback.url.split(":")[2].split("/")[0]))
        writer.write(b"GET /callback?code=" + b"x" * 2**20)

        assert await request(callback, "/callback?code=x&state=s") == 200
        writer.close()


async def test_a_port_that_is_taken_is_told():
    async with listening(0) as callback:
        port = int(callback.url.split(":")[2].split("/")[0])

        with pytest.raises(ToolError, match=f"port {port} cannot be used for the login"):
            async with listening(port):
                pass
