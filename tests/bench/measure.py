"""The measurements: each of Odin and of a bare baseline, in turns, so that a busy machine slows both."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import Any

from tests.bench.client import Client, started
from tests.bench.endpoint import Endpoint

HERE = Path(__file__).parent.absolute()
ODIN = ("-m", "odin_lsp")
BARE_SERVER = (str(HERE / "bare_server.py"),)
BARE_LOOP = (str(HERE / "bare_loop.py"),)
STEPS = 20


@dataclass
class Series:
    """One figure, of Odin and of its baseline."""

    odin: list[float] = field(default_factory=list[float])
    bare: list[float] = field(default_factory=list[float])

    @property
    def ratio(self) -> float:
        return median(self.odin) / median(self.bare)


def percentile_99(values: list[float]) -> float:
    return quantiles(values, n=100)[98]


async def startup(workspace: Path, times: int) -> Series:
    """Seconds from the start of the process to the answer to `initialize`."""
    series = Series()
    for _ in range(times):
        series.odin.append(await _startup(workspace, ODIN))
        series.bare.append(await _startup(workspace, BARE_SERVER))
    return series


async def _startup(workspace: Path, command: tuple[str, ...]) -> float:
    began = perf_counter()
    async with started(*command, workspace=workspace) as client:
        await client.initialize(workspace)
        return perf_counter() - began


async def idle_memory(workspace: Path, times: int) -> tuple[Series, Series]:
    """MiB of a server that has nothing to do: without a key, and connected to a provider."""
    offline, warmed = Series(), Series()
    for _ in range(times):
        bare = await _idle_memory(workspace, BARE_SERVER)
        for series, variables in ((offline, {}), (warmed, _provider("http://127.0.0.1:9"))):
            series.odin.append(await _idle_memory(workspace, ODIN, **variables))
            series.bare.append(bare)
    return offline, warmed


def sdk_memory() -> float:
    """MiB of Python that has imported Anthropic's SDK and nothing else."""
    script = "import anthropic; print(*open('/proc/self/status'), sep='')"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True).stdout
    return next(int(line.split()[1]) for line in told.splitlines() if line.startswith("VmRSS")) / 1024


async def _idle_memory(workspace: Path, command: tuple[str, ...], **variables: str) -> float:
    async with started(*command, workspace=workspace, **variables) as client:
        await client.initialize(workspace)
        await client.at_rest()
        return client.memory


@dataclass
class LentNothing:
    """What a server costs whose editor lends it no language server, so that it starts its own."""

    odin: Series = field(default_factory=Series)
    """MiB of Odin with pyright behind it, both idle; beside it, Odin before it has started any."""
    pyright: list[float] = field(default_factory=list[float])
    """MiB of that."""


async def own_language_server(workspace: Path, times: int) -> LentNothing:
    found = LentNothing()
    first, *_ = make_files(workspace)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for _ in range(times):
        async with started(*ODIN, workspace=workspace, PATH=path) as client:
            await client.initialize(workspace)
            await client.at_rest()
            found.odin.bare.append(client.memory)
            await client.command("odin.ask", {"text": f"where is `value_1` of {first.name} used?"})
            await client.at_rest()
            found.odin.odin.append(client.memory)
            servers = {it["name"]: it for it in (await client.command("odin.state", {}))["languageServers"]}
            assert servers["pyright"]["state"] == "ready"
            found.pyright.append(servers["pyright"]["memory"] / 2**20)
    return found


@dataclass
class Turns:
    """What turns of `STEPS` steps show."""

    first_request: Series = field(default_factory=Series)
    """Seconds from the command, or the start of the bare loop's process, to the first request."""
    overhead: Series = field(default_factory=Series)
    """Seconds from a reply's last byte to the next request."""
    memory: Series = field(default_factory=Series)
    """MiB when the turn has ended."""
    prefix: int = 0
    """Bytes of system prompt and tools, in Edit mode."""


async def turns(workspace: Path, times: int) -> Turns:
    result = Turns()
    files = make_files(workspace)
    for _ in range(times):
        async with Endpoint(files).listening() as endpoint, running(workspace, endpoint) as client:
            began = perf_counter()
            await edit(client)
            result.first_request.odin.append(endpoint.arrivals[0] - began)
            result.overhead.odin += endpoint.gaps
            result.memory.odin.append(client.memory)
            result.prefix = prefix_of(endpoint.requests[0])
        began = perf_counter()
        async with Endpoint(files, held=True).listening() as endpoint, _loop(workspace, endpoint) as client:
            await endpoint.talking.wait()
            result.first_request.bare.append(endpoint.arrivals[0] - began)
            result.overhead.bare += endpoint.gaps
            result.memory.bare.append(client.memory)
    return result


async def first_tokens(workspace: Path, times: int, deltas: int = 200) -> Series:
    """Seconds from a delta's bytes at the provider to the event in the editor."""
    series = Series()
    for _ in range(times):
        async with Endpoint([], deltas).listening() as endpoint, running(workspace, endpoint) as client:
            await edit(client)
            series.odin += _delays(endpoint, client)
        async with Endpoint([], deltas).listening() as endpoint, _loop(workspace, endpoint) as client:
            await client.finished()
            series.bare += _delays(endpoint, client)
    return series


async def cancelling(workspace: Path, times: int) -> Series:
    """Seconds from the wish to stop to the end of the provider's connection; a bare loop is simply killed."""
    series = Series()
    for _ in range(times):
        async with Endpoint([], held=True).listening() as endpoint, running(workspace, endpoint) as client:
            turn = asyncio.create_task(edit(client))
            await endpoint.talking.wait()
            began = perf_counter()
            await client.command("odin.cancel", {})
            series.odin.append(await endpoint.hung_up - began)
            await turn
        async with Endpoint([], held=True).listening() as endpoint, _loop(workspace, endpoint) as client:
            await endpoint.talking.wait()
            began = perf_counter()
            await client.kill()
            series.bare.append(await endpoint.hung_up - began)
    return series


@asynccontextmanager
async def running(workspace: Path, endpoint: Endpoint, **variables: str) -> Any:
    """A server that has been running for a while."""
    async with started(*ODIN, workspace=workspace, **_provider(endpoint.url), **variables) as client:
        await client.initialize(workspace)
        await client.at_rest()
        yield client


def _loop(workspace: Path, endpoint: Endpoint) -> Any:
    return started(*BARE_LOOP, workspace=workspace, **_provider(endpoint.url))


def _provider(url: str) -> dict[str, str]:
    model = "anthropic/claude-sonnet-5-5"
    return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "fake", "ODIN_MODEL": model, "ODIN_TITLES": "0"}


async def edit(client: Client) -> None:
    outcome = await client.command("odin.edit", {"text": "read the files"})
    if outcome["reason"] not in ("end_turn", "interrupted"):
        raise RuntimeError(f"the turn ended with {outcome['reason']}: {outcome.get('detail')}")


def make_files(workspace: Path) -> list[Path]:
    """A different one for each step: the same call over and over would be taken for a loop."""
    paths = [workspace / f"module_{number}.py" for number in range(STEPS)]
    for path in paths:
        path.write_text("".join(f"value_{line} = {line}  # {path.name}\n" for line in range(200)), encoding="utf-8")
    return paths


def _delays(endpoint: Endpoint, client: Client) -> list[float]:
    return [client.heard[number] - written for number, written in enumerate(endpoint.spoken)]


def prefix_of(request: dict[str, Any]) -> int:
    return len(json.dumps([request["system"], request["tools"]], ensure_ascii=False).encode())
