"""What the plugin costs Neovim, without a screen: its start, until something is used, and reviews of many hunks."""

import asyncio
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench.measure import HERE, Series
from tests.editors import debian

PLUGIN = HERE.parents[1] / "editors" / "neovim"
HUNKS = 300
TIMES = 20


@dataclass
class Plugin:
    """Seconds of processor time."""

    start: list[float] = field(default_factory=list[float])
    opening: list[float] = field(default_factory=list[float])
    """Of a review of `HUNKS` hunks in one file, until they are drawn."""
    redraws: Series = field(default_factory=Series)
    """After one of them has changed; beside it, as many plain marks set anew."""


async def plugin(folder: Path, times: int) -> Plugin:
    found = Plugin()
    program = await asyncio.to_thread(debian.fetched, debian.NEOVIM)
    for _ in range(times):
        told = await _measured(program, folder)
        found.start.append(told["start"])
        found.opening.append(told["open"])
        found.redraws.odin += told["redraw"]
        found.redraws.bare += told["marks"]
    return found


async def _measured(program: Path, folder: Path) -> dict[str, Any]:
    given = json.dumps([str(PLUGIN), str(folder), HUNKS, TIMES])
    process = await asyncio.create_subprocess_exec(
        *(program, "-i", "NONE", "--headless", "--cmd", f"let g:bench = {given}", "-u", HERE / "neovim.lua"),
        env={**os.environ, **{f"XDG_{it}_HOME": str(folder) for it in ("CONFIG", "DATA", "STATE", "CACHE")}},
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    _, said = await process.communicate()
    if not (answer := folder / "found.json").exists():
        raise RuntimeError(f"Neovim ended with {process.returncode}: {said.decode()}")
    try:
        return json.loads(answer.read_text(encoding="utf-8"))
    finally:
        answer.unlink()
