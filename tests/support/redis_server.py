"""A real Redis on a socket in a folder: from the path, else Debian's, unpacked into the user's cache."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from redis.asyncio import Redis

from tests.editors.debian import Program, fetched

REDIS = Program("trixie", "redis-server", "usr/bin/redis-server")
PATIENCE = 60


class Server:
    """It can be ended and started again at the same place."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._program = shutil.which("redis-server") or str(fetched(REDIS))
        self._folder = folder
        self._options = options
        self._process: asyncio.subprocess.Process | None = None

    @property
    def socket(self) -> Path:
        return self._folder / "redis.sock"

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *(self._program, "--port", "0", "--unixsocket", str(self.socket), "--save", "", "--dir", str(self._folder)),
            *self._options,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        assert self._process.stdout is not None
        said = b""
        async with asyncio.timeout(PATIENCE):
            while b"ready to accept connections" not in said.lower():
                line = await self._process.stdout.readline()
                assert line, said.decode()
                said += line

    async def stop(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.communicate()

    @asynccontextmanager
    async def client(self, url: str | None = None) -> AsyncIterator[Redis]:
        client = Redis.from_url(url or self.url, decode_responses=True, protocol=2)
        try:
            yield client
        finally:
            await client.aclose()


@asynccontextmanager
async def running(folder: Path, *options: str) -> AsyncIterator[Server]:
    folder.mkdir(parents=True, exist_ok=True)
    server = Server(folder, *options)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
