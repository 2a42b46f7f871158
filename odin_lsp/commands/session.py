"""What one session runs: how it is judged and confined, where its output is, what goes on in the background."""

import asyncio
import os
import secrets
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import platformdirs

from odin_lsp.commands.background import Background, BackgroundCommand
from odin_lsp.commands.environment import child_environment, find_shell, find_virtual_environment
from odin_lsp.commands.guard import Guard
from odin_lsp.commands.output import Output
from odin_lsp.commands.runner import Ended, Runner, Running, Spec
from odin_lsp.config import Config, FileRules
from odin_lsp.errors import ToolError
from odin_lsp.events import Mode
from odin_lsp.permissions import reader, sandbox
from odin_lsp.permissions.reader import Reads
from odin_lsp.permissions.rules import Rules
from odin_lsp.permissions.shell import CommandVerdict, git_environment, judge
from odin_lsp.workspace.files import vouches
from odin_lsp.workspace.hidden import Hidden
from odin_lsp.workspace.ignore import Ignore

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
    reads: Reads | None = None
    """What it may open, if it runs because it only reads; none: the user or a rule of theirs has allowed it."""

    @property
    def held_to(self) -> Reads | None:
        """The same; in Ask and Plan there is nothing else."""
        return self.reads or (None if self.mode == "edit_mode" else Reads())


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
        self._hides: tuple[tuple[tuple[Path, ...], FileRules], Hidden] | None = None
        self._looking = threading.Lock()

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

    @property
    def rights_of_allowed(self) -> str:
        """What a command can do that the user allows, in words for the user."""
        if not self._config().sandbox:
            return "it would run with all your rights"
        network = "and use the network" if self._config().commands.network else "and not use the network"
        return f"in the sandbox it can change the workspace alone, {network}"

    async def run(self, order: Order, timeout: float, watch: Callable[[str], None]) -> Result:
        """Run it to its end, and end it when the caller is cancelled."""
        output = self._output(watch)
        running, hold = await self._start(order, output)
        try:
            ended = await running.wait(timeout)
        finally:
            taken = hold.guard.take_out(self.folder / "taken-out") if hold.guard else []
            hold.tidy_up()
        return Result(ended, output.shown, tuple(_taken_out(path, place) for path, place in taken))

    async def start(
        self, order: Order, description: str, watch: Callable[[str], None], on_end: Callable[[BackgroundCommand], None]
    ) -> BackgroundCommand:
        """Let it run in the background."""
        self.background.check_room()
        output = self._output(watch, always_in_file=True)
        running, hold = await self._start(order, output)

        def ended(command: BackgroundCommand) -> None:
            new = hold.guard.appeared() if hold.guard else ()
            command.notes = tuple(f"{path} is protected, and new since then; have a look at it" for path in new)
            hold.tidy_up()
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

    async def _start(self, order: Order, output: Output) -> tuple[Running, "_Hold"]:
        shell = find_shell()
        if shell is None:
            raise ToolError("bash is not installed: commands are judged as bash, and nothing else runs them")
        hold = await asyncio.to_thread(self._hold, order)
        config = self._config()
        asked = order.held_to is None
        environment = child_environment(
            os.environ,
            order.roots,
            secret_names={name for names in config.keys.values() for name in names},
            passed=config.commands.environment,
            virtual_environment=find_virtual_environment(order.cwd, order.roots) if asked else None,
            temporary=hold.temporary,
        )
        if not asked:
            environment |= git_environment.ENVIRONMENT
        spec = Spec(
            argv=(shell, "--noprofile", "--norc", "-c", order.command),
            cwd=order.cwd,
            environment=environment,
            confinement=hold.confinement,
        )
        return await self._runner.start(spec, output), hold

    def _hold(self, order: Order) -> "_Hold":
        config = self._config()
        roots = tuple(root for root in order.roots if vouches(root))
        if order.held_to is not None:
            temporary = Path(tempfile.mkdtemp(prefix="reading-", dir=os.path.realpath(self.folder)))
            return _Hold(sandbox.confine(self._reading(order.held_to, roots, temporary)), None, temporary, passing=True)
        if not config.sandbox:
            return _Hold(None, None, None)
        temporary = Path(os.path.realpath(self.folder)) / "tmp"
        temporary.mkdir(mode=0o700, exist_ok=True)
        guard = Guard(roots)
        confinement = sandbox.confine(sandbox.Policy((*roots, temporary), config.commands.network, guard.protect))
        if confinement is None:
            raise ToolError("`sandbox` is on, but no sandbox works here; `odin-lsp doctor` says why")
        return _Hold(confinement, guard, temporary)

    def _reading(self, reads: Reads, roots: tuple[Path, ...], temporary: Path) -> sandbox.Policy:
        """Nothing is written but temporary files, and nothing read but what a reader is for."""
        real = tuple(Path(os.path.realpath(root)) for root in roots)
        if not sandbox.holds_single_files():
            reads = replace(reads, files=None)
        hidden = self._hidden(real) if reads.files is None else ()
        return sandbox.Policy((temporary,), read=reader.reach(reads, real, hidden))

    def _hidden(self, roots: tuple[Path, ...]) -> Sequence[Path]:
        rules = self._config().files
        with self._looking:
            if self._hides is None or self._hides[0] != (roots, rules):
                self._hides = (roots, rules), Hidden(roots, Ignore(roots, rules))
            return self._hides[1].found()


@dataclass(frozen=True, slots=True)
class _Hold:
    """How the kernel holds a command, who looks after protected files, and where it may put temporary files."""

    confinement: sandbox.Confinement | None
    guard: Guard | None
    temporary: Path | None
    passing: bool = False
    """The temporary files are this command's alone."""

    def tidy_up(self) -> None:
        if self.passing and self.temporary is not None:
            shutil.rmtree(self.temporary, ignore_errors=True)


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
