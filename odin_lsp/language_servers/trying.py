"""Whether servers start: each is started once, and ended again."""

import asyncio
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from odin_lsp.commands.memory import memory_of
from odin_lsp.config import CacheSettings
from odin_lsp.intelligence.servers import Unavailable
from odin_lsp.language_servers.choosing import Around, Candidate
from odin_lsp.language_servers.own_server import OwnServer
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.search import Search


@dataclass(frozen=True, slots=True)
class Trial:
    candidate: Candidate
    seconds: float
    memory: int | None
    problem: str = ""
    complaints: str = ""
    """The last lines that it printed for people."""


async def try_out(candidates: Iterable[Candidate], root: Path, around: Around) -> list[Trial]:
    return await asyncio.gather(*(_tried(it, root, around) for it in candidates))


async def _tried(candidate: Candidate, root: Path, around: Around) -> Trial:
    files = Files([root], Buffers(), FileCache(CacheSettings()))
    scratch = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="odin-")).resolve()
    server = OwnServer(candidate, root, around, files, Search(files), scratch, lambda _: None)
    began, problem, memory = time.monotonic(), "", None
    try:
        await server.start(around.settings.timeout)
        memory = memory_of(server.pid) if server.pid is not None else None
    except Unavailable as error:
        problem = str(error)
    seconds = time.monotonic() - began
    await server.end()
    return Trial(candidate, seconds, memory, problem, server.complaints)
