"""Which files have changed since a moment, by the times that the kernel gives them: nobody can set these."""

import asyncio
import os
import time
from collections.abc import Iterable

from odin_lsp.workspace.buffers import Stamp, stamp_of
from odin_lsp.workspace.opening import CLOCK_TICK_NS


async def moment() -> int:
    """Now. What has changed before is stamped no later; when this returns, what changes from there on is."""
    now = time.time_ns()
    await asyncio.sleep(CLOCK_TICK_NS / 1e9)
    return now


def changed_since(moment: int, folder: str, names: Iterable[str]) -> list[str]:
    """Those of the files that have changed after it, or come to be there. Links are not followed."""
    return [name for name in names if _stamp(f"{folder}/{name}") > moment]


def stamps(folder: str, names: Iterable[str]) -> dict[str, Stamp]:
    """Which text each of the files has, as far as that can be told without reading it."""
    found: dict[str, Stamp] = {}
    for name in names:
        try:
            found[name] = stamp_of(os.lstat(f"{folder}/{name}"))
        except OSError:
            continue
    return found


def _stamp(path: str) -> int:
    try:
        return os.lstat(path).st_ctime_ns
    except OSError:
        return 0
