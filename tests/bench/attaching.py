"""What a command in a terminal costs: by itself, and with an Odin that is there already."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from tests.bench.measure import Series
from tests.bench.providers import ASK, environment, started
from tests.bench.wires import Provider, Wire

ATTACHED = ("-m", "odin_lsp", "ask", "--json", "read the files")
HOST = ("-m", "odin_lsp", "host", "run")
LOOK = 0.05


@dataclass
class Commands:
    """Of a command that attaches; beside it, of one that works by itself."""

    first_request: Series = field(default_factory=Series)
    """Seconds from its start to its first request."""
    work: Series = field(default_factory=Series)
    """Seconds of processor time that it takes until then."""
    memory: Series = field(default_factory=Series)
    """MiB that it has then."""


async def attaching(workspace: Path, wire: Wire, times: int) -> Commands:
    found = Commands()
    async with Provider(wire, []).listening() as provider:
        host = await started((*HOST, "--cwd", str(workspace)), workspace, environment(provider, workspace))
        try:
            while not any(it.is_socket() for it in Path(f"{workspace}-home").rglob("*")):
                await asyncio.sleep(LOOK)
            await _command(provider, ATTACHED, workspace)  # the host has loaded the SDK then
            for _ in range(times):
                for program, which in ((ATTACHED, "odin"), (ASK, "bare")):
                    for series, value in zip(
                        (found.first_request, found.work, found.memory),
                        await _command(provider, program, workspace),
                        strict=True,
                    ):
                        getattr(series, which).append(value)
        finally:
            host.terminate()
            await host.wait()
    return found


async def _command(provider: Provider, program: tuple[str, ...], workspace: Path) -> tuple[float, float, float]:
    before, began = len(provider.arrivals), perf_counter()
    process = await started(program, workspace, environment(provider, workspace))
    provider.client, provider.sizes = process.pid, []
    if await process.wait() or len(provider.arrivals) != before + 1:
        raise RuntimeError(f"{program} made {len(provider.arrivals) - before} requests")
    return provider.arrivals[before] - began, provider.costs[before], provider.sizes[0]
