"""Measurements with ten MCP servers of ten tools each: what the model is sent, when, and in how much memory."""

import asyncio
import json
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from tests.bench.client import LOOK, Client
from tests.bench.endpoint import Endpoint
from tests.bench.measure import Series, edit, prefix_of, running
from tests.support.mcp_servers import SCRIPT

SERVERS, TOOLS = 10, 10
TEXT = {"type": "string", "description": "What it is called in the tracker, or a part of that."}
SCHEMA = {
    "type": "object",
    "properties": {"project": TEXT, "query": TEXT, "limit": {"type": "integer", "description": "At most so many."}},
    "required": ["project"],
}


@dataclass
class WithServers:
    """Beside it, the same without servers."""

    unknown: Series = field(default_factory=Series)
    """Seconds from the command to the first request, where Odin has never seen the servers."""
    known: Series = field(default_factory=Series)
    memory: Series = field(default_factory=Series)
    """MiB of Odin when the turn has ended and it is at rest."""
    servers: list[float] = field(default_factory=list[float])
    """MiB of all of them."""
    prefix: int = 0
    prefix_without: int = 0


async def with_servers(workspace: Path, times: int) -> WithServers:
    found = WithServers()
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            home = _home(Path(folder) / "with", SERVERS)
            seconds, _, _ = await _turn(workspace, home)
            found.unknown.odin.append(seconds)
            seconds, found.prefix, memory = await _turn(workspace, home)
            found.known.odin.append(seconds)
            found.memory.odin.append(memory["odin"])
            found.servers.append(memory["servers"])
            seconds, found.prefix_without, memory = await _turn(workspace, _home(Path(folder) / "without", 0))
            found.unknown.bare.append(seconds)
            found.known.bare.append(seconds)
            found.memory.bare.append(memory["odin"])
    return found


def _home(folder: Path, servers: int) -> dict[str, str]:
    """The environment of a user who has so many servers."""
    (folder / "config" / "odin").mkdir(parents=True)
    entries: dict[str, Any] = {}
    for number in range(servers):
        about = "Search the issues of a project by words in their titles and texts, and list those that fit best."
        tools = [{"name": f"search_{it}", "description": f"{about} {it}", "inputSchema": SCHEMA} for it in range(TOOLS)]
        table = folder / f"server_{number}.json"
        table.write_text(json.dumps({"tools": tools}), encoding="utf-8")
        entries[f"tracker{number}"] = {"command": sys.executable, "args": [str(SCRIPT), str(table)]}
    (folder / "config" / "odin" / "mcp.json").write_text(json.dumps({"mcpServers": entries}), encoding="utf-8")
    names = {"HOME": "", "XDG_CONFIG_HOME": "config", "XDG_STATE_HOME": "state"}
    return {name: str(folder / it) for name, it in names.items()}


async def _turn(workspace: Path, home: dict[str, str]) -> tuple[float, int, dict[str, float]]:
    """Seconds to the first request, bytes of its prefix, and the memory of Odin and its servers afterwards."""
    async with Endpoint([]).listening() as endpoint, running(workspace, endpoint, **home) as client:
        began = perf_counter()
        await edit(client)
        return endpoint.arrivals[0] - began, prefix_of(endpoint.requests[0]), await _memory(client)


async def _memory(client: Client) -> dict[str, float]:
    while True:
        servers = (await client.command("odin.state", {}))["mcpServers"]
        if all(it["state"] == "ready" for it in servers):
            break
        assert all(it["state"] != "failed" for it in servers), servers
        await asyncio.sleep(LOOK)
    await client.at_rest()
    return {"odin": client.memory, "servers": sum(it["memory"] for it in servers) / 2**20}
