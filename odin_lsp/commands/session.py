"""What one session runs: how it is judged and confined, where its output is, what goes on in the background."""

import asyncio
import os
import secrets
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from odin_lsp import state_folder, system
from odin_lsp.commands.background import Background, BackgroundCommand
from odin_lsp.commands.environment import program_search
from odin_lsp.commands.holding import Hold, Holding, Order
from odin_lsp.commands.output import Output
from odin_lsp.commands.runner import Ended, Runner, Running
from odin_lsp.config import Config
from odin_lsp.modes import Mode
from odin_lsp.permissions.program_search import TrustedFolders, trust_no_folder
from odin_lsp.permissions.rules import Rules
from odin_lsp.permissions.shell import CommandVerdict, judge

Judge = Callable[[str, Mode, Path, Sequence[Path]], CommandVerdict]


def judged_by(rules: Callable[[Mode], Rules], trusted: TrustedFolders = trust_no_folder) -> Judge:
    """By the shell policy, these rules and what is trusted, as they are at the time."""

    def judged(command: str, mode: Mode, cwd: Path, roots: Sequence[Path]) -> CommandVerdict:
        search = program_search(os.environ, cwd, roots, trusted())
        return judge(command, mode=mode, cwd=cwd, roots=roots, rules=rules(mode), search=search)

    return judged


@dataclass(frozen=True, slots=True)
class Result:
    ended: Ended
    text: str
    """What it printed, or the beginning and the end of it."""
    notes: tuple[str, ...]


class SessionCommands:
    def __init__(
        self, config: Callable[[], Config], judged_by: Judge, trusted: TrustedFolders = trust_no_folder
    ) -> None:
        """`trusted`: the folders whose own programs commands may use."""
        self.judge = judged_by
        self.background = Background()
        self.holding = Holding(config, trusted)
        self._config = config
        self._runner = Runner()
        self._folder: Path | None = None
        self._is_swept = False
        self._count = 0

    @property
    def folder(self) -> Path:
        """For output, private to the user; gone when the session ends."""
        if self._folder is None:
            parent = state_folder.folder() / "commands"
            self._folder = state_folder.scratch_folder(parent, f"{os.getpid()}-{secrets.token_hex(8)}")
        return self._folder

    @property
    def default_timeout(self) -> float:
        return self._config().commands.timeout

    def prepare(self) -> None:
        """A command is about to come."""
        self._runner.prepare()

    async def run(self, order: Order, timeout: float, watch: Callable[[str], None]) -> Result:
        """Run it to its end, and end it when the caller is cancelled."""
        output = self.output(watch)
        running, hold = await self._start(order, output)
        try:
            ended = await running.wait(timeout)
        finally:
            taken = await asyncio.to_thread(self._tidied_up, hold)
        return Result(ended, output.shown, tuple(_taken_out(path, place) for path, place in taken))

    async def start(
        self, order: Order, description: str, watch: Callable[[str], None], on_end: Callable[[BackgroundCommand], None]
    ) -> BackgroundCommand:
        """Let it run in the background."""
        self.background.check_room()
        output = self.output(watch, always_in_file=True)
        running, hold = await self._start(order, output)

        def ended(command: BackgroundCommand) -> None:
            new = hold.guard.appeared() if hold.guard else ()
            command.notes = tuple(f"{path} is protected, and new since then; have a look at it" for path in new)
            asyncio.get_running_loop().run_in_executor(None, hold.tidy_up)
            on_end(command)

        return self.background.add(order.command, description, output, running, ended)

    async def close(self) -> None:
        await self._runner.close()
        await self.background.settled()
        if self._folder is not None:
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
            self._folder = None

    def output(self, watch: Callable[[str], None] = lambda _: None, *, always_in_file: bool = False) -> Output:
        """For what is printed or answered: as much as is shown, and all of it in a file."""
        self._count += 1
        return Output(self.folder / f"output-{self._count}.txt", watch, always_in_file=always_in_file)

    async def _start(self, order: Order, output: Output) -> tuple[Running, Hold]:
        spec, hold = await asyncio.to_thread(self.holding.of, order, self.folder)
        running = await self._runner.start(spec, output)
        if not self._is_swept:
            self._is_swept = True
            asyncio.get_running_loop().run_in_executor(None, _sweep, self.folder.parent)
        return running, hold

    def _tidied_up(self, hold: Hold) -> list[tuple[Path, Path]]:
        taken = hold.guard.take_out(self.folder / "taken-out") if hold.guard else []
        hold.tidy_up()
        return taken


def _taken_out(path: Path, place: Path) -> str:
    return (
        f"{path} is protected and the command made it: it was moved to {place}; use WriteFile, so that the user sees it"
    )


def _sweep(parent: Path) -> None:
    """Remove the folders of processes that ended without doing so."""
    for folder in parent.iterdir() if parent.is_dir() else ():
        with suppress(ValueError):
            if not system.is_alive(int(folder.name.partition("-")[0])):
                shutil.rmtree(folder, ignore_errors=True)
