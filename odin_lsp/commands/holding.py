"""How a command is held while it runs: by the kernel, by what it gets to know, and by whoever looks after protected
files. What nobody was asked about is held to reading."""

import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from odin_lsp.commands.environment import child_environment, find_shell, named_sockets, program_search
from odin_lsp.commands.guard import Guard
from odin_lsp.commands.runner import Spec
from odin_lsp.config import Config, FileRules
from odin_lsp.errors import ToolError
from odin_lsp.modes import Mode
from odin_lsp.permissions import reader, sandbox
from odin_lsp.permissions.program_search import Program, ProgramSearch, TrustedFolders, trust_no_folder
from odin_lsp.permissions.reader import Reads
from odin_lsp.permissions.shell import git_environment
from odin_lsp.workspace.hidden import Hidden
from odin_lsp.workspace.ignore import Ignore
from odin_lsp.workspace.roots import vouches
from odin_lsp.workspace.uris import printable

ANOTHER_PROGRAM = (
    "the command was not run: `{}` is no longer the program that was allowed; call it again to have it judged"
)
BEYOND_SCOPE = (
    "you may change only what you were asked to, and no sandbox works here that could hold a command to that;"
    " leave this command to the agent that gave you the task"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A command that may run."""

    command: str
    cwd: Path
    roots: Sequence[Path]
    mode: Mode
    reads: Reads | None = None
    """What it may open, if it runs because it only reads; none: the user or a rule of theirs has allowed it."""
    write_scope: Sequence[Path] = ()
    """Of a helper's command: where alone it may change something; empty: wherever the user's settings let it."""
    programs: Sequence[Program] = ()
    """What its names meant when it was judged."""

    @property
    def held_to(self) -> Reads | None:
        """The same; in Ask and Plan nothing runs for another reason."""
        return self.reads or (None if self.mode == "edit_mode" else Reads())


@dataclass(frozen=True, slots=True)
class Hold:
    """What holds one command."""

    confinement: sandbox.Confinement | None = None
    guard: Guard | None = None
    """Looks after protected files."""
    temporary: Path | None = None
    """Where it may put files."""
    passing: bool = False
    """These are this command's alone."""

    def tidy_up(self) -> None:
        if self.passing and self.temporary is not None:
            shutil.rmtree(self.temporary, ignore_errors=True)


class Holding:
    """One session's."""

    def __init__(self, config: Callable[[], Config], trusted: TrustedFolders = trust_no_folder) -> None:
        self._config = config
        self._trusted = trusted
        self._hidden: tuple[tuple[tuple[Path, ...], FileRules], Hidden] | None = None
        self._looking = threading.Lock()

    @property
    def rights_of_allowed(self) -> str:
        """What a command can do that the user allows, in words for the user."""
        config = self._config()
        if not config.sandbox:
            return "it would run with all your rights"
        network = "use the network" if config.commands.network else "not use the network"
        return f"the sandbox lets it change the workspace alone, and {network}"

    def program_search(self, cwd: Path, roots: Sequence[Path]) -> ProgramSearch:
        """Where the programs of a command are that the user or a rule allows."""
        return program_search(os.environ, cwd, roots, self._trusted())

    def of(self, order: Order, folder: Path) -> tuple[Spec, Hold]:
        """What is to be started, and what holds it. `folder` is for temporary files. It takes a while."""
        shell = find_shell()
        if shell is None:
            raise ToolError("bash is not installed: commands are judged as bash, and nothing else runs them")
        search = self.program_search(order.cwd, order.roots)
        for program in order.programs:
            if search.find(program.name) != program:
                raise ToolError(ANOTHER_PROGRAM.format(printable(program.name)))
        hold = self._hold(order, Path(os.path.realpath(folder)))
        spec = Spec(
            argv=(shell, "--noprofile", "--norc", "-c", order.command),
            cwd=order.cwd,
            environment=self._environment(order, hold.temporary, search.environment),
            confinement=hold.confinement,
        )
        return spec, hold

    def _environment(self, order: Order, temporary: Path | None, virtual_environment: Path | None) -> dict[str, str]:
        config = self._config()
        is_reader = order.held_to is not None
        environment = child_environment(
            os.environ,
            order.roots,
            secret_names={name for names in config.keys.values() for name in names},
            passed=config.commands.environment,
            virtual_environment=None if is_reader else virtual_environment,
            temporary=temporary,
        )
        return {**environment, **git_environment.ENVIRONMENT} if is_reader else environment

    def _hold(self, order: Order, folder: Path) -> Hold:
        config = self._config()
        roots = tuple(root for root in order.roots if vouches(root))
        if order.held_to is not None:
            temporary = Path(tempfile.mkdtemp(prefix="reading-", dir=folder))
            confinement = sandbox.confine(self._reading(order.held_to, roots, temporary))
            return Hold(confinement, temporary=temporary, passing=True)
        if not config.sandbox and not order.write_scope:
            return Hold()
        temporary = folder / "tmp"
        temporary.mkdir(mode=0o700, exist_ok=True)
        guard = Guard(roots)
        writable = (*(it for it in order.write_scope or roots if it.exists()), temporary)
        agents = tuple(named_sockets(os.environ, config.commands.environment))
        confinement = sandbox.confine(sandbox.Policy(writable, config.commands.network, guard.protect, agents=agents))
        if confinement is None and order.write_scope:
            raise ToolError(BEYOND_SCOPE)
        if confinement is None:
            raise ToolError("`sandbox` is on, but no sandbox works here; `odin-lsp doctor` says why")
        return Hold(confinement, guard, temporary)

    def _reading(self, reads: Reads, roots: Sequence[Path], temporary: Path) -> sandbox.Policy:
        """Nothing is written but temporary files, and nothing is read but what a reader is for."""
        real = tuple(Path(os.path.realpath(root)) for root in roots)
        if not sandbox.holds_single_files():
            reads = replace(reads, files=None)
        hidden = self._hidden_in(real) if reads.files is None else ()
        return sandbox.Policy((temporary,), read=reader.reach(reads, real, hidden))

    def _hidden_in(self, roots: tuple[Path, ...]) -> Sequence[Path]:
        rules = self._config().files
        with self._looking:
            if self._hidden is None or self._hidden[0] != (roots, rules):
                self._hidden = (roots, rules), Hidden(roots, Ignore(roots, rules))
            return self._hidden[1].found()
