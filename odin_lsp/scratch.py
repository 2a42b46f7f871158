"""A folder for a while, which is removed with all that is in it: beside the event loop, since that can be much."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path


@asynccontextmanager
async def temporary_folder(prefix: str) -> AsyncGenerator[Path]:
    name = tempfile.mkdtemp(prefix=prefix)
    try:
        yield Path(name)
    finally:
        await asyncio.to_thread(shutil.rmtree, name, ignore_errors=True)
