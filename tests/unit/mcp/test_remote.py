"""Servers behind HTTP: streamable, and the way before it."""

import asyncio
import ssl
import sys
import threading

import pytest

from odin_lsp.config import McpSettings
from odin_lsp.errors import ToolError
from odin_lsp.extensions.mcp_files import McpServer
from odin_lsp.mcp.connection import Around
from odin_lsp.mcp.pool import McpServers
from tests.support.mcp_servers import SCRIPT
from tests.support.ports import reserved_port

PATHS = {"streamable-http": ("http", "/mcp"), "sse": ("sse", "/sse")}


class Remote:
    """A server that can be stopped, and started again at the same place."""

    def __init__(self, kind, port):
        self.kind, self.port = kind, port
        transport, path = PATHS[kind]
        self.entry = McpServer(name="toy", transport=transport, url=f"http://127.0.0.1:{self.port}{path}")

    async def start(self):
        script = str(SCRIPT.with_name("http_mcp_server.py"))
        words = sys.executable, script, str(self.port), self.kind
        self.process = await asyncio.create_subprocess_exec(*words, stderr=asyncio.subprocess.DEVNULL)
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return

    async def stop(self):
        self.process.kill()
        await self.process.wait()


@pytest.fixture
async def remote(request, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with reserved_port() as port:
        remote = Remote(request.param, port)
        await remote.start()
        yield remote
        await remote.stop()


@pytest.fixture
async def pool(tmp_path):
    told = []
    pool = McpServers(lambda *it: told.append(it), pauses=(0.0, 0.0, 0.0))
    pool.told = told
    pool.around = Around((tmp_path,), McpSettings(timeout=20))
    yield pool
    await pool.close()


async def add(pool):
    offered = pool.offered["mcp__toy__add"]
    return (await pool.of("toy").call(offered, {"a": 2, "b": 3}, print, None)).text


@pytest.mark.parametrize("remote", PATHS, indirect=True)
async def test_its_tools_are_listed_and_called(remote, pool):
    pool.use({"toy": remote.entry}, pool.around)

    await pool.begin(20)

    assert await add(pool) == "5"
    assert [level for level, _ in pool.told] == (["info"] if remote.kind == "sse" else [])


@pytest.mark.parametrize("remote", ["streamable-http"], indirect=True)
async def test_one_that_was_stopped_is_told_of_and_reached_again(remote, pool):
    pool.use({"toy": remote.entry}, pool.around)
    await pool.begin(20)
    await add(pool)
    await remote.stop()

    with pytest.raises(ToolError):
        await add(pool)
    assert [it.state for it in pool.states()] == ["retrying"]
    await remote.start()

    assert await add(pool) == "5"


@pytest.mark.parametrize("remote", PATHS, indirect=True)
async def test_certificates_are_read_beside_the_loop(remote, pool, monkeypatch):
    threads, load = list[int](), ssl.SSLContext.load_verify_locations

    def loading(context, *places, **more):
        threads.append(threading.get_ident())
        load(context, *places, **more)

    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", loading)
    pool.use({"toy": remote.entry}, pool.around)
    await pool.begin(20)

    assert await add(pool) == "5"
    assert threads
    assert threading.get_ident() not in threads
