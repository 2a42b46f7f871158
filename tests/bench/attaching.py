"""What a command in a terminal costs: by itself, and with an Odin that is there already."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from tests.bench.measure import HERE, Series
from tests.bench.providers import ASK, environment, started
from tests.bench.wires import Provider, Wire

ATTACHED = ("-m", "odin_lsp", "ask", "--json", "read the files")
HOST = ("-m", "odin_lsp", "host", "run")
LOOK = 0.05


@dataclass
class Start:
    """Of a command, beside another one."""

    first_request: Series = field(default_factory=Series)
    """Seconds from its start to its first request."""
    work: Series = field(default_factory=Series)
    """Seconds of processor time that it takes until then."""
    memory: Series = field(default_factory=Series)
    """MiB that it has then."""


@dataclass
class Commands:
    attached: Start = field(default_factory=Start)
    """Beside a command that works by itself."""
    alone: Start = field(default_factory=Start)
    """Beside the least loop with the provider's SDK."""


async def attaching(workspace: Path, wire: Wire, times: int) -> Commands:
    found = Commands()
    async with Provider(wire, []).listening() as provider:
        host = await started((*HOST, "--cwd", str(workspace)), workspace, environment(provider, workspace))
        try:
            while not any(it.is_socket() for it in Path(f"{workspace}-home").rglob("*")):
                await asyncio.sleep(LOOK)
            await _command(provider, ATTACHED, workspace)  # the host has connected then
            for _ in range(times):
                attached = await _command(provider, ATTACHED, workspace)
                alone = await _command(provider, ASK, workspace)
                bare = await _command(provider, (str(HERE / "bare_sdk.py"), wire.name), workspace)
                for start, odin, beside in ((found.attached, attached, alone), (found.alone, alone, bare)):
                    for series, one, other in zip(
                        (start.first_request, start.work, start.memory), odin, beside, strict=True
                    ):
                        series.odin.append(one)
                        series.bare.append(other)
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
