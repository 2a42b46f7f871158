"""What a step costs with each provider, beside the provider's own SDK in the least loop that does the same."""

import asyncio
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from tests.bench.client import KEPT
from tests.bench.measure import HERE, Series
from tests.bench.wires import Provider, Wire

STEPS = 300
FILES = 40
"""Read one after the other, and each again when all are through, other lines of it."""
LINES = 20
EARLY, LATE = slice(10, 41), slice(-31, None)
"""The requests between which steps are measured, 30 of them: the kernel counts the time of one too coarsely."""
ASK = ("-m", "odin_lsp", "ask", "--json", "--no-host", "--max-turns", "0", "read the files")


@dataclass
class Steps:
    """Seconds of processor time that a step takes: one of the 10th to 40th, and one of the last 30."""

    early: Series = field(default_factory=Series)
    late: Series = field(default_factory=Series)

    @property
    def growth(self) -> float:
        return median(self.late.odin) / median(self.early.odin)


async def steps(workspace: Path, wire: Wire, times: int, number: int = STEPS) -> Steps:
    found = Steps()
    calls = list(_calls(workspace, number))
    for _ in range(times):
        for program, early, late in (
            (ASK, found.early.odin, found.late.odin),
            ((str(HERE / "bare_sdk.py"), wire.name), found.early.bare, found.late.bare),
        ):
            provider = Provider(wire, [("Read", it) for it in calls])
            await run(provider, program, workspace)
            early.append(_mean(provider.costs[EARLY]))
            late.append(_mean(provider.costs[LATE]))
    return found


def _mean(spent: Sequence[float]) -> float:
    """Between two of the moments at which so much had been spent."""
    return (spent[-1] - spent[0]) / (len(spent) - 1)


async def run(provider: Provider, program: tuple[str, ...], workspace: Path) -> None:
    """Until it ends."""
    async with provider.listening():
        process = await started(program, workspace, environment(provider, workspace))
        provider.client = process.pid
        code = await process.wait()
    if code or len(provider.replies) <= len(provider.calls):
        raise RuntimeError(f"{program} ended with {code} after {len(provider.replies)} requests")


async def started(
    program: tuple[str, ...], workspace: Path, environment: Mapping[str, str]
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *program,
        cwd=workspace,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
    )


def environment(provider: Provider, workspace: Path) -> dict[str, str]:
    """One of its own: no keys, no settings, no proxies."""
    (home := Path(f"{workspace}-home")).mkdir(exist_ok=True)
    return {
        **{name: os.environ[name] for name in KEPT if name in os.environ},
        "HOME": str(home),
        "ODIN_MODEL": provider.wire.model,
        "ODIN_TITLES": "0",
        **provider.wire.environment(provider.url),
    }


def _calls(workspace: Path, number: int) -> Iterator[dict[str, object]]:
    """Other lines in each step: the same call over and over would be taken for a loop."""
    paths = [workspace / f"module_{file}.py" for file in range(FILES)]
    for path in paths:
        lines = (f"value_{line} = {line}  # {path.name}\n" for line in range(number // FILES * LINES + 2 * LINES))
        path.write_text("".join(lines), encoding="utf-8")
    for step in range(number):
        yield {"file_path": str(paths[step % FILES]), "offset": step // FILES * LINES + 1, "limit": LINES}
