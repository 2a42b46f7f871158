"""What it costs to hold a command to reading: beside one that is merely kept from writing, in turns."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from odin_lsp.commands.holding import Holding, Order
from odin_lsp.commands.output import Output
from odin_lsp.commands.runner import Runner, Spec
from odin_lsp.commands.session import SessionCommands
from odin_lsp.config import Config
from odin_lsp.permissions import sandbox
from odin_lsp.permissions.rules import Rules
from odin_lsp.permissions.shell import judge
from tests.bench.measure import Series

COMMANDS = ("cat a.txt", "ls -la", "git log --oneline -5", "git status", "rg -n nothing")


async def reading(folder: Path, command: str, times: int) -> Series:
    """Seconds from the verdict to the end of the command, a supervisor being ready."""
    runner, holding, series = Runner(), Holding(Config), Series()
    verdict = judge(command, mode="ask_mode", cwd=folder, roots=[folder], rules=Rules.of(Config(), root=folder))
    order = Order(command=verdict.hardened, cwd=folder, roots=[folder], mode="ask_mode", reads=verdict.reads)
    with_temporary = folder.parent / "temporary"
    with_temporary.mkdir(exist_ok=True)

    def held() -> Spec:
        return holding.of(order, with_temporary)[0]

    def kept_from_writing() -> Spec:
        return replace(ready, confinement=sandbox.confine(sandbox.Policy()))

    ready = held()
    try:
        for _ in range(times):
            series.odin.append(await _timed(runner, held, with_temporary))
            series.bare.append(await _timed(runner, kept_from_writing, with_temporary))
    finally:
        await runner.close()
    return series


async def back_to_back(folder: Path, command: str, times: int) -> Series:
    """Seconds from the call to the end of a command, one right behind the other; beside it, bash itself."""
    series, roots, rules = Series(), [folder], Rules.of(Config(), root=folder)
    commands = SessionCommands(
        Config, lambda *given: judge(given[0], mode=given[1], cwd=folder, roots=roots, rules=rules)
    )
    try:
        for _ in range(times):
            began = perf_counter()
            verdict = commands.judge(command, "ask_mode", folder, roots)
            order = Order(command=verdict.hardened, cwd=folder, roots=roots, mode="ask_mode", reads=verdict.reads)
            result = await commands.run(order, 60, lambda _: None)
            series.odin.append(perf_counter() - began)
            assert result.ended.exit_code == 0, result
            began = perf_counter()
            bash = await asyncio.create_subprocess_exec(
                "bash", "-c", command, cwd=folder, stdout=asyncio.subprocess.PIPE
            )
            await bash.communicate()
            series.bare.append(perf_counter() - began)
    finally:
        await commands.close()
    return series


async def _timed(runner: Runner, made: Callable[[], Spec], folder: Path) -> float:
    runner.prepare()
    output = Output(folder / "output", lambda text: None)
    began = perf_counter()
    ended = await (await runner.start(await asyncio.to_thread(made), output)).wait(60)
    seconds = perf_counter() - began
    assert ended.exit_code in (0, 1), (ended, output.shown)
    return seconds


def make_repository(folder: Path, files: int = 1000) -> None:
    """A repository of some size."""
    for number in range(files):
        path = folder / f"package{number % 40}" / f"module{number % 7}" / f"file{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"value = {number}\n")
    (folder / "a.txt").write_text("a\n")
    for line in ("init -q", "add .", "-c user.name=x -c user.email=x commit -q -m first"):
        os.spawnlp(os.P_WAIT, "git", "git", "-C", str(folder), *line.split())
