"""What one session runs: how it is judged and confined, where its output is, what goes on in the background."""

import asyncio
import os
import secrets
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from odin_lsp.commands.background import Background, BackgroundCommand
from odin_lsp.commands.environment import child_environment, find_shell, find_virtual_environment
from odin_lsp.commands.guard import Guard
from odin_lsp.commands.output import Output
from odin_lsp.commands.runner import Ended, Runner, Running, Spec
from odin_lsp.config import Config
from odin_lsp.errors import ToolError
from odin_lsp.events import Mode
from odin_lsp.permissions import sandbox
from odin_lsp.permissions.rules import Rules
from odin_lsp.permissions.shell import CommandVerdict, judge
from odin_lsp.workspace.files import vouches

Judge = Callable[[str, Mode, Path, Sequence[Path]], CommandVerdict]


def judged_by(rules: Callable[[Mode], Rules]) -> Judge:
    """By the shell policy and these rules, as they are at the time."""
    return lambda command, mode, cwd, roots: judge(command, mode=mode, cwd=cwd, roots=roots, rules=rules(mode))


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A command that may run."""

    command: str
    cwd: Path
    roots: Sequence[Path]
    mode: Mode


@dataclass(frozen=True, slots=True)
class Result:
    ended: Ended
    text: str
    """What it printed, or the beginning and the end of it."""
    notes: tuple[str, ...]


class SessionCommands:
    def __init__(self, config: Callable[[], Config], judged_by: Judge) -> None:
        self.judge = judged_by
        self.background = Background()
        self._config = config
        self._runner = Runner()
        self._folder: Path | None = None
        self._count = 0

    @property
    def folder(self) -> Path:
        """For output, private to the user; gone when the session ends."""
        if self._folder is None:
            parent = Path(platformdirs.user_state_dir("odin", appauthor=False)) / "commands"
            parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _sweep(parent)
            self._folder = parent / f"{os.getpid()}-{secrets.token_hex(8)}"
            self._folder.mkdir(mode=0o700)
        return self._folder

    @property
    def default_timeout(self) -> float:
        return self._config().commands.timeout

    async def run(self, order: Order, timeout: float, watch: Callable[[str], None]) -> Result:
        """Run it to its end, and end it when the caller is cancelled."""
        output = self._output(watch)
        running, guard = await self._start(order, output)
        try:
            ended = await running.wait(timeout)
        finally:
            taken = guard.take_out(self.folder / "taken-out") if guard else []
        return Result(ended, output.shown, tuple(_taken_out(path, place) for path, place in taken))

    async def start(
        self, order: Order, description: str, watch: Callable[[str], None], on_end: Callable[[BackgroundCommand], None]
    ) -> BackgroundCommand:
        """Let it run in the background."""
        self.background.check_room()
        output = self._output(watch, always_in_file=True)
        running, guard = await self._start(order, output)

        def ended(command: BackgroundCommand) -> None:
            new = guard.appeared() if guard else ()
            command.notes = tuple(f"{path} is protected, and new since then; have a look at it" for path in new)
            on_end(command)

        return self.background.add(order.command, description, output, running, ended)

    async def close(self) -> None:
        await self._runner.close()
        await self.background.settled()
        if self._folder is not None:
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
            self._folder = None

    def prepare(self) -> None:
        """Have everything ready for the first command."""
        self._runner.prepare()

    def _output(self, watch: Callable[[str], None], *, always_in_file: bool = False) -> Output:
        self._count += 1
        return Output(self.folder / f"output-{self._count}.txt", watch, always_in_file=always_in_file)

    async def _start(self, order: Order, output: Output) -> tuple[Running, Guard | None]:
        shell = find_shell()
        if shell is None:
            raise ToolError("bash is not installed: commands are judged as bash, and nothing else runs them")
        confinement, guard, temporary = await asyncio.to_thread(self._confined, order)
        config = self._config()
        edits = order.mode == "edit_mode"
        environment = child_environment(
            os.environ,
            order.roots,
            secret_names={name for names in config.keys.values() for name in names},
            passed=config.commands.environment,
            virtual_environment=find_virtual_environment(order.cwd, order.roots) if edits else None,
            temporary=temporary,
        )
        spec = Spec(
            argv=(shell, "--noprofile", "--norc", "-c", order.command),
            cwd=order.cwd,
            environment=environment,
            confinement=confinement,
        )
        return await self._runner.start(spec, output), guard

    def _confined(self, order: Order) -> tuple[sandbox.Confinement | None, Guard | None, Path | None]:
        """How the kernel holds it, who looks after protected files, and where it may put temporary files."""
        config = self._config()
        if order.mode != "edit_mode":
            return sandbox.confine(sandbox.Policy()), None, None
        if not config.sandbox:
            return None, None, None
        roots = [root for root in order.roots if vouches(root)]
        guard = Guard(roots)
        temporary = self.folder / "tmp"
        temporary.mkdir(mode=0o700, exist_ok=True)
        policy = sandbox.Policy((*roots, temporary), config.commands.network, guard.protect)
        confinement = sandbox.confine(policy)
        if confinement is None:
            raise ToolError("`sandbox` is on, but no sandbox works here; `odin-lsp doctor` says why")
        return confinement, guard, temporary


def _taken_out(path: Path, place: Path) -> str:
    return (
        f"{path} is protected and the command made it: it was moved to {place}; use WriteFile, so that the user sees it"
    )


def _sweep(parent: Path) -> None:
    """Remove the folders of processes that ended without doing so."""
    for folder in parent.iterdir():
        with suppress(ValueError):
            if not _alive(int(folder.name.partition("-")[0])):
                shutil.rmtree(folder, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
